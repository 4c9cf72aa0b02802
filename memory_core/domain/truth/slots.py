"""The slot that a fact belongs to: its name, retractions, and equal values.

A slot is the (subject, attribute) that a truth fills. The record of filled slots is a Bloom filter
in the owner's head. So a decision about a new truth knows, before it asks the store, whether there
can be older truths. Note: a mark means "perhaps", and its absence means "never". Marks are not
taken back, since a slot that was emptied has a past.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final

import orjson

from memory_core.domain.memory import (
    MAX_CONTENT_BYTES,
    Memory,
    MemoryType,
    text_of_value,
    text_within,
)
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
EXACT_FLOATS = 2.0**53
"""Below it each whole number is a number of its own."""


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


def same_value(memory: Memory, other: Memory) -> bool:
    """Whether two memories of a slot state the same value, or its end.

    The values are compared by their form (`value_form`). A copy for another agent states the same
    as its original.

    Args:
        memory: A memory of the slot.
        other: Another memory of the slot.

    """
    return is_retraction(memory) == is_retraction(other) and _form(memory) == _form(other)


def value_form(memory: Memory) -> str | None:
    """The form by which statements of a slot are compared.

    The form of a retraction is that of the value that it names, and None for any value that held.
    Case and articles do not matter. The form of a procedure is its value and its text, to the
    letter. Equal JSON has one form: the order of names does not matter, and 1.0 is 1. A copy for
    another agent has a form of its own, so that it is no repeat of its original.
    """
    form = _form(memory)
    return form if form is None or memory.copied_from is None else f"{form} for {memory.agent_id}"


def _form(memory: Memory) -> str | None:
    """The form of a value, which copies share with their original."""
    value = next(iter(memory.value.values())) if is_retraction(memory) else memory.value
    if memory.type is MemoryType.PROCEDURAL:
        return f"p {_json(memory.value)} {_text_of_procedure(memory).strip()}"
    if value is not None:
        return f"v {without_articles(value if isinstance(value, str) else _json(value))}"
    return f"c {normalised(memory.content)}" if memory.value is None else None


def text_of_key(key: str, value_text: str | None) -> str:
    """The text of a procedure that was saved without one: its key and its value.

    Args:
        key: The key.
        value_text: The value as text.

    """
    return text_within(f"{key}: {value_text}", MAX_CONTENT_BYTES)


def hashed(form: str, salt: str) -> str:
    """The hash of a form that a log keeps.

    Args:
        form: The form of a value.
        salt: Hex digits from the slot's document.

    """
    return blake2b(form.encode(), digest_size=_HASH_BYTES, key=bytes.fromhex(salt)).hexdigest()


def _text_of_procedure(memory: Memory) -> str:
    """The text by which procedures are compared.

    A text that only repeats the key and the value is made of the value's equal form.
    """
    key = memory.key or ""
    if memory.content != text_of_key(key, text_of_value(memory.value)):
        return memory.content
    return text_of_key(key, text_of_value(_equal_form(memory.value)))


def _json(value: Any) -> str:
    return orjson.dumps(_equal_form(value)).decode()


def _equal_form(value: Any) -> Any:
    """The JSON value in the one form that equal values have."""
    if isinstance(value, dict):
        return {name: _equal_form(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_equal_form(each) for each in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < EXACT_FLOATS
    return int(value) if is_whole else value


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
    York is not New York. A company is also called by the first word of its name, without what it
    is ("Hartwell" for "Hartwell Logistics", "Brandt" for "Firma Brandt"), and "病院" is
    "札幌の病院". The retraction may name several values: "vegan or vegetarian".

    Args:
        ending: A retraction that names a value.
        truth: A memory of the slot whose value is a text.

    """
    names, value = str(ending.value[_KEY]), str(truth.value)
    if any(_is_short_for(name, value, truth.attribute) for name in names.split(" or ")):
        return True
    short, whole = without_articles(names).split(), value.split()
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


def _is_short_for(name: str, value: str, attribute: str | None) -> bool:
    """Whether a name is the value without its ending, place or kind of company."""
    short, whole = normalised(name), normalised(value)
    if not short:
        return False
    if attribute == "employer" and (whole.startswith(f"{short} ") or whole == f"firma {short}"):
        return True
    is_diet = attribute == "diet" and whole.startswith(short)
    return is_diet or whole == short or whole.endswith(f"の{short}")


_DETERMINERS = frozenset(
    {"a", "an", "the", "my", "our", "his", "her", "their", "ein", "eine", "einen", "einem", "einer"}
)
_PREPOSITIONS = frozenset({"of", "in", "on", "at", "for", "from", "with", "by", "near", "to"})
_SEVERAL = re.compile(r"[,;/&]|\b(?:and|or)\b", re.IGNORECASE)


def without_articles(text: str) -> str:
    """The normalised text without its articles."""
    return _ARTICLE.sub("", normalised(text))
