"""What is stored of a memory's text for finding it: term counts, the text of the full-text index, the text to embed.

A turn of a conversation rarely makes sense alone ("Yes, twice!"), so it carries the two turns before it in its session: their
terms at a lower weight (recall at 10 from .73 to .80). Its vector is made of its own text alone: the turn before may be an assistant's
long answer, which would blur what the person said, and neighbours' vectors are compared at query time. Older memories are never
rewritten for a newer one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from memory_core.domain.models import Lexical, MemoryType
from memory_core.domain.term_order import encoded_order
from memory_core.domain.text import counts, counts_and_order
from memory_core.domain.times import date_words, tells_time

MAX_TURN_TERMS = 256
"""Distinct terms of a turn that the following ones carry, so that one long document does not bury its neighbours."""

_ASKS = re.compile(r"(?<!\W)(?=\W++\Z)[^?\uff1f\u061f\u037e\u055e]*+[?\uff1f\u061f\u037e\u055e]")
_SAYS_I = re.compile(
    r"(?i:\b(?:my|me|mine|myself|we|us|ours?|ich|mi[cr]h?|mein\w{0,2}|wir|uns|unser\w{0,2}|je|moi|mon|ma|mes|nous|yo|mi|nosotros)\b)|\bI\b"
    r"|[\u79c1\u50d5\u4ffa]"
)
"""Words by which speakers name themselves.

What answers a question about a person is mostly said by that person, in the first person.
"""
_TAIL = 64
_TOOL_CALL = re.compile(r"[\w.-]{1,64}\(\{")
"""How the call of a tool begins, which asks it for something: `get_weather({"city": "Leeds"})`."""
TOOL = "tool"
"""Characters at the end of a turn that are looked at for a question mark."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a following turn needs to know of this one. JSON-ready by `dataclasses.asdict`; `Turn(**body)` reads it back."""

    id: str
    counts: dict[str, int] = field(default_factory=dict)
    asks: bool = False


def spoken(content: str, actor: str | None) -> str:
    """A turn as one text, `actor: content`."""
    return f"{actor}: {content}" if actor else content


def as_turn(memory_id: str, lexical: Lexical) -> Turn:
    """What to keep of a memory for the turns after it. Of a long one, the most frequent terms."""
    terms = lexical.own
    if len(terms) > MAX_TURN_TERMS:
        terms = dict(sorted(terms.items(), key=lambda item: -item[1])[:MAX_TURN_TERMS])
    return Turn(memory_id, terms, lexical.asks)


def analyse(
    content: str,
    *,
    actor: str | None,
    event_timestamp: datetime,
    extra: Iterable[str] = (),
    previous: Turn | None = None,
    before_previous: Turn | None = None,
    turn: int | None = None,
) -> Lexical:
    """The terms of one memory and of what surrounds it.

    extra: further texts to be found by (tags, subject, attribute, key). previous, before_previous: the two turns before this
    one in the same session. turn: its ordinal among the session's episodic memories, None for any other memory.
    """
    own, order = counts_and_order("\n".join((spoken(content, actor), *extra)))
    return Lexical(
        own=own,
        order=encoded_order(order),
        date=dict(_date_counts(date_words(event_timestamp))),
        previous=previous.counts if previous else {},
        before_previous=before_previous.counts if before_previous else {},
        asks=_ASKS.search(content[-_TAIL:]) is not None or (actor == TOOL and _TOOL_CALL.match(content) is not None),
        previous_asks=previous.asks if previous else False,
        tells_time=tells_time(content),
        says_i=_SAYS_I.search(content) is not None,
        turn=turn,
    )


@lru_cache(maxsize=64)
def _date_counts(date: str) -> Mapping[str, int]:
    """Most of what is saved happened on a few days."""
    return counts(date)


def search_text(lexical: Lexical) -> str:
    """All terms as one text, each as often as it occurs: date, own, previous, before previous. For a full-text index."""
    parts = (lexical.date, lexical.own, lexical.previous, lexical.before_previous)
    return " ".join(term for part in parts for term, number in part.items() for _ in range(number))


def embedding_text(memory_type: MemoryType, content: str, *, actor: str | None, event_timestamp: datetime) -> str:
    """The text whose vector a memory gets.

    Episodic: `[8 May 2023] actor: content`. Others: the content alone, so that equal
    statements of any speaker at any time have equal vectors.
    """
    if memory_type is not MemoryType.EPISODIC:
        return content
    return f"[{date_words(event_timestamp)}] {spoken(content, actor)}"
