"""Content parts of chat messages as text.

Pictures and files become their names. Calls and results of tools are cut short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from memory_core.domain.chat.part_kinds import (
    ContentPart,
    PartError,
    fields_of,
    first_of,
    holders,
    part_of,
)
from memory_core.domain.conversation import Role
from memory_core.domain.errors import is_plain_name
from memory_core.domain.text.fence import without_contexts

MAX_TOOL_CHARACTERS = 2_000
"""Characters that are kept of a tool's call, and of a tool's result."""
MAX_LABEL_CHARACTERS = 200
MAX_DEPTH = 8
"""Levels of lists of parts within parts that are read."""
_LABELS = ("alt", "alt_text", "filename", "file_name", "name", "title", "display_name")
_ADDRESSES = ("url", "uri", "image_url", "document_url", "file_url", "file_uri")
_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id", "id")
_TOOL_NAMES = ("name", "tool_name", "function_name")
_ARGUMENTS = (
    "arguments", "input", "args", "tool_kwargs", "parameters", "action", "actions", "queries",
    "code", "operation",
)  # fmt: skip
_OUTPUTS = ("output", "outputs", "results", "result", "error_text")
"""Fields of a call that hold what came of it."""
_RESULTS = ("content", "output", "result", "response", "results", "outputs", "structured_content")
_DATA_URL = re.compile(
    r"data:(image/|audio/|video/)?[\w.+/-]*+(?:;(?!base64,)[\w.+=-]*+)*;base64,[\w+/=%-]*+",
    re.IGNORECASE,
)
_BYTES = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_NAMES_OF_BYTES = ("data", "encrypted", "signature", "b64", "base64", "bytes", "blob")
"""Beginnings of the names of fields that may hold bytes."""
_LONG_BYTES = 256
"""Characters of base64 that are bytes in a field of any name."""


@dataclass(frozen=True, slots=True)
class PartText:
    """The text of a content part.

    Attributes:
        text: Empty for a part that is dropped.
        role: Whose words it is; None for the message's author. Calls and results are a tool's.
        unknown: The part's type, where the type is unknown.
        from_document: Whether it is the text of a document, of which a message keeps as much as
            fits.

    """

    text: str
    role: Role | None = None
    unknown: str | None = None
    from_document: bool = False


class ToolNames:
    """The names of the tools that were called, by the id of the call."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def add(self, call_id: object, name: str) -> None:
        """Remember the name of a call's tool.

        Args:
            call_id: Id of the call; any other value than a text is ignored.
            name: Name of the tool.

        """
        if isinstance(call_id, str):
            self._names[call_id] = name

    def find(self, *call_ids: object) -> str | None:
        """The tool's name of the first call that is known, or None."""
        return next(
            (
                self._names[call_id]
                for call_id in call_ids
                if isinstance(call_id, str) and call_id in self._names
            ),
            None,
        )


def without_data_urls(text: str) -> str:
    """The text with a label in place of each base64 `data:` URL.

    The labels are `[image]`, `[audio]`, `[video]` and `[file]`.
    """
    if ";base64," not in text.lower():
        return text
    return _DATA_URL.sub(lambda match: f"[{(match[1] or 'file/')[:-1].lower()}]", text)


def describe_result(name: str | None, result: object) -> str:
    """A tool's result as text, at most `MAX_TOOL_CHARACTERS`; empty for an empty result.

    Args:
        name: Name of the tool; None where it is not given.
        result: A text, a list of parts, or any JSON.

    Raises:
        PartError: The result is no JSON.

    """
    text = without_contexts(_result_text(result))
    if not text.strip():
        return ""
    return _cut(f"{name}: {text}" if name else text)


def as_json(value: object) -> str:
    """A text as it is, another value as JSON without bytes, None as nothing.

    Raises PartError for a value without a JSON form.
    """
    if value is None or isinstance(value, str):
        return without_data_urls(value or "")
    try:
        return without_data_urls(json.dumps(_shown_of(value), ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):
        raise PartError("", "can't be written as JSON") from None


def read_part(
    value: Mapping[str, Any], tools: ToolNames, calls: set[str], depth: int = 0
) -> Iterator[PartText]:
    """Read a content part of a message as texts.

    Args:
        value: The part in the form of any chat API.
        tools: Names of the tools that were called so far; a call in this part is added.
        calls: Ids of the calls that this message has given already, which are not repeated; a call
            in this part is added.
        depth: The number of parts that this part lies in.

    Raises:
        PartError: The part has no type, or lacks a field that its type needs.

    """
    part = part_of(value)
    match part.meaning:
        case "silence":
            return
        case "call":
            yield PartText(read_call(part, tools, calls), "tool")
            for output in _outputs(part):
                name = _tool_name(part) or tools.find(*_call_ids(part)) or part.tool
                yield PartText(describe_result(name, output), "tool")
        case "result":
            yield PartText(_read_result(part, tools), "tool")
        case "media":
            yield PartText(read_media(part), from_document=bool(_document_of(part)))
        case "text":
            yield from _read_text(part, tools, calls, depth)
        case "unknown":
            yield _read_unknown(part)


def read_call(part: ContentPart, tools: ToolNames, calls: set[str]) -> str:
    """Read a tool's call as text.

    Args:
        part: The call.
        tools: Names of the tools that were called so far; this call is added.
        calls: Ids of the calls that this message has given already; this call is added. A call that
            is among them gives an empty text.

    Raises:
        PartError: The call does not name its tool, or its arguments are no JSON.

    """
    path, inner = next(
        (
            (f"{name}.", fields_of(part.fields[name]))
            for name in ("function", "custom")
            if isinstance(part.fields.get(name), Mapping)
        ),
        ("", part.fields),
    )
    name = first_of(inner, _TOOL_NAMES)
    name = part.tool if name is None else name
    if not isinstance(name, str) or not name.strip():
        raise PartError(
            f"{path}name", "is required" if name is None else "should be a text that is not empty"
        )
    call_id = next(iter(_call_ids(part)), None)
    if call_id is not None:
        if call_id in calls:
            return ""
        calls.add(call_id)
        tools.add(call_id, name)
    return _cut(f"{name}({as_json(first_of(inner, _ARGUMENTS))})")


def _call_ids(part: ContentPart) -> list[str]:
    ids = (part.fields.get(name) for name in _CALL_IDS)
    return [call_id for call_id in ids if isinstance(call_id, str) and call_id]


def _tool_name(part: ContentPart) -> str | None:
    origin = part.fields.get("origin")
    for fields in (part.fields, fields_of(origin) if isinstance(origin, Mapping) else {}):
        name = first_of(fields, _TOOL_NAMES)
        if isinstance(name, str) and name.strip():
            return name
    return None


def _outputs(part: ContentPart) -> Iterator[object]:
    """What came of a call, where the call holds it, but no picture."""
    for name in _OUTPUTS:
        if name in part.fields and (name != "result" or "image" not in part.kind):
            yield part.fields[name]


def _read_result(part: ContentPart, tools: ToolNames) -> str:
    result = first_of(part.fields, _RESULTS)
    if isinstance(result, Mapping) and "value" in result and isinstance(result.get("type"), str):
        result = result["value"]
    if part.kind == "search_result":
        return describe_result(_label_of(part) or None, result)
    name = tools.find(*_call_ids(part)) or _tool_name(part) or part.tool
    return describe_result(name, result)


def _read_text(
    part: ContentPart, tools: ToolNames, calls: set[str], depth: int
) -> Iterator[PartText]:
    """The words of a part, which may be parts themselves."""
    words = frozenset(part.kind.split("_"))
    role: Role | None = "system" if words & {"system", "instruction"} else None
    name = "refusal" if "refusal" in words else "text"
    text = part.fields.get(name, part.fields.get("content"))
    if isinstance(text, Mapping):
        text = first_of(fields_of(text), ("value", "text"))
    if isinstance(text, Sequence) and not isinstance(text, str) and depth < MAX_DEPTH:
        for inner in text:
            if isinstance(inner, str):
                yield PartText(without_data_urls(inner), role)
            elif isinstance(inner, Mapping):
                yield from read_part(inner, tools, calls, depth + 1)
    elif not isinstance(text, str):
        raise PartError(name, "is required" if text is None else "should be a text")
    else:
        yield PartText(without_data_urls(text), role)


def _read_unknown(part: ContentPart) -> PartText:
    if not is_plain_name(part.name):
        raise PartError("type", "is not a kind of part that is known")
    text = first_of(part.fields, ("text", "content"))
    if isinstance(text, Mapping):
        text = first_of(fields_of(text), ("text", "value"))
    elif isinstance(text, Sequence) and not isinstance(text, str):
        text = "\n".join(_block_text(block) for block in text)
    if isinstance(text, str) and text.strip():
        return PartText(without_data_urls(text), unknown=part.name)
    if not part.fields.keys() - {"type", "id"}:
        return PartText("")
    return PartText(f"[{part.name}]", unknown=part.name)


def read_media(part: ContentPart) -> str:
    """A picture, a recording or a file as its transcript, its text or its name."""
    for holder in (part.fields, part.fields.get("audio"), part.fields.get("input_audio")):
        if (
            isinstance(holder, Mapping)
            and isinstance(holder.get("transcript"), str)
            and holder["transcript"].strip()
        ):
            return without_data_urls(holder["transcript"])
    word, label, text = part.media, _label_of(part), _document_of(part)
    if text:
        quoted = "\n".join(f"> {line}" for line in text.split("\n"))
        return f"[{word}: {label}]\n{quoted}" if label else quoted
    return f"[{word}: {label}]" if label else f"[{word}]"


def _document_of(part: ContentPart) -> str:
    """The plain text of a document; empty where there is none."""
    if part.media != "file":
        return ""
    inner = holders(part.fields)
    for place, holder in (("", part.fields), *inner.items()):
        content, data = holder.get("content"), None
        if holder.get("type") == "text" or (place == "document" and "data" in holder):
            data = as_json(holder.get("data"))
        if isinstance(content, Sequence) and not isinstance(content, str):
            content = "\n".join(filter(str.strip, map(_block_text, content)))
        for text in (holder.get("text"), data, content if place else None):
            if isinstance(text, str) and text.strip():
                return without_data_urls(text).strip()
    return ""


def _label_of(part: ContentPart) -> str:
    """The alternative text, title or file name of a part, or an empty text.

    It has a single line.
    """
    near = [part.fields, *holders(part.fields).values()]
    places = [*near, *(inner for holder in near[1:] for inner in holders(holder).values())]
    names = [place[name] for place in places for name in _LABELS if name in place]
    addresses = [place[name] for place in places for name in _ADDRESSES if name in place]
    labels = (
        " ".join(without_data_urls(label).split())
        for label in (
            *(name for name in names if isinstance(name, str)),
            *(_file_of(address) for address in addresses if isinstance(address, str)),
        )
    )
    return next((label[:MAX_LABEL_CHARACTERS] for label in labels if label), "")


def _file_of(address: str) -> str:
    """The last part of a web address's path.

    The host and the tokens of the query are left out.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return (
        unquote(parts.path.rsplit("/", 1)[-1])
        if parts.scheme in ("http", "https", "gs", "s3")
        else ""
    )


def _result_text(result: object) -> str:
    if not isinstance(result, Sequence) or isinstance(result, str):
        return as_json(result)
    texts: list[str] = []
    size = 0
    for text in map(_block_text, result):
        if text.strip():
            texts.append(text)
            size += len(text)
        if size > MAX_TOOL_CHARACTERS:
            break
    return "\n".join(texts)


def _block_text(block: object) -> str:
    """A block of a tool's result as text.

    Results have blocks of many kinds, and none is refused.
    """
    if isinstance(block, Mapping):
        if isinstance(block.get("text"), str) and block.get("type") != "text-plain":
            return without_data_urls(block["text"])
        if len(block) == 1 and "json" in block:
            return as_json(block["json"])
        with suppress(PartError):
            if (part := part_of(block)).meaning == "media" and ("type" in block or len(block) == 1):
                return read_media(part)
    return as_json(block)


def _shown_of(value: object) -> object:
    """A value without the texts in it that are bytes."""
    if isinstance(value, Mapping):
        return {
            name: _shown_of(field)
            for name, field in value.items()
            if not (isinstance(field, str) and _is_bytes(str(name), field))
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_shown_of(item) for item in value]
    return value


def _is_bytes(name: str, text: str) -> bool:
    named = name.startswith(_NAMES_OF_BYTES)
    return (named or len(text) >= _LONG_BYTES) and _BYTES.fullmatch(text) is not None


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TOOL_CHARACTERS else f"{text[: MAX_TOOL_CHARACTERS - 1]}…"
