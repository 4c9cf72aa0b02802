"""Slips a speaker corrects: "No, I meant Hannah" after "My sister is called Anna".

Note: a slip corrects what the same speaker said in the sentence just before, and nothing earlier. Between "I live in Berlin"
and "No, I meant Tuesday" there was something else that was meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_core.adapters.offline.fact_patterns import Pattern

_SLIP = re.compile(
    r"\A(?:(?:no|nope|sorry|oops|wait|ah|oh|my mistake|correction|actually|pardon)\b[\s,.!:;–—-]*+)+"
    r"I (?:meant to (?:say|write|type)|meant|mean|should have (?:said|written))[:,]?\s++(?P<meant>.+)",
    re.IGNORECASE,
)
_NOT = re.compile(r"(?:[,;]|(?<!\s)(?=\s))\s++(?:and\s++)?not ", re.IGNORECASE)
_MARKS, _STOPS = ",;", ".!…"


@dataclass(frozen=True, slots=True)
class Match:
    """A row of the table, the parts of a sentence that it read, and of whom."""

    row: Pattern
    groups: dict[str, str]
    subject: str


def put_right(sentence: str, before: Sequence[Match]) -> tuple[Match, Match] | None:
    """The fact of the previous sentence that this one takes back, and its replacement.

    The fact whose value it names as a slip, else the last; None for a sentence that corrects none of them.
    """
    match = _SLIP.match(sentence.strip())
    if match is None:
        return None
    parts = _value_and_slip(match["meant"])
    if parts is None:
        return None
    meant, slip = _unquoted(parts[0]), _unquoted(parts[1]).casefold()
    slips = [one for one in before if not slip or one.groups["value"].casefold() == slip]
    value = slips[-1].row.shape(meant) if slips else None
    return None if value is None else (slips[-1], replace(slips[-1], groups={**slips[-1].groups, "value": value}))


def _value_and_slip(meant: str) -> tuple[str, str] | None:
    """Hannah and Anna, of "Hannah, not Anna."; no slip where none is named, None where more clauses follow."""
    marks = sum(meant.count(mark) for mark in _MARKS)
    for match in _NOT.finditer(meant):
        if match.start() > 0 and match.end() < len(meant) and (match.group()[0] in _MARKS) == (marks == 1) and marks < 2:
            slip = meant[match.end() :]
            return meant[: match.start()], slip.rstrip(_STOPS) or slip[0]
    return None if marks else (meant.rstrip(_STOPS) or meant[0], "")


def _unquoted(words: str) -> str:
    return words.strip(" \"'“”")
