"""The candidates of a query in columns, and words related to its terms.

Columns, not objects, because a set has 50-1,000 rows, which numpy scores at once. A store that has
an index in memory fills the columns without reading documents; a store that reads documents makes a
set by `from_memories`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memory_core.domain.memory import Lexical, Memory, Status
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.index_terms import NO_PLACES, TermPlaces, order_bytes, places_of
from memory_core.domain.ranking.vectors import state_bytes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over an owner's memories, from which the worth of query terms is computed.

    A store that can't count an owner's memories counts the candidates.

    Attributes:
        documents: The number of memories that were counted.
        mean_length: Their mean weighted length (`weighted_length`), in terms.
        document_frequency: Of each term the number of memories with it among their own or
            date tokens.
        actors: The actors known for this owner.
        turn_log_length: The mean natural logarithm of turns' own lengths (`mean_log_length`);
            0 without turns.

    """

    documents: int
    mean_length: float
    document_frequency: Mapping[str, int]
    actors: frozenset[str] = frozenset()
    turn_log_length: float = 0.0


@dataclass(slots=True)
class CandidateSet:
    """U candidates of a query of T terms and S sentences, in columns.

    Times are seconds since the epoch in UTC; NaN is unknown. A row of -1 is a memory that is
    not in the set.

    Attributes:
        ids: Of the memories, U.
        cosine: Similarity of the query's vector to the memory's, NaN = unknown. For a query of
            several sentences the highest of their similarities.
        previous_cosine: The same of the turn before it in its session.
        next_cosine: The same of the turn after it.
        tf: Weighted term frequency (`weighted_tokens`), U × T.
        own: Whether own or date tokens have the term, U × T.
        length: Weighted length (`weighted_length`), which includes the turns before.
        own_length: Terms that the memory says itself.
        before: Row of the turn before it in its session.
        after: Row of the turn after it.
        turns: Whether it is a message or a turn of a session.
        asks: Whether it asks something.
        tells_time: Whether it says when something is.
        actor: Its speaker.
        cell: The id of its cell.
        event_at: Its event time.
        touched_at: The later of `created_at` and `updated_at`.
        accessed_at: `last_accessed_at`, else `created_at`.
        importance_base: Its importance before decay.
        access_count: How often it was read.
        confidence: Its confidence.
        near: How near in meaning own or date tokens come to the term (`nearness`), U × T;
            None without related words.
        cosines: The three similarities to each sentence's vector, 3 × U × S;
            None for a query of one sentence.
        places: The places of terms in memories that are longer than a passage,
            as far as a store knows them.
        faded: Whether it has faded; None where that was not examined.
        sessions: Its session. `sessions`, `says_i` and `states` affect only the order, and are
            empty where a store doesn't have them.
        says_i: Whether its speaker says something of themselves: 1, 0, NaN = not examined.
        states: The states of its tokens (`vectors`), None for a memory without them.
        memories: Whole documents by id, where the store had them anyway.
        lists: The ids of each candidate list in order, by the list's name.

    """

    ids: list[str]
    cosine: Floats
    previous_cosine: Floats
    next_cosine: Floats
    tf: Floats
    own: Flags
    length: Floats
    own_length: Floats
    before: Ints
    after: Ints
    turns: Flags
    asks: Flags
    tells_time: Flags
    actor: list[str | None]
    cell: list[str | None]
    event_at: Floats
    touched_at: Floats
    accessed_at: Floats
    importance_base: Floats
    access_count: Floats
    confidence: Floats
    near: Floats | None = None
    cosines: Floats | None = None
    places: TermPlaces = NO_PLACES
    faded: Flags | None = None
    sessions: list[str | None] = field(default_factory=list)
    says_i: Floats = field(default_factory=lambda: np.zeros(0))
    states: list[bytes | None] = field(default_factory=list)
    memories: dict[str, Memory] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)


PREVIOUS_WEIGHT, BEFORE_PREVIOUS_WEIGHT = 0.2, 0.3
"""Weights of the terms of the two turns before. The turn two places before weighs more, since
mostly the same speaker says it.
"""
TURNS_THAT_LEND = 2
"""Turns before a turn whose terms count for the turn, too."""
AFTER_QUESTION_WEIGHT = 0.3
"""Added to the weight of the previous turn when it ends with a question. An answer leaves out the
words of the question.
"""


def without_lent_words(candidates: CandidateSet, names: Collection[str]) -> CandidateSet:
    """The set, where the named memories have only terms that they say themselves.

    Args:
        candidates: The set, which stays as it is.
        names: Ids of memories.

    """
    rows = [row for row, name in enumerate(candidates.ids) if name in names]
    tf = candidates.tf.copy()
    tf[rows] *= candidates.own[rows]
    return replace(candidates, tf=tf)


def weighted_length(memory: Memory) -> float:
    """The sum of `weighted_tokens` of a memory."""
    return sum(weight * sum(part.values()) for part, weight in _weighted_parts(memory.lexical))


def own_length(lexical: Lexical) -> int:
    """The number of terms that a memory says itself.

    In English there are some 3 terms for 4 words.
    """
    return sum(lexical.own.values())


def mean_log_length(lengths: Sequence[float]) -> float:
    """The mean natural logarithm of own lengths, at least 1 each; 0 for no turns."""
    return sum(log(max(length, 1)) for length in lengths) / len(lengths) if lengths else 0.0


def weighted_tokens(lexical: Lexical) -> dict[str, float]:
    """Weighted term frequency by term.

    own + date + (0.2 + 0.3·[previous turn asks])·previous + 0.3·before_previous
    """
    counts: dict[str, float] = {}
    for part, weight in _weighted_parts(lexical):
        for token, count in part.items():
            counts[token] = counts.get(token, 0.0) + weight * count
    return counts


def _weighted_parts(lexical: Lexical) -> tuple[tuple[dict[str, int], float], ...]:
    of_previous = PREVIOUS_WEIGHT + (AFTER_QUESTION_WEIGHT if lexical.previous_asks else 0.0)
    return (
        (lexical.own, 1.0),
        (lexical.date, 1.0),
        (lexical.previous, of_previous),
        (lexical.before_previous, BEFORE_PREVIOUS_WEIGHT),
    )


def from_memories(
    memories: Sequence[Memory],
    terms: Sequence[str],
    query_vector: npt.NDArray[np.float32] | None,
    cosines: Mapping[str, float | Sequence[float]] | None = None,
    related: Sequence[Related] = (),
    faded: Callable[[Memory], bool] | None = None,
) -> CandidateSet:
    """Make a set of whole documents (Cosmos DB, the short-term store).

    A neighbour's cosine is known only where the neighbour is among the memories.

    Args:
        memories: U memories.
        terms: Of the query, T.
        query_vector: Of length d; of a query of several sentences S × d.
        cosines: By id the cosines that the store computed, S each. Those of all other memories are
            computed from `embedding`.
        related: Words near the query's terms.
        faded: Says whether a memory has faded; None if the status `decayed` says so.

    """
    tf, own = _term_columns(memories, terms)
    orders = {
        row: order_bytes(memory.lexical.order)
        for row, memory in enumerate(memories)
        if memory.lexical.order and own[row].any()
    }
    before, after = _neighbours(memories)
    beside = _cosines_with_neighbours(memories, query_vector, cosines or {}, before, after)
    cosine, previous_cosine, next_cosine = beside.max(axis=2)
    words_of = (
        [memory.lexical.own.keys() | memory.lexical.date.keys() for memory in memories]
        if related
        else []
    )
    return CandidateSet(
        ids=[memory.id for memory in memories],
        cosine=cosine,
        previous_cosine=previous_cosine,
        next_cosine=next_cosine,
        tf=tf,
        own=own,
        length=np.array([weighted_length(memory) for memory in memories], dtype=np.float64),
        own_length=np.array([own_length(memory.lexical) for memory in memories], dtype=np.float64),
        before=before,
        after=after,
        turns=np.array(
            [memory.lexical.turn is not None or is_message(memory.id) for memory in memories],
            dtype=np.bool_,
        ),
        asks=np.array([memory.lexical.asks for memory in memories], dtype=np.bool_),
        tells_time=np.array([memory.lexical.tells_time for memory in memories], dtype=np.bool_),
        actor=[memory.actor for memory in memories],
        cell=[memory.cell_id for memory in memories],
        event_at=_seconds([memory.event_timestamp for memory in memories]),
        touched_at=_seconds([max(memory.created_at, memory.updated_at) for memory in memories]),
        accessed_at=_seconds([memory.last_accessed_at or memory.created_at for memory in memories]),
        importance_base=np.array([memory.importance_base for memory in memories], dtype=np.float64),
        access_count=np.array([memory.access_count for memory in memories], dtype=np.float64),
        confidence=np.array([memory.confidence for memory in memories], dtype=np.float64),
        near=nearness(words_of, related, len(terms)) if related else None,
        cosines=beside if query_vector is not None and query_vector.ndim == 2 else None,
        places=places_of(orders, terms, own),
        faded=np.array([(faded or _is_decayed)(memory) for memory in memories], dtype=np.bool_),
        sessions=[memory.session_id for memory in memories],
        says_i=as_shares([memory.lexical.says_i for memory in memories]),
        states=[state_bytes(memory.lexical.states) for memory in memories],
        memories={memory.id: memory for memory in memories},
    )


def _cosines_with_neighbours(
    memories: Sequence[Memory],
    query_vector: npt.NDArray[np.float32] | None,
    cosines: Mapping[str, float | Sequence[float]],
    before: Ints,
    after: Ints,
) -> Floats:
    """3 × U × S: the cosines of each memory and of its neighbours."""
    sentences = 1 if query_vector is None or query_vector.ndim == 1 else len(query_vector)
    each = np.array(
        [_cosines_of(memory, query_vector, cosines) for memory in memories], dtype=np.float64
    ).reshape(len(memories), sentences)
    return np.array([each, beside_cosines(each, before), beside_cosines(each, after)])


def _term_columns(memories: Sequence[Memory], terms: Sequence[str]) -> tuple[Floats, Flags]:
    """Memories × terms: the weighed frequency of each, and whether the memory itself has it."""
    shape = len(memories), len(terms)
    # Term by term: to weigh every token of every memory first would take ten times as long.
    weighed = [_weighted_parts(memory.lexical) for memory in memories]
    tf = [
        [sum(weight * part.get(term, 0) for part, weight in parts) for term in terms]
        for parts in weighed
    ]
    own = [
        [term in memory.lexical.own or term in memory.lexical.date for term in terms]
        for memory in memories
    ]
    return (
        np.array(tf, dtype=np.float64).reshape(shape),
        np.array(own, dtype=np.bool_).reshape(shape),
    )


def as_shares(flags: Sequence[bool | None]) -> Floats:
    """Flags as 1 and 0, NaN for None."""
    return np.array([np.nan if flag is None else float(flag) for flag in flags], dtype=np.float64)


def _is_decayed(memory: Memory) -> bool:
    return memory.status is Status.DECAYED


def beside_cosines(cosines: Floats, rows: Ints) -> Floats:
    """The cosines of other rows, such as the turns before; NaN for row -1.

    Args:
        cosines: U × S.
        rows: The row to take for each candidate, U.

    """
    if not len(cosines):
        return cosines
    cosines_beside: Floats = np.where((rows >= 0)[:, None], cosines[rows], np.nan)
    return cosines_beside


def _neighbours(memories: Sequence[Memory]) -> tuple[Ints, Ints]:
    """The rows of the turns before and after each memory; -1 for none."""
    places = [(memory.session_id, memory.lexical.turn) for memory in memories]
    row_of = {place: row for row, place in enumerate(places)}

    def rows(step: int) -> Ints:
        numbers = [
            -1 if session is None or turn is None else row_of.get((session, turn + step), -1)
            for session, turn in places
        ]
        return np.array(numbers, dtype=np.int64)

    return rows(-1), rows(1)


def joined(first: CandidateSet, second: CandidateSet) -> CandidateSet:
    """Join two sets; of an id in both, the row of `first` stays.

    Rows of `second` have their neighbours in the joined set. Rows of `first` keep their
    neighbours, and get none that only `second` has.

    Args:
        first: A set.
        second: A set with the same term columns.

    """
    known = set(first.ids)
    keep = [row for row, memory_id in enumerate(second.ids) if memory_id not in known]
    if not keep:
        return _join_extras(replace(first), first, second)
    take = np.array(keep, dtype=np.int64)
    row_of = {
        memory_id: row
        for row, memory_id in enumerate(first.ids + [second.ids[row] for row in keep])
    }

    def moved(column: Ints) -> Ints:
        return np.array(
            [row_of[second.ids[row]] if row >= 0 else -1 for row in column[take]], dtype=np.int64
        )

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(first, name), getattr(second, name)[take]])
        for name in (
            "cosine", "previous_cosine", "next_cosine", "tf", "own", "length", "own_length",
            "turns", "asks", "tells_time", "event_at", "touched_at", "accessed_at",
            "importance_base", "access_count", "confidence",
        )
    }  # fmt: skip
    whole = CandidateSet(
        ids=first.ids + [second.ids[row] for row in keep],
        before=np.concatenate([first.before, moved(second.before)]),
        after=np.concatenate([first.after, moved(second.after)]),
        actor=first.actor + [second.actor[row] for row in keep],
        cell=first.cell + [second.cell[row] for row in keep],
        near=_join_near(first, second, take),
        cosines=_join_cosines(first, second, take),
        places=_join_places(first, second, take),
        faded=_join_faded(first, second, take),
        sessions=_list_column(first.sessions, first)
        + [_list_column(second.sessions, second)[row] for row in keep],
        says_i=np.concatenate([_says_i_column(first), _says_i_column(second)[take]]),
        states=_list_column(first.states, first)
        + [_list_column(second.states, second)[row] for row in keep],
        **columns,
    )
    return _join_extras(whole, first, second)


def _join_near(first: CandidateSet, second: CandidateSet, take: Ints) -> Floats | None:
    if first.near is None and second.near is None:
        return None
    parts = [
        np.zeros(candidates.tf.shape) if candidates.near is None else candidates.near
        for candidates in (first, second)
    ]
    return np.concatenate([parts[0], parts[1][take]])


def _join_faded(first: CandidateSet, second: CandidateSet, take: Ints) -> Flags | None:
    if first.faded is None and second.faded is None:
        return None
    parts = [
        np.zeros(len(candidates), dtype=np.bool_) if candidates.faded is None else candidates.faded
        for candidates in (first, second)
    ]
    return np.concatenate([parts[0], parts[1][take]])


def _list_column(column: list[Any], candidates: CandidateSet) -> list[Any]:
    """A column; None for each candidate if the store leaves the column out."""
    return column or [None] * len(candidates)


def _says_i_column(candidates: CandidateSet) -> Floats:
    return candidates.says_i if len(candidates.says_i) else np.full(len(candidates), np.nan)


def _join_cosines(first: CandidateSet, second: CandidateSet, take: Ints) -> Floats | None:
    if first.cosines is None or second.cosines is None:
        return None
    return np.concatenate([first.cosines, second.cosines[:, take]], axis=1)


def _join_places(first: CandidateSet, second: CandidateSet, take: Ints) -> TermPlaces:
    new_row = np.full(len(second), -1, dtype=np.int64)
    new_row[take] = len(first) + np.arange(len(take))
    row, place, term = second.places
    in_set = new_row[row] >= 0
    added = TermPlaces(new_row[row[in_set]], place[in_set], term[in_set])
    return TermPlaces(*(np.concatenate(both) for both in zip(first.places, added, strict=True)))


def _join_extras(target: CandidateSet, first: CandidateSet, second: CandidateSet) -> CandidateSet:
    target.memories = {**second.memories, **first.memories}
    target.lists = {**second.lists, **first.lists}
    return target


def _cosines_of(
    memory: Memory,
    query_vector: npt.NDArray[np.float32] | None,
    known: Mapping[str, float | Sequence[float]],
) -> Floats:
    """The cosines of a memory, S numbers; NaN where it has no vector."""
    if memory.id in known:
        return np.atleast_1d(known[memory.id])
    if memory.embedding is None or query_vector is None:
        return np.full(1 if query_vector is None else len(np.atleast_2d(query_vector)), np.nan)
    return np.atleast_1d(np.dot(query_vector, memory.embedding))


def _seconds(moments: Sequence[datetime]) -> Floats:
    return np.array([moment.timestamp() for moment in moments], dtype=np.float64)


# Related words: words near a query's terms in meaning, so that "relocate" finds "moved".
#
# A memory that says a term gets nothing for related words; a memory that says a related word gets a
# part of the term's worth. Note: names have no related words. "Anna" and "Hannah" are near each
# other for any embedder, and are two people all the same.


MAX_LISTED = 12
"""Terms and related words of a full-text query. Of 30 words, the related words would outweigh the
terms.
"""


class Related(NamedTuple):
    """A stemmed word that is near a term of the query.

    Attributes:
        word: The stem.
        of: The number of the term.
        likeness: How near it is, in (0, 1].

    """

    word: str
    of: int
    likeness: float


def nearness(
    texts: Sequence[Iterable[str]], related: Sequence[Related], terms: int
) -> npt.NDArray[np.float64]:
    """The greatest likeness of each text's words to each term, U × T.

    Terms that a text says itself make no difference.

    Args:
        texts: The terms of each of U texts.
        related: Words near the query's terms.
        terms: The number of the query's terms, T.

    """
    near = np.zeros((len(texts), terms))
    if not related:
        return near
    by_word: dict[str, list[tuple[int, float]]] = {}
    for word, term, likeness in related:
        by_word.setdefault(word, []).append((term, likeness))
    for row, text_words in enumerate(texts):
        for word in text_words:
            for term, likeness in by_word.get(word, ()):
                near[row, term] = max(near[row, term], likeness)
    return near


def listed(
    terms: Sequence[str], related: Sequence[Related], limit: int = MAX_LISTED
) -> tuple[str, ...]:
    """Terms and the nearest related words for a full-text query without weights.

    Args:
        terms: Of the query; all of them are listed.
        related: Words near the terms.
        limit: The most terms and related words together.

    """
    by_likeness = sorted(related, key=lambda neighbour: (-neighbour.likeness, neighbour.word))
    nearest: Mapping[str, None] = dict.fromkeys(neighbour.word for neighbour in by_likeness)
    known = set(terms)
    return (*terms, *[word for word in nearest if word not in known][: max(0, limit - len(terms))])
