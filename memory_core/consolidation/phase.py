"""Consolidation, put together: what works on a user's memories as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from memory_core.consolidation.archive import Archiver
from memory_core.consolidation.archive_plan import ArchiveRules
from memory_core.consolidation.begin_run import RunBeginning
from memory_core.consolidation.compress import Compressor
from memory_core.consolidation.conflicts import ConflictStep
from memory_core.consolidation.crossings import Crossings
from memory_core.consolidation.decay import Decay, DecayRules
from memory_core.consolidation.earlier_messages import EarlierMessages
from memory_core.consolidation.end_run import EndingRules, RunEnding, Told
from memory_core.consolidation.ended import EndedTruths
from memory_core.consolidation.fan_out import FanOut
from memory_core.consolidation.forget import Forgetter
from memory_core.consolidation.forget_for_good import ForGood
from memory_core.consolidation.giving_way import Calls
from memory_core.consolidation.merging import Merging
from memory_core.consolidation.patterns import Closeness, Patterns
from memory_core.consolidation.profile import ProfileStep
from memory_core.consolidation.reembedding import Reembedder
from memory_core.consolidation.run import Consolidator, Step
from memory_core.consolidation.scene_conflicts import SceneConflictStep
from memory_core.consolidation.scenes import SceneStep
from memory_core.consolidation.sweeping import Sweeping
from memory_core.consolidation.upkeep import Upkeep
from memory_core.consolidation.withdraw import Withdrawal
from memory_core.domain.scene_sorting import SceneRules
from memory_core.domain.task import TaskKind
from memory_core.evolution.unmerge import NoteUnmerger
from memory_core.ledger.access_counts import Touches
from memory_core.ledger.archive_files import ColdCopies, Parts
from memory_core.ledger.commit import Ledger
from memory_core.ledger.history import Snapshots
from memory_core.ports import Agents, Clock, Embedder, IdSource, LongTermStore, ShortTermStore, TaskQueue
from memory_core.tasks.worker import Tasking, Work


@dataclass(frozen=True, slots=True)
class ConsolidationRules:
    """What the phase goes by. spread: over how long the users of one hour are spread."""

    decay: DecayRules
    forget_cap: int
    archive: ArchiveRules
    closeness: Closeness
    scenes: SceneRules
    ending: EndingRules
    spread: timedelta


@dataclass(frozen=True, slots=True)
class Stores:
    """What consolidation works with: adapters, of which `rules` are the agents without a model, and the files of exports."""

    store: LongTermStore
    short_term: ShortTermStore
    embedder: Embedder
    agents: Agents
    rules: Agents
    queue: TaskQueue
    parts: Parts


class Consolidation:
    """The phase; each of its parts by name. works: what it does for each kind of task."""

    def __init__(
        self,
        here: Stores,
        ledger: Ledger,
        tasking: Tasking,
        touches: Touches,
        copies: ColdCopies,
        clock: Clock,
        ids: IdSource,
        rules: ConsolidationRules,
        told: Told,
        calls: Callable[[], Calls],
        unmerger: NoteUnmerger,
    ) -> None:
        """told: of what each run did. calls: those that runs give way to."""
        store, operations = here.store, tasking.operations
        self.snapshots = Snapshots(store, ledger)
        compressor = Compressor(copies, here.embedder, here.agents, here.rules, tasking.steps)
        crossings = Crossings(store, compressor, clock, rules.decay.fading, recalls=rules.decay.recalls)
        self.decay = Decay(store, operations, touches, self.snapshots, crossings, clock, rules.decay)
        sweeping = Sweeping(store, operations, self.snapshots, copies, clock)
        for_good = ForGood(store, here.short_term, here.parts, operations, sweeping, clock)
        self.forgetter = Forgetter(store, operations, for_good, unmerger, clock, rules.forget_cap)
        self.archiver = Archiver(store, ledger, operations, copies, clock, rules.archive)
        upkeep = Upkeep(store, touches, self.snapshots, crossings, self.decay, self.archiver, rules.ending)
        steps: tuple[Step, ...] = (
            upkeep,
            EndedTruths(store, clock),
            Withdrawal(store),  # before patterns are found, or news would make surer what does not stand any more
            Patterns(store, here.embedder, here.agents, here.rules, tasking.steps, rules.closeness),
            Merging(store, here.embedder, here.rules, rules.closeness.duplicate),
            ConflictStep(store, ledger, here.agents, here.rules, tasking.steps, clock),
            SceneStep(store, here.embedder, here.agents, here.rules, tasking.steps, rules.scenes),
            SceneConflictStep(store, here.agents, here.rules, tasking.steps, clock),
            ProfileStep(store, here.agents, here.rules, tasking.steps),
            EarlierMessages(store, here.embedder, rules.ending.cap),
        )
        self.reembedder = Reembedder(store, operations, here.embedder)
        beginning = RunBeginning(store, operations, clock, ids)
        ending = RunEnding(store, operations, here.queue, clock, rules.ending, told)
        self.consolidator = Consolidator(store, operations, steps, beginning, ending, clock, calls)
        self.fan_out = FanOut(store, here.queue, beginning, clock, rules.spread)
        self.works: dict[TaskKind, Work] = {
            "decay": self.decay.work,
            "forget": self.forgetter.work,
            "archive": self.archiver.work,
            "consolidate": self.consolidator.work,
            "reembed": self.reembedder.work,
        }
