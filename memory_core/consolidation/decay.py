"""Decay: memories that nobody has looked at for long go out of sight. Only that crossing is written; importance is computed when read.

One would get wrong: what is due is decided within the commit, by the memory as it is then. Somebody may have looked at it, pinned it or
restored it since it was found.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.consolidation.snapshots import Snapshots
from memory_core.domain.fading import Fading, due
from memory_core.domain.models import Memory, Status
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.upkeep_requests import DecayInput
from memory_core.ledger.changes import Change
from memory_core.ledger.commit import Look
from memory_core.ledger.leases import Lease
from memory_core.ledger.operations import Chunk, Operation, Operations
from memory_core.ledger.portions import Portion, size_of
from memory_core.ledger.touches import Touches
from memory_core.ports import Clock, LongTermStore, Place

PAGE = 45
"""Memories a commit at most: each is two documents of the ninety that there is room for."""


@dataclass(frozen=True, slots=True)
class DecayRules:
    """What counts as faded, and how many memories one task changes at most."""

    fading: Fading
    cap: int


class Decay:
    """Writes the crossings of any owner's memories."""

    def __init__(
        self, store: LongTermStore, operations: Operations, touches: Touches, snapshots: Snapshots, clock: Clock, rules: DecayRules
    ) -> None:
        self._store, self._operations, self._touches, self._snapshots = store, operations, touches, snapshots
        self._clock, self._rules = clock, rules

    async def begin(self, owner: Owner, asked: DecayInput, call: Call) -> Accepted:
        """Store the work as a task, due at the present moment. Raises Conflict, Unavailable."""
        plan = {"session_id": asked.session_id, "at": self._clock.now().isoformat(), "cap": self._rules.cap}
        return await self._operations.begin(owner, "decay", plan, call)

    async def foresee(self, owner: Owner, asked: DecayInput) -> Foreseen:
        """What a task begun now would do, by nobody else's doing."""
        now, counts = self._clock.now(), {"decayed": 0}
        async for memory in self._due(owner, asked.session_id, now):
            if due(memory, now, self._rules.fading) is Status.DECAYED:
                if counts["decayed"] == self._rules.cap:
                    return Foreseen(counts, capped=True)
                counts["decayed"] += 1
        return Foreseen(counts, capped=False)

    async def work(self, lease: Lease) -> None:
        """Write what is due, in as many commits as it takes; after the accesses that are still unwritten.

        The snapshots come first: the end of the operation is the task's end, after which nobody would come back for them.
        """
        await self._touches.flush(lease.owner)
        await self._snapshots.write_due(lease.owner)
        operation = await self._operations.of(lease)
        while operation.state == "pending":
            operation = await self._chunk(lease, operation)
            if operation.state == "pending":
                await lease.report("decay", lease.task.progress, result={"counts": operation.counts})

    async def _chunk(self, lease: Lease, operation: Operation) -> Operation:
        plan, after = operation.plan, None if operation.cursor is None else Place(*operation.cursor)
        at = datetime.fromisoformat(plan["at"])
        places = await self._store.faded(lease.owner, self._rules.fading, at, plan["session_id"], after, PAGE)

        def decide(look: Look, stored: Operation) -> Chunk:
            return self._decided(look, stored, places, at)

        return await self._operations.advance(lease, operation, [place.id for place in places], decide)

    def _decided(self, look: Look, operation: Operation, places: list[Place], at: datetime) -> Chunk:
        portion, changes, passed = Portion(), list[Change](), 0
        left = operation.plan["cap"] - operation.counts.get("decayed", 0)
        for place in places:
            memory = look.memory(place.id)
            if memory is not None and due(memory, at, self._rules.fading) is Status.DECAYED:
                if len(changes) == left or not portion.takes(2, size_of(memory)):
                    break
                changes.append(Change("decayed", _decayed(memory, self._clock.now()), memory))
            passed += 1
        capped = passed < len(places) and len(changes) == left
        return Chunk(
            tuple(changes),
            cursor=list(_pair(places[passed - 1])) if passed else operation.cursor,
            counts={"decayed": len(changes)},
            done=capped or (passed == len(places) and len(places) < PAGE),
            result={"capped": capped},
        )

    async def _due(self, owner: Owner, session_id: str | None, now: datetime) -> AsyncIterator[Memory]:
        after: Place | None = None
        while places := await self._store.faded(owner, self._rules.fading, now, session_id, after, PAGE):
            shown = await self._store.memories(owner, [place.id for place in places])
            for place in places:
                if place.id in shown:
                    yield shown[place.id].memory
            after = places[-1]


def _pair(place: Place) -> tuple[Any, ...]:
    return place.sequence, place.id


def _decayed(memory: Memory, now: datetime) -> Memory:
    return memory.model_copy(update={"status": Status.DECAYED, "status_reason": "importance_decay", "updated_at": now})
