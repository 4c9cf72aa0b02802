"""Names and allergies that are told as a joke, by a laugh beside them."""

from __future__ import annotations

import re

from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.statements.contradiction_words import PETS

_AFTER = 3
"""Characters after a quote in which a picture laughs about it."""
_LAUGH = r"\b(?:lol|lmao|rofl|ha(?:ha)+|(?:he){2,})\b|[😂🤣]"
_LAUGHS = re.compile(rf"{_LAUGH}|(?<!\w)w{{2,}}\Z", re.IGNORECASE)
"""A name that is told with a laugh is a joke: "my name is Bond, James Bond lol"."""
_ALLERGY = re.compile(r"(?:allergy|intolerance) to (?P<to>.+)")
_NO_ALLERGEN = re.compile(
    r"(?: allergisch)?(?:の?アレルギー)?(?:なん)?(?:です|だ)?[よね]?"
    rf"(?:[\s.!…,]{{0,3}}(?:{_LAUGH})|(?:w{{1,9}}+|[（(]?笑[）)]?|草)(?!\w)| (?:that|who|which)\b)",
    re.IGNORECASE,
)
"""Words after the thing of a joke: "allergic to meetings that could be an email"."""


def is_joking_name(fact: SaidFact, message: Message) -> bool:
    """Whether a name is told with a laugh.

    Args:
        fact: The fact, with its quote.
        message: The message that is quoted.

    """
    if fact.attribute != "name":
        return False
    return _LAUGHS.search(f"{fact.quote} {_after(fact, message)}") is not None


def is_joking_allergy(fact: SaidFact, message: Message) -> bool:
    """Whether an allergy is told with a laugh, or to a part only.

    Args:
        fact: The fact, with its quote.
        message: The message that is quoted.

    """
    allergy = _ALLERGY.fullmatch((fact.attribute or "").casefold())
    if allergy is None:
        return False
    thing = _LAUGHS.sub("", allergy["to"]).strip()
    if thing in PETS or thing.removesuffix("s") in PETS:
        return False
    quote = fact.quote + _after(fact, message)
    place = quote.casefold().find(thing)
    return place >= 0 and (not thing or _NO_ALLERGEN.match(quote, place + len(thing)) is not None)


def _after(fact: SaidFact, message: Message) -> str:
    """The characters right after a fact's quote."""
    return message.content.partition(fact.quote)[2][:_AFTER]
