"""A run: settle a user's memories, step after step, since the last run.

The extent of a run is frozen when it begins (`begin_run`): the events after a sequence, up to
another. Each step works in chunks, each of which is committed with the run's cursor.

Note: a step without work writes no document and no cursor. So it is asked again when a worker takes
the run up again, and must answer the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memory_core.consolidation.run_commits import (
    STEP_DONE,
    RunFinisher,
    RunProgress,
    end_overtaken_run,
)
from memory_core.consolidation.run_reads import RunReads
from memory_core.consolidation.schedule import RunStarter, plan_of
from memory_core.consolidation.step import Run, Step
from memory_core.consolidation.throttle import Throttle, UserCalls
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Event
from memory_core.domain.messages import is_message
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scenes import PROFILE_ID
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ports import Clock, EventFilter, LongTermStore
from memory_core.tasks.agent_steps import spending
from memory_core.tasks.leases import Lease
from memory_core.tasks.operation_records import Operation, current_operation, operation_in
from memory_core.tasks.operations import Operations

ACTOR: Final = CONSOLIDATION
"""The actor of a run's changes in their events; the next run ignores its events."""
_PAGE = 500
_AT_HAND: Final = 100
"""Memories of the new events that are read at once, before the steps ask for them."""


class Consolidator:
    """Runs of any owner.

    The steps are taken in order, and slowly while calls are served.
    """

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        steps: Sequence[Step],
        starter: RunStarter,
        finisher: RunFinisher,
        clock: Clock,
        calls: Callable[[], UserCalls],
    ) -> None:
        self._store, self._operations, self._steps, self._clock = (
            store,
            operations,
            tuple(steps),
            clock,
        )
        self._starter, self._finisher, self._calls = starter, finisher, calls

    async def begin(self, owner: Owner, request: ConsolidateInput, call: Call) -> Accepted:
        """Store a run as a task, or return the run that is under way.

        Args:
            owner: Whose memories the run settles.
            request: The session that the run is about, or all.
            call: The call that asked for it.

        Raises:
            Conflict: A run of another session is under way.
            HeadMoved: Other writers were faster, several times.
            Unavailable: The long-term store is down.

        """
        return await self._starter.begin(owner, request.session_id, call)

    async def dry_run(self, owner: Owner, request: ConsolidateInput) -> Foreseen:
        """Count the work of a run that began now.

        Args:
            owner: Whose memories the run would settle.
            request: The session that the run would be about, or all.

        Raises:
            Unavailable: The long-term store is down.

        """
        reads = RunReads(self._store, owner)
        head = (await reads.look([])).head
        counts: dict[str, int] = {}
        run = await self._run(
            "foreseen", reads, plan_of(head, request.session_id, self._clock.now()), counts
        )
        for step in self._steps:
            counts |= await step.dry_run(run)
        return Foreseen(counts, capped=head is not None and head.sequence > run.to)

    async def work(self, lease: Lease) -> None:
        """Do the rest of a run.

        Raises Unavailable; HeadMoved if other writers were faster; TaskLost if the task has ended
        otherwise; NotFound if the run is gone.
        """
        reads = RunReads(self._store, lease.owner)
        operation = await self._operation(lease, reads)
        if operation is None:
            return
        with spending() as spent:
            run = await self._run(operation.id, reads, operation.plan, operation.counts)
            if lease.subject is not None:
                reads.wrote(lease.subject)
            work = RunProgress(self._operations, lease, operation, run, spent)
            way = Throttle(self._calls)
            while work.operation.state == "pending":
                if await self._take_steps(work, way):
                    await self._finisher.end(work)

    async def _operation(self, lease: Lease, reads: RunReads) -> Operation | None:
        """Return the run's operation; None if no work is left.

        Raises NotFound.
        """
        if lease.subject is not None:
            return operation_in(lease.subject)
        read_set = await reads.look([lease.task.subject_id])
        operation = current_operation(read_set, lease.task.subject_id)
        if operation.state != "pending":
            return None
        if read_set.head is not None and read_set.head.run_task_id == lease.task.task_id:
            return operation
        # this run was given up and retried, but a later run has begun
        await self._operations.advance(
            lease, operation, [], lambda read_set, stored: end_overtaken_run()
        )
        return None

    async def _take_steps(self, work: RunProgress, way: Throttle) -> bool:
        """Take the remaining steps.

        False if a step has committed the waiting chunks; then the operation says where to go on.
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
    async def _further(work: RunProgress, step: Step) -> bool | None:
        """Work on a step's next chunk.

        Returns whether the step may have another chunk. None if the waiting chunks were committed
        in its place.
        """
        at = work.operation.cursor
        cursor = at[1] if at and at[0] == step.name else None
        if cursor == STEP_DONE or work.operation.state != "pending":
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
        """Read all new events of a run.

        Raises Unavailable if the log has a hole there.
        """
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
        if (
            changed_ids := run.changed_ids()
        ):  # most steps read these, and the last step reads the profile
            await reads.look([*changed_ids[-_AT_HAND:], PROFILE_ID])
        return run
