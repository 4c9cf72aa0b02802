"""Messages as memories: how they are recognised, and which belong to a memory.

A cell's `source_ids` name its messages. Each of these messages names the cell as `cell_id`, beside
the log. Note: a message may be sent again within a longer cell. It belongs to the cell that it
names, though both cells name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from memory_core.domain.chat.message_content import parts_sent, text_parts
from memory_core.domain.conversation import Conversation, Message
from memory_core.domain.fields import ZONE_FIELD
from memory_core.domain.importance import importance_by_type
from memory_core.domain.memory import BYTES_EACH, Memory, MemoryType, Status
from memory_core.domain.results import SessionMessage
from memory_core.domain.scope import Owner
from memory_core.domain.statements.worth import worth_of

MESSAGE: Final = "message"
"""The category of a message's memory."""
PREFIX: Final = "msg"
"""Prefix of the id of a message's memory; no other memory has such an id."""
EARLIER: Final = "earlier"
"""Marks a message in the metadata that was written after its conversation was formed.

Such a message may come after other messages that were sent later.
"""
PART_LENGTHS: Final = "part_lengths"
"""The metadata field with the characters of each part of a content.

See `chat/content_parts.py`.
"""
WITH_CELL: Final = "cell_deleted"
"""Reason of a message that was deleted together with its cell."""
REQUEST: Final = "request"
"""Reason of a deleted message that contains only a request to forget.

The memories that are formed of its conversation stay.
"""
TAKEN_BACK: Final = "taken back"
"""The `change_reason` of a message that was taken back out of its session.

The memories that were formed of the message have it too.
"""
_WITH_ITS_SESSION: Final = frozenset({"cleared", "forgotten"})

_LINE: Final = re.compile(r"(?P<speaker>[^\n:]{1,200}+): (?P<text>.*)", re.DOTALL)
"""A line of an episode with which a message begins."""


def is_message(memory_id: str) -> bool:
    """Whether an id belongs to the memory of a message as it was said."""
    return memory_id.startswith(f"{PREFIX}_")


def messages_in(memory: Memory) -> Iterator[tuple[str | None, str]]:
    """The messages that a memory tells, each with its actor or role and its text.

    Of an episode they are those of the conversation, else it is the memory itself.
    """
    if memory.episode is None:
        yield memory.actor, memory.content
        return
    known = {"user", "assistant", "system", "tool", *memory.entities}
    actor, text = None, ""
    for line in memory.episode.split("\n"):
        match = _LINE.match(line)
        if match is not None and match["speaker"] in known:
            if actor is not None:
                yield actor, text
            actor, text = match["speaker"], match["text"]
        else:
            text = f"{text}\n{line}"
    if actor is not None:
        yield actor, text


def is_system_message(memory: Memory) -> bool:
    """Whether a memory is a system message: an agent's instructions, no person's words."""
    return memory.category == MESSAGE and memory.metadata.get("role") == "system"


def is_told(memory: Memory) -> bool:
    """Whether a memory came with a call, as a message or an explicit save.

    Memories that a task made of other memories did not.
    """
    return was_sent_as(memory.id, memory.cell_id, memory.consolidation_run)


def was_sent_as(memory_id: str, cell_id: str | None, consolidation_run: str | None) -> bool:
    """Whether a memory with these three fields came with a call, as `is_told` says.

    Args:
        memory_id: The memory's id.
        cell_id: The cell that it belongs to, or None.
        consolidation_run: The run that made it, or None.

    """
    return is_message(memory_id) or (cell_id is None and consolidation_run is None)


def was_taken_back(message: Memory) -> bool:
    """Whether a message was taken back out of its session.

    Such a message is new when it is sent again.
    """
    return message.status is Status.DELETED and message.change_reason == TAKEN_BACK


def is_cell(memory: Memory) -> bool:
    """Whether a memory is a cell that messages were formed into, and no copy."""
    return memory.cell_id == memory.id


def messages_of(memory: Memory) -> list[str]:
    """Ids of the messages that a cell was formed of; empty for other memories."""
    return [name for name in memory.source_ids if is_message(name)] if is_cell(memory) else []


def goes_along(message: Memory, cell: Memory) -> bool:
    """Whether a message is deleted when a cell is.

    Args:
        message: The memory of a message.
        cell: The cell that is deleted.

    """
    return (
        message.cell_id == cell.id
        and message.session_id == cell.session_id
        and message.status is not Status.DELETED
    )


def comes_along(message: Memory, cell: Memory) -> bool:
    """Whether a message is restored together with its cell.

    A message that was deleted by itself is not.

    Args:
        message: The memory of a message.
        cell: The cell with the status reason that it had while it was deleted.

    """
    if message.status is not Status.DELETED or message.cell_id not in (None, cell.id):
        return False
    reason = message.status_reason
    return reason == WITH_CELL or (reason in _WITH_ITS_SESSION and reason == cell.status_reason)


def message_memory(
    owner: Owner, conversation: Conversation, number: int, identity: str, now: datetime
) -> Memory:
    """The memory of a message, not yet analysed.

    A system message is an agent's own text and is not searchable.

    Args:
        owner: The app and the user.
        conversation: The message's conversation.
        number: Index of the message in the conversation, from 0.
        identity: Id of the new memory.
        now: Time of the write.

    """
    message = conversation.messages[number]
    return Memory(
        id=identity,
        app_id=owner.app_id,
        user_id=owner.user_id,
        session_id=conversation.session_id,
        agent_id=conversation.agent_id,
        conversation_id=conversation.id,
        type=MemoryType.EPISODIC,
        category=MESSAGE,
        content=message.content,
        actor=message.actor or message.role,
        source="conversation",
        searchable=message.role != "system",
        metadata=_metadata(message, number) | zone_metadata(conversation),
        importance_base=importance_by_type(MemoryType.EPISODIC, message.content),
        importance_basis="type",
        worth=worth_of(message.content, by_assistant=not message.by_person),
        created_at=now,
        updated_at=now,
        event_timestamp=message.timestamp,
        valid_from=message.timestamp,
        correlation_id=conversation.correlation_id,
    )


def session_message(memory: Memory) -> SessionMessage:
    """A message's memory as the message of a session that the API shows."""
    role = memory.metadata["role"]
    sent = memory.value if isinstance(memory.value, dict) else None
    parts = None if sent is None else parts_sent(sent)
    return SessionMessage(
        id=memory.metadata.get("message_id", memory.id),
        memory_id=memory.id,
        role=role,
        actor=None if memory.actor == role else memory.actor,
        content=memory.content,
        parts=text_parts(memory.content, memory.metadata.get(PART_LENGTHS))
        if parts is None
        else parts,
        timestamp=memory.event_timestamp,
        sent=sent,
    )


def bytes_of_messages(messages: Iterable[Message]) -> int:
    """The least number of bytes that the memories of messages count (`stored_bytes`)."""
    return sum(BYTES_EACH + len(message.content.encode()) for message in messages)


def zone_metadata(conversation: Conversation) -> dict[str, str]:
    """The metadata about a conversation's time zone; empty without a zone."""
    return {} if conversation.time_zone is None else {ZONE_FIELD: conversation.time_zone}


def _metadata(message: Message, number: int) -> dict[str, object]:
    metadata: dict[str, object] = {"role": message.role, "message": number}
    if message.id is not None:
        metadata["message_id"] = message.id
    if message.part_lengths:
        metadata[PART_LENGTHS] = message.part_lengths
    return metadata
