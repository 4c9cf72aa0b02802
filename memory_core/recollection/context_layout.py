"""A context within its budget: how much each part gets, what fits, and the text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
from memory_core.domain.text.fence import fenced
from memory_core.domain.text.token_count import count_tokens
from memory_core.recollection.superseded import marked

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
"""Where the turns are not those of a running session: what was said last there matters less than
what is known of the person.
"""
SHARES_ASKED: tuple[tuple[PartKind, float], ...] = (
    ("profile", 0.1),
    ("foresight", 0.1),
    ("turns", 0.05),
    ("memories", 0.75),
)
"""The same with a query: what answers matters more than both."""
SHARES_PERHAPS: tuple[tuple[PartKind, float], ...] = (
    ("profile", 0.15),
    ("foresight", 0.2),
    ("turns", 0.35),
    ("memories", 0.3),
)
"""Of 120 words, where nothing surely answers: mostly for the end of the last session and for what
is perhaps related.
"""
FIRST: tuple[PartKind, ...] = ("profile", "turns")
"""Tell a memory in the place of `memories`, as far as they have room for it."""
REST: tuple[PartKind, ...] = ("turns", "foresight", "profile")
"""Who gets what the others have left over, in this order."""
INSTRUCTIONS_SHARE = 0.15
"""Of the whole budget, for standing instructions; what they don't take is the others'."""
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
"""Of all headings together."""
Wanted = dict[PartKind, list[Piece]]


@dataclass(frozen=True, slots=True)
class Material:
    """What a context is written from. grant: what the query has earned. terms: of the query. asked:
    whether memories are told for one.

    running: whether the turns are those of a running session. turns, stories: by memory id, the
    cell of a message and of what was formed.
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
    """The parts within the budget, and what did not fit."""
    headings = sum(
        max(count_tokens(HEADINGS[kind]), PERHAPS_TOKENS)
        for kind, pieces in material.wanted.items()
        if pieces
    )
    budget = max_tokens - FENCE_TOKENS - headings
    instructions = material.wanted["instructions"]
    standing = chosen(
        material.wanted["instructions"],
        BudgetLeft(int(budget * INSTRUCTIONS_SHARE)),
        (),
        whole=True,
    )
    material = replace(
        material,
        wanted={
            kind: _besides(pieces, standing)
            for kind, pieces in material.wanted.items()
            if kind != "instructions"
        },
    )
    wanted, fitting = _divided(
        material, budget - _size(standing), _words_of("instructions", standing)
    )
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


def _heading(written: Material, kind: PartKind, lines: Sequence[str]) -> str:
    """The heading of a kind; of what nothing surely answers, the mark, for the last turns where no
    line has it yet.
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


def mark_replaced(wanted: Wanted, moment: datetime) -> Wanted:
    """What is to be told, marked where something else of it says that it holds no more."""
    together = iter(marked([piece for pieces in wanted.values() for piece in pieces], moment))
    return {kind: [next(together) for _ in pieces] for kind, pieces in wanted.items()}


def _besides(pieces: Sequence[Piece], standing: Sequence[Piece]) -> list[Piece]:
    """The pieces of other memories and other words than these."""
    names, texts = {piece.id for piece in standing}, {piece.text for piece in standing}
    return [piece for piece in pieces if piece.id not in names and piece.text not in texts]


def _divided(material: Material, budget: int, standing_words: int) -> tuple[Wanted, Wanted]:
    """What each kind is to tell, each memory once, and what of it fits. What a kind with its own
    share has no room for is to be told as a memory where the query finds it. standing_words:
    of the standing instructions above.
    """
    found_ids = {piece.id for piece in material.wanted["memories"]}
    formed = {material.stories[name] for name in found_ids if name in material.stories}
    elsewhere: set[str] = set()
    while True:
        once = _each_once(material, elsewhere)
        fitting = _kept(replace(material, wanted=once), budget, standing_words)
        shown_pieces = {piece.telling for kind in FIRST for piece in fitting[kind]}
        lost = found_ids.intersection(
            piece.id for kind in FIRST for piece in once[kind] if piece.telling not in shown_pieces
        )
        silent = formed - {material.turns.get(piece.id) for piece in fitting["turns"]}
        lost |= {piece.id for piece in once["turns"] if material.turns.get(piece.id) in silent}
        if not lost:
            return once, fitting
        elsewhere |= lost


def _each_once(material: Material, elsewhere: Collection[str]) -> Wanted:
    """Without what an earlier kind tells of the same memory, or of the turns that it was formed of;
    foresight is told beside its memory.

    elsewhere: memories that are told as such.
    """
    names: set[str] = set()
    cells: set[str] = set()
    once: Wanted = {}
    for kind, _ in SHARES:
        once[kind] = [
            piece
            for piece in material.wanted[kind]
            if piece.id not in names
            and material.stories.get(piece.id) not in cells
            and not (kind in FIRST and piece.id in elsewhere)
        ]
        if kind != "foresight":
            names |= {piece.id for piece in once[kind]}
        if kind == "turns":
            cells |= {
                material.turns[piece.id] for piece in once[kind] if piece.id in material.turns
            }
    return once


def _kept(material: Material, budget: int, standing_words: int) -> Wanted:
    """What fits of each kind: into its share, then into what others have left over.
    standing_words: as in `_divided`.
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
    """What of a kind fits into a room: lines of foresight whole, of other texts passages where they
    are longer than `longest` tokens.
    """
    if kind == "memories":
        return chosen(
            material.wanted[kind], room, material.terms, exponent=EXPONENT, longest=longest
        )
    return chosen(
        material.wanted[kind],
        room,
        material.terms if kind == "turns" else (),
        longest=longest,
        whole=kind == "foresight",
    )


def _without(piece: Piece, texts: Collection[str]) -> Piece:
    """The piece without the notes that stand in the text already."""
    return replace(piece, notes=tuple(note for note in piece.notes if note not in texts))


def _words_of(kind: PartKind, pieces: Sequence[Piece]) -> int:
    """What the pieces take under their heading."""
    return len(f"{HEADINGS[kind]} {body(in_order(pieces))}".split()) if pieces else 0


def _size(pieces: Sequence[Piece]) -> int:
    return count_tokens(body(in_order(pieces))) if pieces else 0


def _part(kind: PartKind, pieces: Sequence[Piece]) -> Part:
    return Part(kind, tuple(base_id(piece.id) for piece in pieces), _size(pieces))
