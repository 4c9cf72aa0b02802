"""Messages as chat models exchange them, read into messages as they are kept.

The forms are those of OpenAI's chat completions and responses, of Anthropic's messages and of
LangChain. The module is pure and reads no clock. `timed` fills in missing times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from memory_core.domain.chat.message_content import SEAM, name_of_content, unwrapped
from memory_core.domain.chat.message_pieces import MessagePieces
from memory_core.domain.chat.parts import (
    PartError,
    ToolNames,
    describe_call,
    describe_result,
    read_call,
    read_part,
    without_data_urls,
)
from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.conversation import GivenRole, Role
from memory_core.domain.errors import FieldError, Invalid, shown_name
from memory_core.domain.fields import Content, Input, Label, Name
from memory_core.domain.text.timestamps import EventTimestamp

MAX_MESSAGES = 200
MAX_ERRORS = 50
MAX_IGNORED = 50
KNOWN_FIELDS = frozenset({
    # ours
    "role", "content", "timestamp", "actor", "id", "name", "type", "parts", "data",
    # OpenAI's chat completions, and services that speak like it
    "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations", "reasoning",
    "reasoning_content", "reasoning_details", "thinking",
    # OpenAI's responses
    "status", "call_id", "arguments", "output", "outputs", "input", "namespace", "summary",
    "encrypted_content", "phase", "results", "result", "queries", "action", "code",
    "container_id", "server_label", "error", "tools", "approval_request_id",
    "pending_safety_checks", "acknowledged_safety_checks", "created_by", "caller",
    # Anthropic's messages
    "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container",
    "context_management", "cache_control",
    # LangChain
    "additional_kwargs", "response_metadata", "example", "invalid_tool_calls", "usage_metadata",
    "artifact", "tool_call_chunks", "chunk_position", "lc", "kwargs", "graph",
})  # fmt: skip
"""Fields of a message that are read, or ignored without being reported."""
_ROLE_OF_TYPE = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_ROLE_OF_TYPE |= {"system": "system", "developer": "system"}
_OF_CLASS = {
    "Human": "human",
    "AI": "ai",
    "System": "system",
    "Tool": "tool",
    "Function": "function",
    "Chat": "chat",
    "Remove": "remove",
}
_TYPE_OF_CLASS = {
    f"{name}Message{end}": kind for name, kind in _OF_CLASS.items() for end in ("", "Chunk")
}
"""LangChain's classes of messages; a chunk's dump has its class as `type`."""
_MESSAGE_TYPES = frozenset({"message", "chat", *_ROLE_OF_TYPE})
_DROPPED_TYPES = frozenset(
    {
        "reasoning",
        "item_reference",
        "compaction",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "remove",
    }
)
MAY_BE_BLANK = frozenset({"assistant", "ai", "model", "tool", "function"})
"""Roles whose messages may be empty.

A model may only call tools, and a tool may have no output.
"""
_PAYLOADS = ("tool_calls", "function_call", "refusal", "audio")
_OTHER_CONTENTS = ("text", "message", "body", "value")
_SAYING = (
    "content",
    "parts",
    *_PAYLOADS,
    "arguments",
    "output",
    "input",
    "action",
    "queries",
    "code",
)


def read_messages(
    raw: Sequence[Any],
    *,
    now: datetime | None = None,
    roles_optional: bool = False,
    lenient: bool = False,
    path: str = "messages",
) -> tuple[list[ReadMessage], tuple[str, ...]]:
    """Read messages in the forms of the usual chat APIs.

    Args:
        raw: Each message as JSON has it, in any documented form.
        now: No message may be said long after this moment; None checks no times.
        roles_optional: Whether a message may leave out its role, or be a text alone.
        lenient: Whether messages that are empty or can't be kept are ignored instead of refused. It
            is for messages that are not kept.
        path: Prefix of the place in the name of a refused field.

    Returns:
        The messages in order, and the names of ignored fields ("messages.*.foo"). A message may
            become several (its author's words, and the calls and results of tools), or none
            (thinking alone).

    Raises:
        Invalid: Some messages can't be read; each field is named.

    """
    reader = MessageReader(now, path, roles_optional=roles_optional, lenient=lenient)
    for place, message in enumerate(raw):
        reader.read(place, message)
        if len(reader.errors) >= MAX_ERRORS:
            break
    if reader.errors:
        detail = "; ".join(f"{error.field}: {error.message}" for error in reader.errors[:5])
        raise Invalid(detail, errors=tuple(reader.errors[:MAX_ERRORS]))
    return reader.messages, tuple(reader.ignored)


class _Frame(Input):
    """The fields of a message beside its content."""

    role: GivenRole | None = None
    timestamp: EventTimestamp | None = None
    actor: Label | None = None
    name: Label | None = None
    id: Name | None = None


_CONTENT: TypeAdapter[str] = TypeAdapter(Content, config=ConfigDict(defer_build=True))
_MOMENT: TypeAdapter[datetime] = TypeAdapter(EventTimestamp, config=ConfigDict(defer_build=True))
_FRAME_FIELDS = tuple(_Frame.model_fields)


class MessageReader:
    """Reads the messages of a call in order.

    A tool's result takes its name from an earlier call of the tool.
    """

    def __init__(
        self, now: datetime | None, path: str, *, roles_optional: bool, lenient: bool
    ) -> None:
        self._now, self._root, self._roles_optional, self._lenient = (
            now,
            path,
            roles_optional,
            lenient,
        )
        self._tools = ToolNames()
        self.messages: list[ReadMessage] = []
        self.errors: list[FieldError] = []
        self.ignored: dict[str, None] = {}

    def said(self, place: int, message: Any) -> list[ReadMessage]:
        """Read a message leniently: a message that can't be read gives no messages.

        Args:
            place: The message's index in the call.
            message: The message as JSON has it.

        Returns:
            The messages that it becomes.

        """
        before = len(self.messages)
        self.read(place, message)
        self.errors.clear()
        return self.messages[before:]

    def read(self, place: int, message: Any) -> None:
        """Read a message; its faults are added to the errors.

        Args:
            place: The message's index in the call.
            message: The message as JSON has it.

        """
        path, before = f"{self._root}.{place}", len(self.errors)
        if isinstance(message, str) and self._roles_optional:
            message = {"content": message}
        if not isinstance(message, Mapping):
            self._refuse(path, "should be an object")
            return
        outer = message
        path, message = unwrapped(path, message)
        created_at = self._created_at(message)
        for name in dict.fromkeys([*outer, *message]):
            if name not in KNOWN_FIELDS and (name != "created_at" or created_at is None):
                self._ignore(shown_name(name))
        kind = message.get("type")
        if kind is not None and not isinstance(kind, str):
            self._refuse(f"{path}.type", "should be a text")
            return
        kind = _TYPE_OF_CLASS.get(kind, kind) if kind is not None else None
        if created_at is not None and message.get("timestamp") is None:
            message = {**message, "timestamp": created_at}
        frame = self._frame(path, message, kind)
        if frame is None or (kind in _DROPPED_TYPES and "role" not in message):
            return
        pieces = MessagePieces()
        try:
            if self._is_tool_item(kind, message):
                self._read_item(path, message, str(kind), pieces)
            elif kind is None or kind in _MESSAGE_TYPES or "role" in message:
                self._read_message(path, message, frame, pieces)
            else:
                self._refuse(f"{path}.type", "is not a kind of message that is known")
        except PartError as error:
            self._pass_over(f"{path}.{error.field}" if error.field else path, error.message)
        if len(self.errors) == before:
            self._add(path, message, frame, pieces)

    def _created_at(self, message: Mapping[str, Any]) -> datetime | None:
        """The moment in `created_at`: a text with a time zone, or seconds since 1970.

        None where it is no such moment.
        """
        given = message.get("created_at")
        try:
            if isinstance(given, (int, float)) and not isinstance(given, bool):
                given = datetime.fromtimestamp(given, timezone.utc)
            return _MOMENT.validate_python(given, context={"now": self._now})
        except (ValidationError, ValueError, OverflowError, OSError):
            return None

    def _frame(self, path: str, message: Mapping[str, Any], kind: str | None) -> _Frame | None:
        """Role, time and names of a message; None where they are refused."""
        given = {name: message[name] for name in _FRAME_FIELDS if message.get(name) is not None}
        if self._is_tool_item(kind, message) or (kind in _DROPPED_TYPES and "role" not in message):
            given.pop("name", None)
            given["role"] = "tool"
        elif kind in _ROLE_OF_TYPE and "role" not in given:
            given["role"] = _ROLE_OF_TYPE[kind]
        elif "role" not in given and not self._roles_optional:
            known = kind is None or kind in _MESSAGE_TYPES
            self._refuse(
                f"{path}.role" if known else f"{path}.type",
                "is required" if known else "is not a kind of message that is known",
            )
            return None
        try:
            return _Frame.model_validate(given, context={"now": self._now})
        except ValidationError as error:
            wrong = {
                str(details["loc"][0]): error_words(details)
                for details in error.errors(include_url=False)
            }
        if self._lenient and "role" not in wrong:
            return _Frame.model_validate(
                {name: value for name, value in given.items() if name not in wrong},
                context={"now": self._now},
            )
        for name, message_of_error in wrong.items():
            self._refuse(f"{path}.{name}", message_of_error)
        return None

    def _is_tool_item(self, kind: str | None, message: Mapping[str, Any]) -> bool:
        return (
            kind is not None
            and kind not in _MESSAGE_TYPES
            and "role" not in message
            and kind.endswith(("_call", "_output"))
        )

    def _read_item(
        self, path: str, item: Mapping[str, Any], kind: str, pieces: MessagePieces
    ) -> None:
        """Read an item of OpenAI's responses that is a tool's call or its output."""
        if kind.endswith("_output"):
            if "output" not in item:
                raise PartError("output", "is required")
            name = self._tools.find(item.get("call_id")) or kind.removesuffix(
                "_output"
            ).removesuffix("_call")
            pieces.add(
                describe_result(
                    None if name in ("function", "custom_tool") else name, item["output"]
                ),
                from_tool=True,
            )
            return
        if kind in ("function_call", "custom_tool_call", "mcp_call"):
            pieces.add(read_call(item, self._tools, set()), from_tool=True)
        else:
            name = kind.removesuffix("_call")
            self._tools.add(item.get("call_id") or item.get("id"), name)
            arguments = next(
                (
                    item[key]
                    for key in ("action", "queries", "code", "arguments", "input")
                    if item.get(key) is not None
                ),
                None,
            )
            pieces.add(describe_call(name, arguments), from_tool=True)
        for field_name in ("output", "outputs", "results"):
            if item.get(field_name) is not None:
                pieces.add(
                    describe_result(
                        str(item.get("name") or kind.removesuffix("_call")), item[field_name]
                    ),
                    from_tool=True,
                )

    def _read_message(
        self, path: str, message: Mapping[str, Any], frame: _Frame, pieces: MessagePieces
    ) -> None:
        content_field = name_of_content(message)
        content, calls = message.get(content_field), set[str]()
        beside = any(message.get(name) is not None for name in _PAYLOADS)
        silent = frame.role in MAY_BE_BLANK
        if content_field not in message and not beside:
            other = next((name for name in _OTHER_CONTENTS if name in message), None)
            self._pass_over(
                f"{path}.content",
                f"is required; {other} is no field of a message" if other else "is required",
            )
        elif isinstance(content, str):
            if not content.strip() and not beside and not silent:
                self._pass_over(f"{path}.content", "must not be empty")
            pieces.add(without_data_urls(content), from_tool=False)
        elif isinstance(content, Sequence):
            if not content and not beside and not silent:
                self._pass_over(f"{path}.{content_field}", "must not be empty")
            self._read_parts(f"{path}.{content_field}", content, calls, pieces)
        elif content is not None:
            self._refuse(f"{path}.content", "should be a text, a list of parts, or null")
        elif not beside and not silent:
            self._pass_over(
                f"{path}.content", "must not be null in a message of a user or a system"
            )
        self._read_payloads(path, message, calls, pieces)
        if frame.role == "tool":
            name = frame.name or self._tools.find(
                message.get("tool_call_id"), message.get("call_id")
            )
            pieces.doings[:] = [
                *pieces.doings,
                *filter(None, [describe_result(name, "\n".join(pieces.words))]),
            ]
            pieces.unnamed, pieces.words = pieces.words, []

    def _read_parts(
        self, path: str, parts: Sequence[Any], calls: set[str], pieces: MessagePieces
    ) -> None:
        for place, part in enumerate(parts):
            if len(self.errors) >= MAX_ERRORS:
                return
            if isinstance(part, str):
                pieces.add(without_data_urls(part), from_tool=False)
            elif isinstance(part, Mapping):
                try:
                    read = read_part(part, self._tools, calls)
                except PartError as error:
                    self._pass_over(
                        f"{path}.{place}.{error.field}" if error.field else f"{path}.{place}",
                        error.message,
                    )
                    continue
                if read.unknown is not None:
                    self._ignore(f"content.*.{read.unknown}")
                pieces.add(read.text, from_tool=read.from_tool, from_document=read.from_document)
            else:
                self._refuse(f"{path}.{place}", "should be an object or a text")

    def _read_payloads(
        self, path: str, message: Mapping[str, Any], calls: set[str], pieces: MessagePieces
    ) -> None:
        """Read the texts beside a message's content: a refusal, speech, calls of tools."""
        refusal, audio = message.get("refusal"), message.get("audio")
        if isinstance(refusal, str):
            pieces.add(without_data_urls(refusal), from_tool=False)
        elif refusal is not None:
            self._pass_over(f"{path}.refusal", "should be a text or null")
        if isinstance(audio, Mapping):
            pieces.add(
                read_part({"type": "audio", **audio}, self._tools, calls).text, from_tool=False
            )
        elif audio is not None:
            self._pass_over(f"{path}.audio", "should be an object or null")
        called = message.get("tool_calls")
        if called is not None and (not isinstance(called, Sequence) or isinstance(called, str)):
            self._pass_over(f"{path}.tool_calls", "should be a list or null")
            called = None
        function = message.get("function_call")
        for name, call in [
            *((f"tool_calls.{place}", call) for place, call in enumerate(called or ())),
            ("function_call", function),
        ]:
            if (call is None and name == "function_call") or len(self.errors) >= MAX_ERRORS:
                continue
            if not isinstance(call, Mapping):
                self._pass_over(f"{path}.{name}", "should be an object")
                continue
            try:
                pieces.add(read_call(call, self._tools, calls), from_tool=True)
            except PartError as error:
                self._pass_over(
                    f"{path}.{name}.{error.field}" if error.field else f"{path}.{name}",
                    error.message,
                )

    def _add(
        self, path: str, message: Mapping[str, Any], frame: _Frame, pieces: MessagePieces
    ) -> None:
        pieces.cut_documents()
        words: list[tuple[Role | None, list[str]]] = (
            [(frame.role, pieces.words)] if pieces.words else []
        )
        doings: list[tuple[Role | None, list[str]]] = [("tool", pack) for pack in pieces.packs()]
        speaker = frame.actor or (None if frame.role == "tool" else frame.name)
        for number, (role, texts) in enumerate(
            [*doings, *words] if pieces.tools_first else [*words, *doings]
        ):
            text = SEAM.join(texts)
            try:
                _CONTENT.validate_python(text)
            except ValidationError as error:
                place = next((name for name in _SAYING if message.get(name) is not None), "content")
                self._pass_over(f"{path}.{place}", error_words(error.errors(include_url=False)[0]))
                if not self._lenient:
                    return
            identity = frame.id if number == 0 or frame.id is None else f"{frame.id}#{number}"
            actor = speaker if role == frame.role else None
            unnamed = tuple(pieces.unnamed) if role == "tool" else ()
            self.messages.append(
                ReadMessage(role, text, frame.timestamp, actor, identity, tuple(texts), unnamed)
            )

    def _ignore(self, name: str) -> None:
        if len(self.ignored) < MAX_IGNORED:
            self.ignored[f"{self._root}.*.{name}"] = None

    def _pass_over(self, field_name: str, message: str) -> None:
        """Refuse a part that a lenient reader ignores."""
        if not self._lenient:
            self._refuse(field_name, message)

    def _refuse(self, field_name: str, message: str) -> None:
        self.errors.append(FieldError(field_name, message))


def error_words(details: Any) -> str:
    """The message of a pydantic error, without its value."""
    if details["type"] == "value_error":
        return str(details["ctx"]["error"])
    if details["type"] == "string_too_short":
        return "must not be empty"
    if details["type"] == "string_too_long":
        return f"may have at most {details['ctx']['max_length']:,} characters"
    return str(details["msg"]).replace("Input should", "should", 1)
