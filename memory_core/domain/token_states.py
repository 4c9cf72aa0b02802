"""States of a text's tokens, small enough to be kept with it: how near the nearest token of a text comes to each token of a query.

The states come of the same pass of the model that makes the vector. They are reduced to `DIMENSIONS` numbers, of a long text to
`MOST_TOKENS` tokens evenly between its first and its last, and kept as one printable character a number, which JSON takes as it is.
Before them stands `VERSION`: states that were reduced by another table are as none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

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
