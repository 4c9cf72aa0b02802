"""Passages: of what was said, the messages that matched a query, or the part of a long text that did; a result shows them beside it.

Note: a message whose cell is formed is no result of its own, its cell is; it is again where the cell is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memory_core.domain.excerpt import excerpt
from memory_core.domain.messages import is_message
from memory_core.domain.models import Memory
from memory_core.domain.results import Passage
from memory_core.recollection.said_first import source_rows

if TYPE_CHECKING:
    from memory_core.recollection.retrieve import Look

MOST_PASSAGES: Final = 3
"""Passages of one result."""
PASSAGE_TOKENS: Final = 160
"""Tokens of a message that is shown whole; of a longer one, its best sentences as far as they fit."""
SHORTEST_LONG_TERMS: Final = 50
"""A text of fewer terms has fewer tokens than a passage shows, or hardly any words."""
DECIMALS = 6


def message_rows(look: Look, rows: Sequence[int], floor: float) -> dict[int, list[int]]:
    """By chosen row, the rows of messages of the same cell that reach `floor`, best first; the row itself where it is one."""
    candidates, relevance = look.candidates, look.relevant.score
    chosen = {cell: row for row in rows if (cell := candidates.cell[row]) is not None}
    rows_by_result: dict[int, list[int]] = {}
    if not chosen:
        return rows_by_result
    for row, (name, cell) in enumerate(zip(candidates.ids, candidates.cell, strict=True)):
        if cell in chosen and is_message(name) and relevance[row] >= floor:
            rows_by_result.setdefault(chosen[cell], []).append(row)
    return {row: sorted(group, key=lambda message_row: -relevance[message_row])[:MOST_PASSAGES] for row, group in rows_by_result.items()}


def told_rows(look: Look, rows: Sequence[int], floor: float, sources: Mapping[str, Collection[str]]) -> dict[int, list[int]]:
    """By chosen row of what was made of several others, the rows of what was told among these that reach `floor`, best first."""
    candidates, relevance = look.candidates, look.relevant.score
    rows_by_result: dict[int, list[int]] = {}
    for row in rows:
        made_of = sources.get(candidates.ids[row], ())
        source_rows_told = [
            source
            for source in (source_rows(made_of, candidates) if made_of else ())
            if source != row and relevance[source] >= floor and (is_message(candidates.ids[source]) or candidates.cell[source] is None)
        ]
        if source_rows_told:
            rows_by_result[row] = sorted(source_rows_told, key=lambda source: -relevance[source])[:MOST_PASSAGES]
    return rows_by_result


def long_rows(look: Look, rows: Sequence[int]) -> list[int]:
    """The chosen rows whose own text may be longer than a passage."""
    return [row for row in rows if look.candidates.own_length[row] > SHORTEST_LONG_TERMS]


def part_of_text(look: Look, row: int, memory: Memory, terms: Collection[str]) -> tuple[Passage, ...]:
    """The part of a long text that matched; nothing of a text that is short enough to be read as it is."""
    text = excerpt(memory.content, terms, PASSAGE_TOKENS)
    return () if text == memory.content else (_passage(look, row, memory, text),)


def passages(look: Look, rows: Sequence[int], messages: Mapping[str, Memory], terms: Collection[str]) -> tuple[Passage, ...]:
    """The passages of these rows, in order; a message that is not there any more is left out."""
    shown_passages = []
    for row in rows:
        message = messages.get(look.candidates.ids[row])
        if message is not None:
            shown_passages.append(_passage(look, row, message, excerpt(message.content, terms, PASSAGE_TOKENS)))
    return tuple(shown_passages)


def _passage(look: Look, row: int, memory: Memory, text: str) -> Passage:
    return Passage(text, memory.actor, memory.event_timestamp, memory.id, round(float(look.relevant.score[row]), DECIMALS))
