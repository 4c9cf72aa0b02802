"""The slices in memory, which are brought up to date at each use.

The least recently used slices are dropped when all together exceed the budget.

Note: a slice does not rely on notices of changes. Each use compares it with the owner's
change counter in the file, and reads the changes that it missed, including those of other
processes. Commits and accesses of this process are put into the slice at once to save that read,
but only where the slice was up to date right before.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from memory_core.adapters.memory_index.columns import LONGEST_IDLE, Slice
from memory_core.adapters.memory_index.packed import PackedSlice
from memory_core.adapters.memory_index.stored_values import as_blob
from memory_core.adapters.sqlite.reads import SliceStanding, standing_of, transaction
from memory_core.adapters.sqlite.rows import MEMORY_KINDS, whole
from memory_core.adapters.sqlite.slice_files import CHANGED_PART_AT_END, SliceFiles
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.text.excerpts import read_ahead
from memory_core.domain.text.text_cache import forget_texts
from memory_core.ports import Batch, Clock

log = logging.getLogger(__name__)
SEARCH_S = 0.02
"""How long written accesses wait for a slice in use: longer than most searches."""
MOST_DAMAGED = 20
"""The most unreadable memories of a user that are left out.

With more of them the fault is elsewhere, and searches report it.
"""
_CHANGED = (
    "SELECT id, kind, body, inner, vector FROM documents WHERE app_id = ? AND user_id = ? "
    "AND change > ? AND epoch = ? ORDER BY change, id"
)


class Heavy(Exception):
    """Raised when work on a slice would hold up the event loop."""


class _CachedSlice:
    """A slice with its lock, its size, and when its last use began.

    The size is that after its last use.
    """

    def __init__(self, dimensions: int, used_at: datetime) -> None:
        self.lock = threading.Lock()
        self.slice = Slice(dimensions)
        self.nbytes = 0
        self.used_at = used_at


class Slices:
    """At most `budget_bytes` of slices, as estimated.

    The slice in use is never dropped, however large it is. Large slices are opened from `files`.
    Without `files`, each is read from the database.
    """

    def __init__(
        self, kind: VectorKind, budget_bytes: int, clock: Clock, files: SliceFiles | None = None
    ) -> None:
        self._kind, self._files = kind, files
        self._budget_bytes, self._clock = budget_bytes, clock
        self._lock = threading.Lock()
        self._held: OrderedDict[Owner, _CachedSlice] = OrderedDict()
        self._nbytes = 0  # of all that are held: thousands may be, and each commit weighs its own

    def facts(self) -> dict[str, int]:
        """The number of slices, their bytes, and the number of unreadable memories, if any."""
        with self._lock:
            self._let_idle_go()
            damaged = sum(len(entry.slice.damaged) for entry in self._held.values())
            facts = {"slices": len(self._held), "slice_bytes": self._nbytes}
            return facts | ({"damaged": damaged} if damaged else {})

    @contextmanager
    def hold(self, owner: Owner) -> Iterator[Slice]:
        """The owner's slice, locked for the caller.

        It must be taken before any other read, or it may be newer than that read.
        """
        with self._lock:
            self._let_idle_go()
            entry = self._held.get(owner)
            if entry is None:
                entry = self._held[owner] = _CachedSlice(self._kind.dimensions, self._clock.now())
            entry.used_at = self._clock.now()
            self._held.move_to_end(owner)
        with entry.lock:
            before = entry.slice.change
            try:
                yield entry.slice
            finally:
                if entry.slice.change != before or before < 0:
                    self._weigh(owner, entry)

    def bring_up(
        self,
        connection: sqlite3.Connection,
        owner: Owner,
        user_slice: Slice,
        at_most: int | None = None,
    ) -> SliceStanding | None:
        """Bring a slice up to the state of the database, and return the owner's standing.

        It starts over when a memory was deleted by another writer, when the epoch changed, or when
        most of its rows are removed rows. In the last case it is read from the database, otherwise
        from the owner's file if there is a valid file.

        Args:
            connection: The connection that reads.
            owner: The owner of the slice.
            user_slice: The slice, locked for the caller.
            at_most: The most commits to read before Heavy is raised, as it is instead of starting
                over. None for no limit.

        Returns:
            The standing; None for an unknown owner.

        Raises:
            Heavy: The work would exceed `at_most`.
            sqlite3.Error: The file cannot be read.

        """
        standing = standing_of(connection, owner)
        if standing is None or (
            user_slice.is_at(standing.head.epoch, standing.change) and not user_slice.wasteful
        ):
            return standing
        with transaction(connection):
            standing = standing_of(connection, owner)
            if standing is None:
                return None
            fits = (
                user_slice.epoch == standing.head.epoch
                and standing.removal <= user_slice.change <= standing.change
            )
            from_scratch = user_slice.wasteful or not fits
            if at_most is not None and (
                from_scratch or standing.change - user_slice.change > at_most
            ):
                raise Heavy
            if from_scratch:
                is_wasteful = user_slice.wasteful
                user_slice.clear()
                if self._files is not None and not is_wasteful:
                    packed = self._files.read(connection, owner, standing)
                    if packed is not None:
                        user_slice.load(packed)
            self._read_missed(connection, owner, user_slice, standing.head.epoch)
        user_slice.epoch, user_slice.change = standing.head.epoch, standing.change
        return standing

    def wants_file(self, owner: Owner) -> bool:
        """Whether a file of the owner's slice should be written."""
        entry = self._held.get(owner)
        return self._files is not None and entry is not None and self._files.wants(entry.slice)

    def want_files_at_end(self) -> list[Owner]:
        """The owners whose files should be written before this process ends."""
        files = self._files
        if files is None:
            return []
        with self._lock:
            entries = list(self._held.items())
        return [owner for owner, entry in entries if files.wants(entry.slice, CHANGED_PART_AT_END)]

    def replace(self, owner: Owner, packed: PackedSlice | None) -> None:
        """Use the file of the owner's slice that was just written.

        The next use reads the changes that it missed.

        Args:
            owner: The owner of the slice.
            packed: The content of the file; None changes no slice.

        """
        with self._lock:
            entry = self._held.get(owner)
        if entry is None or packed is None:
            return
        with entry.lock:
            if entry.slice.epoch == packed.epoch and entry.slice.change >= packed.change:
                entry.slice.load(packed)
                self._weigh(owner, entry)

    def let_go(self, owner: Owner) -> None:
        """Drop the slice of an owner with removed or redacted memories."""
        with self._lock:
            self._drop(owner)

    def ended(self, owner: Owner, epoch: str) -> None:
        """Drop a slice of an earlier epoch of the owner, as after an erasure.

        Args:
            owner: The owner of the slice.
            epoch: The present epoch.

        """
        with self._lock:
            entry = self._held.get(owner)
            if entry is not None and entry.slice.change >= 0 and entry.slice.epoch != epoch:
                self._drop(owner)
                forget_texts()

    def committed(self, owner: Owner, batch: Batch, change: int) -> None:
        """Put a commit of this process into the owner's slice.

        This is done only where the slice is in memory, idle, and up to date right before the
        commit.

        Args:
            owner: The owner of the slice.
            batch: The commit.
            change: The owner's change counter after the commit.

        """
        with self._lock:
            entry = self._held.get(owner)
        if entry is None or not entry.lock.acquire(blocking=False):
            return
        try:
            if entry.slice.is_at(batch.head.epoch, change - 1) and _adds_only(batch):
                self._put(entry.slice, batch)
                entry.slice.change = change
                self._weigh(owner, entry)
        except Exception:  # the commit is durable and must be answered so
            log.exception(
                "a commit could not be put into the slice of its user, which will be read anew"
            )
            entry.slice.clear()
        finally:
            entry.lock.release()

    def folded(
        self, owner: Owner, change: int, counts: Mapping[str, int], last: Mapping[str, float]
    ) -> None:
        """Add accesses that this process has written to the owner's slice.

        This is done only where the slice was up to date right before, and is free soon. Otherwise
        the next use reads the memories.

        Note: it waits, so it is for a thread.

        Args:
            owner: The owner of the slice.
            change: The owner's change counter after the accesses were written.
            counts: The number of accesses by memory id.
            last: The last access by memory id, in epoch seconds.

        """
        with self._lock:
            entry = self._held.get(owner)
        if entry is None or not entry.lock.acquire(timeout=SEARCH_S):
            return
        try:
            if entry.slice.change == change - 1:
                for memory_id, count in counts.items():
                    entry.slice.add_accesses(memory_id, count, last[memory_id])
                entry.slice.change = change
        finally:
            entry.lock.release()

    def _put(self, user_slice: Slice, batch: Batch) -> None:
        for document in (write.document for write in batch.writes):
            if document.kind in MEMORY_KINDS and document.body["epoch"] == batch.head.epoch:
                user_slice.put(
                    document.id,
                    document.kind,
                    document.body,
                    self._comparable(document.body, as_blob(document.vector)),
                )
                read_ahead(document.body["content"])

    def _read_missed(
        self, connection: sqlite3.Connection, owner: Owner, user_slice: Slice, epoch: str
    ) -> None:
        """Read the changed rows, and leave out memories that cannot be read.

        The slice may have half of such a memory, so it is loaded again without the memory.
        """
        damaged: set[str] = set()
        since = user_slice.change
        while True:
            memory_id = ""
            try:
                for row in connection.execute(_CHANGED, (*owner, since, epoch)):
                    memory_id, kind, *_, blob = row
                    if memory_id not in damaged:
                        parsed = whole(row)
                        user_slice.put(memory_id, kind, parsed, self._comparable(parsed, blob))
            except (ValueError, KeyError, TypeError):
                user_slice.clear()
                if not memory_id or len(damaged) == MOST_DAMAGED:
                    raise
                log.error(
                    "a search leaves out the memory %s: what is stored of it can't be read",
                    memory_id,
                )
                damaged.add(memory_id)
                since = -1
            except BaseException:
                user_slice.clear()  # a row may be half there: the next look loads everything
                raise
            else:
                user_slice.damaged |= damaged
                return

    def _comparable(self, body: Mapping[str, Any], blob: bytes | None) -> bytes | None:
        """A stored vector; None if another embedder made it."""
        return blob if blob is not None and self._kind.fits(body, len(blob) // 4) else None

    def _let_idle_go(self) -> None:
        """Drop slices that were not used for long, while the lock is held.

        The most recently used slices are at the end.
        """
        until = self._clock.now() - LONGEST_IDLE
        while self._held and next(iter(self._held.values())).used_at < until:
            self._drop(next(iter(self._held)))

    def _drop(self, owner: Owner) -> None:
        """Drop a slice, while the lock is held."""
        entry = self._held.pop(owner, None)
        if entry is not None:
            self._nbytes -= entry.nbytes

    def _weigh(self, owner: Owner, entry: _CachedSlice) -> None:
        """Note the size of a slice, and drop other slices while all exceed the budget."""
        nbytes, loaded = entry.slice.nbytes, entry.slice.change >= 0
        with self._lock:
            if self._held.get(owner) is entry:  # else it was dropped while it was in use
                self._nbytes += nbytes - entry.nbytes
            entry.nbytes = nbytes
            if not loaded:  # an unknown user, or a failed load: nothing worth a place
                self._drop(owner)
            while self._nbytes > self._budget_bytes:
                oldest = next((other for other in self._held if other != owner), None)
                if oldest is None:
                    return
                self._drop(oldest)


def _adds_only(batch: Batch) -> bool:
    """Whether the writes of a batch contain all its changes to a slice."""
    return all(write.mode != "delete" for write in batch.writes) and not any(
        mark.is_searched for mark in batch.marks.values()
    )
