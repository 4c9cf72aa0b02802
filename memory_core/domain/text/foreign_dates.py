"""Translate German and Japanese times into English, which `forward_dates` reads.

"nächsten Montag um 9" becomes "next Monday at 9". Only words of time are translated, in their
places. The result is read for times, and never quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memory_core.domain.text import spelling

_ENGLISH_DAYS = [day.capitalize() for day in spelling.WEEKDAYS]
_ENGLISH_MONTHS = [month.capitalize() for month in spelling.MONTHS]
_DAYS = {
    **dict(zip(spelling.GERMAN_WEEKDAYS, _ENGLISH_DAYS, strict=True)),
    spelling.SONNABEND: "Saturday",
}
_MONTHS = {**dict(zip(spelling.GERMAN_MONTHS, _ENGLISH_MONTHS, strict=True)), "jänner": "January"}
_NUMBERS = {
    "einem": "one",
    "einer": "one",
    **dict(zip(spelling.GERMAN_NUMBER_WORDS[2:10], spelling.NUMBER_WORDS[2:10], strict=True)),
}
_UNITS = {"tag": "days", "tagen": "days", "woche": "weeks", "wochen": "weeks", "monat": "months",
    "monaten": "months", "jahr": "years",
          "jahren": "years"}  # fmt: skip
_DAY = "|".join(_DAYS)
_MONTH = "|".join(_MONTHS)
_JAPANESE_DAYS = dict(zip(spelling.JAPANESE_WEEKDAYS, _ENGLISH_DAYS, strict=True))
_FROM = {"明日": "tomorrow", "来週": "next week", "来月": "next month", "来年": "next year"}
_PAST = re.compile(
    r"\b(?:war|waren|hatte|hatten|wurde|wurden|ging|gingen|kam|kamen)\b"
    r"|\b(?:habe?|haben|hat|bin|ist|sind)\b.{0,80}\b(?:\w{0,6}ge\w{2,}(?:t|en)|\w{2,}iert"
    r"|be\w{3,}(?:t|en)|ver\w{3,}(?:t|en))\s*[.!]?\Z",
    re.IGNORECASE,
)
_REPEATS = re.compile("毎|いつも|\\bjede[nrs]?\\b")
_Turn = Callable[[re.Match[str]], str]


def _german(expression: str, replacement: str | _Turn) -> tuple[re.Pattern[str], str | _Turn]:
    return re.compile(rf"\b(?:{expression})\b", re.IGNORECASE), replacement


def _day(match: re.Match[str]) -> str:
    return _DAYS[match["day"].lower()]


def _date(match: re.Match[str]) -> str:
    year = match["year"]
    return f"on {match['number']} {_MONTHS[match['month'].lower()]}" + (f" {year}" if year else "")


def _day_of_date(match: re.Match[str]) -> str:
    named = match["month"]
    month = _MONTHS[named.lower()] if named else _ENGLISH_MONTHS[int(match["of"]) - 1]
    before = {"bis": "until", "ab": "from"}.get((match["before"] or "").split(" ")[0].lower(), "on")
    year = f" {match['year']}" if match["year"] else ""
    return f" {before} {_day(match)} {match['number']} {month}{year} "


_GERMAN: tuple[tuple[re.Pattern[str], str | _Turn], ...] = (
    (
        re.compile(
            rf"\b(?P<before>(?:bis(?: zum)?|ab(?: dem)?|am|zum) )?(?P<day>{_DAY}),? (?:den "
            rf"|dem )?(?P<number>\d{{1,2}})\. ?"
            rf"(?:(?P<month>{_MONTH})\b|(?P<of>1[0-2]|0?[1-9])\.)(?: ?(?P<year>\d{{4}})\b)?",
            re.IGNORECASE,
        ),
        _day_of_date,
    ),
    _german(r"übermorgen", " the day after tomorrow "),
    (
        re.compile(
            r"\bmorgen\b(?: (?:früh|abend|nachmittag|vormittag|mittag)\b)?|\AMorgen(?= [a-zäöü])"
        ),
        " tomorrow ",
    ),
    _german(r"heute abend", " tonight "),
    _german(
        r"(?:am |dieses |nächstes )?kommende[sn]? wochenende|am wochenende|dieses wochenende",
        " this weekend ",
    ),
    _german(r"(?:in der )?(?:nächste[nr]?|kommende[nr]?) woche", " next week "),
    _german(r"(?:im )?(?:nächste[nm]|kommende[nm]) monat", " next month "),
    _german(r"(?:im )?(?:nächste[sn]|kommende[sn]) jahr", " next year "),
    _german(
        rf"bis (?:zum )?(?:nächsten |kommenden )?(?P<day>{_DAY})",
        lambda match: f" until {_day(match)} ",
    ),
    _german(
        rf"ab (?:nächstem |nächsten |dem |kommendem )?(?P<day>{_DAY})",
        lambda match: f" from {_day(match)} on ",
    ),
    _german(
        rf"(?:nächste[nr]?|kommende[nr]?|am kommenden|am nächsten) (?P<day>{_DAY})",
        lambda match: f" next {_day(match)} ",
    ),
    _german(rf"am (?P<day>{_DAY})", lambda match: f" on {_day(match)} "),
    _german(
        r"(?:ab"
        rf"|von) (?:dem )?(?P<number>\d{{1,2}})\. ?(?P<month>{_MONTH})(?: (?P<year>\d{{4}}))?(?: an)?",  # noqa: E501
        lambda match: f" from {_date(match).removeprefix('on ')} ",
    ),
    _german(
        rf"(?:ab|von) (?P<month>{_MONTH})(?: (?P<year>\d{{4}}))?(?: an)?",
        lambda match: f" from {_MONTHS[match['month'].lower()]} {match['year'] or ''} ",
    ),
    _german(
        r"ab(?=\s{1,3}(?:tomorrow|the day after|next (?:week|month|year|[MTWFS][a-z]{2,5}day))\b)",
        " from ",
    ),
    _german(
        rf"bis (?:zum )?(?P<number>\d{{1,2}})\. ?(?P<month>{_MONTH})(?: (?P<year>\d{{4}}))?",
        lambda match: f" until {_date(match).removeprefix('on ')} ",
    ),
    _german(
        rf"am (?P<number>\d{{1,2}})\. ?(?P<month>{_MONTH})(?: (?P<year>\d{{4}}))?",
        lambda match: f" {_date(match)} ",
    ),
    _german(rf"im (?P<month>{_MONTH})", lambda match: f" in {_MONTHS[match['month'].lower()]} "),
    _german(
        rf"in (?P<number>{'|'.join(_NUMBERS)}|\d{{1,2}}) (?P<unit>{'|'.join(_UNITS)})",
        lambda match: (
            f" in {_NUMBERS.get(match['number'].lower(), match['number'])} "
            f"{_UNITS[match['unit'].lower()]} "
        ),
    ),
    _german(r"um (?P<hour>\d{1,2}(?:[:.]\d\d)?)(?: uhr)?", lambda match: f" at {match['hour']} "),
)
_JAPANESE: tuple[tuple[re.Pattern[str], str | _Turn], ...] = (
    (
        re.compile("(?P<word>明日|来週|来月|来年)から"),
        lambda match: f" from {_FROM[match['word']]} ",
    ),
    (re.compile("明後日|あさって"), " the day after tomorrow "),
    (re.compile("明日|あした|あす"), " tomorrow "),
    (re.compile("今夜|今晩"), " tonight "),
    (re.compile("今週末|週末に"), " this weekend "),
    (
        re.compile("(?:来週の|次の)(?P<day>[月火水木金土日])曜日?"),
        lambda match: f" next {_JAPANESE_DAYS[match['day']]} ",
    ),
    (re.compile("来週"), " next week "),
    (re.compile("来月"), " next month "),
    (re.compile("来年"), " next year "),
    (
        re.compile(
            r"(?P<month>1[0-2]|[1-9])月(?P<number>[12]\d|3[01]"
            r"|[1-9])日(?:[(（](?P<day>[月火水木金土日])(?:曜日?)?[)）])?"
        ),
        lambda match: (
            f" on {_JAPANESE_DAYS[match['day']] if match['day'] else ''} {match['number']} "
            f"{_month(match)} "
        ),
    ),
    (
        re.compile("(?<![毎])(?P<day>[月火水木金土日])曜日に"),
        lambda match: f" on {_JAPANESE_DAYS[match['day']]} ",
    ),
    (re.compile(r"午後(?P<hour>[1-9]|1[0-2])時"), lambda match: f" at {match['hour']} pm "),
    (
        re.compile(r"(?:午前)?(?P<hour>2[0-3]|1\d|[1-9])時(?!間)"),
        lambda match: f" at {match['hour']} ",
    ),
)


def _month(match: re.Match[str]) -> str:
    return _ENGLISH_MONTHS[int(match["month"]) - 1]


def with_english_times(text: str, *, german: bool, japanese: bool) -> str:
    """Translate the times ahead in a German or Japanese text into English.

    A text about the past or about a habit is returned as it is.

    Args:
        text: The text.
        german: Whether it is German.
        japanese: Whether it is Japanese.

    """
    if (german and _PAST.search(text)) or ((german or japanese) and _REPEATS.search(text)):
        return text
    for expression, turned in _GERMAN if german else _JAPANESE if japanese else ():
        text = expression.sub(turned, text)
    return text
