"""A context within its budget: each part's share, the pieces that fit, and the text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.domain.event_log import base_id
from memory_core.domain.ranking.selection import (
    EXPONENT,
    FENCE_TOKENS,
    LONGEST,
    LONGEST_ALONE,
    PERHAPS,
    PERHAPS_TOKENS,
    BudgetLeft,
    Grant,
    Piece,
    body,
    chosen,
    in_order,
    room_for_perhaps,
)
from memory_core.domain.requests.memories import Context, Part, PartKind
from memory_core.domain.text import remarks
from memory_core.domain.text.fence import fenced
from memory_core.domain.text.token_count import count_tokens
from memory_core.recollection.replaced_lines import mark_replaced_pieces

SHARES: tuple[tuple[PartKind, float], ...] = (
    ("profile", 0.2),
    ("foresight", 0.1),
    ("turns", 0.25),
    ("memories", 0.45),
)
SHARES_NEW_SESSION: tuple[tuple[PartKind, float], ...] = (
    ("profile", 0.2),
    ("foresight", 0.1),
    ("turns", 0.1),
    ("memories", 0.6),
)
"""The shares if the turns are not those of a running session.

The last turns matter less there than the person's profile.
"""
SHARES_ASKED: tuple[tuple[PartKind, float], ...] = (
    ("profile", 0.1),
    ("foresight", 0.1),
    ("turns", 0.05),
    ("memories", 0.75),
)
"""The same with a query: the memories that answer it matter most."""
SHARES_PERHAPS: tuple[tuple[PartKind, float], ...] = (
    ("profile", 0.15),
    ("foresight", 0.2),
    ("turns", 0.35),
    ("memories", 0.3),
)
"""The shares of 120 words if no memory surely answers.

Most go to the end of the last session and to memories that are perhaps related.
"""
FIRST: tuple[PartKind, ...] = ("profile", "turns")
"""The parts that tell a memory in the place of `memories`, as far as they have room for it."""
REST: tuple[PartKind, ...] = ("turns", "foresight", "profile")
"""The parts that get the budget that is left over, in this order."""
INSTRUCTIONS_SHARE = 0.25
"""The share of standing instructions in the whole budget, besides what others leave over of it."""
OUTPUTS_SHARE = 0.2
"""The share of what tools returned in the budget of memories, if other memories matter most."""
LEAST_INSTRUCTIONS = 120
"""The tokens that standing instructions may take of any budget, before all other parts.

That is some ten short instructions of a few days. Of a budget of 800 tokens the share is more.
"""
ORDER: tuple[PartKind, ...] = ("instructions", "profile", "foresight", "memories", "turns")
HEADINGS = {
    "instructions": "Standing instructions of the user:",
    "profile": "Profile:",
    "foresight": "Expected:",
    "memories": "Memories:",
    "turns": "Last turns:",
}
HEADING_TOKENS = 5
HEADING_WORDS = 6
"""The words of all headings together."""
Wanted = dict[PartKind, list[Piece]]


@dataclass(frozen=True, slots=True)
class Material:
    """The input of a context's text.

    Attributes:
        wanted: The pieces of each part, each part's best first.
        grant: The grant that the query has earned.
        terms: The query's terms.
        degraded: The names of the parts of the service that the query did without.
        asked: Whether memories are told for a query.
        running: Whether the turns are those of a running session.
        turns: The cell of each message, by the message's id.
        stories: The cell of each formed memory, by the memory's id.

    """

    wanted: Wanted
    grant: Grant
    terms: frozenset[str]
    degraded: tuple[str, ...]
    asked: bool = False
    running: bool = False
    turns: Mapping[str, str] = field(default_factory=dict)
    stories: Mapping[str, str] = field(default_factory=dict)


def write_context(material: Material, max_tokens: int) -> Context:
    """Write the parts of a context that fit into its budget.

    Args:
        material: The pieces, and how the budget is divided.
        max_tokens: The budget for the whole text.

    Returns:
        The text, its parts, and the pieces that did not fit.

    """
    budget = max_tokens - FENCE_TOKENS
    instructions = material.wanted["instructions"]
    standing = _standing(instructions, budget, int(budget * INSTRUCTIONS_SHARE))
    budget -= _size(standing) + _heading_tokens(kind for kind in ORDER if material.wanted[kind])
    material = replace(
        material,
        wanted={
            kind: _besides(pieces, standing)
            for kind, pieces in material.wanted.items()
            if kind != "instructions"
        },
    )
    wanted, fitting = _divided(material, max(0, budget), _words_of("instructions", standing))
    if len(standing) < len(instructions):
        over = budget - sum(map(_size, fitting.values()))
        standing = _standing(instructions, max_tokens - FENCE_TOKENS, _size(standing) + over)
        fitting = {kind: _besides(pieces, standing) for kind, pieces in fitting.items()}
    wanted["instructions"], fitting["instructions"] = instructions, standing
    expectations = {piece.text for piece in fitting["foresight"]}
    lines: list[str] = []
    parts: list[Part] = []
    number = 1
    for kind in ORDER:
        ordered = [
            _without(piece, expectations if kind != "foresight" else ())
            for piece in in_order(fitting[kind])
        ]
        if ordered:
            lines += [_heading(material, kind, lines), body(ordered, number)]
            parts.append(_part(kind, ordered))
            number += len(ordered)
    shown_pieces = {piece.telling for pieces in fitting.values() for piece in pieces}
    out = [
        _part(kind, missing)
        for kind in ORDER
        if (missing := [piece for piece in wanted[kind] if piece.telling not in shown_pieces])
    ]
    text = fenced("\n".join(lines)) if lines else ""
    return Context(text, tuple(parts), tuple(out), material.degraded)


def _standing(instructions: Sequence[Piece], budget: int, share: int) -> list[Piece]:
    """Return the standing instructions that fit, those that matter most to the query first.

    They are told whole. Of a small budget they may take all that their heading leaves.
    """
    room = max(share, LEAST_INSTRUCTIONS)
    left = budget - _heading_tokens(["instructions"])
    return chosen(instructions, BudgetLeft(min(room, left)), (), whole=True)


def _heading_tokens(kinds: Iterable[PartKind]) -> int:
    """Count the tokens of the headings of these parts, at most."""
    return sum(max(count_tokens(HEADINGS[kind]), PERHAPS_TOKENS) for kind in kinds)


def _heading(written: Material, kind: PartKind, lines: Sequence[str]) -> str:
    """Return the heading of a part.

    Memories that do not surely answer get a mark for a heading. The last turns get it, too, if the
    query has earned only a perhaps, no session is running, and the mark was not used above.
    """
    if kind == "memories" and written.grant < Grant.SURE:
        return PERHAPS
    marks_turns = (
        kind == "turns"
        and written.grant is Grant.PERHAPS
        and not written.running
        and PERHAPS not in lines
    )
    return PERHAPS if marks_turns else HEADINGS[kind]


def mark_replaced(wanted: Wanted, moment: datetime, untold: Sequence[Piece] = ()) -> Wanted:
    """Mark the pieces that another piece says to hold no more.

    Args:
        wanted: The pieces of each part.
        moment: The time of the context.
        untold: Further pieces, which are not told but may replace others.

    """
    together = iter(
        mark_replaced_pieces(
            [piece for pieces in wanted.values() for piece in pieces], moment, untold
        )
    )
    return {kind: [next(together) for _ in pieces] for kind, pieces in wanted.items()}


def mark_withdrawn(pieces: Sequence[Piece], withdrawn: Mapping[str, str]) -> list[Piece]:
    """Mark the turns that gave an instruction which was withdrawn.

    Args:
        pieces: The pieces.
        withdrawn: The words of withdrawn instructions, by the ids of the turns that gave them.

    """
    return [
        replace(piece, mark=remarks.withdrawn(withdrawn[piece.id], piece.text))
        if piece.id in withdrawn and not piece.mark
        else piece
        for piece in pieces
    ]


def _besides(pieces: Sequence[Piece], standing: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of other memories and other words than the standing instructions."""
    names, texts = {piece.id for piece in standing}, {piece.text for piece in standing}
    return [piece for piece in pieces if piece.id not in names and piece.text not in texts]


def _divided(material: Material, budget: int, standing_words: int) -> tuple[Wanted, Wanted]:
    """Divide the budget: the pieces of each part, each memory once, and those that fit.

    If a part with its own share has no room for a memory, the memory is told among `memories` if
    the query finds it. `standing_words` counts the words of the standing instructions above.
    """
    found_ids = {base_id(piece.id) for piece in material.wanted["memories"]}
    formed = {
        material.stories[piece.id]
        for piece in material.wanted["memories"]
        if piece.id in material.stories
    }
    elsewhere: set[str] = set()
    while True:
        once = _each_once(material, elsewhere)
        fitting = _kept(replace(material, wanted=once), budget, standing_words)
        shown_pieces = {piece.telling for kind in FIRST for piece in fitting[kind]}
        lost = found_ids.intersection(
            base_id(piece.id)
            for kind in FIRST
            for piece in once[kind]
            if piece.telling not in shown_pieces
        )
        silent = formed - {material.turns.get(piece.id) for piece in fitting["turns"]}
        lost |= {piece.id for piece in once["turns"] if material.turns.get(piece.id) in silent}
        if not lost:
            return once, fitting
        elsewhere |= lost


def _each_once(material: Material, elsewhere: Collection[str]) -> Wanted:
    """Return the pieces without memories that an earlier part tells.

    A memory and its old versions are told once. A memory is left out, too, if an earlier part tells
    the turns that it was formed of. Foresight is told beside its memory. `elsewhere` has the
    memories that are told among `memories`.
    """
    names: set[str] = set()
    cells: set[str] = set()
    once: Wanted = {}
    for kind, _ in SHARES:
        once[kind] = [
            piece
            for piece in material.wanted[kind]
            if base_id(piece.id) not in names
            and material.stories.get(piece.id) not in cells
            and not (kind in FIRST and base_id(piece.id) in elsewhere)
        ]
        if kind != "foresight":
            names |= {base_id(piece.id) for piece in once[kind]}
        if kind == "turns":
            cells |= {
                material.turns[piece.id] for piece in once[kind] if piece.id in material.turns
            }
    return once


def _kept(material: Material, budget: int, standing_words: int) -> Wanted:
    """Return the pieces of each part that fit.

    They go into the part's share, then into the budget that is left over. `standing_words` counts
    the words of the standing instructions above.
    """
    shares = dict(
        SHARES if material.running else SHARES_ASKED if material.asked else SHARES_NEW_SESSION
    )
    whole, fitting, taken = BudgetLeft(budget), Wanted(), dict[PartKind, BudgetLeft]()
    left = whole.part(0)
    if material.grant is Grant.PERHAPS:
        beside = budget - int(budget * shares["turns"]) if material.running else budget
        whole, shares = (
            room_for_perhaps(beside, HEADING_TOKENS * len(ORDER), HEADING_WORDS + standing_words),
            dict(SHARES_PERHAPS),
        )
        left = whole.part(0)
        if material.running:
            fitting["turns"] = _fitting(material, "turns", BudgetLeft(budget - whole.tokens))
            left = whole.part(shares.pop("turns"))
    for kind, share in shares.items():
        room = whole.part(share)
        if kind == "memories":
            room, left = room.plus(left), left.part(0)
        taken[kind] = replace(room)
        fitting[kind] = _fitting(
            material,
            kind,
            room,
            whole.tokens // LONGEST if kind == "memories" else room.tokens // LONGEST_ALONE,
        )
        taken[kind] = taken[kind].minus(room)
        left = left.plus(room)
    for kind in REST:
        if kind in shares:
            room = taken[kind].plus(left)
            fitting[kind] = _fitting(
                material,
                kind,
                room,
                max(room.tokens, int(whole.tokens * shares[kind])) // LONGEST_ALONE,
            )
            left = room
    return fitting


def _fitting(
    material: Material, kind: PartKind, room: BudgetLeft, longest: int | None = None
) -> list[Piece]:
    """Return the pieces of a part that fit into a room.

    Lines of foresight are told whole. Passages take the place of other texts that are longer than
    `longest` tokens.
    """
    if kind == "memories":
        return _fitting_memories(material, room, longest)
    return chosen(
        material.wanted[kind],
        room,
        material.terms if kind == "turns" else (),
        longest=longest,
        whole=kind == "foresight",
    )


def _fitting_memories(material: Material, room: BudgetLeft, longest: int | None) -> list[Piece]:
    """Return the memories that fit; what tools returned has a share of its own.

    A single answer of a tool is as long as a dozen statements. Where such an answer matters most,
    it was asked for, and has no limit.
    """
    pieces = material.wanted["memories"]
    first = max(pieces, key=lambda piece: piece.priority, default=None)
    outputs = [piece for piece in pieces if piece.is_output]
    if first is None or first.is_output or not outputs:
        return chosen(pieces, room, material.terms, exponent=EXPONENT, longest=longest)
    beside = room.part(OUTPUTS_SHARE)
    room.cut(beside)
    fitting = chosen(outputs, beside, material.terms, exponent=EXPONENT, longest=longest)
    room.add(beside)
    others = [piece for piece in pieces if not piece.is_output]
    return [*fitting, *chosen(others, room, material.terms, exponent=EXPONENT, longest=longest)]


def _without(piece: Piece, texts: Collection[str]) -> Piece:
    """Return the piece without the notes that are in the text already."""
    return replace(piece, notes=tuple(note for note in piece.notes if note not in texts))


def _words_of(kind: PartKind, pieces: Sequence[Piece]) -> int:
    """Count the words of the pieces with their heading."""
    return len(f"{HEADINGS[kind]} {body(in_order(pieces))}".split()) if pieces else 0


def _size(pieces: Sequence[Piece]) -> int:
    return count_tokens(body(in_order(pieces))) if pieces else 0


def _part(kind: PartKind, pieces: Sequence[Piece]) -> Part:
    return Part(kind, tuple(base_id(piece.id) for piece in pieces), _size(pieces))
