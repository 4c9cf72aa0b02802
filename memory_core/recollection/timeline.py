"""The timeline: a user's events in order, a page at a time. Its cursors are never void for what is written meanwhile: a log only grows."""

from __future__ import annotations

from memory_core.domain.models import MemoryType
from memory_core.domain.results import EventPage
from memory_core.domain.scope import Owner
from memory_core.domain.time_requests import TimelineInput
from memory_core.ledger.cursors import Cursors
from memory_core.ports import EventFilter, LongTermStore, Place

_MEMORY_TYPES = frozenset(MemoryType)


class Timeline:
    """Reads the log of any owner."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, owner: Owner, query: TimelineInput) -> EventPage:
        """One page of events, oldest first. Raises Malformed for a void cursor."""
        bound = {"list": "timeline", **query.model_dump(mode="json", exclude={"cursor", "limit"}, exclude_none=True)}
        head = (await self._store.snapshot(owner)).head
        place = self._cursors.read(owner, head, bound, query.cursor)
        if head is None or head.state == "erasing":
            return EventPage((), None)
        events = await self._store.events(owner, 0 if place is None else place.sequence, query.limit + 1, _filter(query))
        events_shown, more = events[: query.limit], len(events) > query.limit
        cursor = self._cursors.make(owner, head, bound, Place(events_shown[-1].sequence, events_shown[-1].id)) if more else None
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
