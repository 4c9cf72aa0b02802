"""`active` by hand: what was deleted or has faded becomes what it was.

Note: that need not be `active`. What holds in its slot, or under its key, is for the log of that to say.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from memory_core.domain.archival import is_cold
from memory_core.domain.errors import Conflict, FieldError, NotFound
from memory_core.domain.models import Memory, Status
from memory_core.domain.requests import StatusInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.along import Along, alone, back_along, changes_along, joined_again
from memory_core.evolution.page import Page
from memory_core.evolution.restore import restored
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ports import Clock


class InUse:
    """Brings what was deleted or has decayed, and is not cold, into use again, for any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror, clock: Clock) -> None:
        self._ledger, self._mirror, self._clock = ledger, mirror, clock
        self._along = Along(ledger, mirror)

    async def activate(self, owner: Owner, memory_id: str, change: StatusInput, call: Call) -> Memory:
        """Make it what it was. Raises Conflict naming the allowed moves, NotFound."""
        wanted: set[str] = set()
        while True:
            try:
                return await self._activate(owner, memory_id, change, call, wanted)
            except LookedElsewhere as needs:  # another truth since, or another version
                wanted |= {*needs.wanted}

    async def _activate(self, owner: Owner, memory_id: str, change: StatusInput, call: Call, wanted: Collection[str]) -> Memory:
        memory = _present(await self._ledger.look(owner, [memory_id]), memory_id)
        names = [memory_id, *wanted]
        names += [session_document_id(owner, memory.session_id)] if memory.session_id else []
        names += [key] if (key := receipt_id(owner, call)) else []
        names += [] if memory.cell_id is None else [memory.cell_id]
        along = list[str]()
        if memory.status is Status.DELETED and not is_cold(memory):
            along = await self._along.ahead(owner, memory, call, back_along, self._clock.now())
            names += along

        def decide(seen: Look) -> Changes[Memory]:
            held = _present(seen, memory_id)
            if earlier_result(seen.documents, owner, call) is not None:
                return Changes(held)
            page = Page(owner, seen, self._clock.now(), weighs=False, asked=names)
            if held.status is not Status.ACTIVE:
                _bring(page, _checked(held), change.reason)
                page.apply(changes_along(seen, along, held, back_along, page.now))
            return Changes(
                held,
                tuple(page.changes),
                (*page.puts.values(), *(session.document for session in page.sessions.values())),
                receipt(owner, call, page.now, {"memory_id": memory_id}),
                frozenset(names),
                frozenset(page.sessions),
                marks=joined_again(seen, along, held),
            )

        committed = await self._ledger.commit(owner, decide, ids=list(dict.fromkeys(names)), call=call)
        await self._mirror.follow(owner, committed)
        return committed.memories.get(memory_id) or committed.result


def _bring(page: Page, memory: Memory, reason: str) -> None:
    """Put it onto the page as it becomes."""
    changes = restored(memory, reason, page.now)
    page.apply([_for_itself(change) for change in changes] if alone(memory, page.look) else changes)
    if unread := page.unread_sessions(page.asked):
        raise LookedElsewhere(unread)


def _for_itself(change: Change) -> Change:
    return replace(change, after=change.after.model_copy(update={"cell_id": None}))


def _present(look: Look, memory_id: str) -> Memory:
    memory = look.memory(memory_id)
    if memory is None:
        raise NotFound("no memory of this id for this user")
    return memory


def _checked(memory: Memory) -> Memory:
    if is_cold(memory):
        message = f"{memory.id} is in the archive; restore brings it back"
        raise Conflict(message, errors=(FieldError("status", message),))
    if memory.status not in (Status.DELETED, Status.DECAYED):
        message = f"a memory that is {memory.status.value} can be set by hand to: deleted"
        raise Conflict(message, errors=(FieldError("status", message),))
    return memory
