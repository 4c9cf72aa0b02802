"""Build from adapters and settings all services that the calls of `MemoryCore` use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from memory_core.access.admission import Admission
from memory_core.access.audit import AuditLog, TaskAudit
from memory_core.access.keys import ApiKeys
from memory_core.access.lookup import KeyLookup, KeyTags
from memory_core.access.usage import Usage
from memory_core.bootstrap.adapters import Adapters
from memory_core.bootstrap.phases import (
    Consolidation,
    DataRights,
    Formation,
    SharedServices,
    WishServices,
)
from memory_core.bootstrap.rules import (
    admission_rules,
    consolidation_rules,
    erase_rules,
    fading_rules,
    first_run,
    formation_rules,
    request_rates,
    retrieve_rules,
    save_rules,
    usage_limits,
)
from memory_core.config import Settings
from memory_core.domain.errors import Unavailable
from memory_core.domain.fading import has_faded
from memory_core.domain.memory import Memory
from memory_core.domain.redaction.requests import Redactor
from memory_core.domain.scope import Owner
from memory_core.evolution.clear_session import Clearer
from memory_core.evolution.commit_rules import MemoryRules
from memory_core.evolution.conflicts import Conflicts
from memory_core.evolution.deletion import NoteUnmerger
from memory_core.evolution.edit import Editor
from memory_core.evolution.restore import Restorer, Uncompress
from memory_core.evolution.restore_archived import ArchiveRestorer
from memory_core.evolution.slot_check import SlotCheck
from memory_core.evolution.soft_forget import ToldForgetter
from memory_core.formation.last_messages import LastMessages
from memory_core.formation.save import Saver
from memory_core.formation.session_append import SessionAppender
from memory_core.ledger.access_counts import AccessCounts, DueMarker
from memory_core.ledger.archive_files import ColdCopies, OwnerHashes, TransferFiles
from memory_core.ledger.commit import Ledger
from memory_core.ledger.commit_hooks import WorkingSetWriter
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.documents import SettingsOfUsers
from memory_core.ports import Archive, Clock, IdSource, TaskQueue
from memory_core.recollection.agent_context import Briefing
from memory_core.recollection.candidate_sources import ColdSearch
from memory_core.recollection.gather import Gatherer
from memory_core.recollection.history import HistoryReader, Lineage, Replayer
from memory_core.recollection.read import AgentList, Reader
from memory_core.recollection.reconstruct import Reconstructor
from memory_core.recollection.reorder import Reranking
from memory_core.recollection.retrieve import Retriever
from memory_core.recollection.retrieve_pages import RetrievePages
from memory_core.recollection.scenes import NextRun, Profiles, Scenes
from memory_core.recollection.surroundings import Surroundings
from memory_core.signing import cursor_secret
from memory_core.tasks.control import PoisonedTasks
from memory_core.tasks.lifecycle import ConsolidationTrigger
from memory_core.tasks.resending import ResendingQueue
from memory_core.tasks.worker import TaskServices
from memory_core.telemetry import Telemetry

log = logging.getLogger(__name__)


class Services:
    """All services that the calls use; they are opened and closed together."""

    def __init__(
        self, settings: Settings, clock: Clock, ids: IdSource, adapters: Adapters | None
    ) -> None:
        """Build all services, without connecting to any of them.

        adapters: Replace the adapters that the settings name; None for those.
        """
        self._settings = settings
        self.clock = clock
        self.ids = ids
        self.telemetry = Telemetry()
        self.redactor = Redactor(self._settings.redacted_kinds)
        self.fading = fading_rules(self._settings)
        made = adapters or Adapters.of(
            self._settings, self.clock, self.telemetry.charged, self.telemetry
        )
        self.adapters = made = replace(made, queue=ResendingQueue(made.queue, self.clock))
        self._export_telemetry()
        secret = cursor_secret(self._settings)
        self.cursors, self.key_tags = Cursors(secret), KeyTags(secret)
        self.ledger = self._made_ledger()
        self.usage = Usage(made.long_term, self.ledger, self.clock, usage_limits(self._settings))
        self.ledger.room = self.usage
        due_marker = DueMarker(made.long_term, self.ledger, self.clock)
        written = due_marker.mark_due if self._settings.forgetting == "gentle" else None
        self.access_counts = AccessCounts(
            made.long_term, made.short_term, self.clock, self.ids, written
        )
        lease = timedelta(seconds=self._settings.task_lease_s)
        self.task_services = TaskServices(
            made.long_term, self.ledger, made.queue, self.cursors, self.clock, self.ids, lease
        )
        names = OwnerHashes(made.archive)
        copies = ColdCopies(made.archive, names)
        self._for_saving()
        self._for_finding(copies)
        self._for_reading()
        self._for_bringing_back(copies)
        self._for_access()
        shared = SharedServices(
            self.ledger,
            self.task_services,
            self.access_counts,
            copies,
            names,
            TransferFiles(made.archive, names, self.clock),
            self.clock,
            self.ids,
        )
        self._for_tasks(shared)
        self._for_people(shared)
        self._opening = asyncio.Lock()
        self._open = False
        self._closed_before = False

    def note_access(self, owner: Owner, memories: Sequence[Memory]) -> None:
        """Count an access of memories that were read by id.

        Args:
            owner: App and user whose memories they are.
            memories: The memories as they were read.

        """
        now = self.clock.now()
        faded = frozenset(memory.id for memory in memories if has_faded(memory, now, self.fading))
        self.access_counts.note(owner, [memory.id for memory in memories], now, faded)

    def pools(self) -> dict[str, tuple[int, int]]:
        """Sizes of pools, each with how much of it is in use.

        They are connections or threads by dependency, and the requests at work or waiting.
        """
        return {**self.adapters.pools(), "requests": self.admission.pool()}

    def _export_telemetry(self) -> None:
        if self._settings.telemetry != "off":
            made = self.adapters
            self.telemetry.export(
                self._settings.telemetry,
                self.pools,
                lambda: {"short_term": made.short_term.degraded},
            )

    def _made_ledger(self) -> Ledger:
        settings, made = self._settings, self.adapters
        pause = timedelta(minutes=settings.consolidation_pause_minutes)
        trigger = ConsolidationTrigger(
            made.queue, self.clock, settings.consolidation_threshold, pause, first_run(settings)
        )
        deadline_s = settings.commit_deadline_s
        return Ledger(
            made.long_term,
            self.clock,
            self.ids,
            deadline_s=deadline_s,
            fresh_memories_hook=trigger.check,
            rules=MemoryRules(self.clock),
            commit_hook=WorkingSetWriter(made.short_term).write,
        )

    def _for_saving(self) -> None:
        made, clock, ids = self.adapters, self.clock, self.ids
        rules = save_rules(self._settings)
        self.saver = Saver(self.ledger, made.embedder, clock, ids, rules)
        self.conflicts = Conflicts(made.long_term, self.ledger, made.embedder, self.cursors)
        self.unmerger = NoteUnmerger(self.ledger, self.conflicts, clock)
        self.editor = Editor(self.ledger, made.embedder, self.unmerger, clock, rules)
        self.user_settings = SettingsOfUsers(self.ledger)
        self.slot_check = SlotCheck(made.long_term, clock)
        self.clearer = Clearer(made.long_term, self.ledger, self.unmerger, clock, ids)

    def _for_finding(self, copies: ColdCopies) -> None:
        made = self.adapters
        cold = ColdSearch(made.long_term, copies, made.embedder)
        reranking = (
            None
            if made.reranker is None
            else Reranking(made.reranker, self._settings.rerank_deadline_s)
        )
        self.retriever = Retriever(
            made.long_term,
            made.short_term,
            cold,
            made.embedder,
            made.thesaurus,
            self.access_counts,
            self.clock,
            retrieve_rules(self._settings),
            reranking,
        )
        self.pages = RetrievePages(self.retriever, self.cursors)
        self.scenes = Scenes(made.long_term, self.cursors, self.clock)
        self.profiles = Profiles(made.long_term, self.clock)
        spread = timedelta(minutes=self._settings.consolidation_spread_minutes)
        self.next_run = NextRun(made.long_term, self.clock, first_run(self._settings), spread)
        gatherer = self.gatherer = Gatherer(
            made.long_term, self.retriever, Surroundings(made.long_term)
        )
        self.reconstructor = Reconstructor(gatherer, self.retriever, made.agents, made.rules)
        self.briefing = Briefing(
            made.long_term, self.retriever, gatherer, self.profiles, self.clock
        )

    def _for_reading(self) -> None:
        long_term = self.adapters.long_term
        self.reader = Reader(long_term, self.cursors, self.clock, self.fading)
        self.replayer = Replayer(long_term, self.cursors)
        self.timeline = HistoryReader(long_term, self.cursors)
        self.lineage = Lineage(long_term)
        self.agent_list = AgentList(long_term, self.cursors)
        self.poisoned = PoisonedTasks(long_term, self.cursors)

    def _for_bringing_back(self, copies: ColdCopies) -> None:
        made, ledger, clock = self.adapters, self.ledger, self.clock
        archive_restorer = ArchiveRestorer(made.long_term, ledger, copies, made.embedder, clock)
        uncompress = Uncompress(ledger, copies, made.embedder, clock)
        self.restorer = Restorer(ledger, uncompress, archive_restorer, clock)

    def _for_access(self) -> None:
        keys = self.adapters.keys
        self.key_lookup = KeyLookup(keys, self.clock, self.key_tags)
        self.keys = ApiKeys(
            keys, self.key_lookup, self.key_tags, self.cursors, self.clock, self.ids
        )
        self.audit_log = AuditLog(keys, self.cursors)
        self.admission = Admission(admission_rules(self._settings))
        self.request_rates = request_rates(self._settings, self.adapters.short_term, self.clock)

    def _for_tasks(self, shared: SharedServices) -> None:
        made, ledger, clock, ids = self.adapters, self.ledger, self.clock, self.ids
        rules = formation_rules(self._settings)
        heeding = WishServices(
            self.saver, self.editor, ToldForgetter(ledger, self.unmerger), self.gatherer.nearest
        )
        self.formation = Formation(made.of_formation(), shared, rules, heeding)
        task_services = self.task_services
        self.last_messages = LastMessages(
            made.long_term,
            ledger,
            self.formation.messages,
            self.conflicts,
            self.restorer,
            self.editor,
            self.unmerger,
            task_services.finisher,
            made.queue,
            clock,
        )
        self.appender = SessionAppender(ledger, made.embedder, task_services.starter, clock, ids)
        self.consolidation = Consolidation(
            made.of_consolidation(),
            shared,
            consolidation_rules(self._settings),
            self.telemetry.consolidated,
            self.telemetry.calls,
            self.unmerger,
            self.clearer,
        )

    def _for_people(self, shared: SharedServices) -> None:
        made = self.adapters
        self.people = DataRights(
            made.of_data_rights(),
            shared,
            erase_rules(self._settings),
            self.keys.withdraw_bound,
            self.formation.converser.converse,
            self.redactor.value,
        )
        tasks = shared.tasks
        audit = TaskAudit(made.keys, tasks.operations, tasks.tasks, shared.names)
        self.worker = self.task_services.worker(
            audit.around(self.formation.works | self.consolidation.works | self.people.works)
        )

    async def open(self) -> None:
        """Connect to the long-term store, short-term store, queue and archive.

        If the connection to either store fails, no connection stays open. Raises Unavailable,
        EmbeddingMismatch.
        """
        async with self._opening:
            if not self._open:
                try:
                    await self._connect()
                except BaseException:
                    # a caller whose `open` failed will not call `close`
                    await self.close()
                    raise
                self._open = True

    async def _connect(self) -> None:
        await self.adapters.short_term.open()
        await self.adapters.long_term.open()
        await self._open_if_up(self.adapters.queue)
        await self._open_if_up(self.adapters.archive)
        if self._closed_before:  # models load at their first call, but not after a close
            await self._open_models()

    async def _open_if_up(self, aside: TaskQueue | Archive) -> None:
        """Open a queue or an archive, and go on without it if it is down.

        It is no reason to refuse memories, and it may be used once it is back. Messages only say
        that there is work, and the store says which work. The archive is seldom read.
        """
        try:
            await aside.open()
        except Unavailable as error:
            log.warning("going on without it: %s", error.detail)

    async def warm_up(self) -> None:
        """Open, and load embedder and agents too, to spare the first request the wait."""
        await self.open()
        await self._open_models()
        await self.adapters.embedder.embed(["warm"])
        self.redactor.text("warm up")

    async def _open_models(self) -> None:
        """Load embedder, agents and reranker, or connect to them."""
        await self.adapters.embedder.open()
        await self.adapters.rules.open()
        await self.adapters.agents.open()
        if self.adapters.reranker is not None:
            await self.adapters.reranker.open()

    async def close(self) -> None:
        """Let the work under way finish, and release all connections and threads."""
        await self.retriever.candidates.close()
        await self.key_lookup.close()
        await self.access_counts.close()
        await self.usage.close()
        await self.adapters.courier.close()
        if self.adapters.reranker is not None:
            await self.adapters.reranker.close()
        await self.adapters.agents.close()
        await self.adapters.rules.close()
        await self.adapters.embedder.close()
        await self.adapters.archive.close()
        await self.adapters.queue.close()
        await self.adapters.short_term.close()
        await self.adapters.long_term.close()
        await self.telemetry.close()
        self._open, self._closed_before = False, True
