"""From chosen rows and their documents to hits: every number rounded, every list named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import CandidateSet
from memory_core.domain.ranking.recipes import Scores
from memory_core.domain.ranking.relevance import Relevance
from memory_core.domain.results import Hit, Passage, Tier
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.recollection.explain import explain_hit
from memory_core.recollection.query_round import DECIMALS, QueryRound
from memory_core.recollection.result_marks import ResultMarks
from memory_core.recollection.superseded_facts import SupersededFact

IMPORTANCE_DECIMALS = 12
"""More decimals than the other scores have, because importance is not measured.

It is a formula of two stored values, and a caller that computes it must get the same number.
"""


def build_hits(
    rows: Sequence[int],
    documents: Mapping[str, SerializedMemory],
    look: QueryRound,
    superseded: Mapping[str, tuple[SupersededFact, ...]],
    passages: Mapping[int, tuple[Passage, ...]],
    marks: Mapping[int, ResultMarks],
    *,
    explain: bool,
) -> tuple[Hit, ...]:
    """Build the hits of the chosen rows, best first.

    A row without a document is left out.

    Args:
        rows: The chosen rows, best first.
        documents: The memories to show, by the id of their row.
        look: The round that the rows are of.
        superseded: Superseded facts by the id of a memory.
        passages: The passages to show, by row.
        marks: What is said against results, by row.
        explain: Whether each hit says why it has its rank.

    """
    candidates = look.candidates
    scored = _scored_rows(rows, look)
    numbers = _numbers(scored, candidates, look.relevant, look.scores)
    members = {name: frozenset(ids) for name, ids in candidates.lists.items()}
    cells = _cells(rows, candidates)
    hits: list[Hit] = []
    for place, row in enumerate(rows):
        identity = candidates.ids[row]
        if identity not in documents:
            continue
        tier, age_days = _tier(row, documents[identity], look)
        against = marks.get(row, ResultMarks())
        hits.append(
            Hit(
                rank=len(hits) + 1,
                serialized=documents[identity],
                **numbers[place],
                tier=tier,
                age_days=age_days,
                matched_by=tuple(name for name, ids in members.items() if identity in ids),
                also=tuple(
                    member
                    for member in cells.get(candidates.cell[row] or "", ())
                    if member != _shown_as(row, candidates)
                ),
                stale_facts=tuple(fact.as_shown() for fact in superseded.get(identity, ())),
                explain=_explain(row, scored[place], look) if explain else None,
                passages=passages.get(row, ()),
                replaced_by=against.replaced_by,
                disputed_by=against.disputed_by,
            )
        )
    return tuple(hits)


def _scored_rows(rows: Sequence[int], look: QueryRound) -> list[int]:
    """Return the row that gives each result its scores.

    A result may be shown for several candidates: an episode and its messages. The most relevant of
    these candidates gives the scores, whichever of them leads.
    """
    candidates, relevance = look.candidates, look.relevant.score
    if not any(candidates.cell):  # each candidate is shown as itself
        return list(rows)
    best = {_shown_as(row, candidates): row for row in rows}
    for row, identity in enumerate(candidates.ids):
        name = _shown_as(row, candidates)
        if (
            name in best
            and identity not in look.left_out
            and relevance[row] > relevance[best[name]]
        ):
            best[name] = row
    return [best.get(_shown_as(row, candidates), row) for row in rows]


def _explain(row: int, scored: int, look: QueryRound) -> dict[str, Any]:
    """Explain a result: scores by the row that gives them, place by the leading row."""
    explanation = explain_hit(scored, look)
    if row == scored:
        return explanation
    leading = explain_hit(row, look)
    return explanation | {name: leading[name] for name in ("learned", "order", "faded", "reranked")}


def _tier(row: int, documents: SerializedMemory, look: QueryRound) -> tuple[Tier, int | None]:
    """Return the tier of a result, and its age if it has faded.

    The age is in whole days since the event.

    Note: a message may have faded while its cell, which is shown, has not.
    """
    identity, faded = look.candidates.ids[row], look.candidates.faded
    if identity in look.cold_ids:
        return "cold", None
    if faded is not None and faded[row] and look.where.has_faded(documents.memory):
        return "faded", max((look.moment - documents.memory.event_timestamp).days, 0)
    return ("short" if identity in look.short_ids else "long"), None


def _shown_as(row: int, candidates: CandidateSet) -> str:
    """Return the id of the memory that a row is shown as.

    A message is shown as its cell if it has a cell.
    """
    cell, identity = candidates.cell[row], candidates.ids[row]
    return cell if cell is not None and is_message(identity) else identity


def _numbers(
    rows: Sequence[int], candidates: CandidateSet, relevant: Relevance, scores: Scores
) -> list[dict[str, Any]]:
    """Return the scores of each chosen row as rounded floats, by field name.

    None marks a score that is unknown or unused. All scores are rounded in a single table: number
    by number took a tenth of a retrieve.
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
    """Return the candidates of each row's cell, except the messages."""
    cells: dict[str, list[str]] = {
        cell: [] for row in rows if (cell := candidates.cell[row]) is not None
    }
    if cells:
        for identity, cell in zip(candidates.ids, candidates.cell, strict=True):
            if cell in cells and not is_message(identity):
                cells[cell].append(identity)
    return cells
