"""The archive run: old unused chains move to the archive.

A stub of each memory stays.

The run goes page by page over a user's memories, by a plan that is frozen when it is asked for. For
each portion it finds the chains, reads them, writes their cold copies, reads those back, and only
then cuts, in a single commit.

Note: the cut rests on the archived content, not on the present content. A chain that was changed or
joined since is left alone in this run; it is never read again and cut.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from memory_core.consolidation.archive_chains import ChainMove, ChainReader
from memory_core.consolidation.cold_sweep import ColdSweep
from memory_core.domain.archival import is_due, least_age, stub_of
from memory_core.domain.errors import Damaged, EpochEnded, NotFound, Unavailable
from memory_core.domain.memory import Event, Memory, Status
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.evolution.chains import Families, Family
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ledger.changes import Change
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Document, Filter, LongTermStore, Place
from memory_core.tasks.leases import Lease, TaskLost
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

# The frozen plan of an archive run, so that each worker decides alike.


ARCHIVABLE = frozenset(
    status.value for status in Status if status not in (Status.DELETED, Status.ARCHIVED)
)
"""Statuses that a memory may be archived from."""


@dataclass(frozen=True, slots=True)
class ArchiveRules:
    """The rules of archiving.

    Attributes:
        age_years: How many years a memory has to be unused.
        recency_hours: The age that leaves 37 % of SECMSA's recency.

    """

    age_years: float
    recency_hours: float

    @property
    def least_age(self) -> timedelta:
        """The least time since the last change of a memory that is archived."""
        return least_age(self.age_years, self.recency_hours)


@dataclass(frozen=True, slots=True)
class Plan:
    """The frozen plan of a run.

    Attributes:
        now: The moment that ages are measured from.
        until: The sequence up to which memories are looked at.
        session_id: The only session whose memories are looked at; None for all.
        rules: The rules of archiving.

    """

    now: datetime
    until: int
    session_id: str | None
    rules: ArchiveRules

    def body(self) -> dict[str, Any]:
        """Return the plan as an operation stores it."""
        rules = {"age_years": self.rules.age_years, "recency_hours": self.rules.recency_hours}
        return {
            "now": self.now.isoformat(),
            "until": self.until,
            "session_id": self.session_id,
            "rules": rules,
        }

    @classmethod
    def of(cls, body: dict[str, Any]) -> Plan:
        """Return the plan of an operation."""
        return cls(
            datetime.fromisoformat(body["now"]),
            int(body["until"]),
            body["session_id"],
            ArchiveRules(**body["rules"]),
        )

    def is_due(self, memory: Memory) -> bool:
        """Whether a memory is old enough."""
        return is_due(
            memory, self.now, age_years=self.rules.age_years, recency_hours=self.rules.recency_hours
        )

    @property
    def where(self) -> Filter:
        """The filter of the memories that the run looks at."""
        return Filter(ARCHIVABLE, session_id=self.session_id)


MEMORIES_A_PAGE = 50
"""Memories that are looked at together; a few queries find all their chains."""
MOST = 20_000
"""The most memories that a run moves; the next run goes on.

At 100 a second that is some minutes of a queue's function.
"""
MOST_LOOKED_AT = 20_000
"""The most memories that a dry run looks at within a request."""
WRITES = 8
"""Cold copies that are written at once."""
TRIES = 8
"""How often in a row other commits may come first before a chunk is left to a further run."""
AGAIN_AFTER = timedelta(hours=1)
"""When the further run begins, so that a user whose memories are written all the time has not one
run after the other.
"""
EVENTS = 500
COUNTS = ("archived", "chains", "abandoned", "too_large", "damaged", "swept")
SETTLED = "settled"
"""The cursor when all chains have been seen.

From then on no cut is committed, and superfluous cold copies can be removed.
"""
log = logging.getLogger(__name__)


class _Moved(Exception):
    """Other commits came first, up to this sequence."""

    def __init__(self, sequence: int) -> None:
        super().__init__(sequence)
        self.sequence = sequence


@dataclass(slots=True)
class _Run:
    """A worker's view of its run.

    Attributes:
        lease: The worker's lease of the task.
        operation: The operation as of the last commit.
        plan: The plan.
        counts: The numbers that the next commit adds to the operation's.

    """

    lease: Lease
    operation: Operation
    plan: Plan
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A page of the scan.

    Attributes:
        place: The end of the page.
        sequence: The head's sequence before the page was read.
        families: The chains that are met first in this page and may be archived.
        last: Whether it is the last page.

    """

    place: Place
    sequence: int
    families: tuple[tuple[Place, Family], ...]
    last: bool


class Archiver:
    """Archives the old chains of any owner."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        access_counts: AccessCounts,
        operations: Operations,
        copies: ColdCopies,
        clock: Clock,
        rules: ArchiveRules,
    ) -> None:
        self._store, self._access_counts, self._operations, self._copies = (
            store,
            access_counts,
            operations,
            copies,
        )
        self._clock, self._rules = clock, rules
        self._families, self._chains = Families(store), ChainReader(ledger, copies)
        self._sweep = ColdSweep(store, copies)

    async def begin(
        self, owner: Owner, session_id: str | None, call: Call, task_id: str | None = None
    ) -> Accepted:
        """Store a run as a task.

        Args:
            owner: Whose memories are archived.
            session_id: The only session whose memories are archived; None for all.
            call: The call that asked for it.
            task_id: The id of the task; None for a new id.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: The long-term store is down.

        """
        plan = await self._plan(owner, session_id)
        return await self._operations.begin(owner, "archive", plan.body(), call, task_id=task_id)

    async def dry_run(self, owner: Owner, session_id: str | None) -> Foreseen:
        """Count the memories and chains that a run would move now.

        Chains that are too large are counted as well. The counts are capped if there may be more.

        Args:
            owner: Whose memories would be archived.
            session_id: The only session; None for all.

        Raises:
            Unavailable: The long-term store is down.

        """
        plan = await self._plan(owner, session_id)
        counts, looked_at, capped = (
            Counter(dict.fromkeys(("archived", "chains", "too_large"), 0)),
            0,
            False,
        )
        async for seen in self._pages(owner, plan, None):
            async for portion in self._chains.portions(
                owner, [family for _, family in seen.families], counts
            ):
                counts["archived"] += sum(len(moving.copy.members) for moving in portion)
                counts["chains"] += len(portion)
            looked_at += MEMORIES_A_PAGE
            if capped := not seen.last and (
                looked_at >= MOST_LOOKED_AT or counts["archived"] >= MOST
            ):
                break
        return Foreseen(counts, capped)

    async def work(self, lease: Lease) -> None:
        """Do or finish the run of a task.

        Raises TaskLost, Unavailable, HeadMoved.
        """
        epoch = await self._epoch(lease.owner)
        try:
            await self._work(lease)
        except (TaskLost, NotFound, EpochEnded, Unavailable):
            if epoch is not None and await self._epoch(lease.owner) != epoch:
                await self._forget(lease, epoch)
            raise

    async def _work(self, lease: Lease) -> None:
        operation = await self._operations.of(lease)
        run = _Run(lease, operation, Plan.of(operation.plan))
        capped = False
        if operation.cursor != SETTLED:
            capped = await self._scan(run)
            if capped and operation.actor == CONSOLIDATION:
                await self._begin_rest(run, self._clock.now())
            await self._advance(run, SETTLED)
        await lease.report("sweeping", 0.99)
        run.counts["swept"] += await self._sweep.run(lease.owner, run.operation.id)
        await self._advance(run, SETTLED, done=True, capped=capped)

    async def _begin_rest(self, run: _Run, due: datetime) -> None:
        """Begin a further run, once, because the hourly work may not do so for long.

        It begins a run when a further memory has become old.
        """
        operation, plan = run.operation, await self._plan(run.lease.owner, run.plan.session_id)
        await self._operations.begin(
            run.lease.owner,
            "archive",
            plan.body(),
            operation.call,
            due=due,
            task_id=derived("tsk", operation.id, "rest"),
        )

    async def _epoch(self, owner: Owner) -> str | None:
        """Return the epoch of a user's life; None if that is over."""
        head = (await self._store.snapshot(owner)).head
        return None if head is None or head.state == "erasing" else head.epoch

    async def _forget(self, lease: Lease, epoch: str) -> None:
        """Remove the copies of a user that was erased during a run.

        No commit can name these copies any more.
        """
        async for name in self._copies.names(lease.owner, epoch):
            await self._copies.remove(lease.owner, name)

    async def _plan(self, owner: Owner, session_id: str | None) -> Plan:
        head = (await self._store.snapshot(owner)).head
        return Plan(
            self._clock.now(), 0 if head is None else head.sequence, session_id, self._rules
        )

    async def _scan(self, run: _Run) -> bool:
        """Go through the memories and archive those that are due.

        True if the run stopped at its cap.
        """
        owner, cursor = run.lease.owner, run.operation.cursor
        async for seen in self._pages(owner, run.plan, None if cursor is None else Place(*cursor)):
            await run.lease.report(
                "archiving", 0.98 * min(1.0, seen.place.sequence / max(run.plan.until, 1))
            )
            places, known = (
                {family.last_id: place for place, family in seen.families},
                seen.sequence,
            )
            async for portion in self._chains.portions(
                owner, [family for _, family in seen.families], run.counts
            ):
                known = await self._cut(run, portion, known, places[portion[-1].copy.chain_id])
            if run.operation.counts.get("archived", 0) >= MOST and not seen.last:
                return True
        return False

    async def _pages(self, owner: Owner, plan: Plan, after: Place | None) -> AsyncIterator[_Seen]:
        """Read the user's memories in the order of their sequence, page by page.

        Waiting accesses are written first.
        """
        await self._access_counts.settle(owner)
        while True:
            head = (await self._store.snapshot(owner)).head
            if head is None:
                return
            documents = await self._store.page(
                owner, "memory", plan.where, after, MEMORIES_A_PAGE, newest_first=False
            )
            documents = [
                document for document in documents if document.body["sequence"] <= plan.until
            ]
            if not documents:
                return
            after = Place(int(documents[-1].body["sequence"]), documents[-1].id)
            last = len(documents) < MEMORIES_A_PAGE
            memories, _ = readable(documents)
            met = [memory for memory in memories if memory.epoch == head.epoch]
            yield _Seen(after, head.sequence, await self._due(owner, plan, met), last)
            if last:
                return

    async def _due(
        self, owner: Owner, plan: Plan, met: Sequence[Memory]
    ) -> tuple[tuple[Place, Family], ...]:
        """Return the chains that may be archived whole.

        Each is returned where the scan meets its first memory, so that a run looks at it once.
        """
        families = await self._families.of(owner, [memory for memory in met if plan.is_due(memory)])
        ids = {memory.id for memory in met}
        due = []
        for family in families:
            staying = tuple(
                member for member in family.members if member.status.value in ARCHIVABLE
            )
            if not all(plan.is_due(member) for member in staying):
                continue
            first = next(
                member for member in staying if plan.session_id in (None, member.session_id)
            )
            if first.id in ids:
                due.append((Place(first.sequence, first.id), replace(family, members=staying)))
        return tuple(sorted(due, key=lambda pair: (pair[0].sequence, pair[0].id)))

    async def _cut(self, run: _Run, portion: Sequence[ChainMove], known: int, place: Place) -> int:
        """Write the portion's cold copies and cut the chains that did not change since `known`.

        Returns the sequence that is known then.
        """
        owner = run.lease.owner
        written = await self._written(run, portion)
        for _ in range(TRIES):
            try:
                await self._advance(run, [place.sequence, place.id], written, known)
            except _Moved as moved:
                events = await self._events(owner, known, moved.sequence)
                standing = {
                    location: moving
                    for location, moving in written.items()
                    if not moving.is_changed_by(events)
                }
                run.counts["abandoned"] += len(written) - len(standing)
                written, known = standing, moved.sequence
            else:
                return known
        run.counts["abandoned"] += len(written)
        if written:
            await self._begin_rest(run, self._clock.now() + AGAIN_AFTER)
        await self._advance(run, [place.sequence, place.id])
        return known

    async def _written(self, run: _Run, portion: Sequence[ChainMove]) -> dict[str, ChainMove]:
        """Return the chains by the location of their verified cold copies.

        A chain whose copy is not as it was written stays in the long-term store, and is counted.
        """
        room = asyncio.Semaphore(WRITES)
        # The key of the names is read first; otherwise each writer would request and make it.
        await self._copies.prefix(run.lease.owner)

        async def write(moving: ChainMove) -> str | None:
            async with room:
                try:
                    return await self._copies.write(run.lease.owner, run.operation.id, moving.copy)
                except Damaged as error:
                    log.error("a chain stays where it is: %s", error.detail)
                    return None

        # All writes are awaited, so that none goes on after an error.
        ended = await asyncio.gather(*(write(moving) for moving in portion), return_exceptions=True)
        locations: list[str | None] = []
        for outcome in ended:
            if isinstance(outcome, BaseException):
                raise outcome
            locations.append(outcome)
        written = {
            location: moving
            for location, moving in zip(locations, portion, strict=True)
            if location is not None
        }
        run.counts["damaged"] += len(portion) - len(written)
        return written

    async def _advance(
        self,
        run: _Run,
        cursor: Any,
        written: Mapping[str, ChainMove] | None = None,
        known: int | None = None,
        *,
        done: bool = False,
        capped: bool = False,
    ) -> None:
        """Commit a chunk of the run.

        Raises _Moved if the head is not at `known`, TaskLost if another worker went on with the
        run.
        """
        now, cuts = self._clock.now(), written or {}
        ids = [name for moving in cuts.values() for name in moving.ids]

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            if known is not None and read_set.head is not None and read_set.head.sequence != known:
                raise _Moved(read_set.head.sequence)
            changes = [
                change
                for location, moving in cuts.items()
                for change in _changes(moving, read_set, location, now)
            ]
            puts = [
                put for location, moving in cuts.items() for put in _versions(moving, location, now)
            ]
            counts = {
                **dict.fromkeys(COUNTS if done else (), 0),
                **run.counts,
                "archived": len(changes),
                "chains": len(cuts),
            }
            return Chunk(
                tuple(changes),
                tuple(puts),
                cursor=cursor,
                counts=counts,
                done=done,
                result={"capped": capped} if done else {},
            )

        operation = await self._operations.advance(run.lease, run.operation, ids, decide)
        if operation.cursor != cursor:
            raise TaskLost
        run.operation = operation
        run.counts.clear()

    async def _events(self, owner: Owner, after: int, until: int) -> list[Event]:
        events: list[Event] = []
        while after < until and (page := await self._store.events(owner, after, EVENTS)):
            events += [event for event in page if event.sequence <= until]
            after = page[-1].sequence
        return events


def _changes(moving: ChainMove, read_set: ReadSet, location: str, now: datetime) -> list[Change]:
    changes = []
    for member in moving.copy.members:
        memory = read_set.memory(member.memory.id)
        # can't happen, since no event changed the member
        if memory is None or memory.revision != member.memory.revision:
            raise _Moved(read_set.head.sequence if read_set.head else 0)
        changes.append(
            Change(
                "archived",
                stub_of(memory, location, now),
                memory,
                {"chain_id": moving.copy.chain_id},
            )
        )
    return changes


def _versions(moving: ChainMove, location: str, now: datetime) -> list[Document]:
    stubs = [stub_of(version, location, now) for version in moving.versions]
    return [Document(stub.id, "version", stub.model_dump(mode="json")) for stub in stubs]
