"""Slips that a speaker puts right: "No, I meant Hannah" after "My sister is called Anna".

One would get wrong: it corrects what the same speaker said in the sentence just before, and nothing earlier. Between "I live in Berlin"
and "No, I meant Tuesday" there was something else that was meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_core.adapters.offline.fact_patterns import Pattern

_SLIP = re.compile(
    r"(?:(?:no|nope|sorry|oops|wait|ah|oh|oh no|my mistake|correction|actually|pardon)\b[\s,.!:;–—-]*)+"
    r"I (?:meant to (?:say|write|type)|meant|mean|should have (?:said|written))[:,]?\s+(?P<value>[^,;]+?)"
    r"(?:[,;]?\s+(?:and\s+)?not (?P<slip>[^,;]+?))?[.!…]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Match:
    """A row of the table, the parts of a sentence that it read, and of whom."""

    row: Pattern
    groups: dict[str, str]
    subject: str


def put_right(sentence: str, before: Sequence[Match]) -> tuple[Match, Match] | None:
    """Which of the facts that somebody told in the sentence before this one takes back, and what it tells instead.

    The one whose value it names as a slip, else the last; None for a sentence that corrects none of them.
    """
    match = _SLIP.match(sentence.strip())
    if match is None:
        return None
    meant, slip = _unquoted(match["value"]), _unquoted(match["slip"] or "").casefold()
    slips = [one for one in before if not slip or one.groups["value"].casefold() == slip]
    value = slips[-1].row.shape(meant) if slips else None
    return None if value is None else (slips[-1], replace(slips[-1], groups={**slips[-1].groups, "value": value}))


def _unquoted(words: str) -> str:
    return words.strip(" \"'“”")
