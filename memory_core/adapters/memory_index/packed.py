"""Bytes by name and by row in flat arrays.

Such arrays can be mapped from a file.

Note: a Python object for each name or row takes ten times the bytes of its content. Making it takes
as long as reading a whole page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from memory_core.adapters.memory_index.rough import Coded

Bytes = npt.NDArray[np.uint8]
Ends = npt.NDArray[np.int64]


def name_hash(name: str) -> int:
    """A name as 64 bits, the same in every process."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")


class NamedBytes(NamedTuple):
    """Bytes by name, sorted by the hashes of the names.

    Attributes:
        hashes: `name_hash` of each of n names.
        name_ends: Where each name ends in `names`.
        names: The names, as UTF-8.
        value_ends: Where the bytes of each name end in `values`.
        values: The bytes.

    """

    hashes: npt.NDArray[np.uint64]
    name_ends: Ends
    names: Bytes
    value_ends: Ends
    values: Bytes

    @classmethod
    def empty(cls) -> Self:
        """An instance without a name."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none.astype(np.uint64), none, none.astype(np.uint8), none, none.astype(np.uint8))

    def get(self, name: str) -> memoryview | bytes:
        """The bytes of a name; empty for an unknown name."""
        return self.of([name])[0]

    def of(self, names: Sequence[str]) -> list[memoryview | bytes]:
        """The bytes of each name."""
        hashed = np.array([name_hash(name) for name in names], dtype=np.uint64)
        first = np.searchsorted(self.hashes, hashed)
        is_there = (
            self.hashes.take(first, mode="clip") == hashed if len(self.hashes) else hashed < 0
        )
        return [
            self._of_hash(name, place) if there else b""
            for name, place, there in zip(names, first.tolist(), is_there.tolist(), strict=True)
        ]

    def _of_hash(self, name: str, place: int) -> memoryview | bytes:
        """The bytes of a name at a place, or after it among equal hashes."""
        hashed = self.hashes[place]
        while place < len(self.hashes) and self.hashes[place] == hashed:
            if self.name(place) == name:
                return _part(self.values, self.value_ends, place).data
            place += 1
        return b""

    def name(self, place: int) -> str:
        """The name at a place."""
        return bytes(_part(self.names, self.name_ends, place)).decode()

    def items(self) -> Iterator[tuple[str, memoryview]]:
        """All names with their bytes, in the order of their hashes."""
        names, values = self.names.data, self.values.data
        name_start = value_start = 0
        for name_end, value_end in zip(
            self.name_ends.tolist(), self.value_ends.tolist(), strict=True
        ):
            yield str(names[name_start:name_end], "utf-8"), values[value_start:value_end]
            name_start, value_start = name_end, value_end


class RowBytes(NamedTuple):
    """Bytes by row.

    Attributes:
        ends: Where the bytes of each row end in `values`.
        values: The bytes.

    """

    ends: Ends
    values: Bytes

    @classmethod
    def empty(cls) -> Self:
        """An instance without a row."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8))

    def of(self, rows: Sequence[int]) -> list[bytes | None]:
        """The bytes of each row; None where a row has none."""
        return [self.one(row) or None for row in rows]

    def one(self, row: int) -> bytes:
        """The bytes of a row; empty where it has none."""
        if row >= len(self.ends) or not len(self.values):
            return b""
        return _part(self.values, self.ends, row).tobytes()


def _part(values: Bytes, ends: Ends, place: int) -> Bytes:
    start = int(ends[place - 1]) if place else 0
    return values[start : int(ends[place])]


class RowNames(NamedTuple):
    """A unique name for each row.

    Attributes:
        ends: Where the name of each row ends in `text`.
        text: The names, as UTF-8.
        hashes: The hashes of the names of `rows`, sorted.
        rows: The rows in the order of the hashes.

    """

    ends: Ends
    text: Bytes
    hashes: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.int32]

    @classmethod
    def empty(cls) -> Self:
        """An instance without a row."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none.astype(np.uint8), none.astype(np.uint64), none.astype(np.int32))

    def name(self, row: int) -> str:
        """The name of a row."""
        return bytes(_part(self.text, self.ends, row)).decode()

    def of(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """The name of each row."""
        text, ends = self.text.data, self.ends[rows].tolist()
        starts = np.where(rows > 0, self.ends[rows - 1], 0).tolist()
        return [str(text[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]

    def row(self, name: str) -> int:
        """The row of a name; -1 for an unknown name."""
        hashed = np.uint64(name_hash(name))
        place = int(np.searchsorted(self.hashes, hashed))
        while place < len(self.hashes) and self.hashes[place] == hashed:
            row = int(self.rows[place])
            if self.name(row) == name:
                return row
            place += 1
        return -1


class Names(Sequence[str]):
    """Names by row: packed names, then added names."""

    def __init__(self, packed: RowNames | None = None) -> None:
        self._packed = RowNames.empty() if packed is None else packed
        self.added: list[str] = []
        self._packed_rows = len(self._packed.ends)

    def __len__(self) -> int:
        return self._packed_rows + len(self.added)

    def __getitem__(self, row: Any) -> Any:
        """The name of a row, counted from 0."""
        if row < self._packed_rows:
            return self._packed.name(row)
        return self.added[row - self._packed_rows]

    def of(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """The name of each row."""
        if not self._packed_rows:
            return [self.added[row] for row in rows.tolist()]
        is_packed = rows < self._packed_rows
        packed = iter(self._packed.of(rows[is_packed]))
        return [
            next(packed) if there else self.added[row - self._packed_rows]
            for row, there in zip(rows.tolist(), is_packed.tolist(), strict=True)
        ]

    def append(self, name: str) -> None:
        """Name the next row."""
        self.added.append(name)

    def packed_row(self, name: str) -> int:
        """The packed row of a name; -1 for an unknown name."""
        return self._packed.row(name) if self._packed_rows else -1


ROWS_BETWEEN: Final = 3
"""The greatest distance of rows that are read at once.

A call costs as much as two rows.
"""


class RowFile:
    """Rows of four-byte numbers in an open file.

    Note: a mapped file would keep sixteen pages in memory for each page that is read.
    """

    def __init__(self, descriptor: int, offset: int, numbers: int) -> None:
        """Use a file descriptor, which is closed with this object."""
        self._descriptor, self._offset, self._numbers = descriptor, offset, numbers

    def __del__(self) -> None:
        os.close(self._descriptor)

    def read(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Some rows, in ascending order. Raises OSError.

        Rows between rows that are near each other are read too, and dropped.
        """
        if not len(rows):
            return np.empty((0, self._numbers), dtype=np.float32)
        first = np.concatenate(([0], (np.diff(rows) > ROWS_BETWEEN).nonzero()[0] + 1))
        last = np.concatenate((first[1:], [len(rows)])) - 1
        starts, sizes = rows[first], rows[last] - rows[first] + 1
        places = sizes.cumsum() - sizes
        read = np.empty((int(sizes.sum()), self._numbers), dtype=np.float32)
        row_bytes = self._numbers * read.itemsize
        for start, size, place in zip(
            starts.tolist(), sizes.tolist(), places.tolist(), strict=True
        ):
            part = read[place : place + size]
            if (
                os.preadv(self._descriptor, [part.data], self._offset + start * row_bytes)
                != part.nbytes
            ):
                raise OSError("the file of a user's slice is too short")
        if len(read) == len(rows):
            return read
        wanted: npt.NDArray[np.float32] = read[rows + np.repeat(places - starts, last - first + 1)]
        return wanted


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of a slice, over the memories that a query may find.

    Attributes:
        documents: The number of memories.
        total_length: The sum of their weighted lengths.
        turns: The number of memories that are turns of sessions.
        total_log_length: The sum of the logarithms of the turns' own lengths.
        expiring: The number of memories with an end, whether a query may find them or not.
        by_actor: The number of memories by the code of their actor.
        by_type: The number of memories by the code of their type.

    """

    documents: int = 0
    total_length: float = 0.0
    turns: int = 0
    total_log_length: float = 0.0
    expiring: int = 0
    by_actor: Mapping[int, int] = field(default_factory=dict)
    by_type: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PackedSlice:
    """A whole slice in arrays, which may be mapped from a file.

    The arrays are never written to.

    Attributes:
        epoch: The epoch of the user.
        change: The last of the user's changes that it contains.
        ids: The ids of the memories.
        columns: The columns by name, a row for each memory.
        names: By column of codes, the names of the codes.
        vectors: The vectors; zeros where a memory has none.
        coded: The vectors in codes.
        rows: The vectors read from the file, without keeping its pages in memory.
        postings: The postings by token.
        tags: By tag, the rows with the tag.
        orders: By row, the order of terms of a long text.
        states: By row, the token states.
        totals: The counts.
        let_pages_go: Releases all pages of the file until they are read again.

    """

    epoch: str
    change: int
    ids: RowNames
    columns: Mapping[str, npt.NDArray[Any]]
    names: Mapping[str, list[str]]
    vectors: npt.NDArray[np.float32]
    coded: Coded
    rows: RowFile
    postings: NamedBytes
    tags: NamedBytes
    orders: RowBytes
    states: RowBytes
    totals: Totals
    let_pages_go: Callable[[], None]


@dataclass(frozen=True, slots=True)
class SliceSnapshot:
    """The content of a slice at a moment.

    It has copies, or structures that only grow, with the size to take.

    Attributes:
        packed: The file content that the slice was opened from; None where it was read from the
            database.
        epoch: The epoch of the user.
        change: The last change that it contains.
        ids: The ids of the rows after the packed rows.
        columns: The columns of all rows.
        names: By column of codes, the names of the codes.
        blocks: The vectors of all rows, in order.
        totals: The counts.
        postings: By token, the bytes of the postings after the packed rows, and how many of them
            count.
        tags: By tag, the rows after the packed rows.
        orders: By row after the packed rows, the order of terms of a long text.
        states: By row after the packed rows, the token states.

    """

    packed: PackedSlice | None
    epoch: str
    change: int
    ids: list[str]
    columns: Mapping[str, npt.NDArray[Any]]
    names: Mapping[str, list[str]]
    blocks: Sequence[npt.NDArray[np.float32]]
    totals: Totals
    postings: Sequence[tuple[str, bytearray, int]]
    tags: Sequence[tuple[str, bytes]]
    orders: Mapping[int, bytes]
    states: Mapping[int, bytes]
