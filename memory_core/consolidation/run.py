"""A run: all that settles a user's memories, step after step, over what happened since
the last run.

What it goes over is frozen when it begins (`begin_run`): the events after one sequence, up to
another. Each step works in chunks, each of which is committed with the run's cursor. Note: a step
without anything to do writes nothing, not even that. So it is asked again when a worker takes the
run up again, and must answer the same.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol

from memory_core.consolidation.fading import COUNTS
from memory_core.consolidation.run_reads import RunReads, with_chunks
from memory_core.consolidation.schedule import TRIED_AGAIN_AFTER, RunBeginning, plan_of
from memory_core.domain.archival import NextDue
from memory_core.domain.errors import Unavailable
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Event, Head, HeadFields
from memory_core.domain.messages import is_message
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scenes import PROFILE_ID
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ledger.commit import ReadSet
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, EventFilter, LongTermStore, TaskQueue
from memory_core.tasks.agent_steps import spending
from memory_core.tasks.leases import Lease
from memory_core.tasks.lifecycle import tell_due
from memory_core.tasks.operations import (
    RUN_REPORT_KEPT_FOR,
    Chunk,
    Operation,
    Operations,
    added,
    operation_in,
    operation_there,
)

ACTOR: Final = CONSOLIDATION
"""Who makes the changes of a run, as their events say: what a run did is no news for
the next one.
"""
OVERTAKEN: Final = "another run has been begun since, and does what this one was to do"
_PAGE = 500
_DONE: Final = "done"
_AT_HAND: Final = 100
"""Memories of the news that are read at once, before the steps ask for them."""
_MOST_WAITING: Final = 90
"""Documents that one commit holds beside head, operation, task and report."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a step is given. id: of the operation; what a step makes derives its ids from it. at:
    when it began, which is its present.

    after, to: the sequences between which its news lie, (after, to]. news: the events of others
    than runs there, in order, of one session if `session_id` is given; none of messages, which
    count by what is formed of them. counts: what was done so far. reads: what is read
    of the user, once. since: the present of the last
    run that went over everything, None at first. earlier: whether messages of an earlier version
    are to be looked for.
    """

    id: str
    owner: Owner
    after: int
    to: int
    at: datetime
    session_id: str | None
    news: tuple[Event, ...]
    counts: Mapping[str, int]
    reads: RunReads
    since: datetime | None = None
    earlier: bool = False

    def touched(self, memory_type: str | None = None) -> tuple[str, ...]:
        """Ids of the memories that the news are about, each once, in the order in which they came
        up; of one type if that is given.

        What was saved as not searchable is left out.
        """
        kept_apart = {
            event.memory_id for event in self.news if event.after.get("searchable") is False
        }
        of_type = (
            event.memory_id for event in self.news if memory_type in (None, event.memory_type)
        )
        return tuple(dict.fromkeys(name for name in of_type if name not in kept_apart))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step's next chunk. ids: documents that `decide` is shown. Its chunk's cursor is the step's
    own; done: the step has ended.

    decide: may be asked again when the user's memories changed meanwhile, and then with what
    they are now. waits: its chunk changes no memory but by marks, so it may be committed with those
    of later steps.
    """

    ids: Sequence[str]
    decide: Callable[[ReadSet], Chunk]
    waits: bool = False


class Step(Protocol):
    """One thing that a run does."""

    @property
    def name(self) -> str:
        """Its name in tasks and reports."""

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """The next chunk after `cursor` (None: from the beginning); None when nothing is left to
        do. May ask agents, frozen by `run.id`.
        """

    async def foresee(self, run: Run) -> Mapping[str, int]:
        """What it would do, counted; without asking a model, and without writing."""


class Consolidator:
    """Runs of any owner. The steps are taken in order; while calls are served, slowly."""

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        steps: Sequence[Step],
        beginning: RunBeginning,
        ending: RunEnding,
        clock: Clock,
        calls: Callable[[], UserCalls],
    ) -> None:
        self._store, self._operations, self._steps, self._clock = (
            store,
            operations,
            tuple(steps),
            clock,
        )
        self._beginning, self._ending, self._calls = beginning, ending, calls

    async def begin(self, owner: Owner, asked: ConsolidateInput, call: Call) -> Accepted:
        """Store a run as a task; the one that is under way where there is one. Raises Conflict,
        HeadMoved, Unavailable.
        """
        return await self._beginning.begin(owner, asked.session_id, call)

    async def foresee(self, owner: Owner, asked: ConsolidateInput) -> Foreseen:
        """What a run that began now would do."""
        reads = RunReads(self._store, owner)
        head = (await reads.look([])).head
        counts: dict[str, int] = {}
        run = await self._run(
            "foreseen", reads, plan_of(head, asked.session_id, self._clock.now()), counts
        )
        for step in self._steps:
            counts |= await step.foresee(run)
        return Foreseen(counts, capped=head is not None and head.sequence > run.to)

    async def work(self, lease: Lease) -> None:
        """Do what is left of a run."""
        reads = RunReads(self._store, lease.owner)
        operation = await self._operation(lease, reads)
        if operation is None:
            return
        with spending() as spent:
            run = await self._run(operation.id, reads, operation.plan, operation.counts)
            if lease.subject is not None:
                reads.wrote(lease.subject)
            work = _Work(self._operations, lease, operation, run, spent)
            way = GivingWay(self._calls)
            while work.operation.state == "pending":
                if await self._take_steps(work, way):
                    await self._ending.end(work)

    async def _operation(self, lease: Lease, reads: RunReads) -> Operation | None:
        """What is left to do; None where nothing is. Raises NotFound."""
        if lease.subject is not None:
            return operation_in(lease.subject)
        look = await reads.look([lease.task.subject_id])
        operation = operation_there(look, lease.task.subject_id)
        if operation.state != "pending":
            return None
        if look.head is not None and look.head.run_task_id == lease.task.task_id:
            return operation
        # a later run was begun than this one, which had been given up, and is retried by hand
        await self._operations.advance(
            lease, operation, [], lambda look, stored: _ending_overtaken()
        )
        return None

    async def _take_steps(self, work: _Work, way: GivingWay) -> bool:
        """Take the steps that are left. False: one has committed what had waited,
        and the operation says where to go on.
        """
        names = [step.name for step in self._steps]
        cursor = work.operation.cursor
        begun = names.index(cursor[0]) if cursor and cursor[0] in names else 0
        for place, step in enumerate(self._steps[begun:], begun):
            await work.lease.note(step.name, place / (len(names) + 1))
            left: bool | None = True
            while left:
                async with way.chunk():
                    left = await self._further(work, step)
            if left is None:
                return False
        return True

    @staticmethod
    async def _further(work: _Work, step: Step) -> bool | None:
        """The step's next chunk: whether it may have another; None as `_take_steps` has False."""
        at = work.operation.cursor
        cursor = at[1] if at and at[0] == step.name else None
        if cursor == _DONE or work.operation.state != "pending":
            return False
        proposal = await step.propose(replace(work.run, counts=work.operation.counts), cursor)
        if proposal is None:
            return False
        if await work.waits(step.name, proposal):
            return False
        if work.waiting:
            await work.commit_waiting()
            return None
        await work.commit(step.name, proposal)
        return True

    async def _run(
        self, run_id: str, reads: RunReads, plan: Mapping[str, Any], counts: Mapping[str, int]
    ) -> Run:
        """The run with its news, all of them. Raises Unavailable when the log has a hole there."""
        owner, after, to, session_id = reads.owner, plan["after"], plan["to"], plan["session_id"]
        events: list[Event] = []
        while after < to:
            page = await self._store.events(
                owner, after, min(_PAGE, to - after), EventFilter(up_to=to)
            )
            if not page or page[-1].sequence - after != len(page):
                raise Unavailable(
                    "long_term",
                    f"the log shows {len(page)} events after {after} where {to} is the last; "
                    "ask again",
                )
            events += page
            after = page[-1].sequence
        news = tuple(
            event
            for event in events
            if event.actor != ACTOR
            and not event.redacted
            and session_id in (None, event.session_id)
            and not is_message(event.memory_id)
        )
        at, since = datetime.fromisoformat(plan["at"]), plan["since"]
        last = None if since is None else datetime.fromisoformat(since)
        run = Run(
            run_id,
            owner,
            plan["after"],
            to,
            at,
            session_id,
            news,
            counts,
            reads,
            last,
            bool(plan.get("earlier")),
        )
        if touched := run.touched():  # most steps are about these, and the last about the profile
            await reads.look([*touched[-_AT_HAND:], PROFILE_ID])
        return run


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What a step has decided, which is committed with what follows. documents:
    how many it writes.
    """

    step: str
    proposal: Proposal
    documents: int


@dataclass
class _Work:
    """A run as far as it is. waiting: what its steps have decided since the last commit,
    in their order. spent: tokens that no commit has counted yet.

    Should the worker die, what waits is decided again by the same frozen answers.
    """

    operations: Operations
    lease: Lease
    operation: Operation
    run: Run
    spent: Counter[str]
    waiting: list[_Waiting] = field(default_factory=list)

    async def waits(self, step: str, proposal: Proposal) -> bool:
        """Let a chunk wait, if it can, is its step's last, and finds room in one commit with
        what waits already.
        """
        if not proposal.waits:
            return False
        chunk = proposal.decide(await self.run.reads.look(proposal.ids))
        taken = sum(waiting.documents for waiting in self.waiting)
        if not chunk.done or taken + chunk.documents > _MOST_WAITING:
            return False
        self.waiting.append(_Waiting(step, proposal, chunk.documents))
        self.run.reads.decided(chunk)
        return True

    async def commit(self, step: str, proposal: Proposal) -> None:
        """Commit a chunk by itself, decided on what is there then."""

        def decide(look: ReadSet, stored: Operation) -> Chunk:
            return self._counted(_placed(step, proposal.decide(look)))

        await self._commit(proposal.ids, decide)

    async def commit_waiting(self) -> None:
        """Commit what waits."""

        def decide(look: ReadSet, stored: Operation) -> Chunk:
            return self._counted(self._together(look)[0])

        await self._commit(self._ids, decide, await self._basis())

    async def end(self, last: Callable[[Operation, Chunk], Chunk]) -> None:
        """Commit what waits with the end of the run, or the first of it where one commit does not
        hold all. last: from the operation and what waits to that with the end.
        """

        def decide(look: ReadSet, stored: Operation) -> Chunk:
            chunk, is_all = self._together(look)
            return last(stored, self._counted(chunk)) if is_all else self._counted(chunk)

        await self._commit(self._ids, decide, await self._basis())

    async def _commit(
        self,
        ids: Sequence[str],
        decide: Callable[[ReadSet, Operation], Chunk],
        basis: ReadSet | None = None,
    ) -> None:
        self.operation = await self.operations.advance(
            self.lease, self.operation, ids, decide, basis=basis
        )
        self.spent.clear()
        self.waiting.clear()
        self.run.reads.committed()

    @property
    def _ids(self) -> list[str]:
        ids = (name for waiting in self.waiting for name in waiting.proposal.ids)
        return list(dict.fromkeys(ids))

    async def _basis(self) -> ReadSet:
        return await self.run.reads.stored([self.operation.id, *self._ids])

    def _counted(self, chunk: Chunk) -> Chunk:
        return replace(chunk, counts=added(chunk.counts, self.spent))

    def _together(self, look: ReadSet) -> tuple[Chunk, bool]:
        """What waits as one chunk, as much of it as there is room for; whether that is all."""
        made = Chunk(cursor=self.operation.cursor, fragile=False)
        for waiting in self.waiting:
            chunk = waiting.proposal.decide(with_chunks(look, [made]))
            if made.documents and made.documents + chunk.documents > _MOST_WAITING:
                return made, False
            made = made.joined(_placed(waiting.step, chunk))
            if not chunk.done:
                return made, False
        return made, True


def _placed(step: str, chunk: Chunk) -> Chunk:
    """A step's chunk as one of the run's."""
    return replace(chunk, done=False, cursor=[step, _DONE if chunk.done else chunk.cursor])


def _ending_overtaken() -> Chunk:
    return Chunk(
        cursor=[_DONE, None], done=True, status="cancelled", error=OVERTAKEN, fragile=False
    )


# How a run ends: what it went over is settled, its report is written, and it is said when the
# next one is due.
#
# Note: the head that the last commit is put onto says when that is. A write since the run began has
# made the user due again, and nothing here may take that back.


ASKED_AGAIN_AFTER: Final = timedelta(days=1)
"""When a question that could not be decided is looked at again, at the earliest: after as long as
nothing has happened, if that is more.
"""
ROUNDED = timedelta(seconds=1)
"""Moments of fading are sums of real numbers, which a store and we may round differently."""
WRITTEN: Final = "messages_written"
"""Under which name a run counts messages of earlier conversations."""
ReportRun = Callable[[Mapping[str, int]], None]
"""Called with the counts of a run when it has ended."""


@dataclass(frozen=True, slots=True)
class EndingRules:
    """What fades and ages when. cap: memories that a run takes out of sight or shortens at most,
    and messages that it writes. The prices: of a million tokens; 0 = not known. marks_fading:
    whether runs mark what fades as decayed, and are due for it; else reads alone tell
    what has faded.
    """

    fading: Fading
    archive_after: timedelta
    cap: int = 10_000
    prompt_price: float = 0.0
    completion_price: float = 0.0
    marks_fading: bool = False

    def cost(self, counts: Mapping[str, int]) -> float:
        """What the tokens among the counts cost, in the currency of the prices."""
        prompt, completion = counts.get("prompt_tokens", 0), counts.get("completion_tokens", 0)
        return round(
            (prompt * self.prompt_price + completion * self.completion_price) / 1_000_000, 6
        )


class RunEnding:
    """Ends runs of any owner."""

    def __init__(
        self, queue: TaskQueue, clock: Clock, rules: EndingRules, report_run: ReportRun
    ) -> None:
        self._queue, self._clock, self._rules = queue, clock, rules
        self._report_run = report_run

    async def end(self, work: _Work) -> None:
        """Commit the end, with what waits. Raises what commits raise."""
        now, run, plan = self._clock.now(), work.run, work.operation.plan
        coming = NextDue() if run.session_id else await self._coming(run)
        counts = work.operation.counts
        faded = sum(counts.get(name, 0) for name in COUNTS)
        capped = plan["capped"] or max(faded, counts.get(WRITTEN, 0)) >= self._rules.cap
        capped = capped and run.session_id is None
        committed: list[bool] = []

        def last(stored: Operation, waiting: Chunk) -> Chunk:
            committed[:] = [True]

            def fields(head: Head) -> HeadFields:
                if run.session_id:
                    return {"run_task_id": None}
                return _settled(head, run, _next(head, run, coming, now, capped=capped))

            report = self._report(run, stored, added(stored.counts, waiting.counts), now)
            document = Document(
                str(report["id"]), "run", report, expires_at=now + RUN_REPORT_KEPT_FOR
            )
            result = {
                name: report[name]
                for name in ("after", "to", "read", "tokens", "cost", "duration_s")
            }
            end = Chunk(
                puts=(document,),
                cursor=["done", None],
                done=True,
                head_fields=fields,
                fragile=False,
                result=result,
                leaves=False,
            )
            return waiting.joined(end)

        await work.end(last)
        if committed and work.operation.state == "done":
            self._report_run({"runs": 1, "read": len(run.news), **work.operation.counts})
            if capped:
                await tell_due(self._queue, run.owner, now)

    async def _coming(self, run: Run) -> NextDue:
        coming = await run.reads.coming(
            self._rules.fading, self._rules.archive_after, run.at - ROUNDED
        )
        return coming if self._rules.marks_fading else replace(coming, fades=None)

    def _report(
        self, run: Run, operation: Operation, counts: Mapping[str, int], now: datetime
    ) -> dict[str, Any]:
        tokens = {name: counts.get(f"{name}_tokens", 0) for name in ("prompt", "completion")}
        return {
            "id": derived("run", run.id, str(run.after)),
            "task_id": operation.task_id,
            "after": run.after,
            "to": run.to,
            "session_id": run.session_id,
            "at": run.at.isoformat(),
            "ended_at": now.isoformat(),
            "duration_s": round((now - run.at).total_seconds(), 3),
            "read": len(run.news),
            "counts": {
                name: count for name, count in counts.items() if not name.endswith("_tokens")
            },
            "tokens": tokens,
            "cost": self._rules.cost(counts),
        }


def _settled(head: Head, run: Run, due_at: datetime | None) -> HeadFields:
    at = run.at if head.settled_at is None else max(head.settled_at, run.at)
    return {
        "consolidated_sequence": max(head.consolidated_sequence, run.to),
        "settled_at": at,
        "due_at": due_at,
        "run_task_id": None,
    }


def _next(head: Head, run: Run, coming: NextDue, now: datetime, *, capped: bool) -> datetime | None:
    """When the next run is due; None: not before the next write."""
    moments = [] if head.due_at in (None, run.at + TRIED_AGAIN_AFTER) else [head.due_at]
    if capped:
        moments.append(now)
    if coming.first is not None:
        moments.append(coming.first + 2 * ROUNDED)
    if head.pending_count:
        quiet = timedelta(0) if head.last_occurred_at is None else now - head.last_occurred_at
        moments.append(now + max(ASKED_AGAIN_AFTER, quiet))
    return min((moment for moment in moments if moment is not None), default=None)


# How a run gives way: while a caller is being served it rests after each of its chunks,
# many times as long as that took.
#
# A run and the calls of users share one event loop and its cores. Measured on two cores, for a user
# of 100,000 memories beside a run: a retrieve took 60 ms of processor time with the run's share, 21
# without. Note: no caller waits for a run, but it must end. So it rests for `IN_ALL_S` altogether,
# and then goes on as if it were alone.


TIMES: Final = 40
"""How many times as long as a chunk the rest after it is: of 25 calls at most one then meets a
chunk, and so is not among the 95 %.
"""
LONGEST_S: Final = 2.0
IN_ALL_S: Final = 180.0
"""Well within the ten minutes that a queue's function has; a run of 2,000 turns is 67 chunks
of some 40 ms.
"""
LULL_S: Final = 0.05
"""So long without a call, and there is no caller to give way to."""


class UserCalls(NamedTuple):
    """The calls of users that this process serves: how many there are just now,
    how many there ever were.
    """

    under_way: int
    begun: int


class GivingWay:
    """The rests of one run."""

    def __init__(
        self,
        calls: Callable[[], UserCalls],
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._calls, self._now, self._sleep = calls, now, sleep
        self._left_s = IN_ALL_S

    @asynccontextmanager
    async def chunk(self) -> AsyncIterator[None]:
        """Around one chunk. Where calls were served meanwhile, it rests after that until a lull,
        or long enough.
        """
        began, before = self._now(), self._calls().begun
        yield
        if self._is_called(before):
            await self._rest(min(TIMES * (self._now() - began), LONGEST_S, self._left_s))

    async def _rest(self, at_most_s: float) -> None:
        began = self._now()
        while (rested := self._now() - began) < at_most_s:
            before = self._calls().begun
            await self._sleep(min(LULL_S, at_most_s - rested))
            if not self._is_called(before):
                break
        self._left_s -= self._now() - began

    def _is_called(self, begun: int) -> bool:
        """Whether anybody is being served, or was since so many calls had begun."""
        return self._calls() != UserCalls(0, begun)
