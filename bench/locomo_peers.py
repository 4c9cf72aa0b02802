"""Other ways to find the same turns: BM25, the vectors alone, both by reciprocal ranks,
and mem0 without a model.

BM25 is bm25s with its English stop words and Snowball's stemmer; mem0 is asked with the same local
embedder. Neither is a dependency: what is not installed is left out and named. Note: these see a
turn with its speaker and its date, and no other turn, as a program does that indexes messages.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from bench import peers
from bench.locomo_data import Conversation
from memory_core.core import MemoryCore
from memory_core.domain.memory import Vector

MOST = 20
LISTED = 100
RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as its authors have it (Cormack et al., 2009)."""


async def rankings(
    core: MemoryCore, conversation: Conversation, folder: Path
) -> dict[str, list[list[str]]]:
    """Per way, the turns of each question, best first."""
    texts = [
        f"[{datetime.fromisoformat(turn.at):%d %B %Y}] {turn.actor}: {turn.text}"
        for turn in conversation.turns
    ]
    ids = [turn.id for turn in conversation.turns]
    asked = [question.text for question in conversation.questions]
    embedder = core._services.adapters.embedder
    vectors, queries = np.array(await embedder.embed(texts)), np.array(await embedder.embed(asked))
    dense = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")[:, :LISTED].tolist()
    by_way: dict[str, list[list[int]]] = {"vectors alone": dense}
    if importlib.util.find_spec("bm25s") is not None:
        by_way["BM25"] = worded = await asyncio.to_thread(_bm25, texts, asked)
        by_way["BM25 and vectors by reciprocal ranks"] = [
            _by_ranks(*both) for both in zip(dense, worded, strict=True)
        ]
    else:
        print("BM25 is skipped: bm25s is not installed here", flush=True)
    named = {
        name: [[ids[row] for row in rows[:MOST]] for rows in lists]
        for name, lists in by_way.items()
    }
    if (reason := peers.why_not()) is None:
        known = dict(zip((*texts, *asked), (*vectors, *queries), strict=True))
        named["mem0, infer=False"] = await asyncio.to_thread(
            _mem0, folder / "mem0" / conversation.name, known, texts, ids, asked
        )
    else:
        print(reason, flush=True)
    return named


def _bm25(texts: Sequence[str], asked: Sequence[str]) -> list[list[int]]:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    tokens = bm25s.tokenize(asked, stopwords="en", stemmer=stemmer, show_progress=False)
    rows, _ = index.retrieve(tokens, k=min(LISTED, len(texts)), show_progress=False)
    lists: list[list[int]] = rows.tolist()
    return lists


def _by_ranks(*lists: Sequence[int]) -> list[int]:
    worth: dict[int, float] = {}
    for rows in lists:
        for rank, row in enumerate(rows):
            worth[row] = worth.get(row, 0.0) + 1 / (RANK_CONSTANT + rank + 1)
    return sorted(worth, key=lambda row: -worth[row])


def _mem0(
    folder: Path,
    vectors: dict[str, Vector],
    texts: Sequence[str],
    ids: Sequence[str],
    asked: Sequence[str],
) -> list[list[str]]:
    """What mem0 finds for each question; `vectors` are those of all texts and questions."""
    stripped = {text.strip(): vector for text, vector in vectors.items()}
    stored = peers.StoredTurns(
        folder, dict(zip(ids, texts, strict=True)), lambda text: stripped[text.strip()]
    )
    results = [stored.search(question, MOST) for question in asked]
    stored.close()
    return results
