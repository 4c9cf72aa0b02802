"""From chosen rows and their documents to results: every number rounded, every list named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from memory_core.domain.candidates import CandidateSet, Floats
from memory_core.domain.relevance import Relevance
from memory_core.domain.results import Hit
from memory_core.domain.scoring import Scores
from memory_core.domain.shown import Shown
from memory_core.recollection.explain import explain_hit

DECIMALS = 6


def build_hits(
    rows: Sequence[int],
    shown: Mapping[str, Shown],
    candidates: CandidateSet,
    relevant: Relevance,
    scores: Scores,
    short_ids: frozenset[str],
    stale: Mapping[str, tuple[dict[str, Any], ...]],
    *,
    explain: bool,
) -> tuple[Hit, ...]:
    """The chosen rows that are still shown, best first. stale: fallen facts by memory."""
    numbers = _Numbers(rows, candidates, relevant, scores)
    members = {name: frozenset(ids) for name, ids in candidates.lists.items()}
    cells = _cells(candidates)
    hits: list[Hit] = []
    for place, row in enumerate(rows):
        identity = candidates.ids[row]
        if identity not in shown:
            continue
        tier: Literal["short", "long"] = "short" if identity in short_ids else "long"
        hits.append(
            Hit(
                rank=len(hits) + 1,
                shown=shown[identity],
                similarity_score=numbers.similarity[place],
                lexical_score=numbers.lexical[place],
                relevance_score=numbers.relevance[place],
                recency_score=numbers.recency[place],
                importance_score=numbers.importance[place],
                frequency_score=numbers.frequency[place],
                confidence_score=numbers.confidence[place],
                score=numbers.score[place],
                composite_score=numbers.composite[place],
                tier=tier,
                matched_by=tuple(name for name, ids in members.items() if identity in ids),
                also=tuple(other for other in cells.get(candidates.cell[row] or "", ()) if other != identity),
                stale_facts=stale.get(identity, ()),
                explain=explain_hit(row, candidates, relevant) if explain else None,
            )
        )
    return tuple(hits)


class _Numbers:
    """The chosen rows' scores as plain rounded floats, column by column: number by number took a tenth of a retrieve."""

    def __init__(self, rows: Sequence[int], candidates: CandidateSet, relevant: Relevance, scores: Scores) -> None:
        at = np.array(rows, dtype=np.int64)
        self.similarity = [None if value != value else value for value in _rounded(candidates.cosine, at)]
        self.lexical = _rounded(relevant.lexical, at)
        self.relevance = _rounded(relevant.score, at)
        self.importance = _rounded(scores.importance, at)
        self.score = _rounded(scores.score, at)
        self.composite = _rounded(scores.composite, at)
        self.recency = _rounded_or_none(scores.recency, at)
        self.frequency = _rounded_or_none(scores.frequency, at)
        self.confidence = _rounded_or_none(scores.confidence, at)


def _rounded(column: Floats, at: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[float]:
    rounded: list[float] = np.round(column[at], DECIMALS).tolist()
    return rounded


def _rounded_or_none(column: Floats | None, at: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Sequence[float | None]:
    return [None] * len(at) if column is None else _rounded(column, at)


def _cells(candidates: CandidateSet) -> dict[str, list[str]]:
    cells: dict[str, list[str]] = {}
    for identity, cell in zip(candidates.ids, candidates.cell, strict=True):
        if cell is not None:
            cells.setdefault(cell, []).append(identity)
    return cells
