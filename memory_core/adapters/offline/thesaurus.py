"""The `Thesaurus` of English words, from a table that ships with the product.

No model runs, whatever embedder is in use. For 18,000 word stems the table has up to 24 other stems
whose vectors are near. `deployment/related_words.py` made it with the local sentence embedder.
Note: the stems are those of `domain.text`; another stemmer needs a new table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory_core.domain.ranking.candidates import Related

TABLE = Path(__file__).with_name("related_words.npz")
SCALE = 255
"""Table value of the likeness 1, as the table has a single byte for each."""


class RelatedWords:
    """A `Thesaurus` with the table, read at the first query (10 ms, 2 MB)."""

    async def related(self, terms: Sequence[str]) -> tuple[Related, ...]:
        """The words near each of the terms, nearest first."""
        table = (
            await asyncio.to_thread(lambda: self._table)
            if "_table" not in self.__dict__
            else self._table
        )
        return tuple(
            related_word for of, term in enumerate(terms) for related_word in table.near(term, of)
        )

    @cached_property
    def _table(self) -> _Table:
        with np.load(TABLE) as parts:
            stems = parts["stems"].tobytes().decode("ascii").split()
            return _Table(stems, parts["ends"], parts["words"], parts["likeness"])


class _Table:
    def __init__(
        self,
        stems: list[str],
        ends: npt.NDArray[np.int64],
        words: npt.NDArray[np.uint16],
        likeness: npt.NDArray[np.uint8],
    ) -> None:
        self._stems, self._ends, self._words, self._likeness = stems, ends, words, likeness
        self._places = {stem: place for place, stem in enumerate(stems)}

    def near(self, term: str, of: int) -> list[Related]:
        """The words near a term; none for a word that the table does not know."""
        place = self._places.get(term)
        if place is None:
            return []
        first, end = int(self._ends[place - 1]) if place else 0, int(self._ends[place])
        pairs = zip(
            self._words[first:end].tolist(), self._likeness[first:end].tolist(), strict=True
        )
        return [Related(self._stems[word], of, likeness / SCALE) for word, likeness in pairs]


class NoRelatedWords:
    """A `Thesaurus` without related words."""

    async def related(self, terms: Sequence[str]) -> tuple[Related, ...]:
        """No related words."""
        return ()
