"""The numbers that stand in a text, each in one spelling, so that two texts can be asked whether they hold the same ones.

They are compared as written, not as values: version 3.10 is not version 3.1, and 007 is not 7. A date, a time, a fraction
or a range is one number, because its parts in another order are another date.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from memory_core.domain.normal_form import normal_form

_ENGLISH = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty
"""
_GERMAN = """
    null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
    zwanzig
"""
NUMBER_WORDS = tuple(_ENGLISH.split())
GERMAN_NUMBER_WORDS = tuple(_GERMAN.split())
"""The words for 0 to 20, each at the place of its number."""
_JOINT = re.compile(r"(?<=\d)[\u00a0\u202f'’_](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"(?:(?<!\S)|(?<=[(\[]))-?\d+(?:[.,:/-]\d+)*|\d+(?:[.,:/-]\d+)*")
_THOUSANDS_AND_FRACTION = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")


def plain_digits(text: str) -> str:
    """The text with the decimal digits of every script as 0-9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(character)) if character.isdecimal() else character for character in text)


def numbers_in(text: str) -> Counter[str]:
    """How often each number occurs in the text.

    Thousands may be parted by commas, apostrophes, underscores or hard spaces (1,000 = 1'000 = 1000), a decimal comma is a
    point (3,5 = 3.5); "1.000" stays what it is, since it may be a thousand or not. A minus counts at
    the beginning, and after a space or an opening bracket.
    """
    # The hard spaces go first: NFKC makes plain ones of them, and then 1 000 might be two numbers.
    plain = normal_form("NFKC", _JOINT.sub("", text)).replace("−", "-")
    return Counter(_one_spelling(number) for number in _NUMBER.findall(plain_digits(plain)))


def _one_spelling(number: str) -> str:
    return number.replace(",", "") if _THOUSANDS_AND_FRACTION.fullmatch(number) else number.replace(",", ".")
