"""Cache of users' memories, with which a search reads only the head.

This costs 1 request unit instead of some hundred. Every search compares the slice with the head
that was read for it, and reads the missed changes: the events since name each memory that was
written or deleted. A slice contains only data that the log reports, except for accesses. Accesses
that other processes write are seen when the memory is next read. A user is read whole as soon as
its searches have cost as much as that read. So, however often a user is searched, the total cost is
at most twice that of the better way.

Note: queries recover by themselves after a replica lagged, but a slice would keep the old data. So
slices are only for accounts whose consistency shows every process all acknowledged writes of any
process.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import CosmosConnection, Remembered
from memory_core.adapters.cosmos.event_pages import events_of
from memory_core.adapters.cosmos.heads import Known, known_of
from memory_core.adapters.cosmos.items import HEAD_ID, Item, belonging, memory_body, vector_of
from memory_core.adapters.memory_index.columns import LONGEST_IDLE, Slice
from memory_core.adapters.memory_index.stored_values import as_blob
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Head
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.text.text_cache import forget_texts
from memory_core.ports import AccessCount, Clock, Place

log = logging.getLogger(__name__)
UNITS_A_MEMORY: Final = 0.5
UNITS_A_DIMENSION: Final = 0.0015
"""Request units to read a memory with its vector, and those of each dimension.

It costs 1.06 with 384 dimensions, on the emulator. A search reads no vectors.
"""
MOST_MEMORIES: Final = 20_000
"""The most memories of a cached user.

A search over so many takes 5 ms, which the event loop tolerates.
"""
BYTES_BESIDE: Final = 2_000
"""Bytes that a memory takes in a slice beside its vector."""
ROWS_A_READ: Final = 50
"""Memories read at once.

Parsing a vector as JSON and indexing its words takes 0.3 ms, so more would hold up the event loop.
"""
EVENTS_A_LOOK: Final = 100
"""The most missed events that are read.

A slice that missed more is read whole again, once that has paid.
"""
SKEW_S: Final = 2
"""Possible difference of the service's clocks in seconds.

It matters when another machine took over a user's writes.
"""


@dataclass(slots=True)
class _CachedSlice:
    """A cached slice.

    Attributes:
        slice: The slice.
        used_at: When it was last used.
        marks: The head's `marks` up to which the slice has all marks.
        written_at: When the head with these marks was written, by the service's clock.
        unformed: Messages that belong to no cell by that head, each with the cell that is stored.
        lock: Held while the slice is brought up to date.

    """

    slice: Slice
    used_at: datetime
    marks: int
    written_at: int
    unformed: dict[str, str]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class _Loading:
    """The task that reads a user whole, for an epoch."""

    task: asyncio.Task[None]
    epoch: str


class CachedSlices:
    """The slices that were used last, of at most `budget_bytes` as estimated; none with 0."""

    def __init__(
        self, connection: CosmosConnection, kind: VectorKind, budget_bytes: int, clock: Clock
    ) -> None:
        self._connection, self._kind, self._budget_bytes, self._clock = (
            connection,
            kind,
            budget_bytes,
            clock,
        )
        self._held: OrderedDict[Owner, _CachedSlice] = OrderedDict()
        self._spent: Remembered[float] = Remembered()
        self._loading: dict[Owner, _Loading] = {}

    def __contains__(self, owner: Owner) -> bool:
        return owner in self._held

    async def close(self) -> None:
        """Cancel the reads under way, and drop all slices."""
        tasks = [loading.task for loading in self._loading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._held.clear()

    def facts(self) -> dict[str, int]:
        """The number of cached users and the bytes that they take."""
        self._let_idle_go()
        return {"slices": len(self._held), "slice_bytes": self._weight()}

    async def caught_up(self, owner: Owner, known: Known | None) -> tuple[Slice | None, float]:
        """The user's slice, not older than the head that was just read.

        Args:
            owner: The user.
            known: The head.

        Returns:
            The slice and the request units of catching up; the slice is None when it is no longer
            cached.

        Raises:
            Unavailable: The service is down.

        """
        self._let_idle_go()
        entry = self._held.get(owner)
        if entry is None or known is None or entry.slice.epoch != known.head.epoch:
            self._held.pop(owner, None)
            return None, 0.0
        entry.used_at = self._clock.now()
        self._held.move_to_end(owner)
        if entry.slice.change >= known.head.sequence and entry.marks >= known.head.marks:
            return entry.slice, 0.0
        async with entry.lock:
            _see_formed(entry, known.head)
            charge = await self._catch_up(owner, entry.slice, known)
            charge += await self._see_marks(owner, entry, known)
        # While it was read another one may have found that it can't be caught up with.
        return (entry.slice if self._held.get(owner) is entry else None), charge

    def paid(self, owner: Owner, head: Head | None, units: float) -> None:
        """Count the cost of a search by queries, and cache the user once this pays.

        Args:
            owner: The user.
            head: The head of the search.
            units: The cost of the search in request units.

        """
        memories = 0 if head is None else sum(head.counts.values())
        fits = (
            memories <= MOST_MEMORIES
            and memories * (4 * self._kind.dimensions + BYTES_BESIDE) <= self._budget_bytes
        )
        if (
            not self._budget_bytes
            or head is None
            or head.state != "live"
            or not fits
            or owner in self._held
        ):
            return
        spent = (self._spent.get(owner) or 0.0) + units
        price = memories * (UNITS_A_MEMORY + UNITS_A_DIMENSION * self._kind.dimensions)
        # one at a time, or a restart under load would read everybody at once
        if spent < price or self._loading:
            self._spent.keep(owner, spent)
            return
        self._spent.keep(owner, None)
        task = asyncio.create_task(self._load(owner))
        self._loading[owner] = _Loading(task, head.epoch)
        task.add_done_callback(lambda _: self._loading.pop(owner, None))

    def ended(self, owner: Owner, epoch: str) -> None:
        """Drop slices and reads of the user's earlier epochs, as after an erasure.

        Args:
            owner: The user.
            epoch: The present epoch.

        """
        entry = self._held.get(owner)
        if entry is not None and entry.slice.epoch != epoch:
            del self._held[owner]
            forget_texts()
        loading = self._loading.get(owner)
        if loading is not None and loading.epoch != epoch:
            loading.task.cancel()

    def add_accesses(self, owner: Owner, counts: Mapping[str, AccessCount] | None) -> None:
        """Apply accesses that this process has written.

        Args:
            owner: The user.
            counts: The accesses by memory id. None when an earlier attempt may have written them:
                the slice may lack them and is dropped.

        """
        if counts is None:
            self._held.pop(owner, None)
        elif (entry := self._held.get(owner)) is not None:
            for name, access in counts.items():
                entry.slice.add_accesses(name, access.count, access.at.timestamp())

    async def _catch_up(self, owner: Owner, user_slice: Slice, known: Known) -> float:
        head = known.head
        missed = head.sequence - user_slice.change
        if missed <= 0:
            return 0.0
        if missed > EVENTS_A_LOOK or user_slice.wasteful:
            self._held.pop(owner, None)
            return 0.0
        events = await self._connection.query(
            owner,
            queries.events(owner, user_slice.change, missed, None, head.epoch),
            since=known.token,
        )
        missing = [
            event
            for row in events.rows
            for event in events_of(row)
            if user_slice.change < event["sequence"] <= head.sequence
        ]
        if len(missing) != missed:  # the log has a gap, or the user's life has ended meanwhile
            self._held.pop(owner, None)
            return events.charge
        names = sorted({event["memory_id"] for event in missing})
        items = await self._connection.query(
            owner, queries.slice_rows_by_id(owner, names, head.epoch), since=known.token
        )
        for name in names:
            if name not in {row["id"] for row in items.rows}:
                user_slice.drop(name)
        self._put(user_slice, items.rows, head)
        user_slice.change = head.sequence
        self._let_go()
        return events.charge + items.charge

    async def _see_marks(self, owner: Owner, entry: _CachedSlice, known: Known) -> float:
        """Read the memories that were written since the last read of marks.

        No event reports a mark.
        """
        if entry.marks >= known.head.marks or self._held.get(owner) is not entry:
            return 0.0
        since = queries.slice_rows_since(
            owner, entry.written_at - SKEW_S, EVENTS_A_LOOK + 1, known.head.epoch
        )
        items = await self._connection.query(owner, since, since=known.token)
        if len(items.rows) > EVENTS_A_LOOK:
            self._held.pop(owner, None)
            return items.charge
        self._put(entry.slice, items.rows, known.head)
        entry.marks, entry.written_at = known.head.marks, known.written_at
        self._let_go()
        return items.charge

    async def _load(self, owner: Owner) -> None:
        """Read a user whole.

        The head is read first. A commit during the read is then later in the log, and the next
        search reads it.
        """
        try:
            known = known_of(await self._connection.item(owner, HEAD_ID))
            if known is None:
                return
            made, after, head = Slice(self._kind.dimensions), None, known.head
            while True:
                page = (
                    await self._connection.query(
                        owner,
                        queries.to_hold(owner, after, ROWS_A_READ, head.epoch),
                        since=known.token,
                    )
                ).rows
                self._put(made, page, head)
                if len(page) < ROWS_A_READ:
                    break
                after = Place(page[-1]["sequence"], page[-1]["id"])
            made.epoch, made.change = head.epoch, head.sequence
            self._held[owner] = _CachedSlice(
                made, self._clock.now(), head.marks, known.written_at, head.unformed_messages
            )
            self._let_go()
        except Unavailable as error:
            log.info("a user was not read into memory: %s", error.detail)
        except Exception:  # no caller waits for this task
            log.exception("a user was not read into memory")

    def _weight(self) -> int:
        return sum(entry.slice.nbytes for entry in self._held.values())

    def _let_idle_go(self) -> None:
        """Drop users that were not searched for long. The least recently searched are first."""
        until = self._clock.now() - LONGEST_IDLE
        while self._held and next(iter(self._held.values())).used_at < until:
            self._held.popitem(last=False)

    def _let_go(self) -> None:
        """Drop the least recently used slices while all together exceed the budget."""
        while self._held and self._weight() > self._budget_bytes:
            self._held.popitem(last=False)

    def _put(self, user_slice: Slice, rows: Iterable[Item], head: Head) -> None:
        for row in belonging(rows, head):
            user_slice.put(
                row["id"], "memory", memory_body(row), as_blob(vector_of(row, self._kind))
            )


def _see_formed(entry: _CachedSlice, head: Head) -> None:
    """Put messages that a head no longer names as unformed into their cells.

    Later writes of these messages are read after this.
    """
    if entry.slice.change > head.sequence or entry.marks > head.marks:
        return  # another search has seen a later head
    unformed = head.unformed_messages
    for name, cell_id in entry.unformed.items():
        if name not in unformed:
            entry.slice.form(name, cell_id)
    entry.unformed = unformed
