"""Whether a text tells a time, whether a query asks for one, and how a date is written before a memory's text.

English only, and deliberately coarse: these are nudges of a fifth to a score, never filters. Dates that a query names are
`date_windows`.
"""

from __future__ import annotations

import re
from datetime import datetime

from memory_core.domain.calendar_names import MONTHS, PLAIN_MONTHS

_UNITS = r"(?:second|minute|hour|day|night|morning|afternoon|evening|weekday|weekend|week|fortnight|month|season|year|decade)s?"
_SEASONS = r"(?:spring|summer|autumn|fall|winter)"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_COUNTS = r"(?:last|next|this|past|few|couple\s+of|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3})"
_PLAIN_MONTHS = "|".join(PLAIN_MONTHS)
# "may" is a verb far more often than a month, unless a day or a year is beside it or "in" before it.
_MAY = r"(?:in|of|since|until|by|during|last|next|this|early|mid|late|\d{1,2}(?:st|nd|rd|th)?)[\s-]+may|may\s+\d{1,4}(?:st|nd|rd|th)?"

_TELLS = re.compile(
    rf"\b(?:yesterday|today|tomorrow|tonight|ago|since|recently|just|{_COUNTS}\s+(?:{_UNITS}|{_SEASONS}|{_WEEKDAY})"
    rf"|{_PLAIN_MONTHS}|{_MAY}|{_WEEKDAY}|\d{{4}})\b"
)
_ASKS = re.compile(
    r"\A\s*+(?:(?:since\s+)?when|how\s+(?:long|old)|(?:(?:in|on|during)\s+)?(?:what|which)\s+(?:year|month|date|day|week|time))\b",
    re.IGNORECASE,
)


def tells_time(text: str) -> bool:
    """Whether the text holds a time expression: a relative one, a weekday, a month, a number of four digits."""
    return _TELLS.search(text.casefold()) is not None  # a third of the time that IGNORECASE takes


def asks_time(query: str) -> bool:
    """Whether the query starts like a question for a time: when, since when, how long, how old, (in) what year …"""
    return _ASKS.match(query) is not None


def date_words(moment: datetime) -> str:
    """The date as people write it, "8 May 2023": put before a text to be embedded, and analysed into date tokens."""
    return f"{moment.day} {MONTHS[moment.month - 1].capitalize()} {moment.year}"
