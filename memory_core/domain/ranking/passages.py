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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log1p
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

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


@dataclass(frozen=True)
class TermWorth:
    """What each of T terms is worth to each of P parts of a query.

    Args:
        of_terms: P × T, 0 for a term that a part has not.
        excused: Of each part which terms a row need not say, U × T; None = it must say all.

    """

    of_terms: Floats
    excused: tuple[Flags | None, ...]

    @cached_property
    def shares(self) -> Floats:
        """P × T: each term's share of what all of a part are worth; 0 for a part without terms."""
        shares: Floats = self.of_terms / np.maximum(self.of_terms.sum(axis=1, keepdims=True), _TINY)
        return shares

    @cached_property
    def most(self) -> Floats:
        """P × T: what a term is worth where it is worth most."""
        return np.array(
            [
                of_part if excused is None else np.where(excused.all(axis=0), 0.0, of_part)
                for of_part, excused in zip(self.of_terms, self.excused, strict=True)
            ]
        )

    def in_rows(self, rows: Ints) -> TermWorth:
        """The same for other rows."""
        return TermWorth(
            self.of_terms,
            tuple(None if excused is None else excused[rows] for excused in self.excused),
        )

    def share_of(self, covered: Floats) -> Floats:
        """How much of each part each row covers, P × U.

        Args:
            covered: How well it covers each term, U × T. A row that is asked for nothing
                covers all of it.

        """
        share: Floats = self.shares @ covered.T
        for place, (worth, excused) in enumerate(zip(self.of_terms, self.excused, strict=True)):
            if excused is not None:
                asked = ~excused @ worth
                np.divide((covered * ~excused) @ worth, asked, out=share[place], where=asked > 0)
                share[place, asked <= 0] = 1.0
        return share


class TextPassage(NamedTuple):
    """A passage of a text: the terms that it was weighed with, what its coverage counted for saying
    few of the query's, and how often it says each.
    """

    length: float
    weight: float
    tf: Floats


class _Passages(NamedTuple):
    """N passages one by one, by ascending row: each one's candidate, its term frequencies, N × T,
    its length and its weight for each part, P × N.
    """

    row: Ints
    tf: Floats
    length: Floats
    weight: Floats


@dataclass(frozen=True, slots=True)
class BestPassages:
    """Of U candidates the best passages for P parts of a query.

    Args:
        share: P × U, the share of the part that it covers, in [0, 1]; 0 for a candidate that is no
            longer than a passage.
        weighed: All passages, with the share that each covers of each part, P × N.

    """

    share: Floats
    weighed: tuple[tuple[_Passages, Floats], ...]

    def passage(self, part: int, row: int) -> TextPassage | None:
        """The best one of a candidate; None where none covers anything."""
        best, highest = None, 0.0
        for passages, shares in self.weighed:
            of_row = (passages.row == row).nonzero()[0]
            if len(of_row) and shares[part, of_row].max() > highest:
                at = of_row[np.argmax(shares[part, of_row])]
                highest = shares[part, at]
                best = TextPassage(
                    float(passages.length[at]), float(passages.weight[part, at]), passages.tf[at]
                )
        return best


def best_passages(
    candidates: CandidateSet,
    terms: Sequence[str],
    asked: Flags,
    worth: TermWorth,
    rules: PassageRules,
) -> BestPassages:
    """The best passage of each candidate that is longer than one.

    Args:
        candidates: With the columns of these terms.
        terms: Of the whole query, T.
        asked: Which of them each part has, P × T.
        worth: Of each term to each part.
        rules: The numbers.

    """
    share = np.zeros((len(asked), len(candidates)))
    weighed = []
    for passages in _passages(candidates, terms, asked.astype(np.float32), rules):
        covered = saturation(passages.tf, passages.length, rules.mean_length, rules.k1, rules.b)
        shares = passages.weight * worth.in_rows(passages.row).share_of(covered)
        starts = np.diff(passages.row, prepend=-1).nonzero()[0]
        rows = passages.row[starts]
        share[:, rows] = np.maximum(share[:, rows], np.maximum.reduceat(shares, starts, axis=1))
        weighed.append((passages, shares))
    return BestPassages(share, tuple(weighed))


def _passages(
    candidates: CandidateSet,
    terms: Sequence[str],
    asked: npt.NDArray[np.float32],
    rules: PassageRules,
) -> Iterator[_Passages]:
    """Of short texts after long ones the text itself, and of long texts a passage of each size from
    each place of a term.
    """
    alone = (
        (candidates.length > PASSAGE_TERMS + BESIDE_TERMS)
        & (candidates.own_length <= PASSAGE_TERMS)
    ).nonzero()[0]
    if len(alone):
        yield _Passages(
            alone,
            candidates.own[alone].astype(np.float64),
            candidates.own_length[alone] + BESIDE_TERMS,
            np.ones((len(asked), len(alone))),
        )
    row, place, term = candidates.places
    if not len(row):
        return
    key = row * _FAR + place
    counts = np.zeros((len(row) + 1, len(terms)))
    counts[np.arange(1, len(row) + 1), term] = 1.0
    np.cumsum(counts, axis=0, out=counts)
    beside = _beside(candidates, terms).astype(np.float64)[row]
    enough = np.minimum(asked.sum(axis=1, keepdims=True), rules.enough)
    for size in rules.terms:
        # in place: a message of six sentences has thousands of passages for tens of terms
        tf = counts[np.searchsorted(key, key + size)]
        tf -= counts[:-1]
        # of a part of which it says nothing it is no passage, whatever belongs to each passage
        is_of_part = asked @ (tf > 0).T > 0
        tf += beside
        terms_in = asked @ (tf > 0).T
        yield _Passages(
            row,
            tf,
            np.full(len(row), float(size + BESIDE_TERMS)),
            np.minimum(terms_in / enough, 1.0) * is_of_part,
        )


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
