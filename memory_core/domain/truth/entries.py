"""The entries of a slot's log: what was said, and what became of it later.

Every entry has a sequence. Nothing is changed in a log: what is taken back is named by a later
entry. Note: values are compared and never shown, so a hash serves; two statements of one value must
have the same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

Place = tuple[int, int]
"""Where an entry is in its log: (sequence, part)."""
Key = tuple[str, int]
"""(memory, version)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What all entries have.

    sequence: position of the commit in the user's log; `known_at` is compared with it, so a commit
    is known as a whole. 0 until then. part: number of the entry within its commit. conflict_id: the
    conflict that this entry decides, or opens if it is a `Pair`.
    """

    sequence: int = 0
    part: int = 0
    conflict_id: str | None = None

    @property
    def place(self) -> Place:
        """Where it is in its log."""
        return self.sequence, self.part


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Entry):
    """What an assertion and a retraction have in common.

    value: what it says; of a retraction the value that no longer holds, None for whatever held.
    asserted_at: when it was said, at the latest when it was committed (`asserted_at` below).
    valid_until: its stated end; never one that follows from another statement. edits: the version
    of the same memory that it edits; None for what is not an edit. Note: a key's new value raises
    the version too, and is no edit. corrects_past: an edit of a memory that did not hold when it
    was edited: it puts the last interval right, and no more. is_forgotten: all names are gone, only
    the moments are left; it never shows, whatever sequence is known.
    """

    memory_id: str
    version: int = 1
    value: str | None
    asserted_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    edits: int | None = None
    corrects_past: bool = False
    is_forgotten: bool = False

    @property
    def key(self) -> Key:
        """The memory, and which version of it, says this."""
        return self.memory_id, self.version

    @property
    def met_at(self) -> datetime:
        """The moment at which it repeats, or contradicts, what holds."""
        return max(self.asserted_at, self.valid_from)

    @property
    def order(self) -> tuple[datetime, Place]:
        """Its position in the order of saying."""
        return self.asserted_at, (self.sequence, self.part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion(Statement):
    """Says that the slot has a value."""

    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction(Statement):
    """Says that a value no longer holds; with the value None that whatever held does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding(Entry):
    """A memory was deleted: its statements so far show nothing, and still end what was saved before
    the deletion.
    """

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Entry):
    """Memories are kept side by side: the last of those named with each of the others.
    Most often there are two.
    """

    memory_ids: tuple[str, ...]

    @property
    def sides(self) -> Iterator[tuple[str, str]]:
        """The pairs that it stands for."""
        *others, last = self.memory_ids
        return ((other, last) for other in others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Entry):
    """Memories were merged into another one, which may be in another slot. It ends nothing: the
    merged text is asserted as well.
    """

    memory_ids: tuple[str, ...]
    into: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal(Entry):
    """Earlier entries of any kind count no more; withdrawing a withdrawal takes it back."""

    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming(Withdrawal):
    """Edits and mentions take no time from other memories any more: the words of an edit stay,
    where its own memory holds. An undo trims those that took time from what it restores.
    """


def asserted_at(event_time: datetime, occurred_at: datetime) -> datetime:
    """When something was said: its event time, at the latest the moment of its commit."""
    return min(event_time, occurred_at)
