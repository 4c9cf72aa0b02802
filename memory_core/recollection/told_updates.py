"""Put later statements before the results that they update, with their passages.

Which statement updates which is in `updates`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from memory_core.domain.memory import Memory
from memory_core.domain.messages import is_message
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Passage
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.statements.change_messages import read
from memory_core.ledger.readable import readable_shown
from memory_core.recollection.passages import MOST_PASSAGES, passages
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.quotations import said_by, speaker
from memory_core.recollection.row_memories import RowMemories
from memory_core.recollection.updates import (
    LEAST_SHARE,
    MOST_BEHIND,
    SaidStatement,
    asks_of_the_present,
    put_updates_first,
)

Chosen = tuple[list[int], dict[str, SerializedMemory], dict[int, tuple[Passage, ...]]]
"""The rows of the results, their memories, and the passages of each."""


async def told_updates_first(
    row_memories: RowMemories, owner: Owner, query: RetrieveInput, look: QueryRound, chosen: Chosen
) -> Chosen:
    """Put later statements before the statements that they update, if the query asks for those.

    That happens only for a query about how something is at present, and it costs a read.

    Args:
        row_memories: Reads the statements behind the results.
        owner: Whose memories are read.
        query: What was asked.
        look: The round that found the results.
        chosen: The results.

    Raises:
        Unavailable: The long-term store is down.

    """
    rows, documents, quoted = chosen
    if query.at is not None or not rows or not asks_of_the_present(query.query):
        return chosen
    statements = [
        statement for row in rows for statement in _statements(row, look, documents, quoted)
    ]
    messages = [read(statement.text) for statement in statements]
    if not any(message.numbered or message.tells_change for message in messages):
        return chosen
    behind = (
        _behind(look, {statement.row for statement in statements} | {*rows})
        if any(message.numbered for message in messages)
        else []
    )
    names = [look.candidates.ids[row] for row in behind]
    documents_behind = await row_memories.read_named(owner, look, names, look.where)
    memories_behind, _ = readable_shown(documents_behind)
    statements += _statements_behind(rows, behind, look, memories_behind)
    ordered, leading = await asyncio.to_thread(
        put_updates_first, rows, statements, query.query, look.analysis.terms
    )
    if not leading:
        return chosen
    documents |= await row_memories.read_memories(
        owner, look, [row for row in ordered if row not in rows], by_cells=True
    )
    documents = {
        name: documents[name] for row in ordered if (name := look.candidates.ids[row]) in documents
    }
    for row, lead in leading.items():
        name = look.candidates.ids[lead]
        if name in memories_behind and is_message(name):
            leading_passage = passages(look, [lead], documents_behind, look.analysis.terms)
            following = (passage for passage in quoted.get(row, ()) if passage.message != name)
            quoted[row] = (*leading_passage, *following)[:MOST_PASSAGES]
        elif (others := quoted.get(row)) is not None:
            quoted[row] = tuple(sorted(others, key=lambda passage: passage.message != name))
    return ordered, documents, quoted


def _statements(
    row: int,
    look: QueryRound,
    documents: Mapping[str, SerializedMemory],
    quoted: Mapping[int, Sequence[Passage]],
) -> list[SaidStatement]:
    """Return the statements of a result: its passages, or its own text."""
    if quoted.get(row):
        places = {name: place for place, name in enumerate(look.candidates.ids)}
        parts = [
            (places.get(passage.message, row), passage.text, speaker(passage.actor), passage.at)
            for passage in quoted[row]
        ]
        relevance = look.relevant.score
        return [
            SaidStatement(place, row, text, by, at, float(relevance[place]), leads=number == 0)
            for number, (place, text, by, at) in enumerate(parts)
        ]
    document = documents.get(look.candidates.ids[row])
    if document is None:
        return []
    memory = document.memory
    return [
        SaidStatement(
            row,
            row,
            memory.content,
            said_by(memory),
            memory.event_timestamp,
            float(look.relevant.score[row]),
            leads=True,
        )
    ]


def _statements_behind(
    rows: Sequence[int], behind: Sequence[int], look: QueryRound, memories: Mapping[str, Memory]
) -> list[SaidStatement]:
    """What the rows behind the results say.

    Args:
        rows: Of the results.
        behind: The rows behind them, best first.
        look: The round that all these rows are of.
        memories: Those of the rows behind that can be read, by id.

    """
    statements = list[SaidStatement]()
    by_cell = {cell: row for row in rows if (cell := look.candidates.cell[row]) is not None}
    for row in behind:
        if (memory := memories.get(look.candidates.ids[row])) is not None:
            cell = look.candidates.cell[row]
            # of a cell that is no result its best row stands for all
            result = row if cell is None else by_cell.setdefault(cell, row)
            relevance = float(look.relevant.score[row])
            statements.append(
                SaidStatement(
                    row, result, memory.content, said_by(memory), memory.event_timestamp, relevance
                )
            )
    return statements


def _behind(look: QueryRound, known: Collection[int]) -> list[int]:
    """Return statements that are no results but come near the best, best first."""
    relevance, candidates = look.relevant.score, look.candidates
    least = LEAST_SHARE * float(relevance.max())
    near_rows = [
        row
        for row in np.argsort(-relevance)[: 4 * MOST_BEHIND].tolist()
        if relevance[row] >= least and row not in known
    ]
    statement_rows = [
        row for row in near_rows if is_message(candidates.ids[row]) or candidates.cell[row] is None
    ]
    return [row for row in statement_rows if candidates.ids[row] not in look.left_out][:MOST_BEHIND]
