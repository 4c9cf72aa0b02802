"""Commits of a run: the decisions of its steps, and its end.

At its end the range that it went over is settled, its report is written, and the moment of the
next run is set.

Note: the head that the last commit is put onto says when that is. A write since the run began has
made the user due again, and a run must never take that back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from memory_core.consolidation.fading import COUNTS
from memory_core.consolidation.run_reads import with_chunks
from memory_core.consolidation.schedule import TRIED_AGAIN_AFTER
from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.archival import NextDue
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Head, HeadFields
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import Reads, ReadSet, no_further
from memory_core.ports import Clock, Document, TaskQueue
from memory_core.tasks.leases import Lease
from memory_core.tasks.lifecycle import send_due
from memory_core.tasks.operation_records import Chunk, Operation, sum_counts
from memory_core.tasks.operations import RUN_REPORT_KEPT_FOR, Operations

OVERTAKEN: Final = "another run has been begun since, and does what this one was to do"
STEP_DONE: Final = "done"
_MOST_WAITING: Final = 90
"""The most documents of a commit beside head, operation, task and report."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A step's decision that is committed with later decisions.

    Attributes:
        step: The name of the step.
        proposal: The step's proposal.
        documents: How many documents the decision writes.

    """

    step: str
    proposal: Proposal
    documents: int


@dataclass
class RunProgress:
    """A run in progress.

    If the worker dies, the waiting decisions are made again with the same frozen answers.

    Attributes:
        operations: Commits the chunks.
        lease: The worker's lease of the task.
        operation: The operation as of the last commit.
        run: The input of the steps.
        spent: Tokens that no commit has counted yet.
        waiting: The decisions since the last commit, in the order of their steps.

    """

    operations: Operations
    lease: Lease
    operation: Operation
    run: Run
    spent: Counter[str]
    waiting: list[_Waiting] = field(default_factory=list)

    async def waits(self, step: str, proposal: Proposal) -> bool:
        """Let a chunk wait for the commit of later steps.

        Args:
            step: Name of the step.
            proposal: The chunk, not yet decided.

        Returns:
            False unless the chunk may wait, is its step's last, and fits into the waiting commit.

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
        """Commit a chunk by itself, decided on the documents as they are then.

        Args:
            step: The name of the step.
            proposal: The step's proposal.

        """

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            return self._counted(_as_run_chunk(step, proposal.decide(read_set)))

        await self._commit(proposal.ids, decide, reads=proposal.reads)

    async def commit_waiting(self) -> None:
        """Commit the waiting decisions."""

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            return self._counted(self._together(read_set)[0])

        await self._commit(self._ids, decide, await self._basis())

    async def end(self, last: Callable[[Operation, Chunk], Chunk]) -> None:
        """Commit the waiting decisions with the end of the run.

        If a single commit does not hold them all, only the first of them are committed. `last`
        makes the final chunk from the operation and the waiting chunk.
        """

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            chunk, is_all = self._together(read_set)
            return last(stored, self._counted(chunk)) if is_all else self._counted(chunk)

        await self._commit(self._ids, decide, await self._basis())

    async def _commit(
        self,
        ids: Sequence[str],
        decide: Callable[[ReadSet, Operation], Chunk],
        basis: ReadSet | None = None,
        reads: Reads = no_further,
    ) -> None:
        self.operation = await self.operations.advance(
            self.lease, self.operation, ids, decide, reads=reads, basis=basis
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
        return replace(chunk, counts=sum_counts(chunk.counts, self.spent))

    def _together(self, read_set: ReadSet) -> tuple[Chunk, bool]:
        """Join the waiting decisions into a chunk, as many as fit.

        The second value says whether these are all.
        """
        made = Chunk(cursor=self.operation.cursor, fragile=False)
        for waiting in self.waiting:
            chunk = waiting.proposal.decide(with_chunks(read_set, [made]))
            if made.documents and made.documents + chunk.documents > _MOST_WAITING:
                return made, False
            made = made.joined(_as_run_chunk(waiting.step, chunk))
            if not chunk.done:
                return made, False
        return made, True


def _as_run_chunk(step: str, chunk: Chunk) -> Chunk:
    """Turn a step's chunk into a chunk of the run."""
    return replace(chunk, done=False, cursor=[step, STEP_DONE if chunk.done else chunk.cursor])


def end_overtaken_run() -> Chunk:
    """The last chunk of a run that a later run has overtaken."""
    return Chunk(
        cursor=[STEP_DONE, None], done=True, status="cancelled", error=OVERTAKEN, fragile=False
    )


# Finish a run: settle its range of events, write its report, and set when the next run is due.
#
# Note: the head of the last commit decides when that is. A write since the run began made the user
# due again, and the end of the run must not undo that.


ASKED_AGAIN_AFTER: Final = timedelta(days=1)
"""The earliest time at which a conflict that could not be decided is looked at again.

If the user's log has been quiet for longer, it is after as long again.
"""
ROUNDED = timedelta(seconds=1)
"""The tolerance for moments of fading, which stores and this process may round differently."""
WRITTEN: Final = "messages_written"
"""The name under which a run counts messages of earlier conversations."""
ReportRun = Callable[[Mapping[str, int]], None]
"""Called with the counts of a run when it has ended."""


@dataclass(frozen=True, slots=True)
class RunFinishRules:
    """The rules by which memories fade and age.

    Attributes:
        fading: The rules by which memories fade.
        archive_after: The age from which memories are archived.
        cap: The most memories that a run marks or shortens, and the most messages that it writes.
        prompt_price: The price of a million prompt tokens; 0 if unknown.
        completion_price: The price of a million completion tokens; 0 if unknown.
        marks_fading: Whether runs mark faded memories as decayed, and are due for it. If not,
            only reads tell which memories have faded.

    """

    fading: Fading
    archive_after: timedelta
    cap: int = 10_000
    prompt_price: float = 0.0
    completion_price: float = 0.0
    marks_fading: bool = False

    def cost(self, counts: Mapping[str, int]) -> float:
        """Return the cost of the counted tokens, in the currency of the prices."""
        prompt, completion = counts.get("prompt_tokens", 0), counts.get("completion_tokens", 0)
        return round(
            (prompt * self.prompt_price + completion * self.completion_price) / 1_000_000, 6
        )


class RunFinisher:
    """Ends runs of any owner."""

    def __init__(
        self, queue: TaskQueue, clock: Clock, rules: RunFinishRules, report_run: ReportRun
    ) -> None:
        self._queue, self._clock, self._rules = queue, clock, rules
        self._report_run = report_run

    async def end(self, work: RunProgress) -> None:
        """Commit the end with the waiting decisions, and report the run.

        Raises Unavailable; HeadMoved if other writers were faster.
        """
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
                return _settle_fields(
                    head, run, _next_due_at(head, run, coming, now, capped=capped)
                )

            report = self._report(run, stored, sum_counts(stored.counts, waiting.counts), now)
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
                await send_due(self._queue, run.owner, now)

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


def _settle_fields(head: Head, run: Run, due_at: datetime | None) -> HeadFields:
    at = run.at if head.settled_at is None else max(head.settled_at, run.at)
    return {
        "consolidated_sequence": max(head.consolidated_sequence, run.to),
        "settled_at": at,
        "due_at": due_at,
        "run_task_id": None,
    }


def _next_due_at(
    head: Head, run: Run, coming: NextDue, now: datetime, *, capped: bool
) -> datetime | None:
    """Return when the next run is due; None for not before the next write."""
    tried_again_at = run.at + TRIED_AGAIN_AFTER
    moments = (
        [] if head.due_at in (None, tried_again_at) and now < tried_again_at else [head.due_at]
    )
    if capped:
        moments.append(now)
    if coming.first is not None:
        moments.append(coming.first + 2 * ROUNDED)
    if head.pending_count:
        quiet = timedelta(0) if head.last_occurred_at is None else now - head.last_occurred_at
        moments.append(now + max(ASKED_AGAIN_AFTER, quiet))
    return min((moment for moment in moments if moment is not None), default=None)
