"""Passages: of what was said, the messages that matched a query; a result shows the best of its cell beside it.

Note: a message whose cell is formed is no result of its own, its cell is; it is again where the cell is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memory_core.domain.excerpt import excerpt
from memory_core.domain.messages import is_message
from memory_core.domain.models import Memory
from memory_core.domain.results import Passage

if TYPE_CHECKING:
    from memory_core.recollection.retrieve import Look

MOST_PASSAGES: Final = 3
"""Passages of one result."""
PASSAGE_TOKENS: Final = 160
"""Tokens of a message that is shown whole; of a longer one, its best sentences as far as they fit."""
DECIMALS = 6


def message_rows(look: Look, rows: Sequence[int], floor: float) -> dict[int, list[int]]:
    """By chosen row, the rows of messages of the same cell that reach `floor`, best first; the row itself where it is one."""
    candidates, relevance = look.candidates, look.relevant.score
    chosen = {cell: row for row in rows if (cell := candidates.cell[row]) is not None}
    found: dict[int, list[int]] = {}
    if not chosen:
        return found
    for row, (name, cell) in enumerate(zip(candidates.ids, candidates.cell, strict=True)):
        if cell in chosen and is_message(name) and relevance[row] >= floor:
            found.setdefault(chosen[cell], []).append(row)
    return {row: sorted(group, key=lambda one: -relevance[one])[:MOST_PASSAGES] for row, group in found.items()}


def passages(look: Look, rows: Sequence[int], messages: Mapping[str, Memory], terms: Collection[str]) -> tuple[Passage, ...]:
    """The passages of these rows, in order; a message that is not there any more is left out."""
    found = []
    for row in rows:
        message = messages.get(look.candidates.ids[row])
        if message is not None:
            text = excerpt(message.content, terms, PASSAGE_TOKENS)
            score = round(float(look.relevant.score[row]), DECIMALS)
            found.append(Passage(text, message.actor, message.event_timestamp, message.id, score))
    return tuple(found)
