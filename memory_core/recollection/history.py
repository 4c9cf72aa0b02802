"""Read the past: answers as of an earlier sequence, the events in order, lineages.

Note: `known_at` and `at` are two times. `known_at` decides which events count, and is turned into a
sequence before any read. `at` decides which of the memories in these events were true then. Fields
that no event records (`UNLOGGED_FIELDS`) are not shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Literal

from memory_core.domain.errors import FieldError, Invalid, NotFound
from memory_core.domain.event_log import (
    LoggedState,
    States,
    base_id,
    cells_of_messages,
    is_of_its_life,
)
from memory_core.domain.memory import Head, Memory, MemoryType
from memory_core.domain.messages import is_message
from memory_core.domain.requests.maintenance import ReplayInput, TimelineInput
from memory_core.domain.requests.memories import ListInput
from memory_core.domain.results import EventPage, Evolution, MemoryPage, Settled
from memory_core.domain.scope import Owner
from memory_core.evolution.chains import Chains
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.history import Past
from memory_core.ledger.readable import readable_shown
from memory_core.ports import EventFilter, Filter, LongTermStore, Place
from memory_core.recollection.filters import as_it_was, of_everything, of_list, shows
from memory_core.recollection.graph.formats import as_dot, as_mermaid, as_page
from memory_core.recollection.graph.model import MAX_NODES, Graph, mentioned, of_memories


class Replayer:
    """Replays for any owner."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors, self._past = store, cursors, Past(store)

    async def replay(self, owner: Owner, query: ReplayInput) -> MemoryPage:
        """Return the list of all statuses as it was at the sequence.

        Args:
            owner: Whose memories are listed.
            query: The sequence or time, the limit and the cursor.

        Raises:
            Malformed: The cursor is void.
            Invalid: The log has not reached the sequence.
            Unavailable: The long-term store is down.

        """
        bound = {
            "list": "replay",
            **query.model_dump(mode="json", exclude={"cursor", "limit"}, exclude_none=True),
        }
        head = await self._head(owner)
        last = 0 if head is None else head.sequence
        if query.sequence is not None and query.sequence > last:
            message = f"lies beyond the log, which ends at {last}"
            raise Invalid(f"sequence: {message}", errors=(FieldError("sequence", message),))
        return await self._page(
            owner, head, bound, query, of_everything(query.at, hide_formed_messages=True)
        )

    async def page(self, owner: Owner, query: ListInput) -> MemoryPage:
        """Return a list as it was at `query.known_at`, without memories that had expired by then.

        Args:
            owner: Whose memories are listed.
            query: The filters, the time, the limit and the cursor.

        Raises:
            Malformed: The cursor is void.
            Unavailable: The long-term store is down.

        """
        bound = {
            "list": "memories",
            **query.model_dump(
                mode="json", exclude={"cursor", "limit"}, exclude_none=True, exclude_defaults=True
            ),
        }
        return await self._page(
            owner, await self._head(owner), bound, query, of_list(query, query.known_at)
        )

    async def get(
        self, owner: Owner, memory_id: str, known_at: datetime, at: datetime | None
    ) -> Settled:
        """Return a memory as it was known at a moment, whatever its status.

        Args:
            owner: Whose memory it is.
            memory_id: The id of the memory.
            known_at: The system time: only events until then count.
            at: The event time at which it was held true; None for the memory as it was known.

        Raises:
            NotFound: The memory was not known then, or was not held true at that time.
            Unavailable: The long-term store is down.

        """
        head = await self._head(owner)
        sequence = 0 if head is None else await self._past.sequence_at(owner, head, known_at)
        states = await self._past.memory(owner, memory_id, sequence) if sequence else {}
        if head is None or memory_id not in states or "." in memory_id:
            first = "" if head is None else await self._first_known(owner, memory_id)
            raise NotFound(f"no memory of this id was known at {known_at.isoformat()}{first}")
        memory = states[memory_id].memory(head.epoch)
        if is_message(memory_id):
            cells = cells_of_messages(await self._past.states(owner, head, sequence))
            memory = memory.changed(cell_id=cells.get(memory_id))
        if at is None:
            return Settled(memory, sequence)
        versions = (state.memory(head.epoch) for name, state in states.items() if name != memory_id)
        memory_then = as_it_was(memory, versions, at)
        if memory_then is None:
            raise NotFound(
                f"at {known_at.isoformat()} this memory was not held true at {at.isoformat()}"
            )
        return Settled(memory_then, sequence)

    async def _first_known(self, owner: Owner, memory_id: str) -> str:
        """Return a note for an error: when the memory's first event occurred.

        Empty for a memory that is unknown or hard-deleted. A memory's `created_at` is the beginning
        of the save. The event follows with the commit, so it is later by the time that embedding
        took.
        """
        first = await self._store.events(owner, 0, 1, EventFilter(memory_id=memory_id))
        return (
            ""
            if not first or first[0].redacted
            else f"; its first event occurred at {first[0].occurred_at.isoformat()}"
        )

    async def _head(self, owner: Owner) -> Head | None:
        """Return the head; None for an unknown user or a user that is being erased."""
        head = (await self._store.snapshot(owner)).head
        return None if head is None or head.state == "erasing" else head

    async def _page(
        self,
        owner: Owner,
        head: Head | None,
        bound: dict[str, object],
        query: ListInput | ReplayInput,
        where: Filter,
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
        # Thousands of states are sorted, filtered and checked, which takes longer than others
        # should wait.
        newest_first = isinstance(query, ReplayInput) or query.order == "desc"
        rows = await asyncio.to_thread(
            _shown, states, head.epoch, where, place, query.limit + 1, newest_first=newest_first
        )
        page = rows[: query.limit]
        more = len(rows) > query.limit
        cursor = (
            self._cursors.make(owner, head, bound, page[-1][0], as_of=sequence) if more else None
        )
        return MemoryPage(tuple(memory for _, memory in page), cursor, sequence)


def _shown(
    states: States,
    epoch: str,
    where: Filter,
    after: Place | None,
    limit: int,
    *,
    newest_first: bool,
) -> list[tuple[Place, Memory]]:
    """Return the first `limit` memories that a list with this filter shows after a place.

    Each comes with its own place.
    """
    rows: list[tuple[Place, Memory]] = []
    cells = cells_of_messages(states)
    for place, state in _in_order(
        states, after, newest_first=newest_first, with_versions=where.at is not None
    ):
        memory = state.memory(epoch)
        if is_message(place.id):
            memory = memory.changed(cell_id=cells.get(place.id))
        if not shows(where, memory):
            continue
        if (base := base_id(place.id)) != place.id:
            present = states.get(base)
            if not is_of_its_life(memory, None if present is None else present.memory(epoch)):
                continue
            memory = memory.shown_as(base)
        rows.append((place, memory))
        if len(rows) == limit:
            break
    return rows


def _in_order(
    states: States, after: Place | None, *, newest_first: bool, with_versions: bool
) -> Iterator[tuple[Place, LoggedState]]:
    """Return the states in the order of a list, from after the place."""
    places = [
        (state.sequence, name)
        for name, state in states.items()
        if with_versions or base_id(name) == name
    ]
    if after is not None:
        last = (after.sequence, after.id)
        places = [place for place in places if (place < last if newest_first else place > last)]
    places.sort(reverse=newest_first)
    return ((Place(*place), states[place[1]]) for place in places)


# The timeline: a user's events in order, a page at a time. Its cursors are never void for what is
# written meanwhile: a log only grows.


_MEMORY_TYPES = frozenset(MemoryType)


class HistoryReader:
    """Reads the log of any owner."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, owner: Owner, query: TimelineInput) -> EventPage:
        """Return a page of events, oldest first.

        Args:
            owner: Whose events are read.
            query: The filters, the limit and the cursor.

        Raises:
            Malformed: The cursor is void.
            Unavailable: The long-term store is down.

        """
        bound = {
            "list": "timeline",
            **query.model_dump(mode="json", exclude={"cursor", "limit"}, exclude_none=True),
        }
        head = (await self._store.snapshot(owner)).head
        place = self._cursors.read(owner, head, bound, query.cursor)
        if head is None or head.state == "erasing":
            return EventPage((), None)
        events = await self._store.events(
            owner, 0 if place is None else place.sequence, query.limit + 1, _filter(query)
        )
        events_shown, more = events[: query.limit], len(events) > query.limit
        cursor = (
            self._cursors.make(
                owner, head, bound, Place(events_shown[-1].sequence, events_shown[-1].id)
            )
            if more
            else None
        )
        return EventPage(tuple(events_shown), cursor)


def _filter(query: TimelineInput) -> EventFilter:
    types = frozenset(str(event_type) for event_type in query.types or ())
    return EventFilter(
        memory_id=query.memory_id,
        types=types & _MEMORY_TYPES,
        event_types=types - _MEMORY_TYPES,
        correlation_id=query.correlation_id,
        since=query.since,
        until=query.until,
    )


Direction = Literal["forward", "backward", "both"]
GraphFormat = Literal["mermaid", "dot", "html"]
_FORMATS: dict[GraphFormat, Callable[[Graph], str]] = {
    "mermaid": as_mermaid,
    "dot": as_dot,
    "html": as_page,
}


class Lineage:
    """Reads along `next_id`.

    The id of another owner's memory looks like the id of no memory.
    """

    def __init__(self, store: LongTermStore) -> None:
        self._store, self._chains = store, Chains(store)

    async def chain(self, owner: Owner, memory_id: str, direction: Direction) -> Evolution:
        """Return a memory with its predecessors or successors.

        Args:
            owner: Whose memory it is.
            memory_id: The id of the memory.
            direction: `forward` for its successors; `backward` for its predecessors, nearest first;
                `both` for all from the oldest on.

        Raises:
            NotFound: There is no such memory.
            Unavailable: The long-term store is down.

        """
        start = await self._chains.start(owner, memory_id)
        if direction == "forward":
            ahead = await self._chains.forward(owner, [start])
            return Evolution((start, *ahead.memories), ahead.complete)
        behind = await self._chains.backward(owner, [start])
        if direction == "backward":
            return Evolution((start, *behind.memories), behind.complete)
        ahead = await self._chains.forward(owner, [start])
        # of a cycle, what lies ahead lies behind too
        known = {memory.id for memory in ahead.memories}
        before = (memory for memory in reversed(behind.memories) if memory.id not in known)
        return Evolution((*before, start, *ahead.memories), ahead.complete and behind.complete)

    async def graph(self, owner: Owner, memory_id: str) -> Graph:
        """Return the whole tree of a memory, with its facts' cells and its links.

        Args:
            owner: Whose memory it is.
            memory_id: The id of the memory.

        Raises:
            NotFound: There is no such memory.
            Unavailable: The long-term store is down.

        """
        start = await self._chains.start(owner, memory_id)
        ahead = await self._chains.forward(owner, [start], MAX_NODES - 1)
        trunk = [start, *ahead.memories]
        behind = await self._chains.backward(owner, trunk, MAX_NODES - len(trunk))
        tree = [*trunk, *behind.memories]
        beside, complete = await self._beside(owner, start, tree)
        return of_memories(
            start, tree, beside, complete=complete and ahead.complete and behind.complete
        )

    async def drawing(self, owner: Owner, memory_id: str, format: GraphFormat) -> str:
        """Draw the graph of a memory, as a drawing's source or as a page.

        Args:
            owner: Whose memory it is.
            memory_id: The id of the memory.
            format: `mermaid` or `dot` for the source of a drawing; `html` for a page.

        Raises:
            NotFound: There is no such memory.
            Unavailable: The long-term store is down.

        """
        graph = await self.graph(owner, memory_id)
        return await asyncio.to_thread(_FORMATS[format], graph)  # a page of 60 memories takes 10 ms

    async def _beside(
        self, owner: Owner, asked: Memory, tree: list[Memory]
    ) -> tuple[list[Memory], bool]:
        """Read the memories that the tree's memories name, as far as there is room.

        Also return whether there was room for all.
        """
        known = {memory.id for memory in tree}
        wanted = [name for name in mentioned(asked, tree) if name not in known and "." not in name]
        room = MAX_NODES - len(tree)
        memories, damaged = readable_shown(
            await self._store.memories(owner, wanted[:room]) if wanted[:room] else {}
        )
        return [memories[name] for name in wanted if name in memories], len(
            wanted
        ) <= room and not damaged
