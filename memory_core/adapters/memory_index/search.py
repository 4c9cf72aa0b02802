"""Searches over the memories of a user in columns.

Note: the statistics are counted over all memories that a query may find, faded memories included,
and not over those that match the filter. A filter must not change the weight of a word.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_core.adapters.memory_index.columns import STATUS_CODES, Slice
from memory_core.adapters.memory_index.masks import (
    faded_rows,
    messages,
    narrowed,
    rows_by_status,
    rows_of,
)
from memory_core.adapters.memory_index.postings import Postings
from memory_core.adapters.memory_index.word_scores import (
    nearness_of_words,
    without_hidden_turns,
    word_scores,
)
from memory_core.domain.memory import MemoryType, Status, Vector
from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.ranking.index_terms import places_of
from memory_core.ports import Filter, Near, Search

_FOUND_BY_DEFAULT = Filter(statuses=frozenset({"active", "compressed"}))


@dataclass(frozen=True, slots=True)
class WordMatches:
    """All that the words of a search find in a slice, without vectors.

    search: that search. slice_state: the epoch and the change that the slice
    was at. rows: the best by the words, best first. near: rows × terms (`nearness_of_words`). mask:
    the rows that the filter leaves; standing: those that it admits by status alone.
    """

    search: Search
    slice_state: tuple[str, int]
    postings: Postings
    statistics: Statistics
    standing: Flags
    mask: Flags
    near: Floats | None
    rows: Ints

    def are_of(self, user_slice: Slice, search: Search) -> bool:
        """Whether a search would now find the same matches.

        Args:
            user_slice: The slice as it is now.
            search: The search.

        """
        return self.slice_state == (user_slice.epoch, user_slice.change) and _without_vectors(
            self.search
        ) == _without_vectors(search)


def _without_vectors(search: Search) -> Search:
    sentences = tuple(replace(sentence, vector=None) for sentence in search.sentences)
    return replace(search, vector=None, sentences=sentences)


def match_words(
    user_slice: Slice, search: Search, only: Collection[str] | None = None
) -> WordMatches:
    """Match the words of a search.

    Args:
        user_slice: The slice.
        search: The search.
        only: The ids that match the filter's conditions on metadata; None without such a condition.

    """
    findable = user_slice.column("findable")
    postings = without_hidden_turns(user_slice, user_slice.index.find(search.terms))
    frequencies = np.bincount(
        postings.term[postings.own & findable[postings.rows]], minlength=len(search.terms)
    )
    statistics = _statistics(user_slice, dict(zip(search.terms, frequencies.tolist(), strict=True)))
    standing = rows_by_status(user_slice, search.where)
    mask = narrowed(user_slice, search.where, standing)
    if only is not None:
        mask &= rows_of(user_slice, only)
    near = nearness_of_words(user_slice, postings, search)
    rows = _together(
        [
            _best_worded(user_slice, scores, mask, search.limit)
            for scores in word_scores(user_slice, postings, statistics, near, mask, search)
        ]
    )
    return WordMatches(
        search,
        (user_slice.epoch, user_slice.change),
        postings,
        statistics,
        standing,
        mask,
        near,
        rows,
    )


def find(
    user_slice: Slice, search: Search, only: Collection[str] | None = None
) -> tuple[CandidateSet, Statistics]:
    """The nearest and the best by BM25 within the filter, as a single set.

    Each list has at most `limit` memories.

    Args:
        user_slice: The slice.
        search: The search.
        only: The ids that match the filter's conditions on metadata, which a slice does not have;
            None without such a condition.

    Returns:
        The candidates, and the statistics of the terms in this slice.

    """
    prepared = user_slice.prepared
    if isinstance(prepared, WordMatches) and only is None and prepared.are_of(user_slice, search):
        matches, user_slice.prepared = prepared, None
    else:  # what was prepared may be of another query of this user, which comes yet
        matches = match_words(user_slice, search, only)
    postings, standing, near_meaning, worded = (
        matches.postings,
        matches.standing,
        matches.near,
        matches.rows,
    )
    cosines = [_Cosines(user_slice, vector) for vector in search.vectors]
    embedded = matches.mask & user_slice.column("has_vector")
    near = _together([cosine.best(embedded, search.limit) for cosine in cosines])
    place = np.full(len(user_slice), -1, dtype=np.int64)
    place[near] = np.arange(len(near))
    rows = np.concatenate((near, worded[place[worded] < 0]))
    place[rows] = np.arange(len(rows))
    terms = _term_matrix(place[postings.rows], len(rows), postings, len(search.terms))
    candidates = _columns(
        user_slice, rows, cosines, standing, place, terms, several=bool(search.sentences)
    )
    if search.where.fading is not None and search.where.now is not None:
        candidates.faded = faded_rows(user_slice, rows, search.where.fading, search.where.now)
    candidates.near = None if near_meaning is None else near_meaning[rows]
    worded_rows = {
        place: order
        for place, order in user_slice.orders(rows.tolist()).items()
        if terms[1][place].any()
    }
    candidates.places = places_of(worded_rows, search.terms, terms[1])
    candidates.lists = {"vector": candidates.ids[: len(near)], "lexical": user_slice.ids.of(worded)}
    return candidates, matches.statistics


def neighbours(user_slice: Slice, near: Near, slot_ids: Sequence[str]) -> list[tuple[str, float]]:
    """Ids and similarities of the memories that a decision needs, nearest first.

    Args:
        user_slice: The slice.
        near: The neighbours to find.
        slot_ids: The memories of the slot, which are included whatever their similarity (0 =
            unknown).

    """
    known: dict[str, float] = {}
    if near.vector is not None:
        where = Filter(near.statuses, types=near.types)
        mask = narrowed(user_slice, where, rows_by_status(user_slice, where))
        if MemoryType.EPISODIC.value in near.types:
            mask &= ~messages(user_slice)
        if user_slice.vectors.is_coded:
            mask &= user_slice.column("has_vector")
            rows = user_slice.vectors.near(near.vector, mask, near.limit, near.floor)
        else:
            rows = mask.nonzero()[0]
        rows, cosine = _likeness(user_slice, near.vector, rows)
        rows, cosine = rows[cosine >= near.floor], cosine[cosine >= near.floor]
        best = _best(user_slice, rows, cosine, near.limit)
        known = {
            user_slice.ids[row]: value
            for row, value in zip(rows[best].tolist(), cosine[best].tolist(), strict=True)
        }
        in_slot = sorted(
            row
            for memory_id in slot_ids
            if memory_id not in known and (row := user_slice.row(memory_id)) >= 0
        )
        rows, cosine = _likeness(user_slice, near.vector, np.array(in_slot, dtype=np.int64))
        known |= {
            user_slice.ids[row]: value
            for row, value in zip(rows.tolist(), cosine.tolist(), strict=True)
        }
    known = known | {memory_id: 0.0 for memory_id in slot_ids if memory_id not in known}
    return sorted(known.items(), key=lambda pair: -pair[1])


def nothing(terms: Sequence[str]) -> tuple[CandidateSet, Statistics]:
    """The answer for an unknown owner."""
    return find(Slice(0), Search(None, tuple(terms), 1, _FOUND_BY_DEFAULT))


def _statistics(user_slice: Slice, frequencies: dict[str, int]) -> Statistics:
    mean = user_slice.total_length / user_slice.documents if user_slice.documents else 0.0
    log_length = user_slice.total_log_length / user_slice.turns if user_slice.turns else 0.0
    return Statistics(user_slice.documents, mean, frequencies, user_slice.known_actors, log_length)


class _Cosines:
    """The cosines of a slice's rows with a vector.

    They are computed for all rows at once, or, where the vectors are coded, only for the requested
    rows.
    """

    def __init__(self, user_slice: Slice, vector: Vector) -> None:
        self._slice, self._vector = user_slice, vector
        self._every = None if user_slice.vectors.is_coded else user_slice.vectors.products(vector)
        self._known = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)

    def best(self, mask: Flags, limit: int) -> Ints:
        """The rows of the `limit` nearest within the mask, nearest first, ties by sequence."""
        if self._every is not None:
            rows = mask.nonzero()[0]
            products = self._every[rows]
        else:
            rows = self._slice.vectors.near(self._vector, mask, limit)
            products = self._slice.vectors.products(self._vector, rows)
            self._known = rows, products
        return rows[_best(self._slice, rows, products, limit)]

    def of(self, rows: Ints) -> Floats:
        """The cosines of some rows, in any order; NaN where a row has no vector."""
        if self._every is not None:
            products = self._every[rows]
        else:
            asked, place = np.unique(rows, return_inverse=True)
            products = self._products(asked)[place]
        cosines = products.astype(np.float64)
        cosines[~self._slice.column("has_vector")[rows]] = np.nan
        return cosines

    def _products(self, rows: Ints) -> npt.NDArray[np.float32]:
        """The products of rows, ascending; those that `best` compared are known."""
        known, known_products = self._known
        at = np.searchsorted(known, rows)
        at[at == len(known)] = 0
        products = np.empty(len(rows), dtype=np.float32)
        is_known = known[at] == rows if len(known) else np.zeros(len(rows), dtype=np.bool_)
        products[is_known] = known_products[at[is_known]]
        products[~is_known] = self._slice.vectors.products(self._vector, rows[~is_known])
        return products


def _together(lists: Sequence[Ints]) -> Ints:
    """Several lists of rows merged by rank, each row once."""
    if len(lists) == 1:
        return lists[0]
    longest = max(map(len, lists), default=0)
    ranked = [rows[rank] for rank in range(longest) for rows in lists if rank < len(rows)]
    return np.array(list(dict.fromkeys(ranked)), dtype=np.int64)


def _likeness(
    user_slice: Slice, vector: Vector, rows: Ints
) -> tuple[Ints, npt.NDArray[np.float32]]:
    """The rows (ascending) that have a vector, and their cosines."""
    rows = rows[user_slice.column("has_vector")[rows]]
    return rows, user_slice.vectors.products(vector, rows)


def _best_within(user_slice: Slice, scores: Floats, mask: Flags, limit: int) -> Ints:
    """The rows of the `limit` highest scores within the mask, highest first, ties by sequence."""
    rows = mask.nonzero()[0]
    return rows[_best(user_slice, rows, scores[rows], limit)]


def _best_worded(user_slice: Slice, scores: Floats, mask: Flags, limit: int) -> Ints:
    """The rows of the `limit` highest scores above 0 within the mask."""
    return _best_within(user_slice, scores, mask & (scores > 0), limit)


def _best(user_slice: Slice, rows: Ints, scores: npt.NDArray[np.floating[Any]], limit: int) -> Ints:
    """The places of the `limit` highest scores, highest first, ties by sequence."""
    if len(rows) > limit:
        places = (scores >= np.partition(scores, len(rows) - limit)[len(rows) - limit]).nonzero()[0]
    else:
        places = np.arange(len(rows))
    order = np.lexsort((user_slice.column("sequence")[rows[places]], -scores[places]))
    best: Ints = places[order[:limit]]
    return best


def _columns(
    user_slice: Slice,
    rows: Ints,
    cosines: Sequence[_Cosines],
    standing: Flags,
    place: Ints,
    terms: tuple[Floats, Flags],
    *,
    several: bool,
) -> CandidateSet:
    """The candidate set of these rows.

    `place` has the candidate of each row of the slice, -1 for no candidate. `terms` are its columns
    tf and own.
    """
    beside = user_slice.column("beside")[rows]
    beside[(beside < 0) | ~standing[beside]] = -1
    each = np.array(
        [_with_neighbours(cosine, rows, beside) for cosine in cosines]
        or [np.full((3, len(rows)), np.nan)]
    )
    cosine, previous_cosine, next_cosine = each.max(axis=0)
    beside_place = np.where(beside < 0, -1, place[beside])
    (own_length, event_at, touched_at, accessed_at, importance_base, access_count, confidence) = (
        user_slice.column("numbers")[rows].T
    )
    return CandidateSet(
        ids=user_slice.ids.of(rows),
        cosine=cosine,
        previous_cosine=previous_cosine,
        next_cosine=next_cosine,
        tf=terms[0],
        own=terms[1],
        length=user_slice.column("length")[rows],
        own_length=own_length,
        before=beside_place[:, 0],
        after=beside_place[:, 1],
        turns=user_slice.column("message")[rows] | (user_slice.column("turn")[rows] >= 0),
        asks=user_slice.column("asks")[rows],
        tells_time=user_slice.column("tells_time")[rows],
        actor=user_slice.actors.of(user_slice.column("actor")[rows]),
        cell=user_slice.cells.of(user_slice.column("cell")[rows]),
        sessions=user_slice.sessions.of(user_slice.column("session")[rows]),
        says_i=np.where(
            user_slice.column("says_i")[rows] < 0, np.nan, user_slice.column("says_i")[rows]
        ),
        states=user_slice.states(rows.tolist()),
        faded=user_slice.column("status")[rows] == STATUS_CODES[Status.DECAYED.value],
        event_at=event_at,
        touched_at=touched_at,
        accessed_at=accessed_at,
        importance_base=importance_base,
        access_count=access_count,
        confidence=confidence,
        cosines=each.transpose(1, 2, 0) if several and cosines else None,
    )


def _with_neighbours(cosine: _Cosines, rows: Ints, beside: Ints) -> Floats:
    """3 × U: the cosines of these rows, and of those beside them."""
    each = np.concatenate((rows[None], beside.T))
    cosines = cosine.of(np.where(each < 0, rows, each).ravel()).reshape(each.shape)
    return np.where(each < 0, np.nan, cosines)


def _term_matrix(at: Ints, rows: int, postings: Postings, terms: int) -> tuple[Floats, Flags]:
    """The columns tf and own, candidates × terms.

    `at` has the candidate of each posting, -1 for no candidate.
    """
    tf, own = np.zeros((rows, terms)), np.zeros((rows, terms), dtype=np.bool_)
    hit = (at >= 0).nonzero()[0]
    at, term = at[hit], postings.term[hit]
    tf[at, term] = postings.tf[hit]
    own[at, term] = postings.own[hit]
    return tf, own
