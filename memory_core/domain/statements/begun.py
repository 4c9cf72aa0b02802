"""Truths that began on a day in the past: "I moved on 5 May".

A month, season or year stands for its first day. A clause tells the day of its own fact only, so
that "I work at Otto, and on 5 May I was in Rome" tells none of Otto.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timezone

from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.statements.change_phrases import GERMAN
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.dates import Named, named_dates
from memory_core.domain.text.foreign_dates import with_english_past
from memory_core.domain.truth.slots import NO_LONGER

_BEGUN = re.compile(
    r"\b(?:since|ago|moved|relocated|settled|joined|started|began|became|switched|changed|got"
    r"|turned|went|bought|adopted|married|promoted|been|seit|gezogen|angefangen|begonnen|geworden"
    r"|gewechselt|geheiratet|gekauft)\b"
    r"|から|引っ越し|転職し|入社し|就職し|結婚し|になりました|になった",
    re.IGNORECASE,
)
"""Words of a clause that tells since when its fact is so."""
_OPENING = re.compile(r"\A((?:in|on|since|last|at|im|am|seit)\b[^,;:]{2,30}),(?= )", re.IGNORECASE)
_CLAUSES = re.compile(
    r"[,;:]\s|(?<!\d)\.\s|\s(?:and|but|because|so|where|who|whose|which|that|when|while|und|aber|weil|wo|als)\s"
    r"|(?<=[てでがどし])、",
    re.IGNORECASE,
)
_AGO = re.compile(r"\bago\b")
_VAGUE = re.compile(
    r"\b(?:last|past|this|next)\b.{0,30}\b(?:night|weekend|week|fortnight|month|year|spring|summer"
    r"|autumn|fall|winter)s?\Z"
)
"""A time without a certain day: "last week"."""


def began_at(fact: SaidFact, said_at: datetime) -> datetime | None:
    """When a fact of the present began, in UTC.

    Args:
        fact: A fact that fills a slot.
        said_at: When its quote was said, in the speaker's time zone.

    Returns:
        None where the quote names no single day before today for it, or where it says that
        something is over.

    """
    value = (fact.value or "").casefold()
    if fact.attribute is None or not value or value.startswith(NO_LONGER):
        return None
    for clause in _CLAUSES.split(_OPENING.sub(r"\1", fact.quote)):
        if value not in clause.casefold() or _BEGUN.search(clause) is None:
            continue
        dates = named_dates(
            with_english_past(
                clause, german=GERMAN.search(clause) is not None, japanese=has_japanese(clause)
            ),
            said_at,
        )
        if len(dates) == 1 and value not in (named := dates[0].text.casefold()):
            day = _first_day(dates[0], said_at.date())
            if day < said_at.date() and _VAGUE.search(named) is None:
                return datetime.combine(day, time(), said_at.tzinfo).astimezone(timezone.utc)
    return None


def _first_day(named: Named, today: date) -> date:
    """The latest day on which a named time began."""
    window = named.window
    if window.yearly:
        this_year = window.of_year(today.year)
        window = this_year if this_year.start <= today else window.of_year(today.year - 1)
    # "two weeks ago" is a window around the day
    is_around = _AGO.search(named.text.casefold()) is not None
    return window.start + (window.end - window.start) // 2 if is_around else window.start
