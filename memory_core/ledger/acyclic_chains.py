"""Chains end: no commit leads a memory, along `next_id`, back to itself.

What sets a `next_id` has reasons why that can't happen, most of them about times; here it is looked
at, whatever the reasons were. A deleted memory may lead to what fell since, though, and so back:
then it leads nowhere. What leads on in a slot is said by its log, after this. Note: looking costs
next to nothing. Nearly always the successor is new, or was read for the decision, so the walk ends
in what is known; only where it does not is something read.
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
"""The event of a deleted memory that led back to one which leads to it now, and leads
nowhere since.
"""


async def without_circles(
    store: LongTermStore,
    owner: Owner,
    changes: Changes[Result],
    documents: Mapping[str, Document],
    sequence: int,
) -> Changes[Result]:
    """The changes, resting on all that was walked over besides: a change of that voids
    the decision.

    Of a circle that they would close, the first deleted memory leads to nothing any more.
    documents: what was read for the decision, at this sequence. Raises Conflict where a memory
    would lead back to itself over none that is deleted; HeadMoved where that is because others
    changed the chain since; Unavailable.
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
    """Who leads where once the changes are committed, as far as anybody asked. walked:
    all that was walked over.
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
        """The memories that lead, one after the other, from this one back to it;
        none where they don't.
        """
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
        """One that was walked over, as the changes leave it."""
        document = self._documents.get(name)
        if name in self._states or document is None or document.kind != "memory":
            return self._states.get(name)
        memory = memory_in(document)
        memory.embedding = document.vector
        return memory

    def end_at(self, fallen: Memory) -> None:
        """Let a deleted memory lead nowhere."""
        anew = fallen.changed(next_id=None)
        places = [
            place for place, change in enumerate(self.changes) if change.after.id == fallen.id
        ]
        if places:
            self.changes[places[-1]] = replace(self.changes[places[-1]], after=anew)
        else:
            self.changes.append(Change(LED_ANEW, anew, fallen))
        self._states[anew.id], self._following[anew.id] = anew, anew.next_id
