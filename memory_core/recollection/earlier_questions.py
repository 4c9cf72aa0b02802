"""Put earlier questions behind statements that may answer them.

Who asks again where the passport is has asked it in the same words before: no text is nearer to the
query, and it holds no answer. Only the order changes, and only among the first rows, so that the
same memories are found. Note: with a reranker the order is the reranker's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from memory_core.domain.memory import Memory
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.learned_order import ASSISTANTS
from memory_core.domain.ranking.questions import asks_for_an_answer, knows_not, only_asks
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.quotations import is_by_assistant
from memory_core.recollection.reorder import reassign_order
from memory_core.recollection.row_memories import RowMemories

FIRST_ROWS = 10
"""The best rows, among which questions move."""
LEAST_SHARE = 0.4
"""The part of a question's relevance that a statement needs to come before it.

"At Anna's we had a Rioja." has .51 of the relevance of "Which wine did we drink at Anna's?", and
.48 of that of the note of it. On three sets of conversations the first places are as good with any
share from 0 to .98.
"""
MOST_OTHER_TERMS = 3
"""The most terms of a repeated question beside the query's: how, did, its speaker's name."""


async def put_questions_behind(
    owner: Owner, query: str, look: QueryRound, row_memories: RowMemories
) -> QueryRound:
    """Put memories that only ask behind statements that come near them, if the query asks.

    A story of the same episode and a reply that knows no answer go with their question, by whose
    words they are found.

    Args:
        owner: Whose memories are searched.
        query: The query.
        look: Its round.
        row_memories: Reads the questions.

    Returns:
        The round in its new order, or as it was.

    Raises:
        Unavailable: The long-term store is down.

    """
    candidates = look.candidates
    if not len(candidates) or not asks_for_an_answer(query):
        return look
    rows: list[int] = np.lexsort((-candidates.event_at, -look.relevant.score, -look.order))[
        :FIRST_ROWS
    ].tolist()
    asking = await _asking(owner, look, rows, row_memories)
    ordered = _behind(rows, asking, look)
    if ordered == rows:
        return look
    places = {row: -place for place, row in enumerate(ordered)}
    return replace(look, order=reassign_order(look.order, rows, [places[row] for row in rows]))


async def leave_questions_out(
    owner: Owner, look: QueryRound, row_memories: RowMemories
) -> QueryRound:
    """Leave out memories that only ask, with what goes with them.

    An assistant's replies of the same episode go with them, too: to a question for all that is
    known, no earlier question is an answer.

    Args:
        owner: Whose memories are searched.
        look: The round.
        row_memories: Reads the questions.

    Returns:
        The round with these memories in `left_out`.

    Raises:
        Unavailable: The long-term store is down.

    """
    candidates = look.candidates
    asking = await _asking(owner, look, range(len(candidates)), row_memories)
    cells = {candidates.cell[row] for row in asking} - {None}
    names = {
        name
        for row, name in enumerate(candidates.ids)
        if row in asking
        or (
            candidates.cell[row] in cells and (candidates.actor[row] or "").casefold() in ASSISTANTS
        )
    }
    return replace(look, left_out=look.left_out | names)


async def _asking(
    owner: Owner, look: QueryRound, rows: Sequence[int], row_memories: RowMemories
) -> frozenset[int]:
    """Return those of the rows that only ask, with what goes with them."""
    candidates = look.candidates
    suspects = {row for row in rows if candidates.asks[row] or _repeats_query(row, look)}
    cells = {cell for row in suspects if (cell := candidates.cell[row]) is not None}
    suspects |= {row for row in rows if candidates.cell[row] in cells}
    if not suspects:
        return frozenset()
    read = await row_memories.read_memories(owner, look, sorted(suspects))
    return _asking_among(
        {
            row: document
            for row in suspects
            if (document := read.get(candidates.ids[row])) is not None
        },
        look,
    )


def _repeats_query(row: int, look: QueryRound) -> bool:
    """Whether a row repeats the query: it has its terms and hardly any other."""
    most = len(look.analysis.terms) + MOST_OTHER_TERMS
    return look.has_all_terms(row) and bool(look.candidates.own_length[row] <= most)


def _asking_among(documents: dict[int, SerializedMemory], look: QueryRound) -> frozenset[int]:
    """Return the rows that only ask, with what goes with them."""
    cell = look.candidates.cell
    asking = {row for row, document in documents.items() if only_asks(document.fields["content"])}
    cells = {cell[row] for row in asking if cell[row] is not None}
    beside = {
        row
        for row, document in documents.items()
        if cell[row] in cells and row not in asking and _goes_with_a_question(document.memory)
    }
    return frozenset(asking | beside)


def _goes_with_a_question(memory: Memory) -> bool:
    """Whether a memory of a question's episode is found by the words of the question.

    It is the story, a note of this episode alone, or a reply of an assistant that knows no answer.
    """
    if is_message(memory.id):
        return is_by_assistant(memory) and knows_not(memory.content)
    return memory.category == "cell" or (memory.category == "note" and len(memory.source_ids) < 2)


def _behind(rows: Sequence[int], asking: Collection[int], look: QueryRound) -> list[int]:
    """Return the rows with each question behind the last statement that comes near it."""
    relevance = look.relevant.score
    ordered = list(rows)
    for row in reversed(rows):
        if row not in asking:
            continue
        place = max(
            (
                at
                for at, other in enumerate(ordered)
                if other not in asking and relevance[other] >= LEAST_SHARE * relevance[row]
            ),
            default=-1,
        )
        if place > ordered.index(row):
            ordered.remove(row)
            ordered.insert(place, row)
    return ordered
