"""A run: all that settles a user's memories, step after step, over what happened since the last run.

What it goes over is frozen when it begins (`begin_run`): the events after one sequence, up to another. Each step works in chunks, each of
which is committed with the run's cursor. Note: a step without anything to do writes nothing, not even that. So it is asked
again when a worker takes the run up again, and must answer the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

from memory_core.consolidation.begin_run import RunBeginning, plan_of
from memory_core.consolidation.end_run import RunEnding
from memory_core.consolidation.giving_way import Calls, GivingWay
from memory_core.domain.errors import NotFound, Unavailable
from memory_core.domain.messages import is_message
from memory_core.domain.models import Event
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.upkeep_requests import ConsolidateInput
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ledger.commit import Look
from memory_core.ports import Clock, EventFilter, LongTermStore
from memory_core.tasks.agent_steps import spending
from memory_core.tasks.leases import Lease
from memory_core.tasks.operations import Chunk, Operation, Operations, added

ACTOR: Final = CONSOLIDATION
"""Who makes the changes of a run, as their events say: what a run did is no news for the next one."""
OVERTAKEN: Final = "another run has been begun since, and does what this one was to do"
_PAGE = 500
_DONE: Final = "done"


@dataclass(frozen=True, slots=True)
class Run:
    """What a step is given. id: of the operation; what a step makes derives its ids from it. at: when it began, which is its present.

    after, to: the sequences between which its news lie, (after, to]. news: the events of others than runs there, in order, of one session
    if `session_id` is given; none of messages, which count by what is formed of them. counts: what was done so far. since: the present of
    the last run that went over everything, None at first. earlier: whether messages of an earlier version are to be looked for.
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
        """Ids of the memories that the news are about, each once, in the order in which they came up; of one type if that is given."""
        return tuple(dict.fromkeys(event.memory_id for event in self.news if memory_type in (None, event.memory_type)))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step's next chunk. ids: documents that `decide` is shown. Its chunk's cursor is the step's own; done: the step has ended.

    decide: may be asked again when the user's memories changed meanwhile, and then with what they are now.
    """

    ids: Sequence[str]
    decide: Callable[[Look], Chunk]


class Step(Protocol):
    """One thing that a run does."""

    @property
    def name(self) -> str:
        """Its name in tasks and reports."""

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """The next chunk after `cursor` (None: from the beginning); None when nothing is left to do. May ask agents, frozen by `run.id`."""

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
        self._store, self._operations, self._steps, self._clock = store, operations, tuple(steps), clock
        self._beginning, self._ending, self._calls = beginning, ending, calls

    async def begin(self, owner: Owner, asked: ConsolidateInput, call: Call) -> Accepted:
        """Store a run as a task; the one that is under way where there is one. Raises Conflict, HeadMoved, Unavailable."""
        return await self._beginning.begin(owner, asked.session_id, call)

    async def foresee(self, owner: Owner, asked: ConsolidateInput) -> Foreseen:
        """What a run that began now would do."""
        head = (await self._store.snapshot(owner)).head
        counts: dict[str, int] = {}
        run = await self._run("foreseen", owner, plan_of(head, asked.session_id, self._clock.now()), counts)
        for step in self._steps:
            counts |= await step.foresee(run)
        return Foreseen(counts, capped=head is not None and head.sequence > run.to)

    async def work(self, lease: Lease) -> None:
        """Do what is left of a run."""
        operation = await self._operations.of(lease)
        if operation.state != "pending":
            return
        if await self._overtaken(lease):
            await self._operations.advance(lease, operation, [], lambda look, stored: _ending_overtaken())
            return
        run = await self._run(operation.id, lease.owner, operation.plan, operation.counts)
        way = GivingWay(self._calls)
        with spending() as spent:
            names = [step.name for step in self._steps]
            begun = names.index(operation.cursor[0]) if operation.cursor and operation.cursor[0] in names else 0
            for place, step in enumerate(self._steps[begun:], begun):
                await lease.note(step.name, place / (len(names) + 1))
                operation = await self._step(lease, operation, step, run, spent, way)
                run = replace(run, counts=operation.counts)
                if operation.state != "pending":
                    return
            await self._ending.end(lease, operation, run, added(operation.counts, spent), spent)

    async def _overtaken(self, lease: Lease) -> bool:
        """Whether a later run was begun than this one: one that had been given up, and is retried by hand."""
        head = (await self._store.snapshot(lease.owner)).head
        if head is None:
            raise NotFound("the user whose run this was is gone")
        return head.run_task_id != lease.task.task_id

    async def _step(self, lease: Lease, operation: Operation, step: Step, run: Run, spent: Counter[str], way: GivingWay) -> Operation:
        further: Operation | None = operation
        while further is not None and further.state == "pending":
            operation = further
            async with way.chunk():
                further = await self._further(lease, operation, step, run, spent)
        return operation if further is None else further

    async def _further(self, lease: Lease, operation: Operation, step: Step, run: Run, spent: Counter[str]) -> Operation | None:
        """The operation after the step's next chunk; None when the step has no more."""
        cursor = operation.cursor[1] if operation.cursor and operation.cursor[0] == step.name else None
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

    async def _run(self, run_id: str, owner: Owner, plan: Mapping[str, Any], counts: Mapping[str, int]) -> Run:
        """The run with its news, all of them. Raises Unavailable when the log has a hole there."""
        after, to, session_id = plan["after"], plan["to"], plan["session_id"]
        events: list[Event] = []
        while after < to:
            page = await self._store.events(owner, after, min(_PAGE, to - after), EventFilter(up_to=to))
            if not page or page[-1].sequence - after != len(page):
                raise Unavailable("long_term", f"the log shows {len(page)} events after {after} where {to} is the last; ask again")
            events += page
            after = page[-1].sequence
        news = tuple(
            event
            for event in events
            if event.actor != ACTOR and not event.redacted and session_id in (None, event.session_id) and not is_message(event.memory_id)
        )
        at, since = datetime.fromisoformat(plan["at"]), plan["since"]
        last = None if since is None else datetime.fromisoformat(since)
        return Run(run_id, owner, plan["after"], to, at, session_id, news, counts, last, bool(plan.get("earlier")))


def _ending_overtaken() -> Chunk:
    return Chunk(cursor=[_DONE, None], done=True, status="cancelled", error=OVERTAKEN, fragile=False)
