"""BM25, and the share of a query that the best passage of a text covers.

A text of 1,000 words may say all of a question in a single sentence. For that sentence it is as
long as for any other, so as a whole it covers little of the question. Two kinds of candidates are
longer than a passage:

    the text itself is long    its passages: `terms` terms in a row, from any place where it says
                               a term of the query
    the turns before are long  the text itself, without their words

    share_p = min(1, n_p / min(`enough`, T)) · Σ_t worth(t)·sat_p(t) / Σ_t worth(t)

n_p is the number of the query's T terms that a passage says. The first factor is needed because a
long text has many passages, so that some passage has two words of any question. It does not apply
to a memory that is a single passage. The date of a text and the name of its speaker belong to each
of its passages.
"""

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
from memory_core.domain.text.text_cache import keep_texts

BESIDE_TERMS: Final = 5
"""Terms that the length of a passage includes beside those of its text: a day, a month, a year and
a name.
"""
_FAR: Final = 1 << 32
"""More terms than any text has: passages never reach into the next text."""


@dataclass(frozen=True, slots=True)
class PassageRules:
    """The numbers by which passages are weighed.

    Attributes:
        terms: The sizes of passages that are tried, in terms.
        enough: Terms of the query that a passage must say to count in full;
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
    """The worth of each of T terms to each of P parts of a query.

    Args:
        of_terms: P × T, 0 for a term that a part does not have.
        excused: Which terms of each part a row need not say, U × T; None if it must say all.

    """

    of_terms: Floats
    excused: tuple[Flags | None, ...]

    @cached_property
    def shares(self) -> Floats:
        """P × T: each term's share of a part's whole worth.

        0 for a part without terms.
        """
        shares: Floats = self.of_terms / np.maximum(self.of_terms.sum(axis=1, keepdims=True), _TINY)
        return shares

    @cached_property
    def most(self) -> Floats:
        """P × T: the highest worth that a term has for any row."""
        return np.array(
            [
                of_part if excused is None else np.where(excused.all(axis=0), 0.0, of_part)
                for of_part, excused in zip(self.of_terms, self.excused, strict=True)
            ]
        )

    def in_rows(self, rows: Ints) -> TermWorth:
        """The same worth for other rows."""
        return TermWorth(
            self.of_terms,
            tuple(None if excused is None else excused[rows] for excused in self.excused),
        )

    def share_of(self, covered: Floats) -> Floats:
        """How much of each part each row covers, P × U.

        Args:
            covered: How well a row covers each term, U × T. A row that need not say any term
                covers all of the part.

        """
        share: Floats = self.shares @ covered.T
        for place, (worth, excused) in enumerate(zip(self.of_terms, self.excused, strict=True)):
            if excused is not None:
                asked = ~excused @ worth
                np.divide((covered * ~excused) @ worth, asked, out=share[place], where=asked > 0)
                share[place, asked <= 0] = 1.0
        return share


class TextPassage(NamedTuple):
    """A passage of a text.

    Attributes:
        length: The number of terms that it was weighed with.
        weight: The factor that lowers its share for saying few of the query's terms.
        tf: How often it says each term.

    """

    length: float
    weight: float
    tf: Floats


class _Passages(NamedTuple):
    """N passages, by ascending row.

    Attributes:
        row: The candidate of each passage.
        tf: Its term frequencies, N × T.
        length: Its length in terms.
        weight: Its weight for each part, P × N.

    """

    row: Ints
    tf: Floats
    length: Floats
    weight: Floats


@dataclass(frozen=True, slots=True)
class BestPassages:
    """The best passages of U candidates for P parts of a query.

    Args:
        share: The share of the part that the passage covers, P × U, in [0, 1]; 0 for a candidate
            that is no longer than a passage.
        weighed: All passages, with the share that each covers of each part, P × N.

    """

    share: Floats
    weighed: tuple[tuple[_Passages, Floats], ...]

    def passage(self, part: int, row: int) -> TextPassage | None:
        """The best passage of a candidate.

        Args:
            part: The number of the part.
            row: The candidate's.

        Returns:
            None where no passage covers any of the part.

        """
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
    """The best passage of each candidate that is longer than a passage.

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
    """The passages of all candidates that are longer than a passage.

    Of short texts after long turns this is the text itself. Of long texts it is a passage of each
    size from each place of a term.
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
    beside = _terms_of_passages(candidates, terms).astype(np.float64)[row]
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


def _terms_of_passages(candidates: CandidateSet, terms: Sequence[str]) -> Flags:
    """U × T: the terms that belong to each passage of a text.

    These are terms without a place in the text, such as those of its date, and the speaker's name.
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


# The parts of BM25: the weight of a term, and how well a text covers it.
#
# Their product only orders the lexical list of candidates; its scale differs between queries.
# Relevance uses the same parts, but turns them into a share.


IDF_FLOOR = 400
"""Documents that a store counts as having at least. Without it, in a store of a single memory a
matched term would weigh .29 and an unknown term 1.39, so that no memory would ever be relevant
enough.
"""

ORDER_K1, ORDER_B = 1.2, 0.75
"""The textbook's saturation and length, for ordering the lexical list."""

ORDER_NEAR = 0.3
"""The weight of a word near a term in that list; a term that is repeated very often has 1."""

_TINY = np.finfo(np.float64).tiny


def idf(document_frequency: Iterable[int], documents: int, floor: int = IDF_FLOOR) -> Floats:
    """The inverse document frequency of terms, always above 0.

        ln(1 + (N − df + 0.5) / (df + 0.5)) with N = max(documents, floor)

    It is largest for an unknown term (df 0).

    Args:
        document_frequency: The number of memories with each term.
        documents: The number of memories.
        floor: The least number of memories to count.

    """
    least = max(documents, floor)
    # Statistics may be a commit behind the candidates: a frequency above the count must not make a
    # negative worth. One by one: the few terms of a query are too few for arrays.
    return np.array([log1p((max(least, df) - df + 0.5) / (df + 0.5)) for df in document_frequency])


def saturation(tf: Floats, length: Floats, mean_length: float, k1: float, b: float) -> Floats:
    """How well each of U texts covers each of T terms, in [0, 1).

        tf / (tf + k1·(1 − b + b·length / mean_length))

    Args:
        tf: U × T; or U frequencies of a single term.
        length: Of each text, U.
        mean_length: Of all texts; a number that is not positive counts as "every text is of mean
            length".
        k1: How fast more occurrences count less.
        b: How much the length counts, from 0 to 1.

    Returns:
        Of the shape of `tf`.

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
