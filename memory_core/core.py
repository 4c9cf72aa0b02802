"""MemoryCore: the product as a library. Functions, the development host and embedding programs all call this.

Wires adapters into the phases from Settings. Open it inside the event loop that will use it; one a process is enough.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from memory_core.adapters.system import RandomIds, SystemClock
from memory_core.bootstrap.adapters import Adapters
from memory_core.bootstrap.phases import Consolidation, Formation, Heeding, People
from memory_core.bootstrap.rules import (
    consolidation_rules,
    erase_rules,
    fading_rules,
    first_run,
    formation_rules,
    retrieve_rules,
    save_rules,
)
from memory_core.calls.cold import Cold
from memory_core.calls.conflicts import Arbitrating
from memory_core.calls.conversing import Conversing
from memory_core.calls.knowing import Knowing
from memory_core.calls.memories import Remembering
from memory_core.calls.overseeing import Overseeing
from memory_core.calls.people import Peopling
from memory_core.calls.time import LookingBack
from memory_core.calls.upkeep import Upkeep
from memory_core.config import Settings
from memory_core.domain.errors import Unavailable
from memory_core.evolution.clear_session import Clearer
from memory_core.evolution.conflicts import Conflicts
from memory_core.evolution.deletion import NoteUnmerger, ToldForgetter
from memory_core.evolution.edit import Editor
from memory_core.evolution.restore import Restorer, Uncompress
from memory_core.evolution.restore_archived import Thaw
from memory_core.evolution.slot_commits import SlotCommits
from memory_core.evolution.truth_projection import SlotCheck
from memory_core.formation.last_messages import LastMessages
from memory_core.formation.save import Saver
from memory_core.ledger.access_counts import Touches, Waking
from memory_core.ledger.archive_files import ColdCopies, OwnerNames, Parts
from memory_core.ledger.commit import Ledger, Mirror
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.documents import SettingsOfUsers
from memory_core.ports import Archive, Clock, IdSource, TaskQueue
from memory_core.recollection.agent_context import Briefing
from memory_core.recollection.candidate_sources import ColdSearch
from memory_core.recollection.history import Lineage, Replayer, Timeline
from memory_core.recollection.quotations import Surroundings
from memory_core.recollection.read import AgentList, Reader
from memory_core.recollection.reconstruct import Gatherer, Reconstructor
from memory_core.recollection.reorder import Reranking
from memory_core.recollection.retrieve import Retriever
from memory_core.recollection.scenes import NextRun, Profiles, Scenes
from memory_core.signing import cursor_secret
from memory_core.tasks.control import Poisoned
from memory_core.tasks.lifecycle import Threshold
from memory_core.tasks.worker import Tasking
from memory_core.telemetry import Telemetry, readiness

log = logging.getLogger(__name__)


class MemoryCore(Remembering, Conversing, Arbitrating, Knowing, Cold, LookingBack, Upkeep, Peopling, Overseeing):
    """Saves, finds and changes memories; every call names the owner whose memories they are."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        adapters: Adapters | None = None,
    ) -> None:
        """Build, without connecting to anything. `adapters` replaces those that the settings name."""
        self.settings = settings or Settings.from_env()
        self._clock = clock or SystemClock()
        self._ids = ids or RandomIds()
        self._telemetry = Telemetry()
        self._fading = fading_rules(self.settings)
        made = adapters or Adapters.of(self.settings, self._clock, self._telemetry.charged, self._telemetry)
        self._adapters = made
        self._cursors = Cursors(cursor_secret(self.settings))
        self._mirror = Mirror(made.short_term)
        self._ledger = self._made_ledger()
        waking = Waking(made.long_term, self._ledger, self._clock)
        written = waking.wake if self.settings.forgetting == "gentle" else None
        self._touches = Touches(made.long_term, made.short_term, self._clock, self._ids, written)
        lease = timedelta(seconds=self.settings.task_lease_s)
        self._tasking = Tasking(made.long_term, self._ledger, self._mirror, made.queue, self._cursors, self._clock, self._ids, lease)
        names = OwnerNames(made.archive)
        copies = ColdCopies(made.archive, names)
        self._for_saving()
        self._for_finding(copies)
        self._for_reading()
        self._for_bringing_back(copies)
        self._for_tasks(names, copies)
        self._opening = asyncio.Lock()
        self._open = False

    def _made_ledger(self) -> Ledger:
        settings, made = self.settings, self._adapters
        pause = timedelta(minutes=settings.consolidation_pause_minutes)
        gathered = Threshold(made.queue, self._clock, settings.consolidation_threshold, pause, first_run(settings)).gathered
        deadline_s = settings.commit_deadline_s
        return Ledger(
            made.long_term, self._clock, self._ids, deadline_s=deadline_s, gathered=gathered, completed=SlotCommits(self._clock).complete
        )

    def _for_saving(self) -> None:
        made, clock, ids = self._adapters, self._clock, self._ids
        self._saver = Saver(self._ledger, self._mirror, made.embedder, clock, ids, save_rules(self.settings))
        self._conflicts = Conflicts(made.long_term, self._ledger, self._mirror, made.embedder, self._cursors, clock)
        self._unmerger = NoteUnmerger(self._ledger, self._mirror, self._conflicts, clock)
        self._editor = Editor(self._ledger, self._mirror, made.embedder, self._unmerger, clock)
        self._user_settings = SettingsOfUsers(self._ledger)
        self._slot_check = SlotCheck(made.long_term, clock)
        self._clearer = Clearer(made.long_term, self._ledger, self._mirror, self._unmerger, clock, ids)

    def _for_finding(self, copies: ColdCopies) -> None:
        made = self._adapters
        cold = ColdSearch(made.long_term, copies, made.embedder)
        reranking = None if made.reranker is None else Reranking(made.reranker, self.settings.rerank_deadline_s)
        self._retriever = Retriever(
            made.long_term,
            made.short_term,
            cold,
            made.embedder,
            made.thesaurus,
            self._touches,
            self._clock,
            retrieve_rules(self.settings),
            reranking,
        )
        self._scenes = Scenes(made.long_term, self._cursors, self._clock)
        self._profiles = Profiles(made.long_term, self._clock)
        spread = timedelta(minutes=self.settings.consolidation_spread_minutes)
        self._next_run = NextRun(made.long_term, self._clock, first_run(self.settings), spread)
        gatherer = self._gatherer = Gatherer(made.long_term, self._retriever, Surroundings(made.long_term))
        self._reconstructor = Reconstructor(gatherer, self._retriever, made.agents, made.rules)
        self._briefing = Briefing(made.long_term, self._retriever, gatherer, self._profiles, self._clock)

    def _for_reading(self) -> None:
        long_term = self._adapters.long_term
        self._reader = Reader(long_term, self._cursors, self._clock, self._fading)
        self._replayer = Replayer(long_term, self._cursors)
        self._timeline = Timeline(long_term, self._cursors)
        self._lineage = Lineage(long_term)
        self._agent_list = AgentList(long_term, self._cursors)
        self._poisoned = Poisoned(long_term, self._cursors)

    def _for_bringing_back(self, copies: ColdCopies) -> None:
        made, ledger, mirror, clock = self._adapters, self._ledger, self._mirror, self._clock
        thaw = Thaw(made.long_term, ledger, mirror, copies, made.embedder, clock)
        uncompress = Uncompress(ledger, mirror, copies, made.embedder, clock)
        self._restorer = Restorer(ledger, mirror, uncompress, thaw, clock)

    def _for_tasks(self, names: OwnerNames, copies: ColdCopies) -> None:
        made, ledger, clock, ids = self._adapters, self._ledger, self._clock, self._ids
        rules = formation_rules(self.settings)
        heeding = Heeding(self._saver, self._editor, ToldForgetter(ledger, self._mirror, self._unmerger, clock), self._gatherer.nearest)
        self._formation = Formation(made.of_formation(), ledger, self._mirror, self._tasking, heeding, clock, ids, rules)
        tasking = self._tasking
        self._last_messages = LastMessages(
            made.long_term,
            ledger,
            self._mirror,
            self._formation.messages,
            self._conflicts,
            self._restorer,
            self._editor,
            self._unmerger,
            tasking.ends,
            made.queue,
            clock,
        )
        stores = made.of_consolidation(Parts(made.archive, names, clock))
        self._consolidation = Consolidation(
            stores,
            ledger,
            self._tasking,
            self._touches,
            copies,
            clock,
            ids,
            consolidation_rules(self.settings),
            self._telemetry.consolidated,
            self._telemetry.calls,
            self._unmerger,
        )
        self._people = People(
            made.long_term,
            made.short_term,
            made.archive,
            names,
            copies,
            made.embedder,
            ledger,
            self._tasking,
            clock,
            ids,
            erase_rules(self.settings),
            self._formation.converser.converse,
        )
        self._worker = self._tasking.worker(self._formation.works | self._consolidation.works | self._people.works)

    async def open(self) -> None:
        """Connect what the first call may need: long term, short term, queue, archive; or nothing, when one of the first two fails.

        Raises Unavailable, EmbeddingMismatch.
        """
        async with self._opening:
            if not self._open:
                try:
                    await self._connect()
                except BaseException:
                    await self.close()  # a caller that could not open it will not think of closing it
                    raise
                self._open = True

    async def _connect(self) -> None:
        await self._adapters.short_term.open()
        await self._adapters.long_term.open()
        await self._open_if_up(self._adapters.queue)
        await self._open_if_up(self._adapters.archive)

    async def _open_if_up(self, aside: TaskQueue | Archive) -> None:
        """A queue or an archive that is down is no reason to refuse memories; both may be used once they are back.

        Messages only say that there is work, the store says which; and what is in the archive is seldom asked for.
        """
        try:
            await aside.open()
        except Unavailable as error:
            log.warning("going on without it: %s", error.detail)

    async def warm_up(self) -> None:
        """Open, and load embedder and agents too, so that the first request pays for nothing."""
        await self.open()
        await self._adapters.embedder.open()
        await self._adapters.embedder.embed(["warm"])
        await self._adapters.rules.open()
        await self._adapters.agents.open()
        if self._adapters.reranker is not None:
            await self._adapters.reranker.open()

    async def close(self) -> None:
        """Let what is under way finish and release everything."""
        await self._retriever.close()
        await self._touches.close()
        await self._adapters.courier.close()
        if self._adapters.reranker is not None:
            await self._adapters.reranker.close()
        await self._adapters.agents.close()
        await self._adapters.rules.close()
        await self._adapters.embedder.close()
        await self._adapters.archive.close()
        await self._adapters.queue.close()
        await self._adapters.short_term.close()
        await self._adapters.long_term.close()
        self._open = False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def flush_touches(self) -> int:
        """Write down how often memories were shown, of every user; of how many memories. The hourly timer's work. Raises Unavailable."""
        with self._telemetry.operation("flush_touches"):
            return await self._touches.flush_all()

    @property
    def clock(self) -> Clock:
        """What tells this process the time."""
        return self._clock

    @property
    def queue(self) -> TaskQueue:
        """Where work waits: for its senders, and for a host that receives it."""
        return self._adapters.queue

    async def ready(self) -> dict[str, Any]:
        """`{"status": ready · degraded · unavailable, "dependencies": {…}}`: without the long term nothing works, without others less."""
        settings, made = self.settings, self._adapters
        return await readiness(
            {
                "long_term": (settings.long_term, made.long_term),
                "short_term": (settings.short_term, made.short_term),
                "archive": (settings.archive, made.archive),
                "queue": (settings.queue, made.queue),
                "embedder": (settings.embedding_provider, made.embedder),
                "agents": (settings.llm_provider, made.agents),
                **({} if made.reranker is None else {"reranker": (settings.rerank_provider, made.reranker)}),
            }
        )

    def metrics(self, app_id: str | None = None) -> bytes:
        """Counters and timings in Prometheus' text format; of what is counted by app, only this one's if it is given."""
        return self._telemetry.text(self._adapters.pools(), {"short_term": self._adapters.short_term.degraded}, app_id)

    def pool_stats(self) -> dict[str, Any]:
        """Connections or threads held and in use, by dependency."""
        return {name: {"size": size, "active": active} for name, (size, active) in self._adapters.pools().items()}
