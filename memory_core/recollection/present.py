"""Past truths follow present ones: a cell that answers a query by a superseded fact is ranked behind the truth that holds now.

Scores stay what they are; only the order changes, and only there. Note: a cell with a superseded fact may well be the best
answer, by what else it tells. So it gives way only where it has no word of the query that the present truth has not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_core.domain.candidates import CandidateSet
from memory_core.domain.models import Memory
from memory_core.domain.versions import base_id


def present_first(
    ranked: Sequence[int], truths: Mapping[str, Sequence[Memory]], candidates: CandidateSet, terms: Sequence[str]
) -> list[int]:
    """The ranked rows, with those that answer by a superseded fact behind the row of the truth that replaced it, where it is among them.

    truths: by a row's memory, the truths that hold in the place of those that it told. terms: of the query, as the candidates' columns.
    """
    order = list(ranked)
    for row in ranked:
        for truth in truths.get(candidates.ids[row], ()):
            place = next((at for at, other_row in enumerate(order) if _tells(candidates, other_row, truth)), -1)
            if place > order.index(row) and _adds_nothing(row, truth, candidates, terms):
                order.remove(row)
                order.insert(place, row)
    return order


def _tells(candidates: CandidateSet, row: int, truth: Memory) -> bool:
    """Whether a row is the truth itself, or stands for the cell that told it."""
    return base_id(candidates.ids[row]) == truth.id or (truth.cell_id is not None and candidates.cell[row] == truth.cell_id)


def _adds_nothing(row: int, truth: Memory, candidates: CandidateSet, terms: Sequence[str]) -> bool:
    """Whether a row has words of the query, and none that the truth has not. Without any it was found by its meaning: who knows which."""
    has = {term for term, owned in zip(terms, candidates.own[row].tolist(), strict=True) if owned}
    return bool(has) and has <= truth.lexical.own.keys()
