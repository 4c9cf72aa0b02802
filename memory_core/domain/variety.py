"""Which of several memories only repeat a better one: the same words, by the same speaker, of the same day.

They are pushed down, never hidden: where there is room they still stand behind all that say something else. Note:
equal words of two days are two events ("went running"), and those of two people two opinions; neither repeats the other. A statement
that is no event repeats whatever says the same, whenever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.domain.sameness import differences
from memory_core.domain.stopwords import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text import words

_COMING_AND_GOING = FUNCTION_WORDS | QUERY_WORDS
MOST_COMPARED = 8
"""With how many of those that share its words a telling is compared: more differ in nothing but the order of words."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What is compared of a memory. day: of an event ("2026-05-08"); None for a statement, which is of no day. key: of a procedural one."""

    content: str
    actor: str | None = None
    day: str | None = None
    key: str | None = None


def repeats(told: Sequence[Telling]) -> list[int]:
    """The places, in order, whose telling repeats one before it; told: the best first.

    Only those that share all words which say something are compared: a comparison takes 0.15 ms, and a hundred results have 5,000 pairs.
    """
    new: dict[object, list[Telling]] = {}
    repeated: list[int] = []
    for place, one in enumerate(told):
        if not one.content:
            continue
        alike = new.setdefault(likeness(one), [])
        if any(_of_one_day(one, other) and not differences(one.content, other.content) for other in alike[:MOST_COMPARED]):
            repeated.append(place)
        else:
            alike.append(one)
    return repeated


def likeness(one: Telling) -> tuple[object, ...]:
    """What two tellings must have in common for one to repeat the other: speaker, key, and all words that say something."""
    return one.actor, one.key, _said(one.content)


def _said(content: str) -> frozenset[str]:
    """The words of a text without those that come and go; all of them where it has no others. Stems would take 0.3 ms of ten texts."""
    found = frozenset(words(content))
    return found - _COMING_AND_GOING or found


def _of_one_day(one: Telling, other: Telling) -> bool:
    return one.day == other.day or one.day is None or other.day is None
