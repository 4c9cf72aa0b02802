"""Brief an agent for its next turn, in a single call.

The briefing tells the person's profile, present truths, memories that matter to the query, and the
last turns.

    kind          source                                              first share of the budget
    instructions  the standing instructions, whatever the query is    15 % or 120 tokens, first
    profile       the profile's statements, facts before traits       20 %; 10 %
    foresight     recent foresight that is true at the moment         10 %
    turns         the end of the session; of the last session if the  25 %; 10 %; 5 %
                  named session is new or no session is named
    memories      the query's hits and their neighbours               the rest

The second shares are those of a new session. The smallest shares are those of a new session with a
query, which has a tenth for the profile.

The budget that a kind leaves goes to memories. The budget that memories leave goes to turns,
foresight and profile, in this order. All is read at once, in three rounds. The text shows the turns
last, where the conversation goes on.

Note: a memory is in a single part only: the first in the table that wants it and has room for it.
The same is true of a turn: where the turn is told, the cell that was formed of it is not.

Faded memories are told if the query finds them, and as the last turns of the conversation. Profile
and foresight leave them out. A memory that the query finds and the text tells counts as an access.

If no memory surely answers the query, all kinds share the budget that a perhaps is granted
(`SHARES_PERHAPS`). The turns of a running session come on top: they are the conversation itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.domain.fields import local
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import EARLIER, MESSAGE, is_system_message, is_told
from memory_core.domain.ranking.chat_query import is_remark, query_in, texts_said
from memory_core.domain.ranking.selection import Grant, Piece
from memory_core.domain.requests.memories import Context, ContextInput, RetrieveInput
from memory_core.domain.scenes import Profile
from memory_core.domain.scope import Owner
from memory_core.domain.statements.pasted_text import is_text_to_work_on
from memory_core.domain.statements.wishes import INSTRUCTION
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.sameness import normalised
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Filter, LongTermStore
from memory_core.recollection.candidate_sources import Zones
from memory_core.recollection.context_layout import (
    Material,
    Wanted,
    mark_replaced,
    mark_withdrawn,
    write_context,
)
from memory_core.recollection.context_pieces import (
    MOST_TRAITS,
    asks_ahead,
    in_words,
    instruction_pieces,
    profile_pieces,
)
from memory_core.recollection.earlier_facts import (
    asked_window,
    earlier_pieces,
    end_of,
    german_windows,
)
from memory_core.recollection.expectations import (
    LATEST,
    Expectation,
    foreseeing,
    foresight_pieces,
    granted,
    mark_outdated,
)
from memory_core.recollection.gather import Gatherer, Rounds
from memory_core.recollection.quotations import QuotableMemory, piece
from memory_core.recollection.retrieve import Retriever
from memory_core.recollection.scenes import Profiles
from memory_core.recollection.untold import Untold
from memory_core.recollection.updates import asks_of_the_past

TURNS = 30
MOST_INSTRUCTIONS = 100
"""The most standing instructions that are read, the newest."""
MOST_SESSIONS = 8
"""The most sessions that may be the last session, of those with the newest memories."""
_EPISODIC = frozenset({MemoryType.EPISODIC.value})
_PROCEDURAL = frozenset({MemoryType.PROCEDURAL.value})


@dataclass(frozen=True, slots=True)
class _Instructions:
    """A person's instructions.

    Attributes:
        standing: Those that hold, newest first.
        withdrawn: The words of those that were deleted, by the id of the message that gave each.

    """

    standing: list[Memory] = field(default_factory=list)
    withdrawn: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Sources:
    """The sources of a context, without memories that are hidden.

    Attributes:
        profile: The person's profile.
        instructions: The person's instructions.
        latest: The newest episodic memories that are not faded.
        turns: The last turns, newest first.
        is_running: Whether these are turns of the named session.
        rounds: The hits of the query.
        degraded: Dependencies that were down.
        moment: The moment of the context, in the owner's time zone.

    """

    profile: Profile
    instructions: _Instructions
    latest: list[Memory]
    turns: list[Memory]
    is_running: bool
    rounds: Rounds
    degraded: tuple[str, ...]
    moment: datetime


class Briefing:
    """Briefs agents for any owner.

    Reads never write the long-term store.
    """

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
        """Build the context of a turn.

        Args:
            owner: Whose memories are told.
            asked: The parts, the query or messages, the filters and the budget.

        Raises:
            Unavailable: The long-term store is down.
            EmbeddingMismatch: The embedder does not fit the stored vectors.

        """
        query = asked.query or query_in(asked.messages or ())
        finds = query is not None and asked.wants("memories")
        unsaid = texts_said(asked.messages or ())
        read = await self._read(owner, asked, query, unsaid)
        rounds, moment = read.rounds, read.moment
        grant = rounds.grant if finds else Grant.SURE
        quoted = [
            QuotableMemory(turn, float(turn.sequence))
            for turn in read.turns
            if normalised(turn.content) not in unsaid
        ]
        cells = {
            quotation.memory.id: quotation.cell for quotation in quoted if quotation.is_message
        }
        hits, untold, turn_pieces = await asyncio.gather(
            self._gatherer.pieces(owner, rounds),
            self._gatherer.untold_pieces(owner, rounds),
            self._turns(owner, quoted, moment),
        )
        stories = {
            hit.memory.id: hit.cell
            for hit in rounds.hits.values()
            if hit.is_story and hit.memory.id not in rounds.rests
        }
        every = await asyncio.to_thread(foreseeing, read.latest, rounds, moment)
        earned = Grant.SURE if asks_ahead(query or "") else grant
        terms, most = rounds.terms | frozenset(tokens(query or "")), MOST_TRAITS if finds else None
        wanted: Wanted = {
            "instructions": instruction_pieces(read.instructions.standing, terms, moment),
            "profile": profile_pieces(read.profile, terms, moment, most),
            "foresight": await _foresight(read, every, earned) if asked.wants("foresight") else [],
            "turns": turn_pieces,
            "memories": hits,
        }
        wanted = await asyncio.to_thread(mark_replaced, wanted, moment, untold)
        for kind in ("turns", "memories"):
            wanted[kind] = mark_withdrawn(
                mark_outdated(wanted[kind], every), read.instructions.withdrawn
            )
        earlier = await self._earlier(owner, asked, query or "", read)
        wanted["profile"] = [*earlier, *in_words(wanted["profile"])]
        material = Material(
            wanted, grant, rounds.terms, read.degraded, finds, read.is_running, cells, stories
        )
        context = await asyncio.to_thread(write_context, material, asked.max_tokens)
        if asked.at is None:
            self._gatherer.note(
                owner, rounds, [name for part in context.parts for name in part.ids]
            )
        return context

    async def _read(
        self, owner: Owner, asked: ContextInput, query: str | None, unsaid: frozenset[str]
    ) -> _Sources:
        """Read the sources of a context, all at once."""
        now = self._clock.now()
        where = self._where(asked, now)
        (
            profile,
            instructions,
            (latest, turns, is_running),
            (rounds, degraded),
            (zone, head),
        ) = await asyncio.gather(
            self._profiles.of(owner, asked.at, without_session_id=asked.exclude_session_id)
            if asked.wants("profile")
            else _no_profile(),
            self._instructions(owner, asked, now)
            if asked.wants("instructions")
            else _no_instructions(),
            self._latest(owner, where, asked, unsaid),
            self._found(owner, asked, query, unsaid),
            self._zones.with_head(owner, asked.time_zone),
        )
        silenced = await self._untold.among(owner, head, [*turns, *latest])
        return _Sources(
            profile,
            instructions,
            [each for each in latest if each.id not in silenced and not where.has_faded(each)],
            [turn for turn in turns if turn.id not in silenced],
            is_running,
            rounds,
            degraded,
            local(asked.at or now, zone),
        )

    async def _earlier(
        self, owner: Owner, asked: ContextInput, query: str, read: _Sources
    ) -> list[Piece]:
        """Return the facts that held only at the time that a query names.

        A query that names a past time costs one more read of the profile, any other none.
        """
        if not (asked.wants("profile") and read.rounds.looks and asks_of_the_past(query)):
            return []
        analysis = read.rounds.looks[0].analysis
        window = asked_window(analysis.windows or german_windows(query, read.moment), read.moment)
        then = (
            Profile()
            if window is None
            else await self._profiles.of(
                owner, end_of(window, read.moment), without_session_id=asked.exclude_session_id
            )
        )
        return earlier_pieces(read.profile, then, window, analysis.terms, read.moment)

    def _where(self, asked: ContextInput, now: datetime) -> Filter:
        """The filter of the latest turns and episodes."""
        candidates = self._retriever.candidates
        faded = {Status.DECAYED} if candidates.finds_faded(asked.include_decayed) else set()
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT | faded)
        return Filter(
            statuses,
            types=_EPISODIC,
            without_session_id=asked.exclude_session_id,
            at=asked.at,
            now=now,
            hide_formed_messages=True,
            fading=candidates.fading,
        )

    async def _latest(
        self, owner: Owner, where: Filter, asked: ContextInput, unsaid: Collection[str]
    ) -> tuple[list[Memory], list[Memory], bool]:
        """Return the newest episodic memories, the turns to tell, and whether a session is running.

        It is running if the turns are those of the named session.
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
        """Return the newest memories that the filter allows, newest first."""
        page = await self._store.page(owner, "memory", where, None, limit)
        memories, _ = readable(document for document in page if document.kind == "memory")
        return [memory for memory in memories if memory.searchable]

    async def _instructions(
        self, owner: Owner, asked: ContextInput, now: datetime
    ) -> _Instructions:
        """Return the person's instructions; those that were withdrawn only as of now."""
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
        standing = Filter(
            statuses, types=_PROCEDURAL, categories=frozenset({INSTRUCTION}), at=asked.at, now=now
        )
        if asked.at is not None:
            return _Instructions(await self._newest(owner, standing, MOST_INSTRUCTIONS))
        every = replace(standing, statuses=statuses | {Status.DELETED.value})
        page = await self._store.page(owner, "memory", every, None, MOST_INSTRUCTIONS)
        memories, _ = readable(document for document in page if document.kind == "memory")
        active = [
            memory
            for memory in memories
            if memory.searchable and memory.status is not Status.DELETED
        ]
        if len(page) == MOST_INSTRUCTIONS:  # older standing ones may be behind withdrawn ones
            active = await self._newest(owner, standing, MOST_INSTRUCTIONS)
        withdrawn = {
            str(memory.metadata["message_id"]): memory.content
            for memory in memories
            if memory.status is Status.DELETED and "message_id" in memory.metadata
        }
        return _Instructions(active, withdrawn)

    async def _of_session(
        self, owner: Owner, where: Filter, asked: ContextInput, unsaid: Collection[str]
    ) -> list[Memory] | None:
        """Return the last turns of the named session.

        Empty for an excluded session; None if the session is new or no session is named. A session
        is new, too, if it has a single stored message that the model already has: the message was
        just sent.
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
        """Return the session that was active last; None for memories without a session.

        Note: a cell may be formed after a newer session was active, so a memory that a task made
        does not say which session was last. A query as of an earlier time has to rely on it.
        """
        if asked.at is None and (not is_told(others[0]) or EARLIER in others[0].metadata):
            return await self._most_active(owner, others)
        return others[0].session_id

    async def _most_active(self, owner: Owner, newest: Sequence[Memory]) -> str | None:
        """Return the session of these memories, newest first, that was active last.

        None for memories without a session.
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
        """Return the newest turns of a session as they were said, newest first.

        A cell or a note is among them only if no message of it is kept. `latest` has the newest
        memories of all sessions if they were read already.
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
            if not QuotableMemory(other, 0.0).is_story or (
                len(messages) < TURNS and other.cell_id not in cells
            ):
                turns.setdefault(other.id, other)
        spoken = (turn for turn in turns.values() if not is_system_message(turn))
        return sorted(spoken, key=lambda turn: -turn.sequence)[:TURNS]

    async def _turns(
        self, owner: Owner, quoted: Sequence[QuotableMemory], moment: datetime
    ) -> list[Piece]:
        """Return the last turns as pieces, the newest with the highest priority."""
        superseded = await self._gatherer.superseded_facts(owner, quoted, moment)
        pieces = (
            piece(
                quotation.memory,
                priority=quotation.priority,
                superseded=superseded.get(quotation.memory.id, ()),
                terms=(),
                moment=moment,
            )
            for quotation in quoted
        )
        return [turn_piece for turn_piece in pieces if turn_piece is not None]

    async def _found(
        self, owner: Owner, asked: ContextInput, query: str | None, unsaid: frozenset[str]
    ) -> tuple[Rounds, tuple[str, ...]]:
        """Run a single round for the query; an empty round without a query."""
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


async def _foresight(read: _Sources, every: Sequence[Expectation], earned: Grant) -> list[Piece]:
    """The foresight that fits how surely it is asked for."""

    def pieces() -> list[Piece]:
        chosen = granted(every, read.latest, read.rounds, earned, read.moment)
        return foresight_pieces(chosen, read.moment)

    return await asyncio.to_thread(pieces)


async def _nothing() -> list[Memory]:
    return []


async def _given(memories: list[Memory]) -> list[Memory]:
    return memories


async def _no_instructions() -> _Instructions:
    return _Instructions()


async def _no_profile() -> Profile:
    return Profile()
