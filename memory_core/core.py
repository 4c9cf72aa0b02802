"""MemoryCore: the product as a library. Functions, the development host and embedding programs all call this.

Wires adapters into the phases from Settings. Open it inside the event loop that will use it; one a process is enough.
"""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from memory_core.adapters.system import RandomIds, SystemClock
from memory_core.calls.cold import Cold
from memory_core.calls.conflicts import Arbitrating
from memory_core.calls.conversing import NO_CALL, Conversing
from memory_core.calls.knowing import Knowing
from memory_core.calls.people import Peopling
from memory_core.calls.time import LookingBack
from memory_core.calls.upkeep import Upkeep
from memory_core.config import Settings
from memory_core.consolidation.people import People
from memory_core.consolidation.phase import Consolidation
from memory_core.domain.context import Context, ContextInput
from memory_core.domain.errors import Invalid, MemoryCoreError, Unavailable
from memory_core.domain.models import Memory
from memory_core.domain.requests import (
    ClearInput,
    CopyInput,
    ListInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.results import (
    Call,
    Evolution,
    MemoryPage,
    Retrieved,
    Saved,
    SessionPage,
    SessionView,
    VersionView,
)
from memory_core.domain.scope import Owner, checked
from memory_core.evolution.bring_back import BringingBack
from memory_core.evolution.clear import Clearer
from memory_core.evolution.conflicts import Conflicts
from memory_core.evolution.edit import Editor
from memory_core.evolution.thaw import Thaw
from memory_core.evolution.uncompress import Uncompress
from memory_core.evolution.undo import Undo
from memory_core.formation.phase import Formation
from memory_core.formation.save import Saver
from memory_core.ledger.cold_copies import ColdCopies
from memory_core.ledger.commit import Ledger
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.owner_names import OwnerNames
from memory_core.ledger.parts import Parts
from memory_core.ledger.receipts import keyed
from memory_core.ledger.tasking import Tasking
from memory_core.ledger.threshold import Threshold
from memory_core.ledger.touches import Touches
from memory_core.ports import Archive, Clock, IdSource, TaskQueue
from memory_core.readiness import readiness
from memory_core.recollection.briefing import Briefing
from memory_core.recollection.cold import ColdSearch
from memory_core.recollection.gather import Gatherer
from memory_core.recollection.lineage import Direction, GraphFormat, Lineage
from memory_core.recollection.profiles import Profiles
from memory_core.recollection.read import Reader
from memory_core.recollection.reconstruct import Reconstructor
from memory_core.recollection.replay import Replayer
from memory_core.recollection.rerank import Reranking
from memory_core.recollection.retrieve import Retriever
from memory_core.recollection.scenes import Scenes
from memory_core.recollection.surroundings import Surroundings
from memory_core.recollection.timeline import Timeline
from memory_core.signing import cursor_secret
from memory_core.telemetry import Telemetry
from memory_core.wiring import Adapters, consolidation_rules, erase_rules, formation_rules, retrieve_rules, save_rules

log = logging.getLogger(__name__)


class MemoryCore(Conversing, Arbitrating, Knowing, Cold, LookingBack, Upkeep, Peopling):
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
        ids = ids or RandomIds()
        self._telemetry = Telemetry()
        made = adapters or Adapters.of(self.settings, self._clock, self._telemetry.charged, self._telemetry)
        self._adapters = made
        gathered = Threshold(
            made.queue,
            self._clock,
            self.settings.consolidation_threshold,
            timedelta(minutes=self.settings.consolidation_pause_minutes),
        ).gathered
        ledger = Ledger(made.long_term, self._clock, ids, deadline_s=self.settings.commit_deadline_s, gathered=gathered)
        mirror = Mirror(made.short_term)
        self._saver = Saver(ledger, mirror, made.embedder, self._clock, ids, save_rules(self.settings))
        self._editor = Editor(ledger, mirror, made.embedder, self._clock)
        self._clearer = Clearer(made.long_term, ledger, mirror, self._clock, ids)
        names = OwnerNames(made.archive)
        copies = ColdCopies(made.archive, names)
        cold = ColdSearch(made.long_term, copies, made.embedder)
        self._touches = Touches(made.long_term, made.short_term, self._clock, ids)
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
        cursors = Cursors(cursor_secret(self.settings))
        self._reader = Reader(made.long_term, cursors, self._clock)
        self._conflicts = Conflicts(made.long_term, ledger, mirror, made.embedder, cursors, self._clock)
        self._scenes = Scenes(made.long_term, cursors)
        self._profiles = Profiles(made.long_term, self._clock)
        gatherer = Gatherer(made.long_term, self._retriever, Surroundings(made.long_term, self._scenes))
        self._reconstructor = Reconstructor(gatherer, self._retriever, made.agents, made.rules)
        self._briefing = Briefing(made.long_term, gatherer, self._profiles, self._clock)
        self._replayer = Replayer(made.long_term, cursors)
        self._timeline = Timeline(made.long_term, cursors)
        lease = timedelta(seconds=self.settings.task_lease_s)
        self._tasking = Tasking(made.long_term, ledger, mirror, made.queue, cursors, self._clock, ids, lease)
        rules = formation_rules(self.settings)
        self._formation = Formation(made.of_formation(), ledger, mirror, self._tasking, self._clock, ids, rules)
        thaw = Thaw(made.long_term, ledger, mirror, copies, made.embedder, self._clock)
        uncompress = Uncompress(ledger, mirror, copies, made.embedder, self._clock)
        self._bringing_back = BringingBack(ledger, self._editor, Undo(ledger, mirror, self._clock), uncompress, thaw)
        stores = made.of_consolidation(Parts(made.archive, names, self._clock))
        self._consolidation = Consolidation(
            stores,
            ledger,
            self._tasking,
            self._touches,
            copies,
            self._clock,
            ids,
            consolidation_rules(self.settings),
            self._telemetry.consolidated,
            self._telemetry.calls,
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
            self._clock,
            ids,
            erase_rules(self.settings),
        )
        self._worker = self._tasking.worker(self._formation.works | self._consolidation.works | self._people.works)
        self._lineage = Lineage(made.long_term)
        self._opening = asyncio.Lock()
        self._open = False

    async def open(self) -> None:
        """Connect what the first call may need: long term, short term, queue, archive; or nothing, when one of the first two fails.

        Raises Unavailable, EmbeddingMismatch.
        """
        async with self._opening:
            if not self._open:
                try:
                    await self._connect()
                except BaseException:
                    await self.close()  # whoever could not open it will not think of closing it
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

    async def save(self, owner: Owner, item: SaveInput, call: Call = NO_CALL) -> Saved:
        """Save one memory. Durable when it returns. Raises Conflict (idempotency key reused), Invalid, Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("save"):
            (saved,) = await self._saver.save(checked(owner), [item], keyed(call, "save", item))
            if isinstance(saved, Invalid):
                raise saved
            return saved

    async def bulk(self, owner: Owner, items: Sequence[SaveInput], call: Call = NO_CALL) -> builtins.list[Saved | MemoryCoreError]:
        """Save up to a hundred in order. What concerns one item is its own error; what concerns all is raised."""
        with self._telemetry.operation("bulk"):
            self._telemetry.batch("bulk", len(items))
            return [*await self._saver.save(checked(owner), items, keyed(call, "bulk", *items))]

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """The memories that answer a query, best first; none when none does. Raises Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("query_memory"):
            ask = self._retriever.retrieve if query.mode == "fast" else self._reconstructor.reconstruct
            if not query.explain:
                return await ask(checked(owner), query)
            with self._telemetry.bill() as charges:
                found = await ask(checked(owner), query)
            charge = round(sum(charges), 2) if charges else None
            return replace(found, explain={**(found.explain or {}), "request_charge": charge})

    async def context(self, owner: Owner, asked: ContextInput) -> Context:
        """What an agent should know before its turn, in one text. Raises Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("context"):
            return await self._briefing.brief(checked(owner), asked)

    async def list(self, owner: Owner, query: ListInput) -> MemoryPage:
        """One page of memories, newest first; with `known_at`, as it was then, told from the log. Raises Malformed for a void cursor."""
        with self._telemetry.operation("list"):
            reader = self._reader if query.known_at is None else self._replayer
            return await reader.page(checked(owner), query)

    async def get(self, owner: Owner, memory_id: str, *, at: datetime | None = None, known_at: datetime | None = None) -> Memory:
        """One memory, with its embedding; as it was true at `at`, as it was known at `known_at`: see `look_at`. Raises NotFound."""
        return (await self.look_at(owner, memory_id, at=at, known_at=known_at)).memory

    async def update(self, owner: Owner, memory_id: str, change: UpdateInput, if_match: str | None, call: Call = NO_CALL) -> Memory:
        """The memory's next version. Raises PreconditionFailed without the current ETag, Conflict for an episodic one, NotFound."""
        with self._telemetry.operation("update"):
            return await self._editor.update(checked(owner), memory_id, change, if_match, keyed(call, "update", memory_id, change))

    async def delete(self, owner: Owner, memory_id: str, call: Call = NO_CALL) -> Memory:
        """Soft-delete. Raises NotFound."""
        with self._telemetry.operation("delete"):
            return await self._editor.delete(checked(owner), memory_id, keyed(call, "delete", memory_id))

    async def set_status(self, owner: Owner, memory_id: str, change: StatusInput, call: Call = NO_CALL) -> Memory:
        """Set a status by hand: `deleted`, or `active`, which brings it back from wherever it is, as `restore` does.

        Raises Conflict naming what is allowed, NotFound.
        """
        with self._telemetry.operation("update_memory_status"):
            call = keyed(call, "status", memory_id, change)
            if change.status == "active":
                return await self._bringing_back.activate(checked(owner), memory_id, change, call)
            return await self._editor.set_status(checked(owner), memory_id, change, call)

    async def clear(self, owner: Owner, what: ClearInput, call: Call = NO_CALL) -> int:
        """Soft-delete a session's memories; how many there were."""
        with self._telemetry.operation("clear"):
            cleared = await self._clearer.clear(checked(owner), what, keyed(call, "clear", what))
            self._telemetry.batch("clear", cleared)
            return cleared

    async def copy(self, owner: Owner, memory_id: str, to: CopyInput, call: Call = NO_CALL) -> Memory:
        """Copy a memory to another agent of the same user. Raises NotFound, Conflict, Invalid."""
        with self._telemetry.operation("copy"):
            return await self._editor.copy(checked(owner), memory_id, to, keyed(call, "copy", memory_id, to))

    async def versions(self, owner: Owner, memory_id: str) -> builtins.list[VersionView]:
        """All versions of a memory, the oldest first. Raises NotFound."""
        with self._telemetry.operation("versions"):
            return await self._reader.versions(checked(owner), memory_id)

    async def evolution(self, owner: Owner, memory_id: str, direction: Direction = "forward") -> Evolution:
        """The memory and what replaced it, in order; `backward`: what it replaced, nearest first; `both`: oldest first. Raises NotFound."""
        with self._telemetry.operation("traverse_memory_evolution_chain"):
            return await self._lineage.chain(checked(owner), memory_id, direction)

    async def evolution_graph(self, owner: Owner, memory_id: str, format: GraphFormat = "mermaid") -> str:
        """The tree that the memory belongs to, as source of a drawing or as a page of its own. Raises NotFound."""
        with self._telemetry.operation("generate_evolution_graph"):
            return await self._lineage.drawing(checked(owner), memory_id, format)

    async def procedure(self, owner: Owner, key: str) -> Memory:
        """The procedural memory of a key. Raises NotFound."""
        with self._telemetry.operation("procedure"):
            return await self._reader.procedure(checked(owner), key)

    async def sessions(self, owner: Owner, cursor: str | None = None, limit: int = 20) -> SessionPage:
        """One page of sessions, the one begun last first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("sessions"):
            return await self._reader.sessions(checked(owner), cursor, limit)

    async def session(self, owner: Owner, session_id: str) -> SessionView:
        """One session. Raises NotFound."""
        with self._telemetry.operation("sessions"):
            return await self._reader.session(checked(owner), session_id)

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
        """Where work waits: for whoever sends it, and for a host that receives it."""
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

    def metrics(self) -> bytes:
        """Counters and timings in Prometheus' text format."""
        return self._telemetry.text(self._adapters.pools(), {"short_term": self._adapters.short_term.degraded})

    def pool_stats(self) -> dict[str, Any]:
        """Connections or threads held and in use, by dependency."""
        return {name: {"size": size, "active": active} for name, (size, active) in self._adapters.pools().items()}
