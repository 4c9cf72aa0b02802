"""The lexical index and the vectors of one user.

Note: the sign has a meaning. A positive weight means that the memory's own or date tokens hold the
token; a negative one that only the turns before it do. It saves an array of flags for each of some
100,000 tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from struct import Struct
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_core.adapters.memory_index.packed import NamedBytes, PackedSlice
from memory_core.adapters.memory_index.rough import approximate, is_usable, kth_greatest
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.candidates import Flags, Ints


class Postings(NamedTuple):
    """Where some tokens occur, one entry a token and row: which of the tokens, the row, the
    weighted frequency, whether it is own.
    """

    term: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    tf: npt.NDArray[np.float64]
    own: Flags


_POSTING: Final = Struct("=if")
_FIELDS: Final = np.dtype([("row", np.int32), ("weight", np.float32)])


class LexicalIndex:
    """Postings of all tokens. Rows are only ever added, each once; rows that fell are masked
    by the slice.

    packed: the postings of rows before all that are added.
    """

    def __init__(self, packed: NamedBytes | None = None) -> None:
        self.packed = NamedBytes.empty() if packed is None else packed
        self._tokens: dict[str, bytearray] = {}
        self._count = 0

    @property
    def nbytes(self) -> int:
        """Bytes held, estimated: 9 a posting, 250 a token (its postings' own header, the text,
        its place in the table). What is packed is not held.
        """
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
        """The postings of the tokens, together: eight small arrays would cost more in calls than
        their numbers are worth.

        Copies, so that the index may grow while a caller still looks at them.
        """
        packed_postings: list[bytes | bytearray] = [
            self._tokens.get(token, b"") for token in tokens
        ]
        if len(self.packed.hashes):
            packed_postings = [
                b"".join(both) for both in zip(self.packed.of(tokens), packed_postings, strict=True)
            ]
        records = np.frombuffer(b"".join(packed_postings), dtype=_FIELDS)
        signed = records["weight"]
        term = np.repeat(
            np.arange(len(packed_postings)),
            [len(postings) // _POSTING.size for postings in packed_postings],
        )
        return Postings(term, records["row"].copy(), np.abs(signed).astype(np.float64), signed > 0)

    def added(self) -> list[tuple[str, bytearray, int]]:
        """Each token that was added with its postings, and how many bytes of these there are now;
        more may follow at any time.
        """
        return [(token, postings, len(postings)) for token, postings in self._tokens.items()]


# The vectors of one slice, in blocks, so that growing never copies or doubles what is already held.
#
# Note: a row without a vector is a row of zeros here; `Slice` knows which rows those are.


BLOCK_ROWS = 4096
COPIED_PART = 4
"""Of less than a part of this of the rows the codes are copied, which is less than to multiply
all of them.
"""
FIRST_ROWS = 64
"""A user with ten memories should not cost a whole block; the first block grows by doubling,
at most 6 MB are copied.
"""


class Vectors:
    """Rows of float32, appended one at a time; `dimensions` numbers each.

    packed: the first rows, which may be mapped from a file. They are not held, but for those of a
    last block that is not full.
    """

    def __init__(self, dimensions: int, packed: PackedSlice | None = None) -> None:
        self.dimensions = dimensions
        self._blocks: list[npt.NDArray[np.float32]] = []
        self._rows = 0
        self._packed = packed
        self._packed_rows = 0
        if packed is not None:
            self._rows = len(packed.vectors)
            self._packed_rows = self._rows // BLOCK_ROWS * BLOCK_ROWS
            self._blocks = [
                packed.vectors[start : start + BLOCK_ROWS]
                for start in range(0, self._packed_rows, BLOCK_ROWS)
            ]
            if self._packed_rows < self._rows:
                last = np.zeros((BLOCK_ROWS, dimensions), dtype=np.float32)
                last[: self._rows - self._packed_rows] = packed.vectors[self._packed_rows :]
                self._blocks.append(last)
        self.is_coded = packed is not None and is_usable(packed.coded)

    def __len__(self) -> int:
        return self._rows

    @property
    def nbytes(self) -> int:
        """Bytes reserved."""
        return sum(block.nbytes for block in self._blocks[self._packed_rows // BLOCK_ROWS :])

    @property
    def blocks(self) -> list[npt.NDArray[np.float32]]:
        """All rows in order, in arrays that never change."""
        starts = range(0, self._rows, BLOCK_ROWS)
        return [
            block[: min(len(block), self._rows - start)]
            for start, block in zip(starts, self._blocks, strict=True)
        ]

    def append(self, vector: Vector | None) -> None:
        """Add one row. ValueError when the vector has other dimensions."""
        number, place = divmod(self._rows, BLOCK_ROWS)
        if number == len(self._blocks):
            self._blocks.append(
                np.zeros((BLOCK_ROWS if number else FIRST_ROWS, self.dimensions), dtype=np.float32)
            )
        elif place == len(self._blocks[number]):
            grown = np.zeros((min(2 * place, BLOCK_ROWS), self.dimensions), dtype=np.float32)
            grown[:place] = self._blocks[number]
            self._blocks[number] = grown
        if vector is not None:
            self._blocks[number][place] = vector
        self._rows += 1

    def products(
        self, vector: Vector, rows: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.float32]:
        """The dot product of each row, or of each of `rows` (ascending), with `vector`:
        cosines, since both are normalised.

        `vecdot` and not `dot`: BLAS splits a matrix product over all cores, and where one of them
        is busy it spins (24 ms for 10,000 rows instead of 0.6 ms, measured on 2 shared cores). With
        384 dimensions: 0.6 ms for 10,000 rows, 12 ms for 100,000; other Python threads run
        meanwhile. Equal vectors get exactly equal products wherever they stand.
        """
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if rows is None:
            return self._all_products(query)
        if 3 * len(rows) >= self._rows:
            return self._all_products(query)[rows]
        scores = np.empty(len(rows), dtype=np.float32)
        first = 0
        if self.is_coded and self._packed is not None:
            first = int(np.searchsorted(rows, self._packed_rows))
            scores[:first] = np.vecdot(self._packed.rows.read(rows[:first]), query)
        while first < len(rows):
            number = int(rows[first]) // BLOCK_ROWS
            last = int(np.searchsorted(rows, (number + 1) * BLOCK_ROWS))
            wanted = rows[first:last] - number * BLOCK_ROWS
            scores[first:last] = np.vecdot(self._blocks[number][wanted], query)
            first = last
        return scores

    def near(self, vector: Vector, mask: Flags, limit: int, floor: float = -np.inf) -> Ints:
        """Rows, ascending, among which are the `limit` nearest within a mask that are not below a
        floor; of those all that tie. Only where `is_coded`.
        """
        assert self._packed is not None
        coded = self._packed.coded
        packed_rows = len(coded.codes)
        is_part = np.count_nonzero(mask[:packed_rows]) * COPIED_PART < packed_rows
        rows = mask.nonzero()[0] if is_part else np.arange(self._rows)
        added = rows[np.searchsorted(rows, packed_rows) :]
        approximated = approximate(
            coded, vector, rows[: len(rows) - len(added)] if is_part else None
        )
        products = np.concatenate((approximated.products, self.products(vector, added)))
        if not is_part and not mask.all():
            products[~mask] = -np.inf
        least = kth_greatest(products, limit) - 2 * approximated.error
        is_near = products >= max(least, floor - approximated.error)
        return rows[is_near] if is_part else (is_near & mask).nonzero()[0]

    def _all_products(self, query: Vector) -> npt.NDArray[np.float32]:
        scores = np.empty(self._rows, dtype=np.float32)
        for number, block in enumerate(self._blocks):
            start = number * BLOCK_ROWS
            end = min(start + len(block), self._rows)
            np.vecdot(block[: end - start], query, out=scores[start:end])
        return scores
