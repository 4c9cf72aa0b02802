"""The rules that complete every commit: of chains, of slots, of pending conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from memory_core.domain.errors import Conflict, HeadMoved
from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.evolution.open_conflicts import SETTLED, followed, left_open, settled, unsettled
from memory_core.evolution.reads import Shelf
from memory_core.evolution.slot_commits import with_slots
from memory_core.ledger.changes import Change, Changes, Result
from memory_core.ledger.commit_hooks import PostponedDecision
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Clock, LongTermStore


class MemoryRules:
    """What follows from changes of memories, for any owner (`ledger.commit.CommitRules`)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def complete(
        self,
        store: LongTermStore,
        owner: Owner,
        changes: Changes[Result],
        read_set: ReadSet,
        *,
        is_part: bool,
    ) -> Changes[Result]:
        """The changes, with what follows from them in chains and slots.

        Args:
            store: Where further documents are read.
            owner: Whose memories they are.
            changes: As they were decided.
            read_set: The read set of the decision.
            is_part: Whether they belong to another commit, which completes the slots.

        Raises:
            Conflict: A chain would lead back to itself, or the log of a slot refuses an operation.
            HeadMoved: Other commits changed a chain since.
            SealedEntries: A change reaches back to sealed entries that were not read.
            Unavailable: The store is down.
            WithoutLog: A slot needs a log first.

        """
        shelf = Shelf(store, owner, read_set)
        bare = await without_circles(shelf, changes)
        return bare if is_part else await with_slots(shelf, bare)

    async def settle(
        self, store: LongTermStore, owner: Owner, changes: Changes[Result]
    ) -> Changes[Result]:
        """The completed changes, with their effects on pending conflicts.

        Args:
            store: Where records and memories are read.
            owner: Whose memories they are.
            changes: As `complete` returned them.

        Raises:
            Unavailable: The store is down.

        """
        return await settled(store, owner, changes, self._clock.now())

    async def reduce(
        self, store: LongTermStore, owner: Owner, changes: Changes[Result]
    ) -> Changes[Result] | None:
        """The completed changes, with fewer effects on pending conflicts.

        No pending conflict is ended; changes that only end some end a single one.

        Args:
            store: Where records and memories are read.
            owner: Whose memories they are.
            changes: As `complete` returned them.

        Returns:
            None if they can't be reduced.

        Raises:
            Unavailable: The store is down.

        """
        if all(change.event_type == SETTLED for change in changes.changes):
            less = await settled(store, owner, changes, self._clock.now(), most=1)
        else:
            less = followed(changes)
        return less if unsettled(less) else None

    def endings(self, changes: Changes[Result]) -> Iterator[PostponedDecision]:
        """Decisions that end pending conflicts for which a commit had no room.

        A memory names its pending conflicts until they are ended. So if this process dies before
        these commits, the next commit that writes the memory ends them.
        """
        for name in left_open(changes):

            def ending(read_set: ReadSet, name: str = name) -> Changes[None]:
                memory = read_set.memory(name)
                marks = () if memory is None else (Change(SETTLED, memory, memory),)
                wanted = Changes(None, marks, reads=frozenset({name}))
                return wanted if left_open(wanted) else Changes(None)

            yield PostponedDecision(name, ending)


# Chains end: no commit lets `next_id` lead from a memory back to itself.
#
# The code that sets a `next_id` has its own reasons why that can't happen, most of them about
# times. This checks it whatever the reasons were. Only a deleted memory may lead to memories that
# were superseded since, and so back; then its `next_id` is cleared. The log of a slot decides its
# successors after this. Note: the check costs next to no time. Nearly always the successor is new,
# or was read for the decision, so the walk ends in known memories. Only otherwise is a document
# read.


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
