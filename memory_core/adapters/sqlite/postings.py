"""The lexical index of one slice: token → the rows that hold it, with what it weighs there.

One would get wrong: the sign. A positive weight means that the memory's own or date tokens hold the token; a negative one that
only the turns before it do. It saves an array of flags for each of some 100,000 tokens.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memory_core.domain.candidates import Flags


class Postings(NamedTuple):
    """Where some tokens occur, one entry a token and row: which of the tokens, the row, the weighted frequency, whether it is own."""

    term: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    tf: npt.NDArray[np.float64]
    own: Flags


_NO_ROWS, _NO_WEIGHTS = array("i"), array("f")


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

    def find(self, tokens: Sequence[str]) -> Postings:
        """The postings of the tokens, together: eight small arrays would cost more in calls than their numbers are worth.

        Copies, so that the index may grow while a caller still looks at them.
        """
        held = [self._tokens.get(token, (_NO_ROWS, _NO_WEIGHTS)) for token in tokens]
        sizes = [len(rows) for rows, _ in held]
        if not sum(sizes):
            nothing = np.empty(0, dtype=np.int64)
            return Postings(nothing, nothing.astype(np.int32), nothing.astype(np.float64), nothing.astype(np.bool_))
        rows = np.concatenate([np.frombuffer(rows, dtype=np.int32) for rows, _ in held if len(rows)])
        signed = np.concatenate([np.frombuffer(weights, dtype=np.float32) for _, weights in held if len(weights)])
        return Postings(np.repeat(np.arange(len(held)), sizes), rows, np.abs(signed).astype(np.float64), signed > 0)
