"""A search over one slice: the nearest by vector, the best by words, and for both everything that relevance asks about them.

A turn after a deleted one is found by its own words alone: what the turns before lent it comes back when that one is restored.

Note: the statistics are counted over all that a query may find, faded memories too, and not over what the filter leaves. A filter must not
change what a word is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_core.adapters.slices.masks import faded_rows, messages, narrowed, standing_rows
from memory_core.adapters.slices.postings import Postings
from memory_core.adapters.slices.slice import MAX_TURNS, STATUS_CODES, Slice
from memory_core.domain.memory import MemoryType, Status, Vector
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import TURNS_THAT_LEND, CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.ranking.index_terms import PASSAGE_TERMS, places_of
from memory_core.domain.ranking.passages import ORDER_B, ORDER_K1, ORDER_NEAR, idf, saturation
from memory_core.ports import Filter, Near, Search

_FOUND_BY_DEFAULT = Filter(statuses=frozenset({"active", "compressed"}))


def find(user_slice: Slice, search: Search) -> tuple[CandidateSet, Statistics]:
    """The `limit` nearest and the `limit` best by BM25 within the filter, as one set; and what the terms are worth here."""
    findable = user_slice.column("findable")
    postings = _without_hidden_turns(user_slice, user_slice.index.find(search.terms))
    frequencies = np.bincount(postings.term[postings.own & findable[postings.rows]], minlength=len(search.terms))
    statistics = _statistics(user_slice, dict(zip(search.terms, frequencies.tolist(), strict=True)))
    standing = standing_rows(user_slice, search.where)
    mask = narrowed(user_slice, search.where, standing)
    cosines = _cosines(user_slice, search.vectors)
    embedded = mask & user_slice.column("has_vector")
    near = _together([_best_within(user_slice, cosine, embedded, search.limit) for cosine in cosines])
    near_meaning = _nearness(user_slice, postings, search)
    worded = _together(
        [
            _best_worded(user_slice, scores, mask, search.limit)
            for scores in _word_scores(user_slice, postings, statistics, near_meaning, search)
        ]
    )
    place = np.full(len(user_slice), -1, dtype=np.int64)
    place[near] = np.arange(len(near))
    rows = np.concatenate((near, worded[place[worded] < 0]))
    place[rows] = np.arange(len(rows))
    terms = _term_matrix(place[postings.rows], len(rows), postings, len(search.terms))
    candidates = _columns(user_slice, rows, cosines, standing, place, terms, several=bool(search.sentences))
    if search.where.fading is not None and search.where.now is not None:
        candidates.faded = faded_rows(user_slice, rows, search.where.fading, search.where.now)
    candidates.near = None if near_meaning is None else near_meaning[rows]
    worded_rows = {place: order for place, row in enumerate(rows.tolist()) if (order := user_slice.order(row)) and terms[1][place].any()}
    candidates.places = places_of(worded_rows, search.terms, terms[1])
    candidates.lists = {"vector": candidates.ids[: len(near)], "lexical": [user_slice.ids[row] for row in worded.tolist()]}
    return candidates, statistics


def _without_hidden_turns(user_slice: Slice, postings: Postings) -> Postings:
    """The postings but for words that only the turns before lent, where one of these turns is deleted."""
    deleted = (
        user_slice.column("alive") & (user_slice.column("status") == STATUS_CODES[Status.DELETED.value]) & (user_slice.column("turn") >= 0)
    )
    if not deleted.any():
        return postings
    places = user_slice.column("session").astype(np.int64) * MAX_TURNS + user_slice.column("turn")
    lent = (~postings.own & (user_slice.column("turn")[postings.rows] >= 0)).nonzero()[0]
    # A place before the first of its session is the last but so many of another, which has no turn there.
    before = places[postings.rows[lent]][:, None] - np.arange(1, TURNS_THAT_LEND + 1)
    hidden = np.isin(before, places[deleted]).any(axis=1)
    visible = np.ones(len(postings.rows), dtype=np.bool_)
    visible[lent[hidden]] = False
    return Postings(postings.term[visible], postings.rows[visible], postings.tf[visible], postings.own[visible])


def neighbours(user_slice: Slice, near: Near, slot_ids: Sequence[str]) -> list[tuple[str, float]]:
    """Ids and similarities of what a decision needs, nearest first; those of the slot are in whatever they are like (0 = unknown)."""
    known: dict[str, float] = {}
    if near.vector is not None:
        where = Filter(near.statuses, types=near.types)
        mask = narrowed(user_slice, where, standing_rows(user_slice, where))
        if MemoryType.EPISODIC.value in near.types:
            mask &= ~messages(user_slice)
        rows, cosine = _likeness(user_slice, near.vector, mask.nonzero()[0])
        rows, cosine = rows[cosine >= near.floor], cosine[cosine >= near.floor]
        best = _best(user_slice, rows, cosine, near.limit)
        known = {user_slice.ids[row]: value for row, value in zip(rows[best].tolist(), cosine[best].tolist(), strict=True)}
        in_slot = sorted(user_slice.row(memory_id) for memory_id in slot_ids if memory_id not in known)
        rows, cosine = _likeness(user_slice, near.vector, np.array(in_slot, dtype=np.int64))
        known |= {user_slice.ids[row]: value for row, value in zip(rows.tolist(), cosine.tolist(), strict=True)}
    known = known | {memory_id: 0.0 for memory_id in slot_ids if memory_id not in known}
    return sorted(known.items(), key=lambda pair: -pair[1])


def nothing(terms: Sequence[str]) -> tuple[CandidateSet, Statistics]:
    """The answer for an unknown owner."""
    return find(Slice(0), Search(None, tuple(terms), 1, _FOUND_BY_DEFAULT))


def _statistics(user_slice: Slice, frequencies: dict[str, int]) -> Statistics:
    mean = user_slice.total_length / user_slice.documents if user_slice.documents else 0.0
    log_length = user_slice.total_log_length / user_slice.turns if user_slice.turns else 0.0
    return Statistics(user_slice.documents, mean, frequencies, user_slice.known_actors, log_length)


def _cosines(user_slice: Slice, vectors: Sequence[Vector]) -> list[Floats]:
    """By vector the cosine of every row, NaN where the row has none."""
    cosines = [user_slice.vectors.products(vector).astype(np.float64) for vector in vectors]
    for cosine in cosines:
        cosine[~user_slice.column("has_vector")] = np.nan
    return cosines


def _together(lists: Sequence[Ints]) -> Ints:
    """Several lists of rows as one: all the first, then all the second, none twice."""
    if len(lists) == 1:
        return lists[0]
    longest = max(map(len, lists), default=0)
    ranked = [rows[rank] for rank in range(longest) for rows in lists if rank < len(rows)]
    return np.array(list(dict.fromkeys(ranked)), dtype=np.int64)


def _nearness(user_slice: Slice, postings: Postings, search: Search) -> Floats | None:
    """Rows × terms: how near the words of each row come to a term that it does not hold itself; None without related words."""
    if not search.related:
        return None
    near = np.zeros((len(user_slice), len(search.terms)))
    near_postings = user_slice.index.find([word.word for word in search.related])
    of, likeness = np.array([word.of for word in search.related]), np.array([word.likeness for word in search.related])
    which = near_postings.term[near_postings.own]
    np.maximum.at(near, (near_postings.rows[near_postings.own], of[which]), likeness[which])
    near[postings.rows[postings.own], postings.term[postings.own]] = 0.0
    return near


def _word_scores(user_slice: Slice, postings: Postings, statistics: Statistics, near: Floats | None, search: Search) -> list[Floats]:
    """By sentence BM25 of every row, and a part of it for words near the terms; only the rows that hold either are touched."""
    every = idf(statistics.document_frequency.values(), statistics.documents)
    # Of a text longer than all others a passage may be what is asked for, and relevance weighs that.
    length = np.minimum(user_slice.column("length")[postings.rows], max(statistics.mean_length, PASSAGE_TERMS))
    share = saturation(postings.tf, length, statistics.mean_length, ORDER_K1, ORDER_B)
    scores_by_sentence = []
    for asked in [sentence.places for sentence in search.sentences] or [tuple(range(len(every)))]:
        worth = np.zeros(len(every))
        worth[list(asked)] = every[list(asked)]
        scores = np.zeros(len(user_slice)) if near is None else ORDER_NEAR * (near @ worth)
        if len(postings.rows):
            scores += np.bincount(postings.rows, weights=share * worth[postings.term], minlength=len(user_slice))
        scores_by_sentence.append(scores)
    return scores_by_sentence


def _likeness(user_slice: Slice, vector: Vector, rows: Ints) -> tuple[Ints, npt.NDArray[np.float32]]:
    """Those of the rows (ascending) that have a vector, and their cosines."""
    rows = rows[user_slice.column("has_vector")[rows]]
    return rows, user_slice.vectors.products(vector, rows)


def _best_within(user_slice: Slice, scores: Floats, mask: Flags, limit: int) -> Ints:
    """The rows of the `limit` highest scores within the mask, highest first, ties by sequence."""
    rows = mask.nonzero()[0]
    return rows[_best(user_slice, rows, scores[rows], limit)]


def _best_worded(user_slice: Slice, scores: Floats, mask: Flags, limit: int) -> Ints:
    """The same of those that hold a word at all."""
    return _best_within(user_slice, scores, mask & (scores > 0), limit)


def _best(user_slice: Slice, rows: Ints, scores: npt.NDArray[np.floating[Any]], limit: int) -> Ints:
    """Where among the rows the `limit` highest of their scores are, highest first, ties by sequence."""
    if len(rows) > limit:
        places = (scores >= np.partition(scores, len(rows) - limit)[len(rows) - limit]).nonzero()[0]
    else:
        places = np.arange(len(rows))
    order = np.lexsort((user_slice.column("sequence")[rows[places]], -scores[places]))
    best: Ints = places[order[:limit]]
    return best


def _columns(
    user_slice: Slice, rows: Ints, cosines: Sequence[Floats], standing: Flags, place: Ints, terms: tuple[Floats, Flags], *, several: bool
) -> CandidateSet:
    """The set of these rows.

    place: where in it each row of the slice is, -1 = not in it. terms: its columns tf and own.
    """
    beside = user_slice.column("beside")[rows]
    beside[(beside < 0) | ~standing[beside]] = -1
    each = np.array([_beside_too(cosine, rows, beside) for cosine in cosines] or [np.full((3, len(rows)), np.nan)])
    cosine, previous_cosine, next_cosine = each.max(axis=0)
    beside_place = np.where(beside < 0, -1, place[beside])
    length, own_length, event_at, touched_at, accessed_at, importance_base, access_count, confidence = user_slice.column("numbers")[rows].T
    ids = [user_slice.ids[row] for row in rows.tolist()]
    return CandidateSet(
        ids=ids,
        cosine=cosine,
        previous_cosine=previous_cosine,
        next_cosine=next_cosine,
        tf=terms[0],
        own=terms[1],
        length=length,
        own_length=own_length,
        before=beside_place[:, 0],
        after=beside_place[:, 1],
        turns=np.array([is_message(name) for name in ids], dtype=np.bool_) | (user_slice.column("turn")[rows] >= 0),
        asks=user_slice.column("asks")[rows],
        tells_time=user_slice.column("tells_time")[rows],
        actor=user_slice.actors.of(user_slice.column("actor")[rows]),
        cell=user_slice.cells.of(user_slice.column("cell")[rows]),
        sessions=user_slice.sessions.of(user_slice.column("session")[rows]),
        says_i=np.where(user_slice.column("says_i")[rows] < 0, np.nan, user_slice.column("says_i")[rows]),
        states=[user_slice.states(row) for row in rows.tolist()],
        faded=user_slice.column("status")[rows] == STATUS_CODES[Status.DECAYED.value],
        event_at=event_at,
        touched_at=touched_at,
        accessed_at=accessed_at,
        importance_base=importance_base,
        access_count=access_count,
        confidence=confidence,
        cosines=each.transpose(1, 2, 0) if several and cosines else None,
    )


def _beside_too(cosine: Floats, rows: Ints, beside: Ints) -> Floats:
    """3 × U: the cosines of these rows, and of those beside them."""
    return np.array([cosine[rows], *np.where(beside < 0, np.nan, cosine[beside]).T])


def _term_matrix(at: Ints, rows: int, postings: Postings, terms: int) -> tuple[Floats, Flags]:
    """The columns tf and own, candidates × terms. `at`: the candidate that each posting is about, -1 = none."""
    tf, own = np.zeros((rows, terms)), np.zeros((rows, terms), dtype=np.bool_)
    hit = (at >= 0).nonzero()[0]
    at, term = at[hit], postings.term[hit]
    tf[at, term] = postings.tf[hit]
    own[at, term] = postings.own[hit]
    return tf, own
