"""A search over one slice: the nearest by vector, the best by words, and for both everything that relevance asks about them.

One would get wrong: the statistics are counted over all that is findable by default, not over what the filter leaves; a filter
must not change what a word is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from memory_core.adapters.sqlite.filters import narrowed, standing_rows
from memory_core.adapters.sqlite.postings import Postings
from memory_core.adapters.sqlite.slice import Slice
from memory_core.domain.bm25 import ORDER_B, ORDER_K1, idf, saturation
from memory_core.domain.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.models import Vector
from memory_core.ports import Filter, Near, Search

_FOUND_BY_DEFAULT = Filter(statuses=frozenset({"active", "compressed"}))


def find(held: Slice, search: Search) -> tuple[CandidateSet, Statistics]:
    """The `limit` nearest and the `limit` best by BM25 within the filter, as one set; and what the terms are worth here."""
    findable = held.column("findable")
    postings = held.index.find(search.terms)
    frequencies = np.bincount(postings.term[postings.own & findable[postings.rows]], minlength=len(search.terms))
    statistics = _statistics(held, dict(zip(search.terms, frequencies.tolist(), strict=True)))
    standing = standing_rows(held, search.where)
    mask = narrowed(held, search.where, standing)
    cosine = _cosines(held, search.vector)
    near = _best(held, cosine, mask & held.column("has_vector") if search.vector is not None else _nowhere(held), search.limit)
    words = _word_scores(held, postings, frequencies, statistics)
    worded = _best(held, words, mask & (words > 0), search.limit)
    rows = np.array(list(dict.fromkeys([*near.tolist(), *worded.tolist()])), dtype=np.int64)
    place = np.full(len(held), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    candidates = _columns(held, rows, cosine, standing, place)
    candidates.tf, candidates.own = _term_matrix(place[postings.rows], len(rows), postings, len(search.terms))
    candidates.lists = {"vector": [held.ids[row] for row in near], "lexical": [held.ids[row] for row in worded]}
    return candidates, statistics


def neighbours(held: Slice, near: Near, slot_ids: Sequence[str]) -> list[tuple[str, float]]:
    """Ids and similarities of what a decision needs, nearest first; those of the slot are in whatever they are like (0 = unknown)."""
    mask = narrowed(held, replace(_FOUND_BY_DEFAULT, types=near.types), standing_rows(held, _FOUND_BY_DEFAULT))
    cosine = _cosines(held, near.vector)
    rows = _best(held, cosine, mask & (cosine >= near.floor), near.limit)
    known = {held.ids[row]: float(cosine[row]) for row in rows}
    for memory_id in slot_ids:
        similarity = float(cosine[held.row(memory_id)])
        known.setdefault(memory_id, 0.0 if np.isnan(similarity) else similarity)
    return sorted(known.items(), key=lambda pair: -pair[1])


def nothing(terms: Sequence[str]) -> tuple[CandidateSet, Statistics]:
    """The answer for an unknown owner."""
    return find(Slice(0), Search(None, tuple(terms), 1, _FOUND_BY_DEFAULT))


def _statistics(held: Slice, frequencies: dict[str, int]) -> Statistics:
    mean = held.total_length / held.documents if held.documents else 0.0
    return Statistics(held.documents, mean, frequencies, held.known_actors)


def _nowhere(held: Slice) -> Flags:
    return np.zeros(len(held), dtype=np.bool_)


def _cosines(held: Slice, vector: Vector | None) -> Floats:
    """Cosine of every row, NaN where the row or the query has no vector."""
    if vector is None:
        return np.full(len(held), np.nan)
    cosine = held.vectors.products(vector).astype(np.float64)
    cosine[~held.column("has_vector")] = np.nan
    return cosine


def _word_scores(held: Slice, postings: Postings, frequencies: Ints, statistics: Statistics) -> Floats:
    """BM25 of every row; only the rows that hold a term are touched."""
    if not len(postings.rows):
        return np.zeros(len(held))
    length = held.column("length")[postings.rows]
    share = saturation(postings.tf[:, None], length, statistics.mean_length, ORDER_K1, ORDER_B)[:, 0]
    worth: Floats = share * idf(frequencies, statistics.documents)[postings.term]
    return np.bincount(postings.rows, weights=worth, minlength=len(held)).astype(np.float64, copy=False)


def _best(held: Slice, scores: Floats, mask: Flags, limit: int) -> Ints:
    """The rows of the `limit` highest scores within the mask, highest first, ties by sequence."""
    rows = np.flatnonzero(mask)
    values = scores[rows]
    if len(rows) > limit:
        keep = values >= np.partition(values, len(rows) - limit)[len(rows) - limit]
        rows, values = rows[keep], values[keep]
    order = np.lexsort((held.column("sequence")[rows], -values))
    return rows[order[:limit]]


def _columns(held: Slice, rows: Ints, cosine: Floats, standing: Flags, place: Ints) -> CandidateSet:
    """Everything but the terms. `place`: where in the set each row of the slice stands, -1 = not in it."""
    previous, following = _standing_neighbour(held, "previous", rows, standing), _standing_neighbour(held, "next", rows, standing)

    def column(name: str) -> Floats:
        return held.column(name)[rows].astype(np.float64)

    return CandidateSet(
        ids=[held.ids[row] for row in rows],
        cosine=cosine[rows],
        previous_cosine=_at(cosine, previous),
        next_cosine=_at(cosine, following),
        tf=np.empty((len(rows), 0)),
        own=np.empty((len(rows), 0), dtype=np.bool_),
        length=column("length"),
        before=_positions(place, previous),
        after=_positions(place, following),
        asks=held.column("asks")[rows],
        tells_time=held.column("tells_time")[rows],
        actor=held.actors.of(held.column("actor")[rows]),
        cell=held.cells.of(held.column("cell")[rows]),
        event_at=column("event_at"),
        touched_at=column("touched_at"),
        accessed_at=column("accessed_at"),
        importance_base=column("importance_base"),
        access_count=column("access_count"),
        confidence=column("confidence"),
    )


def _term_matrix(at: Ints, rows: int, postings: Postings, terms: int) -> tuple[Floats, Flags]:
    """The columns tf and own, candidates × terms. `at`: the candidate that each posting is about, -1 = none."""
    tf, own = np.zeros((rows, terms)), np.zeros((rows, terms), dtype=np.bool_)
    hit = at >= 0
    tf[at[hit], postings.term[hit]] = postings.tf[hit]
    own[at[hit], postings.term[hit]] = postings.own[hit]
    return tf, own


def _standing_neighbour(held: Slice, name: str, rows: Ints, standing: Flags) -> npt.NDArray[np.int32]:
    """The row of the turn before or after each candidate, -1 where there is none or it does not stand."""
    neighbour = held.column(name)[rows]
    if len(neighbour):
        neighbour[(neighbour >= 0) & ~standing[neighbour]] = -1
    return neighbour


def _at(cosine: Floats, rows: npt.NDArray[np.int32]) -> Floats:
    return np.where(rows >= 0, cosine[rows], np.nan) if len(rows) else np.empty(0)


def _positions(place: Ints, wanted: npt.NDArray[np.int32]) -> Ints:
    """Where in the set each wanted row stands, -1 where it does not."""
    return np.where(wanted >= 0, place[wanted], -1) if len(wanted) else np.empty(0, dtype=np.int64)
