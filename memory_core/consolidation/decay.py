"""Decay: memories that nobody has looked at for long go out of sight, or their long texts become short. Importance is computed when read;
only these crossings are written.

One would get wrong: what is due is decided within the commit, by the memory as it is then. Somebody may have looked at it, pinned it or
restored it since it was found.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memory_core.consolidation.compress import Compressor, Short, compressed, stays_long
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
SHORTENED_AT_ONCE = 4
"""Long texts a commit: each waits for an agent, and what another commit of this user undoes is asked of none again."""
COUNTS = {"decayed": 0, "compressed": 0}
Step = Literal["decay", "compress"]


@dataclass(frozen=True, slots=True)
class DecayRules:
    """What counts as faded, and how many memories one task changes at most."""

    fading: Fading
    cap: int


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Which pass the work is in, and how far."""

    step: Step
    place: Place | None

    @classmethod
    def of(cls, operation: Operation) -> _Cursor:
        if operation.cursor is None:
            return cls("decay", None)
        step, place = operation.cursor
        return cls(step, None if place is None else Place(*place))

    @property
    def body(self) -> list[Any]:
        return [self.step, None if self.place is None else [self.place.sequence, self.place.id]]


class Decay:
    """Writes the crossings of any owner's memories."""

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        touches: Touches,
        snapshots: Snapshots,
        compressor: Compressor,
        clock: Clock,
        rules: DecayRules,
    ) -> None:
        self._store, self._operations, self._touches, self._snapshots = store, operations, touches, snapshots
        self._compressor, self._clock, self._rules = compressor, clock, rules

    async def begin(self, owner: Owner, asked: DecayInput, call: Call) -> Accepted:
        """Store the work as a task, due at the present moment. Raises Conflict, Unavailable."""
        plan = {"session_id": asked.session_id, "at": self._clock.now().isoformat(), "cap": self._rules.cap}
        return await self._operations.begin(owner, "decay", plan, call)

    async def foresee(self, owner: Owner, asked: DecayInput) -> Foreseen:
        """What a task begun now would do, by nobody else's doing; of the long texts, all that it would try to make short."""
        now, counts = self._clock.now(), dict(COUNTS)
        async for memory in self._due(owner, asked.session_id, now):
            what = due(memory, now, self._rules.fading)
            if what is not None and sum(counts.values()) == self._rules.cap:
                return Foreseen(counts, capped=True)
            if what is not None:
                counts[what.value] += 1
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
        plan, cursor = operation.plan, _Cursor.of(operation)
        at, most = datetime.fromisoformat(plan["at"]), PAGE if cursor.step == "decay" else SHORTENED_AT_ONCE
        places = await self._store.faded(lease.owner, self._rules.fading, at, plan["session_id"], cursor.place, PAGE)
        shorts = dict[str, Short | None]()
        if cursor.step == "compress":
            shorts, places = await self._shorts(lease, operation, places, at, most)

        def decide(look: Look, stored: Operation) -> Chunk:
            return self._decided(look, stored, cursor, places, shorts, at)

        return await self._operations.advance(lease, operation, [place.id for place in places], decide)

    async def _shorts(
        self, lease: Lease, operation: Operation, places: list[Place], at: datetime, most: int
    ) -> tuple[dict[str, Short | None], list[Place]]:
        """What the next long memories may become, by id, and the places up to the last of them."""
        seen = await self._store.snapshot(lease.owner, [place.id for place in places])
        look, shorts = Look(seen.head, dict(seen.documents)), dict[str, Short | None]()
        for number, place in enumerate(places):
            memory = look.memory(place.id)
            if memory is not None and due(memory, at, self._rules.fading) is Status.COMPRESSED:
                shorts[place.id] = await self._compressor.short(lease.owner, operation.id, memory)
                if len(shorts) == most:
                    return shorts, places[: number + 1]
        return shorts, places

    def _decided(
        self, look: Look, operation: Operation, cursor: _Cursor, places: list[Place], shorts: Mapping[str, Short | None], at: datetime
    ) -> Chunk:
        portion, changes, passed = Portion(), list[Change](), 0
        left = operation.plan["cap"] - sum(operation.counts.get(name, 0) for name in COUNTS)
        for place in places:
            memory = look.memory(place.id)
            change = None if memory is None else self._change(memory, cursor.step, shorts, at)
            if change is not None:
                if len(changes) == left or not portion.takes(2, 2 * size_of(change.after)):
                    break
                changes.append(change)
            passed += 1
        capped = passed < len(places) and len(changes) == left
        further = _Cursor(cursor.step, places[passed - 1] if passed else cursor.place)
        if not places:
            further = _Cursor("compress", None)
        counts = {name: sum(one.event_type == name for one in changes) for name in COUNTS}
        done = capped or (not places and (cursor.step == "compress" or cursor.place is None))
        return Chunk(tuple(changes), cursor=further.body, counts=counts, done=done, result={"capped": capped})

    def _change(self, memory: Memory, step: Step, shorts: Mapping[str, Short | None], at: datetime) -> Change | None:
        what, now = due(memory, at, self._rules.fading), self._clock.now()
        if step == "compress" and what is Status.COMPRESSED and memory.id in shorts:
            short = shorts[memory.id]
            if short is not None:
                return compressed(memory, short, now)
            what = stays_long(memory, at, self._rules.fading)
        elif step == "compress":
            return None
        return Change("decayed", _decayed(memory, now), memory) if what is Status.DECAYED else None

    async def _due(self, owner: Owner, session_id: str | None, now: datetime) -> AsyncIterator[Memory]:
        after: Place | None = None
        while places := await self._store.faded(owner, self._rules.fading, now, session_id, after, PAGE):
            shown = await self._store.memories(owner, [place.id for place in places])
            for place in places:
                if place.id in shown:
                    yield shown[place.id].memory
            after = places[-1]


def _decayed(memory: Memory, now: datetime) -> Memory:
    return memory.model_copy(update={"status": Status.DECAYED, "status_reason": "importance_decay", "updated_at": now})
