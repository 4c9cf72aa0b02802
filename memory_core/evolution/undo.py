"""Undoing a replacement by hand: what was superseded, or merged, holds again.

In a slot all that was told since and meets its time never was so; elsewhere that is what replaced it. A loser does not become
`superseded`: that says that it was true for a while.
"""

from __future__ import annotations

from memory_core.domain.archival import is_cold
from memory_core.domain.errors import Conflict, FieldError, NotFound
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, allowed
from memory_core.domain.models import Memory, Status
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.page import Page
from memory_core.evolution.restore import undone
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ports import Clock


class Undo:
    """Undoes replacements, for any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror, clock: Clock) -> None:
        self._ledger, self._mirror, self._clock = ledger, mirror, clock

    async def undo(self, owner: Owner, memory_id: str, reason: str, call: Call) -> Memory:
        """Let a superseded or merged memory hold again. One that holds stays as it is.

        Raises NotFound; Conflict, naming what is allowed, for one that nothing replaced, or that too much was told since.
        """
        names = [memory_id, *([key] if (key := receipt_id(owner, call)) else [])]

        def decide(seen: Look) -> Changes[Memory]:
            held = _present(seen, memory_id)
            if earlier_result(seen.documents, owner, call) is not None:
                return Changes(held)  # what it did then may be refused by now
            if held.status in FOUND_BY_DEFAULT:  # somebody else was faster
                return Changes(held, creates=receipt(owner, call, self._clock.now(), {"memory_id": held.id}))
            _check(held)
            if held.next_id is not None and held.next_id not in names:
                raise LookedElsewhere([held.next_id])
            successor = None if held.next_id is None else seen.memory(held.next_id)
            page = Page(owner, seen, self._clock.now(), weighs=False, asked=names)
            if successor is not None and successor.session_id is not None:
                session = session_document_id(owner, successor.session_id)
                if session not in names:
                    raise LookedElsewhere([session])
            page.apply(undone(held, successor, reason, page.now))
            return Changes(
                held,
                tuple(page.changes),
                (*page.puts.values(), *(session.document for session in page.sessions.values())),
                receipt(owner, call, page.now, {"memory_id": held.id}),
                frozenset(page.states),
                frozenset(page.sessions),
            )

        while True:
            try:
                committed = await self._ledger.commit(owner, decide, ids=names, call=call)
            except LookedElsewhere as needs:
                names = [*names, *needs.wanted]
                continue
            await self._mirror.follow(owner, committed)
            return committed.memories.get(memory_id) or committed.result


def _check(memory: Memory) -> None:
    if memory.status not in (Status.SUPERSEDED, Status.UPDATED) or is_cold(memory):
        choices = ", ".join(sorted(status.value for status in allowed(memory.status)))
        message = f"a memory that is {memory.status.value} was replaced by none; it may become: {choices}"
        raise Conflict(message, errors=(FieldError("status", message),))


def _present(look: Look, memory_id: str) -> Memory:
    memory = look.memory(memory_id)
    if memory is None:
        raise NotFound("no memory of this id for this user")
    return memory
