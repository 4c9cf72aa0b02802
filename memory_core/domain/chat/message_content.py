"""The content of a message: its place in each form, and its parts.

The texts of the parts are joined by a line break into a single content, and their lengths are kept.
The content is split again as long as the lengths fit it. A redaction, or the cut of a long text,
may have changed the content since: then the whole content is a single part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

SEAM: Final = "\n"
"""The separator of the parts of a content."""
MAX_PARTS: Final = 200
"""Parts whose lengths are kept; the content of more parts is a single text."""
LISTS_OF_PARTS: Final = ("parts", "contents", "blocks", "items")
"""Fields that hold the parts of a message in place of its content."""
_WRAPPERS: Final = ("data", "message", "content")


def lengths_of_parts(content: str, parts: Sequence[str]) -> list[int]:
    """The lengths of the parts in characters.

    There are none where there is a single part, where there are too many parts, or where the
    content is not these parts joined.

    Args:
        content: A message's content.
        parts: The texts that it was joined from.

    """
    if not 1 < len(parts) <= MAX_PARTS or SEAM.join(parts) != content:
        return []
    return [len(part) for part in parts]


def split_content(content: str, lengths: Any) -> list[str]:
    """The texts that a content was joined from.

    Args:
        content: A message's content; an empty content has no texts.
        lengths: The lengths in the message's metadata, which any caller may have written. The
            content stays a single text where they don't fit it.

    """
    if not content:
        return []
    if not isinstance(lengths, list) or not all(
        type(length) is int and length > 0 for length in lengths
    ):
        return [content]
    parts, start = list[str](), 0
    for length in lengths:
        parts.append(content[start : start + length])
        start += length + len(SEAM)
    return parts if SEAM.join(parts) == content else [content]


def text_parts(content: str, lengths: Any) -> list[dict[str, Any]]:
    """The texts that a content was joined from, as content parts of a chat message.

    Args:
        content: A message's content; an empty content has no parts.
        lengths: The lengths in the message's metadata, as for `split_content`.

    """
    return [{"type": "text", "text": text} for text in split_content(content, lengths)]


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
    """The field that holds the content.

    It is `content`, or a list of parts where that is empty.
    """
    content = message.get("content")
    if content is None or (isinstance(content, str) and not content.strip()):
        for name in LISTS_OF_PARTS:
            parts = message.get(name)
            if isinstance(parts, list | tuple) and (parts or "content" not in message):
                return name
    return "content"


def unwrapped(path: str, message: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The message within another object, with its path; other messages as they are.

    The objects are dumps of LangChain (`messages_to_dict` and `dumpd`), events and transcripts of
    agents, and answers of services. A field beside the message, such as a time, counts as if it
    were within.

    Args:
        path: Place of the message in the request, for errors.
        message: As it was sent.

    """
    kind = message.get("type")
    for name in _WRAPPERS:
        inner = message.get(name)
        if not isinstance(inner, Mapping) or ("role" in message and name != "content"):
            continue
        says = {"content", *LISTS_OF_PARTS} & inner.keys()
        if (
            (name == "data" and "content" not in message)
            or (name == "message" and says)
            or (name == "content" and says - {"content"} and "type" not in inner)
        ):
            beside = {field: value for field, value in message.items() if field != name}
            return f"{path}.{name}", {**beside, **inner}
    names = message.get("id")
    if (
        kind == "constructor"
        and isinstance(message.get("kwargs"), Mapping)
        and isinstance(names, Sequence)
        and names
    ):
        return f"{path}.kwargs", {"type": names[-1], **message["kwargs"]}
    return path, message
