"""Runs of consolidation as their hour goes, and steps whose doings a test can see."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_core.adapters.system import RandomIds
from memory_core.bootstrap.rules import consolidation_rules
from memory_core.consolidation.run import Consolidator
from memory_core.consolidation.run_commits import RunFinisher, RunFinishRules
from memory_core.consolidation.schedule import RunStarter
from memory_core.consolidation.step import Proposal, Run, Step
from memory_core.consolidation.throttle import UserCalls
from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Answered, ConversationSummary, Provenance
from memory_core.domain.conversation import Task
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Change
from memory_core.ledger.read_set import ReadSet
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.operation_records import Chunk
from tests.builders import ALICE
from tests.tasks import Hand, task_of

QUEUE = "consolidation"


@dataclass
class Tagging:
    """Tags the memories that the news are about, two a chunk. before: done each time before
    it proposes.
    """

    name: str = "tagging"
    before: Callable[[], Awaitable[None]] | None = None
    asked: list[Any] = field(default_factory=list)

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        if self.before is not None:
            await self.before()
        self.asked.append(cursor)
        begun = cursor or 0
        ids = run.changed_ids()[begun : begun + 2]
        if not ids:
            return None

        def decide(look: ReadSet) -> Chunk:
            memories = [
                memory
                for memory in map(look.memory, ids)
                if memory is not None and self.name not in memory.tags
            ]
            changes = [
                Change(
                    "updated", memory.model_copy(update={"tags": [*memory.tags, self.name]}), memory
                )
                for memory in memories
            ]
            return Chunk(tuple(changes), cursor=begun + 2, counts={"tagged": len(changes)})

        return Proposal(ids, decide)

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        return {"tagged": len(run.changed_ids())}


@dataclass
class Asking:
    """Asks a model something, once a run, and makes nothing of the answer."""

    steps: Steps
    name: str = "asking"

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        async def ask() -> Answered[ConversationSummary]:
            return Answered(
                ConversationSummary(narrative="so it was"), Provenance("model"), (1_000, 200)
            )

        await self.steps.frozen(run.owner, run.id, "asking", ask, ConversationSummary)
        return None

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        return {}


def stepping(core: MemoryCore, *steps: Step, rules: RunFinishRules | None = None) -> MemoryCore:
    """The same core, whose runs take these steps and no others."""
    store, task_services, queue, clock = (
        core._services.adapters.long_term,
        core._services.task_services,
        core._services.adapters.queue,
        core._services.clock,
    )
    rules = rules or consolidation_rules(core.settings).finish
    starter = RunStarter(store, task_services.operations, task_services.leases, clock, RandomIds())
    finisher = RunFinisher(queue, clock, rules, core._telemetry.consolidated)
    consolidator = Consolidator(
        store, task_services.operations, steps, starter, finisher, clock, lambda: UserCalls(0, 0)
    )
    core._services.consolidation.consolidator = consolidator
    core._services.worker = task_services.worker({"consolidate": consolidator.work})
    return core


async def begun(
    core: MemoryCore,
    owner: Owner = ALICE,
    call: Call = Call(),  # noqa: B008
    **asked: Any,
) -> Accepted:
    """Ask for a run."""
    accepted = await core.consolidate(owner, ConsolidateInput(**asked), call)
    assert isinstance(accepted, Accepted)
    return accepted


async def settled(core: MemoryCore, owner: Owner = ALICE, **asked: Any) -> Task:
    """Ask for a run, work, and what came of it."""
    accepted = await begun(core, owner, **asked)
    await Hand(core, QUEUE).work_all()
    task = await task_of(core, accepted, owner)
    assert task.status == "succeeded", (task.status, task.step, task.error)
    return task


async def hour(core: MemoryCore) -> int:
    """What the timer begins, worked until nothing is visible: how many messages that were."""
    await core.fan_out()
    return await Hand(core, QUEUE).work_all()


async def runs(core: MemoryCore, owners: Sequence[Owner] = (ALICE,)) -> list[Task]:
    """All runs of these users that are still known, each user's newest first."""
    tasks = [
        task
        for owner in owners
        for task in (
            await core._services.task_services.tasks.page(owner, None, "consolidate", None, 100)
        ).tasks
    ]
    return list(tasks)
