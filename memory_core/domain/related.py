"""Words that stand near a query's own in meaning, so that "relocate" finds "moved".

A related word never replaces the query's: a memory that says the very word gets nothing for its neighbours, and one that only says
a neighbour gets a part. Note: names have no related words. "Anna" and "Hannah" are near each other for any
embedder, and two people all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
