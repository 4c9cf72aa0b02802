"""Accesses of a user that wait in a document to be added to memories.

A memory is a large document, and a memory that was shown is often shown again. So accesses are
merged into a small document, and added to the memories a day after the first of them by the hourly
work. They are added at once if there are many, and before a memory among them fades. Accesses of
memories that count as faded are added at once, because they bring the memories back. Note: accesses
leave the document in the commit that adds them, so a crash counts none twice.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Final, NamedTuple, TypeGuard

from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import AccessCount, Clock, Document, LongTermStore

DOCUMENT_ID: Final = "acs_waiting"
ADDED_AFTER: Final = timedelta(days=1)
"""How long accesses wait. Readers see the number of accesses that much later, plus an hour, at
most.
"""
MOST_WAITING: Final = 300
"""Memories in the document; if there are more, all are added at once. About 16 KB, so that writing
it stays cheaper than writing a memory.
"""
_MOST_LEFT: Final = 10 * MOST_WAITING
"""Memories up to which the document grows while accesses can't be added; about 160 KB."""
_ADDED_AT_ONCE = 90
_FLUSHES_KNOWN = 12
"""Flushes that the document remembers, so that a flush whose answer was lost is not merged twice.
"""
_TRIES, _PAUSE_S = 6, 0.02
log = logging.getLogger(__name__)


class WrittenAccesses(NamedTuple):
    """The result of writing accesses.

    Attributes:
        memories: How many memories have accesses that were written.
        added: How many of these memories got their accesses added.

    """

    memories: int = 0
    added: int = 0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The content of the document.

    Attributes:
        epoch: Epoch of the owner.
        counts: Waiting accesses, by memory id.
        first_at: When the first of them began to wait; None if there are none.
        flushes: How many memories of each flush were merged, in the order of their ids.
        urgent: Some accesses are to be added at once.

    """

    epoch: str
    counts: Mapping[str, AccessCount] = field(default_factory=dict)
    first_at: datetime | None = None
    flushes: tuple[tuple[str, int], ...] = ()
    urgent: bool = False

    @classmethod
    def of(cls, document: Document | None, head: Head) -> _Waiting:
        """The stored content; empty if it is of an earlier epoch."""
        if document is None or document.body["epoch"] != head.epoch:
            return cls(head.epoch)
        body = document.body
        counts = {
            name: AccessCount(count, _moment(at), bool(faded))
            for name, (count, at, *faded) in body["touches"].items()
        }
        first_at = None if body["first_s"] is None else _moment(body["first_s"])
        flushes = tuple((name, merged) for name, merged in body["flushes"])
        # the process that was to add them at once failed
        urgent = body["due_s"] is not None and body["due_s"] <= body["first_s"]
        return cls(head.epoch, counts, first_at, flushes, urgent)

    def document(self, tag: str | None) -> Document:
        """The document, to be written in the place of the document with this tag."""
        due_at = (
            None
            if self.first_at is None
            else self.first_at + (timedelta(0) if self.urgent else ADDED_AFTER)
        )
        body: dict[str, Any] = {
            "epoch": self.epoch,
            "touches": {name: _numbers(access) for name, access in sorted(self.counts.items())},
            "first_s": None if self.first_at is None else self.first_at.timestamp(),
            "due_s": None if due_at is None else due_at.timestamp(),
            "flushes": [list(known) for known in self.flushes],
        }
        return Document(DOCUMENT_ID, "accesses", body, tag=tag)

    def merged(self, flush_id: str) -> int:
        """How many memories of a flush are in it already, or were."""
        return dict(self.flushes).get(flush_id, 0)

    def with_accesses(
        self, flush_id: str, counts: Mapping[str, AccessCount], end: int, now: datetime
    ) -> _Waiting:
        """Merge further accesses of a flush.

        `end` is the number of the flush's memories that are merged with these.
        """
        together = dict(self.counts)
        for name, access in counts.items():
            known = together.get(name)
            together[name] = access if known is None else add_counts(known, access)
        others = [known for known in self.flushes if known[0] != flush_id]
        flushes = (*others, (flush_id, end))[-_FLUSHES_KNOWN:]
        urgent = (
            self.urgent
            or any(access.faded for access in counts.values())
            or len(together) > MOST_WAITING
        )
        return replace(
            self,
            counts=together,
            first_at=min(self.first_at or now, now),
            flushes=flushes,
            urgent=urgent,
        )

    def without(self, names: Collection[str]) -> _Waiting:
        """The content without these memories.

        The remaining accesses can wait, unless some are of faded memories: adding these failed, or
        is about to be done.
        """
        rest = {name: access for name, access in self.counts.items() if name not in names}
        urgent = any(access.faded for access in rest.values())
        return replace(self, counts=rest, first_at=self.first_at if rest else None, urgent=urgent)


class WaitingAccesses:
    """Keeps accesses of any owner, and adds them to the memories. All calls raise Unavailable."""

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def merge(
        self, owner: Owner, flush_id: str, counts: Mapping[str, AccessCount]
    ) -> WrittenAccesses:
        """Write accesses, once for each flush, and add urgent accesses to their memories.

        Accesses that can't be added stay due without an error. With an error, callers would repeat
        a flush that is already written, and the document may no longer know it after further
        flushes.

        Args:
            owner: Whose memories they are.
            flush_id: Id of the flush; the same for each try.
            counts: Accesses by memory id.

        """
        names, total, end = sorted(counts), WrittenAccesses(), 0
        while end < len(names):
            document, begin, end = await self._merge_some(owner, flush_id, names, counts, end)
            if document is None:
                return total
            waiting = len(document.body["touches"])
            urgent = (
                None
                if waiting > MOST_WAITING
                else [name for name in names[:end] if counts[name].faded]
            )
            try:
                added = await self.add(owner, urgent)
            except Unavailable as error:
                if waiting > _MOST_LEFT:
                    raise
                log.warning(
                    "accesses that are written down are left for the hour's work to add: %s",
                    error.detail,
                )
                added = 0
            total = WrittenAccesses(total.memories + end - begin, total.added + added)
        return total

    async def add(self, owner: Owner, names: Collection[str] | None = None) -> int:
        """Add waiting accesses to their memories.

        Args:
            owner: Whose memories they are.
            names: Ids of the memories; None for all.

        Returns:
            The number of memories that got accesses.

        """
        if names is not None and not names:
            return 0
        return (await self._add(owner, lambda waiting: names))[0]

    async def add_due(self, owner: Owner) -> tuple[int, Head | None]:
        """Add all waiting accesses if they are due.

        Returns the number of memories, and the head as it was then.
        """
        now = self._clock.now()
        return await self._add(
            owner, lambda due_at: None if due_at is not None and due_at <= now else ()
        )

    async def _merge_some(
        self,
        owner: Owner,
        flush_id: str,
        names: list[str],
        counts: Mapping[str, AccessCount],
        done: int,
    ) -> tuple[Document | None, int, int]:
        """Merge the next memories of a flush into the document.

        Returns the document, and the first and the end of the merged range of names; the document
        is None if the user is gone. `done` is the number of names that this call has merged
        already. The document may no longer know it if other processes merge, too.
        """
        for attempt in range(_TRIES):
            try:
                seen = await self._store.snapshot(owner, [DOCUMENT_ID])
                if not _has_memories(seen.head):
                    return None, 0, 0
                stored = seen.documents.get(DOCUMENT_ID)
                waiting = _Waiting.of(stored, seen.head)
                begin = max(done, waiting.merged(flush_id))
                if begin >= len(names) and stored is not None:
                    return stored, begin, begin
                some = names[begin : begin + MOST_WAITING]
                end = begin + len(some)
                further = waiting.with_accesses(
                    flush_id, {name: counts[name] for name in some}, end, self._clock.now()
                )
                written = await self._store.keep(
                    owner, further.document(None if stored is None else stored.tag)
                )
                if written is not None:
                    return written, begin, end
            except Unavailable:
                if attempt == _TRIES - 1:
                    raise
            await _pause(attempt)
        raise Unavailable("long_term", "others write down accesses of this user all the time")

    async def _add(
        self, owner: Owner, wanted: Callable[[datetime | None], Collection[str] | None]
    ) -> tuple[int, Head | None]:
        """Add waiting accesses until none are wanted.

        `wanted` receives the time when they are due, and returns the ids to add; None for all.
        """
        added = attempt = 0
        while attempt < _TRIES:
            seen = await self._store.snapshot(owner, [DOCUMENT_ID])
            stored = seen.documents.get(DOCUMENT_ID)
            if stored is None or not _has_memories(seen.head):
                return added, seen.head
            waiting = _Waiting.of(stored, seen.head)
            due_s = stored.body["due_s"]
            names = wanted(None if due_s is None else _moment(due_s))
            some = sorted(waiting.counts if names is None else waiting.counts.keys() & set(names))[
                :_ADDED_AT_ONCE
            ]
            if not some:
                return added, seen.head
            left = waiting.without(some)
            if names is None and left.counts:
                left = replace(left, urgent=True)  # after a crash the next process adds the rest
            if (
                await self._store.fold(
                    owner, left.document(stored.tag), {name: waiting.counts[name] for name in some}
                )
                is None
            ):
                attempt += 1
                await _pause(attempt)
            else:
                added += len(some)
        raise Unavailable("long_term", "others write down accesses of this user all the time")


def add_counts(known: AccessCount, further: AccessCount) -> AccessCount:
    """The accesses of a memory together.

    Args:
        known: Earlier accesses.
        further: Later accesses.

    """
    return AccessCount(
        known.count + further.count, max(known.at, further.at), known.faded or further.faded
    )


def _numbers(access: AccessCount) -> list[float]:
    """An access as it is stored; a third number marks a faded memory."""
    return [access.count, access.at.timestamp(), *([1] if access.faded else [])]


def _has_memories(head: Head | None) -> TypeGuard[Head]:
    """Whether a user may have memories.

    After an erasure no documents are written beside the head, which expires.
    """
    return head is not None and head.state == "live" and head.expires_at is None


async def _pause(attempt: int) -> None:
    await asyncio.sleep(_PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
