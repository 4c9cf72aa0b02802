"""Chains end: no commit lets `next_id` lead from a memory back to itself.

The code that sets a `next_id` has its own reasons why that can't happen, most of them about times.
This module checks it whatever the reasons were. Only a deleted memory may lead to memories that
were superseded since, and so back; then its `next_id` is cleared. The log of a slot decides its
successors after this. Note: the check costs next to no time. Nearly always the successor is new, or
was read for the decision, so the walk ends in known memories. Only otherwise is a document read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from memory_core.domain.errors import Conflict, HeadMoved
from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Memory, Status
from memory_core.evolution.reads import Shelf
from memory_core.ledger.changes import Change, Changes, Result

MAX_STEPS = 200
"""How far a chain is followed; the walks that answer callers end earlier."""
LED_ANEW: Final = "led_anew"
"""The event of a deleted memory whose chain led back to it, and whose `next_id` is cleared."""


async def without_circles(shelf: Shelf, changes: Changes[Result]) -> Changes[Result]:
    """Check that the changes close no circle, and clear a deleted memory's `next_id`.

    Of a circle that the changes would close, the first deleted memory loses its `next_id`. All
    memories that were walked over join the reads of the changes, so a change of them voids the
    decision.

    Args:
        shelf: Where further memories are read.
        changes: Changes of a decision.

    Raises:
        Conflict: A memory would lead back to itself, over memories that are not deleted.
        HeadMoved: There is a circle because other commits changed the chain since.
        Unavailable: The store is down.

    """
    if all(change.after.next_id is None for change in changes.changes):
        return changes
    made, walked = [*changes.changes], set[str]()
    states = {change.after.id: None if change.removed else change.after for change in made}
    led = {change.before.id: change.before.next_id for change in reversed(made) if change.before}
    for start, after in [*states.items()]:
        if after is None or after.next_id in (None, led.get(start)):
            continue
        while way := await _circle(shelf, states, start, walked):
            if any(_is_newer(shelf, name) for name in way):
                raise HeadMoved(
                    "this chain of memories has changed meanwhile; try again", retry_after_s=1
                )
            known = (states.get(name) or shelf.memory(name) for name in (*way[1:], start))
            deleted = (each for each in known if each and each.status is Status.DELETED)
            if (fallen := next(deleted, None)) is None:
                over = f", over {' and '.join(way[1:])}," if way[1:] else ""
                raise Conflict(f"{start} would lead{over} back to itself")
            states[fallen.id] = anew = fallen.changed(next_id=None)
            places = [place for place, change in enumerate(made) if change.after.id == fallen.id]
            if places:
                made[places[-1]] = replace(made[places[-1]], after=anew)
            else:
                made.append(Change(LED_ANEW, anew, fallen))
    return replace(changes, changes=tuple(made), reads=changes.reads | walked)


async def _circle(
    shelf: Shelf, states: Mapping[str, Memory | None], start: str, walked: set[str]
) -> list[str]:
    """The ids along `next_id` from a memory back to it; else empty.

    `states` are the changed memories. The ids that are walked over are added to `walked`.
    """
    way, at = [start], _next_id(shelf, states, start)
    while at is not None and at not in way and not is_version(at) and len(way) < MAX_STEPS:
        way.append(at)
        walked.add(at)
        if at not in states:
            await shelf.read([at])
        at = _next_id(shelf, states, at)
    return way if at == start else []


def _next_id(shelf: Shelf, states: Mapping[str, Memory | None], name: str) -> str | None:
    document = None if name in states else shelf.document(name)
    if document is not None:  # which may be damaged elsewhere
        next_id: str | None = document.body["next_id"] if document.kind == "memory" else None
        return next_id
    memory = states[name] if name in states else shelf.memory(name)
    return None if memory is None else memory.next_id


def _is_newer(shelf: Shelf, name: str) -> bool:
    """Whether a memory was changed after the decision's reads."""
    document, head = shelf.document(name), shelf.read_set.head
    sequence = 0 if head is None else head.sequence
    return document is not None and int(document.body["revision"]) > sequence
