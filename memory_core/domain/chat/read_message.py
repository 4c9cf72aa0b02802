"""Messages of a call as they were read, and with a time each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import overload

from memory_core.domain.chat.message_content import lengths_of_parts
from memory_core.domain.conversation import Message, Role


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message as it was read.

    Attributes:
        role: None where the call may leave it out, and did.
        timestamp: None where none was given.
        parts: The texts that the content was joined from.
        unnamed: The parts of a tool's result without the tool's name.

    """

    role: Role | None
    content: str
    timestamp: datetime | None = None
    actor: str | None = None
    id: str | None = None
    parts: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadMessages(Sequence[ReadMessage]):
    """The messages of a call.

    `ignored` are names of fields and kinds that were given and are unknown.
    """

    messages: tuple[ReadMessage, ...]
    ignored: tuple[str, ...] = ()

    @overload
    def __getitem__(self, place: int) -> ReadMessage: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[ReadMessage]: ...
    def __getitem__(self, place: int | slice) -> ReadMessage | Sequence[ReadMessage]:
        """The message at a place, or the messages of a slice."""
        return self.messages[place]

    def __len__(self) -> int:
        """The number of items."""
        return len(self.messages)

    def __iter__(self) -> Iterator[ReadMessage]:
        """Each item in order."""
        return iter(self.messages)


def timed(messages: Sequence[ReadMessage], now: datetime, role: Role = "user") -> list[Message]:
    """Messages with a time each, ready to be kept.

    A missing time is that of the message before it. For the first message, it is the next given
    time, or `now` where no time is given.

    Args:
        messages: The messages as they were read.
        now: The moment of the call.
        role: The role of a message that names none.

    """
    moment = next((message.timestamp for message in messages if message.timestamp is not None), now)
    result = []
    for message in messages:
        moment = message.timestamp or moment
        result.append(
            Message(
                role=message.role or role,
                content=message.content,
                timestamp=moment,
                actor=message.actor,
                id=message.id,
                part_lengths=lengths_of_parts(message.content, message.parts),
            )
        )
    return result
