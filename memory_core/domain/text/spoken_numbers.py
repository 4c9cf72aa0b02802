"""Write spoken numbers in digits: counts, years, telephone numbers, days and times."""

from __future__ import annotations

import re

from memory_core.domain.text.spelling import ANY_MONTH, GERMAN_NUMBER_WORDS, NUMBER_WORDS

_NAMES_OF_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: number * 10 for number, word in enumerate(_NAMES_OF_TENS.split(), 2)}
_SMALL = {word: number for number, word in enumerate(NUMBER_WORDS[:20])}
_SCALES = {"hundred": 100, "thousand": 1_000}
_ANY_SMALL = "|".join(NUMBER_WORDS[1:20])
_ANY_DIGIT = "|".join(NUMBER_WORDS[1:10])
_ANY_TENS = "|".join(_TENS)
_ANY_WORD = rf"(?:{_ANY_SMALL}|{_ANY_TENS}|hundred|thousand)"
_COUNT = re.compile(rf"\b{_ANY_WORD}(?:[ -](?:and )?{_ANY_WORD}){{1,8}}\b")
_TEEN = 10
_LEAST_CENTURY, _LAST_CENTURY = 13, 20
_DIGIT = rf"(?:double |triple )?(?:zero|oh|{_ANY_DIGIT})"
_DIGITS = re.compile(
    r"(?P<before>\b(?:number|phone|mobile|cell|code|pin|zip)\b(?: \w{1,12}){0,3}? )"
    rf"(?P<digits>(?:{_DIGIT} ){{2,30}}{_DIGIT})\b"
)
_NAMES_OF_DAYS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
_DAYS = {word: day for day, word in enumerate(_NAMES_OF_DAYS.split(), 1)} | {"thirtieth": 30}
_ANY_NAME_OF_DAY = "|".join(_DAYS)
_ANY_DAY = rf"(?:(?:twenty|thirty)[ -])?(?:{_ANY_NAME_OF_DAY})"
_DATE = re.compile(
    rf"\b(?:(?P<month>{ANY_MONTH})(?: the)? (?P<day>{_ANY_DAY})"
    rf"|(?P<first_day>{_ANY_DAY}) of (?P<last_month>{ANY_MONTH}))\b"
)
_MINUTES = "ten|fifteen|twenty|thirty|forty|fifty"
_ANY_HOUR = "|".join(NUMBER_WORDS[1:13])
_TIME = re.compile(
    rf"\bat (?P<hour>{_ANY_HOUR})(?: (?P<minutes>{_MINUTES})(?P<five>[ -]five)?)?"
    r"(?= (?:in the|am|pm|on|with|for|tomorrow|today|tonight|o'?clock)\b|\Z)"
)


_GERMAN_TENS = {
    word: tens
    for words, tens in zip(
        ("zwanzig", "dreißig dreissig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig"),
        range(20, 90, 10),
        strict=True,
    )
    for word in words.split()
} | {"neunzig": 90}
_GERMAN_UNITS = {"ein": 1} | {word: n for n, word in enumerate(GERMAN_NUMBER_WORDS[:10]) if n > 1}
_GERMAN_COUNT = re.compile(
    rf"\b(?P<units>{'|'.join(_GERMAN_UNITS)})und(?P<tens>{'|'.join(_GERMAN_TENS)})\b"
)
_KANJI = "一二三四五六七八九"
_KANJI_COUNT = r"[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九]"
_KANJI_TIME = re.compile(
    rf"(?<![一二三四五六七八九十百千万何第])(?P<number>{_KANJI_COUNT})"
    r"(?=歳(?![ァ-ヶ]|の(?![息娘男女父母夫妻兄弟姉妹誕子犬猫時]|とき))|時(?:半|[一二三四五六七八九十]{1,3}分|から|に|の|です|で|だ|は|ちょうど|頃|ごろ|\Z)"
    r"|月[一二三四五六七八九十]{1,3}日)"
    rf"|(?<=月)(?P<day>{_KANJI_COUNT})(?=日(?![間目本]))"
    rf"|(?<=月の)(?P<day_of>{_KANJI_COUNT})(?=日(?![間目本]))"
    rf"|(?<=時)(?P<minutes>{_KANJI_COUNT})(?=分)"
)
"""A Japanese number of an age, an hour, a month or a day of the month."""


def with_digits(text: str) -> str:
    """Write numbers in digits: "thirty four" → "34", "june third" → "June 3".

    A single word up to twenty stays, since the tables read it.
    """
    text = _TIME.sub(_time, _DATE.sub(_date, _DIGITS.sub(_digits, text)))
    return with_counts(_KANJI_TIME.sub(_japanese, text))


def with_counts(text: str) -> str:
    """Write counts of several words in digits: "thirty-four", "einunddreißig"."""
    return _GERMAN_COUNT.sub(
        lambda match: str(_GERMAN_TENS[match["tens"]] + _GERMAN_UNITS[match["units"]]),
        _COUNT.sub(_count, text),
    )


def _japanese(match: re.Match[str]) -> str:
    tens, ten, units = match.group().rpartition("十")
    number = _KANJI.index(units) + 1 if units else 0
    return str(number + (10 * (_KANJI.index(tens) + 1 if tens else 1) if ten else 0))


def _count(match: re.Match[str]) -> str:
    each = [word for word in re.split("[ -]", match.group()) if word != "and"]
    number = _number(each) if each[0] not in _SCALES else None
    return match.group() if number is None else str(number)


def _number(each: list[str]) -> int | None:
    """The number of some words: "nineteen ninety five", "two thousand three hundred".

    Returns:
        None for words that are no single number: "one two three".

    """
    if _SCALES.keys().isdisjoint(each):
        values = [_TENS.get(word) or _SMALL[word] for word in each]
        century, *rest = values
        if len(each) > 1 and rest[0] >= _TEEN:
            in_century = _sum(each[1:])
            is_year = _LEAST_CENTURY <= century <= _LAST_CENTURY and in_century is not None
            return century * 100 + (in_century or 0) if is_year else None
        return _sum(each)
    total, part = 0, list[str]()
    for word in each:
        if word not in _SCALES:
            part.append(word)
            continue
        factor = _sum(part) if part else None
        if factor is None:
            return None
        total, part = total + factor * _SCALES[word], []
    rest_of_it = _sum(part) if part else 0
    return None if rest_of_it is None else total + rest_of_it


def _sum(each: list[str]) -> int | None:
    """A number below a hundred: "forty two"."""
    first, *rest = each
    if not rest:
        return _TENS.get(first) or _SMALL[first]
    if len(rest) > 1 or first not in _TENS or not 0 < _SMALL.get(rest[0], 0) < _TEEN:
        return None
    return _TENS[first] + _SMALL[rest[0]]


def _digits(match: re.Match[str]) -> str:
    digits, times = "", 1
    for word in match["digits"].split():
        if word in {"double", "triple"}:
            times = 2 if word == "double" else 3
        else:
            digits, times = digits + str(_SMALL.get(word, 0)) * times, 1
    return match["before"] + digits


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
