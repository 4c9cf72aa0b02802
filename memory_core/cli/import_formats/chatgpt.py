"""Reads conversations.json of ChatGPT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from memory_core.cli.import_formats.items import (
    ROLES,
    Item,
    Json,
    Skipped,
    list_of,
    message_items,
    service_name,
    time_of_message,
)
from memory_core.cli.import_formats.json_streams import first_character, list_elements


def read_chatgpt(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Messages of conversations.json of ChatGPT.

    Of each conversation, only the branch counts with which it ended.

    Args:
        stream: The opened file.
        name: The name of the file, which is not used.

    """
    first_character(stream)
    for number, conversation in enumerate(list_elements(stream), 1):
        yield from _conversation_items(conversation, f"conversation {number}")


def _conversation_items(conversation: Any, place: str) -> Iterator[Item]:
    mapping = conversation.get("mapping") if isinstance(conversation, dict) else None
    if not isinstance(mapping, dict):
        yield Skipped("not a conversation", place)
        return
    session = service_name(
        "chatgpt", conversation.get("conversation_id") or conversation.get("id"), place
    )
    branch = _branch(mapping, conversation.get("current_node"))
    given_up = sum(
        1
        for key, node in mapping.items()
        if key not in branch and isinstance(node, dict) and _is_said(node.get("message"))
    )
    for _ in range(given_up):
        yield Skipped("on a branch that was given up", place)
    when = conversation.get("create_time")
    for index, key in enumerate(branch, 1):
        message = mapping[key].get("message")
        if not isinstance(message, dict):
            continue
        at = f"{place}, message {index}"
        content, author = message.get("content"), message.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        if not _is_said(message):
            yield Skipped(_reason_left_out(role, content), at)
            continue
        when = time_of_message(message.get("create_time"), when)
        own = message.get("id") or key
        yield from message_items(
            session, role, _text_of(content), when, own, at, title=conversation.get("title")
        )


def _reason_left_out(role: Any, content: Any) -> str:
    """The reason why a message of a conversation is left out."""
    if not isinstance(role, str) or role not in ROLES:
        return "no role that is known"
    if role in ("system", "tool"):
        return f"of the {role}"
    kind = content.get("content_type") if isinstance(content, dict) else None
    return "not a visible text" if isinstance(kind, str) else "without words"


def _branch(mapping: Json, current: Any) -> dict[str, None]:
    """The keys from the root to the current node.

    Where no current node is named, it is the last node without children.
    """
    if not isinstance(current, str) or current not in mapping:
        leaves = [
            key
            for key, node in mapping.items()
            if isinstance(node, dict) and not node.get("children")
        ]
        current = leaves[-1] if leaves else None
    keys: dict[str, None] = {}
    while (
        isinstance(current, str) and current not in keys and isinstance(mapping.get(current), dict)
    ):
        keys[current] = None
        current = mapping[current].get("parent")
    return dict.fromkeys(reversed(keys))


def _is_said(message: Any) -> bool:
    """Whether the person or the assistant said it, as a visible text."""
    if not isinstance(message, dict):
        return False
    author, content, metadata = (
        message.get("author"),
        message.get("content"),
        message.get("metadata"),
    )
    role = author.get("role") if isinstance(author, dict) else None
    kind = content.get("content_type") if isinstance(content, dict) else None
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    return role in ("user", "assistant") and kind in ("text", "multimodal_text") and not hidden


def _text_of(content: Any) -> str:
    texts = []
    for part in list_of(content.get("parts")) if isinstance(content, dict) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = part.get("content_type")
            text = part.get("text")
            texts.append(
                text
                if isinstance(text, str)
                else "[image]"
                if kind == "image_asset_pointer"
                else "[attachment]"
            )
    return "\n".join(texts).strip()
