"""The slot that a fact belongs to: attributes, retractions, and equal values.

A slot is the (subject, attribute) that a truth fills. The record of filled slots is a Bloom filter
in the owner's head. So a decision about a new truth knows, before it asks the store, whether there
can be older truths. Note: a mark means "perhaps", and its absence means "never". Marks are not
taken back, since a slot that was emptied has a past.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import orjson

from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.unicode_forms import normal_form

Slot = tuple[str, str]

BITS = 8192
"""Bits of the filter: 1 KB, 1.4 KB as text.

The share of empty slots that it takes for filled is 0.2 % after 500 slots, 2 % after 1,000, and 15
% after 2,000. Then the store gets a further query. The formula is (1 − e^(−HASHES·n /
BITS))^HASHES, Bloom 1970.
"""
HASHES = 4


def slot_of(memory: Memory) -> Slot | None:
    """The slot that a memory fills: (subject, attribute), folded; None without a slot."""
    if memory.subject is None or memory.attribute is None:
        return None
    return folded(memory.subject), folded(memory.attribute)


def folded(name: str) -> str:
    """A subject or an attribute as slots compare it.

    Case does not matter, nor how letters are composed ("ë", "e" and "¨").
    """
    return normal_form("NFC", normal_form("NFC", name).casefold())


def same_value(memory: Memory, other: Memory) -> bool:
    """Whether two memories of a slot state the same.

    They are compared by their values if either has a value, else by their words.

    Args:
        memory: A memory of the slot.
        other: Another memory of the slot.

    """
    if memory.value is not None or other.value is not None:
        return bool(memory.value == other.value)
    return normalised(memory.content) == normalised(other.content)


def marked(marks: str, slot: Slot) -> bool:
    """Whether a slot may have been filled. False is certain.

    Args:
        marks: The filter as text.
        slot: The slot.

    """
    bits = _bits(marks)
    return all(bits >> place & 1 for place in _places(slot))


def with_marks(marks: str, slots: Iterable[Slot]) -> str:
    """The filter with the marks of further slots; the same text without new marks.

    Args:
        marks: The filter as text; "" without any marks.
        slots: The slots to mark.

    """
    before = bits = _bits(marks)
    for slot in slots:
        for place in _places(slot):
            bits |= 1 << place
    return marks if bits == before else b64encode(bits.to_bytes(BITS // 8, "little")).decode()


def _bits(marks: str) -> int:
    return int.from_bytes(b64decode(marks), "little")


def _places(slot: Slot) -> list[int]:
    subject, attribute = (part.encode() for part in slot)
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    digest = blake2b(
        b"%d:%b%b" % (len(subject), subject, attribute), digest_size=2 * HASHES
    ).digest()
    return [int.from_bytes(digest[at : at + 2], "little") % BITS for at in range(0, 2 * HASHES, 2)]


# Which slot a memory belongs to, and by what the values of one slot are compared.
#
# Note: a log keeps hashes of values, salted in the document of its slot, so values that are the
# same must have the same form.


SlotName = tuple[str, ...]
"""("slot", subject, attribute) or ("key", key)."""
_HASH_BYTES = 9


def slot_name(memory: Memory) -> SlotName | None:
    """The slot that a memory is a member of, or None.

    None means that the memory is alone in its slot.

    A copy of a procedure for another agent has the key too, but is no value of it.
    """
    if (
        memory.type is MemoryType.PROCEDURAL
        and memory.key is not None
        and memory.copied_from is None
    ):
        return "key", memory.key
    slot = slot_of(memory) if memory.type is MemoryType.SEMANTIC else None
    return None if slot is None else ("slot", *slot)


def are_of_one_slot(first: Memory, second: Memory) -> bool:
    """Whether two memories belong to the same slot, so that a single log decides them.

    Args:
        first: A memory.
        second: Another memory.

    """
    return slot_name(first) is not None and slot_name(first) == slot_name(second)


def value_form(memory: Memory) -> str | None:
    """The form by which statements of a slot are compared.

    The form of a retraction is that of the value that it names, and None for any value that held.
    Case and articles do not matter. The form of a procedure is its value and its text, to the
    letter. A copy for another agent has a form of its own, so that it is no repeat of its original.
    """
    value = next(iter(memory.value.values())) if is_retraction(memory) else memory.value
    if memory.type is MemoryType.PROCEDURAL:
        form = f"p {_json(memory.value)} {memory.content.strip()}"
    elif value is not None:
        form = f"v {without_articles(value if isinstance(value, str) else _json(value))}"
    elif memory.value is None:
        form = f"c {normalised(memory.content)}"
    else:
        return None
    return form if memory.copied_from is None else f"{form} for {memory.agent_id}"


def hashed(form: str, salt: str) -> str:
    """The hash of a form that a log keeps.

    Args:
        form: The form of a value.
        salt: Hex digits from the slot's document.

    """
    return blake2b(form.encode(), digest_size=_HASH_BYTES, key=bytes.fromhex(salt)).hexdigest()


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


# What is told of a truth that ended while nothing took its place.
#
# For example "I quit my job", "I no longer live in Berlin". A retraction is stored in the slot of
# the truth that it ends, so that every reader of the slot meets it; its value is
# `{"no_longer": "Berlin"}`, or `{"no_longer": null}` for whatever held before. Note: it is no value
# like others, for a retraction that names Berlin says nothing against Lisbon.


NO_LONGER = "no longer"
"""The words with which agents begin the value of a retraction.

"no longer Berlin" names a value. These words alone retract any value that held.
"""
_KEY = "no_longer"
RETRACTS_ANYTHING: Final = {_KEY: None}
"""The value of a retraction that names no value."""
_TOLD = re.compile(rf"{NO_LONGER}\b\s*", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:an?|the)\s+")


def value_or_retraction(text: str | None) -> Any:
    """The value of a slot by an agent's words.

    Words that begin with `NO_LONGER` give a retraction. Other words are the value themselves.
    """
    match = None if text is None else _TOLD.match(text)
    return text if text is None or match is None else {_KEY: text[match.end() :] or None}


def is_retraction(memory: Memory) -> bool:
    """Whether a memory states an end, and not a value that holds."""
    return isinstance(memory.value, dict) and memory.value.keys() == {_KEY}


def retracts(ending: Memory, truth: Memory) -> bool:
    """Whether a retraction ends a truth of its slot.

    It does if it names no value, or this value.

    Case and articles do not matter. A truth that was saved without a value is named by words of its
    text.

    Args:
        ending: A memory of the slot, perhaps a retraction.
        truth: Another memory of the slot.

    """
    if not is_retraction(ending) or is_retraction(truth):
        return False
    named = ending.value[_KEY]
    if named is None:
        return True
    if truth.value is None:
        return f" {without_articles(str(named))} " in f" {without_articles(truth.content)} "
    return without_articles(str(named)) == without_articles(str(truth.value))


def retraction_of(value: str) -> dict[str, str]:
    """The value of a retraction that names this value."""
    return {_KEY: value}


def is_named_short(ending: Memory, truth: Memory) -> bool:
    """Whether a retraction names a truth of its slot by a shorter name.

    "Skoda" is "a grey Skoda Octavia", and "nurse" is a "paediatric nurse". The short name is a name
    within a description that begins with an article, or the noun of a description in small letters.
    York is not New York.

    Args:
        ending: A retraction that names a value.
        truth: A memory of the slot whose value is a text.

    """
    name, value = str(ending.value[_KEY]), str(truth.value)
    short, whole = without_articles(name).split(), value.split()
    if not short or _SEVERAL.search(value) is not None:
        return False
    end = next(
        (place for place, word in enumerate(whole) if place and word.casefold() in _PREPOSITIONS),
        len(whole),
    )
    phrase = whole[:end]
    folded = [word.casefold() for word in phrase]
    if value == value.lower() and len(short) < len(folded) and folded[-len(short) :] == short:
        return True
    if not folded or folded[0] not in _DETERMINERS:
        return False
    return any(
        folded[place : place + len(short)] == short and not phrase[place][0].islower()
        for place in range(1, len(folded) - len(short) + 1)
    )


_DETERMINERS = frozenset({"a", "an", "the", "my", "our", "his", "her", "their"})
_PREPOSITIONS = frozenset({"of", "in", "on", "at", "for", "from", "with", "by", "near", "to"})
_SEVERAL = re.compile(r"[,;/&]|\b(?:and|or)\b", re.IGNORECASE)


def without_articles(text: str) -> str:
    """The normalised text without its articles."""
    return _ARTICLE.sub("", normalised(text))


# The attributes of a person that facts are filed under, so that two ways of saying it meet
# in one slot.
#
# A slot is (subject, attribute), and only one value is true of it at a time. So what one may have
# many of is part of the attribute itself: "opinion of rain": likes, "speaks german": yes. Other
# attributes are allowed; they meet only when they are spelt alike.


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name under which facts are filed.

    Attributes:
        name: The name. It may end with " …" for any words.
        value: A description of the value.
        also: Other names that mean the same; a name that ends with " …" takes any words there.
        german: Names in German questions. Facts told in that language are found by these names, and
            no fact is filed under them.
        japanese: The same in Japanese.

    """

    name: str
    value: str
    also: tuple[str, ...] = ()
    german: tuple[str, ...] = ()
    japanese: tuple[str, ...] = ()


def _attribute(
    name: str, value: str, also: str = "", *, german: str = "", japanese: str = ""
) -> Attribute:
    return Attribute(
        name,
        value,
        *(
            tuple(part.strip() for part in names.split(",") if part.strip())
            for names in (also, german, japanese)
        ),
    )


ATTRIBUTES: tuple[Attribute, ...] = (
    # who one is
    _attribute("name", "what the person is called", "full name, first name, called, given name",
               german="Name", japanese="名前"),
    _attribute("age", "years, in digits", "years old, age in years",
               german="Alter", japanese="年齢"),
    _attribute("birthday", "the day, with the year if it was told",
        "date of birth, birth date, born on, dob",
               german="Geburtstag, Geburtsdatum", japanese="誕生日, 生年月日"),
    _attribute("birth year", "the year", "year of birth, born in year"),
    _attribute("birthplace", "the place", "place of birth, born in, city of birth",
               german="Geburtsort", japanese="出身地"),
    _attribute("nationality", "the nationality", "citizenship, citizen of",
               german="Nationalität, Staatsangehörigkeit", japanese="国籍"),
    _attribute("origin", "the place or country one comes from",
        "from, country of origin, comes from",
               german="Herkunft", japanese="出身"),
    _attribute("native language", "the language", "mother tongue, first language",
               german="Muttersprache", japanese="母語"),
    _attribute("pronouns", "as they were told"),
    _attribute("email address", "the address", "email, e mail, mail address, e mail address",
               german="E-Mail-Adresse, Mailadresse", japanese="メールアドレス"),
    _attribute("phone number", "the number", "phone, telephone, telephone number, mobile number",
               german="Telefonnummer, Handynummer", japanese="電話番号"),
    # where one lives
    _attribute("home city", "the city or town",
        "city, lives in, residence, current city, location, city of residence, place of residence,"
               " home, current location, living in, moved to, home location",
               german="Wohnort, Stadt, Zuhause", japanese="住所, 住まい"),
    _attribute("home country", "the country", "country, country of residence, lives in country",
               german="Land", japanese="国"),
    _attribute("home town", "where one grew up", "hometown, grew up in, raised in",
               german="Heimatstadt, Heimat", japanese="故郷"),
    _attribute("address", "street and number", "home address, street address",
               german="Adresse, Anschrift", japanese="住所"),
    _attribute("time zone", "as it was told", "timezone"),
    # work and study
    _attribute("occupation", "the job, without an article",
        "job, job title, profession, works as, role, work, career, position",
               german="Beruf, Job", japanese="職業, 仕事"),
    _attribute("employer", "the company or organisation",
        "company, works at, works for, workplace, employed at, employed by",
               german="Arbeitgeber, Firma", japanese="勤務先, 会社"),
    _attribute("school", "the school or university", "university, college, studies at",
               german="Schule, Universität", japanese="学校, 大学"),
    _attribute("field of study", "the subject", "studies, major, degree, subject of study",
               german="Studienfach, Studium", japanese="専攻"),
    # whom one belongs to
    _attribute("marital status", "married, single, engaged, divorced or widowed",
        "relationship status",
               german="Familienstand", japanese="結婚"),
    _attribute("spouse", "the name", "husband, wife, married to",
               german="Ehemann, Ehefrau", japanese="夫, 妻"),
    _attribute("number of …", "how many, in digits"),
    # health and food
    _attribute("diet", "vegan, vegetarian, keto and the like", "dietary preference, eating habits",
               german="Ernährung", japanese="食事"),
    _attribute("allergy to …", "yes or no", "allergic to …, … allergy",
               german="Allergie, allergisch", japanese="アレルギー"),
    _attribute("intolerance to …", "yes or no", "… intolerance, intolerant of …"),
    _attribute("condition …", "yes or no", "has condition …, diagnosed with …, suffers from …"),
    _attribute("eats …", "yes or no"),
    _attribute("drinks …", "yes or no"),
    # what one likes, can and does
    _attribute("opinion of …", "likes or dislikes",
        "likes …, loves …, enjoys …, dislikes …, hates …, feeling about …, attitude towards …"),
    _attribute("favourite …", "what it is", "favorite …, preferred …"),
    _attribute("choice between … and …", "the one that is preferred"),
    _attribute("speaks …", "yes or no", "language …"),
    _attribute("learning …", "yes or no"),
    _attribute("car", "the make", "drives, vehicle",
               german="Auto, Wagen", japanese="車"),
)  # fmt: skip
_OPEN = " …"


def canonical_attribute(name: str) -> str:
    """The name that an attribute is filed under.

    It is the table's own name for any of its other names, and else the given name, tidied.
    """
    tidy = " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
    closed, openings, endings = _names()
    if tidy in closed:
        return closed[tidy]
    for opening, filed in openings:
        if tidy.startswith(opening) and len(tidy) > len(opening):
            return filed + tidy.removeprefix(opening)
    for ending, filed in endings:
        if tidy.endswith(ending) and len(tidy) > len(ending):
            return filed + tidy.removesuffix(ending)
    return tidy


def also_called(name: str) -> tuple[str, ...]:
    """All names of an attribute, so that "job" finds an occupation.

    There are none for an attribute that takes words.
    """
    return _also().get(canonical_attribute(name), ())


def called_in(language: str, name: str) -> tuple[str, ...]:
    """The names of an attribute in a language, so that "Beruf" finds an occupation.

    Args:
        language: `german` or `japanese`; any other language has no names.
        name: Any name of the attribute.

    """
    if language not in ("german", "japanese"):
        return ()
    family = family_of(name)
    filed = _filed().get(canonical_attribute(name) if family is None else f"{family}…")
    names: tuple[str, ...] = getattr(filed, language, ())
    return names


def family_of(name: str) -> str | None:
    """The opening of an attribute that may occur many times.

    It is "opinion of " for "opinion of rain", and None for an attribute that belongs to no such
    family.
    """
    filed = canonical_attribute(name)
    families = (opening for _, opening in _names()[1] if len(opening) < len(filed))
    return next((opening for opening in families if filed.startswith(opening)), None)


def canonical_subject(name: str) -> str:
    """The person or thing as slots name it, without articles and forms of address.

    A speaker without a name is "user".
    """
    tidy = " ".join(name.split()).removeprefix("the ").removeprefix("The ")
    first, mark, rest = tidy.partition("'s ")
    return ("user" if first.casefold() in _SPEAKERS else first) + mark + rest


_SPEAKERS = frozenset({"i", "me", "myself", "user", "speaker", "the user", "the speaker"})


@lru_cache(maxsize=1)
def _filed() -> dict[str, Attribute]:
    return {attribute.name: attribute for attribute in ATTRIBUTES}


@lru_cache(maxsize=1)
def _also() -> dict[str, tuple[str, ...]]:
    return {known.name: (known.name, *known.also) for known in ATTRIBUTES if "…" not in known.name}


@lru_cache(maxsize=1)
def _names() -> tuple[dict[str, str], list[tuple[str, str]], list[tuple[str, str]]]:
    """The names of attributes and the names that they are filed under.

    Returns:
        Whole names; beginnings of names that take words, the longest first; and endings of such
            names.

    """
    closed: dict[str, str] = {}
    openings: dict[str, str] = {}
    endings: dict[str, str] = {}
    for known in ATTRIBUTES:
        filed = known.name.split("…")[0]
        for name in (known.name, *known.also):
            if name.endswith(_OPEN) and name.count("…") == 1:
                openings[name.removesuffix("…")] = filed
            elif name.startswith("… "):
                endings[name.removeprefix("…")] = filed
            elif "…" not in name:
                closed[name] = known.name
    return (
        closed,
        sorted(openings.items(), key=lambda pair: -len(pair[0])),
        sorted(endings.items(), key=lambda pair: -len(pair[0])),
    )
