"""The entries of a slot's log: what was said, and what became of it later.

Every entry has a sequence. Nothing is changed in a log: what is taken back is named by a later
entry. Note: values are compared and never shown, so a hash serves; two statements of one value must
have the same one.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

Place = tuple[int, int]
"""Where an entry is in its log: (sequence, part)."""
Key = tuple[str, int]
"""(memory, version)."""
_AFTER_ALL: Place = (sys.maxsize, 0)


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


def asserted_at(event_time: datetime, occurred_at: datetime) -> datetime:
    """When something was said: its event time, at the latest the moment of its commit."""
    return min(event_time, occurred_at)


@dataclass(frozen=True, slots=True)
class Account:
    """What counts in a log, as known at a sequence.

    statements: those that count, in the order of saying. withdrawn: statements that count no more.
    hidden_at: by the place of a statement, the place of the first deletion of its memory that came
    after it. pairs: by memory, those that it is kept beside. merged: by memory, the merge that was
    the last to name it; only memories that were not asserted again since. others: the hidings,
    pairs, merges and withdrawals that count.
    """

    statements: list[Statement]
    withdrawn: list[Statement]
    hidden_at: Mapping[Place, Place]
    pairs: Mapping[str, frozenset[str]]
    merged: Mapping[str, Merge]
    others: list[Entry]

    @classmethod
    def of(cls, log: Iterable[Entry], known_at: int | None = None) -> Account:
        """The account of a log.

        Args:
            log: entries in any order.
            known_at: the last sequence that is known; None for all.

        Returns:
            What counts. A withdrawal that is itself withdrawn counts for nothing.

        """
        known = sorted(
            (entry for entry in log if known_at is None or entry.sequence <= known_at),
            key=attrgetter("place"),
        )
        gone = _withdrawn_places(known)
        counting = [entry for entry in known if entry.place not in gone]
        statements = [entry for entry in counting if isinstance(entry, Statement)]
        others = [entry for entry in counting if not isinstance(entry, Statement)]
        withdrawn = [
            entry for entry in known if isinstance(entry, Statement) and entry.place in gone
        ]
        return cls(
            sorted(statements, key=attrgetter("order")),
            withdrawn,
            _hidden_at([*statements, *withdrawn], others),
            _pairs(others),
            _merged(counting),
            others,
        )

    def said_by(self, memory_id: str) -> list[Statement]:
        """The statements of a memory that count, in the order of saying."""
        return [statement for statement in self.statements if statement.memory_id == memory_id]


def _withdrawn_places(known: list[Entry]) -> set[Place]:
    gone: set[Place] = set()
    for entry in reversed(known):  # from the last on: only earlier entries can be withdrawn
        if isinstance(entry, Withdrawal) and entry.place not in gone:
            gone.update(place for place in entry.places if place < entry.place)
    return gone


def _hidden_at(statements: list[Statement], others: list[Entry]) -> dict[Place, Place]:
    deletions: defaultdict[str, list[Place]] = defaultdict(list)
    for entry in others:
        if isinstance(entry, Hiding):
            deletions[entry.memory_id].append(entry.place)
    hidden: dict[Place, Place] = {}
    for statement in statements:
        places = deletions.get(statement.memory_id)
        if places and statement.place < places[-1]:
            hidden[statement.place] = places[bisect_right(places, statement.place)]
        elif statement.is_forgotten:
            hidden[statement.place] = _AFTER_ALL
    return hidden


def _pairs(others: list[Entry]) -> dict[str, frozenset[str]]:
    beside: defaultdict[str, set[str]] = defaultdict(set)
    for entry in others:
        for first, second in entry.sides if isinstance(entry, Pair) else ():
            beside[first].add(second)
            beside[second].add(first)
    return {memory_id: frozenset(names) for memory_id, names in beside.items()}


def _merged(counting: list[Entry]) -> dict[str, Merge]:
    merged: dict[str, Merge] = {}
    for entry in counting:
        if isinstance(entry, Merge):
            merged |= dict.fromkeys(entry.memory_ids, entry)
        elif isinstance(entry, Statement):
            merged.pop(entry.memory_id, None)
    return merged
