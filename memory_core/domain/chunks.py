"""Long texts in pieces: where to cut them, and how to make one vector of the pieces' vectors.

The edges weigh more because texts say what they are about at their beginning and at their end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_core.domain.models import Memory, Vector

EDGE_WEIGHT = 1.15
MOST_WINDOWS = 8
"""Of one text. Each costs the local embedder 75 ms of one processor; 8 hold all of some 7,000 English characters."""


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long texts are cut: `size` tokens a piece, `overlap` shared with the one before, first and last weighing `edge_weight`.

    most_windows: of a text with more windows only as many are embedded, the first, the last and evenly between.
    """

    size: int = 500
    overlap: int = 50
    edge_weight: float = EDGE_WEIGHT
    most_windows: int = MOST_WINDOWS

    def within(self, limit: int) -> Chunking:
        """The same for an embedder that takes at most `limit` tokens at once."""
        size = min(self.size, limit)
        return replace(self, size=size, overlap=min(self.overlap, size - 1))

    def cut(self, token_count: int) -> list[tuple[int, int]]:
        """The windows `[start, end)` of a text of so many tokens that are embedded, in order."""
        every = windows(token_count, self.size, self.overlap)
        return [every[place] for place in spread(len(every), self.most_windows)]


STANDARD = Chunking()


def windows(token_count: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Windows `[start, end)` of at most `size` tokens that cover all of them, each beginning with `overlap` of the one before.

    The last may be shorter, but holds at least one token that no other holds. No tokens, no windows.
    Raises ValueError unless 0 ≤ overlap < size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"the overlap must be at least 0 and less than the window's size {size}, not {overlap}")
    if token_count <= 0:
        return []
    starts = range(0, max(1, token_count - overlap), size - overlap)
    return [(start, min(start + size, token_count)) for start in starts]


def covered(count: int, chunking: Chunking) -> int:
    """Tokens that `count` windows cover. count ≥ 1."""
    return chunking.size + (count - 1) * (chunking.size - chunking.overlap)


def spread(count: int, most: int) -> list[int]:
    """At most `most` of the places 0 to `count` - 1: all of them, or the first, the last and evenly between. most ≥ 2."""
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]


def joint_vector(*memories: Memory) -> Vector | None:
    """The combined vector of memories; None where none of them has a vector."""
    vectors = [one.embedding for one in memories if one.embedding is not None]
    return combine(vectors) if vectors else None


def combine(vectors: Sequence[Vector], edge_weight: float = EDGE_WEIGHT) -> Vector:
    """One normalised float32 vector of length d from the vectors of a text's windows, in order.

    The weighted mean, first and last weighing `edge_weight` and the others 1 (the weights of OmniMemory's C4 design); a
    single vector comes back unchanged. Where the mean vanishes, so that it has no direction, the first vector stands for all.
    Raises ValueError for no vectors.
    """
    if not vectors:
        raise ValueError("there is nothing to combine")
    if len(vectors) == 1:
        return vectors[0]
    weights = np.ones(len(vectors))
    weights[0] = weights[-1] = edge_weight
    mean = weights @ np.asarray(vectors, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    if length < 1e-9:
        return vectors[0]
    return (mean / length).astype(np.float32)
