"""BM25, and the share of a query that the best passage of a text covers.

A text of 1,000 words that says all of a question in one sentence is as long for that sentence as
for any other, so as a whole it covers little of it. Two kinds of candidates are longer
than a passage:

the text itself is long      its passages: `terms` in a row from any place where it says a term of the query
    the turns before it are      itself, without their words

share_p = min(1, n_p / min(`enough`, T)) · Σ_t worth(t)·sat_p(t) / Σ_t worth(t)

n_p: how many of the query's T terms a passage says. A long text has many passages, so one of them
has two words of any question; a memory that is a single passage is not asked for so much. The date
of a text and the name of its speaker belong to each of its passages.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log1p
from typing import Final, NamedTuple

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints
from memory_core.domain.ranking.index_terms import PASSAGE_TERMS
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.kept import keep_texts

BESIDE_TERMS: Final = 5
"""What the length of a passage has beside its text's terms: a day, a month, a year and a name."""
_FAR: Final = 1 << 32
"""More than any text has terms: passages never reach into the next text."""


@dataclass(frozen=True, slots=True)
class PassageRules:
    """What passages are weighed by.

    Args:
        terms: The sizes of passages that are looked at, in terms.
        enough: Terms of the query that a passage must say to count in full,
            all of them where the query has fewer.
        k1: Of the saturation.
        b: Of the saturation.
        mean_length: Of the saturation.

    """

    terms: tuple[int, ...]
    enough: int
    k1: float
    b: float
    mean_length: float


@dataclass(frozen=True, slots=True)
class BestPassages:
    """Of U candidates the best passages for a query of T terms; zeros for a candidate that is no
    longer than a passage.

    Args:
        share: U, the share of the query that it covers, in [0, 1].
        length: U, the terms that it was weighed with.
        weight: U, what its coverage counted for saying few of the terms.
        tf: U × T, how often it says each term.

    """

    share: Floats
    length: Floats
    weight: Floats
    tf: Floats


class _Passages(NamedTuple):
    """Passages one by one: each one's candidate, its term frequencies, its length
    and its weight.
    """

    row: Ints
    tf: Floats
    length: Floats
    weight: Floats


def best_passages(
    candidates: CandidateSet, terms: Sequence[str], worth: Floats, rules: PassageRules
) -> BestPassages:
    """The best passage of each candidate that is longer than one.

    Args:
        candidates: With the columns of these terms.
        terms: Of the query.
        worth: Of each term, T; or U × T where candidates are asked for different ones.
        rules: The numbers.

    """
    rows = len(candidates)
    best = BestPassages(
        np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros((rows, len(terms)))
    )
    alone = (
        (candidates.length > PASSAGE_TERMS + BESIDE_TERMS)
        & (candidates.own_length <= PASSAGE_TERMS)
    ).nonzero()[0]
    itself = _Passages(
        alone,
        candidates.own[alone].astype(np.float64),
        candidates.own_length[alone] + BESIDE_TERMS,
        np.ones(len(alone)),
    )
    _take_better(best, itself, worth, rules)
    row, place, term = candidates.places
    if not len(row):
        return best
    key = row * _FAR + place
    counts = np.zeros((len(row) + 1, len(terms)))
    counts[np.arange(1, len(row) + 1), term] = 1.0
    np.cumsum(counts, axis=0, out=counts)
    beside = _beside(candidates, terms).astype(np.float64)[row]
    for size in rules.terms:
        # in place: a message of six sentences has thousands of passages for tens of terms
        tf = counts[np.searchsorted(key, key + size)]
        tf -= counts[:-1]
        tf += beside
        term_counts = (tf > 0).view(np.uint8).sum(axis=1, dtype=np.int64)
        weight = np.minimum(term_counts / min(rules.enough, len(terms)), 1.0)
        _take_better(
            best,
            _Passages(row, tf, np.full(len(row), float(size + BESIDE_TERMS)), weight),
            worth,
            rules,
        )
    return best


def covered_share(covered: Floats, worth: Floats) -> Floats:
    """How much of the query each candidate covers, U.

    Args:
        covered: How well each term is covered, U × T.
        worth: Of each term, T or U × T. A candidate that is asked for nothing covers all of it.

    """
    if worth.ndim == 1:
        total: Floats = covered @ (worth / worth.sum())
        return total
    asked = worth.sum(axis=1)
    share: Floats = np.divide(
        (covered * worth).sum(axis=1), asked, out=np.ones_like(asked), where=asked > 0
    )
    return share


def _take_better(
    best: BestPassages, passages: _Passages, worth: Floats, rules: PassageRules
) -> None:
    """Put the best of these passages in the place of what is kept of its candidate,
    where it covers more.
    """
    row, tf, length, weight = passages
    covered = saturation(tf, length, rules.mean_length, rules.k1, rules.b)
    share = weight * covered_share(covered, worth if worth.ndim == 1 else worth[row])
    better = share > best.share[row]
    order = better.nonzero()[0][np.argsort(share[better], kind="stable")]
    # Of several passages of a candidate the last one stays, which is the best.
    best.share[row[order]], best.length[row[order]] = share[order], length[order]
    best.weight[row[order]], best.tf[row[order]] = weight[order], tf[order]


def _beside(candidates: CandidateSet, terms: Sequence[str]) -> Flags:
    """U × T: the terms that belong to each passage of a text: what it says nowhere in its text,
    and its speaker's name.
    """
    row, _, term = candidates.places
    placed = np.zeros(candidates.own.shape, dtype=np.bool_)
    placed[row, term] = True
    beside = candidates.own & ~placed
    for actor in set(filter(None, candidates.actor)):
        named = [term in _name_terms(actor) for term in terms]
        if any(named):
            theirs = [
                place for place in np.unique(row).tolist() if candidates.actor[place] == actor
            ]
            beside[theirs] |= np.array(named)
    return beside


@keep_texts(4_096)
def _name_terms(actor: str) -> frozenset[str]:
    return frozenset(tokens(actor))


# What BM25 is made of: how much a term is worth, and how well a text covers it.
#
# Their product only ORDERS the lexical list of candidates; it has no scale that means the same for
# two queries. Relevance takes the same parts but makes a share of them.


IDF_FLOOR = 400
"""Documents a store counts as having at least. Without it a store of one memory weighs a matched
term .29 and an unknown one 1.39, so that nothing would ever be relevant enough.
"""

ORDER_K1, ORDER_B = 1.2, 0.75
"""The textbook's saturation and length, for ordering the lexical list."""

ORDER_NEAR = 0.3
"""What a word near a term counts in that list, beside 1 for the term that is there
again and again.
"""

_TINY = np.finfo(np.float64).tiny


def idf(document_frequency: Iterable[int], documents: int, floor: int = IDF_FLOOR) -> Floats:
    """ln(1 + (N − df + 0.5) / (df + 0.5)) with N = max(documents, floor): above 0 always,
    largest for an unknown term (df 0).
    """
    least = max(documents, floor)
    # Statistics may be a commit behind the candidates: a frequency above the count must not make a
    # negative worth. One by one: the few terms of a query are too few for arrays.
    return np.array([log1p((max(least, df) - df + 0.5) / (df + 0.5)) for df in document_frequency])


def saturation(tf: Floats, length: Floats, mean_length: float, k1: float, b: float) -> Floats:
    """How well each of U texts covers each of T terms: tf / (tf + k1·(1 − b + b·length /
    mean_length)), in [0, 1), U × T.

    tf: U × T, length: U; or U frequencies, one a length. A mean_length that is not positive counts
    as "every text is of mean length".
    """
    norm = (
        k1 * (1.0 - b) + (k1 * b / mean_length) * length
        if mean_length > 0
        else np.full(len(length), k1)
    )
    # The least number there is keeps 0 / 0 a 0.
    covered: Floats = tf + (norm[:, None] if tf.ndim == 2 else norm)
    np.maximum(covered, _TINY, out=covered)
    return np.divide(tf, covered, out=covered)
