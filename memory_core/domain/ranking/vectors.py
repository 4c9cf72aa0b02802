"""Vectors of texts: which compare, vectors of long texts, and states of tokens.

The edges weigh more because texts say what they are about at their beginning and at their end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_core.domain.memory import Memory, Vector

EDGE_WEIGHT = 1.15
MOST_WINDOWS = 8
"""Of one text. Each costs the local embedder 30 ms of one processor; 8 hold all of some 7,000 English characters."""


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


# States of a text's tokens, small enough to be kept with it: how near the nearest token of a text comes to each token of a query.
#
# The states come of the same pass of the model that makes the vector. They are reduced to `DIMENSIONS` numbers, of a long text to
# `MOST_TOKENS` tokens evenly between its first and its last, and kept as one printable character a number, which JSON takes as it is.
# Before them stands `VERSION`: states that were reduced by another table are as none.


DIMENSIONS: Final = 48
MOST_TOKENS: Final = 64
VERSION: Final = "2"
"""Of the table that reduces them. The first one's states began with no version."""
States = npt.NDArray[np.float32]

_CHARACTERS: Final = bytes(code for code in range(32, 127) if chr(code) not in '"\\')
_TOP: Final = len(_CHARACTERS) // 2
_CODES: Final = np.frombuffer(_CHARACTERS, dtype=np.uint8)
_NUMBERS: Final = np.full(256, 0.0, dtype=np.float32)
_NUMBERS[_CODES] = np.arange(-_TOP, _TOP + 1, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class TokenStates:
    """What is kept of a text's tokens. kept: `VERSION` and `DIMENSIONS` characters a token; worth: what each token says, 0 for nothing."""

    kept: str
    worth: npt.NDArray[np.float32]


def encoded(states: States) -> str:
    """The states, n × DIMENSIONS, as they are kept: each token's largest number as the largest there is."""
    largest = np.maximum(np.abs(states).max(axis=1, keepdims=True, initial=0.0), 1e-9)
    codes: npt.NDArray[np.uint8] = _CODES[np.rint(states / largest * _TOP).astype(np.int64) + _TOP]
    return VERSION + codes.tobytes().decode("ascii")


def decoded(kept: bytes) -> States:
    """The states, of whatever length each has."""
    return _NUMBERS.take(np.frombuffer(kept, dtype=np.uint8)).reshape(-1, DIMENSIONS)


def state_bytes(kept: str) -> bytes | None:
    """What a memory keeps, ready for `nearest_tokens`; None for nothing, another version's, or what is damaged, which hides no memory."""
    states = kept.removeprefix(VERSION)
    return states.encode() if states != kept and states.isascii() and states and len(states) % DIMENSIONS == 0 else None


def nearest_tokens(asked: Sequence[TokenStates], texts: Sequence[bytes | None]) -> list[States]:
    """Of each query, for each text and each token of the query, the cosine with the text's nearest one, U × Q; NaN without states."""
    if not asked:
        return []
    kept = [query.kept.removeprefix(VERSION) for query in asked]
    near = _nearest("".join(kept).encode(), texts)
    ends = np.cumsum([len(states) // DIMENSIONS for states in kept])
    return np.split(near, ends[:-1], axis=1)


def _nearest(asked: bytes, texts: Sequence[bytes | None]) -> States:
    query = decoded(asked)
    query = query / _lengths(query)[:, None]
    near = np.full((len(texts), len(query)), np.nan, dtype=np.float32)
    known = [row for row, kept in enumerate(texts) if kept]
    if known and len(query):
        kept = [texts[row] or b"" for row in known]
        starts = np.cumsum([0, *(len(one) // DIMENSIONS for one in kept[:-1])])
        states = decoded(b"".join(kept))
        near[known] = np.maximum.reduceat((states @ query.T) / _lengths(states)[:, None], starts, axis=0)
    return near


def _lengths(states: States) -> States:
    lengths: States = np.sqrt(np.einsum("ij,ij->i", states, states))
    return np.maximum(lengths, np.float32(1e-9))


class VectorKind(NamedTuple):
    """The model that made a vector, and the vector's length."""

    model: str
    dimensions: int

    def fits(self, body: Mapping[str, Any], length: int) -> bool:
        """Whether a stored vector compares with vectors of this kind.

        Args:
            body: the document of the vector; one that names no `embedding_model` is judged by the vector's length alone.
            length: of the stored vector.

        """
        return length == self.dimensions and body.get("embedding_model") in (None, self.model)

    def made(self, body: Mapping[str, Any]) -> bool:
        """Whether a memory's body says that its vector is of this kind."""
        return (body.get("embedding_model"), body.get("embedding_dimensions")) == self

    def __str__(self) -> str:
        return f"{self.model!r} with {self.dimensions} dimensions"
