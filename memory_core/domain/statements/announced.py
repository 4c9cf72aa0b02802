"""Announced truths: facts that begin on a day in the future.

For example "On 1 October I'm starting at Airbus" or "From January I live in Porto".
"""

from __future__ import annotations

import re
from datetime import datetime, timezone

from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.statements.appointment_words import (
    PUT_ELSEWHERE_IN_ENGLISH,
    PUT_ELSEWHERE_IN_GERMAN,
)
from memory_core.domain.statements.change_phrases import AHEAD, GERMAN
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.foreign_dates import with_english_times
from memory_core.domain.text.forward_dates import Ahead, ahead
from memory_core.domain.text.spelling import ANY_GERMAN_MONTH, ANY_GERMAN_WEEKDAY, ANY_MONTH

ATTRIBUTES = frozenset({"employer", "occupation"})
HOMES = frozenset({"home city", "home country"})
_ADVERBS = r"(?: (?:also|finally|officially|actually)){0,2}"
_GOING = r"(?:['’]ll| will|(?:['’]m| am) going to)"
ANNOUNCES = re.compile(
    rf"\bI(?:(?P<starts>(?:{_GOING}|['’]m| am)?{_ADVERBS}(?: be)? start(?:ing)?(?: (?:work|working"
    rf"|(?:a|my)(?: new)? job))?)|(?P<works>{_GOING}{_ADVERBS}(?: be working| work))"
    rf"|(?P<joins>(?:{_GOING}|['’]m| am)?{_ADVERBS}(?: be)? join(?:ing)?))\b"
)
"""The words before the employer or the job."""
MOVES = re.compile(
    rf"\b(?:I|[Ww]e)(?:['’](?:ll|m|re)| will| am| are)?{_ADVERBS}(?: be)?(?: going to)? (?:mov(?:e"
    r"|ing)|relocat(?:e|ing))"
    r"(?: from .{2,40}?)?(?: back)? to (?=[A-ZÀ-Þ])"
    r"|\b(?:[Mm]y|[Oo]ur|[Tt]he) (?:move|relocation) to (?=[A-ZÀ-Þ])"
    r"|\b(?:[Dd]er|[Mm]ein|[Uu]nser) Umzug nach (?=[A-ZÄÖÜ])"
    r"|(?i:\b(?:(?:ich|wir) (?:ziehe|ziehen|werde|werden)|(?:ziehe|ziehen|werde|werden) (?:ich"
    r"|wir))\b)[^,;:!?]{0,40}\bnach (?=[A-ZÄÖÜ])"
)
"""The words before the place of a new home."""
STARTS_WORK = re.compile(r"\b(?:ich (?:fange|beginne)|(?:fange|beginne) ich)\b", re.IGNORECASE)
"""German words before a new employer: "Ich fange im Mai bei Bosch an"."""
RISES = re.compile(
    r"\b(?:is going|is set|goes|will go|rises|will rise|increases|will increase|drops|will drop"
    r"|falls|will fall|(?:is|will be|gets|is being|is getting) (?:raised|increased|reduced|cut"
    r"|lowered))(?: up| down)?(?: from [^,;]{1,30}?)? to (?=[$€£]?\d)"
    r"|\b(?:steigt|sinkt|erhöht sich)\b[^,;:!?]{0,30}? auf (?=[$€£]?\d)",
    re.IGNORECASE,
)
"""The words between a thing and its new amount."""
_ANNOUNCEMENTS = ((ATTRIBUTES, ANNOUNCES), (ATTRIBUTES, STARTS_WORK), (HOMES, MOVES), (None, RISES))
"""The attributes of each kind of announcement; None for all."""
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_GERMAN_DAY = (
    rf"(?:(?:nächste[mnr]?|kommende[mnr]?) (?:woche|monat|jahr|{ANY_GERMAN_WEEKDAY})"
    rf"|{ANY_GERMAN_WEEKDAY}|morgen|übermorgen"
    rf"|(?:\d{{1,2}}\. ?)?(?:{ANY_GERMAN_MONTH})(?: \d{{4}})?)"
)
FROM_THEN_ON = re.compile(
    r"\b(?:from|starting|beginning|as of)\s(?:on\s)?(?:the day after tomorrow|tomorrow"
    rf"|next (?:week|month|year)|(?:next |this )?{_DAY}|(?:the )?\d{{1,2}}(?:st|nd|rd"
    rf"|th)?\s(?:of )?(?:{ANY_MONTH})(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d"
    rf"|(?:{ANY_MONTH})(?: \d{{1,2}}(?:st|nd|rd|th)?(?!\d))?(?:,? \d{{4}})?)\b(?: on(?:wards?)?\b)?"
    rf"|\b(?:ab|von) (?:dem )?{_GERMAN_DAY}\b(?: an\b)?",
    re.IGNORECASE,
)
"""The day from which a fact is true."""
ON_A_DAY = re.compile(
    rf"\b(?:on|in)\s(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of )?)?(?:{ANY_MONTH})"
    rf"(?: \d{{1,2}}(?:st|nd|rd|th)?(?!\d))?(?:,? \d{{4}})?\b|\bon {_DAY}\b"
    r"|\b(?:tomorrow|next (?:week|month|year))\b"
    rf"|\b(?:am|im|zum) {_GERMAN_DAY}\b|\bnächste[nrs]? (?:woche|monat|jahr)\b",
    re.IGNORECASE,
)
"""The day on which a fact becomes true."""
_NEW_DAY = re.compile(
    r"(?:['’]s| is| was| has| got)(?: now| just| been){0,2}"
    rf" (?:{PUT_ELSEWHERE_IN_ENGLISH}|moved|pushed|delayed)(?: from [^,;:]{{2,30}}?)? (?:to|until) "
    rf"(?=(?:the )?(?:\d|(?:{ANY_MONTH})\b|next\b))"
    r"| (?:ist|wurde|wird) (?:jetzt )?auf (?:den |Anfang )?"
    rf"(?=[^,;:]{{3,25}} (?:{PUT_ELSEWHERE_IN_GERMAN})\b)",
    re.IGNORECASE,
)
"""The words before the day to which something announced is moved."""
_PAST = re.compile(
    r"\b(?:was|were|had|been|did|ago|used to|since|started|worked|lived|joined|moved|began|came"
    r"|went|left|war|waren|hatte\w*|seit|wurde\w*)\b",
    re.IGNORECASE,
)
_CLAUSE_ENDS = re.compile(r"[,;:]\s")
_COMES_BACK = re.compile(
    r"\b(?:always|usually|normally|often|every|each|immer|meistens|jede[nrs]?)\b", re.IGNORECASE
)
_WILL = re.compile(
    rf"\b(?:(?:{AHEAD}|won['’]t)\b|(?:I['’]ll|we['’]ll)\b|(?:I['’]m|I am|we['’]re"
    r"|we are) (?:\w+ly )?\w+ing\b|(?:ich|wir) (?:werde|ziehe|wechsle|höre|kündige|steige|beginne"
    r"|fange)n?\b|(?:werde|ziehe|wechsle|höre|kündige|steige|beginne|fange)n? (?:ich|wir)\b)",
    re.IGNORECASE,
)
"""Words for a fact that is not yet true."""


def is_announced(fact: SaidFact) -> bool:
    """Whether a fact's quote announces the fact's value; `begins_at` tells when it begins."""
    if fact.attribute is None or not fact.value:
        return False
    value = fact.value.casefold()
    if any(
        (attributes is None or fact.attribute in attributes)
        and (match := announces.search(fact.quote)) is not None
        and value in fact.quote[match.end() :].casefold()
        for attributes, announces in _ANNOUNCEMENTS
    ):
        return True
    match = FROM_THEN_ON.search(fact.quote)
    return match is not None and value not in match.group().casefold()


def begins_at(quote: str, said_at: datetime) -> datetime | None:
    """When an announced fact begins, in UTC.

    Args:
        quote: The sentence that announces it.
        said_at: When the sentence was said, in the speaker's time zone.

    Returns:
        None where the sentence names no day ahead, tells of the past or of a habit, or names the
        day until which the fact is true.

    """
    quote = _NEW_DAY.sub(" am " if GERMAN.search(quote) else " on ", quote)
    named = time_ahead(quote, said_at)
    if named is None or named.start <= said_at or _COMES_BACK.search(quote) is not None:
        return None
    if not named.open and FROM_THEN_ON.search(quote) is not None:
        return None
    if _tells_of_past(quote, said_at) and str(named.start.year) not in quote:
        return None
    return named.start.astimezone(timezone.utc)


def _tells_of_past(quote: str, said_at: datetime) -> bool:
    """Whether the clause that names the day tells of the past.

    "I start on Monday, I left X" does not.
    """
    if _PAST.search(quote) is None:
        return False
    dated = [part for part in _CLAUSE_ENDS.split(quote) if time_ahead(part, said_at) is not None]
    return any(_PAST.search(part) is not None for part in dated or [quote])


def change_begins_at(sentence: str, said_at: datetime) -> datetime | None:
    """When the change that a sentence tells of begins, in UTC.

    Args:
        sentence: The sentence.
        said_at: When it was said, in the speaker's time zone.

    Returns:
        None where the change is true at once.

    """
    if (
        FROM_THEN_ON.search(sentence) is None
        and _WILL.search(sentence) is None
        and MOVES.search(sentence) is None
    ):
        return None
    return begins_at(sentence, said_at)


def time_ahead(sentence: str, said_at: datetime) -> Ahead | None:
    """The time ahead that a sentence of any language names; None for no such time.

    Args:
        sentence: The sentence.
        said_at: When it was said, in the speaker's time zone.

    """
    german = GERMAN.search(sentence) is not None
    try:
        return ahead(
            with_english_times(sentence, german=german, japanese=has_japanese(sentence)), said_at
        )
    except (OverflowError, ValueError):
        # what `timedelta` and `datetime` raise outside the calendar's years
        return None
