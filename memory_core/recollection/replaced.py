"""What a context tells that somebody has taken back since: the line says so, and when, in the words in which it was said.

Of everything that is about to be told, what one person said is laid side by side: a later message that says that an earlier one holds no
more, or has another value now, marks it. Note: nothing is left out. What was so is often what is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_core.domain.changes import change_between
from memory_core.domain.changes_read import Message, read
from memory_core.domain.excerpt import excerpt
from memory_core.domain.messages import is_message
from memory_core.domain.packing import Piece

MOST_NAME_WORDS = 4
"""Words of what a line of the profile is about."""
MARK_TOKENS = 30
"""Tokens of the later message that a mark repeats."""


def marked(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, in their order, with a mark on each that a later one of the same person replaces; the latest that does is named."""
    told = [(place, one, read(one.text)) for place, one in enumerate(pieces) if one.said_by is not None]
    later = sorted((one for one in told if one[2].tells_change), key=lambda one: one[1].said, reverse=True)
    return [replace(one, mark=mark) if (mark := _mark(one, later)) else one for one in pieces]


def _mark(earlier: Piece, later: Sequence[tuple[int, Piece, Message]]) -> str:
    if earlier.said_by is None:
        return ""
    message = read(earlier.text)
    for _, one, said in later:
        if one.said_by != earlier.said_by or not _is_later(one, earlier) or _repeats_value(earlier.text, one.text):
            continue
        if (found := change_between(message, said)) is not None:
            return f"replaced on {one.said[0].date().isoformat()}: {excerpt(found.said, (), MARK_TOKENS)}"
    return ""


def _is_later(piece: Piece, other: Piece) -> bool:
    """Whether a piece was said after another one; at one moment only turns have an order, what was formed of them has none."""
    if piece.said[0] != other.said[0]:
        return piece.said[0] > other.said[0]
    return is_message(piece.id) and is_message(other.id) and piece.order > other.order


def _repeats_value(line: str, later: str) -> bool:
    """Whether a line "name: value" of the profile has its value in the later words: "car: a Tesla", "bought a Tesla"."""
    name, _, value = line.partition(": ")
    return bool(value) and "\n" not in line and len(name.split()) <= MOST_NAME_WORDS and value.casefold() in later.casefold()
