"""A run: all that settles a user's memories, step after step, over what happened since the last run.

What it goes over is frozen when it begins: the events after one sequence, up to another. Each step works in chunks, each of which is
committed with the run's cursor. One would get wrong: a step without anything to do writes nothing, not even that. So it is asked again
when a worker takes the run up anew, and must answer the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

from memory_core.domain.errors import Unavailable
from memory_core.domain.models import Event, Head
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.upkeep_requests import ConsolidateInput
from memory_core.ledger.commit import Look
from memory_core.ledger.leases import Lease
from memory_core.ledger.operations import Chunk, HeadFields, Operation, Operations
from memory_core.ports import Clock, EventFilter, LongTermStore

ACTOR: Final = "consolidation"
"""Who makes the changes of a run, as their events say: what a run did is no news for the next one."""
MOST_EVENTS: Final = 2_000
"""Events a run goes over at most; with more waiting, the next one follows at once."""
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Run:
    """What a step is given. id: of the operation; what a step makes derives its ids from it. at: when it began, which is its present.

    after, to: the sequences between which its news lie, (after, to]. news: the events of others than runs there, in order, of one session
    if `session_id` is given. counts: what was done so far.
    """

    id: str
    owner: Owner
    after: int
    to: int
    at: datetime
    session_id: str | None
    news: tuple[Event, ...]
    counts: Mapping[str, int]

    def touched(self, memory_type: str | None = None) -> tuple[str, ...]:
        """Ids of the memories that the news are about, each once, in the order in which they came up; of one type if that is given."""
        return tuple(dict.fromkeys(one.memory_id for one in self.news if memory_type in (None, one.memory_type)))


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
    """Runs of any owner. The steps are taken in order."""

    def __init__(self, store: LongTermStore, operations: Operations, steps: Sequence[Step], clock: Clock) -> None:
        self._store, self._operations, self._steps, self._clock = store, operations, tuple(steps), clock

    async def begin(self, owner: Owner, asked: ConsolidateInput, call: Call) -> Accepted:
        """Store a run as a task. Raises Conflict, Unavailable."""
        head = (await self._store.snapshot(owner)).head
        return await self._operations.begin(owner, "consolidate", self._plan(head, asked.session_id), replace(call, actor=ACTOR))

    async def foresee(self, owner: Owner, asked: ConsolidateInput) -> Foreseen:
        """What a run that began now would do."""
        head = (await self._store.snapshot(owner)).head
        counts: dict[str, int] = {}
        run = await self._run("foreseen", owner, self._plan(head, asked.session_id), counts)
        for step in self._steps:
            counts |= await step.foresee(run)
        return Foreseen(counts, capped=head is not None and head.sequence > run.to)

    async def work(self, lease: Lease) -> None:
        """Do what is left of a run."""
        operation = await self._operations.of(lease)
        if operation.state != "pending":
            return
        run = await self._run(operation.id, lease.owner, operation.plan, operation.counts)
        names = [step.name for step in self._steps]
        begun = names.index(operation.cursor[0]) if operation.cursor and operation.cursor[0] in names else 0
        for place, step in enumerate(self._steps[begun:], begun):
            await lease.report(step.name, place / (len(names) + 1))
            operation = await self._step(lease, operation, step, run)
            run = replace(run, counts=operation.counts)
            if operation.state != "pending":
                return
        await self._operations.advance(lease, operation, [], lambda look, stored: self._last(run))

    async def _step(self, lease: Lease, operation: Operation, step: Step, run: Run) -> Operation:
        while operation.state == "pending":
            cursor = operation.cursor[1] if operation.cursor and operation.cursor[0] == step.name else None
            if cursor == _DONE:
                break
            proposal = await step.propose(replace(run, counts=operation.counts), cursor)
            if proposal is None:
                break

            def decide(look: Look, stored: Operation, proposal: Proposal = proposal) -> Chunk:
                chunk = proposal.decide(look)
                return replace(
                    chunk, done=False, cursor=[step.name, _DONE if chunk.done else chunk.cursor], head_fields=_quiet(chunk.head_fields)
                )

            operation = await self._operations.advance(lease, operation, list(proposal.ids), decide)
        return operation

    def _plan(self, head: Head | None, session_id: str | None) -> dict[str, Any]:
        after, to = (0, 0) if head is None else (head.consolidated_sequence, head.sequence)
        return {"after": after, "to": min(to, after + MOST_EVENTS), "at": self._clock.now().isoformat(), "session_id": session_id}

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
        news = tuple(one for one in events if one.actor != ACTOR and not one.redacted and session_id in (None, one.session_id))
        at = datetime.fromisoformat(plan["at"])
        return Run(run_id, owner, plan["after"], to, at, session_id, news, counts)

    def _last(self, run: Run) -> Chunk:
        """The end of a run: what lies up to `to` is settled. A run of one session settles nothing for the others."""

        def settled(head: Head) -> Mapping[str, Any]:
            return {} if run.session_id else {"consolidated_sequence": max(head.consolidated_sequence, run.to)}

        return Chunk(cursor=[_DONE, None], done=True, head_fields=_quiet(settled), fragile=False, result={"after": run.after, "to": run.to})


_DONE: Final = "done"


def _quiet(fields: HeadFields) -> HeadFields:
    """The same fields, and `due_at` as it was: what a run writes makes no further run due."""
    return lambda head: {"due_at": head.due_at, **fields(head)}
