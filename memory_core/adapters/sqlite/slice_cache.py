"""The slices held in memory: found by owner, brought up to date at each look,
the least used let go when over the budget.

Note: a slice never trusts that it was told of everything. Every look compares it with the owner's
change counter in the file and reads what it missed, another process's commits too. That a commit of
this process is put into a slice at once saves that reading, and happens only where the slice stood
right before the commit.
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
from memory_core.adapters.sqlite.reads import Standing, standing_of, transaction
from memory_core.adapters.sqlite.rows import MEMORY_KINDS, whole
from memory_core.adapters.sqlite.slice_files import CHANGED_PART_AT_END, SliceFiles
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.text.excerpts import read_ahead
from memory_core.domain.text.kept import forget_texts
from memory_core.ports import Batch, Clock

log = logging.getLogger(__name__)
MOST_DAMAGED = 20
"""Memories of one user that are left out; with more, something else is wrong,
and searches say so.
"""
_CHANGED = (
    "SELECT id, kind, body, inner, vector FROM documents WHERE app_id = ? AND user_id = ? "
    "AND change > ? AND epoch = ? ORDER BY change, id"
)


class Heavy(Exception):
    """Bringing up the slice, or working on it, would hold up the event loop."""


class _Held:
    """A slice with its lock, what it weighed after its last use, and when that began."""

    def __init__(self, dimensions: int, used_at: datetime) -> None:
        self.lock = threading.Lock()
        self.slice = Slice(dimensions)
        self.nbytes = 0
        self.used_at = used_at


class Slices:
    """At most `budget_bytes` of slices, estimated; the one in use is never dropped,
    however large it is.

    files: what large slices are opened from; without, each is read from the database.
    """

    def __init__(
        self, kind: VectorKind, budget_bytes: int, clock: Clock, files: SliceFiles | None = None
    ) -> None:
        self._kind, self._files = kind, files
        self._budget_bytes, self._clock = budget_bytes, clock
        self._lock = threading.Lock()
        self._held: OrderedDict[Owner, _Held] = OrderedDict()

    def facts(self) -> dict[str, int]:
        """How many slices are held and what they weigh; how many memories in them can't be read,
        if any.
        """
        with self._lock:
            self._let_idle_go()
            damaged = sum(len(entry.slice.damaged) for entry in self._held.values())
            facts = {
                "slices": len(self._held),
                "slice_bytes": sum(entry.nbytes for entry in self._held.values()),
            }
            return facts | ({"damaged": damaged} if damaged else {})

    @contextmanager
    def hold(self, owner: Owner) -> Iterator[Slice]:
        """The owner's slice, for the caller alone. Take it before anything is read,
        or it may be newer than that.
        """
        with self._lock:
            self._let_idle_go()
            entry = self._held.get(owner)
            if entry is None:
                entry = self._held[owner] = _Held(self._kind.dimensions, self._clock.now())
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
    ) -> Standing | None:
        """Make a held slice say what the file says, and return the owner's standing.

        None for an unknown owner. It starts over when a memory was deleted by someone, when the
        epoch changed, or when most of its rows are taken out: from the owner's file but in the last
        case, else from the database. at_most: raise Heavy rather than start over or read more
        commits than that. Raises sqlite3.Error.
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
        """Hold the owner's slice by its file, which was just written of it; the next look reads
        what it missed.
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
        """Hold nothing of the owner, of whom something was removed or redacted."""
        with self._lock:
            self._held.pop(owner, None)

    def ended(self, owner: Owner, epoch: str) -> None:
        """Let go what is held of an earlier epoch of the owner, as after an erasure."""
        with self._lock:
            entry = self._held.get(owner)
            if entry is not None and entry.slice.change >= 0 and entry.slice.epoch != epoch:
                del self._held[owner]
                forget_texts()

    def committed(self, owner: Owner, batch: Batch, change: int) -> None:
        """Put a commit of this process, the owner's `change`-th, into the owner's slice where that
        is held, idle and right before it.
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
        """Read what changed. A memory that can't be read is left out.

        The slice is then loaded again without that memory, which may be half there.
        """
        damaged: set[str] = set()
        since = user_slice.change
        while True:
            memory_id = ""
            try:
                for memory_id, kind, body, inner, blob in connection.execute(
                    _CHANGED, (*owner, since, epoch)
                ):
                    if memory_id not in damaged:
                        parsed = whole(body, inner)
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
        """A stored vector, unless another embedder made it."""
        return blob if blob is not None and self._kind.fits(body, len(blob) // 4) else None

    def _let_idle_go(self) -> None:
        """Let go of slices not used for long. The lock is held.

        Those used last are at the end.
        """
        until = self._clock.now() - LONGEST_IDLE
        while self._held and next(iter(self._held.values())).used_at < until:
            self._held.popitem(last=False)

    def _weigh(self, owner: Owner, entry: _Held) -> None:
        """Note what a slice takes now, and let others go when that is too much together."""
        entry.nbytes = entry.slice.nbytes
        loaded = entry.slice.change >= 0
        with self._lock:
            if not loaded:  # an unknown user, or a failed load: nothing worth a place
                self._held.pop(owner, None)
            total = sum(entry.nbytes for entry in self._held.values())
            for other_owner in list(self._held):
                if total <= self._budget_bytes:
                    return
                if other_owner != owner:
                    total -= self._held.pop(other_owner).nbytes


def _adds_only(batch: Batch) -> bool:
    """Whether all that a slice has to know of the batch is in its writes."""
    return all(write.mode != "delete" for write in batch.writes) and not any(
        mark.is_searched for mark in batch.marks.values()
    )
