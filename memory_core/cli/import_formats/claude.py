"""Reads conversations.json of Claude."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from memory_core.cli.import_formats.items import (
    Item,
    Json,
    Skipped,
    list_of,
    message_items,
    service_name,
    storable_text,
    time_of_message,
)
from memory_core.cli.import_formats.json_streams import first_character, list_elements


def read_claude(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Messages of conversations.json of Claude.

    Args:
        stream: The opened file.
        name: The name of the file, which is not used.

    """
    first_character(stream)
    for number, conversation in enumerate(list_elements(stream), 1):
        place = f"conversation {number}"
        messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(messages, list):
            yield Skipped("not a conversation", place)
            continue
        session = service_name("claude", conversation.get("uuid"), place)
        when = conversation.get("created_at")
        for index, message in enumerate(messages, 1):
            at = f"{place}, message {index}"
            if not isinstance(message, dict):
                yield Skipped("not a message", at)
                continue
            text = _text_of(message)
            files = [
                item.get("file_name")
                for key in ("attachments", "files")
                for item in list_of(message.get(key))
                if isinstance(item, dict)
            ]
            named = "".join(
                f"\n[file: {storable_text(file)}]"
                for file in files
                if isinstance(file, str) and file
            )
            words, own = (text + named).strip(), message.get("uuid")
            when = time_of_message(message.get("created_at"), when)
            yield from message_items(
                session, message.get("sender"), words, when, own, at, title=conversation.get("name")
            )


def _text_of(message: Json) -> str:
    parts = [
        part.get("text")
        for part in list_of(message.get("content"))
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    text = "\n".join(part for part in parts if isinstance(part, str))
    plain = message.get("text")
    return text if text.strip() or not isinstance(plain, str) else plain
