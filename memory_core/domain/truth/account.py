"""What counts in the log of a slot, as known at a sequence."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from operator import attrgetter

from memory_core.domain.truth.entries import (
    Entry,
    Hiding,
    Merge,
    Pair,
    Place,
    Statement,
    Trimming,
    Withdrawal,
)


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
