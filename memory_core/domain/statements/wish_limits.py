"""Until when a standing instruction holds: "until Friday", "just for today", 「今週は」."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.foreign_dates import names_german_time, with_english_times
from memory_core.domain.text.forward_dates import ahead

_ENGLISH: Final = (
    (re.compile(r"\bbis (?:zum )?ende (?:des|der|dieses|dieser) ", re.I), "until the end of the "),
    (re.compile(r"\bfür die nächsten zwei wochen\b", re.I), "for the next two weeks"),
    (re.compile(r"\bmonats?\b", re.I), "month"),
    (re.compile(r"\b(?:dieser?|diese) woche\b|今週(?!末)", re.I), " this week "),
    (re.compile(r"\bdiesen monat\b|今月", re.I), " this month "),
    (re.compile(r"\bheute\b|今日", re.I), " today "),
    (re.compile(r"来週まで"), " until the end of next week "),
    (re.compile(r"今月末まで|月末まで"), " until the end of the month "),
    (re.compile(r"\buntil (?:my|our|the|after my) [^\W\d_]{2,15} (?:on|in|at) ", re.I), "until "),
)
"""Times in other words, and as they are in English."""
_UNTIL: Final = re.compile(r"\b(?:until|till|til|through)\b", re.IGNORECASE)
_FOR: Final = re.compile(
    r"\bfor (?:the )?(?:next |coming |rest of |another )"
    r"|\bfor (?:just |only |about )?(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine"
    r"|ten) (?:days?|weeks?|months?)\b",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"\b(?:for |in )?(?:(?P<day>today|tonight)|this (?P<period>week|month|year))\b", re.IGNORECASE
)
_FROM_NOW_ON: Final = re.compile(
    r"\b(?:from (?:now|today|then) on|from today|starting (?:now|today)|always|as of (?:now|today)"
    r"|ab (?:jetzt|heute|sofort|morgen)|von nun an|künftig|in zukunft|immer)\b"
    r"|今後|これから|いつも|今日から",
    re.IGNORECASE,
)


_ALWAYS: Final = re.compile(r"\b(?:always|immer|stets)\b|いつも", re.IGNORECASE)
"""Words with which a time would be a habit."""


def holds_until(wish: str, said_at: datetime) -> datetime | None:
    """The end of an instruction that names one; None for any other.

    Args:
        wish: The words of the instruction.
        said_at: When it was said, in the speaker's time zone.

    """
    text = wish
    for pattern, turned in _ENGLISH:
        text = turned.join(pattern.split(text))
    text = with_english_times(
        _ALWAYS.sub(" ", text), german=names_german_time(wish), japanese=has_japanese(wish)
    )
    until = _UNTIL.search(text)
    try:
        if until is not None:
            named = ahead(text[until.start() :], said_at)
            return None if named is None else named.end
        if _FROM_NOW_ON.search(wish):
            return None
        if _FOR.search(text) and (named := ahead(text, said_at)) is not None:
            return named.end if named.start <= said_at else None
        if period := _PERIOD.search(text):
            midnight = said_at.replace(hour=0, minute=0, second=0, microsecond=0)
            named = ahead(f"until the end of the {period['period'] or 'week'}", said_at)
            if period["day"]:
                return midnight + timedelta(1)
            return None if named is None else named.end
    except (OverflowError, ValueError):
        return None
    return None
