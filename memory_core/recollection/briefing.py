"""One call for an agent's turn: who the person is, what holds just now, what matters to the query, what was said last.

    kind       taken from                                             first share of the budget
    profile    what the profile says, facts before traits             20 %
    foresight  what holds at the moment, told lately                  10 %
    turns      the end of the session, of the last one if none named  25 %
    memories   the query's hits and what stands beside them           the rest

What a kind leaves over goes to memories, and what these leave over to turns, foresight and profile, in this order. All is read at once,
in two rounds. What a reader would get wrong: a memory stands in one part only, the first in the table that wants it and has room for it;
the text shows the turns last, where the conversation goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

import orjson

from memory_core.domain.context import Context, ContextInput, Part, PartKind
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.packing import FENCE_TOKENS, Piece, body, chosen, fenced, in_order
from memory_core.domain.requests import RetrieveInput
from memory_core.domain.scene import Profile
from memory_core.domain.scope import Owner
from memory_core.domain.tokens import count_tokens
from memory_core.domain.versions import base_id
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Filter, LongTermStore
from memory_core.recollection.gather import Gatherer, Rounds
from memory_core.recollection.profiles import Profiles
from memory_core.recollection.telling import expected, holds, piece

LATEST = 100
"""Newest episodic memories that are looked through for foresight. What was foreseen before them is found only by a query."""
TURNS = 30
SHARES: tuple[tuple[PartKind, float], ...] = (("profile", 0.2), ("foresight", 0.1), ("turns", 0.25), ("memories", 0.45))
FIRST: tuple[PartKind, ...] = ("profile", "turns")
"""Tell a memory in the place of `memories`, as far as they have room for it."""
REST: tuple[PartKind, ...] = ("turns", "foresight", "profile")
"""Who gets what the others have left over, in this order."""
ORDER: tuple[PartKind, ...] = ("profile", "foresight", "memories", "turns")
HEADINGS = {"profile": "## Profile", "foresight": "## Expected", "memories": "## Memories", "turns": "## Last turns"}
HEADING_TOKENS = 5
Wanted = dict[PartKind, list[Piece]]
_EPISODIC = frozenset({MemoryType.EPISODIC.value})


class Briefing:
    """Briefs for any owner. Reads never write the long term."""

    def __init__(self, store: LongTermStore, gatherer: Gatherer, profiles: Profiles, clock: Clock) -> None:
        self._store, self._gatherer, self._profiles, self._clock = store, gatherer, profiles, clock

    async def brief(self, owner: Owner, asked: ContextInput) -> Context:
        """The context of one turn. Raises Unavailable when the long term is down, EmbeddingMismatch."""
        now = self._clock.now()
        moment = asked.at or now
        where = Filter(frozenset(one.value for one in FOUND_BY_DEFAULT), types=_EPISODIC, at=asked.at, now=now, hide_formed_messages=True)
        profile, latest, turns, (found, degraded) = await asyncio.gather(
            self._profiles.of(owner, asked.at),
            self._newest(owner, where, LATEST),
            self._newest(owner, replace(where, session_id=asked.session_id), TURNS) if asked.session_id is not None else _nothing(),
            self._found(owner, asked),
        )
        if asked.session_id is None:
            turns = [one for one in latest if one.session_id == latest[0].session_id][:TURNS]
        fallen = await self._gatherer.fallen(owner, turns, {}, moment)
        tellings = [
            piece(
                one, scene="turns", title="", priority=float(one.sequence), fallen=fallen.get(one.id, ()), terms=(),
                moment=moment, max_tokens=asked.max_tokens,
            )
            for one in turns
        ]  # fmt: skip
        wanted: Wanted = {
            "profile": _profile(profile, moment),
            "foresight": _foresight([*latest, *(one.memory for one in found.found.values())], moment),
            "turns": [one for one in tellings if one is not None],
            "memories": await self._gatherer.pieces(owner, found, asked.max_tokens),
        }
        return await asyncio.to_thread(_written, wanted, asked.max_tokens, degraded)

    async def _newest(self, owner: Owner, where: Filter, limit: int) -> list[Memory]:
        """The newest episodic memories that the filter lets through, newest first."""
        page = await self._store.page(owner, "memory", where, None, limit)
        memories, _ = readable(document for document in page if document.kind == "memory")
        return memories

    async def _found(self, owner: Owner, asked: ContextInput) -> tuple[Rounds, tuple[str, ...]]:
        """What the query finds, in one round; nothing without a query."""
        rounds = Rounds()
        if asked.query is None:
            return rounds, ()
        look = await self._gatherer.look(owner, RetrieveInput(query=asked.query, at=asked.at), rounds)
        return rounds, look.degraded


async def _nothing() -> list[Memory]:
    return []


def _profile(profile: Profile, moment: datetime) -> list[Piece]:
    """A line for each fact, the surest first, then one for each trait, which is of the moment."""
    facts = [
        Piece(one.memory_id, "profile", one.since, place, f"{one.name}: {_told(one.value)}", 2.0 + one.confidence)
        for place, one in enumerate(profile.explicit)
    ]
    traits = [
        Piece(one.source_scene_ids[0], "profile", moment, len(facts) + place, one.trait, one.confidence)
        for place, one in enumerate(profile.implicit)
        if one.source_scene_ids
    ]
    return [*facts, *traits]


def _told(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _foresight(memories: Sequence[Memory], moment: datetime) -> list[Piece]:
    """A line for everything that holds at the moment, what ends first before the rest."""
    pieces: dict[str, Piece] = {}
    for memory in memories:
        for one in memory.foresight:
            if holds(one, moment):
                left = (one.end_time - moment).total_seconds() if one.end_time is not None else float("inf")
                line = Piece(memory.id, "foresight", one.start_time, memory.sequence, expected(one), -left)
                pieces.setdefault(line.text, line)
    return list(pieces.values())


def _written(wanted: Wanted, max_tokens: int, degraded: tuple[str, ...]) -> Context:
    """The parts within the budget, and what did not fit."""
    wanted, kept = _divided(wanted, max_tokens - FENCE_TOKENS - HEADING_TOKENS * len(ORDER))
    expectations = {one.text for one in kept["foresight"]}
    lines: list[str] = []
    parts: list[Part] = []
    number = 1
    for kind in ORDER:
        ordered = [_without(one, expectations if kind != "foresight" else ()) for one in in_order(kept[kind])]
        if ordered:
            lines += [HEADINGS[kind], body(ordered, number)]
            parts.append(_part(kind, ordered))
            number += len(ordered)
    told = {one.telling for pieces in kept.values() for one in pieces}
    out = [_part(kind, missing) for kind in ORDER if (missing := [one for one in wanted[kind] if one.telling not in told])]
    return Context(fenced("\n".join(lines)) if lines else "", tuple(parts), tuple(out), degraded)


def _divided(wanted: Wanted, budget: int) -> tuple[Wanted, Wanted]:
    """What each kind is to tell, each memory once, and what of it fits. What a kind with its own share has no room for is to be told as a
    memory where the query finds it.
    """
    found = {one.id for one in wanted["memories"]}
    elsewhere: set[str] = set()
    while True:
        once = _each_once(wanted, elsewhere)
        kept = _kept(once, budget)
        told = {one.telling for kind in FIRST for one in kept[kind]}
        lost = found.intersection(one.id for kind in FIRST for one in once[kind] if one.telling not in told)
        if not lost:
            return once, kept
        elsewhere |= lost


def _each_once(wanted: Wanted, elsewhere: Collection[str]) -> Wanted:
    """Without what an earlier kind tells of the same memory; foresight is told beside its memory, not in its place.

    elsewhere: memories that are told as such.
    """
    told: set[str] = set()
    once: Wanted = {}
    for kind, _ in SHARES:
        once[kind] = [one for one in wanted[kind] if one.id not in told and not (kind in FIRST and one.id in elsewhere)]
        if kind != "foresight":
            told |= {one.id for one in once[kind]}
    return once


def _kept(wanted: Wanted, budget: int) -> Wanted:
    """What fits of each kind: into its share, then into what others have left over."""
    kept: Wanted = {}
    left = 0
    for kind, share in SHARES:
        room = int(budget * share) + (left if kind == "memories" else 0)
        kept[kind] = chosen(wanted[kind], room)
        left = left * (kind != "memories") + room - _size(kept[kind])
    for kind in REST:
        had = _size(kept[kind])
        kept[kind] = chosen(wanted[kind], had + left)
        left -= _size(kept[kind]) - had
    return kept


def _without(piece: Piece, told: Collection[str]) -> Piece:
    """The piece without the notes that stand in the text already."""
    return replace(piece, notes=tuple(note for note in piece.notes if note not in told))


def _size(pieces: Sequence[Piece]) -> int:
    return count_tokens(body(in_order(pieces))) if pieces else 0


def _part(kind: PartKind, pieces: Sequence[Piece]) -> Part:
    return Part(kind, tuple(base_id(one.id) for one in pieces), _size(pieces))
