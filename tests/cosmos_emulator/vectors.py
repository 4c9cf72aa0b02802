"""The vectors of one partition at one path as one matrix, kept in step with every write.

Exact search: 10,000 × 384 cost about 2 ms on one thread. The real index is approximate,
so recall measured here says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class VectorIndex:
    """Row n belongs to `ids[n]`; a removed row is overwritten by the last one."""

    def __init__(self, dimensions: int, function: str) -> None:
        self.function = function
        self.ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._matrix = np.empty((64, dimensions), dtype=np.float32)

    def put(self, id_: str, vector: npt.NDArray[np.float64]) -> None:
        """Add or replace."""
        row = self._rows.get(id_)
        if row is None:
            row = self._rows[id_] = len(self.ids)
            self.ids.append(id_)
            if row == len(self._matrix):
                self._matrix = np.concatenate([self._matrix, np.empty_like(self._matrix)])
        self._matrix[row] = _prepared(vector, self.function)

    def remove(self, id_: str) -> None:
        """Forget a document, if it is here."""
        row = self._rows.pop(id_, None)
        if row is None:
            return
        last = self.ids.pop()
        if last != id_:
            self.ids[row] = last
            self._rows[last] = row
            self._matrix[row] = self._matrix[len(self.ids)]

    def holds(self, id_: str) -> bool:
        """Whether a document has a vector."""
        return id_ in self._rows

    def scores(self, query: npt.NDArray[np.float64], ids: Sequence[str]) -> Floats:
        """What VectorDistance is for each of these documents, which have vectors.
        All of `ids` cost no copy of their vectors.
        """
        rows = (
            self._matrix[: len(ids)]
            if ids is self.ids
            else self._matrix[[self._rows[id_] for id_ in ids]]
        )
        asked = _prepared(query, self.function)
        scores: Floats = (
            np.linalg.norm(rows - asked, axis=1) if self.function == "euclidean" else rows @ asked
        )
        return scores


def order(scores: Floats, function: str, most: int) -> Iterable[int]:
    """Positions, most similar first; the best `most` are sorted first, since rarely more
    are asked for.
    """
    ranked = scores if function == "euclidean" else -scores
    if most < len(ranked):
        best = np.argpartition(ranked, most)[:most]
        yield from best[np.argsort(ranked[best], kind="stable")].tolist()
        rest = np.setdiff1d(np.arange(len(ranked)), best)
        yield from rest[np.argsort(ranked[rest], kind="stable")].tolist()
    else:
        yield from np.argsort(ranked, kind="stable").tolist()


def distance(left: Any, right: Any, function: str) -> float | None:
    """VectorDistance of two vectors, None when one is none or they differ in length."""
    a, b = _vector(left), _vector(right)
    if a is None or b is None or a.shape != b.shape:
        return None
    if function == "euclidean":
        return float(np.linalg.norm(a - b))
    return float(_prepared(a, function) @ _prepared(b, function))


def _vector(value: Any) -> npt.NDArray[np.float64] | None:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list) and all(type(number) in (int, float) for number in value):
        return np.array(value, dtype=np.float64)
    return None


def _prepared(vector: npt.NDArray[np.float64], function: str) -> Floats:
    if function == "cosine":
        length = float(np.linalg.norm(vector))
        vector = vector / length if length > 0 else vector
    return vector.astype(np.float32)
