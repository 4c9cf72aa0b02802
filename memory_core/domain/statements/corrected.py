"""Put the words of a correction into the sentence that it corrects.

"My dentist appointment is on Monday at 9", "No, I meant Tuesday" is "My dentist appointment is on
Tuesday at 9". The correction must say nothing but the new time or name, and the sentence before it
must have a time of the same kind, or a name, in its place.
"""

from __future__ import annotations

import re

from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.change_phrases import NAMED_OLD
from memory_core.domain.statements.rescheduled import NAME, TIME_WORDS, besides_times, names_another
from memory_core.domain.statements.values_said import DATE, TIME
from memory_core.domain.text.spelling import ANY_GERMAN_WEEKDAY, ANY_WEEKDAY

_WEEKDAY = re.compile(
    rf"\b(?:{ANY_WEEKDAY}|{ANY_GERMAN_WEEKDAY})\b|[月火水木金土日]曜日?", re.IGNORECASE
)
_LED_BY = re.compile(
    r"\b(?P<by>with|at|in|for|from|to|by|mit|bei|in|für|aus|nach) \Z", re.IGNORECASE
)
_MEANT = re.compile(
    r"\b(?:meant?|meinte|gemeint|quatsch|falsch|wrong|correction|mistake|korrektur|vertan"
    r"|versprochen)\b|間違|違|訂正",
    re.IGNORECASE,
)
_OF_A_THING = re.compile(
    r"\b(?:mein\w{0,2}|unser\w{0,2}|der|die|das|dem|den|ein\w{0,2}|als) \Z", re.IGNORECASE
)
"""Words before a German noun that is no name."""
_DAY_ALONE = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_DAY_NUMBER = re.compile(r"\d{1,2}(?:st|nd|rd|th)?", re.IGNORECASE)
_MAY_CORRECT = re.compile(
    r"\b(?:no|nope|sorry|oops|wait|actually|correction|meant?|mistake|not|nein|nee|quatsch"
    r"|entschuldigung|meinte|gemeint|nicht|falsch|korrektur|vertan|versprochen)\b|いや|いえ|間違|違|訂正"
    r"|すみません|ごめん",
    re.IGNORECASE,
)
MOST_CHARACTERS = 120
"""Characters of a correction; a longer sentence tells more."""


def with_correction(before: str, now: str) -> str | None:
    """The earlier sentence with what the next sentence of the speaker corrects.

    Args:
        before: The sentence just before.
        now: The sentence that may correct it.

    Returns:
        None where the sentence says more than a correction, or where its place is unclear.

    """
    if not before or len(now) > MOST_CHARACTERS or _MAY_CORRECT.search(now) is None:
        return None
    earlier, later = read(before).sentences, read(now).sentences
    if len(earlier) != 1 or len(later) != 1 or earlier[0].asks:
        return None
    rest, is_correction = besides_times(later[0].text, earlier[0])
    if not is_correction:
        return None
    if rest:
        return _with_name(before, now) if names_another(rest, earlier[0], later[0]) else None
    return _with_time(before, NAMED_OLD.sub(" ", now))


def _with_time(before: str, now: str) -> str | None:
    text = before
    for kind in (_WEEKDAY, DATE, TIME):
        new, old = [*kind.finditer(now)], [*kind.finditer(text)]
        if len(new) != 1:
            continue
        if len(old) != 1 or "-" in old[0].group():  # no part of an ISO date is replaced
            return None
        time = new[0].group().strip()
        if _DAY_ALONE.fullmatch(time):
            before_day, after_day = _DAY_NUMBER.split(old[0].group(), maxsplit=1)
            time = f"{before_day}{time}{after_day}"
        text = f"{text[: old[0].start()]}{time}{text[old[0].end() :]}"
    return text if text != before else None


def _with_name(before: str, now: str) -> str | None:
    """The earlier sentence with another name, after the same preposition if there is any."""
    without_slip = NAMED_OLD.sub(" ", now)
    new = NAME.search(without_slip)
    if new is None:
        return None
    led = _LED_BY.search(without_slip[: new.start()])
    slips = {(match["old"] or match["alt"]).casefold() for match in NAMED_OLD.finditer(now)}
    if led is None and not slips and _MEANT.search(now) is None:
        return None
    names = [
        match
        for match in NAME.finditer(before)
        if match.group().casefold().removesuffix("s") not in TIME_WORDS
        and (not slips or match.group().casefold() in slips)
        and (
            _OF_A_THING.search(before[: match.start()]) is None
            if led is None
            else before[: match.start()].casefold().endswith(f" {led['by'].casefold()} ")
        )
    ]
    if len(names) != 1:
        return None
    return f"{before[: names[0].start()]}{new.group()}{before[names[0].end() :]}"
