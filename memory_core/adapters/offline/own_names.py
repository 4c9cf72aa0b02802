"""Names, nationalities and pronouns, as they may follow "my name is" or "I'm".

"I'm Sarah" is told by its capital only, as "I'm Austrian" and "I'm Vegan" are. Note: a word that is known to be
something else than a name is none, and the list of such words can't be complete.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.fact_values import LANGUAGES, unquoted
from memory_core.adapters.offline.places import CITIES, COUNTRIES, NOWHERE
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS

_NAME = re.compile(
    r"(?:Dr\.?\s+|Mr\.?\s+|Mrs\.?\s+|Ms\.?\s+)?[^\W\d_a-z][\w'’-]*(?:\s+(?:(?:van|von|de|der|la|el|bin|al)\s+)*[^\W\d_a-z][\w'’.-]*){0,3}"
)
_LOWER_NAME = re.compile(r"[a-z][a-z'-]{1,20}$")
_AFTER_NAME = re.compile(r"$|(?<!\s)\s++(?:from|by|since|for|in|now|too|btw|here|at|with|without|actually|though|please)\b")
_OWN_NAME = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ'-]+(?: [A-ZÀ-Þ][a-zà-ÿ'-]+){0,2}")
_PEOPLES = """
    african american argentinian argentine asian australian austrian bangladeshi belgian bolivian bosnian brazilian british canadian
    chilean colombian cuban cypriot dominican dutch ecuadorian egyptian emirati ethiopian european filipino ghanaian indian iranian iraqi
    israeli jamaican jordanian kazakh kenyan kosovan kuwaiti lebanese libyan luxembourgish malaysian maltese mexican moldovan mongolian
    moroccan nepali nepalese nigerian pakistani palestinian paraguayan peruvian puerto rican salvadoran saudi scottish senegalese
    singaporean somali sudanese swiss syrian taiwanese tanzanian tunisian ugandan uruguayan uzbek venezuelan zambian zimbabwean new
    zealander
"""
_NATIONS = (frozenset(_PEOPLES.split()) | LANGUAGES) - {"latin", "esperanto", "mandarin", "cantonese", "new", "puerto"}
_IN_NATIONS = _NATIONS | {"new", "puerto", "north", "south"}
_NO_NAMES = """
    atheist baptist buddhist catholic caucasian christian hindu hispanic jewish latina latino lutheran methodist mormon muslim orthodox
    protestant sikh democrat republican liberal conservative vegan vegetarian pescatarian aries taurus gemini cancer virgo libra scorpio
    sagittarius capricorn aquarius pisces alone angry awake back better bored busy curious cold done dead deaf depressed exhausted excited
    fine free gay glad good great happy home hot hungry ill interested late lesbian lost mad married nervous new ok okay old pregnant ready
    retired right sad safe scared sick single sleepy sober sorry straight stressed stuck sure thirsty tired trans upset well worried wrong
    your their his her not just still admin administrator root system operator developer moderator user assistant batman god
"""
_NEVER = frozenset(_NO_NAMES.split()) | _IN_NATIONS | FUNCTION_WORDS | QUERY_WORDS | CITIES | COUNTRIES
_PRONOUNS = re.compile(r"(?:he|she|they|it|xe|ze|any|her|him|them)(?:/[a-z]+){1,3}", re.IGNORECASE)


def name(words: str) -> str | None:
    """A name: one to four capitalised words, or one plain word and nothing else."""
    plain = unquoted(words)
    match = _NAME.match(plain) or _LOWER_NAME.match(plain)
    if match is None or match.group().lower() in NOWHERE or not _AFTER_NAME.match(plain, match.end()):
        return None
    return match.group()


def own_name(words: str) -> str | None:
    """A name after "I am": capitalised words and nothing else, none of them known to be something else than a name."""
    match = _OWN_NAME.fullmatch(words)
    return words if match and _NEVER.isdisjoint(words.lower().split()) else None


def nationality(words: str) -> str | None:
    """What people of a country are called, and nothing besides it; it is written with a capital."""
    found = words.lower().split()
    known = bool(found) and found[-1] in _NATIONS and _IN_NATIONS.issuperset(found)
    return words if known and len(found) <= 2 and words[:1].isupper() else None


def pronouns(words: str) -> str | None:
    """Pronouns as people name theirs: "they/them"."""
    match = _PRONOUNS.match(words)
    return match.group() if match else None
