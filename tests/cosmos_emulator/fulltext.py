"""The words of one partition at one path: BM25 and containment.

The words are maximal runs of letters and digits, case-folded: no stemming and no stop words, both
of which the real analyser has. A term of several words is a phrase.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_TERMS = 30
K1, B = 1.2, 0.75
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=50_000)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order. Remembered, as a query asks for those of every document."""
    return tuple(_WORD.findall(text.casefold()))


@lru_cache(maxsize=50_000)
def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(words(text))


def contains(text: str, term: tuple[str, ...]) -> bool:
    """Whether a term is in a text."""
    known = _vocabulary(text)
    return (
        bool(term)
        and all(word in known for word in term)
        and (len(term) == 1 or occurrences(words(text), term) > 0)
    )


def occurrences(text: tuple[str, ...], term: tuple[str, ...]) -> int:
    """How often a term, a phrase when it has several words, is in a text."""
    if len(term) == 1:
        return text.count(term[0])
    return (
        sum(text[at : at + len(term)] == term for at in range(len(text) - len(term) + 1))
        if term
        else 0
    )


@dataclass(frozen=True, slots=True)
class Collection:
    """What BM25 knows about all documents: their number, their words, and how many
    contain each term.
    """

    documents: int
    total_words: int
    hits: tuple[int, ...]

    def idf(self, hits: int) -> float:
        """ln(1 + (N − n + 0.5) / (n + 0.5)): what a term is worth that n of N documents contain."""
        return math.log1p((self.documents - hits + 0.5) / (hits + 0.5))

    def saturation(self, frequency: int, length: int) -> float:
        """How much of its worth a term adds that is `frequency` times in a text of `length` words
        (Robertson and Zaragoza, 2009).
        """
        mean = self.total_words / self.documents if self.total_words else 1.0
        return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / mean))

    def score(self, frequencies: Sequence[int], length: int) -> float:
        """BM25 of one document."""
        return sum(
            self.idf(hits) * self.saturation(frequency, length)
            for frequency, hits in zip(frequencies, self.hits, strict=True)
            if frequency
        )


class TextIndex:
    """Postings: word → document → how often."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, ...]] = {}
        self._postings: dict[str, dict[str, int]] = {}
        self.total_words = 0

    def put(self, id_: str, text: str) -> None:
        """Add or replace."""
        self.remove(id_)
        tokens = self._texts[id_] = words(text)
        self.total_words += len(tokens)
        for word, count in Counter(tokens).items():
            self._postings.setdefault(word, {})[id_] = count

    def remove(self, id_: str) -> None:
        """Forget a document, if it is here."""
        tokens = self._texts.pop(id_, ())
        self.total_words -= len(tokens)
        for word in set(tokens):
            del self._postings[word][id_]

    def matches(self, term: tuple[str, ...]) -> dict[str, int]:
        """Which documents contain a term, and how often."""
        if len(term) == 1:
            return self._postings.get(term[0], {})
        if not term:
            return {}
        holders = set.intersection(*(set(self._postings.get(word, {})) for word in term))
        counted = {id_: occurrences(self._texts[id_], term) for id_ in holders}
        return {id_: count for id_, count in counted.items() if count}

    def scores(self, terms: Iterable[tuple[str, ...]], whole: Collection) -> dict[str, float]:
        """BM25 of the documents that contain any of the terms."""
        scores: dict[str, float] = {}
        for term, hits in zip(terms, whole.hits, strict=True):
            worth = whole.idf(hits)
            for id_, match in self.matches(term).items():
                scores[id_] = scores.get(id_, 0.0) + worth * whole.saturation(
                    match, len(self._texts[id_])
                )
        return scores
