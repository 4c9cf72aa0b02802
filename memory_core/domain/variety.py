"""Which of several memories only repeat a better one: the same words, by the same speaker, of the same day.

They are pushed down, never hidden: where there is room they still stand behind all that say something else. What a reader would get wrong:
equal words of two days are two events ("went running"), and those of two people two opinions; neither repeats the other. A statement
that is no event repeats whatever says the same, whenever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.domain.sameness import same_statement
from memory_core.domain.text import words

LEAST_SHARED = 0.5
"""The share of their words that two texts must have in common to be compared at all: the comparison takes fifty times as long."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What is compared of a memory. day: of an event ("2026-05-08"); None for a statement, which is of no day. key: of a procedural one."""

    content: str
    actor: str | None = None
    day: str | None = None
    key: str | None = None


def repeats(told: Sequence[Telling]) -> list[int]:
    """The places, in order, whose telling repeats one before it; told: the best first."""
    said = [frozenset(words(one.content)) for one in told]
    new: list[int] = []
    repeated: list[int] = []
    for place, one in enumerate(told):
        near = (other for other in new if _shared(said[place], said[other]) >= LEAST_SHARED)
        again = bool(one.content) and any(_repeats(one, told[other]) for other in near)
        (repeated if again else new).append(place)
    return repeated


def _shared(ours: frozenset[str], theirs: frozenset[str]) -> float:
    both = len(ours & theirs)
    return both / (len(ours) + len(theirs) - both) if both else float(ours == theirs)


def _repeats(one: Telling, better: Telling) -> bool:
    of_one_day = one.day == better.day or one.day is None or better.day is None
    return (one.actor, one.key) == (better.actor, better.key) and of_one_day and same_statement(one.content, better.content)
