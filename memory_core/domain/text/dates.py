"""Dates and times that a text or a query names.

A window changes a score and never filters. Events are reported after they happen, so
`Window.contains` also accepts the two weeks after the window. English only, by regular expressions:
days, months, parts of months, seasons, years, ISO dates, phrases relative to now, and times before
or after a date. A month or season without a year is that of EVERY year, because the year is
unknown, unless "last", "this" or "next" tells it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo

import numpy as np
import numpy.typing as npt

from memory_core.domain.text.spelling import ANY_MONTH, MONTHS, PLAIN_MONTHS

MAX_WINDOWS = 8
"""A query with more dates than this names no particular time."""

_ANY_YEAR = 2000  # a leap year, so that 29 February is a day
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SEASON_START = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_WEEKDAY_STEMS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNIT_DAYS = {
    "night": 1,
    "day": 1,
    "weekend": 7,
    "week": 7,
    "fortnight": 14,
    "month": 30,
    "season": 91,
    "year": 365,
}
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "couple of": 2,
    "three": 3,
    "few": 4,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
}

_LEAD = (
    r"in|on|of|during|since|until|till|by|before|after|from|through|for|around|this|last|next|every"
    r"|each"
)
_PART = (
    r"(?:(?P<part>first|second|third|last|beginning|start|early|middle|mid|late|end)\b[\s-]*"
    r"(?:(?P<unit>week|half)\s+)?(?:of\s+)?(?:the\s+)?)?"
)
_MONTH_NAMES = f"{ANY_MONTH}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_YEAR = r"(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d)(?!\d))?"
_ISO = re.compile(
    r"(?<![\d-])(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d"
    r"|3[01]))?(?![\d-])"
)
_IN_MONTH = re.compile(
    rf"(?:\b(?P<lead>{_LEAD})\s+)?(?:the\s+)?\b{_PART}(?:(?P<day>[0-3]?\d)(?:st|nd|rd"
    r"|th)?\s+(?:of\s+)?)?"
    rf"\b(?P<month>{_MONTH_NAMES})\b\.?(?:\s+(?P<day_after>[0-3]?\d)(?:st|nd|rd"
    rf"|th)?(?!\d))?{_YEAR}",
    re.IGNORECASE,
)
_IN_SEASON = re.compile(
    rf"(?:\b(?P<lead>{_LEAD})\s+)?(?P<the>the\s+)?\b{_PART}\b(?P<season>spring|summer|autumn|fall"
    rf"|winter)\b{_YEAR}",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(r"(?<![\d.,-])(?P<year>(?:19|20)\d\d)(?![\d-]|[.,]\d)")
AMOUNT = (
    r"(?P<number>\d{1,3}|an?|one|two|(?:a\s+)?couple\s+of|three|(?:a\s+)?few|four|five|six|seven"
    r"|eight)"
)
"""A number of units of time, as the group `number`; part of an expression that ignores case."""
_FROM_NOW = re.compile(
    r"\b(?:(?P<word>the\s+day\s+before\s+yesterday|the\s+day\s+after\s+tomorrow|today|tonight"
    r"|yesterday|tomorrow|this\s+(?:morning|afternoon|evening))"
    rf"|{AMOUNT}\s+(?P<ago>day|week|fortnight|month|year)s?\s+ago"
    rf"|(?P<which>last|past|this|next)\s+(?:{AMOUNT.replace('number', 'span')}\s+)?"
    r"(?P<length>night|day|weekend|week|fortnight|month|year)s?"
    r"|(?P<side>on|last|this|next)\s+(?P<weekday>mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"\b(?:the|{AMOUNT})\s+(?P<unit>day|week|fortnight|month|year)s?\s+(?P<side>before"
    r"|after)(?:\s+the)?\s*$",
    re.IGNORECASE,
)
# What a query must hold for any of the above to find something; most hold nothing of it.
_MAY_NAME_A_DATE = re.compile(
    rf"\d|\b(?:{_MONTH_NAMES}|spring|summer|autumn|fall|winter|today|tonight|yesterday|tomorrow|ago"
    r"|last|past|this|next|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
# Words that are no month or person's name when nothing beside them says so ("I may",
# "a march", "Jan", "dec").
_DOUBTFUL = frozenset({"may", "march", *_MONTHS, "sept"})
_BESIDE_REACH = 60
"""Characters in front of a date that are searched. Searching all of a long query before each of its
dates took a third of a second.
"""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of days.

    Attributes:
        start: The first day.
        end: The day after the last day.
        yearly: Whether it is in every year, whatever year the two dates have.

    """

    start: date
    end: date
    yearly: bool = False

    def contains(
        self,
        epoch_seconds: npt.NDArray[np.float64],
        slack_days: int = 14,
        zone: tzinfo = timezone.utc,
    ) -> npt.NDArray[np.bool_]:
        """Which moments lie in the window, or shortly after it.

        Args:
            epoch_seconds: The moments in seconds since the epoch, UTC; NaN is unknown, and in no
                window.
            slack_days: Days after the window that are accepted, too.
            zone: The time zone of the days.

        """
        known = np.isfinite(epoch_seconds)
        days = np.floor(_on_clocks(np.where(known, epoch_seconds, 0.0), zone) / 86_400).astype(
            np.int64
        )
        if not self.yearly:
            first, last = (self.start - _EPOCH).days, (self.end - _EPOCH).days + slack_days
            return known & (days >= first) & (days < last)
        years = days.astype("datetime64[D]").astype("datetime64[Y]")
        inside = np.zeros_like(known)
        # a winter, or the slack of a December, runs on into the next year
        for year in (years, years - 1):
            span = self.end.year - self.start.year
            inside |= (days >= _day_of(year, self.start)) & (
                days < _day_of(year + span, self.end) + slack_days
            )
        return known & inside

    def of_year(self, year: int) -> Window:
        """The same days of a given year, in this year only."""
        end = _day(year + self.end.year - self.start.year, self.end.month, self.end.day)
        return Window(_day(year, self.start.month, self.start.day), end)


@dataclass(frozen=True, slots=True)
class Named:
    """A date in a query.

    Attributes:
        window: The days that it names.
        text: The words that name it.
        from_now: Whether the words are relative to the time of the query.

    """

    window: Window
    text: str
    from_now: bool


_EPOCH = date(1970, 1, 1)


def _on_clocks(epoch_seconds: npt.NDArray[np.float64], zone: tzinfo) -> npt.NDArray[np.float64]:
    """The moments as clocks of a zone show them, in seconds since the epoch."""
    if zone is timezone.utc:
        return epoch_seconds
    offsets = [_offset(float(second), zone) for second in epoch_seconds]
    return epoch_seconds + np.array(offsets, dtype=np.float64)


def _offset(epoch_seconds: float, zone: tzinfo) -> float:
    try:
        offset = datetime.fromtimestamp(epoch_seconds, zone).utcoffset()
    except (OverflowError, ValueError):  # at the ends of the calendar
        return 0.0
    return 0.0 if offset is None else offset.total_seconds()


def _day_of(years: npt.NDArray[np.datetime64], day: date) -> npt.NDArray[np.int64]:
    """That day of each year, in days since the epoch.

    29 February of a common year is 1 March.
    """
    months = years.astype("datetime64[M]") + (day.month - 1)
    return months.astype("datetime64[D]").astype(np.int64) + (day.day - 1)


def date_windows(query: str, now: datetime) -> list[Window]:
    """The windows of the `named_dates`.

    Args:
        query: A text.
        now: The moment that the text is relative to.

    """
    return [named.window for named in named_dates(query, now)]


def named_dates(query: str, now: datetime) -> list[Named]:
    """The dates that a query names, in no particular order, at most `MAX_WINDOWS`.

    No window occurs twice.

    Args:
        query: A text.
        now: The moment that the text is relative to.

    """
    if _MAY_NAME_A_DATE.search(query.casefold()) is None:
        return []
    windows: dict[Window, Named] = {}
    rest, today = query, now.date()

    def take(pattern: re.Pattern[str], window_of: Callable[[re.Match[str]], Window | None]) -> None:
        # What one pattern has read is blanked, or "8 May 2023" would also be the whole of 2023.
        def replace(match: re.Match[str]) -> str:
            window = window_of(match)
            if window is None:
                return match.group()
            # "before" is a date's lead, too.
            leads = match.groupdict().get("lead") is not None
            window = _moved_window(
                match.string[: match.end("lead") if leads else match.start()], window
            )
            windows.setdefault(
                window, Named(window, match.group(), pattern is _FROM_NOW or _names_year(match))
            )
            return " | "

        nonlocal rest
        rest = pattern.sub(replace, rest)

    take(_ISO, _iso)
    take(_IN_MONTH, lambda match: _in_month(match, today))
    take(_IN_SEASON, lambda match: _in_season(match, today))
    take(
        _IN_YEAR,
        lambda match: Window(date(int(match["year"]), 1, 1), date(int(match["year"]) + 1, 1, 1)),
    )
    take(_FROM_NOW, lambda match: _from_now(match, today))
    return list(windows.values())[:MAX_WINDOWS]


def _moved_window(words_before: str, window: Window) -> Window:
    """The window, moved as the words before it say.

    "two weeks before" moves it, for example.
    """
    match = _BESIDE.search(words_before[-_BESIDE_REACH:])
    if match is None:
        return window
    return window_relative_to(window, match["number"], match["unit"], match["side"])


def window_relative_to(window: Window, number: str | None, unit: str, side: str) -> Window:
    """The time before or after a window: "two", "weeks", "before".

    Args:
        window: The days of an event.
        number: How many units; None for the unit just beside the window ("the week before").
        unit: The unit of time, in the singular.
        side: "before" or "after".

    """
    days, is_before = _UNIT_DAYS[unit.lower()], side.lower() == "before"
    if number is None:
        start = _moved(window.start, -days) if is_before else window.end
        return Window(start, _moved(start, days), window.yearly)
    away, half = _number(number) * days, days // 2
    centre = _moved(window.start, -away) if is_before else _moved(window.end, away - 1)
    return Window(_moved(centre, -half), _moved(centre, half + 1), window.yearly)


def _names_year(match: re.Match[str]) -> bool:
    """Whether a word tells the year of a month or season without a year."""
    parts = match.groupdict()
    return (
        bool(parts.get("lead"))
        and parts["year"] is None
        and parts["lead"].lower() in ("last", "this", "next")
    )


def _of_its_year(match: re.Match[str], window: Window, today: date) -> Window:
    """The window of the year that a word names, else the window of every year.

    "last" names the last that has ended, "this" this year's, "next" the next to begin.
    """
    if not _names_year(match) or not 1 < today.year < date.max.year - 1:
        return window
    lead, year = match["lead"].lower(), today.year
    if lead == "last":
        year -= window.of_year(year).end > today
    elif lead == "next":
        year += window.of_year(year).start <= today
    return window.of_year(year)


def _iso(match: re.Match[str]) -> Window:
    year, month = int(match["year"]), int(match["month"])
    if match["day"] is None:
        return Window(_day(year, month, 1), _day(year, month + 1, 1))
    return Window(_day(year, month, int(match["day"])), _day(year, month, int(match["day"]) + 1))


def _in_month(match: re.Match[str], today: date) -> Window | None:
    name = match["month"].lower()
    day = int(match["day"] or match["day_after"] or 0)
    if name in _DOUBTFUL and not (match["lead"] or match["part"] or day or match["year"]):
        return None
    year, month = int(match["year"] or _ANY_YEAR), _MONTHS.index(name[:3]) + 1
    yearly = match["year"] is None
    if 1 <= day <= 31:
        return _of_its_year(
            match, Window(_day(year, month, day), _day(year, month, day + 1), yearly), today
        )
    start, end = _part(match["part"], match["unit"], _day(year, month, 1), _day(year, month + 1, 1))
    return _of_its_year(match, Window(start, end, yearly), today)


def _in_season(match: re.Match[str], today: date) -> Window | None:
    if not (match["lead"] or match["the"] or match["part"] or match["year"]):
        return None  # "winter boots" names no time
    year, month = int(match["year"] or _ANY_YEAR), _SEASON_START[match["season"].lower()]
    part = match["part"] if match["unit"] is None else None
    start, end = _part(part, None, _day(year, month, 1), _day(year, month + 3, 1))
    return _of_its_year(match, Window(start, end, match["year"] is None), today)


def _part(part: str | None, unit: str | None, start: date, end: date) -> tuple[date, date]:
    """The named part of a stretch of days; all of it for "last May".

    It is a third ("early"), a half, or a week.
    """
    name, length = (part or "").lower(), (end - start).days
    if unit is not None and unit.lower() == "week":
        if name == "last":
            return end - timedelta(7), end
        week = {"second": 1, "third": 2}.get(name, 0)
        return start + timedelta(7 * week), start + timedelta(7 * week + 7)
    if unit is not None:
        middle = start + timedelta(length // 2)
        return (middle, end) if name in ("second", "last") else (start, middle)
    if name in ("first", "beginning", "start", "early"):
        return start, start + timedelta(length // 3)
    if name in ("mid", "middle"):
        return start + timedelta(length // 3), end - timedelta(length // 3)
    if name in ("late", "end"):
        return end - timedelta(length // 3), end
    return start, end


def _from_now(match: re.Match[str], today: date) -> Window:
    if word := match["word"]:
        offset = {"yesterday": -1, "tomorrow": 1}.get(word.split()[-1].lower(), 0) * (
            2 if " " in word else 1
        )
        return _around(today, offset, offset + 1)
    if weekday := match["weekday"]:
        following = match["side"].lower() == "next"
        offset = days_to_weekday(weekday, today, following=following)
        if not following:
            offset = offset % 7 - 7
        return _around(today, offset, offset + 1)
    if unit := match["ago"]:
        days = _UNIT_DAYS[unit.lower()]
        centre, half = -_number(match["number"]) * days, days // 2
        return _around(today, centre - half, centre + half + 1)
    days, which = _UNIT_DAYS[match["length"].lower()], match["which"].lower()
    if match["span"] is not None:
        days *= _number(match["span"])
        return _around(today, 0, days + 1) if which == "next" else _around(today, -days, 1)
    # "last week" is the calendar's week before this one, which began at most two weeks ago;
    # the same for the others.
    return {"this": _around(today, -days, days + 1), "next": _around(today, 1, 2 * days + 1)}.get(
        which, _around(today, -2 * days, 1)
    )


def days_to_weekday(name: str, today: date, *, following: bool) -> int:
    """Days until the next day of a name; never 0, since people would say "today".

    Args:
        name: The name of a weekday.
        today: The day on which it is said.
        following: Whether "next" is said: a day that this week has yet is "on" or "this" day, and
            the day after today is "tomorrow". "Next" names the one after it.

    """
    days = (_WEEKDAY_STEMS.index(name[:3].lower()) - today.weekday()) % 7 or 7
    return days + 7 if following and (days == 1 or today.weekday() + days < 7) else days


def _number(text: str) -> int:
    name = " ".join(text.lower().removeprefix("a ").split())
    return int(name) if name.isdigit() else _NUMBERS[name]


def whole_day(day: date) -> Window:
    """That day alone."""
    return _around(day, 0, 1)


def _around(today: date, first: int, end: int) -> Window:
    """Days counted from today."""
    return Window(_moved(today, first), _moved(today, end))


def _moved(day: date, days: int) -> date:
    """The day so many days later, kept within the calendar."""
    return date.fromordinal(
        min(max(day.toordinal() + days, date.min.toordinal()), date.max.toordinal())
    )


def _day(year: int, month: int, day: int) -> date:
    """The date, where months after 12 and days after a month's last continue.

    Month 13 is the next January; day 32 is in the next month.
    """
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1) + timedelta(day - 1)


# Whether a text has a time, whether a query asks for a time, and the date line before a memory's
# text.
#
# English only, and deliberately coarse: these change a score by at most a fifth, and never filter.
# `date_windows` reads the dates that a query names.


_UNIT_NAMES = (
    "second", "minute", "hour", "day", "night", "morning", "afternoon", "evening", "weekday",
    "weekend", "week", "fortnight", "month", "season", "year", "decade",
)  # fmt: skip
_UNITS = rf"(?:{'|'.join(_UNIT_NAMES)})s?"
_SEASONS = rf"(?:{'|'.join(_SEASON_START)})"
_WEEKDAY_NAMES = tuple(
    f"{stem}day" for stem in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
)
_WEEKDAY = rf"(?:{'|'.join(_WEEKDAY_NAMES)})s?"
_COUNTS = (
    r"(?:last|next|this|past|few|couple\s+of|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|\d{1,3})"
)
_PLAIN_MONTHS = "|".join(PLAIN_MONTHS)
# "may" is a verb far more often than a month, unless a day or a year is beside it or
# "in" before it.
_MAY = (
    r"(?:in|of|since|until|by|during|last|next|this|early|mid|late"
    r"|\d{1,2}(?:st|nd|rd|th)?)[\s-]+may|may\s+\d{1,4}(?:st|nd|rd|th)?"
)

_PLAIN_TIMES = ("yesterday", "today", "tomorrow", "tonight", "ago", "since", "recently", "just")

_TELLS = re.compile(
    rf"\b(?:{'|'.join(_PLAIN_TIMES)}"
    rf"|{_COUNTS}\s+(?:{_UNITS}|{_SEASONS}|{_WEEKDAY})|{_PLAIN_MONTHS}|{_MAY}|{_WEEKDAY}|\d{{4}})\b"
)
_ASKS = re.compile(
    r"\A\s*+(?:(?:since\s+)?when|how\s+(?:long|old)|(?:(?:in|on|during)\s+)?(?:what"
    r"|which)\s+(?:year|month|date|day|week|time))\b",
    re.IGNORECASE,
)


_FOUR_DIGITS = re.compile(r"\d{4}")
_WORDS_OF_TIME = frozenset(
    {
        *_PLAIN_TIMES,
        *_SEASON_START,
        *PLAIN_MONTHS,
        "may",
        *(name + plural for name in (*_UNIT_NAMES, *_WEEKDAY_NAMES) for plural in ("", "s")),
    }
)
"""Words of which each expression of time has one, unless it is a number of four digits."""


def tells_time(text: str, known_words: frozenset[str] | None = None) -> bool:
    """Whether the text has an expression of time.

    This is a relative time, a weekday, a month, or a number of four digits.

    Args:
        text: The text.
        known_words: Its `ascii_words`, if they are known; most texts need no further search.

    """
    if (
        known_words is not None
        and _WORDS_OF_TIME.isdisjoint(known_words)
        and _FOUR_DIGITS.search(text) is None
    ):
        return False
    return _TELLS.search(text.casefold()) is not None  # a third of the time that IGNORECASE takes


def asks_time(query: str) -> bool:
    """Whether the query begins like a question for a time.

    For example "when", "since when", "how long", "how old", "(in) what year".
    """
    return _ASKS.match(query) is not None


def date_words(moment: datetime) -> str:
    """The date as people write it: "8 May 2023".

    It is put before a text to be embedded, and analysed into date tokens.
    """
    return f"{moment.day} {MONTHS[moment.month - 1].capitalize()} {moment.year}"
