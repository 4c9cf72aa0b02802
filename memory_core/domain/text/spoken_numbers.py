"""Write spoken numbers in digits: counts, telephone numbers, days and times. English."""

from __future__ import annotations

import re

from memory_core.domain.text.spelling import ANY_MONTH, NUMBER_WORDS

_NAMES_OF_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: number * 10 for number, word in enumerate(_NAMES_OF_TENS.split(), 2)}
_SMALL = {word: number for number, word in enumerate(NUMBER_WORDS[:20])}
_ANY_SMALL = "|".join(NUMBER_WORDS[1:20])
_ANY_DIGIT = "|".join(NUMBER_WORDS[1:10])
_ANY_TENS = "|".join(_TENS)
_COUNT = re.compile(
    rf"\b(?:(?P<hundreds>{_ANY_SMALL}|an?) hundred(?: and)?"
    rf"(?: (?P<tens_after>{_ANY_TENS}))?(?:[ -](?P<units_after>{_ANY_SMALL}))?"
    rf"|(?P<tens>{_ANY_TENS})[ -](?P<units>{_ANY_DIGIT}))\b"
)
_DIGIT = rf"(?:double |triple )?(?:zero|oh|{_ANY_DIGIT})"
_DIGITS = re.compile(rf"\b(?:{_DIGIT} ){{4,30}}{_DIGIT}\b")
"""Five digits or more, as in a telephone number."""
_NAMES_OF_DAYS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
_DAYS = {word: day for day, word in enumerate(_NAMES_OF_DAYS.split(), 1)} | {"thirtieth": 30}
_ANY_DAY = rf"(?:(?:twenty|thirty)[ -])?(?:{'|'.join(_DAYS)})"
_DATE = re.compile(
    rf"\b(?:(?P<month>{ANY_MONTH})(?: the)? (?P<day>{_ANY_DAY})"
    rf"|(?P<first_day>{_ANY_DAY}) of (?P<last_month>{ANY_MONTH}))\b"
)
_MINUTES = "ten|fifteen|twenty|thirty|forty|fifty"
_ANY_HOUR = "|".join(NUMBER_WORDS[1:13])
_TIME = re.compile(
    rf"\bat (?P<hour>{_ANY_HOUR})"
    rf"(?: (?P<minutes>{_MINUTES})(?P<five>[ -]five)?)?"
    r"(?= (?:in the|am|pm|on|with|for|tomorrow|today|tonight|o'?clock)\b|\Z)"
)


def with_digits(text: str) -> str:
    """Write numbers in digits: "thirty four" → "34", "june third" → "June 3".

    Single words up to twenty stay where they count something; the tables read them.
    """
    text = _TIME.sub(_time, _DATE.sub(_date, _DIGITS.sub(_digits, text)))
    return _COUNT.sub(_count, text)


def _count(match: re.Match[str]) -> str:
    if match["tens"]:
        return str(_TENS[match["tens"]] + _SMALL[match["units"]])
    hundreds = _SMALL.get(match["hundreds"], 1)
    rest = _TENS.get(match["tens_after"], 0) + _SMALL.get(match["units_after"], 0)
    return str(hundreds * 100 + rest)


def _digits(match: re.Match[str]) -> str:
    digits, times = "", 1
    for word in match.group().split():
        if word in {"double", "triple"}:
            times = 2 if word == "double" else 3
        else:
            digits, times = digits + str(_SMALL.get(word, 0)) * times, 1
    return digits


def _date(match: re.Match[str]) -> str:
    month, spoken = match["month"] or match["last_month"], match["day"] or match["first_day"]
    *tens, day = re.split("[ -]", spoken)
    return f"{month.capitalize()} {sum(_TENS[word] for word in tens) + _DAYS[day]}"


def _time(match: re.Match[str]) -> str:
    hour = f"at {_SMALL[match['hour']]}"
    if not match["minutes"]:
        return hour
    minutes = _TENS.get(match["minutes"]) or _SMALL[match["minutes"]]
    return f"{hour}:{minutes + (5 if match['five'] else 0)}"
