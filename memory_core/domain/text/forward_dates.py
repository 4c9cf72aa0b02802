"""Read the future time that a sentence names, relative to its own time.

`date_windows` looks back, and widely ("next week" is the nearest fortnight), since it only changes
a ranking. Here the validity of a memory begins and ends by the result, so only plain dates are read
by it; `clock_times` reads the time of day. Note: "now" is the time of the message, never that of
the clock, and days are those of its time zone. Libraries that read dates from prose take
milliseconds for each sentence and a quarter of a second at the start. They also guess ("may",
"sat", "second"), which must not happen here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone, tzinfo

from memory_core.domain.text.clock_times import clock
from memory_core.domain.text.dates import date_windows, days_to_weekday
from memory_core.domain.text.spelling import ANY_MONTH

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "ein": 1,
    "eine": 1, "zwei": 2, "drei": 3, "vier": 4, "une": 1, "un": 1, "deux": 2, "trois": 3, "una": 1,
    "dos": 2, "tres": 3,
}  # fmt: skip
_DAYS = {
    "day": 1, "night": 1, "weekend": 3, "week": 7, "fortnight": 14, "month": 30, "season": 91,
    "semester": 180, "term": 90, "year": 365, "tag": 1, "tage": 1, "woche": 7, "monat": 30,
    "jour": 1, "semaine": 7, "mois": 30, "día": 1, "semana": 7, "mes": 30,
}  # fmt: skip
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_UNIT = r"(?P<unit>days?|nights?|weekends?|weeks?|fortnights?|months?|semesters?|terms?|years?)"
_FOREIGN_UNIT = r"(?P<unit>tage?|wochen?|monate?|jours?|semaines?|mois|días?|semanas?|mes(?:es)?)"
_DAY = r"(?P<weekday>mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = rf"(?:{ANY_MONTH}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_DATE = (
    r"(?P<date>(?:the\s+)?(?:(?:early|mid|late|end of|beginning of)[\s-]+)?"
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?"
    rf"|{_MONTH}"
    r"(?:\s+\d{1,2}(?:st|nd|rd|th)?(?!\d))?(?:,?\s+\d{4})?|(?:spring|summer|autumn|fall|winter)))"
)
_FOR = re.compile(
    rf"\b(?:for|over|during|within)\s+(?:about\s+|around\s+|at least\s+|another\s+)?(?:the\s+)?(?:next\s+"  # noqa: E501
    rf"|coming\s+)?(?:{_COUNT}\s+(?:of\s+)?(?:more\s+)?)?{_UNIT}\b"
    rf"|\bfor\s+the\s+(?P<rest>rest)\s+of\s+the\s+(?P<of>day|week|month|year)\b|\bthe\s+(?:next"
    rf"|coming)\s+{_COUNT.replace('count', 'count2')}\s+{_UNIT.replace('unit', 'unit2')}\b",
    re.IGNORECASE,
)
_FOREIGN_FOR = re.compile(
    rf"\b(?:für|pour|pendant|por|durante)\s+(?:(?:die\s+nächsten|les\s+prochaine?s|los\s+próximos"
    rf"|las\s+próximas)\s+)?{_COUNT}\s+{_FOREIGN_UNIT}\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"\b(?:until|till|til|through|up to|by)\s+(?:(?P<next>next|this|the end of(?: the)?"
    r"|the end of next)\s+)?(?:on\s+)?"
    rf"(?:{_DAY}|(?P<word>tomorrow|tonight|the weekend|weekend|christmas|easter|new year)"
    rf"|(?P<period>week|month|year)|{_DATE})\b",
    re.IGNORECASE,
)
_AT = re.compile(
    r"\b(?P<word>tomorrow|tonight|(?:later )?today|this (?:afternoon|evening|weekend|week|month"
    r"|year)"
    r"|the day after tomorrow|next (?:weekend|week|month|year))\b"
    rf"|\bin\s+(?:about\s+|around\s+)?{_COUNT}\s+{_UNIT}(?:['’]?s? time)?\b"
    rf"|\b(?P<which>on|next|this(?: coming)?|coming)\s+{_DAY}\b"
    rf"|\b{_DAY.replace('<', '<bare_')}(?=(?:\s+(?:morning|afternoon|evening|night))?,?\s+(?:at\s"
    r"|\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\b|o['’]clock)|\d{1,2}:\d\d\b))"
    rf"|\b(?:on|in|for|at|during|around|from|this"
    rf"|next)\s+{_DATE}",
    re.IGNORECASE,
)
_OF_A_WEEK = re.compile(
    rf"\b(?:on\s+)?{_DAY}(?:,?\s+(?:of\s+)?(?P<week>next week|(?:the )?week after next))\b"
    r"|\b(?P<first>next week|(?:the )?week after next),?\s+(?:on\s+)?"
    rf"{_DAY.replace('<', '<then_')}\b",
    re.IGNORECASE,
)
"""A day of another week: "Friday next week"."""
_FROM_TO = re.compile(
    rf"\bfrom\s+{_DATE.replace('<date>', '<from>')}\s+(?:to|until|till|through|-|–)\s+{_DATE}"
    rf"|\bfrom\s+{_DAY.replace('<weekday>', '<from_day>')}\s+(?:to|until|till|through)\s+{_DAY}",
    re.IGNORECASE,
)
_BARE_DAY = re.compile(
    r"\bfrom\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\s*(?:to|until|till|-"
    rf"|–)\s*(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})",
    re.IGNORECASE,
)


_FROM_THEN_ON = re.compile(
    r"\b(?:from|starting|beginning|as of)\s+(?:on\s+)?(?:(?P<word>tomorrow|the day after tomorrow"
    rf"|next (?:week|month|year))|(?:(?P<which>next|this)\s+)?{_DAY}|{_DATE})\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:always|usually|normally|generally|typically|often|sometimes|regularly|every|each|weekly"
    r"|daily|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\s+(?:mornings|afternoons|evenings"
    r"|nights))\b",
    re.IGNORECASE,
)
"""Words of repetition: "always on Monday" is no day ahead."""
_NOON = 12 * 60
"""Minutes after midnight."""
_MOST_DAYS_TO_DATE = 62
"""Days ahead within which a date such as "Thursday the 12th" lies."""
_ORDINAL_WORDS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
    twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh
    twenty-eighth twenty-ninth thirtieth thirty-first
"""
_ORDINALS = _ORDINAL_WORDS.split()
_ANY_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_ORDINAL_DAY = re.compile(rf"\b(?P<day>{_ANY_ORDINAL}) of (?={ANY_MONTH}\b)", re.IGNORECASE)
_DAY_OF_DATE = re.compile(
    r"(?P<before>\b(?:on|in|for|at|from|until|till|til|by|through|to|next|this|of|and|before|since"
    r"|starting|beginning|coming)\s++)?"
    r"\b(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat"
    r"|sun)\b\.?)"
    r"\s*+(?:[,、]\s*+)?(?:on\s++)?(?:the\s++)?"
    rf"(?:(?P<number>\d{{1,2}})(?:st|nd|rd|th)?\s++(?:of\s++)?(?P<month>{_MONTH})"
    rf"|(?P<first>{_MONTH})\s++(?P<then>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])"
    rf"|(?P<alone>\d{{1,2}})(?:st|nd|rd|th)\b)"
    r"(?P<year>,?\s++\d{4}\b)?",
    re.IGNORECASE,
)
"""A weekday beside a date."""
_LASTING_FROM = re.compile(
    rf"\b{_COUNT}\s{{1,5}}{_UNIT}\s{{1,5}}(?:from|starting|beginning|as of)"
    rf"\s{{1,5}}(?:on\s{{1,5}})?{_DATE}"
    rf"|\b{_COUNT.replace('<count>', '<nights>')}\s{{1,5}}nights?\s{{1,5}}(?:from|starting"
    rf"|beginning)\s{{1,5}}(?:on\s{{1,5}})?{_DAY}",
    re.IGNORECASE,
)
"""A duration from a day on."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """A time ahead, in the time zone of its sentence.

    Attributes:
        start: Its beginning.
        end: The moment from which it is over, after the sentence was said.
        intrinsic: Whether no sentence about the past has these words.
        open: Whether the sentence names no end; `end` is then the end of the first day.

    """

    start: datetime
    end: datetime
    intrinsic: bool
    open: bool = False


def ahead(sentence: str, said_at: datetime) -> Ahead | None:
    """The time ahead that a sentence names; None for no such time.

    The first of these is taken: from … to, until, for, a duration from a day, from … on, a day or a
    month.

    Args:
        sentence: The sentence.
        said_at: When it was said, in the speaker's time zone.

    Raises:
        OverflowError: For a time outside the calendar's years.
        ValueError: For a time outside the calendar's years.

    """
    sentence = _ORDINAL_DAY.sub(
        lambda match: f"{_ORDINALS.index(match['day'].lower()) + 1} ", sentence
    )
    sentence = _DAY_OF_DATE.sub(lambda match: _without_weekday(match, said_at), sentence)
    sentence = _OF_A_WEEK.sub(lambda match: _in_its_week(match, said_at), sentence)
    for read in (
        _read_from_to,
        _read_until,
        _read_for,
        _read_duration_from,
        _read_from,
        _read_days,
    ):
        stretch = read(sentence, said_at)
        if stretch is not None and stretch.end > said_at and stretch.end > stretch.start:
            return stretch
    return None


def _without_weekday(match: re.Match[str], said_at: datetime) -> str:
    """A date without its weekday, with the year in which it is on that weekday.

    If the weekday and the date don't agree, the date counts, since it is more exact.
    """
    weekday = next(
        place for place, name in enumerate(_WEEKDAYS) if match["weekday"].lower().startswith(name)
    )
    if match["alone"]:
        days = (said_at.date() + timedelta(offset) for offset in range(_MOST_DAYS_TO_DATE))
        day = next(
            (day for day in days if day.day == int(match["alone"]) and day.weekday() == weekday),
            None,
        )
        return match.group() if day is None else f"{match['before'] or 'on '}{day.isoformat()}"
    number, month = match["number"] or match["then"], match["month"] or match["first"]
    year = match["year"] or next(
        (
            f" {year}"
            for year in (said_at.year, said_at.year + 1, said_at.year - 1)
            if _is_on(weekday, number, month, year)
        ),
        "",
    )
    return f"{match['before'] or 'on '}{number} {month}{year}"


def _in_its_week(match: re.Match[str], said_at: datetime) -> str:
    """The date of a day of another week."""
    weeks = 1 if (match["week"] or match["first"]).lower() == "next week" else 2
    day = _WEEKDAYS.index((match["weekday"] or match["then_weekday"])[:3].lower())
    monday = said_at.date() - timedelta(said_at.weekday())
    return f"on {(monday + timedelta(7 * weeks + day)).isoformat()}"


def _is_on(weekday: int, number: str, month: str, year: int) -> bool:
    """Whether a date of a year is on a weekday (0 = Monday)."""
    named = (
        date_windows(f"in {number} {month} {year}", datetime(year, 1, 1, tzinfo=timezone.utc))
        if 1 < year < 9999
        else ()
    )
    return len(named) == 1 and named[0].start.weekday() == weekday


def _read_from_to(sentence: str, said_at: datetime) -> Ahead | None:
    """Read "from Monday to Friday", "from 3 to 10 June"."""
    # "from 3 to 10 June": the month is that of both
    match = _FROM_TO.search(_BARE_DAY.sub(r"from \1 \3 to \2 \3", sentence))
    if match is None:
        return None
    if match["from_day"]:
        start = _next_weekday(match["from_day"], said_at)
        return Ahead(start, _next_weekday(match["weekday"], start) + timedelta(1), True)
    first = _span_of_date(match["from"], said_at)
    last = None if first is None else _span_of_date(match["date"], first[0])
    return None if first is None or last is None else Ahead(max(first[0], said_at), last[1], True)


def _read_until(sentence: str, said_at: datetime) -> Ahead | None:
    """Read "until Friday", "by the end of next month", "until Easter"."""
    match = _UNTIL.search(sentence)
    if match is None:
        return None
    day = _midnight(said_at)
    if match["weekday"]:
        end = _next_weekday(match["weekday"], said_at, match["next"]) + timedelta(1)
    elif match["period"]:
        end = _end_of(
            match["period"].lower(), day, following="next" in (match["next"] or "").lower()
        )
    elif match["word"]:
        end = _end_of_feast(match["word"].lower(), day)
    else:
        dated = _span_of_date(match["date"], said_at)
        if dated is None:
            return None
        end = (
            dated[1]
            if (match["next"] or "").lower().startswith("the end") or not _is_month(match["date"])
            else dated[0]
        )
    return Ahead(said_at, end, True)


def _read_for(sentence: str, said_at: datetime) -> Ahead | None:
    """Read "for three weeks", "for the rest of the year"."""
    match = _FOR.search(sentence) or _FOREIGN_FOR.search(sentence)
    if match is None:
        return None
    groups = match.groupdict()
    if groups.get("rest"):
        return Ahead(
            said_at, _end_of(groups["of"].lower(), _midnight(said_at), following=False), True
        )
    unit, count = groups["unit"] or groups["unit2"], groups["count"] or groups.get("count2")
    if (
        count is None
        and "next" not in match.group().lower()
        and "coming" not in match.group().lower()
    ):
        return None
    starts = _AT.search(sentence)  # "next week for three days" starts next week
    start = (
        said_at
        if starts is None
        else max(said_at, (_read_days(sentence, said_at) or Ahead(said_at, said_at, False)).start)
    )
    return Ahead(
        start, start + timedelta(_days_of(count or "one", unit)), "next" in match.group().lower()
    )


def _read_duration_from(sentence: str, said_at: datetime) -> Ahead | None:
    """Read a duration from a day on: "two nights from 4 December"."""
    match = _LASTING_FROM.search(sentence)
    if match is None:
        return None
    if match["weekday"]:
        start = _next_weekday(match["weekday"], said_at)
    elif (
        not _is_month(match["date"])
        and (dated := _span_of_date(match["date"], said_at)) is not None
    ):
        start = dated[0]
    else:
        return None
    end = start + timedelta(_days_of(match["count"] or match["nights"], match["unit"] or "night"))
    return Ahead(max(start, said_at), end, True)


def _read_from(sentence: str, said_at: datetime) -> Ahead | None:
    """Read "from tomorrow on", which has no end."""
    match = _FROM_THEN_ON.search(sentence)
    if match is None:
        return None
    if match["word"]:
        start = _days_of_word(" ".join(match["word"].lower().split()), _midnight(said_at))[0]
    elif match["weekday"]:
        start = _next_weekday(match["weekday"], said_at, match["which"])
    elif (dated := _span_of_date(match["date"], said_at)) is not None and dated[0] > said_at:
        start = dated[0]
    else:
        return None
    return Ahead(start, start + timedelta(1), True, open=True)


def _read_days(sentence: str, said_at: datetime) -> Ahead | None:
    """Read the day or days that a sentence names; a day begins at its hour."""
    days = _read_whole_days(sentence, said_at)
    if (
        days is None
        or days.end - days.start > timedelta(1)
        or (hours := clock(sentence)) is None
        or (start := _midnight(days.start) + timedelta(minutes=hours.start)) >= days.end
    ):
        return days
    if start <= said_at and hours.doubtful and hours.start < _NOON:
        start += timedelta(minutes=_NOON)
    end = days.end
    if hours.end is not None:
        end = _midnight(days.start) + timedelta(minutes=hours.end)
    if hours.end is None and start <= said_at:  # today, and over
        return None
    return replace(days, start=max(start, said_at), end=end)


def _read_whole_days(sentence: str, said_at: datetime) -> Ahead | None:
    """Read "tomorrow", "in two weeks", "on Monday", "in June"; "today" only with its hour."""
    for match in _AT.finditer(sentence):
        if (match["word"] or "").lower() == "today" and clock(sentence) is None:
            continue
        if (days := _days_of_match(match, sentence, said_at)) is not None:
            return days
    return None


def _days_of_match(match: re.Match[str], sentence: str, said_at: datetime) -> Ahead | None:
    today = _midnight(said_at)
    if match["word"]:
        start, end = _days_of_word(" ".join(match["word"].lower().split()), today)
        return Ahead(max(start, said_at), end, match["word"].lower() != "today")
    if match["count"]:
        start = today + timedelta(_days_of(match["count"], match["unit"]))
        return Ahead(
            start,
            start + timedelta(1 if match["unit"].lower().startswith(("day", "night")) else 7),
            False,
        )
    if weekday := match["weekday"] or match["bare_weekday"]:
        if _HABIT.search(sentence):
            return None
        start = _next_weekday(weekday, said_at, match["which"])
        return Ahead(start, start + timedelta(1), (match["which"] or "on").lower() != "on")
    dated = _span_of_date(match["date"], said_at)
    return (
        None
        if dated is None
        else Ahead(max(dated[0], said_at), dated[1], match.group().lower().startswith("next"))
    )


def _days_of_word(word: str, today: datetime) -> tuple[datetime, datetime]:
    """The days of a word like "tomorrow"."""
    week, day = today - timedelta(today.weekday()), timedelta(1)
    return {
        "tomorrow": (today + day, today + 2 * day),
        "the day after tomorrow": (today + 2 * day, today + 3 * day),
        "this weekend": (week + 5 * day, week + 7 * day),
        "next weekend": (week + 12 * day, week + 14 * day),
        "this week": (today, week + 7 * day),
        "next week": (week + 7 * day, week + 14 * day),
        "this month": (today, _end_of("month", today, following=False)),
        "next month": (
            _end_of("month", today, following=False),
            _end_of("month", today, following=True),
        ),
        "this year": (today, _end_of("year", today, following=False)),
        "next year": (
            _end_of("year", today, following=False),
            _end_of("year", today, following=True),
        ),
    }.get(word, (today, today + day))


def _end_of(period: str, today: datetime, *, following: bool) -> datetime:
    """The end of this day, week, month or year, or of the following."""
    if period == "day":
        return today + timedelta(2 if following else 1)
    if period == "week":
        return today + timedelta((14 if following else 7) - today.weekday())
    years, months = (0, 1) if period == "month" else (1, 0)
    end = today.replace(day=1) if period == "month" else today.replace(day=1, month=1)
    for _ in range(2 if following else 1):
        end = end.replace(
            year=end.year + years + (end.month + months - 1) // 12,
            month=(end.month + months - 1) % 12 + 1,
        )
    return end


def _end_of_feast(word: str, today: datetime) -> datetime:
    """The end of "tonight" or "the weekend"; the beginning of "Easter" or "Christmas"."""
    if word == "tomorrow":
        return today + timedelta(2)
    if word == "tonight":
        return today + timedelta(1)
    if "weekend" in word:
        return today + timedelta(7 - today.weekday())
    if word == "easter":
        return max(
            (_easter(today.year, today.tzinfo), _easter(today.year + 1, today.tzinfo)),
            key=lambda day: (day > today and day.year == today.year, day),
        )
    month, day = (12, 25) if word == "christmas" else (1, 1)
    feast = today.replace(month=month, day=day)
    return feast if feast > today else feast.replace(year=feast.year + 1)


def _easter(year: int, zone: tzinfo | None) -> datetime:
    """Easter Sunday by the Gregorian computus (Meeus, Astronomical Algorithms)."""
    a, (b, c) = year % 19, divmod(year, 100)
    (d, e), f = divmod(b, 4), (b + 8) // 25
    g = (19 * a + b - d - (b - f + 1) // 3 + 15) % 30
    h = (32 + 2 * e + 2 * (c // 4) - g - c % 4) % 7
    month, day = divmod(g + h - 7 * ((a + 11 * g + 22 * h) // 451) + 114, 31)
    return datetime(year, month, day + 1, tzinfo=zone)


def _span_of_date(words: str, said_at: datetime) -> tuple[datetime, datetime] | None:
    """The first span of a date or month that has not ended at `said_at`."""
    named = date_windows(f"in {words.removeprefix('the ')}", said_at)
    if len(named) != 1:
        return None
    window, zone = named[0], said_at.tzinfo
    if not window.yearly:
        return _midnight_of(window.start.year, window.start, zone), _midnight_of(
            window.end.year, window.end, zone
        )
    span = window.end.year - window.start.year
    for year in (said_at.year - span, said_at.year, said_at.year + 1):
        start, end = (
            _midnight_of(year, window.start, zone),
            _midnight_of(year + span, window.end, zone),
        )
        if end > said_at:
            return start, end
    return None


def _midnight_of(year: int, day: date, zone: tzinfo | None) -> datetime:
    """The beginning of a day in another year; 29 February may become 1 March."""
    month, number = day.month, day.day
    if (month, number) == (2, 29) and not (year % 4 == 0 and (year % 100 or year % 400 == 0)):
        month, number = 3, 1
    return datetime(year, month, number, tzinfo=zone)


def _is_month(words: str) -> bool:
    return not any(character.isdigit() for character in re.sub(r"\d{4}", "", words))


def _next_weekday(name: str, said_at: datetime, which: str | None = None) -> datetime:
    """The day of a name that "on", "this" or "next" names, after today."""
    return _midnight(said_at) + timedelta(
        days_to_weekday(name, said_at.date(), following=(which or "").lower() == "next")
    )


def _days_of(count: str, unit: str) -> int:
    """The days of a duration."""
    number = int(count) if count.isdecimal() else _NUMBERS[count.lower()]
    name = unit.lower()
    single = next(
        days
        for known, days in sorted(_DAYS.items(), key=lambda item: -len(item[0]))
        if name.startswith(known[:-1] if known == "woche" else known)
    )
    return number * single


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
