"""Passages: the part of a result that matched, shown beside it.

Of a talk the messages that matched the query, of a long text the part that did.

Note: a message whose cell is formed is no result of its own, its cell is;
it is again where the cell is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from memory_core.domain.messages import is_message
from memory_core.domain.ranking.learned_order import ASSISTANTS
from memory_core.domain.results import Passage
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.text.excerpts import excerpt
from memory_core.recollection.query_round import DECIMALS, QueryRound
from memory_core.recollection.reorder import source_rows

MOST_PASSAGES: Final = 3
"""Passages of one result."""
PASSAGE_TOKENS: Final = 160
"""Tokens of a message that is shown whole; a longer message is shown by its best sentences."""
SHORTEST_LONG_TERMS: Final = 50
"""The length in terms up to which a text is shown whole.

A shorter text has fewer tokens than a passage shows, or hardly any words.
"""


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

    A person tells how things are. An answer repeats the message before it where it has at most
    twice as many of the query's terms.

    Args:
        look: The round that found the rows.
        rows: Of messages, best first.

    """
    candidates, ordered = look.candidates, list[int]()
    people = {row for row in rows if (candidates.actor[row] or "").casefold() not in ASSISTANTS}
    for row in rows:
        asked = int(candidates.before[row])
        if row not in people and asked in people and asked not in ordered:
            terms, asked_terms = candidates.own[row].sum(), candidates.own[asked].sum()
            if 0 < terms <= 2 * asked_terms:
                ordered.append(asked)
        if row not in ordered:
            ordered.append(row)
    return ordered


def told_rows(
    look: QueryRound, rows: Sequence[int], floor: float, sources: Mapping[str, Collection[str]]
) -> dict[int, list[int]]:
    """Find the matching source messages of memories that were made of several memories.

    Args:
        look: The round that the rows are of.
        rows: The chosen rows.
        floor: The least relevance of a source.
        sources: The ids of the memories that a memory was made of, by its id.

    Returns:
        By chosen row, at most `MOST_PASSAGES` rows of its sources, best first. A source is a
        message or a memory without a cell.

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
    """Return the chosen rows whose own text may be longer than a passage.

    Args:
        look: The round that the rows are of.
        rows: The chosen rows.

    """
    return [row for row in rows if look.candidates.own_length[row] > SHORTEST_LONG_TERMS]


def part_of_text(
    look: QueryRound, row: int, memory: SerializedMemory, terms: Collection[str]
) -> tuple[Passage, ...]:
    """Return the part of a long text that matched.

    Args:
        look: The round that the row is of.
        row: The row of the memory.
        memory: The memory with the text.
        terms: The query's terms.

    Returns:
        A single passage; empty for a text that is short enough to be read whole.

    """
    content = memory.fields["content"]
    text = excerpt(content, terms, PASSAGE_TOKENS)
    return () if text == content else (_passage(look, row, memory, text),)


def passages(
    look: QueryRound,
    rows: Sequence[int],
    messages: Mapping[str, SerializedMemory],
    terms: Collection[str],
) -> tuple[Passage, ...]:
    """The passages of these rows, in their order.

    A message that is gone is left out.

    Args:
        look: The round that found the rows.
        rows: Of messages.
        messages: By id.
        terms: Of the query.

    """
    return tuple(
        _passage(look, row, message, excerpt(message.fields["content"], terms, PASSAGE_TOKENS))
        for row in rows
        if (message := messages.get(look.candidates.ids[row])) is not None
    )


def _passage(look: QueryRound, row: int, memory: SerializedMemory, text: str) -> Passage:
    fields = memory.fields
    return Passage(
        text,
        fields["actor"],
        datetime.fromisoformat(fields["event_timestamp"]),
        fields["id"],
        round(float(look.relevant.score[row]), DECIMALS),
    )
