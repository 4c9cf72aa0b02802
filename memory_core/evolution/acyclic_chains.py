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
from typing import Any

from memory_core.domain.errors import Conflict, HeadMoved
from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import Change, Changes, Result
from memory_core.ledger.readable import memory_in
from memory_core.ports import Document, LongTermStore

MAX_STEPS = 200
"""How far a chain is followed; the walks that answer callers end earlier."""
LED_ANEW = "led_anew"
"""The event of a deleted memory whose chain led back to it, and whose `next_id` is cleared."""


async def without_circles(
    store: LongTermStore,
    owner: Owner,
    changes: Changes[Result],
    documents: Mapping[str, Document],
    sequence: int,
) -> Changes[Result]:
    """Check that the changes close no circle, and clear a deleted memory's `next_id`.

    Of a circle that the changes would close, the first deleted memory loses its `next_id`. All
    memories that were walked over join the reads of the changes, so a change of them voids the
    decision.

    Args:
        store: Store to read further memories from.
        owner: Whose memories they are.
        changes: Changes of a decision.
        documents: Documents that were read for the decision, by id.
        sequence: At which they were read.

    Raises:
        Conflict: A memory would lead back to itself, over memories that are not deleted.
        HeadMoved: There is a circle because other commits changed the chain since.
        Unavailable: The store is down.

    """
    chain = _Chain(store, owner, changes, documents, sequence)
    for start in chain.moved:
        while way := await chain.circle(start):
            if chain.newer:
                raise HeadMoved(
                    "this chain of memories has changed meanwhile; try again", retry_after_s=1
                )
            states = map(chain.memory, (*way[1:], start))
            deleted = (each for each in states if each and each.status is Status.DELETED)
            fallen = next(deleted, None)
            if fallen is None:
                over = f", over {' and '.join(way[1:])}," if way[1:] else ""
                raise Conflict(f"{start} would lead{over} back to itself")
            chain.end_at(fallen)
    changes = replace(changes, changes=tuple(chain.changes))
    return (
        replace(changes, reads=changes.reads | chain.walked)
        if chain.walked - changes.reads
        else changes
    )


class _Chain:
    """The `next_id` of memories once the changes are committed, read when needed.

    `walked` holds the ids of all memories that were walked over.
    """

    def __init__(
        self,
        store: LongTermStore,
        owner: Owner,
        changes: Changes[Any],
        documents: Mapping[str, Document],
        sequence: int,
    ) -> None:
        self._store, self._owner, self._sequence = store, owner, sequence
        self._documents = {**documents}
        self.changes, self.walked, self.newer = [*changes.changes], set[str](), False
        self._states = {change.after.id: change.after for change in changes.changes}
        self._following = {
            change.after.id: None if change.removed else change.after.next_id
            for change in changes.changes
        }
        led = {
            change.before.id: change.before.next_id
            for change in reversed(changes.changes)
            if change.before is not None
        }
        self.moved = [
            name
            for name, after in self._following.items()
            if after is not None and after != led.get(name)
        ]

    async def circle(self, start: str) -> list[str]:
        """The ids along `next_id` from a memory back to it; else empty."""
        way, at = [start], self._following[start]
        while at is not None and at not in way and not is_version(at) and len(way) < MAX_STEPS:
            way.append(at)
            if at not in self._following:
                document = self._documents.get(at) or await self._read(at)
                is_memory = document is not None and document.kind == "memory"
                self._following[at] = document.body["next_id"] if document and is_memory else None
            self.walked.add(at)
            at = self._following[at]
        return way if at == start else []

    async def _read(self, name: str) -> Document | None:
        document = (await self._store.snapshot(self._owner, [name])).documents.get(name)
        if document is not None:
            self.newer |= int(document.body["revision"]) > self._sequence
            self._documents[name] = document
        return document

    def memory(self, name: str) -> Memory | None:
        """A memory that was walked over, as the changes leave it."""
        document = self._documents.get(name)
        if name in self._states or document is None or document.kind != "memory":
            return self._states.get(name)
        memory = memory_in(document)
        memory.embedding = document.vector
        return memory

    def end_at(self, fallen: Memory) -> None:
        """Clear the `next_id` of a deleted memory."""
        anew = fallen.changed(next_id=None)
        places = [
            place for place, change in enumerate(self.changes) if change.after.id == fallen.id
        ]
        if places:
            self.changes[places[-1]] = replace(self.changes[places[-1]], after=anew)
        else:
            self.changes.append(Change(LED_ANEW, anew, fallen))
        self._states[anew.id], self._following[anew.id] = anew, anew.next_id
