"""Content parts of chat messages as text.

Pictures and files become their names. Calls and results of tools are cut short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from memory_core.domain.errors import is_plain_name
from memory_core.domain.text.fence import without_contexts

MAX_TOOL_CHARACTERS = 2_000
"""Characters that are kept of a tool's call, and of a tool's result."""
MAX_LABEL_CHARACTERS = 200
TEXTS = frozenset({"text", "input_text", "output_text"})
THOUGHTS = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "reasoning",
        "reasoning_content",
        "reasoning_text",
        "summary_text",
    }
)
_MEDIA = {
    **dict.fromkeys(("image", "image_url", "input_image", "output_image"), "image"),
    **dict.fromkeys(("audio", "audio_url", "input_audio", "output_audio"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("file", "file_url", "input_file", "document", "container_upload"), "file"),
}
"""The type of a part → the word that represents it in the text."""
UNTYPED = (
    "text",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "inlineData",
    "fileData",
)
"""Fields that tell the kind of a part without a type."""
_NAMES = ("alt", "alt_text", "filename", "file_name", "name", "title", "displayName")
_ADDRESSES = ("url", "image_url", "file_url", "fileUri")
_HOLDERS = (
    "image_url",
    "audio_url",
    "video_url",
    "file",
    "source",
    "image",
    "document",
    "inlineData",
    "fileData",
)
_DATA_URL = re.compile(
    r"data:(image/|audio/|video/)?[\w.+/-]*+(?:;(?!base64,)[\w.+=-]*+)*;base64,[\w+/=%-]*+",
    re.IGNORECASE,
)
_NEVER_SHOWN = ("encrypted", "data", "signature", "b64")


@dataclass(frozen=True, slots=True)
class PartText:
    """The text of a content part.

    Attributes:
        text: Empty for a part that is dropped.
        from_tool: Whether it is a tool's call or result, not the words of the message's author.
        unknown: The part's type, where the type is unknown.
        from_document: Whether it is the text of a document, of which a message keeps as much as
            fits.

    """

    text: str
    from_tool: bool = False
    unknown: str | None = None
    from_document: bool = False


class PartError(ValueError):
    """A part that can't be read.

    `field` is its path within the part, empty for the part itself.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


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


def describe_call(name: str, arguments: object) -> str:
    """A tool's call as text, at most `MAX_TOOL_CHARACTERS`.

    Args:
        name: Name of the tool.
        arguments: A text, or any JSON.

    Raises:
        PartError: The arguments are no JSON.

    """
    return _cut(f"{name}({as_json(arguments)})")


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
    """A text as it is, any other value as JSON; None gives an empty text.

    Raises PartError for a value without a JSON form.
    """
    if value is None or isinstance(value, str):
        return without_data_urls(value or "")
    try:
        return without_data_urls(json.dumps(value, ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):
        raise PartError("", "can't be written as JSON") from None


def read_part(part: Mapping[str, Any], tools: ToolNames, calls: set[str]) -> PartText:
    """Read a content part of a message as text.

    Args:
        part: The part in the form of any of the usual chat APIs.
        tools: Names of the tools that were called so far; a call in this part is added.
        calls: Ids of the calls that this message has given already, which are not repeated; a call
            in this part is added.

    Raises:
        PartError: The part has no type, or lacks a field that its type needs.

    """
    kind = part.get("type")
    if kind is None:
        return _read_untyped(part, tools)
    if not isinstance(kind, str):
        raise PartError("type", "should be a text")
    if kind in TEXTS:
        return PartText(_text_of(part, "text"))
    if kind == "refusal":
        return PartText(_text_of(part, "refusal"))
    if kind in THOUGHTS:
        return PartText("")
    if kind in _MEDIA:
        return PartText(_read_media(_MEDIA[kind], part), from_document=bool(_document_of(part)))
    if kind.endswith("tool_use") or kind == "tool_call":
        return PartText(read_call(part, tools, calls), from_tool=True)
    if kind.endswith("tool_result"):
        name = (
            tools.find(part.get("tool_use_id"), part.get("tool_call_id"))
            or kind.removesuffix("tool_result").strip("_")
            or None
        )
        return PartText(describe_result(name, part.get("content")), from_tool=True)
    if kind == "search_result":
        return PartText(
            describe_result(_label_of(part) or None, part.get("content")), from_tool=True
        )
    if not is_plain_name(kind):
        raise PartError("type", "is not a kind of part that is known")
    text = part.get("text")
    return PartText(without_data_urls(text) if isinstance(text, str) else f"[{kind}]", unknown=kind)


def read_call(call: Mapping[str, Any], tools: ToolNames, calls: set[str]) -> str:
    """Read a tool's call in any of the usual forms as text.

    Args:
        call: The call.
        tools: Names of the tools that were called so far; this call is added.
        calls: Ids of the calls that this message has given already; this call is added. A call that
            is among them gives an empty text.

    Raises:
        PartError: The call does not name its tool, or its arguments are no JSON.

    """
    field, inner = next(
        (
            (field, call[field])
            for field in ("function", "custom")
            if isinstance(call.get(field), Mapping)
        ),
        ("", call),
    )
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        raise PartError(
            f"{field}.name" if field else "name",
            "is required" if name is None else "should be a text that is not empty",
        )
    call_id = call.get("call_id") or call.get("id")
    if isinstance(call_id, str):
        if call_id in calls:
            return ""
        calls.add(call_id)
        tools.add(call_id, name)
    return describe_call(
        name, next((inner[key] for key in ("arguments", "input", "args") if key in inner), None)
    )


def _read_untyped(part: Mapping[str, Any], tools: ToolNames) -> PartText:
    """Read a part without a type, whose kind follows from the name of a field."""
    if "text" in part:
        return PartText("" if part.get("thought") is True else _text_of(part, "text"))
    for field in ("functionCall", "function_call"):
        if isinstance(part.get(field), Mapping):
            return PartText(read_call(part[field], tools, set()), from_tool=True)
    for field in ("functionResponse", "function_response"):
        if isinstance(part.get(field), Mapping):
            name = part[field].get("name")
            return PartText(
                describe_result(
                    name if isinstance(name, str) else None, part[field].get("response")
                ),
                from_tool=True,
            )
    for field in ("inlineData", "fileData"):
        if isinstance(part.get(field), Mapping):
            media = str(part[field].get("mimeType", "")).partition("/")[0]
            return PartText(
                _read_media(media if media in ("image", "audio", "video") else "file", part)
            )
    raise PartError("type", "is required")


def _text_of(part: Mapping[str, Any], field: str) -> str:
    text = part.get(field)
    if isinstance(text, Mapping):
        text = text.get("value")
    if not isinstance(text, str):
        raise PartError(field, "is required" if text is None else "should be a text")
    return without_data_urls(text)


def _read_media(word: str, part: Mapping[str, Any]) -> str:
    for holder in (part, part.get("audio"), part.get("input_audio")):
        if (
            isinstance(holder, Mapping)
            and isinstance(holder.get("transcript"), str)
            and holder["transcript"].strip()
        ):
            return without_data_urls(holder["transcript"])
    label, text = _label_of(part), _document_of(part)
    if text:
        quoted = "\n".join(f"> {line}" for line in text.split("\n"))
        return f"[{word}: {label}]\n{quoted}" if label else quoted
    return f"[{word}: {label}]" if label else f"[{word}]"


def _document_of(part: Mapping[str, Any]) -> str:
    """The plain text in the source of Anthropic's documents; empty where there is none."""
    source = part.get("source")
    if part.get("type") != "document" or not isinstance(source, Mapping):
        return ""
    if source.get("type") == "text" and isinstance(source.get("data"), str):
        return without_data_urls(source["data"]).strip()
    blocks = source.get("content") if source.get("type") == "content" else None
    if isinstance(blocks, str):
        return without_data_urls(blocks).strip()
    if not isinstance(blocks, Sequence) or not any(
        isinstance(block, Mapping) and isinstance(block.get("text"), str) for block in blocks
    ):
        return ""
    return "\n".join(filter(str.strip, map(_block_text, blocks)))


def _label_of(part: Mapping[str, Any]) -> str:
    """The alternative text, title or file name of a part, or an empty text.

    It has a single line.
    """
    holders = [part, *(part[field] for field in _HOLDERS if isinstance(part.get(field), Mapping))]
    names = [
        holder[field]
        for holder in holders
        for field in _NAMES
        if isinstance(holder.get(field), str)
    ]
    addresses = [
        holder[field]
        for holder in holders
        for field in _ADDRESSES
        if isinstance(holder.get(field), str)
    ]
    labels = (
        " ".join(without_data_urls(label).split()) for label in (*names, *map(_file_of, addresses))
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
        return as_json(_shown_of(result))
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
        kind = block.get("type")
        if isinstance(block.get("text"), str):
            return without_data_urls(block["text"])
        if isinstance(kind, str) and kind in _MEDIA:
            return _read_media(_MEDIA[kind], block)
    return as_json(_shown_of(block))


def _shown_of(value: object) -> object:
    """A result without the fields that hold bytes."""
    if not isinstance(value, Mapping):
        return value
    return {name: item for name, item in value.items() if not str(name).startswith(_NEVER_SHOWN)}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TOOL_CHARACTERS else f"{text[: MAX_TOOL_CHARACTERS - 1]}…"
