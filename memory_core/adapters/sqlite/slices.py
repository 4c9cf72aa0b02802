"""The slices held in memory: found by owner, brought up to date at each look, the least used let go when over the budget.

One would get wrong: a commit does not touch a slice. Every look compares the slice with the owner's change counter in the file and
reads what it missed, so this process's commits and another's arrive on the same path, in the order of the file.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from memory_core.adapters.sqlite.reading import Standing
from memory_core.adapters.sqlite.rows import whole
from memory_core.adapters.sqlite.schema import check_embedder
from memory_core.adapters.sqlite.slice import Slice
from memory_core.domain.scope import Owner

_CHANGED = "SELECT id, kind, body, inner, vector FROM documents WHERE app_id = ? AND user_id = ? AND change > ? ORDER BY change, id"


class _Held:
    """A slice with its lock and what it weighed after its last use."""

    def __init__(self, dimensions: int) -> None:
        self.lock = threading.Lock()
        self.slice = Slice(dimensions)
        self.nbytes = 0


class Slices:
    """At most `budget_bytes` of slices, estimated; the one in use is never dropped, however large it is."""

    def __init__(self, model: str, dimensions: int, budget_bytes: int) -> None:
        self._model = model
        self._dimensions = dimensions
        self._budget_bytes = budget_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[Owner, _Held] = OrderedDict()

    def facts(self) -> dict[str, int]:
        """How many slices are held and what they weigh."""
        with self._lock:
            return {"slices": len(self._held), "slice_bytes": sum(one.nbytes for one in self._held.values())}

    def is_near(self, owner: Owner, standing: Standing, rows: int, commits: int) -> bool:
        """Whether the owner's slice is held, has at most `rows` rows and has missed at most `commits` commits, none of them a removal."""
        with self._lock:
            held = self._held.get(owner)
        if held is None or held.slice.epoch != standing.head.epoch:
            return False
        missed = standing.change - held.slice.change
        return len(held.slice) <= rows and 0 <= missed <= commits and standing.removal <= held.slice.change

    @contextmanager
    def hold(self, owner: Owner) -> Iterator[Slice]:
        """The owner's slice, for the caller alone. Take it before the read transaction begins, or it may be newer than that."""
        with self._lock:
            held = self._held.get(owner)
            if held is None:
                held = self._held[owner] = _Held(self._dimensions)
            self._held.move_to_end(owner)
        with held.lock:
            try:
                yield held.slice
            finally:
                held.nbytes = held.slice.nbytes
                self._make_room(owner, loaded=held.slice.change >= 0)

    def bring_up(self, connection: sqlite3.Connection, owner: Owner, held: Slice, standing: Standing) -> None:
        """Make a held slice say what the file says at `standing`. Raises EmbeddingMismatch, sqlite3.Error.

        It starts over when a memory was deleted by someone, when the epoch changed, or when most of its rows have fallen.
        """
        if held.epoch != standing.head.epoch or not standing.removal <= held.change <= standing.change:
            held.clear()
        if held.change == standing.change:
            return
        check_embedder(connection, self._model, self._dimensions)
        self._read_missed(connection, owner, held)
        if held.wasteful:
            held.clear()
            self._read_missed(connection, owner, held)
        held.epoch, held.change = standing.head.epoch, standing.change

    def _read_missed(self, connection: sqlite3.Connection, owner: Owner, held: Slice) -> None:
        try:
            for memory_id, kind, body, inner, blob in connection.execute(_CHANGED, (*owner, held.change)):
                held.put(memory_id, kind, whole(body, inner), blob)
        except BaseException:
            held.clear()  # a row may be half there: the next look loads everything
            raise

    def _make_room(self, owner: Owner, *, loaded: bool) -> None:
        with self._lock:
            if not loaded:  # an unknown user, or a failed load: nothing worth a place
                self._held.pop(owner, None)
            total = sum(one.nbytes for one in self._held.values())
            for other in list(self._held):
                if total <= self._budget_bytes:
                    return
                if other != owner:
                    total -= self._held.pop(other).nbytes
