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
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol

from memory_core.consolidation.fading import COUNTS
from memory_core.consolidation.schedule import TRIED_AGAIN_AFTER, RunBeginning, plan_of
from memory_core.domain.archival import NextDue
from memory_core.domain.errors import NotFound, Unavailable
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Event, Head
from memory_core.domain.messages import is_message
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, EventFilter, LongTermStore, TaskQueue
from memory_core.tasks.agent_steps import spending
from memory_core.tasks.leases import Lease
from memory_core.tasks.lifecycle import tell_due
from memory_core.tasks.operations import RUN_REPORT_KEPT_FOR, Chunk, Operation, Operations, added

ACTOR: Final = CONSOLIDATION
"""Who makes the changes of a run, as their events say: what a run did is no news for
the next one.
"""
OVERTAKEN: Final = "another run has been begun since, and does what this one was to do"
_PAGE = 500
_DONE: Final = "done"


@dataclass(frozen=True, slots=True)
class Run:
    """What a step is given. id: of the operation; what a step makes derives its ids from it. at:
    when it began, which is its present.

    after, to: the sequences between which its news lie, (after, to]. news: the events of others
    than runs there, in order, of one session if `session_id` is given; none of messages, which
    count by what is formed of them. counts: what was done so far. since: the present of the last
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
    they are now.
    """

    ids: Sequence[str]
    decide: Callable[[Look], Chunk]


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
        calls: Callable[[], Calls],
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
        head = (await self._store.snapshot(owner)).head
        counts: dict[str, int] = {}
        run = await self._run(
            "foreseen", owner, plan_of(head, asked.session_id, self._clock.now()), counts
        )
        for step in self._steps:
            counts |= await step.foresee(run)
        return Foreseen(counts, capped=head is not None and head.sequence > run.to)

    async def work(self, lease: Lease) -> None:
        """Do what is left of a run."""
        operation = await self._operations.of(lease)
        if operation.state != "pending":
            return
        if await self._overtaken(lease):
            await self._operations.advance(
                lease, operation, [], lambda look, stored: _ending_overtaken()
            )
            return
        run = await self._run(operation.id, lease.owner, operation.plan, operation.counts)
        way = GivingWay(self._calls)
        with spending() as spent:
            names = [step.name for step in self._steps]
            begun = (
                names.index(operation.cursor[0])
                if operation.cursor and operation.cursor[0] in names
                else 0
            )
            for place, step in enumerate(self._steps[begun:], begun):
                await lease.note(step.name, place / (len(names) + 1))
                operation = await self._step(lease, operation, step, run, spent, way)
                run = replace(run, counts=operation.counts)
                if operation.state != "pending":
                    return
            await self._ending.end(lease, operation, run, added(operation.counts, spent), spent)

    async def _overtaken(self, lease: Lease) -> bool:
        """Whether a later run was begun than this one: one that had been given up,
        and is retried by hand.
        """
        head = (await self._store.snapshot(lease.owner)).head
        if head is None:
            raise NotFound("the user whose run this was is gone")
        return head.run_task_id != lease.task.task_id

    async def _step(
        self,
        lease: Lease,
        operation: Operation,
        step: Step,
        run: Run,
        spent: Counter[str],
        way: GivingWay,
    ) -> Operation:
        further: Operation | None = operation
        while further is not None and further.state == "pending":
            operation = further
            async with way.chunk():
                further = await self._further(lease, operation, step, run, spent)
        return operation if further is None else further

    async def _further(
        self, lease: Lease, operation: Operation, step: Step, run: Run, spent: Counter[str]
    ) -> Operation | None:
        """The operation after the step's next chunk; None when the step has no more."""
        cursor = (
            operation.cursor[1] if operation.cursor and operation.cursor[0] == step.name else None
        )
        if cursor == _DONE:
            return None
        proposal = await step.propose(replace(run, counts=operation.counts), cursor)
        if proposal is None:
            return None
        tokens = dict(spent)

        def decide(look: Look, stored: Operation) -> Chunk:
            chunk = proposal.decide(look)
            further = [step.name, _DONE if chunk.done else chunk.cursor]
            return replace(chunk, done=False, cursor=further, counts=added(chunk.counts, tokens))

        advanced = await self._operations.advance(lease, operation, list(proposal.ids), decide)
        spent.clear()
        return advanced

    async def _run(
        self, run_id: str, owner: Owner, plan: Mapping[str, Any], counts: Mapping[str, int]
    ) -> Run:
        """The run with its news, all of them. Raises Unavailable when the log has a hole there."""
        after, to, session_id = plan["after"], plan["to"], plan["session_id"]
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
        return Run(
            run_id,
            owner,
            plan["after"],
            to,
            at,
            session_id,
            news,
            counts,
            last,
            bool(plan.get("earlier")),
        )


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
        self,
        store: LongTermStore,
        operations: Operations,
        queue: TaskQueue,
        clock: Clock,
        rules: EndingRules,
        report_run: ReportRun,
    ) -> None:
        self._store, self._operations, self._queue = store, operations, queue
        self._clock, self._rules, self._report_run = clock, rules, report_run

    async def end(
        self,
        lease: Lease,
        operation: Operation,
        run: Run,
        counts: Mapping[str, int],
        tokens: Mapping[str, int],
    ) -> None:
        """Commit the end. counts: all that was done; tokens: those of them that no chunk has
        counted yet. Raises what commits raise.
        """
        now, spent = self._clock.now(), dict(tokens)
        coming = NextDue() if run.session_id else await self._coming(run)
        faded = sum(counts.get(name, 0) for name in COUNTS)
        capped = operation.plan["capped"] or max(faded, counts.get(WRITTEN, 0)) >= self._rules.cap
        capped = capped and run.session_id is None
        report = self._report(run, operation, counts, now)
        committed: list[bool] = []

        def last(look: Look, stored: Operation) -> Chunk:
            committed[:] = [True]
            fields = (
                _left
                if run.session_id
                else lambda head: _settled(head, run, _next(head, run, coming, now, capped=capped))
            )
            document = Document(
                str(report["id"]), "run", report, expires_at=now + RUN_REPORT_KEPT_FOR
            )
            result = {
                name: report[name]
                for name in ("after", "to", "read", "tokens", "cost", "duration_s")
            }
            return Chunk(
                puts=(document,),
                cursor=["done", None],
                counts=spent,
                done=True,
                head_fields=fields,
                fragile=False,
                result=result,
            )

        await self._operations.advance(lease, operation, [], last)
        if committed:
            self._report_run({"runs": 1, "read": len(run.news), **counts})
            if capped:
                await tell_due(self._queue, lease.owner, now)

    async def _coming(self, run: Run) -> NextDue:
        coming = await self._store.coming(
            run.owner, self._rules.fading, self._rules.archive_after, run.at - ROUNDED
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


def _left(head: Head) -> Mapping[str, Any]:
    return {}


def _settled(head: Head, run: Run, due_at: datetime | None) -> Mapping[str, Any]:
    at = run.at if head.settled_at is None else max(head.settled_at, run.at)
    return {
        "consolidated_sequence": max(head.consolidated_sequence, run.to),
        "settled_at": at,
        "due_at": due_at,
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


class Calls(NamedTuple):
    """The calls of users that this process serves: how many there are just now,
    how many there ever were.
    """

    under_way: int
    begun: int


class GivingWay:
    """The rests of one run."""

    def __init__(
        self,
        calls: Callable[[], Calls],
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
        return self._calls() != Calls(0, begun)
