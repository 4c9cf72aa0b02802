"""Truths whose end has come are said to have ended: a status follows from the log of a slot and the present moment.

Reads leave out what has ended whatever its status is. Note: no user is made due for it; the next run that is due anyway writes it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from memory_core.consolidation.run import Proposal, Run
from memory_core.domain.models import Memory, Status
from memory_core.domain.truth.values import slot_name
from memory_core.ledger.batch import Change
from memory_core.ledger.commit import Look
from memory_core.ledger.readable import as_memory
from memory_core.ports import Clock, Filter, LongTermStore, Place
from memory_core.tasks.operations import Chunk

AT_ONCE: Final = 15
"""Memories of one commit: each is two documents, and the cells that told it learn of it."""
COUNTED: Final = "truths_ended"
_PAGE: Final = 100


class EndedTruths:
    """The step."""

    name = "ended"

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """The next truths that have ended, after the `cursor`-th; a run of one session leaves them to those that go over everything."""
        truths: list[Memory] = []
        async for memory in self._ended(run, None if cursor is None else Place(*cursor)):
            truths.append(memory)
            if len(truths) == AT_ONCE:
                break
        if not truths:
            return None
        last = truths[-1]
        further, done = [last.sequence, last.id], len(truths) < AT_ONCE
        return Proposal([truth.id for truth in truths], lambda look: self._decided(look, run, truths, further, done=done))

    async def foresee(self, run: Run) -> Mapping[str, int]:
        """How many truths have ended."""
        return {COUNTED: len([truth async for truth in self._ended(run, None)])}

    async def _ended(self, run: Run, after: Place | None) -> AsyncIterator[Memory]:
        if run.session_id is not None:
            return
        where = Filter(frozenset({Status.ACTIVE.value}), ended_by=run.at)
        head = (await self._store.snapshot(run.owner)).head
        while page := await self._store.page(run.owner, "memory", where, after, _PAGE, newest_first=False):
            for document in page:
                memory = None if document.damaged else as_memory(document, head)
                if memory is not None and slot_name(memory) is not None:
                    yield memory
            after = Place(int(page[-1].body["sequence"]), page[-1].id)

    def _decided(self, look: Look, run: Run, truths: Sequence[Memory], further: list[Any], *, done: bool) -> Chunk:
        now = self._clock.now()
        memories = [memory for truth in truths if (memory := look.memory(truth.id)) is not None]
        changes = tuple(_over(truth, now) for truth in memories if _has_ended(truth, run))
        return Chunk(changes, cursor=further, counts={COUNTED: len(changes)}, done=done)


def _has_ended(memory: Memory, run: Run) -> bool:
    return memory.status is Status.ACTIVE and memory.valid_until is not None and memory.valid_until <= run.at


def _over(memory: Memory, now: Any) -> Change:
    over = {"status": Status.SUPERSEDED, "status_reason": "contradicted", "updated_at": now}
    return Change("superseded", memory.model_copy(update=over), memory, says=lambda slot: [])
