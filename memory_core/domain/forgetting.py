"""Mentions of a forgotten memory that are removed from the memories that stay.

A memory that stays and the events of its history are struck by the same rule, so that the log still
gives the stored memory. Note: a forgotten memory also lives on in the turns after it, which are
found by words of the turns before them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from memory_core.domain.memory import Event, Memory
from memory_core.domain.ranking.index_terms import search_text, turn_of
from memory_core.domain.text.analyzer import QUERY_WORDS, counts, terms_of, words
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.spelling import plain_digits
from memory_core.domain.truth.slots import slot_of

_NAMES = ("cell_id", "next_id", "supersedes_id", "copied_from")
_LISTS = ("source_ids", "consolidated_into_ids")


def redacted(event: Event) -> Event:
    """The event of a forgotten memory, which keeps only that it happened, and when."""
    return event.changed(
        redacted=True, before={}, after={}, metadata={}, agent_id=None, session_id=None
    )


def struck_event(event: Event, gone: Collection[str]) -> Event:
    """The event of a memory that stays, without mentions of removed memories.

    Args:
        event: The event.
        gone: Ids of the removed memories.

    """
    metadata = {
        name: value
        for name, value in event.metadata.items()
        if not (isinstance(value, str) and value in gone)
    }
    return event.changed(
        before=struck(event.before, gone), after=struck(event.after, gone), metadata=metadata
    )


def struck(fields: Mapping[str, Any], gone: Collection[str]) -> dict[str, Any]:
    """Fields of a memory, as JSON, without mentions of removed memories.

    A cell keeps its own statements, without the ids of removed facts. Removed facts are dropped
    from a note's list of superseded facts.

    Args:
        fields: Some or all fields.
        gone: Ids of the removed memories.

    """
    rest = dict(fields)
    for name in _NAMES:
        if rest.get(name) in gone:
            rest[name] = None
    for name in _LISTS:
        if rest.get(name):
            rest[name] = [memory_id for memory_id in rest[name] if memory_id not in gone]
    if rest.get("links"):
        rest["links"] = [link for link in rest["links"] if link["memory_id"] not in gone]
    if rest.get("atomic_facts"):
        rest["atomic_facts"] = [
            fact
            for fact_body in rest["atomic_facts"]
            if (fact := _struck_fact(fact_body, gone)) is not None
        ]
    return rest


def _struck_fact(fact: Mapping[str, Any], gone: Collection[str]) -> Mapping[str, Any] | None:
    if fact.get("fact_id") not in gone:
        return fact
    return None if fact.get("message") is None else {**fact, "fact_id": None, "superseded_by": None}


def struck_memory(memory: Memory, gone: Collection[str], lent: Collection[str]) -> Memory:
    """The memory without mentions of removed memories and without words that they lent it.

    A turn is indexed with words of the turns before it. The same object is returned if no field
    changes.

    Args:
        memory: A memory that stays.
        gone: Ids of the removed memories.
        lent: The marks of the removed turns, from `lends`.

    """
    body = memory.model_dump(mode="json")
    rest = struck(body, gone)
    lexical = memory.lexical
    if lexical.previous and lends_from(lexical.previous) in lent:
        lexical = lexical.changed(previous={}, previous_asks=False)
    if lexical.before_previous and lends_from(lexical.before_previous) in lent:
        lexical = lexical.changed(before_previous={})
    if rest == body and lexical is memory.lexical:
        return memory
    made = Memory.model_validate(
        {**rest, "lexical": lexical.model_dump(), "search_text": search_text(lexical)}
    )
    made.embedding = memory.embedding
    return made


def is_made_of_others(memory: Memory) -> bool:
    """Whether a memory's text was made of texts of other memories, which it replaced."""
    return memory.supersedes_id is not None and memory.supersedes_id in memory.source_ids


def lends(memory: Memory) -> str:
    """A mark of the words that a turn lends to the turns after it.

    The same words have the same mark, and can't be read out of it.
    """
    return lends_from(turn_of(memory).counts)


def lends_from(counts: Mapping[str, int]) -> str:
    """The mark of such words as they are stored with a later turn."""
    return blake2b(
        orjson.dumps(dict(counts), option=orjson.OPT_SORT_KEYS), digest_size=12
    ).hexdigest()


def says(memory: Memory) -> str | None:
    """A mark of a memory's statement in its slot, or under its key.

    It is None for a memory without a slot and a key, and for a copy of a key's value, which fills
    no key itself. An earlier interval of a truth has the same mark as the truth.
    """
    place = slot_of(memory) if memory.key is None else (memory.key,)
    if place is None or (memory.key is not None and memory.copied_from is not None):
        return None
    return blake2b(
        orjson.dumps([memory.type, *place, normalised(memory.content)]), digest_size=12
    ).hexdigest()


# Marks of the words that state a fact; a text that has all of them states the fact too.
#
# A mark is a hash of a term. A task that forgets a fact keeps the marks, from which the words can't
# be read.


Marks = list[list[str]]
"""The marks of the words of each part of a value.

"peanuts and shellfish" has two parts.
"""

_PARTS = re.compile(r"[,;/&\n](?=\s)|\n|\b(?:and|or|und|oder|et|ou|y)\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d)[.,'’_\u00a0\u202f](?=\d{3}(?!\d))")


def marks_of_value(fact: Memory) -> Marks:
    """The marks of a fact's value.

    A fact without a value in words gives the words of its content beside its subject and attribute.
    The marks are empty where the value has only function words ("yes").
    """
    value_text = fact.value_text or (
        str(fact.value)
        if isinstance(fact.value, str | int | float) and not isinstance(fact.value, bool)
        else ""
    )
    if not value_text:
        around = {*_terms(fact.subject or ""), *_terms(fact.attribute or "")}
        return _as_marks([[term for term in _terms(fact.content) if term not in around]])
    return _as_marks(_terms(part) for part in _PARTS.split(value_text))


def marks_of_quote(quote: str) -> list[str]:
    """The marks of all words of a quote."""
    return _marks(_terms(quote))


def states_value(
    text: str, value: Iterable[Sequence[str]], quotes: Iterable[Sequence[str]] = ()
) -> bool:
    """Whether a text states a forgotten value.

    It does with half of the words of any part of the value, or with all words of a quote.

    Args:
        text: The text.
        value: The marks of each part of the value.
        quotes: The marks of each quote.

    """
    terms = {_mark(term) for term in counts(_plain(text))}
    return any(2 * _shared(part, terms) >= len(part) for part in value) or any(
        _shared(quote, terms) == len(quote) for quote in quotes
    )


def _shared(part: Sequence[str], terms: Collection[str]) -> int:
    return sum(mark in terms for mark in part)


def _terms(text: str) -> list[str]:
    """English stems of a text's words, each once.

    They are also in the counts of a text of any other language.
    """
    return list(
        dict.fromkeys(terms_of(word for word in words(_plain(text)) if word not in QUERY_WORDS))
    )


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", plain_digits(text))


def _as_marks(parts: Iterable[Sequence[str]]) -> Marks:
    return [_marks(part) for part in parts if part]


def _marks(terms: Iterable[str]) -> list[str]:
    return [_mark(term) for term in terms]


def _mark(term: str) -> str:
    return blake2b(term.encode(), digest_size=6).hexdigest()
