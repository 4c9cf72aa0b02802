"""Recognise retractions, and slips that a speaker corrects.

A clause that retracts a state is rewritten as the clause that held before, which the table of facts
can read. Note: a plain "not" is no retraction ("I don't live in Berlin" doesn't say that the
speaker once did).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_core.adapters.offline.fact_patterns import Pattern
from memory_core.adapters.offline.voice import base_form, conjugated
from memory_core.domain.statements.appointment_words import EXCUSES
from memory_core.domain.statements.denied_states import HALTS, SAYS_OVER, TIMES_LAST

_DID = r"(?:(?:have|has)\s++)?(?:(?:just|finally|recently|already|officially)\s++)?"
_STOPPED = r"(?:stopped|quit|gave up|given up|ceased)"
_ANY_MORE = r"any ?(?:more|longer)"
_WAYS = tuple(
    re.compile(rf"\A{expression}$")
    for expression in (
        r"(?P<be>am|is|are)\s++no longer\s++(?P<left>.+)",
        r"no longer\s++(?P<as_said>.+)",
        rf"{_DID}ceased to\s++(?P<left>.+)",
        rf"{_DID}{_STOPPED}\s++(?P<be>being)\s++(?P<left>.+)",
        rf"{_DID}{_STOPPED}\s++(?P<verb>[a-z]{{3,20}}ing)\s++(?P<left>.+)",
    )
)
_WAYS_WITH_TIME = tuple(
    re.compile(rf"\A{expression}$")
    for expression in (
        r"(?P<be>am|is|are)\s++not\s++(?P<left>.+)",
        rf"(?:do|does)\s++not\s++(?:{_ANY_MORE}\s++)?(?P<left>.+)",
        r"(?:have|has)\s++not\s++(?P<verb>(?:liv|work|own|us|play|study|studi|smok)ed)\s++(?P<left>.+)",
    )
)
"""What is over only with a time since when, or with "any more"."""
_IN_PART = re.compile(
    r"\b(?:with|only|just|alone|full[- ]time|part[- ]time|every|always|mainly|mostly|much|often"
    r"|late|early|nights|weekends|overtime)\b"
    r"|\A(?!am )[a-z]{1,20} (?:[\w'’-]{1,30} ){1,3}(?:to|on|by|during|without|before|after) "
)
_AS, _AS_WHERE = re.compile(r"\bas\b"), re.compile(r"\b(?:at|for|in)\b")
"""Words that may be over by themselves.

A person that no longer works full-time at Contoso may still work there.
"""
_LASTING = re.compile(
    r"(?:live|work|like|love|enjoy|eat|drink|smoke|play|study|speak|own|have|drive|go|teach"
    r"|run)s?\b.{1,60}$"
)


@dataclass(frozen=True, slots=True)
class Over:
    """The retraction in a clause.

    Attributes:
        left: The words that held before ("live in Berlin").
        summary: The retraction in the third person ("no longer lives in Berlin").
        doing: The words that held before as what one was doing ("am living in Berlin"), or "".

    """

    left: str
    summary: str
    doing: str = ""

    @property
    def lasting(self) -> bool:
        """Whether the retraction is a fact even where no known fact is retracted."""
        return _LASTING.match(self.left) is not None

    @property
    def in_part(self) -> bool:
        """Whether a part of the words may alone be over."""
        return _ends_in_part(self.left)

    def names(self, value: str) -> bool:
        """Whether the retraction is of this value as a whole."""
        return not self.in_part and self.left.casefold().endswith(value.casefold())


def _ends_in_part(left: str) -> bool:
    """Whether a part of the words may alone be over, as "full-time"."""
    role = _AS.search(left)
    return _IN_PART.search(left) is not None or (
        role is not None and _AS_WHERE.search(left, role.end() + 1) is not None
    )


def over(clause: str, *, of_another: bool) -> Over | None:
    """Read the retraction in the words after a subject; None for no retraction.

    Args:
        clause: The words.
        of_another: Whether the verb is in the third person.

    """
    times = TIMES_LAST.search(clause)
    words, when = (clause, "") if times is None else (clause[: times.start()], times.group())
    if HALTS.search(clause) is not None:
        return None
    for way in (*_WAYS, *(_WAYS_WITH_TIME if SAYS_OVER.search(when) else ())):
        match = way.match(words)
        if match is None:
            continue
        parts = match.groupdict()
        if parts.get("as_said"):
            return Over(
                parts["as_said"],
                f"no longer {parts['as_said'] if of_another else conjugated(parts['as_said'])}",
            )
        if parts.get("be"):
            return Over(f"am {parts['left']}", f"is no longer {parts['left']}")
        if verb := parts.get("verb"):
            left = f"{base_form(verb)} {parts['left']}"
            return Over(left, f"no longer {conjugated(left)}", f"am {verb} {parts['left']}")
        return Over(parts["left"], f"no longer {conjugated(parts['left'])}")
    return None


_STOPPED_IN_GERMAN = re.compile(
    r"(?:(?:[\wäöüß.]{2,12} ){1,3}habe? ich|[Ii]ch habe?)(?: [\wäöüß.]{2,12}){0,4} aufgehört,?"
    r"(?P<what>(?: [\wäöüÄÖÜß.&'-]{1,30}){0,6}) zu (?P<verb>[a-zäöü]{3,20})n(?=[,;.!]|\Z| und\b)"
)


def without_stopping(sentence: str) -> str:
    """Write what a German speaker stopped doing as what is no longer done.

    Args:
        sentence: "Ich habe im Mai aufgehört, bei Otto zu arbeiten."

    Returns:
        "Ich arbeite nicht mehr bei Otto."; another sentence as it is.

    """
    match = _STOPPED_IN_GERMAN.match(sentence)
    if match is None or HALTS.search(sentence) is not None:
        return sentence
    verb = match["verb"] if match["verb"].endswith("e") else f"{match['verb']}e"
    return f"Ich {verb} nicht mehr{match['what']}{sentence[match.end() :]}"


# Corrections of slips: "No, I meant Hannah" after "My sister is called Anna".
#
# Note: only facts of the same speaker's previous sentence are corrected. After an earlier "I live
# in Berlin", "No, I meant Tuesday" is about another subject.


_OPENS_SLIP = rf"(?:(?:no|nope|ah|oh|my mistake|pardon|autocorrect|typo|{EXCUSES})\b[\s,.!:;–—-]*+)"
_WRONG = (
    r"(?:that|it|which)(?:['’]s| is| was) (?:wrong|a mistake|not (?:true|right|correct))[\s.!]*\Z"
)
_WAS_WRONG = re.compile(
    rf"\A{_OPENS_SLIP}*(?:I (?:told you|said)(?: yesterday| before| last time)?(?: that)? "
    rf"(?P<said>[^,;]{{5,80}})[,;] (?:but |and )?)?{_WRONG}",
    re.IGNORECASE,
)
_SLIP = re.compile(
    rf"\A{_OPENS_SLIP}+"
    r"(?P<means>I (?:meant to (?:say|write|type)|meant|mean|should have (?:said"
    r"|written))[:,]?\s++)?(?:it(?:['’]s| is)\s++)?(?P<meant>.+)",
    re.IGNORECASE,
)
"""Without "I meant", the sentence has to name the slip: "Sorry, Emma, not Ella."."""
_NOT = re.compile(r"(?:[,;]|(?<!\s)(?=\s))\s++(?:and\s++)?not ", re.IGNORECASE)
_MARKS, _STOPS = ",;", ".!…"


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A row of the table that matched, the groups of its match, and the subject."""

    row: Pattern
    groups: dict[str, str]
    subject: str


def says_wrong(sentence: str) -> str | None:
    """What a sentence says was wrong, and nothing else.

    Args:
        sentence: The sentence.

    Returns:
        "I live in Rome", of "I told you I live in Rome, that was wrong"; empty for the sentence
        before ("Sorry, that was wrong"); None for another sentence.

    """
    match = _WAS_WRONG.match(sentence.strip())
    return None if match is None else match["said"] or ""


def put_right(
    sentence: str, before: Sequence[PatternMatch]
) -> tuple[PatternMatch, PatternMatch] | None:
    """Correct a fact of the previous sentence.

    It is the fact whose value the sentence names as a slip, else the last fact.

    Args:
        sentence: The sentence.
        before: The facts of the previous sentence.

    Returns:
        (the fact, its replacement); None for a sentence that corrects no fact.

    """
    match = _SLIP.match(sentence.strip())
    if match is None:
        return None
    parts = _value_and_slip(match["meant"]) or _value_before_slip(match["meant"], before)
    if parts is None or not (match["means"] or _takes_its_place(*parts)):
        return None
    meant, slip = _unquoted(parts[0]), _unquoted(parts[1]).casefold()
    slips = [match for match in before if not slip or match.groups["value"].casefold() == slip]
    value = slips[-1].row.shape(meant) if slips else None
    return (
        None
        if value is None
        else (slips[-1], replace(slips[-1], groups={**slips[-1].groups, "value": value}))
    )


def _value_and_slip(meant: str) -> tuple[str, str] | None:
    """(Hannah, Anna) of "Hannah, not Anna."; None where more clauses follow.

    The slip is "" where none is named.
    """
    marks = sum(meant.count(mark) for mark in _MARKS)
    for match in _NOT.finditer(meant):
        if (
            match.start() > 0
            and match.end() < len(meant)
            and (match.group()[0] in _MARKS) == (marks == 1)
            and marks < 2
        ):
            slip = meant[match.end() :]
            return meant[: match.start()], slip.rstrip(_STOPS) or slip[0]
    return None if marks else (meant.rstrip(_STOPS) or meant[0], "")


def _value_before_slip(meant: str, before: Sequence[PatternMatch]) -> tuple[str, str] | None:
    """(hazelnuts, walnuts) of "hazelnuts, walnuts are fine"."""
    value, _, rest = meant.replace(";", ",", 1).partition(",")
    clause = rest.strip().casefold()
    slips = (match.groups["value"] for match in before)
    return next(((value, slip) for slip in slips if clause.startswith(f"{slip.casefold()} ")), None)


def _takes_its_place(meant: str, slip: str) -> bool:
    """Whether a value is hardly longer than the slip.

    "Turin is nicer, not Rome" corrects none.
    """
    return bool(slip) and len(meant.split()) <= len(slip.split()) + 1


def _unquoted(words: str) -> str:
    return words.strip(" \"'“”")
