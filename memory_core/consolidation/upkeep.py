"""Changes by time: the first step of a run, decay on request, and ended truths.

Accesses are written, snapshots of the log are made, long texts are shortened, and an archive run is
begun if memories have grown old enough.

Note: accesses come first. A memory that was shown to a caller this hour must not fade in it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final

from memory_core.consolidation.archive import Archiver
from memory_core.consolidation.fading import COUNTS, FadingRequest, ImportanceCrossings
from memory_core.consolidation.run import ACTOR
from memory_core.consolidation.run_commits import RunFinishRules
from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.archival import NextDue
from memory_core.domain.fading import Fading, due, is_recalled
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import DecayInput
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import contradict
from memory_core.domain.truth.slots import slot_name
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.changes import Change
from memory_core.ledger.history import Snapshots
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory
from memory_core.ports import Clock, Filter, LongTermStore, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Upkeep:
    """The step `upkeep`."""

    name = "upkeep"

    def __init__(
        self,
        store: LongTermStore,
        access_counts: AccessCounts,
        snapshots: Snapshots,
        crossings: ImportanceCrossings,
        decay: Decay,
        archiver: Archiver,
        rules: RunFinishRules,
    ) -> None:
        self._store, self._access_counts, self._snapshots, self._crossings = (
            store,
            access_counts,
            snapshots,
            crossings,
        )
        self._decay, self._archiver = decay, archiver
        self._rules = rules

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return first the counted changes, if any, and then crossing after crossing.

        Args:
            run: The run.
            cursor: The place of the last crossing; None for the beginning.

        Raises:
            Unavailable: The long-term store is down.

        """
        head = (await run.reads.look([])).head
        if cursor is None:
            await self._access_counts.flush(run.owner)
            await self._snapshots.write_due(run.owner, head)
            counts = await self._begin_archive_run(run)
            if counts:
                return Proposal([], lambda read_set: Chunk(counts=counts, cursor=[], fragile=False))
        left = self._rules.cap - sum(run.counts.get(name, 0) for name in COUNTS)
        asked = FadingRequest(
            run.owner,
            run.id,
            run.session_id,
            run.at,
            left,
            self._rules.marks_fading,
            recalls=head is not None and head.counts.get(Status.DECAYED.value, 0) > 0,
        )
        crossing = await self._crossings.next(asked, cursor or None)
        return Proposal(crossing.ids, crossing.decide) if crossing.ids or cursor else None

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the memories that would fade or be shortened, ended foresight, and archive runs."""
        coming = await self._coming(run)
        foreseen = await self._decay.dry_run(
            run.owner, DecayInput(session_id=run.session_id), marks=self._rules.marks_fading
        )
        ended, runs = await self._ended(run, coming), int(self._is_past(run, coming.ages))
        return {**foreseen.counts, "foresight_ended": ended, "archive_runs": runs}

    async def _begin_archive_run(self, run: Run) -> dict[str, int]:
        """Begin the archive run that is due, and count memories with ended foresight.

        Both are those since the last run.
        """
        coming, counts = await self._coming(run), dict[str, int]()
        if ended := await self._ended(run, coming):
            counts["foresight_ended"] = ended
        if self._is_past(run, coming.ages):
            await self._archiver.begin(
                run.owner, None, Call(actor=ACTOR), task_id=derived("tsk", run.id, "archive")
            )
            counts["archive_runs"] = 1
        return counts

    async def _ended(self, run: Run, coming: NextDue) -> int:
        """Count the memories with foresight that has ended since the last run."""
        if not self._is_past(run, coming.foresight):
            return 0
        return await self._store.foresight_ended(run.owner, run.since or _BEGINNING, run.at)

    async def _coming(self, run: Run) -> NextDue:
        """Return the changes that time has brought since the last run.

        A run of a single session leaves them to runs of all sessions.
        """
        if run.session_id is not None:
            return NextDue()
        return await run.reads.coming(
            self._rules.fading, self._rules.archive_after, run.since or _BEGINNING
        )

    @staticmethod
    def _is_past(run: Run, moment: datetime | None) -> bool:
        return moment is not None and moment <= run.at


# Decay on request: mark memories that have faded, restore those that were found since, shorten long
# texts.
#
# Importance is computed on reads; only crossings of the floor are written (`crossings`). Note: the
# hourly run shortens long texts in its step `upkeep`, and marks faded memories if the settings say
# so.


@dataclass(frozen=True, slots=True)
class DecayRules:
    """The rules of decay.

    Attributes:
        fading: The rules by which memories fade.
        cap: The most memories that a task changes.
        recalls: Whether being found brings a memory back.

    """

    fading: Fading
    cap: int
    recalls: bool = True


class Decay:
    """Writes the crossings of any owner's memories."""

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        access_counts: AccessCounts,
        snapshots: Snapshots,
        crossings: ImportanceCrossings,
        clock: Clock,
        rules: DecayRules,
    ) -> None:
        self._store, self._operations, self._access_counts, self._snapshots = (
            store,
            operations,
            access_counts,
            snapshots,
        )
        self._crossings, self._clock, self._rules = crossings, clock, rules

    async def begin(self, owner: Owner, request: DecayInput, call: Call) -> Accepted:
        """Store the work as a task, due at the present moment.

        Args:
            owner: Whose memories may fade.
            request: The session that it is about, or all.
            call: The call that asked for it.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: The long-term store is down.

        """
        plan = {
            "session_id": request.session_id,
            "at": self._clock.now().isoformat(),
            "cap": self._rules.cap,
        }
        return await self._operations.begin(owner, "decay", plan, call)

    async def dry_run(self, owner: Owner, request: DecayInput, *, marks: bool = True) -> Foreseen:
        """Count the changes of a task that began now, if no other caller interferes.

        Long texts are counted that the task would try to shorten. Unwritten accesses are written
        first, as the task does: a memory that was just found does not fade.

        Args:
            owner: Whose memories may fade.
            request: The session that it is about, or all.
            marks: Whether faded memories are marked.

        Raises:
            Unavailable: The long-term store is down.

        """
        await self._access_counts.flush(owner)
        await self._access_counts.settle(owner)
        now, counts = self._clock.now(), dict(COUNTS)
        async for memory in self._due(owner, request.session_id, now):
            name = self._count_name(memory, now)
            if name == Status.DECAYED.value and not marks:
                continue
            if name is not None and sum(counts.values()) == self._rules.cap:
                return Foreseen(counts, capped=True)
            if name is not None:
                counts[name] += 1
        return Foreseen(counts, capped=False)

    def _count_name(self, memory: Memory, now: datetime) -> str | None:
        """Return the name under which a memory would be counted.

        None if it would not change.
        """
        if is_recalled(memory, now, self._rules.fading):
            return "recalled"
        due_status = due(memory, now, self._rules.fading)
        return None if due_status is None else due_status.value

    async def work(self, lease: Lease) -> None:
        """Write all due changes, in several commits, after the unwritten accesses.

        The snapshots come first: the end of the operation is the task's end, after which no worker
        would write them. Raises Unavailable, TaskLost.
        """
        await self._access_counts.flush(lease.owner)
        await self._access_counts.settle(lease.owner)
        await self._snapshots.write_due(lease.owner)
        operation = await self._operations.of(lease)
        while operation.state == "pending":
            operation = await self._chunk(lease, operation)
            if operation.state == "pending":
                await lease.report(
                    "decay", lease.task.progress, result={"counts": operation.counts}
                )

    async def _chunk(self, lease: Lease, operation: Operation) -> Operation:
        plan, done = operation.plan, sum(operation.counts.get(name, 0) for name in COUNTS)
        asked = FadingRequest(
            lease.owner,
            operation.id,
            plan["session_id"],
            datetime.fromisoformat(plan["at"]),
            plan["cap"] - done,
        )
        crossing = await self._crossings.next(asked, operation.cursor)
        return await self._operations.advance(
            lease, operation, crossing.ids, lambda read_set, stored: crossing.decide(read_set)
        )

    async def _due(
        self, owner: Owner, session_id: str | None, now: datetime
    ) -> AsyncIterator[Memory]:
        fading = self._rules.fading
        passes: tuple[Callable[[Place | None], Awaitable[list[Place]]], ...] = (
            lambda after: self._crossings.recalled(owner, after),
            lambda after: self._crossings.faded(owner, fading, now, session_id, after),
        )
        for page in passes:
            after: Place | None = None
            while places := await page(after):
                documents = await self._store.memories(owner, [place.id for place in places])
                for place in places:
                    if place.id in documents:
                        yield documents[place.id].memory
                after = places[-1]


# Mark truths whose end has come: the status follows from the slot log and the present time.
#
# Reads leave out ended truths whatever their status is. Note: no user is made due for it; the next
# run writes it.


AT_ONCE: Final = 15
"""The most memories of a commit. Each is two documents, and the cells that state it change too."""
COUNTED: Final = "truths_ended"
_PAGE: Final = 100


class EndedTruths:
    """The step that marks truths whose end has come."""

    name = "ended"

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next truths that have ended.

        A run of a single session leaves them to runs of all sessions.

        Args:
            run: The run.
            cursor: The place of the last truth; None for the beginning.

        Raises:
            Unavailable: The long-term store is down.

        """
        truths: list[Memory] = []
        async for memory in self._ended(run, None if cursor is None else Place(*cursor)):
            truths.append(memory)
            if len(truths) == AT_ONCE:
                break
        if not truths:
            return None
        last = truths[-1]
        further, done = [last.sequence, last.id], len(truths) < AT_ONCE
        return Proposal(
            [truth.id for truth in truths],
            lambda read_set: self._decided(read_set, run, truths, further, done=done),
        )

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the truths that have ended."""
        return {COUNTED: len([truth async for truth in self._ended(run, None)])}

    async def _ended(self, run: Run, after: Place | None) -> AsyncIterator[Memory]:
        if run.session_id is not None:
            return
        where = Filter(frozenset({Status.ACTIVE.value}), ended_by=run.at)
        head = (await run.reads.look([])).head
        while page := await self._store.page(
            run.owner, "memory", where, after, _PAGE, newest_first=False
        ):
            for document in page:
                memory = None if document.damaged else as_memory(document, head)
                if memory is not None and slot_name(memory) is not None:
                    yield memory
            after = Place(int(page[-1].body["sequence"]), page[-1].id)

    def _decided(
        self,
        read_set: ReadSet,
        run: Run,
        truths: Sequence[Memory],
        further: list[Any],
        *,
        done: bool,
    ) -> Chunk:
        now = self._clock.now()
        memories = [memory for truth in truths if (memory := read_set.memory(truth.id)) is not None]
        changes = tuple(_end_truth(truth, now) for truth in memories if _has_ended(truth, run))
        return Chunk(changes, cursor=further, counts={COUNTED: len(changes)}, done=done)


def _has_ended(memory: Memory, run: Run) -> bool:
    return (
        memory.status is Status.ACTIVE
        and memory.valid_until is not None
        and memory.valid_until <= run.at
    )


def _end_truth(memory: Memory, now: datetime) -> Change:
    return Change("superseded", contradict(memory, now), memory, says=lambda slot: [])
