"""Messages as memories: each message of a conversation is found as it was said.

As many as fit are written in the commit that accepts the conversation. The rest follow in commits
of their own, before the answer or, if this process dies, by the conversation's task. Note: forming
never writes a message again, it only marks the cell to which it belongs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

import orjson

from memory_core.domain.chat.history import MAX_MARKS, kept_mark
from memory_core.domain.conversation import Conversation
from memory_core.domain.errors import HeadMoved, QuotaExceeded, Unavailable
from memory_core.domain.memory import Memory, MemoryType, OnConflict, Status
from memory_core.domain.messages import message_memory, was_taken_back
from memory_core.domain.ranking.index_terms import TurnTerms, text_to_embed, turn_of, with_lexical
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.versions import embed_memories, embedding_marks
from memory_core.formation.save_plan import LONG_CHARACTERS, Prepared, SessionGrew, append_turn
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.documents import cleared_since, message_ids, state_of
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.sessions import Session, history_of
from memory_core.ports import Clock, Embedder, Mark

MOST_AT_ONCE: Final = 45
"""Messages of a commit: each takes two documents of its hundred."""
MOST_MARKS: Final = 80
"""Memories that a commit marks beside the log."""
AT_THE_DOOR_S: Final = 0.3
"""Seconds that the answer waits for vectors; without them the messages are found by their words."""
NO_TIME: Final = 0.0
SEARCH: Final = "search"
"""The degraded part of an answer whose messages can't all be found yet."""
MOST_TRIES: Final = 20
"""How often messages are prepared again because of other turns of the same session."""
TOO_FAST: Final = "others write to this session faster than its messages can be written; try again"
Result = TypeVar("Result")
_A_BATCH: Final = 16
"""Texts embedded at a time before the answer."""


@dataclass(frozen=True, slots=True)
class Writing:
    """Messages that are ready to be written.

    Attributes:
        first: Number of the first message in its conversation.
        items: The messages from there on, each with its memory's vector or without.

    """

    first: int
    items: tuple[Prepared, ...]


class MessageWriter:
    """Writes the messages of conversations as memories."""

    def __init__(self, ledger: Ledger, embedder: Embedder, clock: Clock) -> None:
        self._ledger, self._embedder, self._clock = ledger, embedder, clock

    async def prepared(
        self,
        owner: Owner,
        conversation: Conversation,
        read_set: ReadSet,
        *,
        first: int = 0,
        within_s: float | None = AT_THE_DOOR_S,
    ) -> Writing:
        """Analyse the next messages after the turns of their session.

        They get the vectors that can be made in time.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages.
            read_set: A read set with the session's document.
            first: The number of the first message to prepare.
            within_s: Seconds for the vectors; None until all are made.

        Raises:
            Unavailable: The embedder is down, and `within_s` is None.

        """
        now = self._clock.now()
        ids = message_ids(conversation)[first : first + MOST_AT_ONCE]
        drafts = [
            message_memory(owner, conversation, first + place, name, now)
            for place, name in enumerate(ids)
        ]
        previous, before_previous = self._last_turns(owner, conversation, read_set, first)
        items = list[Prepared]()
        for place, draft in enumerate(drafts):
            if len(draft.content) > LONG_CHARACTERS:
                analysed = await asyncio.to_thread(with_lexical, draft, previous, before_previous)
            else:
                analysed = with_lexical(draft, previous, before_previous)
            turn = turn_of(analysed)
            items.append(
                Prepared(place, analysed, OnConflict.AUTO, turn, previous.id if previous else None)
            )
            if not _is_there(read_set.memory(draft.id), conversation):
                previous, before_previous = turn, previous
        await self._embed([item.memory for item in items], within_s)
        return Writing(first, tuple(items))

    def _last_turns(
        self, owner: Owner, conversation: Conversation, read_set: ReadSet, first: int
    ) -> tuple[TurnTerms | None, TurnTerms | None]:
        if conversation.session_id is None:
            return None, None
        return Session(
            owner,
            conversation.session_id,
            read_set.documents.get(session_document_id(owner, conversation.session_id)),
        ).last_turns

    async def _embed(self, memories: Sequence[Memory], within_s: float | None) -> None:
        """Give the memories their vectors, in order, until the time is over."""
        if within_s == NO_TIME:
            return
        try:
            async with asyncio.timeout(within_s):
                for start in range(0, len(memories), _A_BATCH):
                    await embed_memories(self._embedder, memories[start : start + _A_BATCH])
        except (TimeoutError, Unavailable):
            if within_s is None:
                raise

    def plan(
        self,
        owner: Owner,
        conversation: Conversation,
        writing: Writing,
        read_set: ReadSet,
        *,
        beside: int,
        weight: int,
        history: Sequence[str] | None = None,
        marks: Sequence[str] = (),
        title: str | None = None,
    ) -> Changes[int]:
        """The changes that write as many of these messages as fit into a commit.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages.
            writing: The messages, ready to be written.
            read_set: A read set with their session, and the messages that are memories already.
            beside: Documents of the commit besides the messages and their session.
            weight: Bytes of these documents.
            history: The marks that the session keeps from now on; None changes none.
            marks: Marks of the messages; the marks of written messages are also kept.
            title: The session's new title; None keeps its title.

        Returns:
            The changes, with the number of messages as their result.

        Raises:
            SessionGrew: The session's last turn is not the turn after which the messages were read.

        """
        page = ChangeSet(
            owner, read_set, self._clock.now(), weighs=True, beside=beside, weight=weight
        )
        count, new = 0, list[str]()
        for item in writing.items:
            if count and not page.takes(Change("created", item.memory)):
                break
            if not _is_there(page.memory(item.memory.id), conversation):
                append_turn(page, item)
                new += marks[count : count + 1]
            count += 1
        if history is not None and conversation.session_id is not None:
            page.session(conversation.session_id).keep_history(
                [*history, *new][-MAX_MARKS:], conversation.task_id
            )
        if title is not None and conversation.session_id is not None:
            page.session(conversation.session_id).name(title)
        return Changes(
            count,
            tuple(page.changes),
            tuple(session.document for session in page.sessions.values()),
            reads=frozenset(page.states),
            sessions=frozenset(page.sessions),
        )

    async def write_ahead(
        self, owner: Owner, conversation: Conversation, first: int, call: Call
    ) -> tuple[str, ...]:
        """Write messages of a conversation that is still being gathered.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages.
            first: The number of the first message to write.
            call: Call on whose behalf it happens.

        Returns:
            `("search",)` if that is left to the task, else empty.

        """
        marks = [
            kept_mark(message.role, message.content, message.timestamp, message.id)
            for message in conversation.messages
        ]
        session, by = (
            _session_ids(owner, conversation)[0],
            Call(conversation.correlation_id, actor=call.actor),
        )

        def decide(writing: Writing, seen: ReadSet) -> Changes[int]:
            history = history_of(seen.documents.get(session)).marks
            return self.plan(
                owner,
                conversation,
                writing,
                seen,
                beside=0,
                weight=0,
                history=history,
                marks=marks[writing.first :],
            )

        try:
            while first < len(conversation.messages):
                first += await self._commit_next(owner, conversation, first, decide, by)
        except (Unavailable, HeadMoved, QuotaExceeded):
            return (SEARCH,)
        return ()

    async def complete(
        self, owner: Owner, conversation: Conversation, call: Call, *, at_the_door: bool = False
    ) -> Conversation:
        """Write the messages that are no memories yet, and make missing vectors.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages.
            call: Call on whose behalf it happens.
            at_the_door: Before the answer; missing vectors are then left to the task.

        Returns:
            The conversation as it is then.

        Raises:
            Unavailable: The store or the embedder is down.
            HeadMoved: Other writers were faster.
            QuotaExceeded: There is no room.

        """
        while conversation.written < len(conversation.messages):
            conversation = await self._write_more(
                owner, conversation, call, _time_left(conversation) if at_the_door else None
            )
        while not at_the_door and conversation.embedded < len(conversation.messages):
            conversation = await self._embed_more(owner, conversation, call)
        return conversation

    async def complete_at_the_door(
        self, owner: Owner, conversation: Conversation, call: Call
    ) -> tuple[str, ...]:
        """Write the messages that are no memories yet before the answer.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages.
            call: Call on whose behalf it happens.

        Returns:
            `("search",)` if that is left to the task, else empty.

        """
        try:
            await self.complete(owner, conversation, call, at_the_door=True)
        except (Unavailable, HeadMoved, QuotaExceeded):
            return (SEARCH,)
        return ()

    async def _write_more(
        self, owner: Owner, conversation: Conversation, call: Call, within_s: float | None
    ) -> Conversation:
        """Write the next messages in a single commit, and return the conversation."""
        first = conversation.written

        def decide(writing: Writing, seen: ReadSet) -> Changes[Conversation]:
            current = _stored_conversation(seen, conversation)
            if current is None or current.written != first:
                return Changes(_without_messages_left(conversation) if current is None else current)
            if MemoryType.EPISODIC in cleared_since(seen, owner, conversation):
                return _with_state(Changes(0), seen, _without_messages_left(current))
            weight = 3 * len(orjson.dumps(seen.documents[conversation.id].body))
            planned = self.plan(owner, conversation, writing, seen, beside=1, weight=weight)
            return _with_state(planned, seen, with_written(current, writing, planned.result))

        return await self._commit_next(
            owner, conversation, first, decide, call, within_s, besides=[conversation.id]
        )

    async def _commit_next(
        self,
        owner: Owner,
        conversation: Conversation,
        first: int,
        decide: Callable[[Writing, ReadSet], Changes[Result]],
        call: Call,
        within_s: float | None = AT_THE_DOOR_S,
        besides: Sequence[str] = (),
    ) -> Result:
        """Commit a decision about the next messages.

        They are prepared again while other calls write turns of their session.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages.
            first: The number of the first message to write.
            decide: Makes the changes from the ready messages and the read set.
            call: Call on whose behalf it happens.
            within_s: Seconds for the vectors; None until all are made.
            besides: Ids that `decide` needs besides the messages and their session.

        Raises:
            HeadMoved: Other calls write to the session faster than this.

        """
        ids = [
            *besides,
            *message_ids(conversation)[first : first + MOST_AT_ONCE],
            *_session_ids(owner, conversation),
        ]
        for _ in range(MOST_TRIES):
            read_set = await self._ledger.look(owner, ids)
            writing = await self.prepared(
                owner, conversation, read_set, first=first, within_s=within_s
            )
            with suppress(SessionGrew):
                return (
                    await self._ledger.commit(
                        owner, partial(decide, writing), ids=ids, basis=read_set, call=call
                    )
                ).result
        raise HeadMoved(TOO_FAST, retry_after_s=1)

    async def _embed_more(
        self, owner: Owner, conversation: Conversation, call: Call
    ) -> Conversation:
        """Make the vectors of the next messages without a vector, and set them by marks."""
        first, last = (
            conversation.embedded,
            min(conversation.embedded + MOST_AT_ONCE, len(conversation.messages)),
        )
        ids = message_ids(conversation)[first:last]
        read_set = await self._ledger.look(owner, [conversation.id, *ids])
        bare = [
            memory
            for name in ids
            if (memory := read_set.memory(name)) is not None and _lacks_vector(memory)
        ]
        made = (
            await embedding_marks(self._embedder, [text_to_embed(memory) for memory in bare])
            if bare
            else []
        )
        marks = {memory.id: mark for memory, mark in zip(bare, made, strict=True)}

        def decide(seen: ReadSet) -> Changes[Conversation]:
            current = _stored_conversation(seen, conversation)
            if current is None or current.embedded != first:
                return Changes(_without_messages_left(conversation) if current is None else current)
            there = {name: mark for name, mark in marks.items() if seen.memory(name) is not None}
            return replace(
                _with_state(Changes(0), seen, current.changed(embedded=last)), marks=there
            )

        return (
            await self._ledger.commit(
                owner, decide, ids=[conversation.id, *ids], basis=read_set, call=call
            )
        ).result

    async def mark_ahead(self, owner: Owner, ids: Sequence[str], cell_id: str, call: Call) -> None:
        """Mark messages as a cell's, in commits of their own.

        This is for a cell with more messages than its own commit marks.

        Args:
            owner: Whose messages they are.
            ids: Ids of the messages.
            cell_id: Id of the cell.
            call: Call on whose behalf it happens.

        """
        for start in range(0, len(ids), MOST_MARKS):
            part = ids[start : start + MOST_MARKS]

            def decide(seen: ReadSet, part: Sequence[str] = part) -> Changes[None]:
                return Changes(None, marks=cell_marks(seen, part, cell_id))

            await self._ledger.commit(owner, decide, ids=part, call=call)

    async def part(self, owner: Owner, ids: Sequence[str], call: Call) -> None:
        """Mark messages as belonging to no cell, in commits of their own.

        Args:
            owner: Whose messages they are.
            ids: Ids of the messages.
            call: Call on whose behalf it happens.

        """
        for start in range(0, len(ids), MOST_MARKS):
            part = ids[start : start + MOST_MARKS]

            def decide(seen: ReadSet, part: Sequence[str] = part) -> Changes[None]:
                memories = {name: seen.memory(name) for name in part}
                marks = {
                    name: Mark(leaves_cell=True)
                    for name, memory in memories.items()
                    if memory is not None and memory.cell_id is not None
                }
                return Changes(None, marks=marks)

            await self._ledger.commit(owner, decide, ids=part, call=call)


def _time_left(conversation: Conversation) -> float:
    """Seconds that an answer still waits for vectors: 0 after it has waited in vain."""
    return AT_THE_DOOR_S if conversation.embedded >= conversation.written else NO_TIME


def _is_there(known: Memory | None, conversation: Conversation) -> bool:
    """Whether a message is a memory already.

    A message that was deleted before it was sent again is made again.
    """
    if known is None or known.status is not Status.DELETED:
        return known is not None
    told_again = conversation.created_at
    return (
        known.updated_at > told_again if was_taken_back(known) else known.updated_at >= told_again
    )


def cell_marks(
    read_set: ReadSet, ids: Collection[str], cell_id: str, unread: Collection[str] = ()
) -> dict[str, Mark]:
    """The marks that add these messages, as far as they exist, to a cell.

    Args:
        read_set: A read set with the messages.
        ids: Ids of the messages.
        cell_id: Id of the cell.
        unread: Ids that exist, but are not in the read set.

    """
    memories = {name: read_set.memory(name) for name in ids}
    return {
        name: Mark(cell_id=cell_id)
        for name, memory in memories.items()
        if (name in unread if memory is None else memory.cell_id != cell_id)
    }


def with_written(conversation: Conversation, writing: Writing, count: int) -> Conversation:
    """The conversation once the first of these messages are written.

    Args:
        conversation: As it was read.
        writing: The messages.
        count: How many of them are written.

    """
    written = writing.first + count
    bare = next(
        (place for place, item in enumerate(writing.items[:count]) if _lacks_vector(item.memory)),
        count,
    )
    embedded = (
        writing.first + bare if conversation.embedded == writing.first else conversation.embedded
    )
    return conversation.changed(written=written, embedded=embedded)


def _lacks_vector(memory: Memory) -> bool:
    return memory.searchable and memory.embedding is None


def _session_ids(owner: Owner, conversation: Conversation) -> list[str]:
    return (
        []
        if conversation.session_id is None
        else [session_document_id(owner, conversation.session_id)]
    )


def _stored_conversation(read_set: ReadSet, conversation: Conversation) -> Conversation | None:
    """The conversation as it is stored now, with its messages; None if it is gone."""
    state = state_of(read_set, conversation.id)
    return None if state is None else state.changed(messages=conversation.messages)


def _without_messages_left(conversation: Conversation) -> Conversation:
    """The conversation without any message left to write."""
    return conversation.changed(
        written=len(conversation.messages), embedded=len(conversation.messages)
    )


def _with_state(
    planned: Changes[int], read_set: ReadSet, conversation: Conversation
) -> Changes[Conversation]:
    document = read_set.documents[conversation.id]
    body = {**document.body, "written": conversation.written, "embedded": conversation.embedded}
    return Changes(
        conversation,
        planned.changes,
        (*planned.puts, replace(document, body=body)),
        reads=planned.reads,
        sessions=planned.sessions,
    )
