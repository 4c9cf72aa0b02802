"""From chosen rows and their documents to results: every number rounded, every list named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from memory_core.domain.candidates import CandidateSet
from memory_core.domain.messages import is_message
from memory_core.domain.relevance import Relevance
from memory_core.domain.results import Hit, Passage, Tier
from memory_core.domain.scoring import Scores
from memory_core.domain.shown import Shown
from memory_core.recollection.explain import explain_hit
from memory_core.recollection.stale import Fallen

if TYPE_CHECKING:
    from memory_core.recollection.retrieve import Look

DECIMALS = 6
IMPORTANCE_DECIMALS = 12
"""Importance is not measured: it is a formula of two stored values, and a caller who computes it too must find the same."""


def build_hits(
    rows: Sequence[int],
    shown: Mapping[str, Shown],
    look: Look,
    stale: Mapping[str, tuple[Fallen, ...]],
    passages: Mapping[int, tuple[Passage, ...]],
    *,
    explain: bool,
) -> tuple[Hit, ...]:
    """The chosen rows that are still shown, best first. stale: fallen facts by memory. passages: by row."""
    candidates = look.candidates
    numbers = _numbers(rows, candidates, look.relevant, look.scores)
    members = {name: frozenset(ids) for name, ids in candidates.lists.items()}
    cells = _cells(rows, candidates)
    hits: list[Hit] = []
    for place, row in enumerate(rows):
        identity = candidates.ids[row]
        if identity not in shown:
            continue
        tier, age_days = _tier(row, shown[identity], look)
        hits.append(
            Hit(
                rank=len(hits) + 1,
                shown=shown[identity],
                **numbers[place],
                tier=tier,
                age_days=age_days,
                matched_by=tuple(name for name, ids in members.items() if identity in ids),
                also=tuple(member for member in cells.get(candidates.cell[row] or "", ()) if member != _shown_as(row, candidates)),
                stale_facts=tuple(fact.told() for fact in stale.get(identity, ())),
                explain=explain_hit(row, look) if explain else None,
                passages=passages.get(row, ()),
            )
        )
    return tuple(hits)


def _tier(row: int, shown: Shown, look: Look) -> tuple[Tier, int | None]:
    """Where a result was found; of one that has faded also how many whole days ago it happened.

    Note: of a cell that has not, the message that was found may have.
    """
    identity, faded = look.candidates.ids[row], look.candidates.faded
    if identity in look.cold_ids:
        return "cold", None
    if faded is not None and faded[row] and look.where.has_faded(shown.memory):
        return "faded", max((look.moment - shown.memory.event_timestamp).days, 0)
    return ("short" if identity in look.short_ids else "long"), None


def _shown_as(row: int, candidates: CandidateSet) -> str:
    """The id of the memory that a row is shown by: a message's cell, where it has one."""
    cell, identity = candidates.cell[row], candidates.ids[row]
    return cell if cell is not None and is_message(identity) else identity


def _numbers(rows: Sequence[int], candidates: CandidateSet, relevant: Relevance, scores: Scores) -> list[dict[str, Any]]:
    """The scores of each chosen row by their fields' names, as plain rounded floats; None where a score is not known or not used.

    All in one table: number by number took a tenth of a retrieve.
    """
    columns = {
        "similarity_score": candidates.cosine,
        "lexical_score": relevant.lexical,
        "relevance_score": relevant.score,
        "recency_score": scores.recency,
        "importance_score": scores.importance,
        "frequency_score": scores.frequency,
        "confidence_score": scores.confidence,
        "score": scores.score,
        "composite_score": scores.composite,
    }
    unused = {name: None for name, column in columns.items() if column is None}
    used = {name: column for name, column in columns.items() if column is not None}
    table = np.array(list(used.values()))[:, rows].T.round(DECIMALS).tolist()
    numbers = [unused | dict(zip(used, line, strict=True)) for line in table]
    for row, fields in zip(rows, numbers, strict=True):
        fields["importance_score"] = round(float(scores.importance[row]), IMPORTANCE_DECIMALS)
        if isnan(fields["similarity_score"]):
            fields["similarity_score"] = None
    return numbers


def _cells(rows: Sequence[int], candidates: CandidateSet) -> dict[str, list[str]]:
    """The candidates of each cell that one of the rows belongs to, but for its messages."""
    cells: dict[str, list[str]] = {cell: [] for row in rows if (cell := candidates.cell[row]) is not None}
    if cells:
        for identity, cell in zip(candidates.ids, candidates.cell, strict=True):
            if cell in cells and not is_message(identity):
                cells[cell].append(identity)
    return cells
