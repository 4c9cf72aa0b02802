"""Documents beside memories: conversations, buffers of sessions, a user's settings.

A conversation has two documents, because its messages are never written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

import orjson
from pydantic import ConfigDict, Field

from memory_core.domain.conversation import Cell, Conversation, Message
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.fields import MAX_NAME
from memory_core.domain.memory import MemoryType
from memory_core.domain.messages import PREFIX
from memory_core.domain.requests.maintenance import SETTINGS_ID, UserSettings
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.sessions import clears_of
from memory_core.ports import Document

_OF_THE_STORE = ("epoch", "sequence")


def messages_id(conversation_id: str) -> str:
    """The id of the document that holds a conversation's messages."""
    return f"{conversation_id}_messages"


def documents_of(conversation: Conversation) -> tuple[Document, Document]:
    """Split a conversation into its state and its messages.

    Each forming commit writes the state again; the messages are never rewritten. A conversation may
    be 1 MiB long, while a commit holds 1.8 MB.
    """
    body = conversation.model_dump(mode="json")
    messages = {"messages": body.pop("messages")}
    return Document(conversation.id, "conversation", body), Document(
        messages_id(conversation.id), "messages", messages
    )


def conversation_of(read_set: ReadSet, conversation_id: str) -> Conversation | None:
    """The whole conversation, out of its two documents.

    Args:
        read_set: A read set with both documents.
        conversation_id: Id of the conversation.

    Returns:
        None if the head's epoch has no such conversation.

    """
    state, messages = (
        read_set.documents.get(conversation_id),
        read_set.documents.get(messages_id(conversation_id)),
    )
    if (
        state is None
        or messages is None
        or read_set.head is None
        or state.body["epoch"] != read_set.head.epoch
    ):
        return None
    fields = {name: value for name, value in state.body.items() if name not in _OF_THE_STORE}
    return Conversation.model_validate({**fields, "messages": messages.body["messages"]})


def unread(conversation: Mapping[str, Any]) -> tuple[Document, ...]:
    """The messages document to delete of an ended conversation without memories.

    It is empty if memories were made of the conversation. The messages are not read again. As no
    memory names the conversation, a filter of memories to forget wouldn't find them.
    """
    if any(cell["memory_ids"] for cell in conversation["formed_cells"]):
        return ()
    return (Document(messages_id(conversation["id"]), "messages", {}),)


def state_of(read_set: ReadSet, conversation_id: str) -> Conversation | None:
    """The conversation as it is stored, without its messages.

    Args:
        read_set: A read set with its document.
        conversation_id: Id of the conversation.

    Returns:
        None if the head's epoch has no such conversation.

    """
    document = read_set.documents.get(conversation_id)
    if (
        document is None
        or read_set.head is None
        or document.body.get("epoch") != read_set.head.epoch
    ):
        return None
    return Conversation.model_validate(
        {name: value for name, value in document.body.items() if name not in ("epoch", "sequence")}
    )


def cleared_since(
    read_set: ReadSet, owner: Owner, conversation: Conversation
) -> frozenset[MemoryType]:
    """The types of memories that a session was cleared of after a conversation was accepted.

    Args:
        read_set: A read set with the session's document.
        owner: Whose session it is.
        conversation: As it was accepted.

    """
    if conversation.session_id is None:
        return frozenset()
    clears = clears_of(read_set.documents.get(session_document_id(owner, conversation.session_id)))
    return frozenset(
        MemoryType(kind)
        for kind, count in clears.items()
        if count > conversation.clears.get(kind, 0)
    )


def message_ids(conversation: Conversation, cell: Cell | None = None) -> list[str]:
    """The ids of the memories of a conversation's messages, in order.

    A message with an id of its own is known by it within its session. Without a session, equal
    messages with equal times get equal ids. A message that an earlier conversation has written
    keeps the id that it got there.

    Args:
        conversation: The conversation.
        cell: The cell whose messages are meant; None for all messages.

    """
    seen = Counter[tuple[str, ...]]()
    ids = []
    first, end = (0, None) if cell is None else (cell.first, cell.last + 1)
    for number, message in enumerate(conversation.messages[:end]):
        if message.memory_id is not None:
            if number >= first:
                ids.append(message.memory_id)
            continue
        if message.id is not None:
            parts: tuple[str, ...] = ("by id", conversation.session_id or "", message.id)
        elif conversation.session_id is not None:
            parts = ("of", conversation.id, str(number))
        else:
            parts = (
                conversation.agent_id or "",
                message.role,
                message.actor or "",
                message.timestamp.isoformat(),
                message.content,
            )
        seen[parts] += 1
        if number >= first:
            ids.append(derived(PREFIX, *parts, str(seen[parts])))
    return ids


# A buffer: messages of a session that wait until there are enough to be formed; a document for each
# session.
#
# Closing a generation begins the next. Note: each append has an id, which stays with its messages,
# also in the conversation that they become. So a caller without an answer can check whether its
# append arrived.


MAX_BYTES = 1_048_576
"""Bytes of the messages in a buffer: as many as a request may bring. Further messages are gathered
in the next generation.
"""


class BufferFields(TypedDict, total=False):
    """Fields of a buffer that a change replaces."""

    messages: list[Message]
    appends: list[str]
    last_append_at: datetime | None
    correlation_id: str | None
    time_zone: str | None


class Buffer(DeferredModel):
    """The content of a session's buffer.

    Attributes:
        session_id: Id of the session.
        generation: Counts how often the buffer was closed.
        messages: Messages that wait to be formed.
        appends: Ids of the appends of this generation.
        last_append_at: None while the buffer is empty.
        correlation_id: Correlation id of the last append.
        time_zone: Time zone of the speakers; None if unknown.

    """

    model_config = ConfigDict(extra="forbid")

    session_id: str
    generation: int = 0
    messages: list[Message] = Field(default_factory=list)
    appends: list[str] = Field(default_factory=list)
    last_append_at: datetime | None = None
    correlation_id: str | None = None
    time_zone: str | None = Field(
        default=None, max_length=MAX_NAME, exclude_if=lambda value: value is None
    )

    def changed(self, **fields: Unpack[BufferFields]) -> Buffer:
        """The buffer with these fields replaced, without validation."""
        return self.model_copy(update=fields)


@dataclass(frozen=True, slots=True)
class Append:
    """Messages that a call adds to a buffer, under an id of their own.

    Attributes:
        id: Id of the append.
        messages: In order.
        at: When they were added.
        correlation_id: Correlation id of the call.
        time_zone: Time zone of the speakers; None if unknown.

    """

    id: str
    messages: Sequence[Message]
    at: datetime
    correlation_id: str | None = None
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class HeldBuffer:
    """A buffer as it was read.

    Attributes:
        owner: Whose buffer it is.
        buffer: Its content.
        document: Document that it was read from; None if there was none.

    """

    owner: Owner
    buffer: Buffer
    document: Document | None

    @classmethod
    def of(cls, owner: Owner, session_id: str, read_set: ReadSet) -> HeldBuffer:
        """The buffer in a read set; an empty buffer if the present epoch has none.

        Args:
            owner: Whose buffer it is.
            session_id: Id of the session.
            read_set: A read set with the buffer's document.

        """
        document = read_set.documents.get(buffer_id(owner, session_id))
        if (
            document is None
            or read_set.head is None
            or document.body["epoch"] != read_set.head.epoch
        ):
            return cls(owner, Buffer(session_id=session_id), document)
        return cls(owner, _buffer_in(document), document)

    @property
    def task_id(self) -> str:
        """The task of this generation: it waits with the buffer, then forms the messages."""
        return derived("tsk", self._id, str(self.buffer.generation))

    @property
    def conversation_id(self) -> str:
        """The conversation that this generation becomes."""
        return conversation_id(self._id, self.buffer.generation)

    def conversation(self, now: datetime, clears: Mapping[str, int]) -> Conversation:
        """The conversation that this generation becomes, as it is now.

        Args:
            now: When it is accepted.
            clears: How often its session was cleared by then, by type.

        """
        return Conversation(
            id=self.conversation_id,
            session_id=self.buffer.session_id,
            messages=self.buffer.messages,
            task_id=self.task_id,
            correlation_id=self.buffer.correlation_id,
            time_zone=self.buffer.time_zone,
            created_at=now,
            clears=dict(clears),
        )

    def takes(self, append: Append) -> bool:
        """Whether there is room for the append.

        An empty buffer takes any append; the store then refuses it if it is too large.
        """
        return (
            not self.buffer.messages
            or _size(self.buffer.messages) + _size(append.messages) <= MAX_BYTES
        )

    def grown(self, append: Append) -> HeldBuffer:
        """The same generation, with the append added."""
        buffer = self.buffer
        more: BufferFields = {
            "messages": [*buffer.messages, *append.messages],
            "appends": [*buffer.appends, append.id],
            "last_append_at": append.at,
            "correlation_id": append.correlation_id,
            "time_zone": append.time_zone or buffer.time_zone,
        }
        return replace(self, buffer=buffer.changed(**more))

    def closed(self) -> HeldBuffer:
        """The buffer with its next generation begun, which is empty."""
        return replace(self, buffer=_emptied(self.buffer))

    @property
    def written(self) -> Document:
        """The document to write, on top of the state that was read."""
        body: dict[str, Any] = self.buffer.model_dump(mode="json")
        if self.document is None:
            return Document(self._id, "buffer", body)
        return replace(self.document, body={**_of_the_store(self.document), **body})

    @property
    def _id(self) -> str:
        return buffer_id(self.owner, self.buffer.session_id)


def buffer_id(owner: Owner, session_id: str) -> str:
    """The id of a session's buffer.

    Args:
        owner: Whose session it is.
        session_id: Id of the session.

    """
    return derived("buf", *owner, session_id)


def conversation_id(buffer: str, generation: int) -> str:
    """The id of the conversation that a generation of a buffer becomes.

    Args:
        buffer: Id of the buffer.
        generation: Generation of the buffer, from 0.

    """
    return derived("cnv", buffer, str(generation))


def emptied(document: Document) -> Document:
    """A buffer's document without its present generation."""
    return replace(
        document,
        body={**_of_the_store(document), **_emptied(_buffer_in(document)).model_dump(mode="json")},
    )


def _emptied(buffer: Buffer) -> Buffer:
    return Buffer(session_id=buffer.session_id, generation=buffer.generation + 1)


def _buffer_in(document: Document) -> Buffer:
    return Buffer.model_validate(
        {name: value for name, value in document.body.items() if name not in ("epoch", "sequence")}
    )


def _of_the_store(document: Document) -> dict[str, Any]:
    return {name: document.body[name] for name in ("epoch", "sequence")}


def _size(messages: Sequence[Message]) -> int:
    return sum(len(orjson.dumps(message.model_dump(mode="json"))) for message in messages)


# A user's settings: a document in the user's partition, which is exported and erased with it.


class SettingsOfUsers:
    """Reads and writes the settings of any owner."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def get(self, owner: Owner) -> UserSettings:
        """The present settings; the defaults if none are set. Raises Unavailable."""
        return settings_in(await self._ledger.look(owner, [SETTINGS_ID]))

    async def put(self, owner: Owner, settings: UserSettings, call: Call) -> UserSettings:
        """Set the settings; they are durable when this returns.

        Args:
            owner: Whose settings they are.
            settings: All of them.
            call: Call whose actor and correlation id are recorded.

        Raises:
            HeadMoved: Other writers were faster until the deadline.
            Unavailable: The store is down.

        """

        def decide(read_set: ReadSet) -> Changes[UserSettings]:
            if settings_in(read_set) == settings:
                return Changes(settings)
            document = read_set.documents.get(SETTINGS_ID)
            tag = None if document is None else document.tag
            return Changes(
                settings,
                puts=(
                    Document(SETTINGS_ID, "settings", settings.model_dump(mode="json"), tag=tag),
                ),
                fragile=True,
            )

        return (await self._ledger.commit(owner, decide, ids=[SETTINGS_ID], call=call)).result


def settings_in(read_set: ReadSet) -> UserSettings:
    """The settings in a read set for which `SETTINGS_ID` was requested."""
    document = read_set.documents.get(SETTINGS_ID)
    if (
        document is None
        or read_set.head is None
        or document.body.get("epoch") != read_set.head.epoch
    ):
        return UserSettings()
    return UserSettings.model_validate(
        {name: value for name, value in document.body.items() if name not in _OF_THE_STORE}
    )
