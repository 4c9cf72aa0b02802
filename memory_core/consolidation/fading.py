"""Memories that cross the floor of importance: they fade, come back or are shortened.

There are three passes over the memories that a store says are due. Memories that were found since
they faded come back, other memories fade, and long texts become short.

Note: the commit decides by the memory as it is then. It may have been read, pinned or restored
since the store named it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from memory_core.domain.agent_schemas import Answered, ConversationSummary
from memory_core.domain.archival import ArchivedStates, ColdCopy
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed, Damaged
from memory_core.domain.fading import Fading, due, is_recalled
from memory_core.domain.memory import Memory, Status
from memory_core.domain.ranking.index_terms import reread, text_to_embed
from memory_core.domain.scope import Owner
from memory_core.domain.statements.provenance import tells_of
from memory_core.domain.text.shortening import shortened
from memory_core.domain.transitions import compress, decay, recall
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.changes import Change, Portion, size_of
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Agents, Clock, Embedder, LongTermStore, Place
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.operation_records import Chunk

PAGE = 45
"""The most memories of a commit; each is two documents of the ninety that fit."""
SHORTENED_AT_ONCE = 4
"""The most long texts of a commit, each of which waits for an agent.

If another commit of this user undoes it, no agent is asked again.
"""
COUNTS = {"recalled": 0, "decayed": 0, "compressed": 0}
Pass = Literal["recall", "decay", "compress"]


@dataclass(frozen=True, slots=True)
class FadingRequest:
    """A request for the next chunk.

    Attributes:
        owner: Whose memories are looked at.
        work_id: The id of the operation or run.
        session_id: The only session; None for all.
        at: The time that decides which memories are due.
        left: How many memories may still be changed.
        marks: Whether faded memories are marked as decayed. If not, only long texts are looked at.
        recalls: Whether there are decayed memories, which may have been found since.

    """

    owner: Owner
    work_id: str
    session_id: str | None
    at: datetime
    left: int
    marks: bool = True
    recalls: bool = True


@dataclass(frozen=True, slots=True)
class Crossing:
    """The next chunk.

    Attributes:
        ids: The memories that `decide` gets; empty if this pass has no more.
        decide: Makes the chunk.

    """

    ids: list[str]
    decide: Callable[[ReadSet], Chunk]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """The current pass, and the last finished place."""

    step: Pass
    place: Place | None

    @classmethod
    def of(cls, body: Any) -> _Cursor:
        if body is None:
            return cls("recall", None)
        step, place = body
        return cls(step, None if place is None else Place(*place))

    @property
    def body(self) -> list[Any]:
        return [self.step, None if self.place is None else [self.place.sequence, self.place.id]]


class ImportanceCrossings:
    """Finds memories that are due, and makes chunks of them."""

    def __init__(
        self,
        store: LongTermStore,
        access_counts: AccessCounts,
        compressor: Compressor,
        clock: Clock,
        rules: Fading,
        *,
        recalls: bool = True,
    ) -> None:
        """Create the finder; with `recalls`, being found brings a faded memory back."""
        self._store, self._access_counts, self._compressor, self._clock, self._rules = (
            store,
            access_counts,
            compressor,
            clock,
            rules,
        )
        self._recalls = recalls

    async def next(self, request: FadingRequest, body: Any) -> Crossing:
        """Return the next chunk; its own cursor and end are in the chunk.

        Args:
            request: The request.
            body: The cursor of the last chunk; None for the first chunk.

        Raises:
            Unavailable: The long-term store, an agent, the embedder or the archive is down.

        """
        cursor = _Cursor.of(body)
        places = await self._places(request, cursor)
        if cursor.step == "recall" and not places:
            cursor = _Cursor("decay" if request.marks else "compress", None)
            places = await self._places(request, cursor)
        shorts = dict[str, Short | None]()
        if cursor.step == "compress":
            shorts, places = await self._shorts(request, places)
        return Crossing(
            [place.id for place in places],
            lambda read_set: self._decided(read_set, request, cursor, places, shorts),
        )

    async def recalled(self, owner: Owner, after: Place | None) -> list[Place]:
        """Return the next memories that were found since they faded.

        They are of all sessions, since accesses of all sessions are written.

        Args:
            owner: Whose memories they are.
            after: The end of the last page; None for the first page.

        """
        return await self._store.recalled(owner, after, PAGE) if self._recalls else []

    async def faded(
        self, owner: Owner, rules: Fading, at: datetime, session_id: str | None, after: Place | None
    ) -> list[Place]:
        """Return the next memories that are due, after their waiting accesses were added.

        Args:
            owner: Whose memories they are.
            rules: The rules by which memories fade.
            at: The time that decides which memories are due.
            session_id: The only session; None for all.
            after: The end of the last page; None for the first page.

        """
        places = await self._store.faded(owner, rules, at, session_id, after, PAGE)
        while places and await self._access_counts.settle(owner, [place.id for place in places]):
            places = await self._store.faded(owner, rules, at, session_id, after, PAGE)
        return places

    async def _places(self, request: FadingRequest, cursor: _Cursor) -> list[Place]:
        """Return the next memories of a pass."""
        if cursor.step == "recall":
            return await self.recalled(request.owner, cursor.place) if request.recalls else []
        rules = self._rules if request.marks else replace(self._rules, floor=0.0)
        return await self.faded(request.owner, rules, request.at, request.session_id, cursor.place)

    async def _shorts(
        self, request: FadingRequest, places: list[Place]
    ) -> tuple[dict[str, Short | None], list[Place]]:
        """Return short versions of the next long memories, by id.

        The second value has the places up to the last of them.
        """
        if not places:
            return {}, places
        seen = await self._store.snapshot(request.owner, [place.id for place in places])
        read_set, shorts = ReadSet(seen.head, dict(seen.documents)), dict[str, Short | None]()
        for number, place in enumerate(places):
            memory = read_set.memory(place.id)
            if memory is not None and due(memory, request.at, self._rules) is Status.COMPRESSED:
                shorts[place.id] = await self._compressor.short(
                    request.owner, request.work_id, memory
                )
                if len(shorts) == SHORTENED_AT_ONCE:
                    return shorts, places[: number + 1]
        return shorts, places

    def _decided(
        self,
        read_set: ReadSet,
        request: FadingRequest,
        cursor: _Cursor,
        places: list[Place],
        shorts: Mapping[str, Short | None],
    ) -> Chunk:
        portion, changes, passed = Portion(), list[Change](), 0
        for place in places:
            memory = read_set.memory(place.id)
            change = (
                None if memory is None else self._change(memory, cursor.step, shorts, request.at)
            )
            if change is not None:
                if len(changes) == request.left or not portion.takes(2, 2 * size_of(change.after)):
                    break
                changes.append(change)
            passed += 1
        capped = passed < len(places) and len(changes) == request.left
        further = _Cursor(cursor.step, places[passed - 1] if passed else cursor.place)
        if not places:
            further = _Cursor("compress", None)
        counts = {name: sum(change.event_type == name for change in changes) for name in COUNTS}
        done = capped or (not places and (cursor.step == "compress" or cursor.place is None))
        return Chunk(
            tuple(changes), cursor=further.body, counts=counts, done=done, result={"capped": capped}
        )

    def _change(
        self, memory: Memory, step: Pass, shorts: Mapping[str, Short | None], at: datetime
    ) -> Change | None:
        due_status, now = due(memory, at, self._rules), self._clock.now()
        if step == "recall":
            return (
                Change("recalled", recall(memory, now), memory)
                if is_recalled(memory, at, self._rules)
                else None
            )
        if step == "compress" and due_status is Status.COMPRESSED and memory.id in shorts:
            short = shorts[memory.id]
            if short is not None:
                return compressed(memory, short, now)
            due_status = stays_long(memory, at, self._rules)
        elif step == "compress":
            return None
        return (
            Change("decayed", decay(memory, now), memory) if due_status is Status.DECAYED else None
        )


# Compress: replace a long formed text that was not requested for months by a short text.
#
# What people said is kept word for word, whatever its age, since narratives, notes and patterns
# refer to it.
#
# Note: the original is written to the archive, read back and verified before the text is shortened.
# The change applies only to the archived revision. A memory that was changed in between stays long,
# and the unused copy is removed later.


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Short:
    """A memory with a short text, made of its revision `of`.

    Its original is in the archive.
    """

    of: int
    memory: Memory


class Compressor:
    """Makes short texts of long texts.

    The agent `rules` works without a model, and answers if `agents` give no usable answer.
    """

    def __init__(
        self, copies: ColdCopies, embedder: Embedder, agents: Agents, rules: Agents, steps: Steps
    ) -> None:
        self._copies, self._embedder, self._agents, self._rules, self._steps = (
            copies,
            embedder,
            agents,
            rules,
            steps,
        )

    async def short(self, owner: Owner, operation_id: str, memory: Memory) -> Short | None:
        """Shorten a memory's text, and archive the original for this operation.

        Args:
            owner: Whose memory it is.
            operation_id: The operation that the archived copy belongs to.
            memory: The memory.

        Returns:
            The memory with its short text; None if the text does not become shorter, or if the
            archived copy is damaged.

        Raises:
            Unavailable: An agent, the embedder or the archive is down.

        """
        text = await self._text(owner, memory)
        if text is None:
            return None
        try:
            location = await self._copies.write(
                owner, operation_id, ColdCopy(memory.epoch, memory.id, (ArchivedStates(memory),))
            )
        except Damaged as error:
            log.error("a long text stays as it is: %s", error.detail)
            return None
        made = with_short_text(memory, text, location)
        if made.searchable:
            (made.embedding,) = await self._embedder.embed([text_to_embed(made)])
            made.embedding_model, made.embedding_dimensions = (
                self._embedder.model,
                self._embedder.dimensions,
            )
        return Short(memory.revision, made)

    async def _text(self, owner: Owner, memory: Memory) -> str | None:
        messages = [
            Message(
                role="user",
                content=memory.content,
                timestamp=memory.event_timestamp,
                actor=memory.actor,
            )
        ]
        for name, agents in (("model", self._agents), ("rules", self._rules)):

            async def ask(agents: Agents = agents) -> Answered[ConversationSummary]:
                return await agents.summarise(owner, messages, fast=True)

            try:
                answer = await self._steps.frozen(
                    owner, memory.id, f"compress {memory.version} {name}", ask, ConversationSummary
                )
            except AgentFailed as error:
                log.warning("a long text is shortened by rules: %s", error.detail)
                continue
            text = shortened(memory.content, answer.value.narrative)
            if text is not None and tells_of(text, messages):
                return text
        return None


def with_short_text(memory: Memory, text: str, location: str) -> Memory:
    """Return the memory with a short text, which it is now found by.

    Args:
        memory: The memory.
        text: The short text.
        location: The location of the original in the archive.

    """
    return reread(memory.changed(content=text, episode=None, archival_location=location))


def compressed(memory: Memory, short: Short, now: datetime) -> Change | None:
    """Return the change that shortens a memory as it is now.

    Args:
        memory: The memory.
        short: The memory with its short text.
        now: The time of the change.

    Returns:
        The change; None if the memory changed since its original was archived.

    """
    if memory.revision != short.of:
        return None
    unlogged = ("access_count", "last_accessed_at", "links")
    after = compress(short.memory, now).with_fields_of(memory, unlogged)
    return Change("compressed", after, memory)


def stays_long(memory: Memory, at: datetime, rules: Fading) -> Status | None:
    """Return the due status of a memory whose text does not become shorter.

    It fades like any other memory.

    Args:
        memory: The memory.
        at: The time that decides.
        rules: The rules by which memories fade.

    """
    return due(memory, at, replace(rules, long_floor=0.0))
