"""Whether a text says again what another one says."""

from __future__ import annotations

from collections.abc import Iterable

from memory_core.domain.stopwords import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text import terms_of, words

MOST_PART = 0.5
"""The share of a text's telling words that a repetition has, where it repeats no number."""
LEAST = 2
"""Words that it has of it at least."""


def repeats(text: str, told: Iterable[str]) -> bool:
    """Whether a text has a number of one of the told texts, or most of its words that say something."""
    found = _telling(text)
    return any(_repeats(found, _telling(other)) for other in told)


def _repeats(found: frozenset[str], told: frozenset[str]) -> bool:
    shared = found & told
    if any(len(word) > 1 and any(letter.isdigit() for letter in word) for word in shared):
        return True
    return len(shared) >= LEAST and len(shared) >= MOST_PART * len(told)


def _telling(text: str) -> frozenset[str]:
    return frozenset(terms_of(word for word in words(text) if word not in FUNCTION_WORDS | QUERY_WORDS))
