"""The past: what every memory of a user was at a sequence, from the nearest snapshot before it and the events after that.

Note: a snapshot is several documents, written one by one, and counts only when all are there. Until then, and where it was
deleted because something in it was forgotten, the one before it serves, or the log from its beginning; only slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from memory_core.domain.errors import HeadMoved
from memory_core.domain.fold import State, States, fold
from memory_core.domain.models import Head
from memory_core.domain.scope import Owner
from memory_core.ledger.ids import snapshot_id
from memory_core.ports import Document, EventFilter, LongTermStore, Place

MAX_PART_BYTES = 1_000_000
"""Of one document of a snapshot; a batch holds 1.8 MB."""
PARTS_A_READ = 4
EVENTS_A_PAGE = 500


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot: all states at `sequence`."""

    sequence: int
    states: States


class Past:
    """Reads the past of any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def sequence_at(self, owner: Owner, head: Head, known_at: datetime) -> int:
        """The sequence of the last event that occurred at `known_at` or before; 0 for none."""
        if head.last_occurred_at is None or head.last_occurred_at <= known_at:
            return head.sequence
        later = await self._store.events(owner, 0, 1, EventFilter(since=known_at + timedelta(microseconds=1)))
        return later[0].sequence - 1 if later else head.sequence

    async def states(self, owner: Owner, head: Head, sequence: int) -> States:
        """Every memory and old version at `sequence`, by id. Raises HeadMoved when the user was erased meanwhile."""
        taken = await self.taken(owner, head, sequence)
        states = await self.after(owner, taken, sequence)
        now = (await self._store.snapshot(owner)).head
        if now is None or now.epoch != head.epoch:
            raise HeadMoved("the user was erased while the log was read", retry_after_s=1)
        return states

    async def memory(self, owner: Owner, memory_id: str, sequence: int) -> States:
        """One memory and its old versions at `sequence`, by id, from its own events alone."""
        states, after = States(), 0
        while page := await self._store.events(owner, after, EVENTS_A_PAGE, EventFilter(memory_id=memory_id, up_to=sequence)):
            states, after = fold(states, page), page[-1].sequence
        return states

    async def after(self, owner: Owner, taken: Taken, sequence: int) -> States:
        """The states at `sequence`, told on from a snapshot at or before it."""
        states, at = taken.states, taken.sequence
        while at < sequence:
            page = await self._store.events(owner, at, EVENTS_A_PAGE, EventFilter(up_to=sequence))
            if not page:
                break
            states, at = fold(states, page), page[-1].sequence
        return states

    async def taken(self, owner: Owner, head: Head, sequence: int) -> Taken:
        """The last whole snapshot at or before `sequence`; the empty beginning where there is none."""
        place = Place(sequence + 1, "")
        while documents := await self._store.page(owner, "snapshot", None, place, 1):
            body = documents[0].body
            if body["epoch"] == head.epoch and (states := await self._read(owner, body)) is not None:
                return Taken(body["sequence"], states)
            place = Place(body["sequence"], "")
        return Taken(0, {})

    async def _read(self, owner: Owner, body: dict[str, Any]) -> States | None:
        """All parts of the snapshot that `body` is one of; None while one is missing, or is of another attempt."""
        names = [snapshot_id(body["epoch"], body["sequence"], part) for part in range(body["parts"])]
        states = States()
        for start in range(0, len(names), PARTS_A_READ):
            asked = names[start : start + PARTS_A_READ]
            parts = (await self._store.snapshot(owner, asked)).documents
            if len(parts) < len(asked) or any(part.body["redactions"] != body["redactions"] for part in parts.values()):
                return None
            states |= {name: State.of_row(row) for part in parts.values() for name, row in part.body["states"].items()}
        return states


def parted(taken: Taken) -> list[list[str]]:
    """The ids of the states in each document of a snapshot: all of them in order, so that every process makes the same."""
    parts: list[list[str]] = [[]]
    size = 0
    for name, state in sorted(taken.states.items()):
        weight = len(orjson.dumps([name, state.row()]))
        if parts[-1] and size + weight > MAX_PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(name)
        size += weight
    return parts


def part_of(taken: Taken, head: Head, parts: Sequence[Sequence[str]], number: int) -> Document:
    """One document of a snapshot that is `parted` so. head: as it was before anything was read for it."""
    states = {name: taken.states[name].row() for name in parts[number]}
    common = {"epoch": head.epoch, "sequence": taken.sequence, "redactions": head.redactions, "parts": len(parts)}
    return Document(snapshot_id(head.epoch, taken.sequence, number), "snapshot", {**common, "states": states})
