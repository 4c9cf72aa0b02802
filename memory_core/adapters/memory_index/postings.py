"""The lexical index and the vectors of a user.

Note: the sign of a weight has a meaning. A positive weight means that the memory's own or date
tokens contain the token; a negative weight that only the turns before it do. It saves an array of
flags for each of some 100,000 tokens.
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
    """The occurrences of some tokens, an entry for each token and row.

    Attributes:
        term: The index of the token.
        rows: The row.
        tf: The weighted frequency.
        own: Whether the token is the memory's own.

    """

    term: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    tf: npt.NDArray[np.float64]
    own: Flags


_POSTING: Final = Struct("=if")
_FIELDS: Final = np.dtype([("row", np.int32), ("weight", np.float32)])


class LexicalIndex:
    """Postings of all tokens.

    Rows are only added, each once. The slice masks removed rows. `packed` has the postings of the
    rows before all added rows.
    """

    def __init__(self, packed: NamedBytes | None = None) -> None:
        self.packed = NamedBytes.empty() if packed is None else packed
        self._tokens: dict[str, bytearray] = {}
        self._count = 0

    @property
    def nbytes(self) -> int:
        """The estimated bytes: 9 a posting, and 250 a token.

        The latter are for the header of its postings, its text and its place in the table. Packed
        postings do not count.
        """
        return 9 * self._count + 250 * len(self._tokens)

    def append(self, row: int, weights: Mapping[str, float], own: Set[str]) -> None:
        """Index a row, which must be higher than all rows before.

        Args:
            row: The row.
            weights: The weighted frequency of each token.
            own: The memory's own tokens and date tokens.

        """
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
        """The postings of the tokens, in a single set of arrays.

        Eight small arrays would cost more in calls than their numbers are worth. The arrays are
        copies, so that the index may grow while a caller still reads them.
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
        """Each added token with its postings, and the present number of their bytes.

        More bytes may follow at any time.
        """
        return [(token, postings, len(postings)) for token, postings in self._tokens.items()]


# The vectors of a slice, in blocks, so that growing never copies vectors.
#
# Note: a row without a vector is a row of zeros here; `Slice` knows these rows.


BLOCK_ROWS = 4096
COPIED_PART = 4
"""Codes are copied for less than 1/COPIED_PART of the rows.

That costs less than multiplying all rows.
"""
FIRST_ROWS = 64
"""Rows of the first block at first.

A user with ten memories should not cost a whole block. The first block grows by doubling, so that
at most 6 MB are copied.
"""


class Vectors:
    """Rows of float32 with `dimensions` numbers each, appended singly.

    `packed` has the first rows, which may be mapped from a file. They are not kept in memory,
    except for those of a last block that is not full.
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
        """The reserved bytes."""
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
        """Add a row. Raises ValueError when the vector has other dimensions."""
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
        """The dot products of rows with a vector: cosines, since both are normalised.

        This uses `vecdot` and not `dot`: BLAS splits a matrix product over all cores, and spins
        where a core is busy (24 ms for 10,000 rows instead of 0.6 ms, measured on 2 shared cores).
        With 384 dimensions it takes 0.6 ms for 10,000 rows and 12 ms for 100,000, and other Python
        threads run meanwhile. Equal vectors get exactly equal products in any row.

        Args:
            vector: The vector to multiply with.
            rows: The rows, ascending; None for all rows.

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
        """Rows, ascending, that include the nearest within a mask, with all ties.

        It works only where `is_coded`.

        Args:
            vector: The vector to compare with.
            mask: The rows to choose from.
            limit: The number of nearest rows to include.
            floor: The lowest cosine of these rows.

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
