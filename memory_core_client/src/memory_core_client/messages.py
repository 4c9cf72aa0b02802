"""Messages of a framework as a call takes them: none too long, no file within,
nothing that a text may not have.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

Json = dict[str, Any]
MOST_BYTES = 32 * 1024
"""Of a message's text."""
MOST_OF_CALL = 900_000
"""Bytes of all messages of a call, below the service's 1 MiB."""
LARGEST = 2**63 - 1
"""Of whole numbers that are sent as such."""
FILE_CHARACTERS, SHOWN_CHARACTERS = 4096, 64
"""More than so many characters of base64 are a file's content, of which so many are sent: the
service keeps none of it.
"""
_BASE64 = re.compile(r"[A-Za-z0-9+/_=%-]*")


def sendable(messages: Sequence[Mapping[str, Any]]) -> list[Json]:
    """The messages that say something, as they can be sent: the last ones where all would be too
    much for a call.

    Texts are cut at `MOST_BYTES`, contents of files are left out. A conversation goes on with what
    a model or a person sent, whatever that is: one message that is refused would be refused in
    each later turn.
    """
    sent: list[Json] = []
    size = 0
    for message in reversed(messages):
        body = message.get("data", message)
        if _is_empty(body if isinstance(body, Mapping) else message):
            continue
        tidied = _tidied(message, MOST_BYTES // _texts_in(body))
        size += len(json.dumps(tidied, default=str))
        if sent and size > MOST_OF_CALL:
            break
        sent.append(tidied)
    return sent[::-1]


def without_bytes(value: Any) -> Any:
    """Messages as JSON has them, without the contents of pictures and files: the service keeps
    none of them, and a photo may be more than a call may have.
    """
    if isinstance(value, Mapping):
        return {str(name): without_bytes(field) for name, field in value.items()}
    if isinstance(value, list | tuple):
        return [without_bytes(item) for item in value]
    if isinstance(value, str):
        return value[:SHOWN_CHARACTERS] if _is_file(value) else value
    if isinstance(value, bytes | bytearray):
        return f"[{type(value).__name__}]"
    return value.isoformat() if isinstance(value, date) else value


def portions(things: Sequence[Any], most: int) -> Iterator[list[Any]]:
    """The things as calls can take them: each time at most so many, and no more bytes than a
    call may have.
    """
    portion: list[Any] = []
    size = 0
    for thing in things:
        length = len(json.dumps(thing, default=str, ensure_ascii=False).encode(errors="replace"))
        if portion and (len(portion) == most or size + length > MOST_OF_CALL):
            yield portion
            portion, size = [], 0
        portion.append(thing)
        size += length
    if portion:
        yield portion


def _is_empty(message: Mapping[str, Any]) -> bool:
    """Whether a message of a role has neither a text nor calls of tools."""
    if "content" not in message:
        return False
    content = message["content"]
    has_text = bool(content.strip("\0 \t\r\n")) if isinstance(content, str) else bool(content)
    return (
        not has_text
        and not message.get("tool_calls")
        and not (message.get("additional_kwargs") or {}).get("tool_calls")
    )


def _texts_in(message: Any) -> int:
    content = message.get("content") if isinstance(message, Mapping) else None
    return max(1, len(content)) if isinstance(content, list | tuple) else 1


def _tidied(value: Any, most: int) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _tidied(field, most) for name, field in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_tidied(item, most) for item in value]
    return _cut(value, most) if isinstance(value, str) else _plain(value)


def _plain(value: Any) -> Any:
    """A value that is no text as JSON has it: frameworks put objects of any kind beside
    what was said.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value.isoformat() if isinstance(value, date) else f"[{type(value).__name__}]"


def _is_file(value: str) -> bool:
    """Whether a text is base64 alone, with or without the beginning of a `data:` URL."""
    head, mark, rest = value[:FILE_CHARACTERS].partition(";base64,")
    is_url = bool(mark) and head.startswith("data:")
    if not is_url and len(value) <= FILE_CHARACTERS:
        return False
    return _BASE64.fullmatch(rest if is_url else value[:FILE_CHARACTERS]) is not None


def _cut(value: str, most: int) -> str:
    if _is_file(value):
        return value[:SHOWN_CHARACTERS]
    text = value.replace("\0", "\ufffd").encode("utf-8", "replace")
    return text[:most].decode(errors="ignore") if len(text) > most else text.decode()
