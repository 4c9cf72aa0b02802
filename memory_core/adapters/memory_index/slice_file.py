"""A user's slice as a file that is opened by mapping it.

The file is a cache of the database. Removed rows, and names that no row has any more, are left out:
a file has no data of a memory that the slice does not have. The file is a head of 64 bytes, arrays,
and a JSON text of small values. A single checksum covers all of it, so a file with any changed byte
is refused.

Note: a file contains the result of `Slice.put`. `FORMAT` must be raised with every change of that
result, or a later version would search with the words and weights of an earlier version.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from io import BufferedReader
from math import inf
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt
import orjson

from memory_core import __version__
from memory_core.adapters.memory_index import rough
from memory_core.adapters.memory_index.packed import (
    NamedBytes,
    Names,
    PackedSlice,
    RowBytes,
    RowFile,
    RowNames,
    SliceSnapshot,
    Totals,
    name_hash,
)
from memory_core.adapters.memory_index.rough import Coded

FORMAT: Final = 1
_MARK: Final = b"MCslice\n"
_HEAD: Final = Struct("<8sIIQQQ")
"""The head of a file.

Its fields are the mark, the format, the checksum of all that follows the head, the size of the
file, where the JSON begins, and the checksum of the head's other fields.
"""
_HEAD_SIZE: Final = 64
_ALIGNED: Final = 64
_PIECE: Final = 1 << 20
_ROWS: Final = np.dtype(np.int32)
_POSTINGS: Final = np.dtype([("row", np.int32), ("weight", np.float32)])
Value = TypeVar("Value", bound=np.generic)


class Unfit(Exception):
    """Raised with the reason for a file that is damaged or of other content."""


class Identity(NamedTuple):
    """The user of a file, and the embedder of its vectors.

    Attributes:
        app_id: The app of the user.
        user_id: The user.
        model: The embedder's model.
        dimensions: The length of its vectors.
        redactions: How many commits had redacted memories of the user (`Head.redactions`). A file
            from before the last of them may contain redacted data.

    """

    app_id: str
    user_id: str
    model: str
    dimensions: int
    redactions: int


def write_slice(file: BinaryIO, snapshot: SliceSnapshot, identity: Identity) -> None:
    """Write a slice's file, from the beginning of an empty file.

    Args:
        file: The empty file.
        snapshot: The content.
        identity: The user and the embedder.

    Raises:
        OSError: The disk fails or has no room.
        ValueError: A name is not valid text.

    """
    contents = _Contents(snapshot)
    writer = _Writer(file)
    for name, column in contents.columns().items():
        writer.array(f"columns.{name}", column)
    writer.array_of("vectors", np.dtype(np.float32), contents.vectors(), identity.dimensions)
    contents.ids(writer)
    coded = contents.coded()
    writer.array_of("codes", np.dtype(np.int8), coded, identity.dimensions)
    writer.array("scales", np.concatenate([*contents.scales, np.zeros(0, np.float32)]))
    packed = snapshot.packed
    none, no_rows = NamedBytes.empty(), RowBytes.empty()
    added = {token: (postings, size) for token, postings, size in snapshot.postings}
    contents.named(writer, "postings", packed.postings if packed else none, added, _POSTINGS)
    tags = {tag: (rows, len(rows)) for tag, rows in snapshot.tags}
    contents.named(writer, "tags", packed.tags if packed else none, tags, _ROWS)
    contents.by_row(writer, "orders", packed.orders if packed else no_rows, snapshot.orders)
    contents.by_row(writer, "states", packed.states if packed else no_rows, snapshot.states)
    writer.end(
        {
            "identity": [*identity],
            "made_by": _made_by(),
            "epoch": snapshot.epoch,
            "change": snapshot.change,
            "names": contents.names,
            "totals": asdict(contents.totals),
            "coded": [contents.error, contents.length],
        }
    )


def read_slice(path: Path, identity: Identity, *, is_checked: bool = True) -> PackedSlice:
    """Map a slice's file.

    Args:
        path: The file.
        identity: The user and the embedder that the file must have.
        is_checked: Whether the checksum is compared, which reads all of the file. It is not needed
            for a file that this process has just written.

    Raises:
        Unfit: The file is damaged or has another identity.
        OSError: The file cannot be read.

    """
    with path.open("rb") as file:
        start = _checked(file) if is_checked else _start_of_facts(file.read(_HEAD_SIZE))
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        facts = orjson.loads(memoryview(mapped)[start:])
        rows = RowFile(os.dup(file.fileno()), facts["arrays"]["vectors"][3], identity.dimensions)
    if facts["identity"] != [*identity] or facts["made_by"] != _made_by():
        raise Unfit("it is another user's, of another embedder or of another version")
    arrays = {
        name: np.frombuffer(mapped, kind, size, offset).reshape(shape)
        if size
        else np.zeros(shape, kind)
        for name, (kind, shape, size, offset) in facts["arrays"].items()
    }
    columns = {
        name.removeprefix("columns."): array
        for name, array in arrays.items()
        if name.startswith("columns.")
    }
    totals = facts["totals"]
    for name in ("by_actor", "by_type"):
        totals[name] = {int(code): number for code, number in totals[name].items()}
    return PackedSlice(
        epoch=facts["epoch"],
        change=facts["change"],
        ids=RowNames(*(arrays[f"ids.{field}"] for field in RowNames._fields)),
        columns=columns,
        names=facts["names"],
        vectors=arrays["vectors"],
        coded=Coded(arrays["codes"], arrays["scales"], *map(_finite, facts["coded"])),
        rows=rows,
        postings=_named(arrays, "postings"),
        tags=_named(arrays, "tags"),
        orders=RowBytes(arrays["orders.ends"], arrays["orders.values"]),
        states=RowBytes(arrays["states.ends"], arrays["states.values"]),
        totals=Totals(**totals),
        let_pages_go=partial(_let_pages_go, mapped),
    )


def _let_pages_go(mapped: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _finite(number: float | None) -> float:
    return inf if number is None else number  # as JSON has it


def _made_by() -> list[str]:
    return [__version__, sys.byteorder]


def _checked(file: BufferedReader) -> int:
    """The place of the facts in a file, after its checksum was compared.

    The file is read and not mapped, so that no page of it stays in memory. Raises Unfit.
    """
    head = file.read(_HEAD_SIZE)
    start, size = _start_of_facts(head), _HEAD_SIZE
    checksum, piece = 0, bytearray(min(_PIECE, os.fstat(file.fileno()).st_size))
    while count := file.readinto(piece):
        checksum = crc32(memoryview(piece)[:count], checksum)
        size += count
    if (checksum, size) != (_HEAD.unpack_from(head)[2], _HEAD.unpack_from(head)[3]):
        raise Unfit("it is damaged")
    return start


def _start_of_facts(head: bytes) -> int:
    try:
        mark, version, _, _, start, own = _HEAD.unpack_from(head)
    except StructError as error:
        raise Unfit("it is too short") from error
    if mark != _MARK or version != FORMAT:
        raise Unfit(f"it is no slice of format {FORMAT}")
    rest = head[_HEAD.size :]
    if own != crc32(head[: _HEAD.size - 8]) or len(head) < _HEAD_SIZE or any(rest):
        raise Unfit("its head is damaged")
    return int(start)


def _named(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> NamedBytes:
    return NamedBytes(*(arrays[f"{name}.{field}"] for field in NamedBytes._fields))


class _Writer:
    """Writes arrays in sequence, then the facts, then the head."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksum, self._size = 0, _HEAD_SIZE
        self._arrays: dict[str, tuple[str, list[int], int, int]] = {}
        file.write(bytes(_HEAD_SIZE))

    def array(self, name: str, array: npt.NDArray[Any]) -> None:
        """Write an array."""
        self._begin()
        self._arrays[name] = (array.dtype.str, [*array.shape], array.size, self._size)
        self._write(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data)

    def array_of(
        self,
        name: str,
        dtype: np.dtype[Any],
        pieces: Iterable[memoryview | bytes | bytearray],
        row: int = 0,
    ) -> None:
        """Write an array from its bytes.

        `row` is the count of numbers in a row; 0 for no rows.
        """
        self._begin()
        offset = self._size
        for piece in pieces:
            self._write(piece)
        size = (self._size - offset) // dtype.itemsize
        shape = [size // row, row] if row else [size]
        self._arrays[name] = (dtype.str, shape, size, offset)

    def end(self, facts: Mapping[str, Any]) -> None:
        """Write the facts, and the head that makes the file valid."""
        start = self._size
        self._write(orjson.dumps({**facts, "arrays": self._arrays}, option=orjson.OPT_NON_STR_KEYS))
        head = _HEAD.pack(_MARK, FORMAT, self._checksum, self._size, start, 0)[:-8]
        self._file.seek(0)
        self._file.write(head + crc32(head).to_bytes(8, "little"))

    def _begin(self) -> None:
        self._write(bytes(-self._size % _ALIGNED))

    def _write(self, piece: memoryview | bytes | bytearray) -> None:
        self._checksum = crc32(piece, self._checksum)
        self._size += len(piece)
        self._file.write(piece)


class _Contents:
    """The content of a slice's file: the rows in use, with new numbers."""

    def __init__(self, snapshot: SliceSnapshot) -> None:
        self._snapshot = snapshot
        self._alive = snapshot.columns["alive"]
        self._is_whole = bool(self._alive.all())
        self._moved = np.where(self._alive, self._alive.cumsum() - 1, -1).astype(_ROWS)
        self.names: dict[str, list[str]] = {}
        self.totals = snapshot.totals
        self.scales: list[npt.NDArray[np.float32]] = []
        self.error = self.length = 0.0

    def ids(self, writer: _Writer) -> None:
        """Write the ids of the rows."""
        ids = Names(None if self._snapshot.packed is None else self._snapshot.packed.ids)
        ids.added = self._snapshot.ids
        names = [ids[row] for row in self._alive.nonzero()[0].tolist()]
        encoded = [name.encode() for name in names]
        hashes = np.fromiter(map(name_hash, names), dtype=np.uint64, count=len(names))
        order = hashes.argsort(kind="stable")
        writer.array("ids.ends", _ends(encoded))
        writer.array_of("ids.text", np.dtype(np.uint8), [b"".join(encoded)])
        writer.array("ids.hashes", hashes[order])
        writer.array("ids.rows", order.astype(_ROWS))

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns. After this call, `names` and `totals` use the new codes."""
        columns = {name: self._rows_of(column) for name, column in self._snapshot.columns.items()}
        beside = columns["beside"]
        columns["beside"] = np.where(beside < 0, -1, self._moved[beside]).astype(beside.dtype)
        for name, names in self._snapshot.names.items():
            codes = columns[name]
            used = np.unique(codes[codes >= 0])
            new_codes = np.full(len(names) + 1, -1, dtype=codes.dtype)  # the last: of -1 = none
            new_codes[used] = np.arange(len(used))
            columns[name] = new_codes[codes]
            self.names[name] = [names[code] for code in used.tolist()]
            if name == "actor":
                by_actor = {
                    int(new_codes[code]): number
                    for code, number in self.totals.by_actor.items()
                    if number
                }
                self.totals = replace(self.totals, by_actor=by_actor)
        return columns

    def vectors(self) -> Iterator[memoryview]:
        """The vectors, block by block."""
        for block in self._blocks():
            yield block.reshape(-1).view(np.uint8).data

    def coded(self) -> Iterator[memoryview]:
        """The vectors in codes, block by block; empty for few vectors.

        The scales, the error and the length are known at the end.
        """
        if int(self._alive.sum()) < rough.LEAST_ROWS:
            self.error = self.length = inf
            return
        for block in self._blocks():
            coded = rough.coded(block)
            self.scales.append(coded.scales)
            self.error = float(np.maximum(self.error, coded.error))  # which no NaN gets lost by
            self.length = float(np.maximum(self.length, coded.length))
            yield coded.codes.reshape(-1).view(np.uint8).data

    def _blocks(self) -> Iterator[npt.NDArray[np.float32]]:
        start = 0
        for block in self._snapshot.blocks:
            alive = self._alive[start : start + len(block)]
            start += len(block)
            yield block if alive.all() else block[alive]
            if self._snapshot.packed is not None:
                self._snapshot.packed.let_pages_go()

    def named(
        self,
        writer: _Writer,
        name: str,
        packed: NamedBytes,
        added: Mapping[str, tuple[bytes | bytearray, int]],
        record: np.dtype[Any],
    ) -> None:
        """Write records by name. Each added entry says how many of its bytes count."""
        known = dict(packed.items())
        names = [*known, *(each for each in added if each not in known)]
        hashes = np.fromiter(map(name_hash, names), dtype=np.uint64, count=len(names))
        order = hashes.argsort(kind="stable")
        sizes = np.zeros(len(names), dtype=np.int64)

        def pieces() -> Iterator[bytes]:
            parts: list[bytes] = []
            gathered = first = 0
            for number, place in enumerate(order.tolist()):
                postings, size = added.get(names[place], (b"", 0))
                parts.append(b"".join((known.get(names[place], b""), postings[:size])))
                gathered += len(parts[-1])
                if gathered > _PIECE or number == len(names) - 1:
                    yield self._of_rows(parts, record, sizes[first : number + 1])
                    parts, gathered, first = [], 0, number + 1

        writer.array_of(f"{name}.values", np.dtype(np.uint8), pieces())
        left = sizes.nonzero()[0]
        encoded = [names[place].encode() for place in order[left].tolist()]
        writer.array(f"{name}.value_ends", sizes[left].cumsum())
        writer.array(f"{name}.hashes", hashes[order[left]])
        writer.array(f"{name}.name_ends", _ends(encoded))
        writer.array_of(f"{name}.names", np.dtype(np.uint8), [b"".join(encoded)])

    def _of_rows(
        self, parts: Sequence[bytes], record: np.dtype[Any], sizes: npt.NDArray[np.int64]
    ) -> bytes:
        """Records of the rows in use, with their new numbers.

        `sizes` becomes the size of each part.
        """
        sizes[:] = [len(part) for part in parts]
        joined = b"".join(parts)
        if self._is_whole:
            return joined
        records = np.frombuffer(joined, dtype=record)
        rows = self._moved[records["row"] if record.names else records]
        part = np.repeat(np.arange(len(parts)), sizes // record.itemsize)[rows >= 0]
        sizes[:] = np.bincount(part, minlength=len(parts)) * record.itemsize
        left, rows = records[rows >= 0], rows[rows >= 0]
        if record.names:
            left["row"] = rows
        else:
            left = rows
        return bytes(left.tobytes())

    def by_row(
        self, writer: _Writer, name: str, packed: RowBytes, added: Mapping[int, bytes]
    ) -> None:
        """Write bytes by row."""
        rows = np.arange(len(self._alive))[self._alive].tolist()
        sizes = np.zeros(len(rows), dtype=np.int64)

        def pieces() -> Iterator[bytes]:
            for place, row in enumerate(rows):
                part = added.get(row)
                if part is None:
                    part = packed.one(row)
                if part:
                    sizes[place] = len(part)
                    yield part

        writer.array_of(
            f"{name}.values", np.dtype(np.uint8), pieces() if added or len(packed.values) else ()
        )
        writer.array(f"{name}.ends", sizes.cumsum())

    def _rows_of(self, column: npt.NDArray[Value]) -> npt.NDArray[Value]:
        return column if self._is_whole else column[self._alive]


def _ends(parts: Sequence[bytes]) -> npt.NDArray[np.int64]:
    return np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)).cumsum()
