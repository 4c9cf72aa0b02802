"""Where each form of message that chat models exchange has its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_core.domain.chat.content_parts import SEAM


def parts_sent(message: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The content of a message as the list of parts that was sent.

    Each part is an object. The result is None where the content was no list.
    """
    _, message = unwrapped("", message)
    content = message.get(name_of_content(message))
    if not isinstance(content, Sequence) or isinstance(content, str):
        return None
    parts = ({"type": "text", "text": part} if isinstance(part, str) else part for part in content)
    return [dict(part) for part in parts if isinstance(part, Mapping)]


def with_joined_texts(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with the texts of all its parts in its first text part.

    Its content is a list of parts.
    """
    path, inner = unwrapped("", message)
    parts = parts_sent(message) or []
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    first = next(
        (place for place, part in enumerate(parts) if isinstance(part.get("text"), str)), None
    )
    joined = [
        {**part, "text": SEAM.join(texts)} if place == first else part
        for place, part in enumerate(parts)
        if place == first or not isinstance(part.get("text"), str)
    ]
    content = {name_of_content(inner): joined}
    wrapper = path.removeprefix(".")
    return (
        {**message, wrapper: {**message[wrapper], **content}} if wrapper else {**message, **content}
    )


def name_of_content(message: Mapping[str, Any]) -> str:
    """The field that holds the content: `parts` in the messages of Google's models."""
    return (
        "parts"
        if "content" not in message and isinstance(message.get("parts"), Sequence)
        else "content"
    )


def unwrapped(path: str, message: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The message within a dump of LangChain, with its path; other messages as they are.

    The dumps are those of `messages_to_dict` and `dumpd`. A field beside `data`, such as a time
    that was added to the dump, counts as if it were within `data`.

    Args:
        path: Place of the message in the request, for errors.
        message: As it was sent.

    """
    kind = message.get("type")
    if isinstance(message.get("data"), Mapping) and not {"role", "content"} & message.keys():
        beside = {name: value for name, value in message.items() if name != "data"}
        return f"{path}.data", {**beside, **message["data"]}
    names = message.get("id")
    if (
        kind == "constructor"
        and isinstance(message.get("kwargs"), Mapping)
        and isinstance(names, Sequence)
        and names
    ):
        return f"{path}.kwargs", {"type": names[-1], **message["kwargs"]}
    return path, message
