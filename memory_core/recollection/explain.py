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
    """What the query was taken for, and what it was measured against; the candidates are all
    stores' together.
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
    """One result: its ranks in the candidate lists (from 1), its cosine and those of the turns
    beside it, its weighed length, its share of each term's worth, the factors that made its
    relevance, what its rank was multiplied by because it has faded, and what a reranker gave it.

    terms: by term, worth (the share of the query's information that it is), frequency (weighed, in
    the memory and the turns before it), own (whether the memory itself has it), near (how near in
    meaning a word of it comes, where it has not), next (whether the turn after has it) and excused
    (whether it tells a time that the memory lies in, so that it need not have it). part: of a query
    of several sentences the place of the part that it answers best; similarities and terms are of
    that part. passage: where a passage of it covers more than the whole, the length that it was
    weighed with, its weight, and how often it says each term. around: the share of the query that
    it and the turns around it say. learned: what each feature adds to the sum that orders. order:
    the number that its place follows from.
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
    """The nearest memory of a query that none answers: what it came to, what it needed,
    and what it lacked.

    Args:
        row: Of the candidate.
        look: The round in which it came nearest.
        memory: That it is documents as.
        needed: The relevance that an answer needs.

    Returns:
        `memory_id`, `content`, `relevance_score`, `answer_threshold`, `similarity_score`,
        `lexical_score`, `lacks` (which of "similarity", "words" and "score" is below what is
        needed), `missing_terms` (of the query, that it neither has nor comes near to),
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
    """What each feature adds to the sum that orders, greatest first; None where nothing learned
    orders, as with what is no turn.
    """
    if not look.candidates.turns[row] or not (features := look.judged.features_of(place_of_part)):
        return None
    shares = order_shares(features, long_turns(look.search_answer.statistics), row, learned_order())
    return {
        name: _rounded(share)
        for name, share in sorted(shares.items(), key=lambda item: -abs(item[1]))
    }


def _explained_passage(row: int, look: QueryRound, measures: Measures) -> dict[str, Any] | None:
    """The passage that answers in the place of the whole, if one does."""
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
