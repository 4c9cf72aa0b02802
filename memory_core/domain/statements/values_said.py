"""The times and numbers of a sentence, so that two sentences can be compared.

Each number is read with the unit or thing that it counts:

    "the 14th at 6:40"          date 14, time 6:40
    "1,240 euros a month"       number 1240 of money
    "bumped it up to 75"        number 75 without a unit, which may have any unit

Numbers are compared as written, without the marks between thousands.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from memory_core.domain.text import spelling
from memory_core.domain.text.analyzer import terms_of

_COUNTS = {
    word: str(number)
    for names in (spelling.NUMBER_WORDS, spelling.GERMAN_NUMBER_WORDS)
    for number, word in enumerate(names[:13])
    if number > 1
}
_KANJI = {sign: str(number) for number, sign in enumerate("一二三四五六七八九十", 1)}
_MONEY_WORDS = """
    € $ £ ¥ 円 euro euros eur dollar dollars usd pound pounds gbp quid bucks franken chf yen
"""
_MONEY = frozenset(_MONEY_WORDS.split())
_NOT_COUNTED_WORDS = """
    a an the of in on at to for and or but so per from with now by after before is was are were my
    our his her every each die der das den im am um auf mit für und oder pro ab zu von bei i we they
    it you as than more less up down out off again
"""
_BARE = frozenset(["now", "jetzt", "again", "instead", "left", "these", "only"])
"""Words that no number counts: before them it is a number without a unit."""
_NOT_COUNTED = frozenset(_NOT_COUNTED_WORDS.split())
_JAPANESE_WEEKDAY = {
    f"{sign}曜": str(place) for place, sign in enumerate(spelling.JAPANESE_WEEKDAYS)
}
_WEEKDAY = {name: str(place) for names in (spelling.WEEKDAYS, spelling.GERMAN_WEEKDAYS) for place,
    name in enumerate(names)} | {
    "tue": "1", "tues": "1", "thu": "3", "thurs": "3", "fri": "4", spelling.SONNABEND: "5"
}  # fmt: skip
_MONTH = {
    name: str(number)
    for names in (spelling.MONTHS, spelling.GERMAN_MONTHS, (month[:3] for month in spelling.MONTHS))
    for number, name in enumerate(names, 1)
} | {"sept": "9"}
TIME = re.compile(
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})\b(?!\s*(?:€|euro|%|kg))"
    r"|(?P<clock>\d{1,2})\s?(?:am|pm|a\.m\.|p\.m\.|uhr|o'clock)\b"
    r"|(?P<at>(?:\bat|\bum)\s+\d{1,2})(?![\d.,:]|k\b|\s?%|\s?(?:st|nd|rd|th)\b)"
    r"|(?P<word>\bnoon\b|\bmidnight\b|\bmittags?\b|\bhalb (?:eins|zwei|drei|vier|fünf|sechs|sieben"
    r"|acht|neun|zehn|elf|zwölf)\b)"
    r"|(?P<ja>\d{1,2}時(?:半|\d{1,2}分)?)",
    re.IGNORECASE,
)
_NAMED_MONTH = "|".join(sorted(_MONTH, key=len, reverse=True))
DATE = re.compile(
    rf"\b\d{{4}}-(?P<im>\d{{2}})-(?P<id>\d{{2}})\b|(?P<d>\d{{1,2}})(?:st|nd|rd"
    rf"|th)?\.?\s(?:of\s)?(?P<m>{_NAMED_MONTH})\b|\b(?P<m2>{_NAMED_MONTH})\s(?P<d2>\d{{1,2}})(?:st"
    rf"|nd|rd|th)?\b(?![:.]\d)|\b(?P<only>\d{{1,2}})(?:st|nd|rd|th)\b"
    rf"|\b(?:am|zum|der|den)\s(?P<dot>\d{{1,2}})\.(?:(?P<dotm>\d{{1,2}})\.)?"
    rf"|(?:(?P<jm>\d{{1,2}})月)?(?P<jd>\d{{1,2}})日|(?P<jo>\d{{1,2}})月",
    re.IGNORECASE,
)
_ASKS_SHARE = re.compile(
    r"\b(?:percent\w*|rate|share|accuracy|coverage|prozent|anteil|quote)\b|[%％率]", re.IGNORECASE
)
_ASKS_SUM = re.compile(
    r"\b(?:budget|costs?|price|rent|salary|pay|how much|fee|kosten|kostet|preis|miete|gehalt"
    r"|wie ?viel)\b|いくら|予算|家賃",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(
    r"\b(?:when|time|date|day|deadline|due|schedule\w*|wann|uhr|uhrzeit|tag|termin\w*|frist)\b|いつ"
    r"|何時|何曜|何日|締め切り",
    re.IGNORECASE,
)
_WORDS_OF_VALUES = frozenset((*_WEEKDAY, *(f"{day}s" for day in _WEEKDAY), *_MONTH, *_COUNTS))
_PHONE = re.compile(r"\+?\d{2,5}[ /-]\d{2,4}(?:[ -]\d{2,8}){0,4}|\b\d{7,15}\b")
_NUMBER = re.compile(
    r"(?P<before>[€$£¥]\s?)?(?P<number>\d{1,9}(?:[.,'’]\d{1,9}){0,3})(?P<k>k\b)?\s?(?P<after>[€$£¥%]"
    r"|[^\W\d_\u3041-\u30ff\u4e00-\u9fff]{1,24})?"
)
_DIGIT = re.compile(r"\d")
_HINT = re.compile(r"[\d一二三四五六七八九十曜]|noon|midnight|mittag|halb", re.IGNORECASE)
"""Is in every sentence with a time or number, except where the sentence tells it in
`_WORDS_OF_VALUES`.
"""
_WORD = re.compile(r"[^\W\d_]+")
_PHRASE = re.compile(r"(?:[ -][^\W\d_]{2,24}){1,2}")
"""The next words after a number's first: "12 conditional probability problems"."""
_JAPANESE_COUNT = re.compile(
    r"(?P<number>\d{1,9}(?:[.,]\d{1,9})?"
    r"|[一二三四五六七八九十])(?P<myriad>万(?P<rest>\d千?)?)?(?P<unit>円|錠|匹|羽|頭|人|台|本|個|回|歳"
    r"|キロ|kg|分|時間|日|枚|冊|年生|階|%)"
)


@dataclass(frozen=True, slots=True)
class Values:
    """The times and numbers of a sentence.

    Attributes:
        whens: By kind ("weekday", "time", "date", "month", "phone") the values.
        numbers: By unit or counted thing the numbers; "" for numbers without a unit.
        phrases: By a further word after a number's unit, which may be the thing that it counts,
            the numbers.

    """

    whens: Mapping[str, frozenset[str]]
    numbers: Mapping[str, frozenset[str]]
    phrases: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.whens) or bool(self.numbers)

    def of_kind(self, asked: AskedKind) -> Values:
        """The values that a question asks for.

        These are numbers of a counted thing, of a share or of a sum, and times. If no number has
        such a unit, numbers without a unit are returned, since they may have any.
        """
        if not self:
            return self
        numbers = {
            unit: self.numbers.get(unit, frozenset()) | self.phrases.get(unit, frozenset())
            for unit in self.numbers.keys() | self.phrases.keys()
            if unit and asked.counts(unit)
        }
        if not numbers and "" in self.numbers:
            numbers[""] = self.numbers[""]
        return Values(self.whens if asked.when else {}, numbers)

    def differ(self, other: Values, *, loosely: bool) -> bool:
        """Whether the values are of the same kind and differ.

        Args:
            other: The values of another sentence.
            loosely: Whether a number without a unit may have any unit.

        """
        kinds = self.whens.keys() & other.whens.keys()
        if kinds:
            return any(self.whens[kind].isdisjoint(other.whens[kind]) for kind in kinds)
        units = self.numbers.keys() & other.numbers.keys()
        if units:
            return any(self.numbers[unit].isdisjoint(other.numbers[unit]) for unit in units)
        if loosely and ("" in self.numbers) != ("" in other.numbers):
            bare, counted = (self, other) if "" in self.numbers else (other, self)
            numbers = {
                number for unit, of_unit in counted.numbers.items() if unit for number in of_unit
            }
            return bool(numbers) and bare.numbers[""].isdisjoint(numbers)
        return False


NO_VALUES = Values({}, {})


@dataclass(frozen=True, slots=True)
class AskedKind:
    """The kind of values that a question asks for.

    Attributes:
        units: Units and things that it may count.
        when: Whether it asks for a time.
        terms: The question's terms.

    """

    units: frozenset[str]
    when: bool
    terms: frozenset[str]

    @classmethod
    def of(cls, question: str, terms: Collection[str]) -> AskedKind:
        """Read a question.

        Args:
            question: Its text.
            terms: The question's terms.

        """
        units = {*terms}
        if _ASKS_SHARE.search(question):
            units.add("%")
        if _ASKS_SUM.search(question):
            units.add("money")
        return cls(frozenset(units), _ASKS_WHEN.search(question) is not None, frozenset(terms))

    def counts(self, unit: str) -> bool:
        """Whether it asks for numbers of a unit, which is stemmed as an English word."""
        return unit in self.units or not self.units.isdisjoint(terms_of([unit], "german"))


def values_in(text: str) -> Values:
    """The times and numbers of a sentence."""
    if _HINT.search(text) is None and _WORDS_OF_VALUES.isdisjoint(_WORD.findall(text.casefold())):
        return NO_VALUES
    return _read_values(text)


def _read_values(text: str) -> Values:
    whens: dict[str, set[str]] = {}
    rest = text
    # most sentences have none, and no telephone number or date without one
    if _DIGIT.search(text) is not None:
        for match in _PHONE.finditer(rest):
            if len(digits := re.sub(r"\D", "", match.group())) >= 7:
                whens.setdefault("phone", set()).add(digits)
        rest = _PHONE.sub(
            lambda match: " ; " if len(re.sub(r"\D", "", match.group())) >= 7 else match.group(),
            rest,
        )
        rest = DATE.sub(lambda match: _dated(match, whens), rest)
    rest = TIME.sub(lambda match: _timed(match, whens), rest)
    for word in _WORD.findall(rest.casefold()):
        day = _WEEKDAY.get(word) or _WEEKDAY.get(word.rstrip("s"))
        if day is not None:
            whens.setdefault("weekday", set()).add(day)
        elif word in _MONTH and word not in ("may", "mar", "sun"):
            whens.setdefault("month", set()).add(_MONTH[word])
    for name, day in _JAPANESE_WEEKDAY.items():
        if name in text:
            whens.setdefault("weekday", set()).add(day)
    return Values({kind: frozenset(values) for kind, values in whens.items()}, *_numbers(rest))


def _dated(match: re.Match[str], whens: dict[str, set[str]]) -> str:
    month = match["m"] or match["m2"]
    if month is not None and month.casefold() not in _MONTH:
        return match.group()
    day = match["id"] or match["d"] or match["d2"] or match["only"] or match["dot"] or match["jd"]
    if match["jo"] is not None:
        whens.setdefault("month", set()).add(str(int(match["jo"])))
        return " ; "
    if day is None or not 1 <= int(day) <= 31:
        return match.group()
    whens.setdefault("date", set()).add(str(int(day)))
    number = _MONTH.get(month.casefold()) if month else match["im"] or match["dotm"] or match["jm"]
    if number is not None:
        whens.setdefault("month", set()).add(str(int(number)))
    return " ; "


def _timed(match: re.Match[str], whens: dict[str, set[str]]) -> str:
    text = match.group().casefold()
    moment = " ".join(re.sub(r"\b(?:at|um|uhr|o'clock)\b|\.m\.", " ", text).split()).replace(
        ".", ":"
    )
    whens.setdefault("time", set()).add(moment.replace(" ", ""))
    return " ; "


def _numbers(text: str) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """The numbers of a text by unit, and by the further words after the unit."""
    by_unit: dict[str, set[str]] = {}
    by_word: dict[str, set[str]] = {}
    for match in _JAPANESE_COUNT.finditer(text):
        number = _KANJI.get(match["number"], match["number"]) + (
            f"万{match['rest'] or ''}" if match["myriad"] else ""
        )
        by_unit.setdefault("money" if match["unit"] == "円" else match["unit"], set()).add(number)
    text = _JAPANESE_COUNT.sub(" ; ", text)
    for match in _NUMBER.finditer(text):
        number = re.sub(r"[,.'’](?=\d{3}(?!\d))", "", match["number"]).replace(",", ".") + (
            "000" if match["k"] else ""
        )
        after = (match["after"] or "").casefold()
        if match["before"] or after in _MONEY:
            unit = "money"
        elif not after or after in _NOT_COUNTED:
            unit = ""
        else:
            unit = "".join(terms_of([after])) or ("%" if after == "%" else "")
            for word in _further_words(text, match.end()):
                by_word.setdefault("".join(terms_of([word])), set()).add(number)
        by_unit.setdefault(unit, set()).add(number)
    before = ""
    for word in (*_WORD.findall(text.casefold()), "now"):
        if before in _COUNTS and word in _BARE:
            by_unit.setdefault("", set()).add(_COUNTS[before])
        elif before in _COUNTS and word not in _NOT_COUNTED:
            by_unit.setdefault("".join(terms_of([word])), set()).add(_COUNTS[before])
        before = word
    return (
        {unit: frozenset(numbers) for unit, numbers in by_unit.items()},
        {word: frozenset(numbers) for word, numbers in by_word.items()},
    )


def _further_words(text: str, start: int) -> list[str]:
    """The words after a number's unit that may belong to its phrase."""
    phrase = _PHRASE.match(text, start)
    words = phrase.group().casefold().replace("-", " ").split() if phrase else []
    return [*takewhile(lambda word: word not in _NOT_COUNTED, words)]
