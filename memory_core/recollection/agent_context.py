"""One call for an agent's turn.

It tells who the person is, what holds just now, what matters to the query, and what was said last.

    kind       taken from                                             first share of the budget
    instructions  the standing wishes, whatever is asked              up to 15 %, before all others
    profile    what the profile says, facts before traits             20 %; 10 %
    foresight  what holds at the moment, told lately                  10 %
    turns      the end of the session; of the last one where the      25 %; 10 %; 5 %
               named one is new or none is named
    memories   the query's hits and what is beside them               the rest

The second shares are those of a new session, the smallest those of a new session with a query,
which has a tenth for the profile.

What a kind leaves over goes to memories, and what these leave over to turns, foresight and profile,
in this order. All is read at once, in three rounds. Note: a memory is in one part only, the first
in the table that wants it and has room for it, and so is a turn: where it is told, the cell that
was formed of it is not. The text shows the turns last, where the conversation goes on.

What has faded is told where the query finds it, and as the last turns of the conversation; profile
and foresight leave it out. What the query finds and the text tells is an access.

Where nothing surely answers the query, all kinds share what a perhaps is granted
(`SHARES_PERHAPS`). The turns of a running session come on top of that: they are the
conversation itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import orjson

from memory_core.domain.event_log import base_id
from memory_core.domain.fields import local
from memory_core.domain.memory import FOUND_BY_DEFAULT, Foresight, Memory, MemoryType, Status
from memory_core.domain.messages import EARLIER, MESSAGE, is_instruction, is_told
from memory_core.domain.ranking.query import is_remark, query_in, texts_said
from memory_core.domain.ranking.selection import (
    EXPONENT,
    FENCE_TOKENS,
    LONGEST,
    LONGEST_ALONE,
    PERHAPS,
    PERHAPS_TOKENS,
    Grant,
    Piece,
    Room,
    body,
    chosen,
    in_order,
    room_for_perhaps,
)
from memory_core.domain.requests.memories import (
    Context,
    ContextInput,
    Part,
    PartKind,
    RetrieveInput,
)
from memory_core.domain.scenes import Profile, ProfileFact
from memory_core.domain.scope import Owner
from memory_core.domain.statements.provenance import is_text_to_work_on
from memory_core.domain.statements.wishes import INSTRUCTION
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import count_tokens, covered, excerpt
from memory_core.domain.text.fence import fenced
from memory_core.domain.text.sameness import normalised
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Filter, LongTermStore
from memory_core.recollection.candidate_sources import Zones
from memory_core.recollection.quotations import (
    Found,
    Untold,
    expected,
    holds,
    is_ahead,
    piece,
    shown_at,
)
from memory_core.recollection.reconstruct import Gatherer, Rounds
from memory_core.recollection.retrieve import Retriever
from memory_core.recollection.scenes import Profiles
from memory_core.recollection.superseded import MARK_TOKENS, marked

LATEST = 100
"""Newest episodic memories that are looked through for foresight. What was foreseen before them is
found only by a query.
"""
TURNS = 30
MOST_SESSIONS = 8
"""Of those with the newest memories, the sessions that may be the last one."""
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
MOST_TRAITS = 2
"""Traits that are told beside what answers a query, the surest."""
SHARES_PERHAPS: tuple[tuple[PartKind, float], ...] = (
    ("profile", 0.15),
    ("foresight", 0.2),
    ("turns", 0.35),
    ("memories", 0.3),
)
"""Of 120 words, where nothing surely answers: mostly for the end of the last session and for what
is perhaps related.
"""
SOON = timedelta(days=3)
"""Foresight that began or ends within it is told with a query that nothing surely answers; other
foresight where the query is about it.
"""
COMING = timedelta(days=30)
"""Foresight that begins within it is told before it begins."""
FIRST: tuple[PartKind, ...] = ("profile", "turns")
"""Tell a memory in the place of `memories`, as far as they have room for it."""
REST: tuple[PartKind, ...] = ("turns", "foresight", "profile")
"""Who gets what the others have left over, in this order."""
INSTRUCTIONS_SHARE = 0.15
"""Of the whole budget, for standing instructions; what they don't take is the others'."""
MOST_INSTRUCTIONS = 100
"""Standing instructions that are looked at, the newest."""
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
_ASKS_AHEAD = re.compile(
    r"\b(?:coming up|upcoming|what(?:'s| is) (?:ahead|planned|next for me"
    r"|on my (?:calendar|schedule|agenda))|(?:my|any) (?:plans|appointments"
    r"|schedule|agenda)|anything planned|was steht (?:bei mir )?an|was habe ich vor|was ist geplant"
    r"|(?:meine|welche) (?:termine|pläne))\b|予定は|予定を|予定があり|今後",
    re.IGNORECASE,
)
Wanted = dict[PartKind, list[Piece]]
_EPISODIC = frozenset({MemoryType.EPISODIC.value})
_PROCEDURAL = frozenset({MemoryType.PROCEDURAL.value})


@dataclass(frozen=True, slots=True)
class _Material:
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


class Briefing:
    """Briefs for any owner. Reads never write the long term."""

    def __init__(
        self,
        store: LongTermStore,
        retriever: Retriever,
        gatherer: Gatherer,
        profiles: Profiles,
        clock: Clock,
    ) -> None:
        self._store, self._retriever, self._gatherer = store, retriever, gatherer
        self._profiles, self._clock, self._zones, self._untold = (
            profiles,
            clock,
            Zones(store),
            Untold(store),
        )

    async def brief(self, owner: Owner, asked: ContextInput) -> Context:
        """The context of one turn. Raises Unavailable when the long term is down,
        EmbeddingMismatch.
        """
        now = self._clock.now()
        moment = asked.at or now
        faded = {Status.DECAYED} if self._retriever.finds_faded(asked.include_decayed) else set()
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT | faded)
        where = Filter(
            statuses,
            types=_EPISODIC,
            without_session_id=asked.exclude_session_id,
            at=asked.at,
            now=now,
            hide_formed_messages=True,
            fading=self._retriever.fading,
        )
        query = asked.query or query_in(asked.messages or ())
        unsaid = texts_said(asked.messages or ())
        (
            profile,
            instructions,
            (latest, turns, running),
            (rounds, degraded),
            (zone, head),
        ) = await asyncio.gather(
            self._profiles.of(owner, asked.at, without_session_id=asked.exclude_session_id)
            if asked.wants("profile")
            else _no_profile(),
            self._instructions(owner, asked, now) if asked.wants("instructions") else _nothing(),
            self._latest(owner, where, asked, unsaid),
            self._found(owner, asked, query, unsaid),
            self._zones.with_head(owner, asked.time_zone),
        )
        moment = local(moment, zone)
        finds = query is not None and asked.wants("memories")
        grant = rounds.grant if finds else Grant.SURE
        query_terms = rounds.terms | frozenset(tokens(query or ""))
        silenced = await self._untold.among(owner, head, [*turns, *latest])
        turns = [turn for turn in turns if turn.id not in silenced]
        quoted = [
            Found(turn, float(turn.sequence))
            for turn in turns
            if normalised(turn.content) not in unsaid
        ]
        cells = {
            quotation.memory.id: quotation.cell for quotation in quoted if quotation.is_message
        }
        fresh = [
            memory for memory in latest if memory.id not in silenced and not where.has_faded(memory)
        ]
        hits, turn_pieces = await asyncio.gather(
            self._gatherer.pieces(owner, rounds, frozenset(cells.values())),
            self._turns(owner, quoted, moment),
        )
        wanted: Wanted = {
            "instructions": _instructions(instructions, query_terms, moment),
            "profile": profile_pieces(profile, query_terms, moment, MOST_TRAITS if finds else None),
            "foresight": _foresight(
                _foreseeing(
                    fresh, rounds, Grant.SURE if asks_ahead(query or "") else grant, moment
                ),
                moment,
            )
            if asked.wants("foresight")
            else [],
            "turns": turn_pieces,
            "memories": hits,
        }
        stories = {hit.memory.id: hit.cell for hit in rounds.hits.values() if hit.is_story}
        wanted = await asyncio.to_thread(_marked, wanted, moment)
        material = _Material(wanted, grant, rounds.terms, degraded, finds, running, cells, stories)
        context = await asyncio.to_thread(_written, material, asked.max_tokens)
        if asked.at is None:
            self._gatherer.note(
                owner, rounds, [name for part in context.parts for name in part.ids]
            )
        return context

    async def _latest(
        self, owner: Owner, where: Filter, asked: ContextInput, unsaid: Collection[str]
    ) -> tuple[list[Memory], list[Memory], bool]:
        """The newest episodic memories, the turns to be told, and whether these are of the named
        session, which is running.
        """
        latest, of_session = await asyncio.gather(
            self._newest(owner, where, LATEST)
            if asked.wants("foresight") or asked.wants("turns")
            else _nothing(),
            self._of_session(owner, where, asked, unsaid),
        )
        if of_session is not None:
            return latest, of_session, True
        others = [
            memory
            for memory in latest
            if asked.session_id is None or memory.session_id != asked.session_id
        ]
        if not others or not asked.wants("turns"):
            return latest, [], False
        return (
            latest,
            await self._said(owner, where, await self._last_session(owner, others, asked), latest),
            False,
        )

    async def _newest(self, owner: Owner, where: Filter, limit: int) -> list[Memory]:
        """The newest episodic memories that the filter lets through, newest first."""
        page = await self._store.page(owner, "memory", where, None, limit)
        memories, _ = readable(document for document in page if document.kind == "memory")
        return [memory for memory in memories if memory.searchable]

    async def _instructions(self, owner: Owner, asked: ContextInput, now: datetime) -> list[Memory]:
        """What the person wants done, or left, whatever is asked."""
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
        where = Filter(
            statuses, types=_PROCEDURAL, categories=frozenset({INSTRUCTION}), at=asked.at, now=now
        )
        return await self._newest(owner, where, MOST_INSTRUCTIONS)

    async def _of_session(
        self, owner: Owner, where: Filter, asked: ContextInput, unsaid: Collection[str]
    ) -> list[Memory] | None:
        """The end of the named session, nothing of an excluded one; None where that is new or
        none is named.

        A session is new, too, where all that is stored of it is one message that the model has
        itself: what has just been said.
        """
        if asked.session_id is None or not asked.wants("turns"):
            return None
        turns = await self._said(owner, where, asked.session_id)
        excluded = asked.session_id == asked.exclude_session_id
        if not turns or (len(turns) == 1 and (excluded or normalised(turns[0].content) in unsaid)):
            return None
        return [] if excluded else turns

    async def _last_session(
        self, owner: Owner, others: Sequence[Memory], asked: ContextInput
    ) -> str | None:
        """The session that was told something last, of those that these newest memories are of;
        None for what is in no session.

        Note: a cell may be formed after a newer session was told, so what a task made does not say
        which session was the last. Looking back, it has to.
        """
        if asked.at is None and (not is_told(others[0]) or EARLIER in others[0].metadata):
            return await self._most_active(owner, others)
        return others[0].session_id

    async def _most_active(self, owner: Owner, newest: Sequence[Memory]) -> str | None:
        """Which session of these memories, newest first, was active last; None for what is
        in no session.
        """
        made = {memory.session_id: memory.created_at for memory in reversed(newest)}
        sessions = [*dict.fromkeys(memory.session_id for memory in newest)][:MOST_SESSIONS]
        ids = {name: session_document_id(owner, name) for name in sessions if name is not None}
        documents = (
            (await self._store.snapshot(owner, [*ids.values()])).documents
            if len(sessions) > 1
            else {}
        )
        active_at = {
            name: documents[identity].body["last_active_at"]
            for name, identity in ids.items()
            if identity in documents
        }
        return max(
            sessions,
            key=lambda name: (
                datetime.fromisoformat(active_at[name]) if name in active_at else made[name]
            ),
        )

    async def _said(
        self, owner: Owner, where: Filter, session_id: str | None, latest: Sequence[Memory] = ()
    ) -> list[Memory]:
        """The newest turns of a session as they were said, newest first; a cell or a note only
        where no message of it is kept.

        latest: the newest memories of all sessions, where they were read already.
        """
        of_session = replace(where, session_id=session_id, without_session_id=None)
        most = LATEST if session_id is None else TURNS
        as_said = replace(of_session, categories=frozenset({MESSAGE}), hide_formed_messages=False)
        known = [memory for memory in latest if memory.session_id == session_id][:most]
        pages = await asyncio.gather(
            self._newest(owner, as_said, most),
            _given(known) if len(known) == most else self._newest(owner, of_session, most),
        )
        messages, others = (
            [memory for memory in page if memory.session_id == session_id] for page in pages
        )
        cells = {message.cell_id for message in messages}
        turns = {message.id: message for message in messages}
        for other in others:
            if not Found(other, 0.0).is_story or (
                len(messages) < TURNS and other.cell_id not in cells
            ):
                turns.setdefault(other.id, other)
        spoken = (turn for turn in turns.values() if not is_instruction(turn))
        return sorted(spoken, key=lambda turn: -turn.sequence)[:TURNS]

    async def _turns(self, owner: Owner, quoted: Sequence[Found], moment: datetime) -> list[Piece]:
        """The last turns as pieces, the newest of the highest priority."""
        fallen = await self._gatherer.fallen(owner, quoted, moment)
        pieces = (
            piece(
                quotation.memory,
                priority=quotation.priority,
                fallen=fallen.get(quotation.memory.id, ()),
                terms=(),
                moment=moment,
            )
            for quotation in quoted
        )
        return [turn_piece for turn_piece in pieces if turn_piece is not None]

    async def _found(
        self, owner: Owner, asked: ContextInput, query: str | None, unsaid: frozenset[str]
    ) -> tuple[Rounds, tuple[str, ...]]:
        """What the query finds, in one round; nothing without a query."""
        in_messages = query if asked.query is None else None
        asks_nothing = in_messages is not None and (
            is_remark(in_messages) or is_text_to_work_on(in_messages)
        )
        most = Grant.PERHAPS if asks_nothing else Grant.SURE
        said_terms = frozenset(
            term for message in asked.messages or () for term in tokens(message.content)
        )
        rounds = Rounds(most=most, unsaid=unsaid, terms_of_unsaid=said_terms)
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
            time_zone=asked.time_zone,
            include_decayed=asked.include_decayed,
        )
        look = await self._gatherer.look(owner, asking, rounds)
        return rounds, look.degraded


def asks_ahead(query: str) -> bool:
    """Whether a query asks what is ahead, whatever that is."""
    return _ASKS_AHEAD.search(query) is not None


async def _nothing() -> list[Memory]:
    return []


async def _given(memories: list[Memory]) -> list[Memory]:
    return memories


async def _no_profile() -> Profile:
    return Profile()


def _foreseeing(
    latest: Sequence[Memory], rounds: Rounds, grant: Grant, moment: datetime
) -> list[Memory]:
    """The memories whose foresight is told; where nothing surely answers, with what of it is soon
    or has a word of the query.
    """
    hits = [hit.memory for hit in rounds.hits.values() if hit.memory.category != "fact"]
    if grant is not Grant.PERHAPS:
        return [*latest, *hits]
    soon = [
        (memory, [line for line in memory.foresight if _is_soon(line, moment)]) for memory in latest
    ]
    about = [
        (memory, [line for line in memory.foresight if covered(line.description, rounds.terms)])
        for memory in hits
    ]
    return [
        memory.model_copy(update={"foresight": lines}) for memory, lines in (*about, *soon) if lines
    ]


def _is_soon(foresight: Foresight, moment: datetime) -> bool:
    """Whether it began or ends within `SOON` of the moment."""
    ends = foresight.end_time
    return abs(moment - foresight.start_time) <= SOON or (
        ends is not None and abs(ends - moment) <= SOON
    )


def _instructions(
    memories: Sequence[Memory], terms: Collection[str], moment: datetime
) -> list[Piece]:
    """A line for each instruction: those that share words with the query before others,
    of these the newest first.
    """
    shared = {
        memory.id: len(frozenset(tokens(memory.content)) & frozenset(terms)) for memory in memories
    }
    return [
        Piece(
            memory.id,
            shown_at(memory.event_timestamp, moment),
            memory.sequence,
            memory.content,
            1.0 + shared[memory.id] + 1.0 / (2 + place),
            said_by="",
        )
        for place, memory in enumerate(memories)
    ]


def profile_pieces(
    profile: Profile, terms: Collection[str], moment: datetime, most_traits: int | None
) -> list[Piece]:
    """A line for each fact, those with words of the query first, then the surest; then one for each
    trait, which is of the moment.

    Args:
        profile: Of the person.
        terms: Of the query.
        moment: Of the query.
        most_traits: So many traits, the surest; None for all.

    """
    facts = [
        Piece(
            fact.memory_id,
            shown_at(fact.since, moment),
            place,
            text,
            2.0 + fact.confidence + (1.0 if covered(text, terms) else 0.0),
            mark=_dispute(fact, moment),
            said_by="",
        )
        for place, fact in enumerate(profile.explicit)
        for text in (f"{fact.name}: {_told(fact.value)}",)
    ]
    surest = sorted(
        (trait for trait in profile.implicit if trait.source_scene_ids),
        key=lambda trait: -trait.confidence,
    )[:most_traits]
    traits = [
        Piece(trait.source_scene_ids[0], moment, len(facts) + place, trait.trait, trait.confidence)
        for place, trait in enumerate(surest)
    ]
    return [*facts, *traits]


def _dispute(fact: ProfileFact, moment: datetime) -> str:
    """The mark of a fact that a statement may contradict, with the words of the latest;
    empty where none does.
    """
    if not fact.disputed_by:
        return ""
    latest = fact.disputed_by[0]
    return (
        f"disputed on {shown_at(latest.at, moment).date().isoformat()}: "
        f"{excerpt(latest.text, (), MARK_TOKENS)}"
    )


def _told(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _foresight(memories: Sequence[Memory], moment: datetime) -> list[Piece]:
    """A line for everything that holds at the moment or begins soon, what ends first
    before the rest.
    """
    pieces: dict[str, Piece] = {}
    for memory in memories:
        for expectation in memory.foresight:
            if holds(expectation, moment) or is_ahead(expectation, moment, COMING):
                left = (
                    (expectation.end_time - moment).total_seconds()
                    if expectation.end_time is not None
                    else float("inf")
                )
                line = Piece(
                    memory.id,
                    shown_at(expectation.start_time, moment),
                    memory.sequence,
                    expected(expectation, moment),
                    -left,
                    said_by="",
                    said_at=memory.event_timestamp,
                    begins=expectation.start_time
                    if expectation.start_time > memory.event_timestamp
                    else None,
                )
                pieces.setdefault(line.text, line)
    return list(pieces.values())


def _written(material: _Material, max_tokens: int) -> Context:
    """The parts within the budget, and what did not fit."""
    headings = sum(
        max(count_tokens(HEADINGS[kind]), PERHAPS_TOKENS)
        for kind, pieces in material.wanted.items()
        if pieces
    )
    budget = max_tokens - FENCE_TOKENS - headings
    instructions = material.wanted["instructions"]
    standing = chosen(
        material.wanted["instructions"], Room(int(budget * INSTRUCTIONS_SHARE)), (), whole=True
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


def _heading(written: _Material, kind: PartKind, lines: Sequence[str]) -> str:
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


def _marked(wanted: Wanted, moment: datetime) -> Wanted:
    """What is to be told, marked where something else of it says that it holds no more."""
    together = iter(marked([piece for pieces in wanted.values() for piece in pieces], moment))
    return {kind: [next(together) for _ in pieces] for kind, pieces in wanted.items()}


def _besides(pieces: Sequence[Piece], standing: Sequence[Piece]) -> list[Piece]:
    """The pieces of other memories and other words than these."""
    names, texts = {piece.id for piece in standing}, {piece.text for piece in standing}
    return [piece for piece in pieces if piece.id not in names and piece.text not in texts]


def _divided(material: _Material, budget: int, standing_words: int) -> tuple[Wanted, Wanted]:
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


def _each_once(material: _Material, elsewhere: Collection[str]) -> Wanted:
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


def _kept(material: _Material, budget: int, standing_words: int) -> Wanted:
    """What fits of each kind: into its share, then into what others have left over.
    standing_words: as in `_divided`.
    """
    shares = dict(
        SHARES if material.running else SHARES_ASKED if material.asked else SHARES_NEW_SESSION
    )
    whole, fitting, taken = Room(budget), Wanted(), dict[PartKind, Room]()
    left = whole.part(0)
    if material.grant is Grant.PERHAPS:
        beside = budget - int(budget * shares["turns"]) if material.running else budget
        whole, shares = (
            room_for_perhaps(beside, HEADING_TOKENS * len(ORDER), HEADING_WORDS + standing_words),
            dict(SHARES_PERHAPS),
        )
        left = whole.part(0)
        if material.running:
            fitting["turns"] = _fitting(material, "turns", Room(budget - whole.tokens))
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
    material: _Material, kind: PartKind, room: Room, longest: int | None = None
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
