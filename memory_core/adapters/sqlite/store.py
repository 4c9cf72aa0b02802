"""The embedded long-term store: a single SQLite file, and slices of users in memory.

Note: a read may use a slice, but never a slice that is behind the file. Each search brings it up to
date first.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from pydantic import ValidationError

from memory_core.adapters.memory_index.columns import Slice
from memory_core.adapters.memory_index.packed import SliceSnapshot
from memory_core.adapters.memory_index.search import find, match_words, neighbours, nothing
from memory_core.adapters.memory_index.stored_values import with_own_name, without_others
from memory_core.adapters.sqlite import reads, unlogged, writes
from memory_core.adapters.sqlite.database import (
    DEPENDENCY,
    LAYOUT,
    Connections,
    has_other_vectors,
    recorded_embedder,
    replace_embedder,
)
from memory_core.adapters.sqlite.file import Synchronous, prepare
from memory_core.adapters.sqlite.key_store import SqliteKeyStore
from memory_core.adapters.sqlite.reads import SliceStanding
from memory_core.adapters.sqlite.slice_cache import Heavy, Slices
from memory_core.adapters.sqlite.slice_files import (
    CHANGED_PART,
    CHANGED_PART_AT_END,
    LEAST_ROWS,
    SliceFiles,
)
from memory_core.domain.archival import NextDue
from memory_core.domain.errors import EmbeddingMismatch, Unavailable, damaged_memory, described
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Event, Head, Memory, Vector
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ports import (
    AccessCount,
    AgentCount,
    Batch,
    Clock,
    Document,
    Due,
    EventFilter,
    Filter,
    Found,
    Health,
    Kind,
    Near,
    Neighbour,
    Place,
    Search,
    Snapshot,
)

log = logging.getLogger(__name__)
IDS_ON_THE_LOOP = 32
ROWS_ON_THE_LOOP = 12_000
COMMITS_ON_THE_LOOP = 4
DOCUMENTS_ON_THE_LOOP = 12
"""Limits of work that is done on the event loop.

A search over 12,000 rows takes 1.2 ms, and reading the changes of four commits up to 10 ms. With
8 clients on 8 users of 1,000 memories, thread hops alone had halved the throughput.
"""
WHOLE = "all"
SLICE_BUDGET_BYTES = 320 * 2**20
T = TypeVar("T")


class SqliteStore:
    """`LongTermStore` in a single file, which processes may share.

    Light work is done on the event loop, the rest in threads.

    Args:
        path: The file.
        clock: The present time.
        embedding_model: The name of the configured embedder's model.
        dimensions: The length of its vectors.
        synchronous: `full` keeps an acknowledged commit through a power cut, `normal` only through
            the death of the process.
        slice_budget_bytes: The estimated memory of all users' slices together. A slice that is over
            it alone is kept while it is the latest used.
        slices: The folder for files of large slices; None for no files.
        slice_file_rows: The number of memories from which a slice has a file.

    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        embedding_model: str,
        dimensions: int,
        synchronous: Synchronous = "full",
        slice_budget_bytes: int = SLICE_BUDGET_BYTES,
        slices: Path | None = None,
        slice_file_rows: int = LEAST_ROWS,
    ) -> None:
        self._file = Connections(path, synchronous)
        self._clock = clock
        self._embedder = VectorKind(embedding_model, dimensions)
        self._synchronous: Synchronous = synchronous
        # Elsewhere a file that is mapped can't be removed, and what is forgotten must be.
        self._slice_files = (
            SliceFiles(slices, self._embedder, slice_file_rows)
            if slices is not None and os.name == "posix"
            else None
        )
        self._slices = Slices(self._embedder, slice_budget_bytes, clock, self._slice_files)
        self._packing: asyncio.Task[None] | None = None
        self._turns: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()
        self._last_ok: datetime | None = None

    async def open(self) -> None:
        """Make or check the file. Raises Unavailable.

        A file with vectors of another embedder is opened with a warning.
        """
        self._file.open()
        try:
            await self._file.write(self._prepared)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Wait for running calls, then close every connection.

        The files of large slices that have changed are written first.
        """
        await self.packed()
        for owner in self._slices.want_files_at_end():
            await self._pack(owner, CHANGED_PART_AT_END)
        await self._file.close()

    async def packed(self) -> None:
        """Wait until the slice file that is being written is done."""
        while self._packing is not None:
            await asyncio.shield(self._packing)

    def key_store(self) -> SqliteKeyStore:
        """The keys and audit logs of apps, in the same file."""
        return SqliteKeyStore(self._file, self._clock)

    async def snapshot(
        self, owner: Owner, ids: Sequence[str] = (), near: Near | None = None
    ) -> Snapshot:
        """Head, documents and neighbours as of a single state of the file.

        A neighbour of the slot without a vector has similarity 0.
        """
        if near is not None:
            self._check_vector(near.vector)
            return await self._with_slice(
                lambda connection, light: self._near(connection, light, owner, ids, near), owner
            )
        if len(ids) <= IDS_ON_THE_LOOP:
            return self._file.here(self._documents, owner, ids)
        return await self._file.read(self._documents, owner, ids)

    async def nearest(self, owner: Owner, nears: Sequence[Near]) -> list[dict[str, float]]:
        """Ids and similarities of the nearest memories, as of a single state of the file."""
        for near in nears:
            self._check_vector(near.vector)
        return await self._with_slice(
            lambda connection, light: self._nearest(connection, light, owner, nears), owner
        )

    async def commit(self, owner: Owner, batch: Batch) -> None:
        """Write all of the batch, or none of it.

        HeadMoved compares the whole expected head; see `writes`. A small commit that need not wait
        for the disk is done on the event loop, unless another write is under way. It takes 0.3 ms;
        a hop to the writing thread and back costs that again, and several times that on a busy
        machine.
        """
        batch = with_own_name(batch, self._embedder)
        light = len(batch.writes) + len(batch.events) + len(batch.marks) <= DOCUMENTS_ON_THE_LOOP
        write = self._file.write_light if light else self._file.write
        change, took_away = await write(
            writes.commit_batch, owner, batch, self._clock.now(), self._embedder
        )
        self._slices.ended(owner, batch.head.epoch)
        if took_away:
            await self._remove_slice(owner)
        if light:
            self._slices.committed(owner, batch, change)

    async def _remove_slice(self, owner: Owner) -> None:
        """Remove the owner's slice from memory and files.

        The commit is durable and must be answered so. A file that could not be removed is removed
        by `scrub`, which reports a failure.
        """
        if self._slice_files is not None:
            self._slices.let_go(owner)
            try:
                await self._file.read(self._slice_files.sweep)
            except Unavailable as error:
                log.error("a file of a user's slice could not be removed: %s", error.detail)

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """Write a bookkeeping document."""
        return await self._file.write_light(unlogged.keep, owner, document, self._clock.now())

    async def fold(
        self, owner: Owner, accesses: Document, counts: Mapping[str, AccessCount]
    ) -> Document | None:
        """Add accesses to memories, and replace the document in which they waited."""
        return await self._file.write(self._folded, owner, accesses, counts, self._clock.now())

    async def waiting(self, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
        """The next owners with pending tasks.

        The first page also deletes the remains of users that were erased long ago.
        """
        if after is None:
            await self._file.write(unlogged.expire, self._clock.now())
        return await self._file.read(unlogged.waiting, after, limit)

    async def owners(
        self, after: Owner | None, limit: int, app_id: str | None = None
    ) -> list[tuple[Owner, Head]]:
        """The next owners."""
        return await self._file.read(unlogged.owners, after, limit, app_id)

    async def poisoned(
        self, app_id: str, after: Place | None, limit: int
    ) -> list[tuple[Owner, Document]]:
        """The next poisoned tasks of an app's users, newest first.

        Args:
            connection: The connection that reads.
            app_id: The app of the users.
            after: The last place of the previous page; None for the first page.
            limit: The most tasks to return.

        """
        return await self._file.read(reads.poisoned, app_id, after, limit)

    async def agents(self, owner: Owner, after: str | None, limit: int) -> list[AgentCount]:
        """The next agents of a user."""
        return await self._file.read(reads.agents, owner, after, limit)

    async def tags(self, owner: Owner, prefix: str, after: str | None, limit: int) -> list[str]:
        """The next tags of a user."""
        return await self._file.read(reads.tags, owner, prefix, after, limit)

    async def ranges(self) -> list[str]:
        """A single part: the file."""
        return [WHOLE]

    async def due(self, within: str, now: datetime, after: Due | None, limit: int) -> list[Due]:
        """The next owners whose run is due."""
        return await self._file.read(unlogged.due, now, after, limit)

    async def search(self, owner: Owner, search: Search) -> Found:
        """Candidates straight from the owner's slice, without reading a document."""
        for vector in search.vectors:
            self._check_vector(vector)
        return await self._with_slice(
            lambda connection, light: self._found(connection, light, owner, search), owner
        )

    async def prepare(self, owner: Owner, search: Search) -> None:
        """Match the words of a search. The matches are valid until the slice changes."""
        await self._with_slice(
            lambda connection, light: self._prepare(connection, light, owner, search), owner
        )

    async def memories(
        self,
        owner: Owner,
        ids: Sequence[str],
        where: Filter | None = None,
        *,
        seen: Head | None = None,
    ) -> dict[str, SerializedMemory]:
        """Memories and versions by id, as of a single state of the file, without vectors."""
        return self._file.here(reads.to_show, owner, ids, where)

    async def page(
        self,
        owner: Owner,
        kind: Kind,
        where: Filter | None,
        after: Place | None,
        limit: int,
        *,
        newest_first: bool = True,
    ) -> list[Document]:
        """A page of documents by (sequence, id), where the sequence is the body's own.

        Memories that are read with `where.at` include their versions.
        """
        now = self._clock.now()
        return await self._file.read(
            reads.page, owner, kind, where, after, limit, newest_first, now
        )

    async def faded(
        self,
        owner: Owner,
        rules: Fading,
        now: datetime,
        session_id: str | None,
        after: Place | None,
        limit: int,
    ) -> list[Place]:
        """Places of memories for which a step of fading is due, from an index."""
        return self._file.here(reads.faded, owner, rules, now, session_id, after, limit)

    async def recalled(self, owner: Owner, after: Place | None, limit: int) -> list[Place]:
        """Places of decayed memories that were read after they decayed."""
        return self._file.here(reads.recalled, owner, after, limit)

    async def coming(
        self, owner: Owner, rules: Fading, archive_after: timedelta, after: datetime
    ) -> NextDue:
        """The next moments at which the passing of time makes work due, from indexes."""
        return self._file.here(reads.coming, owner, rules, archive_after, after)

    async def foresight_ended(self, owner: Owner, since: datetime, until: datetime) -> int:
        """The number of memories whose last foresight ended in the period."""
        return await self._file.read(reads.foresight_ended, owner, since, until)

    async def events(
        self, owner: Owner, after_sequence: int, limit: int, where: EventFilter | None = None
    ) -> list[Event]:
        """Events with sequence > after_sequence that match the filter, in order."""
        return await self._file.read(reads.events, owner, after_sequence, limit, where)

    async def strays(self, owner: Owner, limit: int, *, epoch: str | None = None) -> list[Document]:
        """Documents that are not of the head's epoch."""
        return await self._file.read(reads.strays, owner, limit, epoch)

    async def scrub(self) -> bool:
        """Delete expired documents, and rewrite the file without deleted data.

        The write-ahead log is cut to zero bytes.
        """
        if self._slice_files is not None:
            await self._file.read(self._slice_files.sweep)
        return await self._file.write(unlogged.scrub, self._clock.now())

    async def check(self) -> Health:
        """Check readiness by a small read, with the sizes of file and slices.

        After a write that failed for want of room, a write is tried too.
        """
        begun = time.perf_counter()
        try:
            facts = await self._file.read(self._facts)
            problem = (
                await self._file.write(self._file.room.problem) if self._file.room.failed else None
            )
            other = await self._other_embedder()
            warning = await asyncio.to_thread(self._file.room.warning) or _damage(facts) or other
        except Unavailable as error:
            return Health("sqlite", "unavailable", last_ok=self._last_ok, detail=error.detail)
        if problem is not None:
            return Health(
                "sqlite",
                "unavailable",
                last_ok=self._last_ok,
                detail=f"nothing can be saved: {problem}",
                facts=facts,
            )
        self._last_ok = self._clock.now()
        latency_ms = (time.perf_counter() - begun) * 1000
        return Health(
            "sqlite", "degraded" if warning else "ok", latency_ms, self._last_ok, warning, facts
        )

    async def _with_slice(self, work: Callable[[sqlite3.Connection, bool], T], owner: Owner) -> T:
        """Do `work` on the owner's slice: here, or in a thread if it raises Heavy.

        `work` gets a connection, and whether it must be light. Calls for an owner take turns, since
        further calls would only wait.
        """
        async with self._turns.setdefault(owner, asyncio.Lock()):
            try:
                return self._file.here(work, True)
            except Heavy:
                return await self._file.read(work, False)
            finally:
                if self._slices.wants_file(owner) and self._packing is None:
                    self._packing = asyncio.create_task(self._pack(owner))

    async def _pack(self, owner: Owner, part: int = CHANGED_PART) -> None:
        """Write the file of the owner's slice, and use it from then on.

        The database records its name. Searches continue meanwhile, except while the snapshot is
        taken. A single slice is written at a time. A process that finds a newer file than it opened
        opens the newer file instead.
        """
        assert self._slice_files is not None
        try:
            async with self._turns.setdefault(owner, asyncio.Lock()):
                taken = await self._file.read(self._snapshot_slice, owner, part)
            if taken is None:
                return
            snapshot, standing = taken
            name = await asyncio.to_thread(self._slice_files.write, owner, snapshot, standing)
            if name is None or not await self._file.write(
                self._slice_files.publish, owner, name, snapshot, standing
            ):
                return
            packed = await asyncio.to_thread(self._slice_files.opened, owner, name, standing)
            async with self._turns.setdefault(owner, asyncio.Lock()):
                await asyncio.to_thread(self._slices.replace, owner, packed)
        except Unavailable as error:
            log.warning("the file of a user's slice was not written: %s", error.detail)
        except Exception:  # no caller waits for this task
            log.exception("the file of a user's slice was not written")
        finally:
            self._packing = None

    def _snapshot_slice(
        self, connection: sqlite3.Connection, owner: Owner, part: int
    ) -> tuple[SliceSnapshot, SliceStanding] | None:
        """A snapshot of the owner's slice, brought up to date, to be written.

        None where a file is no longer wanted, for instance because another process has written a
        newer file than was opened here.
        """
        assert self._slice_files is not None
        with self._slices.hold(owner) as user_slice, reads.transaction(connection):
            standing = self._slices.bring_up(connection, owner, user_slice)
            if standing is None:
                return None
            if self._slice_files.change(connection, owner) > user_slice.packed_change:
                packed = self._slice_files.read(connection, owner, standing)
                if packed is not None:
                    user_slice.load(packed)
                    self._slices.bring_up(connection, owner, user_slice)
            if not self._slice_files.wants(user_slice, part):
                return None
            user_slice.unpacked = 0  # after a failure it is not tried again at once
            return user_slice.snapshot(), standing

    def pool(self) -> tuple[int, int]:
        """The number of threads that work on the file, and the calls under way."""
        return self._file.pool()

    def _prepared(self, connection: sqlite3.Connection) -> None:
        prepare(connection, LAYOUT)
        if self._slice_files is not None:
            try:
                self._slice_files.sweep(connection)
            except OSError as error:  # a cache must not keep the store closed
                log.error("files of users' slices could not be removed: %s", described(error))
        recorded = recorded_embedder(connection)
        if recorded not in (None, self._embedder):
            log.warning("%s", self._beside(recorded))

    def _documents(
        self, connection: sqlite3.Connection, owner: Owner, ids: Sequence[str]
    ) -> Snapshot:
        head, documents = reads.head_and_documents(connection, owner, ids, self._clock.now())
        return Snapshot(head, without_others(documents, self._embedder))

    def _near(
        self,
        connection: sqlite3.Connection,
        light: bool,
        owner: Owner,
        ids: Sequence[str],
        near: Near,
    ) -> Snapshot:
        with self._slices.hold(owner) as user_slice, reads.transaction(connection):
            standing = self._up_to_date(
                connection,
                light,
                owner,
                user_slice,
                user_slice.findable_of(near.types) if near.types else len(user_slice),
            )
            if standing is None:
                return Snapshot(None, {})
            truths = reads.truths(connection, owner, near)
            for memory_id in user_slice.damaged.intersection(truths):
                raise damaged_memory(memory_id)  # what it says in its slot must not be ignored
            similar = neighbours(user_slice, near, truths)
            now = self._clock.now()
            documents_near = without_others(
                reads.by_id(connection, owner, [memory_id for memory_id, _ in similar], now),
                self._embedder,
            )
            documents = without_others(reads.by_id(connection, owner, ids, now), self._embedder)
        return Snapshot(
            standing.head,
            documents,
            tuple(
                Neighbour(_memory(documents_near[memory_id]), likeness)
                for memory_id, likeness in similar
            ),
        )

    def _folded(
        self,
        connection: sqlite3.Connection,
        owner: Owner,
        accesses: Document,
        counts: Mapping[str, AccessCount],
        now: datetime,
    ) -> Document | None:
        folded = unlogged.fold(connection, owner, accesses, counts, now)
        if folded is None:
            return None
        if folded.change is not None:
            numbers = {name: counts[name].count for name in folded.last}
            self._slices.folded(owner, folded.change, numbers, folded.last)
        return folded.accesses

    def _nearest(
        self, connection: sqlite3.Connection, light: bool, owner: Owner, nears: Sequence[Near]
    ) -> list[dict[str, float]]:
        with self._slices.hold(owner) as user_slice:
            looked_at = len(user_slice) * len(nears)
            if self._up_to_date(connection, light, owner, user_slice, looked_at) is None:
                return [{} for _ in nears]
            return [dict(neighbours(user_slice, near, ())) for near in nears]

    def _found(
        self, connection: sqlite3.Connection, light: bool, owner: Owner, search: Search
    ) -> Found:
        if light and search.where.metadata:
            raise Heavy
        one_state = reads.transaction(connection) if search.where.metadata else nullcontext()
        with self._slices.hold(owner) as user_slice, one_state:
            standing = self._up_to_date(connection, light, owner, user_slice, len(user_slice))
            if standing is None:
                return Found(None, *nothing(search.terms))
            only = (
                reads.matching(connection, owner, search.where) if search.where.metadata else None
            )
            return Found(standing.head, *find(user_slice, search, only))

    def _prepare(
        self, connection: sqlite3.Connection, light: bool, owner: Owner, search: Search
    ) -> None:
        if search.where.metadata:
            return
        with self._slices.hold(owner) as user_slice:
            if self._up_to_date(connection, light, owner, user_slice, len(user_slice)):
                user_slice.prepared = match_words(user_slice, search)

    def _up_to_date(
        self,
        connection: sqlite3.Connection,
        light: bool,
        owner: Owner,
        user_slice: Slice,
        looked_at: int,
    ) -> SliceStanding | None:
        if light and looked_at > ROWS_ON_THE_LOOP:
            raise Heavy
        return self._slices.bring_up(
            connection, owner, user_slice, COMMITS_ON_THE_LOOP if light else None
        )

    def _facts(self, connection: sqlite3.Connection) -> dict[str, int | str]:
        mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        return {
            "file_bytes": pages * page_size,
            "journal_mode": mode,
            "synchronous": self._synchronous,
            **self._slices.facts(),
        }

    async def _other_embedder(self) -> str | None:
        """A warning about vectors of another embedder.

        When no such vector is left, the configured embedder is put on record.
        """
        recorded, left = await self._file.read(self._recorded)
        if left:
            return self._beside(recorded)
        if recorded not in (None, self._embedder):
            await self._file.write(replace_embedder, self._embedder)
        return None

    def _recorded(self, connection: sqlite3.Connection) -> tuple[VectorKind | None, bool]:
        """The embedder on record, and whether vectors of another embedder are left.

        Such vectors are looked for only where another embedder is on record.
        """
        recorded = recorded_embedder(connection)
        return recorded, recorded not in (None, self._embedder) and has_other_vectors(
            connection, self._embedder
        )

    def _beside(self, recorded: VectorKind | None) -> str:
        meanwhile = "what has no vector of it is found by its words, until it is embedded anew"
        return (
            f"stored vectors are from {recorded}, the configured embedder is {self._embedder}: "
            f"{meanwhile}"
        )

    def _check_vector(self, vector: Vector | None) -> None:
        model, dimensions = self._embedder
        if vector is not None and vector.shape != (dimensions,):
            raise EmbeddingMismatch(
                DEPENDENCY,
                f"a query's vector has shape {vector.shape}; the store was opened for {model!r} "
                f"with {dimensions} dimensions",
            )


def _damage(facts: Mapping[str, Any]) -> str | None:
    damaged = facts.get("damaged")
    return f"{damaged} stored memories can't be read; the log names them" if damaged else None


def _memory(document: Document) -> Memory:
    try:
        return Memory.model_validate({**document.body, "embedding": document.vector})
    except ValidationError as error:
        raise damaged_memory(document.id) from error
