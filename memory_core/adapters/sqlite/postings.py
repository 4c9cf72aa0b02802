"""The lexical index of one slice: token → the rows that hold it, with what it weighs there.

One would get wrong: the sign. A positive weight means that the memory's own or date tokens hold the token; a negative one that
only the turns before it do. It saves an array of flags for each of some 100,000 tokens.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memory_core.domain.candidates import Flags


class Postings(NamedTuple):
    """Where one token occurs: ascending rows, weighted term frequency, whether the row's own or date tokens hold it."""

    rows: npt.NDArray[np.int32]
    tf: npt.NDArray[np.float32]
    own: Flags


_NONE = Postings(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32), np.empty(0, dtype=np.bool_))


class LexicalIndex:
    """Postings of all tokens. Rows are only ever added, each once; rows that fell are masked by the slice."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[array[int], array[float]]] = {}
        self._count = 0

    @property
    def nbytes(self) -> int:
        """Bytes held, estimated: 9 a posting, 400 a token (two arrays, the text, its place in the table)."""
        return 9 * self._count + 400 * len(self._tokens)

    def append(self, row: int, weights: Mapping[str, float], own: Set[str]) -> None:
        """Index one row, which must be higher than all before. `own`: its own and date tokens."""
        tokens = self._tokens
        for token, weight in weights.items():
            held = tokens.get(token)
            if held is None:
                held = tokens[token] = (array("i"), array("f"))
            held[0].append(row)
            held[1].append(weight if token in own else -weight)
        self._count += len(weights)

    def find(self, token: str) -> Postings:
        """The postings of a token: copies, so that the index may grow while a caller still looks at them."""
        held = self._tokens.get(token)
        if held is None:
            return _NONE
        signed = np.array(held[1], dtype=np.float32)
        return Postings(np.array(held[0], dtype=np.int32), np.abs(signed), signed > 0)
