"""Results in an open conflict, and the later statements that they are in conflict with.

Until a conflict is decided, either side may hold, so the later side is shown before the earlier
one: "traded the Golf in for a Skoda" need not have a word of a question about the car. The id of a
conflict is made of its sides' ids, so no record is read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memory_core.domain.messages import is_message
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ledger.ids import conflict_record_ids
from memory_core.recollection.passing_rows import episode_of
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.reorder import terms_of_names
from memory_core.recollection.updates import asks_of_the_past

MOST_LATER = 200
"""The most later candidates that are compared with a result, the most relevant."""
_PENDING = b'"conflict_state":"pending"'


def is_disputed(document: SerializedMemory) -> bool:
    """Whether a memory is in an open conflict."""
    return _PENDING in document.json


def with_disputes(
    rows: Sequence[int], documents: Mapping[str, SerializedMemory], look: QueryRound, query: str
) -> list[int]:
    """Put the later sides of open conflicts before their earlier sides.

    A side that alone has a name of the query stays first: "Who has a Golf?". For a question about
    what was so, the later sides come behind.

    Args:
        rows: Of the results, best first.
        documents: Their memories by id.
        look: The round that the rows are of.
        query: The query.

    """
    ids = look.candidates.ids
    disputed = {
        row: document.memory
        for row in rows
        if (document := documents.get(ids[row])) is not None and is_disputed(document)
    }
    if not disputed:
        return list(rows)
    of_the_past, names = asks_of_the_past(query), terms_of_names(query)
    ordered = list[int]()
    results = {episode_of(look, row): row for row in rows}
    for row in rows:
        if row not in ordered:
            ordered.append(row)
        memory = disputed.get(row)
        if memory is None:
            continue
        for other in _later(row, look):
            if {*conflict_record_ids(memory.id, ids[other])}.isdisjoint(memory.conflict_ids):
                continue
            later = results.setdefault(episode_of(look, other), other)
            if later not in ordered:
                is_behind = of_the_past or bool(_has(row, names, look) - _has(other, names, look))
                ordered.insert(ordered.index(row) + is_behind, later)
    return ordered


def _has(row: int, names: Collection[str], look: QueryRound) -> set[str]:
    """Return those of some terms of the query that a row says itself."""
    own = zip(look.analysis.terms, look.candidates.own[row].tolist(), strict=True)
    return {term for term, is_own in own if is_own and term in names}


def _later(row: int, look: QueryRound) -> Collection[int]:
    """Return what was said after a row, but for messages, which are in no conflict."""
    candidates, relevance = look.candidates, look.relevant.score
    later = (candidates.event_at > candidates.event_at[row]).nonzero()[0].tolist()
    facts = [
        other
        for other in later
        if not is_message(candidates.ids[other]) and candidates.ids[other] not in look.left_out
    ]
    return sorted(facts, key=lambda other: -relevance[other])[:MOST_LATER]
