"""From chosen rows to results: hits, explanations, passages.

From chosen rows and their documents to results: every number rounded, every list named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import isnan
from typing import Any, Final

import numpy as np

from memory_core.domain.memory import Memory, Vector
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import CandidateSet, Floats
from memory_core.domain.ranking.learned_order import ASSISTANTS, learned_order, order_shares
from memory_core.domain.ranking.measures import Measures
from memory_core.domain.ranking.passages import idf
from memory_core.domain.ranking.query import QueryAnalysis, QueryPart
from memory_core.domain.ranking.query_parts import PartsRelevance, QueryParts, part_of
from memory_core.domain.ranking.recipes import FADED_ORDER, Scores
from memory_core.domain.ranking.relevance import (
    Relevance,
    RelevanceParameters,
    excused_terms,
    long_turns,
)
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Hit, Passage, SerializedMemory, Tier
from memory_core.domain.text.excerpts import excerpt
from memory_core.ports import Filter, Found
from memory_core.recollection.reorder import source_rows
from memory_core.recollection.superseded import Fallen

DECIMALS = 6
ROUNDED = 10.0**-DECIMALS
IMPORTANCE_DECIMALS = 12
"""Importance is not measured: it is a formula of two stored values, and a caller who computes it
too must find the same.
"""


def build_hits(
    rows: Sequence[int],
    documents: Mapping[str, SerializedMemory],
    look: QueryRound,
    stale: Mapping[str, tuple[Fallen, ...]],
    passages: Mapping[int, tuple[Passage, ...]],
    *,
    explain: bool,
) -> tuple[Hit, ...]:
    """The chosen rows that are still documents, best first. stale: fallen facts by memory.
    passages: by row.
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
                stale_facts=tuple(fact.told() for fact in stale.get(identity, ())),
                explain=_explain(row, scored[place], look) if explain else None,
                passages=passages.get(row, ()),
            )
        )
    return tuple(hits)


def _scored_rows(rows: Sequence[int], look: QueryRound) -> list[int]:
    """Of each result the row whose scores it has: where an episode stands for several candidates,
    itself or messages, the most relevant, whichever of them leads.
    """
    if look.everything:
        return list(rows)
    candidates, relevance = look.candidates, look.relevant.score
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
    """Explain a result: its scores by the row that gives them, its place by the row that leads."""
    explanation = explain_hit(scored, look)
    if row == scored:
        return explanation
    leading = explain_hit(row, look)
    return explanation | {name: leading[name] for name in ("learned", "order", "faded", "reranked")}


def _tier(row: int, documents: SerializedMemory, look: QueryRound) -> tuple[Tier, int | None]:
    """Where a result was found; of one that has faded also how many whole days ago it happened.

    Note: of a cell that has not, the message that was found may have.
    """
    identity, faded = look.candidates.ids[row], look.candidates.faded
    if identity in look.cold_ids:
        return "cold", None
    if faded is not None and faded[row] and look.where.has_faded(documents.memory):
        return "faded", max((look.moment - documents.memory.event_timestamp).days, 0)
    return ("short" if identity in look.short_ids else "long"), None


def _shown_as(row: int, candidates: CandidateSet) -> str:
    """The id of the memory that a row is documents by: a message's cell, where it has one."""
    cell, identity = candidates.cell[row], candidates.ids[row]
    return cell if cell is not None and is_message(identity) else identity


def _numbers(
    rows: Sequence[int], candidates: CandidateSet, relevant: Relevance, scores: Scores
) -> list[dict[str, Any]]:
    """The scores of each chosen row by their fields' names, as plain rounded floats; None where a
    score is not known or not used.

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
    cells: dict[str, list[str]] = {
        cell: [] for row in rows if (cell := candidates.cell[row]) is not None
    }
    if cells:
        for identity, cell in zip(candidates.ids, candidates.cell, strict=True):
            if cell in cells and not is_message(identity):
                cells[cell].append(identity)
    return cells


# Why a result has its rank: every list that it came from, every number that its relevance
# was made of.
#
# Note: nothing here is computed for the answer. The worth of a term and what a memory has of it are
# told from the same columns that relevance read. What the store charged is put in by `MemoryCore`,
# which sees every read of the call.


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
    excused, after = excused_terms(analysis, candidates), int(candidates.after[row])
    worth = idf(
        [statistics.document_frequency.get(term, 0) for term in analysis.terms],
        statistics.documents,
    )
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
        "terms": {
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
        },
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


# Passages: of what was said, the messages that matched a query, or the part of a long text that
# did; a result shows them beside it.
#
# Note: a message whose cell is formed is no result of its own, its cell is;
# it is again where the cell is gone.


MOST_PASSAGES: Final = 3
"""Passages of one result."""
PASSAGE_TOKENS: Final = 160
"""Tokens of a message that is documents whole; of a longer one, its best sentences as far
as they fit.
"""
SHORTEST_LONG_TERMS: Final = 50
"""A text of fewer terms has fewer tokens than a passage shows, or hardly any words."""


def message_rows(look: QueryRound, rows: Sequence[int], floor: float) -> dict[int, list[int]]:
    """Messages of each result's cell, by the result's row: at most three rows, best first.

    They are ordered as results are. By relevance alone the first passage was evidence less often:
    .69 instead of .71 of LoCoMo's questions, .55 instead of .60 of REALTALK's, .64 instead of .71
    of BEAM's, whose message beside an answer counted for the answer's words.

    Args:
        look: The round that found the results.
        rows: Of the results.
        floor: The least relevance of a message.

    """
    candidates, relevance = look.candidates, look.relevant.score
    chosen = {cell: row for row in rows if (cell := candidates.cell[row]) is not None}
    rows_by_result: dict[int, list[int]] = {}
    if not chosen:
        return rows_by_result
    for row, (name, cell) in enumerate(zip(candidates.ids, candidates.cell, strict=True)):
        if cell in chosen and is_message(name) and relevance[row] >= floor:
            rows_by_result.setdefault(chosen[cell], []).append(row)
    return {
        row: _with_people_first(look, sorted(group, key=lambda message: -look.order[message]))[
            :MOST_PASSAGES
        ]
        for row, group in rows_by_result.items()
    }


def _with_people_first(look: QueryRound, rows: Sequence[int]) -> list[int]:
    """The rows with each person's message before the answer that repeats it.

    A person tells what is so. An answer repeats the message before it where it has at most twice as
    many of the query's terms.
    """
    candidates, ordered = look.candidates, list[int]()
    own_terms = candidates.own.sum(axis=1)
    people = {row for row in rows if (candidates.actor[row] or "").casefold() not in ASSISTANTS}
    for row in rows:
        asked = int(candidates.before[row])
        repeats = 0 < own_terms[row] <= 2 * own_terms[asked]
        if repeats and row not in people and asked in people and asked not in ordered:
            ordered.append(asked)
        if row not in ordered:
            ordered.append(row)
    return ordered


def told_rows(
    look: QueryRound, rows: Sequence[int], floor: float, sources: Mapping[str, Collection[str]]
) -> dict[int, list[int]]:
    """By chosen row of what was made of several others, the rows of what was told among these that
    reach `floor`, best first.
    """
    candidates, relevance = look.candidates, look.relevant.score
    rows_by_result: dict[int, list[int]] = {}
    for row in rows:
        made_of = sources.get(candidates.ids[row], ())
        source_rows_told = [
            source
            for source in (source_rows(made_of, candidates) if made_of else ())
            if source != row
            and relevance[source] >= floor
            and (is_message(candidates.ids[source]) or candidates.cell[source] is None)
        ]
        if source_rows_told:
            rows_by_result[row] = sorted(source_rows_told, key=lambda source: -look.order[source])[
                :MOST_PASSAGES
            ]
    return rows_by_result


def long_rows(look: QueryRound, rows: Sequence[int]) -> list[int]:
    """The chosen rows whose own text may be longer than a passage."""
    return [row for row in rows if look.candidates.own_length[row] > SHORTEST_LONG_TERMS]


def part_of_text(
    look: QueryRound, row: int, memory: Memory, terms: Collection[str]
) -> tuple[Passage, ...]:
    """The part of a long text that matched; nothing of a text that is short enough to be
    read as it is.
    """
    text = excerpt(memory.content, terms, PASSAGE_TOKENS)
    return () if text == memory.content else (_passage(look, row, memory, text),)


def passages(
    look: QueryRound, rows: Sequence[int], messages: Mapping[str, Memory], terms: Collection[str]
) -> tuple[Passage, ...]:
    """The passages of these rows, in their order; a message that is gone is left out.

    Args:
        look: The round that found the rows.
        rows: Of messages.
        messages: By id.
        terms: Of the query.

    """
    return tuple(
        _passage(look, row, message, excerpt(message.content, terms, PASSAGE_TOKENS))
        for row in rows
        if (message := messages.get(look.candidates.ids[row])) is not None
    )


def _passage(look: QueryRound, row: int, memory: Memory, text: str) -> Passage:
    return Passage(
        text,
        memory.actor,
        memory.event_timestamp,
        memory.id,
        round(float(look.relevant.score[row]), DECIMALS),
    )


@dataclass(frozen=True, slots=True)
class QueryRound:
    """One round of a query: the candidates and what is known of each.

    vectors: of the message's sentences, none without an embedder.
    scores: the recipe's, by relevance. order: what ranks them, U; the recipe's with
        `PartsRelevance.order` in the place of relevance, unless a reranker moved them.
    reranked: by row, what the reranker gave it.
    left_out: memories that shall be no results, whatever their scores.
    everything: whether all facts answer, each for itself.
    now: of the call; moment: what the query is about, by the asker's clocks.
    """

    query_parts: QueryParts
    vectors: tuple[Vector, ...]
    where: Filter
    now: datetime
    moment: datetime
    search_answer: Found
    candidates: CandidateSet
    judged: PartsRelevance
    scores: Scores
    order: Floats
    short_ids: frozenset[str]
    cold_ids: frozenset[str]
    degraded: tuple[str, ...]
    reranked: Mapping[int, float] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    everything: bool = False

    @property
    def analysis(self) -> QueryAnalysis:
        """The query as a whole; its terms are the candidates' columns."""
        return self.query_parts.whole

    @property
    def relevant(self) -> Relevance:
        """The relevance of each candidate, for the part of the query that it answers best."""
        return self.judged.best

    @property
    def sequence(self) -> int:
        """The log's last event that it knows of."""
        return 0 if self.search_answer.head is None else self.search_answer.head.sequence
