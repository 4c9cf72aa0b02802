"""Why a result stands where it stands: every list it came from, every number, what the store charged."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from memory_core.domain.candidates import CandidateSet
from memory_core.domain.query import QueryAnalysis
from memory_core.domain.relevance import Relevance
from memory_core.domain.requests import RetrieveInput
from memory_core.ports import Found


def explain_query(analysis: QueryAnalysis, found: Found, candidates: CandidateSet, query: RetrieveInput) -> dict[str, Any]:
    """What the query was taken for, and what it was measured against; `candidates` are the store's and the short term's together."""
    return {
        "terms": list(analysis.terms),
        "document_frequency": {term: found.statistics.document_frequency.get(term, 0) for term in analysis.terms},
        "documents": found.statistics.documents,
        "asks_time": analysis.asks_time,
        "windows": [asdict(window) for window in analysis.windows],
        "recipe": query.recipe,
        "candidates": {name: len(ids) for name, ids in candidates.lists.items()},
        "request_charge": found.charge,
    }


def explain_hit(row: int, candidates: CandidateSet, relevant: Relevance) -> dict[str, Any]:
    """One result's ranks in the candidate lists (from 1) and the factors that made its relevance."""
    identity = candidates.ids[row]
    return {
        "ranks": {name: ids.index(identity) + 1 for name, ids in candidates.lists.items() if identity in ids},
        "similarity": round(float(relevant.similarity[row]), 6),
        "boosts": {name: round(float(column[row]), 6) for name, column in relevant.boosts.items()},
    }
