"""Read the time of day that a sentence names.

For example "at half past four", "between 8 and 12". English; `foreign_dates` translates times of
other languages. An hour without "am" or "pm" is that of the part of the day which the sentence
names, else that of the day and not of the night.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_core.domain.text.spelling import NUMBER_WORDS

_HOURS = NUMBER_WORDS[1:13]
_HOUR = rf"(?:\d{{1,2}}|{'|'.join(_HOURS)})"
_FRACTIONS = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_PAST_OR_TO = re.compile(
    rf"\b(?:a )?(?P<part>{'|'.join(_FRACTIONS)}) (?P<side>past|to) (?P<hour>{_HOUR})\b",
    re.IGNORECASE,
)
_HALF = re.compile(rf"(?<=\bat )half (?P<hour>{_HOUR})\b", re.IGNORECASE)
"""British: "half six" is 6:30."""
_NOON = re.compile(r"\b(?:(?:at|around) )?(?:noon|midday)\b", re.IGNORECASE)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_THEN = (
    r"(?=\s*(?:\Z|[.,;:!?)]|(?:on|in|at|and|to|with|for|this|next|today|tomorrow|tonight|sharp"
    rf"|o['’]clock|[ap]\.?m|{_DAY})\b))"
)
"""What may follow an hour that has no sign of a time: "at one point" is no time."""
_IN_WORDS = re.compile(
    rf"(?<=\b(?:at|to) )(?P<hour>{'|'.join(_HOURS)})\b{_THEN}"
    rf"|(?<=\b(?:and) )(?P<last>{'|'.join(_HOURS)})\b{_THEN}"
    rf"|(?<=\bbetween )(?P<first>{'|'.join(_HOURS)})\b(?= and )",
    re.IGNORECASE,
)
_SIGN = r"(?:\s?(?P<half>[ap])\.?m\b\.?|\s?o['’]clock\b)"
_TIME = rf"(?P<hour>\d{{1,2}})(?:[:.](?P<minute>[0-5]\d))?{_SIGN}?"
_LAST = _TIME.replace("<", "<last_")
_RANGE = re.compile(
    rf"\b(?:between\s+{_TIME}\s+and\s+{_LAST}|from\s+"
    rf"{_TIME.replace('<', '<from_')}\s+(?:to|till|until)\s+{_LAST.replace('<last_', '<to_')})"
    rf"(?!\d){_THEN}",
    re.IGNORECASE,
)
_AT = re.compile(
    rf"\bat\s+{_TIME}(?!\d|[.:]\d|\s?(?:%|euros?|dollars?|percent))"
    rf"|(?<![\d:.,/-])(?<!\bin )(?P<bare_hour>\d{{1,2}})(?:[:.](?P<bare_minute>[0-5]\d))?"
    rf"{_SIGN.replace('<', '<bare_')}(?!\w)"
    r"|(?<![\d:.,/-])(?<!\bin )(?P<only_hour>\d{1,2}):(?P<only_minute>[0-5]\d)(?![\d:])",
    re.IGNORECASE,
)
_EVENING = re.compile(r"\b(?:tonight|evening|night)\b", re.IGNORECASE)
_AFTERNOON = re.compile(r"\bafternoon\b", re.IGNORECASE)
_MORNING = re.compile(r"\b(?:morning|breakfast|frühstück)\b", re.IGNORECASE)
_EVENING_OUT = re.compile(
    r"\b(?:dinner|supper|drinks|pub|theat(?:re|er)|cinema|concert|gig|opera|abendessen|abendbrot|kino"
    r"|konzert|oper|kneipe)\b|夕食|夕飯|飲み会|コンサート",
    re.IGNORECASE,
)
"""Things of an evening: dinner at 8 is none in the morning."""
_LATE = 10
"""From this hour on, they may be in the morning, too."""
_DAYTIME = 7
"""Earlier hours are those of the afternoon: "at 3"."""
_HALF_A_DAY = 12 * 60


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time of day, in minutes after midnight.

    Attributes:
        start: Its beginning.
        end: Its end, after the beginning; None where none is named.
        doubtful: Whether it may be twelve hours later, too ("at 8").

    """

    start: int
    end: int | None = None
    doubtful: bool = False


def clock(sentence: str) -> TimeOfDay | None:
    """The first time of day, or range of times, in a sentence; None for none."""
    words = _in_digits(sentence)
    if (match := _RANGE.search(words)) is not None:
        return _range(match, words)
    if (match := _AT.search(words)) is None:
        return None
    form = next(form for form in ("", "bare_", "only_") if match[f"{form}hour"])
    hour, minute = match[f"{form}hour"], match[f"{form}minute"]
    half = None if form == "only_" else match[f"{form}half"]
    start = _minutes(hour, minute, half, words)
    return None if start is None else TimeOfDay(start, doubtful=_is_doubtful(hour, half, words))


def _range(match: re.Match[str], words: str) -> TimeOfDay | None:
    first, last = ("", "last_") if match["hour"] else ("from_", "to_")
    half = match[f"{first}half"] or (
        match[f"{last}half"]
        if int(match[f"{first}hour"]) % 12 < int(match[f"{last}hour"]) % 12
        else None
    )
    start = _minutes(match[f"{first}hour"], match[f"{first}minute"], half, words)
    end = _minutes(
        match[f"{last}hour"], match[f"{last}minute"], match[f"{last}half"], words, daytime=0
    )
    if start is None or end is None:
        return None
    if end <= start:
        end += _HALF_A_DAY
    return TimeOfDay(start, end) if start < end <= 2 * _HALF_A_DAY else TimeOfDay(start)


def _minutes(
    hour: str, minute: str | None, half: str | None, words: str, daytime: int = _DAYTIME
) -> int | None:
    """Minutes after midnight, of an hour with or without its half of the day."""
    number = int(hour)
    if half:
        number = number % 12 + (12 if half.lower() == "p" else 0)
    elif not hour.startswith("0") and (
        (number < 12 and (_EVENING.search(words) or _AFTERNOON.search(words)))
        or (number < daytime and not _MORNING.search(words))
        or (number < _LATE and _EVENING_OUT.search(words))
    ):
        number += 12
    return number * 60 + int(minute or 0) if number < 24 else None


def _is_doubtful(hour: str, half: str | None, words: str) -> bool:
    return (
        not half
        and not hour.startswith("0")
        and _DAYTIME <= int(hour) < 12
        and not _MORNING.search(words)
    )


def _in_digits(sentence: str) -> str:
    """The sentence with hours in digits: "half past four" → "4:30"."""
    words = _NOON.sub("at 12:00", sentence)
    words = _PAST_OR_TO.sub(_beside_the_hour, words)
    words = _HALF.sub(lambda match: f"{_number(match['hour'])}:30", words)
    return _IN_WORDS.sub(lambda match: str(_number(match.group())), words)


def _beside_the_hour(match: re.Match[str]) -> str:
    minutes = _FRACTIONS[match["part"].lower()]
    hour = _number(match["hour"])
    if match["side"].lower() == "to":
        hour, minutes = (hour - 1) or 12, 60 - minutes
    return f"{hour}:{minutes:02}"


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else NUMBER_WORDS.index(word.lower())
