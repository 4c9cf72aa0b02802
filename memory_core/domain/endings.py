"""What is told of a truth that ended while nothing took its place.

For example "I quit my job", "I no longer live in Berlin". A retraction is stored in the slot of the truth that it ends, so that every
reader of the slot meets it; its value is `{"no_longer": "Berlin"}`, or `{"no_longer": null}` for whatever held before. Note: it is no value
like others, for a retraction that names Berlin says nothing against Lisbon.
"""

from __future__ import annotations

import re
from typing import Any, Final

from memory_core.domain.models import Memory
from memory_core.domain.sameness import normalised

NO_LONGER = "no longer"
"""How agents begin the value of an ending: "no longer Berlin", or nothing but these words for whatever held before."""
_KEY = "no_longer"
ENDS_ANYTHING: Final = {_KEY: None}
"""The value of an ending that names nothing."""
_TOLD = re.compile(rf"{NO_LONGER}\b\s*", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:an?|the)\s+")


def value_told(told: str | None) -> Any:
    """What a slot holds by an agent's words: an ending for such as begin with `NO_LONGER`, else the words themselves."""
    match = None if told is None else _TOLD.match(told)
    return told if told is None or match is None else {_KEY: told[match.end() :] or None}


def is_ending(memory: Memory) -> bool:
    """Whether a memory tells of an end, and not of what holds."""
    return isinstance(memory.value, dict) and memory.value.keys() == {_KEY}


def ends(ending: Memory, truth: Memory) -> bool:
    """Whether an ending ends this truth of its slot: it names none, or this one. Case and articles do not matter.

    A truth that was saved without a value is named by words of its text.
    """
    if not is_ending(ending) or is_ending(truth):
        return False
    named = ending.value[_KEY]
    if named is None:
        return True
    if truth.value is None:
        return f" {without_articles(str(named))} " in f" {without_articles(truth.content)} "
    return without_articles(str(named)) == without_articles(str(truth.value))


def without_articles(text: str) -> str:
    """The normalised text without its articles."""
    return _ARTICLE.sub("", normalised(text))
