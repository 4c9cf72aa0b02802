"""`active` by hand: what was deleted or has faded becomes what it was.

One would get wrong: that need not be `active`. A truth of a slot finds another one there, and both wait to be decided; a value of a key
comes back to its place in time, for nobody decides about those.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from memory_core.domain.archival import is_cold
from memory_core.domain.errors import Conflict, FieldError, NotFound
from memory_core.domain.lifecycle import TRUE_ONCE
from memory_core.domain.models import Memory, Status
from memory_core.domain.requests import StatusInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.versions import version_id
from memory_core.evolution.along import Along, alone, back_along, changes_along, joined_again
from memory_core.evolution.apart import set_apart
from memory_core.evolution.come_back import come_back
from memory_core.evolution.key_line import key_of, line_nears, truths_of
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.page import Page
from memory_core.evolution.pairs import document_of, pair_ids
from memory_core.evolution.restore import restored
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.versions import holding_again, with_versions
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ports import Clock, Document


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
        nears = line_nears(memory)
        truths = truths_of(await self._ledger.look(owner, [memory_id], nears)) if nears else {}
        names = [memory_id, *(name for one in truths for name in pair_ids(one, memory_id)), *wanted]
        names += [version_id(one.id, number) for one in {**truths, memory_id: memory}.values() for number in range(1, one.version)]
        names += [session_document_id(owner, memory.session_id)] if memory.session_id else []
        names += [key] if (key := receipt_id(owner, call)) else []
        names += [] if memory.cell_id is None else [memory.cell_id]
        along = list[str]()
        if memory.status is Status.DELETED and not is_cold(memory):
            along = await self._along.ahead(owner, memory, call, back_along, self._clock.now())
            names += along
        types = frozenset(kind for near in nears for kind in near.types)

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
                types,
                head_fields=lambda head: {"pending_count": head.pending_count + page.pending},
                marks=joined_again(seen, along, held),
            )

        committed = await self._ledger.commit(owner, decide, ids=list(dict.fromkeys(names)), nears=nears, call=call)
        await self._mirror.follow(owner, committed)
        return committed.memories.get(memory_id) or committed.result


def _bring(page: Page, memory: Memory, reason: str) -> None:
    """Put it onto the page as it becomes, with what that does to others."""
    truths = [one for one in truths_of(page.look).values() if one.id != memory.id]
    if key_of(memory) is not None:
        come_back(page, memory, truths, reason)
    else:
        back, puts = restored(memory, truths, reason, page.now, page.look.documents), list[Document]()
        if memory.status_reason in TRUE_ONCE and back.memory.next_id is None:
            versions = holding_again(back.memory, (), Versions(page.look, page.asked))
            back = replace(back, changes=(with_versions(back.changes[0], versions, puts), *back.changes[1:]))
        puts += [] if back.conflict is None else [document_of(back.conflict, page.look.documents)]
        if alone(memory, page.look):
            back = replace(back, changes=tuple(_for_itself(change) for change in back.changes))
        page.apply(back.changes)
        page.puts |= {one.id: one for one in puts}
        page.pending += back.opened
        set_apart(page, truths, about=memory.id)
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
