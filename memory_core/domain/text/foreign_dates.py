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
_PARTS = {
    "früh": "morning", "morgen": "morning", "vormittag": "morning", "mittag": "at noon",
    "nachmittag": "afternoon", "abend": "evening", "nacht": "night", "朝": "morning",
    "午前": "morning", "午後": "afternoon", "夕方": "evening", "夜": "evening", "晩": "evening",
}  # fmt: skip
_PART = r"(?:[ -]?(?P<part>früh|morgen|vormittag|mittag|nachmittag|abend|nacht))?"
_ORDINAL_WORDS = """
    ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften
"""
_ORDINALS = _ORDINAL_WORDS.split()
_HOURS = {**dict(zip(spelling.GERMAN_NUMBER_WORDS[1:13], range(1, 13), strict=True)), "eins": 1}
_HOUR = rf"(?:\d{{1,2}}(?:[:.]\d\d)?|{'|'.join(sorted(_HOURS, key=len, reverse=True))})"
_FRACTIONS = {"fünf": 5, "zehn": 10, "viertel": 15, "zwanzig": 20}
_AMOUNT = (
    r"(?! ?(?:%|prozent|euro|jahre?|monate?|wochen?|tage?|stunden?|minuten?|grad"
    r"|punkte?|kilo\w*|meter|personen|mal)\b)"
)
"""An hour is followed by none of these: "um drei Prozent"."""
_FROM = {"明日": "tomorrow", "来週": "next week", "来月": "next month", "来年": "next year"}
_PAST = re.compile(
    r"\b(?:war|hatte|wurde|ging|kam|gab|sah|fuhr|fand|nahm|las|traf|blieb|rief|aß|trank|schlief"
    r"|schrieb|sprach|begann|verlor|gewann|bekam|flog|lief|zog|musste|konnte|wollte|durfte|machte"
    r"|spielte|feierte|kaufte|besuchte|holte|sagte|brachte|kochte|heiratete|wusste|dachte"
    r")(?:e?n)?\b"
    r"|\b(?:habe?|haben|hat|bin|ist|sind)\b.{0,80}\b(?!(?:ein)?geplant|gebucht|bestätigt|reserviert"
    r"|vereinbart|angesetzt|eingeladen|verabredet|terminiert)(?:\w{0,6}ge\w{2,}(?:t|en)|\w{2,}iert"
    r"|(?:be|ver|er|ent|zer|über)\w{3,}(?:t|en))\s*[.!]?\Z",
    re.IGNORECASE,
)
_REPEATS = re.compile(
    "毎|いつも|たいてい|普段|\\b(?:jede[nrs]?|immer|meistens|normalerweise|gewöhnlich|üblicherweise"
    "|regelmäßig|manchmal)\\b",
    re.IGNORECASE,
)
_Turn = Callable[[re.Match[str]], str]


def _german(expression: str, replacement: str | _Turn) -> tuple[re.Pattern[str], str | _Turn]:
    return re.compile(rf"\b(?:{expression})\b", re.IGNORECASE), replacement


def _day(match: re.Match[str]) -> str:
    return _DAYS[match["day"].lower()]


def _date(match: re.Match[str]) -> str:
    year = match["year"]
    return f"on {match['number']} {_MONTHS[match['month'].lower()]}" + (f" {year}" if year else "")


def _part(match: re.Match[str]) -> str:
    return f" {_PARTS[match['part'].lower()]} " if match["part"] else " "


def _hour(word: str) -> str:
    return str(_HOURS.get(word.lower(), word))


def _half(match: re.Match[str]) -> str:
    """German: "halb fünf" is half past four."""
    return f" at {(int(_hour(match['hour']).split(':')[0]) - 1) or 12}:30 "


def _beside(match: re.Match[str]) -> str:
    """German: "Viertel nach drei"."""
    hour, minutes = int(_hour(match["hour"]).split(":")[0]), _FRACTIONS[match["minutes"].lower()]
    if match["side"].lower() == "vor":
        hour, minutes = (hour - 1) or 12, 60 - minutes
    return f" at {hour}:{minutes:02} "


def _day_of_date(match: re.Match[str]) -> str:
    named = match["month"]
    month = _MONTHS[named.lower()] if named else _ENGLISH_MONTHS[int(match["of"]) - 1]
    before = {"bis": "until", "ab": "from"}.get((match["before"] or "").split(" ")[0].lower(), "on")
    year = f" {match['year']}" if match["year"] else ""
    return f" {before} {_day(match)} {match['number']} {month}{year} "


_JAPANESE_TIME = (
    r"(?:(?P<part>午前|午後|朝|昼|夕方|夜|晩)の?)?(?P<hour>2[0-3]|1\d|[1-9])時(?!間)"
    r"(?:(?P<half>半)|(?P<minute>[1-5]?\d)分)?"
)
_AFTER = {None: "on", "から": "from", "まで": "until"}
_GERMAN_TIME = re.compile(
    rf"\b(?:{_DAY}|januar|februar|märz|mai|juni|juli|oktober|dezember|heute|morgen|übermorgen"
    r"|\d{1,2} uhr)\b",
    re.IGNORECASE,
)
_BEFORE = {"ab": "from", "ab dem": "from", "bis": "until", "bis zum": "until"}


def _day_of_week(match: re.Match[str]) -> str:
    """A day of next week, or of the week after it."""
    day = _DAYS[(match["day"] or match["first"]).lower()]
    week = "the week after next" if match["over"] or match["over_first"] else "next week"
    part = match["part"] or match["first_part"]
    return f" on {day} {week} {_PARTS[part.lower()] if part else ''} "


def _at(match: re.Match[str]) -> str:
    minute = match["minute"] or match["minutes"]
    hour = _hour(match["hour"] or match["round"] or match["digits"])
    return f" at {hour}{f':{minute}' if minute else ''} "


def _day_and_month(match: re.Match[str], which: str) -> str:
    """A date of a range; the first may leave out its month.

    For example "vom 5. bis 8. Dezember".
    """
    named = match[f"{which}_month"] or (None if match[f"{which}_of"] else match["last_month"])
    number = match[f"{which}_of"] or match["last_of"]
    month = _MONTHS[named.lower()] if named else _ENGLISH_MONTHS[int(number) - 1]
    return f"{match[f'{which}_number']} {month}"


_DATED = (
    r"(?P<_number>[12]\d|3[01]|0?[1-9])\. ?"
    rf"(?:(?P<_month>{_MONTH})\b|(?P<_of>1[0-2]|0?[1-9])\.)"
)
_FIRST, _LAST = _DATED.replace("<", "<first"), _DATED.replace("<", "<last")
_GERMAN: tuple[tuple[re.Pattern[str], str | _Turn], ...] = (
    (
        re.compile(rf"\bvo[mn] {_FIRST}?(?: bis| -|-| –|–)(?: zum)? {_LAST}", re.IGNORECASE),
        lambda match: f" from {_day_and_month(match, 'first')} to {_day_and_month(match, 'last')} ",
    ),
    _german(
        rf"von (?P<day>{_DAY}) bis (?P<last>{_DAY})",
        lambda match: f" from {_day(match)} to {_DAYS[match['last'].lower()]} ",
    ),
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
            r"(?:\bmorgen\b|\AMorgen(?= [a-zäöü]| [FAVN]))"
            r"(?: (?P<part>[Ff]rüh|[Aa]bend|[Nn]achmittag|[Vv]ormittag|[Mm]ittag)\b)?"
        ),
        lambda match: f" tomorrow{_part(match)}",
    ),
    _german(r"heute (?:abend|nacht)", " tonight "),
    _german(
        r"heute(?: (?P<part>früh|vormittag|mittag|nachmittag))?",
        lambda match: f" today{_part(match)}",
    ),
    _german(
        r"(?:am |dieses |nächstes )?kommende[sn]? wochenende|am wochenende|dieses wochenende",
        " this weekend ",
    ),
    _german(
        rf"(?:am )?(?P<day>{_DAY}){_PART},? (?:in )?(?:der )?(?P<over>über)?nächste[rn]? woche"
        rf"|(?P<over_first>über)?nächste woche (?:am )?(?P<first>{_DAY})"
        rf"{_PART.replace('<', '<first_')}",
        _day_of_week,
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
        rf"(?:am )?(?P<which>nächste[nr]?|kommende[nr]?|diese[nr]?) (?P<day>{_DAY}){_PART}",
        lambda match: (
            f" {'next' if match['which'].lower().startswith('n') else 'this'} "
            f"{_day(match)}{_part(match)}"
        ),
    ),
    _german(rf"am (?P<day>{_DAY}){_PART}", lambda match: f" on {_day(match)}{_part(match)}"),
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
    _german(
        rf"(?P<before>am|zum|ab|bis zum) (?P<ordinal>{'|'.join(_ORDINALS)}) (?P<month>{_MONTH})",
        lambda match: (
            f" {_BEFORE.get(match['before'].lower(), 'on')} "
            f"{_ORDINALS.index(match['ordinal'].lower()) + 1} {_MONTHS[match['month'].lower()]} "
        ),
    ),
    (
        re.compile(
            r"\b(?P<before>am|zum|ab(?: dem)?|bis(?: zum)?) (?P<number>[12]\d|3[01]|0?[1-9])\. ?"
            r"(?P<of>1[0-2]|0?[1-9])\.(?: ?(?P<year>\d{4}))?(?!\w)",
            re.IGNORECASE,
        ),
        lambda match: (
            f" {_BEFORE.get(match['before'].lower(), 'on')} {match['number']} "
            f"{_ENGLISH_MONTHS[int(match['of']) - 1]} {match['year'] or ''} "
        ),
    ),
    _german(rf"im (?P<month>{_MONTH})", lambda match: f" in {_MONTHS[match['month'].lower()]} "),
    _german(
        rf"in (?P<number>{'|'.join(_NUMBERS)}|\d{{1,2}}) (?P<unit>{'|'.join(_UNITS)})",
        lambda match: (
            f" in {_NUMBERS.get(match['number'].lower(), match['number'])} "
            f"{_UNITS[match['unit'].lower()]} "
        ),
    ),
    _german(rf"(?:um )?halb (?P<hour>{_HOUR})", _half),
    _german(
        rf"(?:um )?(?P<minutes>{'|'.join(_FRACTIONS)}) (?P<side>vor|nach) (?P<hour>{_HOUR})"
        rf"(?: uhr)?{_AMOUNT}",
        _beside,
    ),
    _german(
        rf"zwischen (?P<hour>{_HOUR})(?: uhr)? und (?P<last>{_HOUR})(?: uhr)?{_AMOUNT}"
        rf"|von (?P<from>{_HOUR})(?: uhr)? bis (?P<to>{_HOUR}) uhr",
        lambda match: (
            f" between {_hour(match['hour'] or match['from'])} and "
            f"{_hour(match['last'] or match['to'])}, "
        ),
    ),
    _german(
        rf"(?:um|gegen|ab) (?P<hour>{_HOUR}) uhr(?: (?P<minute>[0-5]\d))?"
        rf"|(?:um|gegen) (?P<round>{_HOUR}){_AMOUNT}"
        r"|(?P<digits>\d{1,2}(?:[:.]\d\d)?) uhr(?: (?P<minutes>[0-5]\d))?",
        _at,
    ),
    _german(r"mittags", " at noon "),
    _german(r"abends", " evening "),
)
_JAPANESE: tuple[tuple[re.Pattern[str], str | _Turn], ...] = (
    (
        re.compile(
            r"(?P<month>1[0-2]|[1-9])月(?P<number>[12]\d|3[01]|[1-9])日(?:から|〜|～|-)"
            r"(?:(?P<last_month>1[0-2]|[1-9])月)?(?P<last>[12]\d|3[01]|[1-9])日"
        ),
        lambda match: (
            f" from {match['number']} {_month(match)} to {match['last']} "
            f"{_ENGLISH_MONTHS[int(match['last_month'] or match['month']) - 1]} "
        ),
    ),
    (
        re.compile("(?P<word>明日|来週|来月|来年)から"),
        lambda match: f" from {_FROM[match['word']]} ",
    ),
    (re.compile("明後日|あさって"), " the day after tomorrow "),
    (re.compile("明日|あした|あす"), " tomorrow "),
    (re.compile("今夜|今晩"), " tonight "),
    (re.compile("今日|本日"), " today "),
    (re.compile("今週末|週末に"), " this weekend "),
    (
        re.compile("(?P<again>再)?来週の?(?P<day>[月火水木金土日])(?:曜日?|(?=[にの、]))"),
        lambda match: (
            f" on {_JAPANESE_DAYS[match['day']]} "
            f"{'the week after next' if match['again'] else 'next week'} "
        ),
    ),
    (
        re.compile("(?:今週の?|今度の|次の)(?P<day>[月火水木金土日])曜日?"),
        lambda match: f" this {_JAPANESE_DAYS[match['day']]} ",
    ),
    (re.compile("再来週"), " in two weeks "),
    (re.compile("来週"), " next week "),
    (re.compile("来月"), " next month "),
    (re.compile("来年"), " next year "),
    (
        re.compile(
            r"(?P<month>1[0-2]|[1-9])月(?P<number>[12]\d|3[01]"
            r"|[1-9])日(?:[(（](?P<day>[月火水木金土日])(?:曜日?)?[)）])?(?P<after>から|まで)?"
        ),
        lambda match: (
            f" {_AFTER[match['after']]} {_JAPANESE_DAYS[match['day']] if match['day'] else ''} "
            f"{match['number']} {_month(match)} "
        ),
    ),
    (
        re.compile(
            r"(?<!毎)(?<!毎週)(?P<day>[月火水木金土日])曜日?"
            r"(?:(?P<after>から|まで)|(?=[にの、]|[0-9]|午|朝|夕|夜))"
        ),
        lambda match: f" {_AFTER[match['after']]} {_JAPANESE_DAYS[match['day']]} ",
    ),
    (re.compile("正午"), " at noon "),
    (
        re.compile(rf"{_JAPANESE_TIME}(?:から|〜|～|-){_JAPANESE_TIME.replace('<', '<last_')}"),
        lambda match: f" between {_clock(match)} and {_clock(match, 'last_')}, ",
    ),
    (re.compile(_JAPANESE_TIME), lambda match: f" at {_clock(match)} "),
    (re.compile("の(?P<part>朝|午前|午後|夕方|夜|晩)"), lambda match: f" {_PARTS[match['part']]} "),
)


def _clock(match: re.Match[str], prefix: str = "") -> str:
    """An hour of a Japanese text, with its part of the day."""
    minute = "30" if match[f"{prefix}half"] else match[f"{prefix}minute"]
    hour = match[f"{prefix}hour"] + (f":{int(minute):02}" if minute else "")
    part = match[f"{prefix}part"]
    if part == "午前" or part == "朝":
        return f"{hour} am"
    return hour if part is None or int(match[f"{prefix}hour"]) > 12 else f"{hour} pm"


def _month(match: re.Match[str]) -> str:
    return _ENGLISH_MONTHS[int(match["month"]) - 1]


def names_german_time(text: str) -> bool:
    """Whether a text names a German day, month or hour."""
    return _GERMAN_TIME.search(text) is not None


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


_PAST_TIMES: tuple[tuple[re.Pattern[str], str | _Turn], ...] = (
    _german(
        r"(?:seit|im|am|letzten)(?: dem| letzten)? (?:(?P<number>\d{1,2})\. ?)?"
        rf"(?P<month>{_MONTH})(?: (?P<year>\d{{4}}))?",
        lambda match: (
            f" in {match['number'] or ''} {_MONTHS[match['month'].lower()]} {match['year'] or ''} "
        ),
    ),
    _german("gestern", " yesterday "),
    _german(
        rf"vor (?P<number>{'|'.join(_NUMBERS)}|\d{{1,2}}) (?P<unit>{'|'.join(_UNITS)})",
        lambda match: (
            f" {_NUMBERS.get(match['number'].lower(), match['number'])} "
            f"{_UNITS[match['unit'].lower()]} ago "
        ),
    ),
    (
        re.compile(
            r"(?:(?P<year>(?:19|20)\d\d)年)?(?P<month>1[0-2]|[1-9])月(?:(?P<number>[12]\d|3[01]"
            r"|[1-9])日)?"
        ),
        lambda match: f" in {match['number'] or ''} {_month(match)} {match['year'] or ''} ",
    ),
    (re.compile(r"(?P<year>(?:19|20)\d\d)年"), lambda match: f" in {match['year']} "),
    (re.compile("昨日"), " yesterday "),
)


def with_english_past(text: str, *, german: bool, japanese: bool) -> str:
    """Translate the past times in a German or Japanese text into English.

    Args:
        text: The text.
        german: Whether it is German.
        japanese: Whether it is Japanese.

    """
    for expression, turned in _PAST_TIMES if german or japanese else ():
        text = expression.sub(turned, text)
    return text
