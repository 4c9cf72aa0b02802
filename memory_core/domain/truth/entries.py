"""The entries of a slot's log, and which of them count.

Every entry has a sequence. A log is never changed: a later entry names the entries that it takes
back, and `Account` has what is left. Note: values are compared and never shown, so a hash is
enough. Two statements of the same value must have the same hash.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

Place = tuple[int, int]
"""The position of an entry in its log: (sequence, part)."""
Key = tuple[str, int]
"""(memory, version)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The fields that all entries have.

    Attributes:
        sequence: Position of the commit in the user's log. `known_at` is compared with it, so a
            commit is known as a whole. It is 0 until the commit.
        part: Number of the entry within its commit.
        conflict_id: The conflict that this entry decides, or opens if it is a `Pair`.

    """

    sequence: int = 0
    part: int = 0
    conflict_id: str | None = None

    @property
    def place(self) -> Place:
        """Its position in its log."""
        return self.sequence, self.part


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Entry):
    """The common fields of an assertion and a retraction.

    Attributes:
        value: The value that is stated. For a retraction, it is the value that no longer holds;
            None means any value that held.
        asserted_at: When it was said, its event time; at the latest the moment of its commit.
        valid_until: Its stated end, never an end that follows from another statement.
        edits: The version of the same memory that it edits; None for a statement that is no edit.
            Note: a new value of a key has a new version too, and is no edit.
        corrects_past: Whether it edits a memory that did not hold when it was edited. Such an edit
            only corrects the last interval.
        is_forgotten: Whether all names are gone and only the moments are left. Such a statement is
            never shown, whatever sequence is known.

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
        """The memory and the version with this statement."""
        return self.memory_id, self.version

    @property
    def met_at(self) -> datetime:
        """The moment at which it repeats, or contradicts, the value that holds."""
        return max(self.asserted_at, self.valid_from)

    @property
    def order(self) -> tuple[datetime, Place]:
        """Its position in the order of saying."""
        return self.asserted_at, (self.sequence, self.part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion(Statement):
    """States that the slot has a value."""

    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction(Statement):
    """States that a value no longer holds; with the value None, any value that held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding(Entry):
    """The deletion of a memory.

    Its earlier statements are not shown, and still end values that were saved before the deletion.
    """

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Entry):
    """Memories that coexist: the last of the named memories with each of the rest.

    Most often there are two.
    """

    memory_ids: tuple[str, ...]

    @property
    def sides(self) -> Iterator[tuple[str, str]]:
        """The pairs of coexisting memories."""
        *others, last = self.memory_ids
        return ((other, last) for other in others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Entry):
    """Memories were merged into another memory, which may be in another slot.

    A merge ends no value: the merged text is asserted as well.
    """

    memory_ids: tuple[str, ...]
    into: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal(Entry):
    """Earlier entries of any kind that no longer count.

    The withdrawal of a withdrawal takes it back.
    """

    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming(Withdrawal):
    """Later statements of memories that no longer take time from other memories.

    The words of an edit stay where its own memory holds; a mention, or a later value of a key, no
    longer holds. An undo trims statements that took time from the memories that it restores.
    """


def withdrawal_entries(places: Collection[Place], conflict_id: str | None = None) -> list[Entry]:
    """The entry that withdraws the entries at some places; none without a place.

    Args:
        places: Of the entries that count no more.
        conflict_id: Of the conflict whose decision withdraws them.

    """
    return [Withdrawal(places=tuple(sorted(places)), conflict_id=conflict_id)] if places else []


def pair_entries(others: Sequence[str], memory_id: str, conflict_id: str | None) -> list[Entry]:
    """The entry that keeps a memory beside others; none without others.

    Args:
        others: The ids of the others.
        memory_id: Of the memory.
        conflict_id: Of the conflict whose decision keeps them.

    """
    return [Pair(memory_ids=(*others, memory_id), conflict_id=conflict_id)] if others else []


@dataclass(frozen=True, slots=True)
class Account:
    """The entries of a log that count, as known at a sequence.

    Attributes:
        statements: Statements that count, in the order of saying.
        withdrawn: Statements that no longer count.
        trimmed: Places of statements that take no time from other memories.
        hidden_at: For the place of a statement, the place of the first later deletion of its
            memory.
        pairs: For each memory, the memories that it coexists with.
        merged: For each memory, the last merge that names it. Memories that were asserted again
            since are left out.
        others: Hidings, pairs, merges and withdrawals that count.

    """

    statements: list[Statement]
    withdrawn: list[Statement]
    trimmed: set[Place]
    hidden_at: Mapping[Place, Place]
    pairs: Mapping[str, Set[str]]
    merged: Mapping[str, Merge]
    others: list[Entry]

    @classmethod
    def of(cls, log: Iterable[Entry], known_at: int | None = None) -> Account:
        """The account of a log.

        Args:
            log: Entries in any order.
            known_at: The last sequence that is known; None for all.

        Returns:
            The entries that count. A withdrawal that is itself withdrawn does not.

        """
        known = sorted(
            (entry for entry in log if known_at is None or entry.sequence <= known_at),
            key=attrgetter("place"),
        )
        gone, trimmed = set[Place](), set[Place]()
        for entry in reversed(known):  # from the last on: only earlier entries can be withdrawn
            if isinstance(entry, Withdrawal) and entry.place not in gone:
                named = trimmed if isinstance(entry, Trimming) else gone
                named.update(place for place in entry.places if place < entry.place)
        statements, withdrawn, others = list[Statement](), list[Statement](), list[Entry]()
        beside: defaultdict[str, set[str]] = defaultdict(set)
        merged: dict[str, Merge] = {}
        for entry in known:
            is_gone = entry.place in gone
            if isinstance(entry, Statement):
                (withdrawn if is_gone else statements).append(entry)
                if not is_gone:
                    merged.pop(entry.memory_id, None)
                continue
            if is_gone:
                continue
            others.append(entry)
            if isinstance(entry, Merge):
                merged |= dict.fromkeys(entry.memory_ids, entry)
            if isinstance(entry, Pair):
                *firsts, last = entry.memory_ids
                beside[last].update(firsts)
                for first in firsts:
                    beside[first].add(last)
        return cls(
            sorted(statements, key=attrgetter("order")),
            withdrawn,
            trimmed,
            _hidden_at([*statements, *withdrawn], others),
            beside,
            merged,
            others,
        )

    def said_by(self, memory_id: str) -> list[Statement]:
        """The statements of a memory that count, in the order of saying."""
        return [statement for statement in self.statements if statement.memory_id == memory_id]


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
            hidden[statement.place] = (sys.maxsize, 0)
    return hidden
