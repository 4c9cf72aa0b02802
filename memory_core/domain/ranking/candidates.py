"""The candidate set of a query in columns, and words related to its terms.

Columns and not objects, because a set has 50-1,000 rows and numpy scores it in one go. A store that keeps an index in
memory fills it without reading a document; one that gets documents fills it by `from_memories`.
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
    """What query terms are worth, counted over one owner's memories (over the candidates, where a store knows no more).

    documents: how many memories were counted. mean_length: their mean weighted length.
    document_frequency: term → memories whose own or date tokens hold it. actors: the actors known for this owner.
    turn_log_length: mean natural logarithm of the terms that a turn of a conversation says itself; 0 without turns.
    """

    documents: int
    mean_length: float
    document_frequency: Mapping[str, int]
    actors: frozenset[str] = frozenset()
    turn_log_length: float = 0.0


@dataclass(slots=True)
class CandidateSet:
    """U candidates against T query terms. Times are epoch seconds UTC, NaN = unknown.

    cosine, previous_cosine, next_cosine: similarity of the query's vector to the memory's and to those of the turns
    before and after it in its session, NaN when unknown. tf: weighted term frequency, U × T. own: U × T, whether own or
    date tokens hold the term. before, after: row of the neighbouring turn in this set, -1 when it is not here.
    turns: which were said in a conversation, as messages or turns of a session.
    length: weighted, with the turns before; own_length: terms that the memory says itself.
    cosines: of a query of several sentences the three similarities to each one's vector, 3 × U × S; the columns above have the best then.
    near: U × T, how near in meaning own or date tokens come to the term, None when related words were not requested.
    places: where the terms stand in those that are longer than a passage, as far as a store knows their order.
    faded: which have faded; None where none was looked at for it.
    sessions: each memory's; says_i: whether its speaker says something of themselves, NaN where that was not examined; states: of its
    tokens (`vectors`). All three only order; empty where a store does not tell.
    touched_at: max(created_at, updated_at). accessed_at: last_accessed_at, else created_at.
    memories: whole documents, where the store had them anyway. lists: name of a candidate list → ids in its order.
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
"""The turn two back weighs more: it is mostly the same speaker's."""
TURNS_THAT_LEND = 2
"""Turns before one whose words it has beside its own."""
AFTER_QUESTION_WEIGHT = 0.3
"""What is added for the previous turn when it ends with a question: its words are what the answer leaves out."""


def without_lent_words(candidates: CandidateSet, names: Collection[str]) -> CandidateSet:
    """The set in which these have only the terms that they say themselves."""
    rows = [row for row, name in enumerate(candidates.ids) if name in names]
    tf = candidates.tf.copy()
    tf[rows] *= candidates.own[rows]
    return replace(candidates, tf=tf)


def weighted_length(memory: Memory) -> float:
    """The sum of `weighted_tokens` of a memory."""
    return sum(weight * sum(part.values()) for part, weight in _weighted_parts(memory.lexical))


def own_length(lexical: Lexical) -> int:
    """How many terms a memory says itself; an English text has some three for every four words."""
    return sum(lexical.own.values())


def mean_log_length(lengths: Sequence[float]) -> float:
    """The mean of the logarithms of turns' own lengths, 0 for no turns; a turn without a term counts as one of one."""
    return sum(log(max(length, 1)) for length in lengths) / len(lengths) if lengths else 0.0


def weighted_tokens(lexical: Lexical) -> dict[str, float]:
    """Weighted term frequency: own + date + (0.2 + 0.3·[previous turn asks])·previous + 0.3·before_previous."""
    counts: dict[str, float] = {}
    for part, weight in _weighted_parts(lexical):
        for token, count in part.items():
            counts[token] = counts.get(token, 0.0) + weight * count
    return counts


def _weighted_parts(lexical: Lexical) -> tuple[tuple[dict[str, int], float], ...]:
    of_previous = PREVIOUS_WEIGHT + (AFTER_QUESTION_WEIGHT if lexical.previous_asks else 0.0)
    return (lexical.own, 1.0), (lexical.date, 1.0), (lexical.previous, of_previous), (lexical.before_previous, BEFORE_PREVIOUS_WEIGHT)


def from_memories(
    memories: Sequence[Memory],
    terms: Sequence[str],
    query_vector: npt.NDArray[np.float32] | None,
    cosines: Mapping[str, float | Sequence[float]] | None = None,
    related: Sequence[Related] = (),
    faded: Callable[[Memory], bool] | None = None,
) -> CandidateSet:
    """A set from whole documents (Cosmos, the short term). `cosines` are those the store computed; else from `embedding`.

    query_vector: of a query of several sentences a row for each of them; then so many cosines a memory.

    A neighbour's cosine is known only when the neighbour is among `memories`. faded: which of them have faded; None: those marked so.
    """
    rows, width = len(memories), len(terms)
    # Looked up term by term: weighing every token of every memory first would be ten times the work.
    weighed = [_weighted_parts(memory.lexical) for memory in memories]
    tf = [[sum(weight * part.get(term, 0) for part, weight in parts) for term in terms] for parts in weighed]
    own = np.array(
        [[term in memory.lexical.own or term in memory.lexical.date for term in terms] for memory in memories], dtype=np.bool_
    ).reshape(rows, width)
    orders = {row: order_bytes(memory.lexical.order) for row, memory in enumerate(memories) if memory.lexical.order and own[row].any()}
    sentences = 1 if query_vector is None or query_vector.ndim == 1 else len(query_vector)
    each = np.array([_cosine(memory, query_vector, cosines or {}) for memory in memories], dtype=np.float64).reshape(rows, sentences)
    before, after = _neighbours(memories)
    beside = np.array([each, beside_cosines(each, before), beside_cosines(each, after)])
    cosine, previous_cosine, next_cosine = beside.max(axis=2)
    words_of = [memory.lexical.own.keys() | memory.lexical.date.keys() for memory in memories] if related else []
    return CandidateSet(
        ids=[memory.id for memory in memories],
        cosine=cosine,
        previous_cosine=previous_cosine,
        next_cosine=next_cosine,
        tf=np.array(tf, dtype=np.float64).reshape(rows, width),
        own=own,
        length=np.array([weighted_length(memory) for memory in memories], dtype=np.float64),
        own_length=np.array([own_length(memory.lexical) for memory in memories], dtype=np.float64),
        before=before,
        after=after,
        turns=np.array([memory.lexical.turn is not None or is_message(memory.id) for memory in memories], dtype=np.bool_),
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
        near=nearness(said, related, width) if related else None,
        cosines=beside if query_vector is not None and query_vector.ndim == 2 else None,
        places=places_of(orders, terms, own),
        faded=np.array([(faded or _is_decayed)(memory) for memory in memories], dtype=np.bool_),
        sessions=[memory.session_id for memory in memories],
        says_i=as_shares([memory.lexical.says_i for memory in memories]),
        states=[state_bytes(memory.lexical.states) for memory in memories],
        memories={memory.id: memory for memory in memories},
    )


def as_shares(flags: Sequence[bool | None]) -> Floats:
    """1 and 0, NaN for what is not known."""
    return np.array([np.nan if flag is None else float(flag) for flag in flags], dtype=np.float64)


def _is_decayed(memory: Memory) -> bool:
    return memory.status is Status.DECAYED


def beside_cosines(cosines: Floats, rows: Ints) -> Floats:
    """The cosines (a row for each memory) of these rows, NaN for -1."""
    if not len(cosines):
        return cosines
    found: Floats = np.where((rows >= 0)[:, None], cosines[rows], np.nan)
    return found


def _neighbours(memories: Sequence[Memory]) -> tuple[Ints, Ints]:
    """Rows of the turns before and after each memory in its session, -1 where there is none among `memories`."""
    places = [(memory.session_id, memory.lexical.turn) for memory in memories]
    row_of = {place: row for row, place in enumerate(places)}

    def rows(step: int) -> Ints:
        found = [-1 if session is None or turn is None else row_of.get((session, turn + step), -1) for session, turn in places]
        return np.array(found, dtype=np.int64)

    return rows(-1), rows(1)


def joined(first: CandidateSet, second: CandidateSet) -> CandidateSet:
    """Both sets as one; of an id in both, the row of `first` stays.

    Rows of `second` keep their neighbours wherever these ended up; what the rows of `first` know of theirs stays as it is.
    """
    known = set(first.ids)
    keep = [row for row, one in enumerate(second.ids) if one not in known]
    if not keep:
        return _with_extras(replace(first), first, second)
    take = np.array(keep, dtype=np.int64)
    row_of = {one: row for row, one in enumerate(first.ids + [second.ids[row] for row in keep])}

    def moved(column: Ints) -> Ints:
        return np.array([row_of[second.ids[row]] if row >= 0 else -1 for row in column[take]], dtype=np.int64)

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(first, name), getattr(second, name)[take]])
        for name in (
            "cosine", "previous_cosine", "next_cosine", "tf", "own", "length", "own_length", "turns", "asks", "tells_time", "event_at",
            "touched_at", "accessed_at", "importance_base", "access_count", "confidence",
        )
    }  # fmt: skip
    whole = CandidateSet(
        ids=first.ids + [second.ids[row] for row in keep],
        before=np.concatenate([first.before, moved(second.before)]),
        after=np.concatenate([first.after, moved(second.after)]),
        actor=first.actor + [second.actor[row] for row in keep],
        cell=first.cell + [second.cell[row] for row in keep],
        near=_near(first, second, take),
        cosines=_cosines(first, second, take),
        places=_places(first, second, take),
        faded=_faded(first, second, take),
        sessions=_listed(first.sessions, first) + [_listed(second.sessions, second)[row] for row in keep],
        says_i=np.concatenate([_known(first), _known(second)[take]]),
        states=_listed(first.states, first) + [_listed(second.states, second)[row] for row in keep],
        **columns,
    )
    return _with_extras(whole, first, second)


def _near(first: CandidateSet, second: CandidateSet, take: Ints) -> Floats | None:
    if first.near is None and second.near is None:
        return None
    parts = [np.zeros(one.tf.shape) if one.near is None else one.near for one in (first, second)]
    return np.concatenate([parts[0], parts[1][take]])


def _faded(first: CandidateSet, second: CandidateSet, take: Ints) -> Flags | None:
    if first.faded is None and second.faded is None:
        return None
    parts = [np.zeros(len(one), dtype=np.bool_) if one.faded is None else one.faded for one in (first, second)]
    return np.concatenate([parts[0], parts[1][take]])


def _listed(column: list[Any], candidates: CandidateSet) -> list[Any]:
    """A list that a store may leave out, as long as the set."""
    return column or [None] * len(candidates)


def _known(candidates: CandidateSet) -> Floats:
    return candidates.says_i if len(candidates.says_i) else np.full(len(candidates), np.nan)


def _cosines(first: CandidateSet, second: CandidateSet, take: Ints) -> Floats | None:
    if first.cosines is None or second.cosines is None:
        return None
    return np.concatenate([first.cosines, second.cosines[:, take]], axis=1)


def _places(first: CandidateSet, second: CandidateSet, take: Ints) -> TermPlaces:
    new_row = np.full(len(second), -1, dtype=np.int64)
    new_row[take] = len(first) + np.arange(len(take))
    row, place, term = second.places
    kept = new_row[row] >= 0
    added = TermPlaces(new_row[row[kept]], place[kept], term[kept])
    return TermPlaces(*(np.concatenate(both) for both in zip(first.places, added, strict=True)))


def _with_extras(target: CandidateSet, first: CandidateSet, second: CandidateSet) -> CandidateSet:
    target.memories = {**second.memories, **first.memories}
    target.lists = {**second.lists, **first.lists}
    return target


def _cosine(memory: Memory, query_vector: npt.NDArray[np.float32] | None, known: Mapping[str, float | Sequence[float]]) -> Floats:
    """As many cosines as the query has sentences."""
    if memory.id in known:
        return np.atleast_1d(known[memory.id])
    if memory.embedding is None or query_vector is None:
        return np.full(1 if query_vector is None else len(np.atleast_2d(query_vector)), np.nan)
    return np.atleast_1d(np.dot(query_vector, memory.embedding))


def _seconds(moments: Sequence[datetime]) -> Floats:
    return np.array([moment.timestamp() for moment in moments], dtype=np.float64)


# Words that stand near a query's own in meaning, so that "relocate" finds "moved".
#
# A related word never replaces the query's: a memory that says the very word gets nothing for its neighbours, and one that only says
# a neighbour gets a part. Note: names have no related words. "Anna" and "Hannah" are near each other for any
# embedder, and two people all the same.


MAX_LISTED = 12
"""Terms and related words together that a full-text query names: with 30 the related ones drown the query's own."""


class Related(NamedTuple):
    """A word (stemmed as terms are) near the query term number `of`; likeness in (0, 1]."""

    word: str
    of: int
    likeness: float


def nearness(held: Sequence[Iterable[str]], related: Sequence[Related], terms: int) -> npt.NDArray[np.float64]:
    """U × `terms`: how near the nearest of each of U texts' words comes to each term. What the text says itself is not looked at."""
    near = np.zeros((len(held), terms))
    if not related:
        return near
    by_word: dict[str, list[tuple[int, float]]] = {}
    for word, of, likeness in related:
        by_word.setdefault(word, []).append((of, likeness))
    for row, said in enumerate(held):
        for word in said:
            for of, likeness in by_word.get(word, ()):
                near[row, of] = max(near[row, of], likeness)
    return near


def listed(terms: Sequence[str], related: Sequence[Related], limit: int = MAX_LISTED) -> tuple[str, ...]:
    """The terms and, while there is room, the nearest related words: what a full-text query that knows no weights asks for."""
    nearest: Mapping[str, None] = dict.fromkeys(one.word for one in sorted(related, key=lambda one: (-one.likeness, one.word)))
    known = set(terms)
    return (*terms, *[word for word in nearest if word not in known][: max(0, limit - len(terms))])
