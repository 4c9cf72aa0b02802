"""Pages of the log: all events of a commit as a single item.

An event of its own costs as much as any small document, and most commits have several. A page has
the id of the commit's first event, which is the commit's marker, and the sequence and moment of its
last event. Filters of a query use its tags. A query returns pages that may have matching events,
and this module decides which events match.

Note: a commit of a single event writes it as an item of its own, as commits of earlier versions did
with all events. Both kinds are read everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memory_core.adapters.cosmos.items import MAX_DOCUMENTS, Item, addressed
from memory_core.domain.scope import Owner
from memory_core.ports import EventFilter

PAGE: Final = "events"
"""The kind of a page.

Outside this adapter its events are documents of the kind `event`.
"""
EVENT_KINDS: Final = ("event", PAGE)
WIDTH: Final = MAX_DOCUMENTS
"""A bound above the number of events of a page."""
WIDTH_S: Final = 0.001
"""A bound in seconds above the time between the events of a page.

The events are a microsecond apart.
"""
_PREFIX: Final = "evt_"
_TAGGED: Final = ("memory_id", "memory_type", "event_type", "correlation_id")


def page_of(owner: Owner, events: Sequence[Mapping[str, Any]]) -> Item:
    """The events of a commit as a single item. Their common fields are written once.

    Args:
        owner: The owner of the commit.
        events: The bodies of the events, in order.

    """
    first, last = events[0], events[-1]
    common = {
        name: value
        for name, value in first.items()
        if all(event[name] == value for event in events)
    }
    return addressed(owner, first["id"], PAGE) | {
        "sequence": last["sequence"],
        "epoch": first["epoch"],
        "event_at": datetime.fromisoformat(last["occurred_at"]).timestamp(),
        "tags": sorted({event[name] for event in events for name in _TAGGED} - {None}),
        "body": {
            "common": common,
            "events": [
                {name: value for name, value in event.items() if name not in common}
                for event in events
            ],
        },
    }


def are_one_commits(events: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the ids of events are those of a single commit.

    Each such id leads to the page.
    """
    base = page_id(events[0]["id"])
    names = [f"{base.removesuffix('0')}{number}" for number in range(len(events))]
    return [event["id"] for event in events] == names and base.startswith(_PREFIX)


def events_of(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The bodies of the events in an item, in order."""
    if item["kind"] != PAGE:
        return [item["body"]]
    common = item["body"]["common"]
    return [{**common, **event} for event in item["body"]["events"]]


def rewritten(owner: Owner, page: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> Item:
    """A page with some of its events replaced.

    Args:
        owner: The owner of the page.
        page: The page as it is stored.
        events: The new bodies of some of its events.

    """
    by_id = {event["id"]: event for event in events}
    return page_of(owner, [by_id.get(event["id"], event) for event in events_of(page)])


def page_id(event_id: str) -> str:
    """The id that the page of an event would have."""
    return f"{event_id.rpartition('_')[0]}_0"


def with_pages(ids: Sequence[str]) -> list[str]:
    """Ids of documents, and of the pages that may contain the events among them."""
    pages = (page_id(name) for name in ids if name.startswith(_PREFIX))
    return list(dict.fromkeys((*ids, *pages)))


def opened(items: Iterable[Item], ids: Collection[str]) -> list[Item]:
    """Items by id, with pages replaced by the items of their events.

    Args:
        items: The items, pages among them.
        ids: The requested ids.

    """
    made = list[Item]()
    for item in items:
        if item["kind"] == PAGE:
            made += [event for event in event_items(item) if event["id"] in ids]
        elif item["id"] in ids:
            made.append(item)
    return made


def event_items(page: Item) -> list[Item]:
    """The events of a page as items of their own."""
    return [
        {
            **{name: value for name, value in page.items() if name not in ("tags", "event_at")},
            "id": event["id"],
            "kind": "event",
            "sequence": event["sequence"],
            "body": event,
        }
        for event in events_of(page)
    ]


def passes(event: Mapping[str, Any], where: EventFilter | None) -> bool:
    """Whether an event matches a filter.

    Args:
        event: The body of the event.
        where: The filter; None matches every event.

    """
    if where is None:
        return True
    at = datetime.fromisoformat(event["occurred_at"])
    return (
        where.memory_id in (None, event["memory_id"])
        and where.correlation_id in (None, event["correlation_id"])
        and (not where.types or event["memory_type"] in where.types)
        and (not where.event_types or event["event_type"] in where.event_types)
        and (where.since is None or at >= where.since)
        and (where.until is None or at < where.until)
        and (where.up_to is None or event["sequence"] <= where.up_to)
    )
