"""Build the phases from adapters: formation, consolidation and data rights.

Each phase has its services by name, and the workers of its kinds of task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from memory_core.consolidation.archive import Archiver, ArchiveRules
from memory_core.consolidation.backfill import EarlierMessages, Reembedder
from memory_core.consolidation.conflicts import ConflictStep
from memory_core.consolidation.duplicates import Merging
from memory_core.consolidation.fading import Compressor, ImportanceCrossings
from memory_core.consolidation.instruction_conflicts import InstructionConflictStep
from memory_core.consolidation.pattern_withdrawal import PatternWithdrawal
from memory_core.consolidation.patterns import Closeness, Patterns
from memory_core.consolidation.profile import ProfileStep
from memory_core.consolidation.reflection import JointReflection
from memory_core.consolidation.run import Consolidator
from memory_core.consolidation.run_commits import ReportRun, RunFinisher, RunFinishRules
from memory_core.consolidation.scene_conflicts import SceneConflictStep
from memory_core.consolidation.scenes import SceneStep
from memory_core.consolidation.schedule import FanOut, RunStarter
from memory_core.consolidation.step import Step
from memory_core.consolidation.throttle import UserCalls
from memory_core.consolidation.upkeep import Decay, DecayRules, EndedTruths, Upkeep
from memory_core.data_rights.erase import Eraser, EraseRules, WithdrawKeys
from memory_core.data_rights.export import Exporter
from memory_core.data_rights.forget import Forgetter
from memory_core.data_rights.hard_forget import HardForgetter
from memory_core.data_rights.import_conversations import ConversationImporter, Converse
from memory_core.data_rights.import_parse import Redact
from memory_core.data_rights.importing import Importer
from memory_core.data_rights.redaction_passes import RedactionPasses
from memory_core.domain.conversation import TaskKind
from memory_core.domain.joint_answers import FormationCalls
from memory_core.domain.scene_assignment import SceneRules
from memory_core.evolution.clear_session import Clearer
from memory_core.evolution.deletion import NoteUnmerger
from memory_core.evolution.edit import Editor
from memory_core.evolution.soft_forget import ToldForgetter
from memory_core.formation.accept import Converser
from memory_core.formation.batches import Batches, BatchRules, BufferWork, Handover
from memory_core.formation.form_cell import Former, FormingRules
from memory_core.formation.form_conversation import Forming
from memory_core.formation.message_memories import MessageWriter
from memory_core.formation.save import Saver
from memory_core.formation.summaries import Summaries, SummingUp
from memory_core.formation.webhooks import Callbacks, Deliveries
from memory_core.formation.wish_effects import EffectFinder, Finder
from memory_core.formation.wishes import Wishes
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.archive_files import ColdCopies, ErasureLog, OwnerHashes, TransferFiles
from memory_core.ledger.commit import Ledger
from memory_core.ledger.history import Snapshots
from memory_core.ports import (
    Agents,
    Archive,
    Clock,
    Courier,
    Embedder,
    IdSource,
    LongTermStore,
    ShortTermStore,
    TaskQueue,
)
from memory_core.tasks.worker import TaskServices, Work


@dataclass(frozen=True, slots=True)
class SharedServices:
    """What each phase is built on.

    Attributes:
        ledger: Writes commits.
        tasks: Services that tasks share.
        access_counts: Access counts of memories.
        copies: Archived memories.
        names: Hashes that stand for owners.
        parts: The files of exports and imports, which are stored in the archive.
        clock: The clock of the process.
        ids: Source of new ids.

    """

    ledger: Ledger
    tasks: TaskServices
    access_counts: AccessCounts
    copies: ColdCopies
    names: OwnerHashes
    parts: TransferFiles
    clock: Clock
    ids: IdSource


@dataclass(frozen=True, slots=True)
class ConsolidationRules:
    """Rules that consolidation follows.

    Attributes:
        decay: What fades, and how much of it in a run.
        forget_cap: Memories that a task forgets at most.
        archive: When a memory goes to the archive.
        closeness: How near episodes of a pattern, and memories that repeat it, are.
        scenes: When cells are of one scene.
        finish: What ends a run.
        spread: Time over which the runs of the users of an hour are spread.
        calls: In how many calls a model is asked.

    """

    decay: DecayRules
    forget_cap: int
    archive: ArchiveRules
    closeness: Closeness
    scenes: SceneRules
    finish: RunFinishRules
    spread: timedelta
    calls: FormationCalls = "separate"


@dataclass(frozen=True, slots=True)
class ConsolidationAdapters:
    """Adapters that consolidation works with.

    Attributes:
        rules: The agents without a model.

    """

    store: LongTermStore
    short_term: ShortTermStore
    embedder: Embedder
    agents: Agents
    rules: Agents
    queue: TaskQueue


class Consolidation:
    """Consolidation, with each of its services by name.

    Attributes:
        works: The worker of each kind of task.

    """

    def __init__(
        self,
        here: ConsolidationAdapters,
        shared: SharedServices,
        rules: ConsolidationRules,
        report_run: ReportRun,
        calls: Callable[[], UserCalls],
        unmerger: NoteUnmerger,
        clearer: Clearer,
    ) -> None:
        """Build all services of the phase.

        Args:
            here: The adapters to work with.
            shared: What each phase is built on.
            rules: Rules that the phase follows.
            report_run: Called with the counts of each run.
            calls: Counts the calls of users, to which runs give way.
            unmerger: Splits notes that were merged.
            clearer: Finishes clears that were interrupted.

        """
        ledger, task_services, clock = shared.ledger, shared.tasks, shared.clock
        access_counts, copies, names = shared.access_counts, shared.copies, shared.names
        store, operations = here.store, task_services.operations
        self.snapshots = Snapshots(store, ledger)
        compressor = Compressor(copies, here.embedder, here.agents, here.rules, task_services.steps)
        crossings = ImportanceCrossings(
            store, access_counts, compressor, clock, rules.decay.fading, recalls=rules.decay.recalls
        )
        self.decay = Decay(
            store, operations, access_counts, self.snapshots, crossings, clock, rules.decay
        )
        sweeping = RedactionPasses(store, operations, self.snapshots, copies, clock)
        for_good = HardForgetter(
            store, here.short_term, shared.parts, operations, sweeping, names, clock
        )
        self.forgetter = Forgetter(
            store, operations, for_good, unmerger, names, clock, rules.forget_cap
        )
        self.archiver = Archiver(
            store, ledger, access_counts, operations, copies, clock, rules.archive
        )
        upkeep = Upkeep(
            store, access_counts, self.snapshots, crossings, self.decay, self.archiver, rules.finish
        )
        steps = _steps(here, shared, rules, upkeep)
        self.reembedder = Reembedder(store, operations, here.embedder)
        starter = RunStarter(store, operations, task_services.leases, clock, shared.ids)
        finisher = RunFinisher(here.queue, clock, rules.finish, report_run)
        self.consolidator = Consolidator(store, operations, steps, starter, finisher, clock, calls)
        self.fan_out = FanOut(
            store, here.queue, starter, access_counts, clearer, clock, rules.spread
        )
        self.works: dict[TaskKind, Work] = {
            "decay": self.decay.work,
            "forget": self.forgetter.work,
            "archive": self.archiver.work,
            "consolidate": self.consolidator.work,
            "reembed": self.reembedder.work,
        }


def _steps(
    here: ConsolidationAdapters, shared: SharedServices, rules: ConsolidationRules, upkeep: Upkeep
) -> tuple[Step, ...]:
    """The steps of a run, in the order in which they are taken."""
    steps = shared.tasks.steps
    is_joint = rules.calls != "separate" and here.agents is not here.rules
    reflecting = JointReflection(here.agents, here.rules, steps) if is_joint else None
    scenes: tuple[Step, ...] = (
        SceneStep(here.store, here.embedder, here.agents, here.rules, steps, rules.scenes),
    )
    return (
        upkeep,
        EndedTruths(here.store, shared.clock),
        # before patterns, or new events would support superseded facts
        PatternWithdrawal(here.store),
        # traits come from the patterns, and from scenes with the new episodes
        *(scenes if is_joint else ()),
        Patterns(
            here.store, here.embedder, here.agents, here.rules, steps, rules.closeness, reflecting
        ),
        Merging(here.store, here.embedder, here.rules, rules.closeness.duplicate),
        ConflictStep(here.store, shared.ledger, here.agents, here.rules, steps),
        *(() if is_joint else scenes),
        SceneConflictStep(here.agents, here.rules, steps),
        InstructionConflictStep(here.store, here.agents, here.rules, steps),
        ProfileStep(here.agents, here.rules, steps, reflecting),
        EarlierMessages(here.store, here.embedder, rules.finish.cap),
    )


# The services of formation.


@dataclass(frozen=True, slots=True)
class FormationRules:
    """Rules that formation follows.

    Attributes:
        forming: How memories are formed of conversations.
        batches: When a batch of messages becomes a conversation.
        commit_deadline_s: Seconds that an append may try against concurrent writes.
        webhook_secret: Signs callbacks; None where callbacks can't be signed, and so can't be
            requested.

    """

    forming: FormingRules
    batches: BatchRules
    commit_deadline_s: float
    webhook_secret: bytes | None


@dataclass(frozen=True, slots=True)
class FormationAdapters:
    """The adapters that formation works with."""

    store: LongTermStore
    embedder: Embedder
    queue: TaskQueue
    agents: Agents
    rules: Agents
    courier: Courier


@dataclass(frozen=True, slots=True)
class WishServices:
    """Services that carry out the wishes in conversations."""

    saver: Saver
    editor: Editor
    forgetter: ToldForgetter
    find: Finder


class Formation:
    """Formation, with each of its services by name.

    Attributes:
        works: The worker of each kind of task.

    """

    def __init__(
        self,
        here: FormationAdapters,
        shared: SharedServices,
        rules: FormationRules,
        heeding: WishServices,
    ) -> None:
        ledger, clock, ids = shared.ledger, shared.clock, shared.ids
        starter, finisher, steps = shared.tasks.starter, shared.tasks.finisher, shared.tasks.steps
        callbacks = Callbacks(here.courier, rules.webhook_secret)
        messages = MessageWriter(ledger, here.embedder, clock)
        self.messages = messages
        self.converser = Converser(
            starter,
            messages,
            callbacks,
            shared.names,
            clock,
            ids,
            here.rules,
            rules.forming.boundary,
            is_by_rule=here.agents is here.rules,
        )
        self.summaries = Summaries(here.agents, here.rules, callbacks, starter, clock, ids)
        handover = Handover(ledger, messages, here.queue, clock, rules.batches)
        self.batches = Batches(ledger, here.store, handover, clock, ids, rules.commit_deadline_s)
        self.deliveries = Deliveries(
            here.store, ledger, here.courier, finisher, clock, rules.webhook_secret
        )
        wishes = Wishes(
            EffectFinder(here.store, heeding.find, clock),
            heeding.saver,
            heeding.editor,
            heeding.forgetter,
            steps,
        )
        former = Former(
            ledger,
            messages,
            here.embedder,
            here.agents,
            here.rules,
            clock,
            rules.forming,
            wishes.keep_found_instructions,
        )
        forming = Forming(ledger, messages, former, wishes, steps, finisher, here.queue, clock)
        self.works: dict[TaskKind, Work] = {
            "converse": forming.form,
            "agent_memory": forming.form,
            "flush": BufferWork(ledger, handover, forming, clock).gather,
            "summary": SummingUp(ledger, self.summaries, steps, finisher).sum_up,
            "webhook": self.deliveries.deliver,
        }


@dataclass(frozen=True, slots=True)
class DataRightsAdapters:
    """The adapters that data rights work with."""

    store: LongTermStore
    short_term: ShortTermStore
    archive: Archive
    embedder: Embedder


class DataRights:
    """Data rights: erase or export a user, or import a file or conversations.

    Each service has a name.

    Attributes:
        parts: The files of exports and imports.
        works: The worker of each kind of task.

    """

    def __init__(
        self,
        here: DataRightsAdapters,
        shared: SharedServices,
        rules: EraseRules,
        withdraw_keys: WithdrawKeys,
        converse: Converse,
        redact: Redact,
    ) -> None:
        store, operations = here.store, shared.tasks.operations
        clock, ids, copies = shared.clock, shared.ids, shared.copies
        self.parts = shared.parts
        self.eraser = Eraser(
            store,
            here.short_term,
            self.parts,
            copies,
            shared.names,
            ErasureLog(here.archive, shared.names),
            shared.ledger,
            shared.tasks,
            clock,
            ids,
            rules,
            withdraw_keys,
        )
        self.exporter = Exporter(store, shared.access_counts, copies, self.parts, operations, clock)
        self.importer = Importer(
            store,
            here.embedder,
            copies,
            self.parts,
            operations,
            ConversationImporter(converse, operations, clock, redact),
            clock,
            ids,
            redact,
        )
        self.works: dict[TaskKind, Work] = {
            "erase": self.eraser.erase,
            "export": self.exporter.export,
            "import": self.importer.work,
        }
