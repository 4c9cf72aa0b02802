"""Vectors of texts: windows of long texts, states of tokens, which vectors compare.

The first and last window weigh more, because texts name their topic at the beginning
and at the end.
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
"""Windows of a text at most. Each costs the local embedder 30 ms of one processor; 8 cover some
7,000 English characters.
"""


@dataclass(frozen=True, slots=True)
class Chunking:
    """The sizes of the windows into which long texts are cut.

    Attributes:
        size: Tokens of a window.
        overlap: Tokens that a window shares with the window before.
        edge_weight: The weight of the first and the last window; all other windows have 1.
        most_windows: Windows that are embedded: the first, the last and evenly between.

    """

    size: int = 500
    overlap: int = 50
    edge_weight: float = EDGE_WEIGHT
    most_windows: int = MOST_WINDOWS

    def within(self, limit: int) -> Chunking:
        """The chunking for an embedder that takes at most `limit` tokens at once."""
        size = min(self.size, limit)
        return replace(self, size=size, overlap=min(self.overlap, size - 1))

    def cut(self, token_count: int) -> list[tuple[int, int]]:
        """The windows `[start, end)` of a text that are embedded, in order."""
        every = windows(token_count, self.size, self.overlap)
        return [every[place] for place in spread(len(every), self.most_windows)]


STANDARD = Chunking()


def windows(token_count: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Windows `[start, end)` of at most `size` tokens that cover a text.

    Each window begins with the last `overlap` tokens of the window before. The last may be shorter,
    but has at least one token that no other window has. A text without tokens has no windows.

    Args:
        token_count: Of the text.
        size: Tokens of a window.
        overlap: Tokens that two neighbouring windows share.

    Raises:
        ValueError: Unless 0 ≤ overlap < size.

    """
    if not 0 <= overlap < size:
        raise ValueError(
            f"the overlap must be at least 0 and less than the window's size {size}, not {overlap}"
        )
    if token_count <= 0:
        return []
    starts = range(0, max(1, token_count - overlap), size - overlap)
    return [(start, min(start + size, token_count)) for start in starts]


def covered(count: int, chunking: Chunking) -> int:
    """The number of tokens that some windows cover.

    Args:
        count: The number of windows, at least 1.
        chunking: Their size and overlap.

    """
    return chunking.size + (count - 1) * (chunking.size - chunking.overlap)


def spread(count: int, most: int) -> list[int]:
    """Choose places evenly from first to last.

    Args:
        count: The number of places, which are 0 to `count` - 1.
        most: The most places to choose, at least 2.

    """
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]


def joint_vector(*memories: Memory) -> Vector | None:
    """The combined vector of memories; None where none of them has a vector."""
    vectors = [memory.embedding for memory in memories if memory.embedding is not None]
    return combine(vectors) if vectors else None


def combine(vectors: Sequence[Vector], edge_weight: float = EDGE_WEIGHT) -> Vector:
    """Combine the vectors of a text's windows into a vector of length 1.

    The result is the weighted mean at unit length; a single vector is returned unchanged. The
    weights are those of OmniMemory's C4 design. If the mean is 0 and has no direction, the result
    is the first vector.

    Args:
        vectors: Of the windows, in order.
        edge_weight: The weight of the first and the last vector; all other vectors have 1.

    Raises:
        ValueError: For no vectors.

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


# States of a text's tokens, stored with the text and compared with those of a query (as in
# ColBERT's late interaction).
#
# The model returns them in the same pass as the vector. They are reduced to `DIMENSIONS` numbers
# each, and of a long text to `MOST_TOKENS` tokens that are spread evenly. A number is stored as a
# printable character that JSON does not escape. States begin with `VERSION`; those of another table
# are ignored.


DIMENSIONS: Final = 48
MOST_TOKENS: Final = 64
VERSION: Final = "2"
"""The version of the table that reduces states. States of the first table begin with no version."""
States = npt.NDArray[np.float32]

_CHARACTERS: Final = bytes(code for code in range(32, 127) if chr(code) not in '"\\')
_TOP: Final = len(_CHARACTERS) // 2
_CODES: Final = np.frombuffer(_CHARACTERS, dtype=np.uint8)
_NUMBERS: Final = bytes(
    (_CHARACTERS.find(code) - _TOP) % 256 if code in _CHARACTERS else 0 for code in range(256)
)
"""The number of each character, as a signed byte; 0 for other characters."""


@dataclass(frozen=True, slots=True)
class TokenStates:
    """The states of a text's n tokens, as they are stored.

    Attributes:
        states: `VERSION`, then `DIMENSIONS` characters for each token.
        worth: Of each token, n; 0 for a token without meaning.

    """

    states: str
    worth: npt.NDArray[np.float32]


def encoded(states: States) -> str:
    """Encode states, n × DIMENSIONS; each token is scaled to its largest number."""
    largest = np.maximum(np.abs(states).max(axis=1, keepdims=True, initial=0.0), 1e-9)
    codes: npt.NDArray[np.uint8] = _CODES[np.rint(states / largest * _TOP).astype(np.int64) + _TOP]
    return VERSION + codes.tobytes().decode("ascii")


def decoded(stored: bytes) -> States:
    """Decode states, n × DIMENSIONS, without `VERSION`.

    The length of a state is not that before it was encoded.
    """
    numbers = np.frombuffer(stored.translate(_NUMBERS), dtype=np.int8)
    return numbers.astype(np.float32).reshape(-1, DIMENSIONS)


def state_bytes(stored: str) -> bytes | None:
    """The stored states of a memory for `nearest_tokens`, without `VERSION`.

    None for no states, for states of another version, and for damaged states, which must not hide a
    memory.
    """
    states = stored.removeprefix(VERSION)
    return (
        states.encode()
        if states != stored and states.isascii() and states and len(states) % DIMENSIONS == 0
        else None
    )


def nearest_tokens(asked: Sequence[TokenStates], texts: Sequence[bytes | None]) -> States:
    """The cosines of the tokens of queries with the nearest token of each text.

    Args:
        asked: The token states of each query, Q tokens in all.
        texts: The states of each of U texts (`state_bytes`), None for a text without states.

    Returns:
        Q × U cosines; NaN for a text without states.

    """
    query = decoded("".join(query.states.removeprefix(VERSION) for query in asked).encode())
    query = query / _lengths(query)[:, None]
    near = np.full((len(query), len(texts)), np.nan, dtype=np.float32)
    known = [row for row, text_states in enumerate(texts) if text_states]
    if known and len(query):
        known_states = [texts[row] or b"" for row in known]
        starts = np.cumsum(
            [0, *(len(text_states) // DIMENSIONS for text_states in known_states[:-1])]
        )
        states = decoded(b"".join(known_states))
        # a row a token of the query: along rows the greatest of each text is found twice as fast
        cosines = query @ states.T
        cosines /= _lengths(states)
        near[:, known] = np.maximum.reduceat(cosines, starts, axis=1)
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
            body: The document of the vector. A document without `embedding_model` is judged by the
                vector's length alone.
            length: Of the stored vector.

        """
        return length == self.dimensions and body.get("embedding_model") in (None, self.model)

    def made(self, body: Mapping[str, Any]) -> bool:
        """Whether a memory's body says that its vector is of this kind."""
        return (body.get("embedding_model"), body.get("embedding_dimensions")) == self

    def __str__(self) -> str:
        return f"{self.model!r} with {self.dimensions} dimensions"
