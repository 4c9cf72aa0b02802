"""Why a result has its rank: its lists, and every number of its relevance.

Note: nothing here is computed for the answer. The worth of a term and what a memory has of it are
told from the same columns that relevance read. What the store charged is put in by `MemoryCore`,
which sees every read of the call.
"""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import Any

from memory_core.domain.memory import Memory
from memory_core.domain.ranking.candidates import CandidateSet, Statistics
from memory_core.domain.ranking.learned_order import learned_order, order_shares
from memory_core.domain.ranking.measures import Measures
from memory_core.domain.ranking.passages import idf
from memory_core.domain.ranking.query import QueryAnalysis, QueryPart
from memory_core.domain.ranking.query_parts import part_of
from memory_core.domain.ranking.recipes import FADED_ORDER
from memory_core.domain.ranking.relevance import RelevanceParameters, excused_terms, long_turns
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.text.excerpts import excerpt
from memory_core.recollection.passages import PASSAGE_TOKENS
from memory_core.recollection.query_round import DECIMALS, ROUNDED, QueryRound


def explain_query(look: QueryRound, query: RetrieveInput) -> dict[str, Any]:
    """Explain how a query was understood, with the statistics that it was measured against.

    Args:
        look: The round with its candidates; their counts include all stores.
        query: The query as the caller sent it.

    """
    analysis, statistics = look.analysis, look.search_answer.statistics
    return {
        "terms": list(analysis.terms),
        "parts": []
        if look.query_parts.is_plain
        else [_told_part(part) for part in look.query_parts.parts],
        "document_frequency": {
            term: statistics.document_frequency.get(term, 0) for term in analysis.terms
        },
        "documents": statistics.documents,
        "mean_length": _rounded(statistics.mean_length),
        "asks_time": analysis.asks_time,
        "windows": [asdict(window) for window in analysis.windows],
        "dated": [asdict(dated) for dated in analysis.dated],
        "recipe": query.recipe,
        "candidates": {name: len(ids) for name, ids in look.candidates.lists.items()},
        "reranked": len(look.reranked),
    }


def explain_hit(row: int, look: QueryRound) -> dict[str, Any]:
    """Explain why a result has its rank.

    Args:
        row: The candidate's row.
        look: The round that the row is of.

    Returns:
        `ranks`: Its ranks in the candidate lists, from 1.
        `part`: The place of the part that it answers best, for a query of several sentences;
            similarities and terms are of that part.
        `similarity`, `previous_similarity`, `next_similarity`: Its cosine and those of the turns
            before and after it.
        `length`: Its weighed length.
        `terms`: For each term its `worth` (its share of the query's information), `frequency`
            (weighed, in the memory and the turns before it), `own` (whether the memory itself
            has it), `near` (how near in meaning the memory's nearest word is, if the memory lacks
            the term), `next` (whether the turn after has it) and `excused` (whether the term
            names a time that the memory is in, so that the memory need not have the term).
        `passage`: If a passage covers more than the whole text, the length that the passage was
            weighed with, its weight, and how often it says each term.
        `around`: The share of the query that the memory and the turns around it say.
        `learned`: The addition of each feature to the sum that orders.
        `order`: The number that decides its place.
        `boosts`: The factors that relevance was multiplied by.
        `faded`: The factor of its order if it has faded, else None.
        `reranked`: The score that a reranker gave it, or None.

    """
    place_of_part = int(look.judged.part[row])
    part = look.query_parts.parts[place_of_part]
    plain, statistics = look.query_parts.is_plain, look.search_answer.statistics
    analysis = look.analysis if plain else part.analysis
    candidates = look.candidates if plain else part_of(look.candidates, part, look.vectors)
    measures = Measures([QueryPart.whole(analysis)], candidates, statistics, RelevanceParameters())
    identity = candidates.ids[row]
    return {
        "ranks": {
            name: ids.index(identity) + 1
            for name, ids in candidates.lists.items()
            if identity in ids
        },
        "part": None if plain else place_of_part,
        "similarity": _rounded(look.relevant.similarity[row]),
        "previous_similarity": _rounded(candidates.previous_cosine[row]),
        "next_similarity": _rounded(candidates.next_cosine[row]),
        "length": _rounded(candidates.length[row]),
        "terms": _explained_terms(row, analysis, candidates, statistics),
        "passage": _explained_passage(row, look, measures),
        "around": _rounded(measures.around[0, row]) if analysis.terms else 0.0,
        "learned": _learned(row, look, place_of_part),
        "order": _rounded(look.order[row]),
        "boosts": {name: _rounded(column[row]) for name, column in look.relevant.boosts.items()},
        "faded": FADED_ORDER
        if look.candidates.faded is not None and look.candidates.faded[row]
        else None,
        "reranked": None if row not in look.reranked else _rounded(look.reranked[row]),
    }


def _explained_terms(
    row: int, analysis: QueryAnalysis, candidates: CandidateSet, statistics: Statistics
) -> dict[str, dict[str, Any]]:
    """By term of the query what a memory has of it, as `explain_hit` names it.

    Args:
        row: Of the memory.
        analysis: Of the query or of a part of it.
        candidates: Their columns are the terms of the analysis.
        statistics: Of all that a query may find.

    """
    excused, after = excused_terms(analysis, candidates), int(candidates.after[row])
    worth = idf(
        [statistics.document_frequency.get(term, 0) for term in analysis.terms],
        statistics.documents,
    )
    return {
        term: {
            "worth": _rounded(worth[place] / worth.sum()),
            "frequency": _rounded(candidates.tf[row, place]),
            "own": bool(candidates.own[row, place]),
            "near": 0.0
            if candidates.near is None or candidates.own[row, place]
            else _rounded(candidates.near[row, place]),
            "next": bool(after >= 0 and candidates.own[after, place]),
            "excused": excused is not None and bool(excused[row, place]),
        }
        for place, term in enumerate(analysis.terms)
    }


def explain_miss(row: int, look: QueryRound, memory: Memory, needed: float) -> dict[str, Any]:
    """Explain the nearest memory of a query that no memory answers.

    Args:
        row: The candidate's row.
        look: The round in which it came nearest.
        memory: The memory that the row is shown as.
        needed: The relevance that an answer needs.

    Returns:
        `memory_id`, `content`, `relevance_score`, `answer_threshold`, `similarity_score`,
        `lexical_score`, `lacks` (which of "similarity", "words" and "score" is below what is
        needed), `missing_terms` (the query's terms that it neither has nor comes near to),
        and `explain` as beside a result.

    """
    explained = explain_hit(row, look)
    similarity, lexical = (
        _rounded(look.relevant.similarity[row]),
        _rounded(look.relevant.lexical[row]),
    )
    signals = {"similarity": similarity, "words": lexical}
    lacks = [name for name, value in signals.items() if value is None or value < needed]
    relevance = _rounded(look.relevant.score[row])
    if relevance is not None and relevance >= needed:
        lacks = ["score"]  # the caller's score_threshold left it out
    missing = [
        term
        for term, part in explained["terms"].items()
        if not (part["own"] or part["near"] or part["next"] or part["excused"])
    ]
    return {
        "memory_id": memory.id,
        "content": excerpt(memory.content, look.analysis.terms, PASSAGE_TOKENS),
        "relevance_score": relevance,
        "answer_threshold": needed,
        "similarity_score": similarity,
        "lexical_score": lexical,
        "lacks": lacks,
        "missing_terms": missing,
        "explain": explained,
    }


def _learned(row: int, look: QueryRound, place_of_part: int) -> dict[str, float | None] | None:
    """Return the addition of each feature to the sum that orders, greatest first.

    None if no learned order applies, as for a memory that is no turn.
    """
    if not look.candidates.turns[row] or not (features := look.judged.features_of(place_of_part)):
        return None
    shares = order_shares(features, long_turns(look.search_answer.statistics), row, learned_order())
    return {
        name: _rounded(share)
        for name, share in sorted(shares.items(), key=lambda item: -abs(item[1]))
    }


def _explained_passage(row: int, look: QueryRound, measures: Measures) -> dict[str, Any] | None:
    """Explain the passage that answers in the place of the whole text.

    None if the whole text answers at least as well.
    """
    if not measures.has_terms:
        return None
    best = measures.passages.passage(0, row)
    # measured for this part alone, so its last digits may differ
    if best is None or measures.passages.share[0, row] < look.relevant.lexical[row] - ROUNDED:
        return None
    terms = {
        term: _rounded(count) for term, count in zip(measures.terms, best.tf, strict=True) if count
    }
    return {"length": _rounded(best.length), "weight": _rounded(best.weight), "terms": terms}


def _told_part(part: QueryPart) -> dict[str, Any]:
    return {"text": part.analysis.text, "terms": list(part.analysis.terms), "weight": part.weight}


def _rounded(value: Any) -> float | None:
    number = float(value)
    return None if isnan(number) else round(number, DECIMALS)
