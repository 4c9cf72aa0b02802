"""One call for an agent's turn: who the person is, what holds just now, what matters to the query, what was said last.

    kind       taken from                                             first share of the budget
    profile    what the profile says, facts before traits             20 %
    foresight  what holds at the moment, told lately                  10 %
    turns      the end of the session, of the last one where the      25 %
               named one is new or none is named
    memories   the query's hits and what stands beside them           the rest

What a kind leaves over goes to memories, and what these leave over to turns, foresight and profile, in this order. All is read at once,
in two rounds, and which session was the last in one more where tasks have formed. The text shows the turns last, where the
conversation goes on. Where nothing surely answers the query, its hits and the end of another session share what a perhaps is granted.
Note: a memory stands in one part only, the first in the table that wants it and has room for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from memory_core.domain.context import Context, ContextInput, Part, PartKind
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.messages import EARLIER, is_told
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.packing import FENCE_TOKENS, PERHAPS, Grant, Piece, Room, body, chosen, fenced, granted, in_order
from memory_core.domain.query_in_messages import query_in, texts_said
from memory_core.domain.requests import RetrieveInput
from memory_core.domain.sameness import normalised
from memory_core.domain.scene import Profile
from memory_core.domain.scope import Owner
from memory_core.domain.tokens import count_tokens
from memory_core.domain.versions import base_id
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Filter, LongTermStore
from memory_core.recollection.gather import Gatherer, Rounds
from memory_core.recollection.profiles import Profiles
from memory_core.recollection.quoting import Found
from memory_core.recollection.telling import expected, holds, piece

LATEST = 100
"""Newest episodic memories that are looked through for foresight. What was foreseen before them is found only by a query."""
TURNS = 30
MOST_SESSIONS = 8
"""Of those with the newest memories, the sessions that may be the last one."""
SHARES: tuple[tuple[PartKind, float], ...] = (("profile", 0.2), ("foresight", 0.1), ("turns", 0.25), ("memories", 0.45))
FIRST: tuple[PartKind, ...] = ("profile", "turns")
"""Tell a memory in the place of `memories`, as far as they have room for it."""
REST: tuple[PartKind, ...] = ("turns", "foresight", "profile")
"""Who gets what the others have left over, in this order."""
ORDER: tuple[PartKind, ...] = ("profile", "foresight", "memories", "turns")
HEADINGS = {"profile": "Profile:", "foresight": "Expected:", "memories": "Memories:", "turns": "Last turns:"}
HEADING_TOKENS = 5
Wanted = dict[PartKind, list[Piece]]
_EPISODIC = frozenset({MemoryType.EPISODIC.value})


@dataclass(frozen=True, slots=True)
class _Told:
    """What a context is written from. grant: what the query has earned. terms: of the query."""

    wanted: Wanted
    grant: Grant
    terms: frozenset[str]
    degraded: tuple[str, ...]


class Briefing:
    """Briefs for any owner. Reads never write the long term."""

    def __init__(self, store: LongTermStore, gatherer: Gatherer, profiles: Profiles, clock: Clock) -> None:
        self._store, self._gatherer, self._profiles, self._clock = store, gatherer, profiles, clock

    async def brief(self, owner: Owner, asked: ContextInput) -> Context:
        """The context of one turn. Raises Unavailable when the long term is down, EmbeddingMismatch."""
        now = self._clock.now()
        moment = asked.at or now
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
        where = Filter(
            statuses,
            types=_EPISODIC,
            without_session_id=asked.exclude_session_id,
            at=asked.at,
            now=now,
            hide_formed_messages=True,
        )
        query = asked.query or query_in(asked.messages or ())
        unsaid = texts_said(asked.messages or ())
        profile, latest, of_session, (found, degraded) = await asyncio.gather(
            self._profiles.of(owner, asked.at) if asked.wants("profile") else _no_profile(),
            self._newest(owner, where, LATEST) if asked.wants("foresight") or asked.wants("turns") else _nothing(),
            self._of_session(owner, where, asked, unsaid),
            self._found(owner, asked, query, unsaid),
        )
        grant = Grant.SURE if query is None else found.grant
        hits = await self._gatherer.pieces(owner, found)
        turns = of_session if of_session is not None else await self._last_session(owner, latest, asked)
        said = await self._turns(owner, turns, unsaid, moment) if asked.wants("turns") else []
        if grant is Grant.PERHAPS and of_session is None and asked.wants("memories"):
            hits, said = [*hits, *(replace(one, priority=-1 / (2 + one.priority)) for one in said)], []
        foreseen = [*latest, *(one.memory for one in found.found.values())] if asked.wants("foresight") else []
        wanted: Wanted = {"profile": _profile(profile, moment), "foresight": _foresight(foreseen, moment), "turns": said, "memories": hits}
        return await asyncio.to_thread(_written, _Told(wanted, grant, found.terms, degraded), asked.max_tokens)

    async def _newest(self, owner: Owner, where: Filter, limit: int) -> list[Memory]:
        """The newest episodic memories that the filter lets through, newest first."""
        page = await self._store.page(owner, "memory", where, None, limit)
        memories, _ = readable(document for document in page if document.kind == "memory")
        return memories

    async def _of_session(self, owner: Owner, where: Filter, asked: ContextInput, unsaid: Collection[str]) -> list[Memory] | None:
        """The end of the named session, nothing of an excluded one; None where that is new or none is named.

        A session is new, too, where all that is stored of it is one message that the model has itself: what has just been said.
        """
        if asked.session_id is None or not asked.wants("turns"):
            return None
        turns = await self._newest(owner, replace(where, session_id=asked.session_id, without_session_id=None), TURNS)
        excluded = asked.session_id == asked.exclude_session_id
        if not turns or (len(turns) == 1 and (excluded or normalised(turns[0].content) in unsaid)):
            return None
        return [] if excluded else turns

    async def _last_session(self, owner: Owner, latest: Sequence[Memory], asked: ContextInput) -> list[Memory]:
        """The end of the session that was told something last, of those whose memories are the newest.

        Note: a cell may be formed after a newer session was told, so what a task made does not say which session was the last. Looking
        back, it has to.
        """
        others = [one for one in latest if asked.session_id is None or one.session_id != asked.session_id]
        if not others or not asked.wants("turns"):
            return []
        last = others[0].session_id
        if asked.at is None and (not is_told(others[0]) or EARLIER in others[0].metadata):
            last = await self._most_active(owner, others)
        return [one for one in others if one.session_id == last][:TURNS]

    async def _most_active(self, owner: Owner, newest: Sequence[Memory]) -> str | None:
        """Which session of these memories, newest first, was active last; None for what is in no session."""
        made = {one.session_id: one.created_at for one in reversed(newest)}
        sessions = [*dict.fromkeys(one.session_id for one in newest)][:MOST_SESSIONS]
        ids = {name: session_document_id(owner, name) for name in sessions if name is not None}
        documents = (await self._store.snapshot(owner, [*ids.values()])).documents if len(sessions) > 1 else {}
        told = {name: documents[identity].body["last_active_at"] for name, identity in ids.items() if identity in documents}
        return max(sessions, key=lambda name: datetime.fromisoformat(told[name]) if name in told else made[name])

    async def _turns(self, owner: Owner, turns: Sequence[Memory], unsaid: Collection[str], moment: datetime) -> list[Piece]:
        """The last turns as pieces, the newest of the highest priority; those of a cell, and not the cell."""
        found = [Found(one, float(one.sequence)) for one in turns if normalised(one.content) not in unsaid]
        told = {one.cell for one in found if one.is_message}
        found = [one for one in found if not (one.is_story and one.cell in told)]
        fallen = await self._gatherer.fallen(owner, found, moment)
        pieces = (piece(one.memory, priority=one.priority, fallen=fallen.get(one.memory.id, ()), terms=(), moment=moment) for one in found)
        return [one for one in pieces if one is not None]

    async def _found(self, owner: Owner, asked: ContextInput, query: str | None, unsaid: frozenset[str]) -> tuple[Rounds, tuple[str, ...]]:
        """What the query finds, in one round; nothing without a query."""
        rounds = Rounds(unsaid=unsaid)
        if query is None or not asked.wants("memories"):
            return rounds, ()
        asking = RetrieveInput(
            query=query,
            mode="reconstruct",
            exclude_session_id=asked.exclude_session_id,
            similarity_threshold=asked.similarity_threshold,
            answer_threshold=asked.answer_threshold,
            types=asked.types,
            tags=asked.tags,
            at=asked.at,
        )
        look = await self._gatherer.look(owner, asking, rounds)
        return rounds, look.degraded


async def _nothing() -> list[Memory]:
    return []


async def _no_profile() -> Profile:
    return Profile()


def _profile(profile: Profile, moment: datetime) -> list[Piece]:
    """A line for each fact, the surest first, then one for each trait, which is of the moment."""
    facts = [
        Piece(one.memory_id, one.since, place, f"{one.name}: {_told(one.value)}", 2.0 + one.confidence)
        for place, one in enumerate(profile.explicit)
    ]
    traits = [
        Piece(one.source_scene_ids[0], moment, len(facts) + place, one.trait, one.confidence)
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
                line = Piece(memory.id, one.start_time, memory.sequence, expected(one), -left)
                pieces.setdefault(line.text, line)
    return list(pieces.values())


def _written(told: _Told, max_tokens: int) -> Context:
    """The parts within the budget, and what did not fit."""
    wanted, kept = _divided(told, max_tokens - FENCE_TOKENS - HEADING_TOKENS * len(ORDER))
    expectations = {one.text for one in kept["foresight"]}
    lines: list[str] = []
    parts: list[Part] = []
    number = 1
    for kind in ORDER:
        ordered = [_without(one, expectations if kind != "foresight" else ()) for one in in_order(kept[kind])]
        if ordered:
            lines += [PERHAPS if told.grant < Grant.SURE and kind == "memories" else HEADINGS[kind], body(ordered, number)]
            parts.append(_part(kind, ordered))
            number += len(ordered)
    shown = {one.telling for pieces in kept.values() for one in pieces}
    out = [_part(kind, missing) for kind in ORDER if (missing := [one for one in wanted[kind] if one.telling not in shown])]
    text = fenced("\n".join(lines)) if lines else ""
    return Context(text, tuple(parts), tuple(out), told.degraded)


def _divided(told: _Told, budget: int) -> tuple[Wanted, Wanted]:
    """What each kind is to tell, each memory once, and what of it fits. What a kind with its own share has no room for is to be told as a
    memory where the query finds it.
    """
    found = {one.id for one in told.wanted["memories"]}
    elsewhere: set[str] = set()
    while True:
        once = _each_once(told.wanted, elsewhere)
        kept = _kept(replace(told, wanted=once), budget)
        shown = {one.telling for kind in FIRST for one in kept[kind]}
        lost = found.intersection(one.id for kind in FIRST for one in once[kind] if one.telling not in shown)
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


def _kept(told: _Told, budget: int) -> Wanted:
    """What fits of each kind: into its share, then into what others have left over."""
    kept: Wanted = {}
    left = 0
    for kind, share in SHARES:
        room = int(budget * share) + (left if kind == "memories" else 0)
        if kind == "memories":
            kept[kind] = granted(told.wanted[kind], room, told.terms, told.grant)
        else:
            kept[kind] = chosen(told.wanted[kind], Room(room))
        left = left * (kind != "memories") + room - _size(kept[kind])
    for kind in REST:
        had = _size(kept[kind])
        kept[kind] = chosen(told.wanted[kind], Room(had + left))
        left -= _size(kept[kind]) - had
    return kept


def _without(piece: Piece, told: Collection[str]) -> Piece:
    """The piece without the notes that stand in the text already."""
    return replace(piece, notes=tuple(note for note in piece.notes if note not in told))


def _size(pieces: Sequence[Piece]) -> int:
    return count_tokens(body(in_order(pieces))) if pieces else 0


def _part(kind: PartKind, pieces: Sequence[Piece]) -> Part:
    return Part(kind, tuple(base_id(one.id) for one in pieces), _size(pieces))
