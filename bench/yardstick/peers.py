"""Other search over the same turns: BM25, cosines of the local embedder, both fused by reciprocal
rank, and mem0 where it is installed.

Note: each sees a turn with its speaker and its date and no other turn, as a program does that
indexes messages.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from bench.locomo_data import Turn
from bench.peers import StoredTurns, why_not
from bench.yardstick.contexts import MOST_PACKED, packed, packed_in_order
from memory_core.adapters.embedders.minilm import MiniLMEmbedder

BM25, COSINE, FUSED, MEM0 = "BM25", "cosine", "BM25 and cosine", "mem0"
NAMES = (BM25, COSINE, FUSED, MEM0)
K1, B = 1.2, 0.75
RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as its authors have it (Cormack et al., 2009)."""
TEXTS_A_CALL = 32
_WORD = re.compile(r"\w\w+")
Scores = Sequence[float]


def bm25(turns: Sequence[Turn]) -> Callable[[str], list[float]]:
    """Plain BM25 over turns, no stemming: from a query to each turn's score."""
    texts = [_WORD.findall(f"{turn.actor}: {turn.text} {turn.at[:10]}".lower()) for turn in turns]
    frequency, mean = (
        Counter(word for text in texts for word in set(text)),
        sum(map(len, texts)) / len(texts),
    )
    counts = [Counter(text) for text in texts]
    lengths = [K1 * (1 - B + B * len(text) / mean) for text in texts]

    def scores(query: str) -> list[float]:
        words = set(_WORD.findall(query.lower()))
        worth = {
            word: math.log(1 + (len(texts) - frequency[word] + 0.5) / (frequency[word] + 0.5))
            for word in words
        }
        return [
            sum(
                value * count[word] * (K1 + 1) / (count[word] + length)
                for word, value in worth.items()
                if word in count
            )
            for count, length in zip(counts, lengths, strict=True)
        ]

    return scores


def ranked(scores: Scores) -> list[int]:
    """Places, best score first; of equal ones the earlier."""
    return sorted(range(len(scores)), key=lambda place: -scores[place])


def by_reciprocal_rank(*lists: Scores) -> list[float]:
    """Each place's sum of 1 / (60 + rank) over the lists, ranks from 1."""
    fused = [0.0] * len(lists[0])
    for scores in lists:
        for rank, place in enumerate(ranked(scores), 1):
            fused[place] += 1 / (RANK_CONSTANT + rank)
    return fused


class Peers:
    """The ways over one conversation."""

    def __init__(self, embedder: Embedder, turns: Sequence[Turn], folder: Path) -> None:
        """Embed the turns, and store them in a mem0 where it is installed.

        Args:
            embedder: Makes all vectors, mem0's too.
            turns: Of the conversation.
            folder: For mem0's files, with nothing in it yet.

        """
        self._embedder, self._worded = embedder, bm25(turns)
        self._texts = {turn.id: turn.text for turn in turns}
        self._ids = list(self._texts)
        lines = [
            f"[{datetime.fromisoformat(turn.at):%d %B %Y}] {turn.actor}: {turn.text}"
            for turn in turns
        ]
        self._vectors = embedder.vectors(lines)
        self._mem0 = self._stored(folder, lines) if why_not() is None else None

    def _stored(self, folder: Path, lines: Sequence[str]) -> StoredTurns:
        known = dict(zip((text.strip() for text in lines), self._vectors, strict=True))

        def vector(text: str) -> np.ndarray:
            made = known.get(text.strip())
            return self._embedder.query(text) if made is None else made

        return StoredTurns(folder, dict(zip(self._ids, lines, strict=True)), vector)

    def close(self) -> None:
        """Let go of mem0's files."""
        if self._mem0 is not None:
            self._mem0.close()

    def scores(self, query: str) -> dict[str, list[float]]:
        """By way of plain search, each turn's score."""
        worded = self._worded(query)
        near: list[float] = (self._vectors @ self._embedder.query(query)).tolist()
        return {BM25: worded, COSINE: near, FUSED: by_reciprocal_rank(worded, near)}

    def found(self, query: str, most: int) -> dict[str, list[str]]:
        """By way, the ids of the best turns."""
        rankings = {
            name: [self._ids[place] for place in ranked(scores)[:most]]
            for name, scores in self.scores(query).items()
        }
        return (
            rankings if self._mem0 is None else {**rankings, MEM0: self._mem0.search(query, most)}
        )

    def contexts(self, query: str) -> dict[str, str]:
        """By way, the whole turns that it packs into the budget of a context. mem0's results are
        taken in their order.
        """
        contexts = {
            name: packed(scores, list(self._texts.values()))
            for name, scores in self.scores(query).items()
        }
        if self._mem0 is None:
            return contexts
        return {
            **contexts,
            MEM0: packed_in_order(
                [self._texts[turn] for turn in self._mem0.search(query, MOST_PACKED)]
            ),
        }


class Embedder:
    """The product's local embedder in this process. A long text's vector is the mean of
    its passages'.
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._embedder = MiniLMEmbedder()

    def __enter__(self) -> Self:
        self._runner.run(self._embedder.open())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runner.run(self._embedder.close())
        self._runner.close()

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text."""
        made = [
            self._runner.run(self._embedder.embed(texts[start : start + TEXTS_A_CALL]))
            for start in range(0, len(texts), TEXTS_A_CALL)
        ]
        return np.array([vector for part in made for vector in part])

    def query(self, text: str) -> np.ndarray:
        """A query's vector."""
        return np.array(self._runner.run(self._embedder.embed_queries([text]))[0])
