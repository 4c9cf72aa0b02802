"""Messages as memories: what tells the memory of one message, as it was said, from all others,
and which belong to a memory.

A cell's `source_ids` name its messages; each of these names the cell as `cell_id`, beside the log.
Note: a message may be told again within a longer cell. It belongs to the one that it names,
though both cells name it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from memory_core.domain.chat.content_parts import text_parts
from memory_core.domain.chat.message_forms import parts_sent
from memory_core.domain.conversation import Conversation, Message
from memory_core.domain.fields import ZONE_FIELD
from memory_core.domain.importance import importance_by_type
from memory_core.domain.memory import BYTES_EACH, Memory, MemoryType, Status
from memory_core.domain.results import SessionMessage
from memory_core.domain.scope import Owner
from memory_core.domain.statements.worth import worth_of

MESSAGE: Final = "message"
"""The category of the memory of one message."""
PREFIX: Final = "msg"
"""What the id of a message's memory begins with; nothing else has such an id."""
EARLIER: Final = "earlier"
"""Marks in the metadata a message that was written after its conversation was formed, hence maybe
after others that were told later.
"""
PART_LENGTHS: Final = "part_lengths"
"""In the metadata of a message whose content was several parts: how many characters each has
(`chat/content_parts.py`).
"""
WITH_CELL: Final = "cell_deleted"
"""Why a message is deleted that went with its cell."""
REQUEST: Final = "request"
"""Why a message is deleted that says nothing but what is to be forgotten; what is formed of its
conversation stays.
"""
TAKEN_BACK: Final = "taken back"
"""The `change_reason` of a message, and of what came of it, that was taken back out of
its session.
"""
_WITH_ITS_SESSION: Final = frozenset({"cleared", "forgotten"})


def is_message(memory_id: str) -> bool:
    """Whether a memory is a message as it was said, by its id."""
    return memory_id.startswith(f"{PREFIX}_")


def is_instruction(memory: Memory) -> bool:
    """Whether it is a system message: instructions that the agent has, no person's words."""
    return memory.category == MESSAGE and memory.metadata.get("role") == "system"


def is_told(memory: Memory) -> bool:
    """Whether a memory came with a call, as a message or saved by hand, and was not made of other
    memories by a task.
    """
    return is_told_as(memory.id, memory.cell_id, memory.consolidation_run)


def is_told_as(memory_id: str, cell_id: str | None, consolidation_run: str | None) -> bool:
    """The same by the three fields that say so."""
    return is_message(memory_id) or (cell_id is None and consolidation_run is None)


def is_untold(message: Memory) -> bool:
    """Whether a message was taken back out of its session, so that it is new when it
    is told again.
    """
    return message.status is Status.DELETED and message.change_reason == TAKEN_BACK


def is_cell(memory: Memory) -> bool:
    """Whether a memory is what messages were formed into, and no copy of that."""
    return memory.cell_id == memory.id


def messages_of(memory: Memory) -> list[str]:
    """The ids of the messages that a memory was formed of; none of what is no cell."""
    return [name for name in memory.source_ids if is_message(name)] if is_cell(memory) else []


def goes_along(message: Memory, cell: Memory) -> bool:
    """Whether a message is deleted when its cell is."""
    return (
        message.cell_id == cell.id
        and message.session_id == cell.session_id
        and message.status is not Status.DELETED
    )


def comes_along(message: Memory, cell: Memory) -> bool:
    """Whether a message comes back with its cell, which is as it was deleted: not one that was
    deleted by itself.
    """
    if message.status is not Status.DELETED or message.cell_id not in (None, cell.id):
        return False
    reason = message.status_reason
    return reason == WITH_CELL or (reason in _WITH_ITS_SESSION and reason == cell.status_reason)


def message_memory(
    owner: Owner, conversation: Conversation, number: int, identity: str, now: datetime
) -> Memory:
    """The memory of one message, not yet analysed."""
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
        metadata=_metadata(message, number) | zone_told(conversation),
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
    """The message of a session that a memory is, as the API shows it."""
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
    """How many bytes the memories of messages count, at least (`stored_bytes`)."""
    return sum(BYTES_EACH + len(message.content.encode()) for message in messages)


def zone_told(conversation: Conversation) -> dict[str, str]:
    """What the metadata of a memory that was told in a conversation says of its time zone."""
    return {} if conversation.time_zone is None else {ZONE_FIELD: conversation.time_zone}


def _metadata(message: Message, number: int) -> dict[str, object]:
    metadata: dict[str, object] = {"role": message.role, "message": number}
    if message.id is not None:
        metadata["message_id"] = message.id
    if message.part_lengths:
        metadata[PART_LENGTHS] = message.part_lengths
    return metadata
