"""Decay, as it is asked for by hand: memories that were not read for long are marked, those found since come back, long texts become short.

Importance is computed when read; only these crossings are written (`crossings`). Note: the hourly run makes long texts short in its step
`upkeep`, and marks what has faded where the settings say so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from memory_core.consolidation.crossings import COUNTS, PAGE, Asked, Crossings
from memory_core.domain.fading import Fading, due
from memory_core.domain.models import Memory, Status
from memory_core.domain.recalling import is_recalled
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.upkeep_requests import DecayInput
from memory_core.ledger.access_counts import Touches
from memory_core.ledger.history import Snapshots
from memory_core.ports import Clock, LongTermStore, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operations import Operation, Operations


@dataclass(frozen=True, slots=True)
class DecayRules:
    """What counts as faded, and how many memories one task changes at most. recalls: whether being found brings a memory back."""

    fading: Fading
    cap: int
    recalls: bool = True


class Decay:
    """Writes the crossings of any owner's memories."""

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        touches: Touches,
        snapshots: Snapshots,
        crossings: Crossings,
        clock: Clock,
        rules: DecayRules,
    ) -> None:
        self._store, self._operations, self._touches, self._snapshots = store, operations, touches, snapshots
        self._crossings, self._clock, self._rules = crossings, clock, rules

    async def begin(self, owner: Owner, asked: DecayInput, call: Call) -> Accepted:
        """Store the work as a task, due at the present moment. Raises Conflict, Unavailable."""
        plan = {"session_id": asked.session_id, "at": self._clock.now().isoformat(), "cap": self._rules.cap}
        return await self._operations.begin(owner, "decay", plan, call)

    async def foresee(self, owner: Owner, asked: DecayInput, *, marks: bool = True) -> Foreseen:
        """What a task begun now changes, if no other caller interferes; of the long texts, all that it tries to make short.

        Unwritten accesses are written first, as the task does: a memory that was just found does not fade. marks: whether what has faded
        is marked. Raises Unavailable.
        """
        await self._touches.flush(owner)
        now, counts = self._clock.now(), dict(COUNTS)
        async for memory in self._due(owner, asked.session_id, now):
            name = self._what(memory, now)
            if name == Status.DECAYED.value and not marks:
                continue
            if name is not None and sum(counts.values()) == self._rules.cap:
                return Foreseen(counts, capped=True)
            if name is not None:
                counts[name] += 1
        return Foreseen(counts, capped=False)

    def _what(self, memory: Memory, now: datetime) -> str | None:
        """Under which name a memory would be counted; None where nothing would be done."""
        if is_recalled(memory, now, self._rules.fading):
            return "recalled"
        due_status = due(memory, now, self._rules.fading)
        return None if due_status is None else due_status.value

    async def work(self, lease: Lease) -> None:
        """Write what is due, in as many commits as it takes; after the accesses that are still unwritten.

        The snapshots come first: the end of the operation is the task's end, after which no worker would come back for them.
        """
        await self._touches.flush(lease.owner)
        await self._snapshots.write_due(lease.owner)
        operation = await self._operations.of(lease)
        while operation.state == "pending":
            operation = await self._chunk(lease, operation)
            if operation.state == "pending":
                await lease.report("decay", lease.task.progress, result={"counts": operation.counts})

    async def _chunk(self, lease: Lease, operation: Operation) -> Operation:
        plan, done = operation.plan, sum(operation.counts.get(name, 0) for name in COUNTS)
        asked = Asked(lease.owner, operation.id, plan["session_id"], datetime.fromisoformat(plan["at"]), plan["cap"] - done)
        crossing = await self._crossings.next(asked, operation.cursor)
        return await self._operations.advance(lease, operation, crossing.ids, lambda look, stored: crossing.decide(look))

    async def _due(self, owner: Owner, session_id: str | None, now: datetime) -> AsyncIterator[Memory]:
        fading = self._rules.fading
        passes: tuple[Callable[[Place | None], Awaitable[list[Place]]], ...] = (
            lambda after: self._crossings.recalled(owner, after),
            lambda after: self._store.faded(owner, fading, now, session_id, after, PAGE),
        )
        for page in passes:
            after: Place | None = None
            while places := await page(after):
                documents = await self._store.memories(owner, [place.id for place in places])
                for place in places:
                    if place.id in documents:
                        yield documents[place.id].memory
                after = places[-1]
