"""The worth of a search's words in each row of a slice."""

from __future__ import annotations

from typing import Final

import numpy as np

from memory_core.adapters.memory_index.columns import MAX_TURNS, STATUS_CODES, Slice
from memory_core.adapters.memory_index.postings import Postings
from memory_core.domain.memory import Status
from memory_core.domain.ranking.candidates import TURNS_THAT_LEND, Flags, Floats, Statistics
from memory_core.domain.ranking.index_terms import PASSAGE_TERMS
from memory_core.domain.ranking.passages import ORDER_B, ORDER_K1, ORDER_NEAR, idf, saturation
from memory_core.ports import Search

FEW_POSTINGS: Final = 4
"""The most frequent terms are split off until few postings remain.

Few are less than 1/FEW_POSTINGS of all postings.
"""
LEAST_PRUNED: Final = 4_000
"""Scoring fewer postings costs less than finding those that do not matter."""
ROUNDING: Final = 1e-9
"""A bound above the relative rounding error of the sum of a few weights."""


def without_hidden_turns(user_slice: Slice, postings: Postings) -> Postings:
    """The postings without lent words where a lending turn is deleted.

    A row loses all its lent words when any of the turns before it that lend words is deleted.

    Args:
        user_slice: A user's slice.
        postings: Of the search's terms.

    """
    deleted = user_slice.column("status") == STATUS_CODES[Status.DELETED.value]
    if not deleted.any():
        return postings
    deleted &= user_slice.column("alive") & (user_slice.column("turn") >= 0)
    if not deleted.any():
        return postings
    places = user_slice.column("session").astype(np.int64) * MAX_TURNS + user_slice.column("turn")
    lent = (~postings.own & (user_slice.column("turn")[postings.rows] >= 0)).nonzero()[0]
    # A place before the first of its session is the last but so many of another,
    # which has no turn there.
    before = places[postings.rows[lent]][:, None] - np.arange(1, TURNS_THAT_LEND + 1)
    hidden = np.isin(before, places[deleted]).any(axis=1)
    visible = np.ones(len(postings.rows), dtype=np.bool_)
    visible[lent[hidden]] = False
    return Postings(
        postings.term[visible], postings.rows[visible], postings.tf[visible], postings.own[visible]
    )


def nearness_of_words(user_slice: Slice, postings: Postings, search: Search) -> Floats | None:
    """Rows × terms: how near a row's words come to a missing term.

    Args:
        user_slice: A user's slice.
        postings: Of the search's terms and of words near them.
        search: The search, with its related words.

    Returns:
        None without related words.

    """
    if not search.related:
        return None
    near = np.zeros((len(user_slice), len(search.terms)))
    near_postings = user_slice.index.find([word.word for word in search.related])
    of, likeness = (
        np.array([word.of for word in search.related]),
        np.array([word.likeness for word in search.related]),
    )
    which = near_postings.term[near_postings.own]
    np.maximum.at(near, (near_postings.rows[near_postings.own], of[which]), likeness[which])
    near[postings.rows[postings.own], postings.term[postings.own]] = 0.0
    return near


def word_scores(
    user_slice: Slice,
    postings: Postings,
    statistics: Statistics,
    near: Floats | None,
    mask: Flags,
    search: Search,
) -> list[Floats]:
    """BM25 of every row by sentence.

    Words near the terms count for a part of it. Rows without either have 0. Rows that cannot be
    among the best within the mask may have less than their score.

    Args:
        user_slice: A user's slice.
        postings: Of the search's terms.
        statistics: Document frequencies and mean length of the slice.
        near: Rows × terms, from `nearness_of_words`.
        mask: Rows that the filter lets through.
        search: The search, with its sentences.

    """
    every = idf(statistics.document_frequency.values(), statistics.documents)
    scores_by_sentence = []
    for asked in [sentence.places for sentence in search.sentences] or [tuple(range(len(every)))]:
        worth = np.zeros(len(every))
        worth[list(asked)] = every[list(asked)]
        if near is None:
            telling = _informative_postings(
                user_slice, postings, statistics, worth, mask, search.limit
            )
            scores_by_sentence.append(_bm25(user_slice, telling, statistics, worth))
        else:
            scores = ORDER_NEAR * (near @ worth)
            scores += _bm25(user_slice, postings, statistics, worth)
            scores_by_sentence.append(scores)
    return scores_by_sentence


def _bm25(user_slice: Slice, postings: Postings, statistics: Statistics, worth: Floats) -> Floats:
    """BM25 of every row by some postings, with the weight of each term."""
    if not len(postings.rows):
        return np.zeros(len(user_slice))
    # Of a text longer than all others a passage may be what is asked for, and relevance
    # weighs that.
    length = np.minimum(
        user_slice.column("length")[postings.rows], max(statistics.mean_length, PASSAGE_TERMS)
    )
    share = saturation(postings.tf, length, statistics.mean_length, ORDER_K1, ORDER_B)
    weights = share * worth[postings.term]
    return np.bincount(postings.rows, weights, len(user_slice)).astype(np.float64, copy=False)


def _informative_postings(
    user_slice: Slice,
    postings: Postings,
    statistics: Statistics,
    worth: Floats,
    mask: Flags,
    limit: int,
) -> Postings:
    """The postings without those of frequent terms in rows that cannot be among the best.

    This is MaxScore: a term gives a row at most the term's weight, and enough rows have more by
    other terms.
    """
    if len(postings.rows) < LEAST_PRUNED:
        return postings
    starts = np.searchsorted(postings.term, np.arange(len(worth) + 1))  # they stand term by term
    sizes = np.diff(starts)
    order = sizes.argsort()[::-1]
    left = len(postings.rows) - sizes[order].cumsum()
    frequent = order[: int((left * FEW_POSTINGS > len(postings.rows)).sum()) + 1]
    parts = [slice(starts[term], starts[term + 1]) for term in frequent.tolist()]
    which = np.ones(len(postings.rows), dtype=np.bool_)
    for part in parts:
        which[part] = False
    others = _some(postings, which)
    hit = np.zeros(len(user_slice), dtype=np.bool_)
    hit[others.rows] = True
    hit_rows = (hit & mask).nonzero()[0]
    if len(hit_rows) < limit:
        return postings
    scores = _bm25(user_slice, others, statistics, worth)[hit_rows]
    least = np.partition(scores, -limit)[-limit]
    if worth[frequent].sum() * (1 + ROUNDING) >= least:
        return postings
    for part in parts:
        which[part] = hit[postings.rows[part]]
    return _some(postings, which)


def _some(postings: Postings, which: Flags) -> Postings:
    """Some of the postings."""
    at = which.nonzero()[0]
    return Postings(postings.term[at], postings.rows[at], postings.tf[at], postings.own[at])
