"""A single spelling of texts: numbers, times of day, names of days and months."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from memory_core.domain.text.unicode_forms import normal_form

# The numbers in a text, each in a single spelling, so that two texts can be compared by them.
#
# Numbers are compared as written, not by value: version 3.10 is not version 3.1, and 007 is not 7.
# A date, a time, a fraction or a range is a single number, because its parts in another order are
# another date.


_ENGLISH = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
_GERMAN = """
    null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
    sechzehn siebzehn achtzehn neunzehn zwanzig
"""
NUMBER_WORDS = tuple(_ENGLISH.split())
GERMAN_NUMBER_WORDS = tuple(_GERMAN.split())
"""The words for 0 to 20, each at the place of its number."""
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_JOINT = re.compile(r"(?<=\d)[\u00a0\u202f'’_](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"(?:(?<!\S)|(?<=[(\[]))-?\d+(?:[.,:/-]\d+)*|\d+(?:[.,:/-]\d+)*")
_THOUSANDS_AND_FRACTION = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")


def plain_digits(text: str) -> str:
    """The text with the decimal digits of every script as 0-9."""
    if text.isascii():
        return text
    return _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit.group())), text)


def numbers_in(text: str) -> Counter[str]:
    """How often each number occurs in the text.

    Thousands may be separated by commas, apostrophes, underscores or hard spaces (1,000 = 1'000 =
    1000). A decimal comma is a point (3,5 = 3.5). "1.000" is not changed, since it may be a
    thousand or not. A minus counts at the beginning, and after a space or an opening bracket.
    """
    # The hard spaces go first: NFKC makes plain ones of them, and then 1 000 might be two numbers.
    plain = normal_form("NFKC", _JOINT.sub("", text)).replace("−", "-")
    return Counter(_one_spelling(number) for number in _NUMBER.findall(plain_digits(plain)))


def _one_spelling(number: str) -> str:
    return (
        number.replace(",", "")
        if _THOUSANDS_AND_FRACTION.fullmatch(number)
        else number.replace(",", ".")
    )


# Names of weekdays and months in their order, in lower case: English, German, Japanese.
#
# The `ANY_…` are alternatives for an expression. English "may" is a verb far more often than a
# month, hence `PLAIN_MONTHS`.


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
GERMAN_WEEKDAYS = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
SONNABEND = "sonnabend"
"""The other German name of the Saturday."""
JAPANESE_WEEKDAYS = "月火水木金土日"
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
PLAIN_MONTHS = tuple(month for month in MONTHS if month != "may")
GERMAN_MONTHS = (
    "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober",
    "november", "dezember",
)  # fmt: skip

ANY_WEEKDAY = "|".join(WEEKDAYS)
ANY_GERMAN_WEEKDAY = "|".join(GERMAN_WEEKDAYS)
ANY_MONTH = "|".join(MONTHS)
ANY_GERMAN_MONTH = "|".join(GERMAN_MONTHS)


# A single spelling for times of day, small numbers, short forms and Japanese verbs.


_TENS = (
    "thirty forty fifty sixty seventy eighty ninety hundred",
    "dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
)
_NUMBERS = {
    word: str(number)
    for words in (NUMBER_WORDS, GERMAN_NUMBER_WORDS)
    for number, word in enumerate(words)
    if number > 1
} | {
    word.casefold(): str(number * 10)
    for words in _TENS
    for number, word in enumerate(words.split(), 3)
}
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b")


def one_spelling(text: str) -> str:
    """The text with a single spelling where several are usual.

    This concerns times of day, small numbers, Japanese verbs, and the differences between two ways
    of spelling English.
    """
    text = _SHORT_BE.sub(
        lambda match: f"{match[1]} is", _SHORT.sub(lambda match: _SHORT_FORMS[match.group()], text)
    )
    text = _PHRASE.sub(lambda match: _PHRASES[match.group()], text)
    text = _CANNOT_STAND.sub(lambda match: f"hasst {match[1]}", text)
    text = _BRITISH.sub("or", text.replace("licence", "license"))
    text = _SWITCHED.sub("", _EMPLOYED.sub("works at", text))
    text = _NUMBER_WORD.sub(lambda match: _NUMBERS[match.group()], text)
    text = _POLITE_NOT.sub(
        lambda match: f"{match[1].translate(_POLITE)}ません", _OF_ONESELF.sub("", text)
    )
    text = _RU.sub("ます", _PLAIN.sub(lambda match: f"{match[1].translate(_POLITE)}ます", text))
    text = _HOUR_AND_MINUTE.sub(lambda match: f"{match[1]}:{match[2]}時", text)
    text = _AFTERNOON.sub(
        lambda match: f"{int(match[1]) % 12 + 12}時",
        _COUNTER.sub(lambda match: str(_KANJI.index(match.group()) + 1), text),
    )
    text = _THERE_IS.sub(
        lambda match: "有" if match.group() == "あり" else "無",
        _IN_KANA.sub(lambda match: _KANA[match.group()], text),
    )
    return _FULL_HOUR.sub(
        "", _THOUSANDS_MARK.sub("", _UHR.sub(_with_minutes, _CLOCK.sub(_by_24, text)))
    )


def _with_minutes(match: re.Match[str]) -> str:
    return f"{match[1]}:{match[2]} uhr" if match[2] else match.group()


def _by_24(match: re.Match[str]) -> str:
    hour = int(match["hour"]) % 12 + (12 if match["half"].startswith("p") else 0)
    return f"{hour}:{match['minute'] or '00'}"


_CLOCK = re.compile(
    r"\b(?P<hour>1[0-2]|0?[1-9])(?::(?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?"
)
_BRITISH = re.compile(r"(?<=[a-z]{3})our(?=s?\b|ite)")
_EMPLOYED = re.compile(r"\b(?:is|am|are) employed (?:at|by)\b|\b(?:works|work) for\b")
_SWITCHED = re.compile(r"\b(?:switched|turned) (?=(?:on|off)\b)")
_OF_ONESELF = re.compile(
    r"(?<=[\u3041-\u9fff])(?:うち|私|僕|ユーザー)の|\A(?:うち|私|僕|ユーザー)の"
)
_POLITE_NOT = re.compile(r"(?<=[\u4e00-\u9fff])([かがさたなばまらわ])ない(?![\u3041-\u309f])")
_PLAIN = re.compile(r"(?<=[\u4e00-\u9fff])([うくぐすつぬぶむ])(?=$|。)")
_RU = re.compile(r"(?<=[えけげせぜてでねべめれいきぎしじちにびみり])る(?=$|。)")
_POLITE = str.maketrans("かがさたなばまらわうくぐすつぬぶむ", "きぎしちにびみりいいきぎしちにびみ")
"""The form of a verb's ending before ます."""
_PHRASES = {
    "turned down": "rejected", "turns down": "rejects", "can't stand": "hates",
    "cannot stand": "hates", "can't bear": "hates", "morning person": "earlybird",
    "late riser": "nightowl", "on time": "punctual", "in plain text": "plaintext",
     "early bird": "earlybird", "early riser": "earlybird", "night owl": "nightowl",
    "night person": "nightowl",
    "permitted": "allowed", "welcome": "allowed", "fond of": "likes", "gave up": "quit",
    "given up": "quit", "stopped": "quit", "is able to": "can", "are able to": "can",
    "am able to": "can", "gestattet": "erlaubt", "zugelassen": "erlaubt", "lacks": "has no",
    "got rid of": "sold", "steht offen": "ist offen", "steht leer": "ist leer",
    "stands empty": "is empty", "stands open": "is open", "laid off": "fired", "lays off": "fires",
    "is located in": "is in", "resides in": "lives in",
}  # fmt: skip
_PHRASE = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b")
_CANNOT_STAND = re.compile(r"\bkann ([^.!?]{1,40}?) nicht (?:leiden|ausstehen)\b")
_SHORT_FORMS = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will"}
_SHORT = re.compile(r"(?<=[a-z])'(?:m|re|ve|ll)\b")
_SHORT_BE = re.compile(r"\b(he|she|it|that|there|here|who|what)'s\b")
_UHR = re.compile(r"\b(\d{1,2}) uhr(?: ([0-5]\d)\b)?")
_FULL_HOUR = re.compile(r"(?<=\d):00\b")
_THOUSANDS_MARK = re.compile(r"(?<=\d)[.,](?=\d{3}(?![\d.,]))")
_HOUR_AND_MINUTE = re.compile(r"(\d{1,2})時(\d{1,2})分")
_KANJI = "一二三四五六七八九"
_COUNTER = re.compile(
    r"(?<![一二三四五六七八九十百千万第])[一二三四五六七八九](?=[人匹個本枚冊台回歳才時分円階部軒頭杯])"
)
_AFTERNOON = re.compile(r"午後(1[0-2]|[1-9])時")
_THERE_IS = re.compile(r"(?<=[\u30a0-\u9fff])(?:あり|なし)(?=[でのがに]|です|だ|$)")
_KANA = {
    "すき": "好き", "きらい": "嫌い", "おおきい": "大きい", "ちいさい": "小さい", "たかい": "高い",
    "ひくい": "低い", "やすい": "安い", "あつい": "暑い", "さむい": "寒い", "ながい": "長い",
    "みじかい": "短い", "ひろい": "広い", "せまい": "狭い", "おもい": "重い", "かるい": "軽い",
    "はやい": "早い", "おそい": "遅い", "からい": "辛い", "あまい": "甘い", "むずかしい": "難しい",
    "うるさい": "騒い", "しずか": "静か", "ついている": "点ている", "ついています": "点ています",
    "きれい": "綺麗",
}  # fmt: skip
_IN_KANA = re.compile(rf"(?<=[はがのを\u30a0-\u9fff])(?:{'|'.join(_KANA)})")
