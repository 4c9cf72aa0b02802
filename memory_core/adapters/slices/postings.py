"""The lexical index of one slice: token → the rows that hold it, with what it weighs there.

Note: the sign has a meaning. A positive weight means that the memory's own or date tokens hold the token; a negative one that
only the turns before it do. It saves an array of flags for each of some 100,000 tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from struct import Struct
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_core.domain.ranking.candidates import Flags


class Postings(NamedTuple):
    """Where some tokens occur, one entry a token and row: which of the tokens, the row, the weighted frequency, whether it is own."""

    term: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    tf: npt.NDArray[np.float64]
    own: Flags


_POSTING: Final = Struct("=if")
_FIELDS: Final = np.dtype([("row", np.int32), ("weight", np.float32)])


class LexicalIndex:
    """Postings of all tokens. Rows are only ever added, each once; rows that fell are masked by the slice."""

    def __init__(self) -> None:
        self._tokens: dict[str, bytearray] = {}
        self._count = 0

    @property
    def nbytes(self) -> int:
        """Bytes held, estimated: 9 a posting, 250 a token (its postings' own header, the text, its place in the table)."""
        return 9 * self._count + 250 * len(self._tokens)

    def append(self, row: int, weights: Mapping[str, float], own: Set[str]) -> None:
        """Index one row, which must be higher than all before. `own`: its own and date tokens."""
        tokens, packed = self._tokens, _POSTING.pack
        for token, weight in weights.items():
            posting = packed(row, weight if token in own else -weight)
            packed_postings = tokens.get(token)
            if packed_postings is None:
                tokens[token] = bytearray(posting)
            else:
                packed_postings += posting
        self._count += len(weights)

    def find(self, tokens: Sequence[str]) -> Postings:
        """The postings of the tokens, together: eight small arrays would cost more in calls than their numbers are worth.

        Copies, so that the index may grow while a caller still looks at them.
        """
        packed_postings = [self._tokens.get(token, b"") for token in tokens]
        records = np.frombuffer(b"".join(packed_postings), dtype=_FIELDS)
        signed = records["weight"]
        term = np.repeat(np.arange(len(packed_postings)), [len(postings) // _POSTING.size for postings in packed_postings])
        return Postings(term, records["row"].copy(), np.abs(signed).astype(np.float64), signed > 0)
