"""How a run ends: what it went over is settled, its report is written, and it is said when the next one is due.

Note: the head that the last commit is put onto says when that is. A write since the run began has made the user due
again, and nothing here may take that back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from memory_core.consolidation.begin_run import TRIED_AGAIN_AFTER
from memory_core.consolidation.crossings import COUNTS
from memory_core.domain.coming import Coming
from memory_core.domain.fading import Fading
from memory_core.domain.models import Head
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, LongTermStore, TaskQueue
from memory_core.tasks.leases import Lease
from memory_core.tasks.lifecycle import tell_due
from memory_core.tasks.operations import RUN_REPORT_KEPT_FOR, Chunk, Operation, Operations

if TYPE_CHECKING:
    from memory_core.consolidation.run import Run


ASKED_AGAIN_AFTER: Final = timedelta(days=1)
"""When a question that could not be decided is looked at again, at the earliest: after as long as nothing has happened, if that is more."""
ROUNDED = timedelta(seconds=1)
"""Moments of fading are sums of real numbers, which a store and we may round differently."""
WRITTEN: Final = "messages_written"
"""Under which name a run counts messages of earlier conversations."""
Told = Callable[[Mapping[str, int]], None]
"""Told what each run did, when it has ended."""


@dataclass(frozen=True, slots=True)
class EndingRules:
    """What fades and ages when. cap: memories that a run takes out of sight or shortens at most,
    and messages that it writes. The prices: of a million tokens; 0 = not
    known. marks_fading: whether runs mark what fades as decayed, and are due for it; else reads alone tell what has faded.
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
        return round((prompt * self.prompt_price + completion * self.completion_price) / 1_000_000, 6)


class RunEnding:
    """Ends runs of any owner."""

    def __init__(
        self, store: LongTermStore, operations: Operations, queue: TaskQueue, clock: Clock, rules: EndingRules, told: Told
    ) -> None:
        self._store, self._operations, self._queue = store, operations, queue
        self._clock, self._rules, self._told = clock, rules, told

    async def end(self, lease: Lease, operation: Operation, run: Run, counts: Mapping[str, int], tokens: Mapping[str, int]) -> None:
        """Commit the end. counts: all that was done; tokens: those of them that no chunk has counted yet. Raises what commits raise."""
        now, spent = self._clock.now(), dict(tokens)
        coming = Coming() if run.session_id else await self._coming(run)
        faded = sum(counts.get(name, 0) for name in COUNTS)
        capped = operation.plan["capped"] or max(faded, counts.get(WRITTEN, 0)) >= self._rules.cap
        capped = capped and run.session_id is None
        report = self._report(run, operation, counts, now)
        committed: list[bool] = []

        def last(look: Look, stored: Operation) -> Chunk:
            committed[:] = [True]
            fields = _left if run.session_id else lambda head: _settled(head, run, _next(head, run, coming, now, capped=capped))
            document = Document(str(report["id"]), "run", report, expires_at=now + RUN_REPORT_KEPT_FOR)
            result = {name: report[name] for name in ("after", "to", "read", "tokens", "cost", "duration_s")}
            return Chunk(puts=(document,), cursor=["done", None], counts=spent, done=True, head_fields=fields, fragile=False, result=result)

        await self._operations.advance(lease, operation, [], last)
        if committed:
            self._told({"runs": 1, "read": len(run.news), **counts})
            if capped:
                await tell_due(self._queue, lease.owner, now)

    async def _coming(self, run: Run) -> Coming:
        coming = await self._store.coming(run.owner, self._rules.fading, self._rules.archive_after, run.at - ROUNDED)
        return coming if self._rules.marks_fading else replace(coming, fades=None)

    def _report(self, run: Run, operation: Operation, counts: Mapping[str, int], now: datetime) -> dict[str, Any]:
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
            "counts": {name: count for name, count in counts.items() if not name.endswith("_tokens")},
            "tokens": tokens,
            "cost": self._rules.cost(counts),
        }


def _left(head: Head) -> Mapping[str, Any]:
    return {}


def _settled(head: Head, run: Run, due_at: datetime | None) -> Mapping[str, Any]:
    at = run.at if head.settled_at is None else max(head.settled_at, run.at)
    return {"consolidated_sequence": max(head.consolidated_sequence, run.to), "settled_at": at, "due_at": due_at}


def _next(head: Head, run: Run, coming: Coming, now: datetime, *, capped: bool) -> datetime | None:
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
