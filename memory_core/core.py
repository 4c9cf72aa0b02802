"""MemoryCore: the product as a library. Functions, the development host and embedding programs all call this.

Wires adapters into the phases from Settings. Open it inside the event loop that will use it; one a process is enough.
"""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from memory_core.adapters.system import RandomIds, SystemClock
from memory_core.config import Settings
from memory_core.domain.errors import Invalid, MemoryCoreError, Unavailable
from memory_core.domain.models import Memory
from memory_core.domain.requests import (
    ClearInput,
    ConverseInput,
    CopyInput,
    ListInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
    TasksInput,
    UpdateInput,
)
from memory_core.domain.results import (
    Accepted,
    Call,
    Evolution,
    MemoryPage,
    Retrieved,
    Saved,
    SessionPage,
    SessionView,
    Swept,
    TaskPage,
    VersionView,
)
from memory_core.domain.scope import Owner, check_app_id, check_name
from memory_core.domain.task import Task
from memory_core.evolution.clear import Clearer
from memory_core.evolution.edit import Editor
from memory_core.formation.converse import Converser
from memory_core.formation.former import Former
from memory_core.formation.save import Saver
from memory_core.formation.steering import Steering
from memory_core.formation.sweep import Sweep
from memory_core.formation.worker import Worker
from memory_core.ledger.commit import Ledger
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.leases import Leases
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import keyed
from memory_core.ledger.steps import Steps
from memory_core.ledger.tasks import Tasks
from memory_core.ports import Archive, Clock, IdSource, TaskQueue
from memory_core.readiness import readiness
from memory_core.recollection.lineage import Direction, GraphFormat, Lineage
from memory_core.recollection.read import Reader
from memory_core.recollection.retrieve import Retriever
from memory_core.telemetry import Telemetry
from memory_core.wiring import Adapters, cursor_secret, forming_rules, retrieve_rules, save_rules

_NO_CALL = Call()
log = logging.getLogger(__name__)


class MemoryCore:
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
        ledger = Ledger(made.long_term, self._clock, ids, deadline_s=self.settings.commit_deadline_s)
        mirror = Mirror(made.short_term)
        self._saver = Saver(ledger, mirror, made.embedder, self._clock, ids, save_rules(self.settings))
        self._editor = Editor(ledger, mirror, made.embedder, self._clock)
        self._clearer = Clearer(made.long_term, ledger, mirror, self._clock, ids)
        self._retriever = Retriever(made.long_term, made.short_term, made.embedder, self._clock, retrieve_rules(self.settings))
        cursors = Cursors(cursor_secret(self.settings))
        self._reader = Reader(made.long_term, cursors)
        self._lineage = Lineage(made.long_term)
        self._wire_tasks(made, ledger, mirror, cursors, ids)
        self._opening = asyncio.Lock()
        self._open = False

    def _wire_tasks(self, made: Adapters, ledger: Ledger, mirror: Mirror, cursors: Cursors, ids: IdSource) -> None:
        """What takes conversations in, works on them, and watches over that."""
        clock, lease = self._clock, timedelta(seconds=self.settings.task_lease_s)
        self._tasks = Tasks(made.long_term, cursors)
        self._converser = Converser(ledger, made.queue, clock, ids)
        self._steering = Steering(ledger, self._tasks, made.queue, clock)
        former = Former(ledger, mirror, made.embedder, made.agents, made.rules, clock, forming_rules(self.settings))
        leases = Leases(made.long_term, self._tasks, clock, ids, lease)
        self._worker = Worker(ledger, leases, former, Steps(made.long_term, clock), made.queue, clock)
        self._sweep = Sweep(made.long_term, self._tasks, made.queue, clock, ids)

    async def open(self) -> None:
        """Connect what the first call may need: long term, short term, queue, archive. Raises Unavailable, EmbeddingMismatch."""
        async with self._opening:
            if not self._open:
                await self._adapters.short_term.open()
                await self._adapters.long_term.open()
                await self._open_if_up(self._adapters.queue)
                await self._open_if_up(self._adapters.archive)
                self._open = True

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

    async def close(self) -> None:
        """Let what is under way finish and release everything."""
        await self._retriever.close()
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

    async def save(self, owner: Owner, item: SaveInput, call: Call = _NO_CALL) -> Saved:
        """Save one memory. Durable when it returns. Raises Conflict (idempotency key reused), Invalid, Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("save"):
            (saved,) = await self._saver.save(_checked(owner), [item], keyed(call, "save", item))
            if isinstance(saved, Invalid):
                raise saved
            return saved

    async def bulk(self, owner: Owner, items: Sequence[SaveInput], call: Call = _NO_CALL) -> builtins.list[Saved | MemoryCoreError]:
        """Save up to a hundred in order. What concerns one item is its own error; what concerns all is raised."""
        with self._telemetry.operation("bulk"):
            self._telemetry.batch("bulk", len(items))
            return [*await self._saver.save(_checked(owner), items, keyed(call, "bulk", *items))]

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """The memories that answer a query, best first; none when none does. Raises Unavailable, EmbeddingMismatch."""
        with self._telemetry.operation("query_memory"):
            return await self._retriever.retrieve(_checked(owner), query)

    async def list(self, owner: Owner, query: ListInput) -> MemoryPage:
        """One page of memories, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("list"):
            return await self._reader.page(_checked(owner), query)

    async def get(self, owner: Owner, memory_id: str, *, at: datetime | None = None) -> Memory:
        """One memory, with its embedding; as it was true at `at` when given. Raises NotFound."""
        with self._telemetry.operation("get"):
            return await self._reader.get(_checked(owner), memory_id, at)

    async def update(self, owner: Owner, memory_id: str, change: UpdateInput, if_match: str | None, call: Call = _NO_CALL) -> Memory:
        """The memory's next version. Raises PreconditionFailed without the current ETag, Conflict for an episodic one, NotFound."""
        with self._telemetry.operation("update"):
            return await self._editor.update(_checked(owner), memory_id, change, if_match, keyed(call, "update", memory_id, change))

    async def delete(self, owner: Owner, memory_id: str, call: Call = _NO_CALL) -> Memory:
        """Soft-delete. Raises NotFound."""
        with self._telemetry.operation("delete"):
            return await self._editor.delete(_checked(owner), memory_id, keyed(call, "delete", memory_id))

    async def set_status(self, owner: Owner, memory_id: str, change: StatusInput, call: Call = _NO_CALL) -> Memory:
        """Set a status by hand. Raises Conflict naming what is allowed, NotFound."""
        with self._telemetry.operation("update_memory_status"):
            return await self._editor.set_status(_checked(owner), memory_id, change, keyed(call, "status", memory_id, change))

    async def clear(self, owner: Owner, what: ClearInput, call: Call = _NO_CALL) -> int:
        """Soft-delete a session's memories; how many there were."""
        with self._telemetry.operation("clear"):
            cleared = await self._clearer.clear(_checked(owner), what, keyed(call, "clear", what))
            self._telemetry.batch("clear", cleared)
            return cleared

    async def copy(self, owner: Owner, memory_id: str, to: CopyInput, call: Call = _NO_CALL) -> Memory:
        """Copy a memory to another agent of the same user. Raises NotFound, Conflict, Invalid."""
        with self._telemetry.operation("copy"):
            return await self._editor.copy(_checked(owner), memory_id, to, keyed(call, "copy", memory_id, to))

    async def versions(self, owner: Owner, memory_id: str) -> builtins.list[VersionView]:
        """All versions of a memory, the oldest first. Raises NotFound."""
        with self._telemetry.operation("versions"):
            return await self._reader.versions(_checked(owner), memory_id)

    async def evolution(self, owner: Owner, memory_id: str, direction: Direction = "forward") -> Evolution:
        """The memory and what replaced it, in order; `backward`: what it replaced, nearest first; `both`: oldest first. Raises NotFound."""
        with self._telemetry.operation("traverse_memory_evolution_chain"):
            return await self._lineage.chain(_checked(owner), memory_id, direction)

    async def evolution_graph(self, owner: Owner, memory_id: str, format: GraphFormat = "mermaid") -> str:
        """The tree that the memory belongs to, as source of a drawing or as a page of its own. Raises NotFound."""
        with self._telemetry.operation("generate_evolution_graph"):
            return await self._lineage.drawing(_checked(owner), memory_id, format)

    async def procedure(self, owner: Owner, key: str) -> Memory:
        """The procedural memory of a key. Raises NotFound."""
        with self._telemetry.operation("procedure"):
            return await self._reader.procedure(_checked(owner), key)

    async def sessions(self, owner: Owner, cursor: str | None = None, limit: int = 20) -> SessionPage:
        """One page of sessions, the one begun last first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("sessions"):
            return await self._reader.sessions(_checked(owner), cursor, limit)

    async def session(self, owner: Owner, session_id: str) -> SessionView:
        """One session. Raises NotFound."""
        with self._telemetry.operation("sessions"):
            return await self._reader.session(_checked(owner), session_id)

    async def converse(self, owner: Owner, told: ConverseInput, call: Call = _NO_CALL) -> Accepted:
        """Take a conversation in, to be formed into memories by itself. Durable when it returns. Raises Conflict, TooLarge, Unavailable."""
        with self._telemetry.operation("converse"):
            return await self._converser.converse(_checked(owner), told, keyed(call, "converse", told))

    async def task(self, owner: Owner, task_id: str) -> Task:
        """One task as it stands. Raises NotFound."""
        with self._telemetry.operation("tasks"):
            return await self._tasks.get(_checked(owner), task_id)

    async def tasks(self, owner: Owner, query: TasksInput) -> TaskPage:
        """One page of tasks, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("tasks"):
            return await self._tasks.page(_checked(owner), query.status, query.kind, query.cursor, query.limit)

    async def retry(self, owner: Owner, task_id: str, call: Call = _NO_CALL) -> Task:
        """Begin anew with a task that failed, is poisoned or waits. Raises NotFound, Conflict."""
        with self._telemetry.operation("retry_task"):
            return await self._steering.retry(_checked(owner), task_id, keyed(call, "retry", task_id))

    async def cancel(self, owner: Owner, task_id: str, call: Call = _NO_CALL) -> Task:
        """End a task that is not done; what it has formed stays. Raises NotFound, Conflict."""
        with self._telemetry.operation("cancel_task"):
            return await self._steering.cancel(_checked(owner), task_id, keyed(call, "cancel", task_id))

    async def work(self, message: str) -> None:
        """Do what a message of the queue `formation` asks for. When it raises, the message must come again."""
        with self._telemetry.operation("work"):
            await self._worker.work(message)

    async def give_up(self, message: str) -> None:
        """A message came too often and ended in the poison queue: say so on its task."""
        with self._telemetry.operation("give_up"):
            await self._worker.give_up(message)

    async def sweep(self, *, dry_run: bool = False) -> Swept:
        """Send again what got lost on its way: the hourly timer's work. Raises Unavailable."""
        with self._telemetry.operation("sweep"):
            return await self._sweep.run(dry_run=dry_run)

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
            }
        )

    def metrics(self) -> bytes:
        """Counters and timings in Prometheus' text format."""
        return self._telemetry.text(self._adapters.pools(), {"short_term": self._adapters.short_term.degraded})

    def pool_stats(self) -> dict[str, Any]:
        """Connections or threads held and in use, by dependency."""
        return {name: {"size": size, "active": active} for name, (size, active) in self._adapters.pools().items()}


def _checked(owner: Owner) -> Owner:
    """The owner itself; ValueError for ids that no store could keep apart. The library's own door; HTTP has checked before."""
    check_app_id(owner.app_id)
    check_name(owner.user_id)
    return owner
