"""Replay: what a read answered at a sequence of the log, told from the log.

Note: `known_at` and `at` are two times. The first says which events count, and is settled as a sequence before anything
else; the second says which of the memories that they tell of were true then. What no event records (`UNLOGGED_FIELDS`) is not told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime

from memory_core.domain.errors import FieldError, Invalid, NotFound
from memory_core.domain.fold import State, States, cells_of_messages
from memory_core.domain.messages import is_message
from memory_core.domain.models import Head, Memory
from memory_core.domain.requests import ListInput
from memory_core.domain.results import MemoryPage, Settled
from memory_core.domain.scope import Owner
from memory_core.domain.time_requests import ReplayInput
from memory_core.domain.versions import base_id, is_of_its_life
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.history import Past
from memory_core.ports import EventFilter, Filter, LongTermStore, Place
from memory_core.recollection.filters import as_it_was, of_everything, of_list, shows


class Replayer:
    """Replays for any owner."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors, self._past = store, cursors, Past(store)

    async def replay(self, owner: Owner, query: ReplayInput) -> MemoryPage:
        """What a list of all statuses showed at the sequence. Raises Malformed for a void cursor, Invalid for a sequence yet to come."""
        bound = {"list": "replay", **query.model_dump(mode="json", exclude={"cursor", "limit"}, exclude_none=True)}
        head = await self._head(owner)
        last = 0 if head is None else head.sequence
        if query.sequence is not None and query.sequence > last:
            message = f"lies beyond the log, which ends at {last}"
            raise Invalid(f"sequence: {message}", errors=(FieldError("sequence", message),))
        return await self._page(owner, head, bound, query, of_everything(query.at, hide_formed_messages=True))

    async def page(self, owner: Owner, query: ListInput) -> MemoryPage:
        """What a list showed at `query.known_at`, so without what had expired by then. Raises Malformed for a void cursor."""
        bound = {"list": "memories", **query.model_dump(mode="json", exclude={"cursor", "limit"}, exclude_none=True)}
        return await self._page(owner, await self._head(owner), bound, query, of_list(query, query.known_at))

    async def get(self, owner: Owner, memory_id: str, known_at: datetime, at: datetime | None) -> Settled:
        """One memory as it was known at a moment, whatever its status; with `at`, as it was held true then. Raises NotFound."""
        head = await self._head(owner)
        sequence = 0 if head is None else await self._past.sequence_at(owner, head, known_at)
        states = await self._past.memory(owner, memory_id, sequence) if sequence else {}
        if head is None or memory_id not in states or "." in memory_id:
            first = "" if head is None else await self._first_known(owner, memory_id)
            raise NotFound(f"no memory of this id was known at {known_at.isoformat()}{first}")
        memory = states[memory_id].memory(head.epoch)
        if is_message(memory_id):
            cells = cells_of_messages(await self._past.states(owner, head, sequence))
            memory = memory.model_copy(update={"cell_id": cells.get(memory_id)})
        if at is None:
            return Settled(memory, sequence)
        versions = (state.memory(head.epoch) for name, state in states.items() if name != memory_id)
        memory_then = as_it_was(memory, versions, at)
        if memory_then is None:
            raise NotFound(f"at {known_at.isoformat()} this memory was not held true at {at.isoformat()}")
        return Settled(memory_then, sequence)

    async def _first_known(self, owner: Owner, memory_id: str) -> str:
        """When a memory was first known, for an error; empty for one that is unknown or forgotten for good.

        A memory's `created_at` is when the save began. The event follows with the commit, so it is later by what embedding took.
        """
        first = await self._store.events(owner, 0, 1, EventFilter(memory_id=memory_id))
        return "" if not first or first[0].redacted else f"; its first event occurred at {first[0].occurred_at.isoformat()}"

    async def _head(self, owner: Owner) -> Head | None:
        """The head, None where there is nothing to tell: an unknown user, or one who is being erased."""
        head = (await self._store.snapshot(owner)).head
        return None if head is None or head.state == "erasing" else head

    async def _page(
        self, owner: Owner, head: Head | None, bound: dict[str, object], query: ListInput | ReplayInput, where: Filter
    ) -> MemoryPage:
        place: Place | None = None
        sequence: int | None = query.sequence if isinstance(query, ReplayInput) else None
        if query.cursor is not None:
            place, sequence = self._cursors.read_settled(owner, head, bound, query.cursor)
        if head is None:
            return MemoryPage((), None, 0)
        if sequence is None:
            assert query.known_at is not None
            sequence = await self._past.sequence_at(owner, head, query.known_at)
        states = await self._past.states(owner, head, sequence)
        # Thousands of states are sorted, filtered and checked, which takes longer than others should wait.
        rows = await asyncio.to_thread(_shown, states, head.epoch, where, place, query.limit + 1)
        page = rows[: query.limit]
        more = len(rows) > query.limit
        cursor = self._cursors.make(owner, head, bound, page[-1][0], as_of=sequence) if more else None
        return MemoryPage(tuple(memory for _, memory in page), cursor, sequence)


def _shown(states: States, epoch: str, where: Filter, after: Place | None, limit: int) -> list[tuple[Place, Memory]]:
    """The first `limit` that a list with this filter shows after a place, each with its own."""
    rows: list[tuple[Place, Memory]] = []
    cells = cells_of_messages(states)
    for place, state in _newest_first(states, after, with_versions=where.at is not None):
        memory = state.memory(epoch)
        if is_message(place.id):
            memory = memory.model_copy(update={"cell_id": cells.get(place.id)})
        if not shows(where, memory):
            continue
        if (base := base_id(place.id)) != place.id:
            present = states.get(base)
            if not is_of_its_life(memory, None if present is None else present.memory(epoch)):
                continue
            memory = memory.model_copy(update={"id": base})
        rows.append((place, memory))
        if len(rows) == limit:
            break
    return rows


def _newest_first(states: States, after: Place | None, *, with_versions: bool) -> Iterator[tuple[Place, State]]:
    """The states in the order of a list, from after the place."""
    places = [(state.sequence, name) for name, state in states.items() if with_versions or base_id(name) == name]
    if after is not None:
        places = [place for place in places if place < (after.sequence, after.id)]
    places.sort(reverse=True)
    return ((Place(*place), states[place[1]]) for place in places)
