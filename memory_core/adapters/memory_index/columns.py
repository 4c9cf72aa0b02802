"""The memories of a user in columns, for searches.

Note: a row never moves. A memory whose text, tags or vector changed is removed (`alive` = False)
and added as a new row. A change of status, weights or times is made in place. Code that uses a
slice holds its lock (`slice_cache`).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from hashlib import blake2b
from math import isnan, log
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from memory_core.adapters.memory_index.packed import (
    Names,
    PackedSlice,
    RowBytes,
    SliceSnapshot,
    Totals,
)
from memory_core.adapters.memory_index.postings import LexicalIndex, Vectors
from memory_core.adapters.memory_index.stored_values import as_vector, seconds
from memory_core.domain.fading import fades
from memory_core.domain.memory import Lexical, MemoryType, Status
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import own_length, weighted_tokens
from memory_core.domain.ranking.index_terms import order_bytes
from memory_core.domain.ranking.vectors import state_bytes
from memory_core.domain.statements.worth import worth_factor

STATUS_CODES: Final = {status.value: code for code, status in enumerate(Status)}
TYPE_CODES: Final = {memory_type.value: code for code, memory_type in enumerate(MemoryType)}
OVERTAKEN: Final = frozenset({"contradicted", "consolidated", "new_version"})
FINDABLE: Final = frozenset({"active", "compressed", "decayed"})
"""Statuses that a query may find.

The weights of words are counted over all of these, so that fading changes no relevance.
"""
MAX_TURNS = 1_000_000
"""A turn beyond this ordinal has no neighbours.

Turns index an array, and a forged turn must not fill the memory.
"""
MIN_WASTE = 1000
SPARE: Final = 8
"""Room for new rows: 1/SPARE of the packed rows, until all columns must be copied."""
LONGEST_IDLE: Final = timedelta(hours=1)
"""The longest time that an unused slice stays in memory.

So the data of a user whom another process has erased stays in memory no longer.
"""

_COLUMNS: Final[dict[str, type[np.generic]]] = {
    "alive": np.bool_, "findable": np.bool_, "version": np.bool_, "overtaken": np.bool_,
    "has_vector": np.bool_, "message": np.bool_, "asks": np.bool_, "tells_time": np.bool_,
    "has_place": np.bool_, "status": np.int8, "type": np.int8,
    "category": np.int32, "session": np.int32, "agent": np.int32, "actor": np.int32,
    "cell": np.int32, "successor": np.int32, "says_i": np.int8, "turn": np.int32, "stamp": np.int64,
    "sequence": np.int64, "valid_from": np.float64, "valid_until": np.float64,
    "worth_factor": np.float64, "tellings": np.int32, "length": np.float64,
}  # fmt: skip
"""The columns of a slice.

`has_place`: among the rows of the same turn in a session, the row that its neighbours know.
"""
CODED: Final = {
    "category": "categories",
    "session": "sessions",
    "agent": "agents",
    "actor": "actors",
    "cell": "cells",
    "successor": "successors",
}
"""The columns of codes, and the attributes with the names of the codes."""
BESIDE: Final = ("previous", "next")
"""The rows of the turns before and after: two columns of an array named `beside`."""
NUMBERS: Final = (
    "own_length",
    "event_at",
    "touched_at",
    "accessed_at",
    "importance_base",
    "access_count",
    "confidence",
)
"""Columns that are read for every candidate.

They are columns of an array named `numbers`, so that a search takes them all at once.
"""
SLICE_FIELDS: Final = (
    "sequence", "lexical", "tags", "type", "status", "status_reason", "category", "session_id",
    "agent_id", "actor", "cell_id", "next_id", "event_timestamp", "valid_from", "valid_until",
    "created_at", "updated_at", "last_accessed_at", "access_count", "importance_base", "confidence",
    "embedding_model", "worth", "reinforcement_count", "pinned", "subject", "attribute",
    "searchable",
)  # fmt: skip
"""Fields of a body that `put`, and the code that passes it a vector, read."""
_ROW_BYTES: Final = (
    sum(np.dtype(column_type).itemsize for column_type in _COLUMNS.values())
    + 4 * len(BESIDE)
    + 8 * len(NUMBERS)
)


class Codes:
    """Names as small integers, in order of first sight; -1 for no name."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def code(self, name: str | None) -> int:
        """The name's code. A name without a code gets a new code."""
        if name is None:
            return -1
        code = self._codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

    def known(self, name: str) -> int:
        """The name's code; -1 when no row has the name."""
        return self._codes.get(name, -1)

    def of(self, codes: npt.NDArray[np.int32]) -> list[str | None]:
        """The names of codes."""
        names = self.names
        return (
            [None if code < 0 else names[code] for code in codes.tolist()]
            if names
            else [None] * len(codes)
        )


class Slice:
    """Columns, vectors and index of a user, as of `change` in `epoch`."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self.clear()

    def clear(self) -> None:
        """Drop all rows. The next use loads them again."""
        self.epoch = ""
        self.change = -1
        self.damaged: frozenset[str] = frozenset()
        self.prepared: object = None  # `search.WordMatches` of the search that follows
        self.unpacked = 0  # memories that were put or dropped since it was read from a file
        self.ids = Names()
        self.fallen = 0
        self.documents, self.total_length, self.expiring = 0, 0.0, 0
        self.turns, self.total_log_length = 0, 0.0
        self._by_actor: Counter[int] = Counter()
        self._by_type: Counter[int] = Counter()
        self.vectors = Vectors(self._dimensions)
        self.index = LexicalIndex()
        self.categories, self.sessions, self.agents, self.actors, self.cells, self.successors = (
            Codes() for _ in range(6)
        )
        self._order_bytes = 0
        self._rows: dict[str, int] = {}
        self._tags: dict[str, array[int]] = {}
        self._orders: dict[int, bytes] = {}
        self._states: dict[int, bytes] = {}
        self._state_bytes = 0
        self._turns: dict[int, array[int]] = {}
        self._packed: PackedSlice | None = None
        self._packed_turns = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        self._capacity = 64
        self._arrays: dict[str, npt.NDArray[Any]] = {
            name: np.zeros(self._capacity, dtype) for name, dtype in _COLUMNS.items()
        }
        self._arrays["beside"] = np.zeros((self._capacity, len(BESIDE)), dtype=np.int32)
        self._arrays["numbers"] = np.zeros((self._capacity, len(NUMBERS)))
        self._columns = _by_name(self._arrays)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """The estimated bytes of the slice.

        350 a row are for its id, its place by id and its names. Of mapped arrays, only those count
        that searches read.
        """
        mapped = 0
        if self._packed is not None:
            compared = self._packed.coded.codes if self.vectors.is_coded else self._packed.vectors
            mapped = compared.nbytes + self._packed.postings.values.nbytes
        texts = (
            self._order_bytes + self._state_bytes + 100 * (len(self._orders) + len(self._states))
        )
        return (
            mapped
            + self.vectors.nbytes
            + self.index.nbytes
            + texts
            + _ROW_BYTES * self._capacity
            + 350 * len(self.ids.added)
        )

    def is_at(self, epoch: str, change: int) -> bool:
        """Whether the slice has the state of the store after a change.

        Args:
            epoch: The epoch of the user.
            change: The user's change counter.

        """
        return self.change == change and self.epoch == epoch

    @property
    def wasteful(self) -> bool:
        """Whether more rows are removed than in use, so that loading the slice again pays."""
        return self.fallen > MIN_WASTE and self.fallen > len(self.ids) - self.fallen

    @property
    def packed_change(self) -> int:
        """The change at which it was opened from a file; -1 without a file."""
        return -1 if self._packed is None else self._packed.change

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column over all rows, removed rows included.

        `beside` and `numbers` each have several columns.
        """
        return self._columns[name][: len(self.ids)]

    def row(self, memory_id: str) -> int:
        """The row of a memory; -1 when the slice lacks it."""
        row = self._rows.get(memory_id)
        if row is None:
            row = self.ids.packed_row(memory_id)
            if row >= 0 and not self._columns["alive"][row]:
                return -1
        return row

    def tagged(self, tag: str) -> npt.NDArray[np.int32]:
        """The rows with a tag, removed rows included."""
        added = np.array(self._tags.get(tag, ()), dtype=np.int32)
        if self._packed is None:
            return added
        return np.concatenate((np.frombuffer(self._packed.tags.get(tag), np.int32), added))

    def orders(self, rows: Sequence[int]) -> dict[int, bytes]:
        """The orders of the terms of long texts (`order_bytes`), by place among the rows."""
        packed = None if self._packed is None else self._packed.orders
        orders = self._by_row(self._orders, packed, rows)
        return {place: order for place, order in enumerate(orders) if order is not None}

    def states(self, rows: Sequence[int]) -> list[bytes | None]:
        """The token states of each row; None where a row has none.

        The list is empty where no row has token states.
        """
        packed = None if self._packed is None else self._packed.states
        if not self._states and (packed is None or not len(packed.values)):
            return []
        return self._by_row(self._states, packed, rows)

    @staticmethod
    def _by_row(
        added: dict[int, bytes], packed: RowBytes | None, rows: Sequence[int]
    ) -> list[bytes | None]:
        """The bytes of each row that were added, or else packed."""
        if packed is None or not len(packed.values):
            return list(map(added.get, rows))
        return [
            of_row if (of_row := added.get(row)) is not None else of_packed
            for row, of_packed in zip(rows, packed.of(rows), strict=True)
        ]

    @property
    def known_actors(self) -> frozenset[str]:
        """The actors of all memories that a query without a filter could find."""
        return frozenset(
            self.actors.names[code]
            for code, number in self._by_actor.items()
            if number > 0 and code >= 0
        )

    def findable_of(self, types: Iterable[str]) -> int:
        """The number of memories of these types that a query without a filter could find."""
        return sum(self._by_type[TYPE_CODES[memory_type]] for memory_type in types)

    def put(self, memory_id: str, kind: str, body: dict[str, Any], blob: bytes | None) -> None:
        """Add or replace a memory or version.

        A memory that is not searchable is dropped instead. `damaged` names memories that could not
        be added; it no longer names this memory.

        Args:
            memory_id: The id of the memory or version.
            kind: `memory` or `version`.
            body: The body as it is stored.
            blob: The vector as it is stored; None for no vector.

        Raises:
            ValueError: The vector has other dimensions.

        """
        if body.get("searchable") is False:
            self.drop(memory_id)
            return
        stamp = _stamp(body, blob)
        self.unpacked += 1
        row = self.row(memory_id)
        if row >= 0:
            self._count(row, -1)
        if row >= 0 and self._columns["stamp"][row] != stamp:
            self._remove_row(row)
            row = -1
        if row < 0:
            row = self._append(memory_id, kind, body, blob)
            self._columns["stamp"][row] = stamp
        self._set(row, self._plain(body))
        self._columns["findable"][row] = kind == "memory" and body["status"] in FINDABLE
        self._count(row, +1)
        self.damaged -= {memory_id}

    def drop(self, memory_id: str) -> None:
        """Remove a memory, if the slice has it."""
        self.damaged -= {memory_id}
        row = self.row(memory_id)
        self._rows.pop(memory_id, None)
        if row >= 0:
            self.unpacked += 1
            self._count(row, -1)
            self._remove_row(row)

    def add_accesses(self, memory_id: str, count: int, at: float) -> None:
        """Add accesses to a memory, if the slice has it.

        Args:
            memory_id: The id of the memory.
            count: The number of accesses.
            at: The last access, in epoch seconds.

        """
        row = self.row(memory_id)
        if row >= 0:
            self.unpacked += 1
            self._columns["access_count"][row] += count
            self._columns["accessed_at"][row] = at

    def form(self, memory_id: str, cell_id: str) -> None:
        """Put a memory into a cell, if the slice has the memory.

        Args:
            memory_id: The id of the memory.
            cell_id: The id of the cell.

        """
        row = self.row(memory_id)
        if row >= 0:
            self._columns["cell"][row] = self.cells.code(cell_id)

    def _append(self, memory_id: str, kind: str, body: dict[str, Any], blob: bytes | None) -> int:
        row = len(self.ids)
        if row == self._capacity:
            self._grow()
        lexical = Lexical.model_construct(**body["lexical"])
        weights = weighted_tokens(lexical)
        self.vectors.append(as_vector(blob))
        self.index.append(row, weights, lexical.own.keys() | lexical.date.keys())
        if order := body["lexical"].get("order"):
            self._orders[row] = order_bytes(order)
            self._order_bytes += len(self._orders[row])
        if (states := state_bytes(body["lexical"].get("states") or "")) is not None:
            self._states[row] = states
            self._state_bytes += len(states)
        for tag in body["tags"]:
            self._tags.setdefault(tag, array("i")).append(row)
        self.ids.append(memory_id)
        self._rows[memory_id] = row
        fixed = {
            "alive": True, "version": kind == "version", "has_vector": blob is not None,
            "message": is_message(memory_id),
            "asks": lexical.asks, "tells_time": lexical.tells_time,
            "says_i": -1 if lexical.says_i is None else lexical.says_i,
            "length": sum(weights.values()), "own_length": own_length(lexical),
            "session": self.sessions.code(body["session_id"]),
            "turn": -1, "has_place": False, "previous": -1, "next": -1,
        }  # fmt: skip
        self._set(row, fixed)
        if kind == "memory" and lexical.turn is not None and lexical.turn < MAX_TURNS:
            self._link(row, lexical.turn)
        return row

    def _count(self, row: int, sign: int) -> None:
        """Add a row to the totals over findable rows, or subtract it.

        Without these totals a query would spend most of its time on counting.
        """
        if self._columns["findable"][row]:
            self.documents += sign
            self.total_length += sign * float(self._columns["length"][row])
            if self._columns["turn"][row] >= 0:
                self.turns += sign
                self.total_log_length += sign * log(
                    max(float(self._columns["own_length"][row]), 1.0)
                )
            self._by_actor[int(self._columns["actor"][row])] += sign
            self._by_type[int(self._columns["type"][row])] += sign
        self.expiring += sign * (not isnan(self._columns["valid_until"][row]))

    def _plain(self, body: dict[str, Any]) -> dict[str, Any]:
        """The columns that may change while the text stays."""
        created, updated = seconds(body["created_at"]), seconds(body["updated_at"])
        assert created is not None
        assert updated is not None
        until, accessed = seconds(body["valid_until"]), seconds(body["last_accessed_at"])
        return {
            "status": STATUS_CODES[body["status"]],
            "overtaken": body["status_reason"] in OVERTAKEN,
            "type": TYPE_CODES[body["type"]],
            "category": self.categories.code(body["category"]),
            "agent": self.agents.code(body["agent_id"]),
            "actor": self.actors.code(body["actor"]),
            "cell": self.cells.code(body["cell_id"]),
            "successor": self.successors.code(body["next_id"]),
            "sequence": body["sequence"],
            "access_count": body["access_count"],
            "importance_base": body["importance_base"],
            "confidence": body["confidence"],
            "event_at": seconds(body["event_timestamp"]),
            "valid_from": seconds(body["valid_from"]),
            "valid_until": np.nan if until is None else until,
            "touched_at": max(created, updated),
            "accessed_at": created if accessed is None else accessed,
            "worth_factor": worth_factor(body.get("worth")) if _fades(body) else np.inf,
            "tellings": body["reinforcement_count"],
        }

    def _set(self, row: int, values: dict[str, Any]) -> None:
        for name, value in values.items():
            self._columns[name][row] = value

    def _grow(self) -> None:
        self._capacity *= 2
        for name, old in self._arrays.items():
            grown = np.zeros((self._capacity, *old.shape[1:]), dtype=old.dtype)
            grown[: len(old)] = old
            self._arrays[name] = grown
        self._columns = _by_name(self._arrays)

    def _remove_row(self, row: int) -> None:
        """Remove a row.

        Its neighbours lose it. A row that takes its turn is linked again.
        """
        self._order_bytes -= len(self._orders.pop(row, b""))
        self._state_bytes -= len(self._states.pop(row, b""))
        previous, following = self._columns["previous"], self._columns["next"]
        if previous[row] >= 0 and following[previous[row]] == row:
            following[previous[row]] = -1
        if following[row] >= 0 and previous[following[row]] == row:
            previous[following[row]] = -1
        if self._columns["has_place"][row]:
            turns = self._session_turns(int(self._columns["session"][row]))
            turns[int(self._columns["turn"][row])] = -1
            self._columns["has_place"][row] = False
        self._columns["alive"][row] = self._columns["findable"][row] = False
        self.fallen += 1

    def _link(self, row: int, turn: int) -> None:
        """Record a row's place in its session, and link it to both neighbouring turns.

        Among two rows of the same turn, the later row has the place.
        """
        session = int(self._columns["session"][row])
        if session < 0 or turn < 0:
            return
        turns = self._session_turns(session)
        if len(turns) <= turn:
            turns.extend(array("i", [-1]) * (turn + 1 - len(turns)))
        if turns[turn] >= 0:
            self._columns["has_place"][turns[turn]] = False
        turns[turn] = row
        self._columns["turn"][row], self._columns["has_place"][row] = turn, True
        if turn > 0 and turns[turn - 1] >= 0:
            self._columns["previous"][row] = turns[turn - 1]
            self._columns["next"][turns[turn - 1]] = row
        if turn + 1 < len(turns) and turns[turn + 1] >= 0:
            self._columns["next"][row] = turns[turn + 1]
            self._columns["previous"][turns[turn + 1]] = row

    def _session_turns(self, session: int) -> array[int]:
        """The row of each turn of a session; -1 where a turn has no row.

        The first call takes them from the packed rows.
        """
        turns = self._turns.get(session)
        if turns is None:
            places, rows = self._packed_turns
            first, last = np.searchsorted(places, (session * MAX_TURNS, (session + 1) * MAX_TURNS))
            turns = array("i", [-1]) * (
                int(places[last - 1]) % MAX_TURNS + 1 if first < last else 0
            )
            for place, row in zip(
                places[first:last].tolist(), rows[first:last].tolist(), strict=True
            ):
                turns[place % MAX_TURNS] = row
            self._turns[session] = turns
        return turns

    def load(self, packed: PackedSlice) -> None:
        """Replace all rows by a packed slice."""
        self.clear()
        self._packed, self.epoch, self.change = packed, packed.epoch, packed.change
        self.ids = Names(packed.ids)
        rows = len(self.ids)
        self.vectors = Vectors(self._dimensions, packed)
        self.index = LexicalIndex(packed.postings)
        for column, attribute in CODED.items():
            setattr(self, attribute, Codes(packed.names[column]))
        self._capacity = rows + rows // SPARE + 64
        for name, old in self._arrays.items():
            self._arrays[name] = np.zeros((self._capacity, *old.shape[1:]), dtype=old.dtype)
            self._arrays[name][:rows] = packed.columns[name]
        self._columns = _by_name(self._arrays)
        totals = packed.totals
        self.documents, self.total_length = totals.documents, totals.total_length
        self.turns, self.total_log_length = totals.turns, totals.total_log_length
        self.expiring = totals.expiring
        self._by_actor, self._by_type = Counter(totals.by_actor), Counter(totals.by_type)
        turns = self.column("has_place").nonzero()[0]
        places = (
            self.column("session")[turns].astype(np.int64) * MAX_TURNS + self.column("turn")[turns]
        )
        order = places.argsort()
        self._packed_turns = places[order], turns[order]
        packed.let_pages_go()

    def snapshot(self) -> SliceSnapshot:
        """A snapshot to be packed while the slice is used further.

        It takes a few milliseconds even with 100,000 memories.
        """
        return SliceSnapshot(
            packed=self._packed,
            epoch=self.epoch,
            change=self.change,
            ids=self.ids.added.copy(),
            columns={name: array[: len(self.ids)].copy() for name, array in self._arrays.items()},
            names={
                column: getattr(self, attribute).names[:] for column, attribute in CODED.items()
            },
            blocks=self.vectors.blocks,
            totals=Totals(
                self.documents,
                self.total_length,
                self.turns,
                self.total_log_length,
                self.expiring,
                dict(self._by_actor),
                dict(self._by_type),
            ),
            postings=self.index.added(),
            tags=[(tag, rows.tobytes()) for tag, rows in self._tags.items()],
            orders=self._orders.copy(),
            states=self._states.copy(),
        )


def _stamp(body: dict[str, Any], blob: bytes | None) -> int:
    """A digest of a memory's text, tags and vector, the same in every process."""
    digest = blake2b(
        orjson.dumps((body["lexical"], body["tags"], body["session_id"])), digest_size=8
    )
    digest.update(b"" if blob is None else blob)
    return int.from_bytes(digest.digest(), "little", signed=True)


def _fades(body: dict[str, Any]) -> bool:
    in_slot = body.get("subject") is not None and body.get("attribute") is not None
    return fades(body["type"], pinned=body["pinned"], in_slot=in_slot, worth=body.get("worth"))


def _by_name(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Every column under its own name, including the columns of shared arrays."""
    beside = {name: arrays["beside"][:, place] for place, name in enumerate(BESIDE)}
    numbers = {name: arrays["numbers"][:, place] for place, name in enumerate(NUMBERS)}
    return arrays | beside | numbers
