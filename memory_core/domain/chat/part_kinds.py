"""What a content part is, in the words of any chat API.

APIs and frameworks name the same parts in their own ways: `toolUse`, `tool-call`, `function_call`
and `FunctionCallContent` are calls of a tool. So names are compared in a single form, and the words
in the name of its kind say what a part is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Meaning = Literal["text", "silence", "call", "result", "media", "unknown"]
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TAGS: Final = ("type", "part_kind", "block_type", "content_type", "kind")
"""Fields that name the kind of a part."""
_SILENT_WORDS = frozenset({
    "thinking", "reasoning", "thought", "redacted", "cache", "compaction", "delta", "approval",
    "step", "source", "invalid", "chunk", "usage",
})  # fmt: skip
_SILENT_KINDS = frozenset({"summary_text", "reference", "tool_reference"})
"""Parts that say nothing to a person: thinking, marks of a model's steps, sources of an answer."""
_ENDS_OF_RESULTS = ("result", "response", "return", "output", "retry_prompt", "retry_feedback")
_CALL_WORDS = frozenset({"tool", "function", "executable"})
_TEXT_WORDS = frozenset({"text", "refusal", "prompt", "instruction", "guard", "citations"})
_GENERIC_WORDS = frozenset({
    "tool", "function", "call", "use", "custom", "mcp", "server", "builtin", "dynamic",
    "invocation", "result", "response", "return", "output", "retry", "prompt", "feedback",
    "request",
})  # fmt: skip
"""Words in the kind of a call or a result that don't name the tool."""
_MEDIA = {"image": "image", "audio": "audio", "speech": "audio", "video": "video"} | dict.fromkeys((
    "file", "document", "resource", "upload", "attachment", "plain", "citable", "binary", "blob",
    "media", "data", "uri",
), "file")  # fmt: skip
"""A word of a picture or a file → the word that represents it in the text."""
_MEDIA_WORDS = frozenset({
    *_MEDIA, "input", "output", "url", "inline", "link", "container", "hosted", "reference", "text",
})  # fmt: skip
_MEDIA_TYPES: Final = ("mime_type", "media_type", "content_type", "mimetype", "modality")
_HOLDERS: Final = (
    "document", "resource", "source", "file", "image", "image_url", "audio_url", "video_url",
    "inline_data", "file_data", "s3_location",
)  # fmt: skip


class PartError(ValueError):
    """A part that can't be read.

    `field` is its path within the part, empty for the part itself.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@dataclass(frozen=True, slots=True)
class ContentPart:
    """A content part by what it is.

    Attributes:
        kind: The name of its kind in a single form, such as "tool_call".
        name: The same as it was sent.
        fields: What it holds, by the names of the fields in a single form; none is None.

    """

    kind: str
    name: str
    fields: Mapping[str, Any]

    @property
    def meaning(self) -> Meaning:
        """What the words of the kind say."""
        words = frozenset(self.kind.split("_"))
        if (
            words & _SILENT_WORDS
            or self.kind in _SILENT_KINDS
            or self.name.startswith("data-")  # what a program shows beside the words
        ):
            return "silence"
        if self.kind.endswith(_ENDS_OF_RESULTS):
            return "result"
        if words & _CALL_WORDS or self.kind.endswith("_call"):
            return "call"
        if self.media is not None:
            return "media"
        return "text" if words & _TEXT_WORDS else "unknown"

    @property
    def media(self) -> str | None:
        """`image`, `audio`, `video` or `file`; None for another part."""
        words = self.kind.split("_")
        word = next((_MEDIA[word] for word in words if word in _MEDIA), None)
        if word is None or not _MEDIA_WORDS.issuperset(words):
            return None
        if word == "file":
            for fields in (self.fields, *holders(self.fields).values()):
                for name in _MEDIA_TYPES:
                    given = str(fields.get(name, "")).partition("/")[0].lower()
                    if given in ("image", "audio", "video"):
                        return given
        return word

    @property
    def tool(self) -> str | None:
        """The tool that the kind names, as `web_search` in "web_search_call"; None for none."""
        words = self.kind.split("_")
        while words and words[-1] in _GENERIC_WORDS:
            words.pop()
        return "_".join(words) or None


def one_form(name: str) -> str:
    """A name as Python writes it: `tool_call_id` of `toolCallId` and `tool-call-id`."""
    if name.islower() and name.isidentifier():
        return name
    return _HUMP.sub("_", name.lstrip("$")).replace("-", "_").lower()


def fields_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object by their names in a single form.

    Those that are null are left out. Of two names that are the same, the first counts.
    """
    fields: dict[str, Any] = {}
    for name, field in value.items():
        if field is not None:
            fields.setdefault(one_form(name), field)
    return fields


def holders(fields: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The objects within a part that may hold its label."""
    return {
        name: fields_of(fields[name]) for name in _HOLDERS if isinstance(fields.get(name), Mapping)
    }


def first_of(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first field that is there, or None.

    Args:
        fields: Of a part.
        names: In the order in which they count.

    """
    return next((fields[name] for name in names if name in fields), None)


def part_of(value: Mapping[str, Any]) -> ContentPart:
    """What a content part is.

    A part without a type is named by the field that holds it, as in `{"toolUse": {…}}`, or known by
    the fields that calls, results and texts have.

    Raises PartError for a part that names no kind.
    """
    fields = fields_of(value)
    for tag in _TAGS:
        kind = fields.get(tag)
        if tag == "type" and kind is not None and not isinstance(kind, str):
            raise PartError("type", "should be a text")
        if isinstance(kind, str) and "/" not in kind:
            return _named(kind, fields)
    if "text" in fields:
        return ContentPart("thought" if fields.get("thought") is True else "text", "text", fields)
    if "arguments" in fields and isinstance(fields.get("name"), str):
        return ContentPart("tool_call", "tool_call", fields)
    if "content" in fields and {"call_id", "tool_call_id"} & fields.keys():
        return ContentPart("tool_result", "tool_result", fields)
    if len(fields) == 1 and isinstance(fields.get("data"), str):
        return ContentPart("data", "data", fields)
    for part in _held_by(value, fields):
        if part.meaning != "unknown" or len(fields) == 1:
            return part
    raise PartError("type", "is required")


def is_part(value: Mapping[str, Any]) -> bool:
    """Whether an object is a content part of a known kind."""
    try:
        return part_of(value).meaning != "unknown"
    except PartError:
        return False


def _held_by(value: Mapping[str, Any], fields: Mapping[str, Any]) -> Iterator[ContentPart]:
    """The parts that the fields of a part without a type may be."""
    for name, field in value.items():
        if isinstance(field, Mapping):
            yield ContentPart(one_form(name), name, {**fields, **fields_of(field)})


def _named(name: str, fields: Mapping[str, Any]) -> ContentPart:
    """The part of a kind that a field names."""
    if name.startswith("tool-") and {"state", "tool_call_id"} <= fields.keys():
        return ContentPart("tool_call", name, {"name": name.removeprefix("tool-"), **fields})
    kind = one_form(name)
    if name.endswith("Content"):
        kind = kind.removesuffix("_content")
    inner = fields.get(kind) if kind == "tool_invocation" else None
    return ContentPart(
        kind, name, {**fields, **fields_of(inner)} if isinstance(inner, Mapping) else fields
    )
