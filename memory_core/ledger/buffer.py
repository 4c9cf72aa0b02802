"""A buffer: messages of one session that wait until there are enough of them to be formed together. One document a session.

Its generations follow each other: closing one is beginning the next. Note: every append has an id, which stays with the
messages that it brought, into the conversation that they become. So a caller that did not hear whether its append arrived can look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from memory_core.domain.conversation import Conversation, Message
from memory_core.domain.scope import Owner
from memory_core.domain.time_zone import MAX_NAME
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import derived
from memory_core.ports import Document

MAX_BYTES = 1_048_576
"""Of messages in one buffer: as much as one request may bring. What would pass it is gathered in the next generation."""


class Buffer(BaseModel):
    """What a session's buffer holds. appends: the ids of the appends of this generation. last_append_at: None while it is empty."""

    model_config = ConfigDict(extra="forbid")

    session_id: str
    generation: int = 0
    messages: list[Message] = Field(default_factory=list)
    appends: list[str] = Field(default_factory=list)
    last_append_at: datetime | None = None
    correlation_id: str | None = None
    time_zone: str | None = Field(default=None, max_length=MAX_NAME, exclude_if=lambda value: value is None)


@dataclass(frozen=True, slots=True)
class Append:
    """What one call adds: messages, under an id of its own. time_zone: of those who speak, None where it is not known."""

    id: str
    messages: Sequence[Message]
    at: datetime
    correlation_id: str | None = None
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class HeldBuffer:
    """A buffer as it was read: its content, and the document that it was read from, None when there was none."""

    owner: Owner
    buffer: Buffer
    document: Document | None

    @classmethod
    def of(cls, owner: Owner, session_id: str, look: Look) -> HeldBuffer:
        """What a look shows; an empty one where there is none, or only one of an erased user."""
        document = look.documents.get(buffer_id(owner, session_id))
        if document is None or look.head is None or document.body["epoch"] != look.head.epoch:
            return cls(owner, Buffer(session_id=session_id), document)
        return cls(owner, _buffer_in(document), document)

    @property
    def task_id(self) -> str:
        """The task of this generation: it waits with the buffer, and then forms what it held."""
        return derived("tsk", self._id, str(self.buffer.generation))

    @property
    def conversation_id(self) -> str:
        """The conversation that this generation becomes."""
        return conversation_id(self._id, self.buffer.generation)

    def conversation(self, now: datetime, clears: Mapping[str, int]) -> Conversation:
        """The conversation that this generation becomes, as it is now.

        Args:
            now: when it is accepted.
            clears: how often its session was cleared by then, by type.

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
        """Whether there is room for it; an empty buffer takes anything, and leaves it to the store to say what is too large."""
        return not self.buffer.messages or _size(self.buffer.messages) + _size(append.messages) <= MAX_BYTES

    def grown(self, append: Append) -> HeldBuffer:
        """With what is appended, in the same generation."""
        buffer = self.buffer
        more = {
            "messages": [*buffer.messages, *append.messages],
            "appends": [*buffer.appends, append.id],
            "last_append_at": append.at,
            "correlation_id": append.correlation_id,
            "time_zone": append.time_zone or buffer.time_zone,
        }
        return replace(self, buffer=buffer.model_copy(update=more))

    def closed(self) -> HeldBuffer:
        """With the next generation begun, which is empty."""
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
    """The id of a session's buffer."""
    return derived("buf", *owner, session_id)


def conversation_id(buffer: str, generation: int) -> str:
    """The id of the conversation that a generation of a buffer becomes."""
    return derived("cnv", buffer, str(generation))


def emptied(document: Document) -> Document:
    """A buffer's document with its present generation thrown away."""
    return replace(document, body={**_of_the_store(document), **_emptied(_buffer_in(document)).model_dump(mode="json")})


def _emptied(buffer: Buffer) -> Buffer:
    return Buffer(session_id=buffer.session_id, generation=buffer.generation + 1)


def _buffer_in(document: Document) -> Buffer:
    return Buffer.model_validate({name: value for name, value in document.body.items() if name not in ("epoch", "sequence")})


def _of_the_store(document: Document) -> dict[str, Any]:
    return {name: document.body[name] for name in ("epoch", "sequence")}


def _size(messages: Sequence[Message]) -> int:
    return sum(len(orjson.dumps(message.model_dump(mode="json"))) for message in messages)
