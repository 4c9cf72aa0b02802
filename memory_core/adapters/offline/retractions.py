"""What a clause says is over, and slips that a speaker corrects.

Each way of saying so is turned into the clause that held before, which the table of facts can read. Note: a plain
"not" ends nothing ("I don't live in Berlin" tells of no time when that was so).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_core.adapters.offline.clauses import conjugated
from memory_core.adapters.offline.fact_patterns import Pattern

_BASES = {"living": "live", "working": "work", "studying": "study", "driving": "drive", "speaking": "speak", "learning": "learn"}
_DID = r"(?:(?:have|has)\s++)?(?:(?:just|finally|recently|already|officially)\s++)?"
_ANY_MORE = r"any ?(?:more|longer)"
_WAYS = tuple(
    re.compile(rf"\A{said}$")
    for said in (
        r"(?P<be>am|is|are)\s++no longer\s++(?P<left>.+)",
        rf"(?P<be>am|is|are)\s++not\s++(?P<left>.+?)(?<!\s)\s++{_ANY_MORE}",
        r"no longer\s++(?P<as_said>.+)",
        rf"(?:do|does)\s++not\s++(?P<left>.+?)(?<!\s)\s++{_ANY_MORE}",
        rf"{_DID}(?:stopped|quit|gave up|given up)\s++(?P<be>being)\s++(?P<left>.+)",
        rf"{_DID}(?:stopped|quit|gave up|given up)\s++(?P<verb>{'|'.join(_BASES)})\s++(?P<left>.+)",
    )
)
_AFTERWARDS = re.compile(
    r"(?<!\s)\s++(?:since\b(?s:.*)|now|these days|at the moment|at all|either|though|sadly|unfortunately|thankfully|I'm afraid|as of \w+)$",
    re.IGNORECASE,
)
_IN_PART = re.compile(r"\b(?:with|only|just|alone|full[- ]time|part[- ]time|every|always|mainly|mostly|much|often)\b")
_AS, _AS_WHERE = re.compile(r"\bas\b"), re.compile(r"\b(?:at|for|in)\b")
"""Words that may be what has ended, and not the rest: who no longer works full-time at Contoso may work there still."""
_LASTING = re.compile(r"(?:live|work|like|love|enjoy|eat|drink|smoke|play|study|speak|own|have|drive|go|teach|run)s?\b.{1,60}$")


@dataclass(frozen=True, slots=True)
class Over:
    """What is over.

    left: what held before ("live in Berlin"). told: the same in the third person, as over ("no longer lives in Berlin").
    """

    left: str
    told: str

    @property
    def lasting(self) -> bool:
        """Whether that it is over is worth a fact, even where nothing is known that it ends."""
        return _LASTING.match(self.left) is not None

    def names(self, value: str) -> bool:
        """Whether this value and nothing besides it is said to be over."""
        return not _ends_in_part(self.left) and self.left.casefold().endswith(value.casefold())


def _ends_in_part(left: str) -> bool:
    """Whether a part of the words may be all that has ended: "full-time", "as a cook in Rome"."""
    role = _AS.search(left)
    return _IN_PART.search(left) is not None or (role is not None and _AS_WHERE.search(left, role.end() + 1) is not None)


def over(clause: str, *, of_another: bool) -> Over | None:
    """What the words after a subject say is over, None when nothing is.

    of_another: the verb is in the third person.
    """
    words = _AFTERWARDS.sub("", re.sub(rf"(?<=\s)({_ANY_MORE})\s++(?:since\b(?s:.*)|now|these days)$", r"\1", clause))
    for way in _WAYS:
        match = way.match(words)
        if match is None:
            continue
        parts = match.groupdict()
        if parts.get("as_said"):
            return Over(parts["as_said"], f"no longer {parts['as_said'] if of_another else conjugated(parts['as_said'])}")
        if parts.get("be"):
            return Over(f"am {parts['left']}", f"is no longer {parts['left']}")
        left = f"{_BASES[parts['verb']]} {parts['left']}" if parts.get("verb") else parts["left"]
        return Over(left, f"no longer {conjugated(left)}")
    return None


# Slips a speaker corrects: "No, I meant Hannah" after "My sister is called Anna".
#
# Note: a slip corrects what the same speaker said in the sentence just before, and nothing earlier. Between "I live in Berlin"
# and "No, I meant Tuesday" there was something else that was meant.


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
