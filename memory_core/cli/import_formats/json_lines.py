"""Reads JSON Lines of messages or memories, with the fields that the service takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from memory_core.cli.import_formats.items import (
    Item,
    SavedMemory,
    Skipped,
    message_items,
    role_of,
    service_name,
    storable,
    time_of_message,
)
from memory_core.cli.import_formats.json_streams import objects_of
from memory_core.domain.chat.messages import MessageReader

SAVE_FIELDS = frozenset(
    {
        "type",
        "content",
        "session_id",
        "agent_id",
        "category",
        "subject",
        "attribute",
        "key",
        "value",
        "actor",
        "action_type",
        "source",
        "entities",
        "foresight",
        "event_timestamp",
        "valid_from",
        "valid_until",
        "tags",
        "metadata",
        "importance",
        "confidence",
        "pinned",
        "searchable",
    }
)
"""Fields of a line that a save takes."""
_MADE_BY_SERVICE = frozenset(
    {
        "id",
        "user_id",
        "app_id",
        "status",
        "version",
        "created_at",
        "updated_at",
        "embedding",
        "etag",
    }
)
"""Fields of a memory as the service shows it, which a save does not take."""


def read_messages(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Messages or conversations, each on a line.

    A message has `role` and `content`, and a conversation has `messages`. Contents are read as by
    the service, so a message with calls of tools becomes several.

    Args:
        stream: The opened file.
        name: The name of the file, for the session of messages without a session.

    """
    default = service_name("import", name, "file")
    counts: dict[str, int] = {}
    times: dict[str, Any] = {}
    reader = MessageReader(None, "messages", roles_optional=False, lenient=True)
    for place, entry in objects_of(stream):
        if isinstance(entry, Skipped):
            yield entry
            continue
        messages = entry.get("messages")
        several = isinstance(messages, list)
        for index, message in enumerate(messages if isinstance(messages, list) else [entry], 1):
            at = f"{place}, message {index}" if several else place
            if not isinstance(message, dict):
                yield Skipped("not a message", at)
                continue
            given = (
                entry.get("session_id") or entry.get("conversation_id") or message.get("session_id")
            )
            session = (
                default
                if not given and not several
                else service_name("", given, f"{default}-{place}")
            )
            counts[session] = counts.get(session, 0) + 1
            own = message.get("id") or f"{session}-{counts[session]}"
            times[session] = when = time_of_message(
                message.get("timestamp") or message.get("created_at"),
                times.get(session, entry.get("created_at")),
            )
            role = message.get("role")
            pieces = reader.said(index, {**message, "role": role_of(role)})
            actor = message.get("actor") or message.get("name")
            title = entry.get("title") or entry.get("session_title")
            if not pieces:
                yield from message_items(session, role, "", when, own, at)
            for number, piece in enumerate(pieces):
                yield from message_items(
                    session,
                    piece.role,
                    piece.content,
                    when,
                    f"{own}.part{number}" if number else own,
                    at,
                    actor if piece.role == role_of(role) else None,
                    title,
                )


def read_memories(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Memories, each on a line, with the fields of a save.

    Other fields become part of their metadata.

    Args:
        stream: The opened file.
        name: The name of the file, which is not used.

    """
    for place, entry in objects_of(stream):
        if isinstance(entry, Skipped):
            yield entry
            continue
        fields = {
            field: value
            for field, value in entry.items()
            if field in SAVE_FIELDS and value is not None
        }
        if not fields.get("content") and fields.get("value") is None:
            yield Skipped("no content", place)
            continue
        others = {
            field: value
            for field, value in entry.items()
            if field not in SAVE_FIELDS | _MADE_BY_SERVICE and value is not None
        }
        metadata = fields.get("metadata")
        if others or metadata:
            fields["metadata"] = {
                **others,
                **(
                    metadata
                    if isinstance(metadata, dict)
                    else {"metadata": metadata}
                    if metadata
                    else {}
                ),
            }
        yield SavedMemory(storable({"type": "semantic", "source": "import", **fields}), place)
