"""Accept conversations and an agent's own words, to be worked on later.

So come whole conversations, and an agent's own words, which take a shorter path. Note: the queue is
told after the commit and may be down. That refuses nothing: what is stored is found by the sweep.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import orjson

from memory_core.domain.chat.history import CallMessage, HistoryMatch, match_history
from memory_core.domain.chat.read_message import timed
from memory_core.domain.conversation import Cell, Conversation, Message, Path, Task
from memory_core.domain.errors import HeadMoved
from memory_core.domain.memory import Head, HeadFields, Memory
from memory_core.domain.messages import bytes_of_messages, was_taken_back
from memory_core.domain.requests.maintenance import SETTINGS_ID, AgentMemoryInput
from memory_core.domain.requests.memories import ConverseInput
from memory_core.domain.results import Accepted, Call, Told
from memory_core.domain.scope import Owner
from memory_core.formation.boundaries import BoundaryRules, expected_cells
from memory_core.formation.cell_plan import MOST_MARKED
from memory_core.formation.cells import cell_id
from memory_core.formation.message_memories import (
    MOST_AT_ONCE,
    MOST_TRIES,
    TOO_FAST,
    MessageWriter,
    with_written,
)
from memory_core.formation.save_plan import SessionGrew
from memory_core.formation.webhooks import Callbacks
from memory_core.formation.without_messages import KINDS
from memory_core.ledger.archive_files import OwnerHashes
from memory_core.ledger.changes import Changes
from memory_core.ledger.documents import documents_of, message_ids, settings_in
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import earlier_result
from memory_core.ledger.sessions import History, clears_of, history_of
from memory_core.ports import Agents, Clock, Document, IdSource
from memory_core.tasks.leases import TaskLost
from memory_core.tasks.lifecycle import TaskStarter
from memory_core.tasks.operation_records import is_pending

MOST_UNFORMED = 100
"""Messages that a head names as unformed. Messages of further conversations are marked once they
are formed.
"""
BESIDE = 5
"""Documents of the accepting commit besides the messages: the conversation, its words, its task,
the receipt and the session.
"""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A conversation on its way in.

    Attributes:
        owner: Whose conversation it is.
        conversation: All messages that were sent.
        call_messages: As the session's history compares them; none of an agent's own words.
        task: The task that forms it.
        call: Call with its idempotency key, if any.
        operation_ids: Operations that are to be pending when it is stored.
        title: The session's title, if the request gives one.

    """

    owner: Owner
    conversation: Conversation
    call_messages: Sequence[CallMessage]
    task: Task
    call: Call
    operation_ids: Sequence[str]
    title: str | None

    @property
    def session_document_id(self) -> str | None:
        """The id of the session's document; None without a session."""
        session = self.conversation.session_id
        return None if session is None else session_document_id(self.owner, session)


class Converser:
    """Accepts conversations."""

    def __init__(
        self,
        starter: TaskStarter,
        messages: MessageWriter,
        callbacks: Callbacks,
        names: OwnerHashes,
        clock: Clock,
        ids: IdSource,
        rules: Agents,
        boundary: BoundaryRules,
        *,
        is_by_rule: bool,
    ) -> None:
        """Prepare to accept conversations.

        `rules` and `boundary` predict the cells of a conversation. `is_by_rule` means that no model
        is asked, so that the conversation will have these cells.
        """
        self._rules, self._boundary, self._is_by_rule = rules, boundary, is_by_rule
        self._starter, self._messages, self._callbacks, self._names = (
            starter,
            messages,
            callbacks,
            names,
        )
        self._clock, self._ids = clock, ids
        self._turns: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = WeakValueDictionary()

    async def converse(
        self, owner: Owner, request: ConverseInput, call: Call, *, operation_id: str | None = None
    ) -> Accepted:
        """Store a conversation and begin its task; it is durable when this returns.

        Of a history that is sent again, only new messages are stored.

        Args:
            owner: Whose conversation it is.
            request: The messages and their session.
            call: Call with its idempotency key, if any.
            operation_id: Id of the operation that sends the conversation, if any. It is stored only
                while the operation is pending.

        Raises:
            Invalid: The callback address will never be called.
            Conflict: The idempotency key was used for another request.
            HeadMoved: Other writers were faster.
            TooLarge: The conversation is too large.
            QuotaExceeded: There is no room.
            Unavailable: The store is down.
            TaskLost: The operation is no longer pending.

        """
        self._callbacks.check(request.callback_url)
        now = self._clock.now()
        call_messages = [CallMessage.of(message, now) for message in request.messages]
        return await self._begin(
            owner,
            "converse",
            timed(request.messages, now),
            request,
            call,
            call_messages,
            request.callback_url,
            operation_id,
        )

    async def store_agent_words(
        self, owner: Owner, request: AgentMemoryInput, call: Call
    ) -> Accepted:
        """Store an agent's own words, to become a memory; they are durable when this returns.

        Args:
            owner: Whose memory it will be.
            request: The words.
            call: Call with its idempotency key, if any.

        Raises:
            Conflict: The idempotency key was used for another request.
            TooLarge: The words are too long.
            QuotaExceeded: There is no room.
            Unavailable: The store is down.

        """
        return await self._begin(
            owner,
            "agent",
            request.told(self._clock.now(), "assistant", request.agent_id),
            request,
            call,
        )

    async def _begin(
        self,
        owner: Owner,
        path: Path,
        messages: list[Message],
        request: ConverseInput | AgentMemoryInput,
        call: Call,
        call_messages: Sequence[CallMessage] = (),
        callback_url: str | None = None,
        operation_id: str | None = None,
    ) -> Accepted:
        now, task_id = self._clock.now(), self._ids.new("tsk")
        title = request.session_title if isinstance(request, ConverseInput) else None
        conversation = Conversation(
            id=self._ids.new("cnv"),
            session_id=request.session_id,
            agent_id=request.agent_id,
            time_zone=request.time_zone,
            path=path,
            messages=messages,
            task_id=task_id,
            correlation_id=call.correlation_id,
            created_at=now,
        )
        task = Task(
            task_id=task_id,
            kind=KINDS[path],
            created_at=now,
            updated_at=now,
            subject_id=conversation.id,
            next_enqueue_at=now,
            callback_url=callback_url,
            correlation_id=call.correlation_id,
        )
        operation_ids = [] if operation_id is None else [operation_id]
        return await self._accept(
            _Arrival(owner, conversation, call_messages, task, call, operation_ids, title)
        )

    async def _accept(self, arrival: _Arrival) -> Accepted:
        """Store the new messages of a conversation: the first in its commit, then the rest."""
        owner, conversation, task = arrival.owner, arrival.conversation, arrival.task
        session_id = arrival.session_document_id
        names = message_ids(conversation)
        reads = [
            SETTINGS_ID,
            *([] if session_id is None else [session_id]),
            *arrival.operation_ids,
            *_read_ahead(conversation, names),
        ]
        turn = owner, conversation.session_id or conversation.id
        async with self._turns.setdefault(turn, asyncio.Lock()):
            for _ in range(MOST_TRIES):
                read_set = await self._starter.look(owner, task, reads, arrival.call)
                if (earlier := earlier_result(read_set.documents, owner, arrival.call)) is not None:
                    return Accepted(str(earlier["task_id"]), messages=_answer_of(earlier))
                session_document = _session_document(read_set, session_id)
                history = history_of(session_document)
                seal_key = await self._seal_key(owner, conversation.session_id, history)
                match = _match(arrival, names, read_set, history, seal_key)
                message_counts = _message_counts(conversation, match)
                if not match.new:
                    return Accepted(history.task_id or task.task_id, messages=message_counts)
                new = conversation.changed(
                    messages=[conversation.messages[place] for place in match.new],
                    clears=dict(clears_of(session_document)),
                    time_zone=conversation.time_zone or settings_in(read_set).time_zone,
                )
                try:
                    accepted, written = await self._begin_with(arrival, new, read_set, reads, match)
                    break
                except SessionGrew:
                    continue
            else:
                raise HeadMoved(TOO_FAST, retry_after_s=1)
        if accepted.task_id != task.task_id:
            return accepted
        missing = await self._messages.complete_at_the_door(owner, written, arrival.call)
        return replace(accepted, degraded=(*accepted.degraded, *missing), messages=message_counts)

    async def _seal_key(
        self, owner: Owner, session_id: str | None, history: History
    ) -> bytes | None:
        """The key of a session's history; None for a history that is not sealed."""
        if not history.is_sealed or session_id is None:
            return None
        return await self._names.session_key(owner, session_id)

    async def _begin_with(
        self,
        arrival: _Arrival,
        conversation: Conversation,
        read_set: ReadSet,
        reads: Sequence[str],
        match: HistoryMatch,
    ) -> tuple[Accepted, Conversation]:
        """Commit the conversation, its task and as many of its messages as fit.

        Args:
            arrival: The conversation as it was sent.
            conversation: The same, with its new messages only.
            read_set: The read set.
            reads: The ids that were read.
            match: Which of the messages the session does not know.

        Raises:
            SessionGrew: The session has messages that the read set lacks.
            TaskLost: An operation is no longer pending.

        """
        owner, message_counts = arrival.owner, _message_counts(arrival.conversation, match)
        writing = await self._messages.prepared(owner, conversation, read_set)
        history = None if conversation.path == "agent" else match.marks
        cells = await self._expected(owner, conversation)
        written = conversation

        def made(seen: ReadSet) -> Changes[Any]:
            nonlocal written
            _check_unchanged(seen, arrival, conversation)
            planned = self._messages.plan(
                owner,
                conversation,
                writing,
                seen,
                beside=BESIDE,
                weight=_weight(conversation),
                history=history,
                title=arrival.title,
            )
            written = with_written(conversation, writing, planned.result)
            expected = _expected_marks(written, cells, planned, seen)
            cuts = [cell.last for cell in cells[:-1]] if cells and self._is_by_rule else None
            written = written.changed(expected_cells=[*expected], cuts=cuts)
            return replace(
                planned,
                creates=documents_of(written),
                more_bytes=bytes_of_messages(written.messages[written.written :]),
                head_fields=lambda head: _count_expected(head, expected),
            )

        result = {"messages": None if message_counts is None else message_counts._asdict()}
        accepted = await self._starter.begin(
            owner, arrival.task, made, arrival.call, reads=reads, basis=read_set, result=result
        )
        return accepted, written

    async def _expected(self, owner: Owner, conversation: Conversation) -> list[Cell]:
        """The cells that a conversation will probably have.

        None for a long conversation, whose messages are marked in any case.
        """
        if len(conversation.messages) > MOST_MARKED:
            return []
        return await expected_cells(owner, conversation, self._rules, self._boundary)


def _message_counts(conversation: Conversation, match: HistoryMatch) -> Told | None:
    """How many messages are new; None for an agent's own words."""
    if conversation.path != "converse":
        return None
    return Told(len(match.new), len(conversation.messages) - len(match.new))


def _weight(conversation: Conversation) -> int:
    """Bytes that a conversation takes in its first commit."""
    return 2 * len(
        orjson.dumps([message.model_dump(mode="json") for message in conversation.messages])
    )


def _check_unchanged(read_set: ReadSet, arrival: _Arrival, conversation: Conversation) -> None:
    """Raise TaskLost, SessionGrew where what a conversation is begun on has changed.

    Args:
        read_set: What was read.
        arrival: The conversation as it was sent.
        conversation: As it is to be begun.

    """
    if not all(is_pending(read_set, name) for name in arrival.operation_ids):
        raise TaskLost
    session_id = arrival.session_document_id
    if (
        session_id is not None
        and clears_of(read_set.documents.get(session_id)) != conversation.clears
    ):
        raise SessionGrew


def _expected_marks(
    conversation: Conversation, cells: Sequence[Cell], planned: Changes[int], read_set: ReadSet
) -> dict[str, list[str]]:
    """The messages of a conversation that a commit makes, by their expected cells.

    It is empty if the head has no room for them.
    """
    made = {change.after.id for change in planned.changes if change.before is None}
    known = 0 if read_set.head is None else len(read_set.head.unformed_messages)
    if conversation.written < len(conversation.messages) or known + len(made) > MOST_UNFORMED:
        return {}
    names = message_ids(conversation)
    expected = {
        cell_id(conversation, cell): [
            name for name in names[cell.first : cell.last + 1] if name in made
        ]
        for cell in cells
    }
    return {identity: messages for identity, messages in expected.items() if messages}


def _count_expected(head: Head, expected: Mapping[str, Sequence[str]]) -> HeadFields:
    """The head's field with unformed messages, once these messages are written."""
    if not expected:
        return {}
    more = {
        identity: [*head.unformed.get(identity, ()), *messages]
        for identity, messages in expected.items()
    }
    return {"unformed": {**head.unformed, **more}}


def _session_document(read_set: ReadSet, session_id: str | None) -> Document | None:
    """The session's document; None if the head's epoch has none.

    An epoch ends when the user is erased.
    """
    document = None if session_id is None else read_set.documents.get(session_id)
    if (
        document is None
        or read_set.head is None
        or read_set.head.state == "erasing"
        or document.body["epoch"] != read_set.head.epoch
    ):
        return None
    return document


def _read_ahead(conversation: Conversation, names: Sequence[str]) -> list[str]:
    """The ids of message memories to read before a conversation's first commit.

    The commit may write them, or they tell which messages are known.
    """
    if conversation.session_id is None:
        return [*names[:MOST_AT_ONCE]]
    return [
        name
        for message, name in zip(conversation.messages, names, strict=True)
        if message.id is not None
    ]


def _match(
    arrival: _Arrival,
    names: Sequence[str],
    read_set: ReadSet,
    history: History,
    seal_key: bytes | None,
) -> HistoryMatch:
    """The messages that the session does not know yet; an agent's own words are new."""
    conversation = arrival.conversation
    if conversation.path == "agent" or conversation.session_id is None:
        return HistoryMatch(tuple(range(len(conversation.messages))), ())
    known = {
        message.id
        for message, name in zip(arrival.call_messages, names, strict=True)
        if message.id and _is_known(read_set.memory(name))
    }
    return match_history(history.marks, arrival.call_messages, known, seal_key)


def _is_known(memory: Memory | None) -> bool:
    return memory is not None and not was_taken_back(memory)


def _answer_of(result: Mapping[str, Any]) -> Told | None:
    messages = result.get("messages")
    return None if messages is None else Told(**messages)
