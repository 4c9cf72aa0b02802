"""Prepare a memory for search: its terms, their places, the text to embed.

A turn of a conversation rarely makes sense alone ("Yes, twice!"), so it carries the two turns
before it in its session: their terms at a lower weight (recall at 10 from .73 to .80). Its vector
is made of its own text alone: the turn before may be an assistant's long answer, which would blur
the person's words. Neighbours' vectors are compared at query time instead. Older memories are never
rewritten for a newer memory.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from memory_core.domain.fields import ZONE_FIELD, local, zone_of
from memory_core.domain.memory import Lexical, LexicalFields, Memory, MemoryType
from memory_core.domain.messages import is_message
from memory_core.domain.statements.attributes import also_called, called_in
from memory_core.domain.statements.first_person import names_speaker
from memory_core.domain.text.analyzer import (
    ENGLISH,
    counts,
    counts_and_order,
    has_japanese,
    votes_for,
    words,
)
from memory_core.domain.text.dates import date_words, tells_time
from memory_core.domain.text.prefilter import ascii_words

MAX_TURN_TERMS = 256
"""Distinct terms of a turn that the following turns carry at most, so that a long document does not
bury its neighbours.
"""

EMBEDDED_CHARACTERS = 500
"""Characters that are embedded of a message, of an episode with a speaker and a session, and of a
memory that was formed of messages.

An answer of a thousand words is about too many subjects. Of the turns of chats with an assistant
that hold an answer, .60 are among the ten nearest by vectors of 300, of 500 and of 700 characters
and .59 by 1,000, which fill a window of the local embedder in most languages (7 conversations of
BEAM's tuning part). 500 characters take half the time of 1,000. With a vector of four windows, or
of all windows, it is .07 less than with that of a single window. A narrative is about as many
subjects, and its messages are found by vectors of their own: with 500 characters of it .733 of the
evidence is in the contexts of BEAM's first five conversations, with all of it .719. Words are found
anywhere in the text.
"""

_ASKS = re.compile(r"(?<!\W)(?=\W++\Z)[^?\uff1f\u061f\u037e\u055e]*+[?\uff1f\u061f\u037e\u055e]")
_TAIL = 64
_FRAME = re.compile(r"\bsaid:(?=\s)")
"""The words between a name and what it said in a story: "User said: We use Jest."."""
_TOOL_CALL = re.compile(r"[\w.-]{1,64}\(\{")
"""The beginning of a call of a tool, which asks the tool for something:
`get_weather({"city": "Leeds"})`.
"""
TOOL = "tool"
"""The actor of a tool's messages.

`_TAIL`: characters at the end of a turn that are searched for a question mark.
"""


@dataclass(frozen=True, slots=True)
class TurnTerms:
    """The part of a turn that the next turns need.

    `dataclasses.asdict` makes JSON of it, and `TurnTerms(**body)` reads that.

    Attributes:
        id: Of the turn's memory.
        counts: How often the turn has each of its terms.
        asks: Whether the turn ends with a question.

    """

    id: str
    counts: dict[str, int] = field(default_factory=dict)
    asks: bool = False


def spoken(content: str, actor: str | None) -> str:
    """A turn as a single text, `actor: content`.

    Args:
        content: The turn's text.
        actor: The speaker; the text stays as it is without a speaker.

    """
    return f"{actor}: {content}" if actor else content


def as_turn(memory_id: str, lexical: Lexical) -> TurnTerms:
    """The part of a memory that the next turns need.

    Args:
        memory_id: The memory's id.
        lexical: Its terms, of which the most frequent are taken, at most `MAX_TURN_TERMS`.

    """
    terms = lexical.own
    if len(terms) > MAX_TURN_TERMS:
        terms = dict(sorted(terms.items(), key=lambda item: -item[1])[:MAX_TURN_TERMS])
    return TurnTerms(memory_id, terms, lexical.asks)


def analyse(
    content: str,
    *,
    actor: str | None,
    event_timestamp: datetime,
    extra: Iterable[str] = (),
    previous: TurnTerms | None = None,
    before_previous: TurnTerms | None = None,
    turn: int | None = None,
) -> Lexical:
    """Analyse the text of a memory.

    Args:
        content: Its text.
        actor: Its speaker.
        event_timestamp: In the speaker's time zone.
        extra: Further texts by which it is found: tags, subject, attribute, key.
        previous: The turn before it in its session.
        before_previous: The turn before that.
        turn: Its ordinal among the session's episodic memories, None for any other memory.

    """
    own, order = counts_and_order("\n".join((spoken(content, actor), *extra)))
    known_words = ascii_words(content)
    return Lexical(
        own=own,
        order=encoded_order(order),
        date=dict(_date_counts(date_words(event_timestamp))),
        previous=previous.counts if previous else {},
        before_previous=before_previous.counts if before_previous else {},
        asks=_ASKS.search(content[-_TAIL:]) is not None
        or (actor == TOOL and _TOOL_CALL.match(content) is not None),
        previous_asks=previous.asks if previous else False,
        tells_time=tells_time(content, known_words),
        says_i=names_speaker(content, known_words),
        turn=turn,
    )


@lru_cache(maxsize=64)
def _date_counts(date: str) -> Mapping[str, int]:
    """The terms of a date; cached, since many memories are of the same day."""
    return counts(date)


def search_text(lexical: Lexical) -> str:
    """All terms as a text for a full-text index, each as often as it occurs."""
    parts = (lexical.date, lexical.own, lexical.previous, lexical.before_previous)
    return " ".join(
        [
            term if count == 1 else " ".join(repeat(term, count))
            for part in parts
            for term, count in part.items()
        ]
    )


def embedding_text(
    memory_type: MemoryType, content: str, *, actor: str | None, event_timestamp: datetime
) -> str:
    """The text that a memory's vector is made of.

    Episodic: `[8 May 2023] actor: content`. Other types: the content alone, so that equal
    statements of any speaker at any time have equal vectors.

    Args:
        memory_type: The memory's.
        content: Its text.
        actor: Its speaker; None without a speaker.
        event_timestamp: In the speaker's time zone.

    """
    if memory_type is not MemoryType.EPISODIC:
        return content
    return f"[{date_words(event_timestamp)}] {spoken(content, actor)}"


# Derive a memory's terms, the text that is embedded, and the terms that it lends to the next turns.


def with_lexical(
    memory: Memory,
    previous: TurnTerms | None = None,
    before_previous: TurnTerms | None = None,
    ordinal: int | None = None,
) -> Memory:
    """The memory with its analysed text; without terms where it is not searchable.

    The terms of its tags, slot, key, category and retrieval hints count as its own. All names of
    its slot's attribute count: "What is my job?" asks for an occupation.

    Args:
        memory: With its text.
        previous: The turn before it in its session.
        before_previous: The turn before that.
        ordinal: Its place among the turns of its session; None for a memory that is no turn.

    """
    if not memory.searchable:
        return memory.changed(lexical=Lexical(), search_text="")
    category = None if is_message(memory.id) else memory.category
    extra = [
        *memory.tags,
        *(name for name in (memory.subject, memory.attribute, memory.key, category) if name),
    ]
    extra += _names_of(memory.attribute, memory.content) if memory.attribute else ()
    extra += [
        *memory.keywords,
        *memory.semantic_queries,
        *(_FRAME.sub(" ", fact.text) for fact in memory.atomic_facts),
    ]
    # the frame of a story's quotations answers no question about what a person said
    content = memory.content if memory.actor else _FRAME.sub(" ", memory.content)
    lexical = analyse(
        content,
        actor=memory.actor,
        event_timestamp=told_at(memory),
        extra=extra,
        previous=previous,
        before_previous=before_previous,
        turn=ordinal,
    )
    return memory.changed(lexical=lexical, search_text=search_text(lexical))


def _names_of(attribute: str, content: str) -> tuple[str, ...]:
    """All names of an attribute, also in the language of the content.

    German needs no more votes than English: a fact is short ("Ich lebe in Hamburg").
    """
    content_words = words(content)
    german, english = (votes_for(language, content_words) for language in ("german", ENGLISH))
    language = "german" if german and german >= english else ENGLISH
    if has_japanese(content):
        language = "japanese"
    return (*also_called(attribute), *called_in(language, attribute))


def reread(memory: Memory) -> Memory:
    """The memory with its present text analysed again.

    The terms of the turns before, and its place among the turns, don't change.
    """
    before = memory.lexical
    lexical = with_lexical(memory, ordinal=before.turn).lexical
    around: LexicalFields = {
        "previous": before.previous,
        "before_previous": before.before_previous,
        "previous_asks": before.previous_asks,
    }
    lexical = lexical.changed(**around)
    return memory.changed(lexical=lexical, search_text=search_text(lexical))


def text_to_embed(memory: Memory) -> str:
    """The text that a memory's vector is made of.

    Of a turn, and of a memory that was formed of messages, only the beginning is embedded.
    """
    is_turn = is_message(memory.id) or (
        memory.type is MemoryType.EPISODIC and bool(memory.actor and memory.session_id)
    )
    is_cut = is_turn or memory.cell_id is not None
    content = memory.content[:EMBEDDED_CHARACTERS] if is_cut else memory.content
    return embedding_text(memory.type, content, actor=memory.actor, event_timestamp=told_at(memory))


def told_at(memory: Memory) -> datetime:
    """The event time in the speaker's time zone; a memory's date words name its day."""
    zone = memory.metadata.get(ZONE_FIELD)
    return (
        local(memory.event_timestamp, zone_of(zone))
        if isinstance(zone, str)
        else memory.event_timestamp
    )


def turn_of(memory: Memory) -> TurnTerms:
    """The part of a memory that the next turns need (`TurnTerms`)."""
    return as_turn(memory.id, memory.lexical)


# The places of terms in a long text, by which its passages are scored.
#
# Two bytes of a hash are stored for each term of the text. Note: different terms may have the same
# hash, so a place counts only in a text that has the term.


PASSAGE_TERMS: Final = 75
"""Terms of the longest text that is a single passage, some 100 words of English. The order of such
a text's terms is not stored.
"""

_CODE: Final = np.dtype("<u2")
_CODES: Final = 1 << 16


class TermPlaces(NamedTuple):
    """The places of query terms in long texts, sorted by row and place.

    Attributes:
        row: The row of the text.
        place: The number of the term in the text.
        term: The column of the query term.

    """

    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    term: npt.NDArray[np.int64]


NO_PLACES: Final = TermPlaces(*(np.zeros(0, dtype=np.int64) for _ in TermPlaces._fields))


def encoded_order(terms: Sequence[str]) -> str:
    """The order of a text's terms as it is stored; empty for a single passage."""
    if len(terms) <= PASSAGE_TERMS:
        return ""
    codes = {term: _code(term) for term in set(terms)}
    return b64encode(np.array([codes[term] for term in terms], dtype=_CODE).tobytes()).decode()


def order_bytes(order: str) -> bytes:
    """A stored order as two bytes for each term; empty for a damaged order."""
    try:
        decoded = b64decode(order, validate=True)
    except ValueError:
        return b""
    return decoded if len(decoded) % _CODE.itemsize == 0 else b""


def places_of(
    orders: Mapping[int, bytes], terms: Sequence[str], own: npt.NDArray[np.bool_]
) -> TermPlaces:
    """The places of a query's terms in texts.

    Args:
        orders: The result of `order_bytes` for each text, by the text's row in `own`, ascending.
        terms: Of the query, T.
        own: Whether a text has a term, U × T.

    """
    if not orders or not terms:
        return NO_PLACES
    column = np.full(_CODES, -1, dtype=np.int64)
    column[[_code(term) for term in terms]] = np.arange(len(terms))
    sizes = [len(order) // _CODE.itemsize for order in orders.values()]
    columns = column[np.frombuffer(b"".join(orders.values()), dtype=_CODE)]
    at = (columns >= 0).nonzero()[0]
    starts = np.cumsum([0, *sizes[:-1]])
    text = np.searchsorted(starts, at, side="right") - 1
    row = np.array(list(orders), dtype=np.int64)[text]
    in_text = own[row, columns[at]]
    return TermPlaces(row[in_text], (at - starts[text])[in_text], columns[at][in_text])


def of_terms(places: TermPlaces, columns: Sequence[int]) -> TermPlaces:
    """The places of some columns' terms, with the columns renumbered.

    Args:
        places: Of all terms.
        columns: The columns to keep; their new numbers are their places here.

    """
    if not len(places.row):
        return places
    new_column = np.full(
        max(max(columns, default=0), int(places.term.max())) + 1, -1, dtype=np.int64
    )
    new_column[list(columns)] = np.arange(len(columns))
    term = new_column[places.term]
    in_columns = term >= 0
    return TermPlaces(places.row[in_columns], places.place[in_columns], term[in_columns])


def _code(term: str) -> int:
    return crc32(term.encode()) & (_CODES - 1)
