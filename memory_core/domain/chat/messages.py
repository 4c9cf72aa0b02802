"""Messages as chat models exchange them, read into messages as they are kept.

The forms are those of OpenAI's chat completions and responses, of Anthropic's messages and of
LangChain. The module is pure and reads no clock. `timed` fills in missing times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from memory_core.domain.chat.message_content import LISTS_OF_PARTS, SEAM, name_of_content, unwrapped
from memory_core.domain.chat.message_frame import (
    DROPPED_TYPES,
    KNOWN_FIELDS,
    MESSAGE_TYPES,
    Frame,
    created_at,
    frame_fields,
    in_one_form,
    kind_of,
)
from memory_core.domain.chat.message_pieces import MessagePieces
from memory_core.domain.chat.part_kinds import ContentPart, PartError, fields_of, is_part, one_form
from memory_core.domain.chat.parts import (
    ToolNames,
    describe_result,
    read_call,
    read_media,
    read_part,
    without_data_urls,
)
from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.conversation import Role
from memory_core.domain.errors import FieldError, Invalid, shown_name
from memory_core.domain.fields import Content

MAX_MESSAGES = 200
MAX_ERRORS = 50
MAX_IGNORED = 50
MAY_BE_BLANK = frozenset({"assistant", "ai", "model", "tool", "function"})
"""Roles whose messages may be empty.

A model may only call tools, and a tool may have no output.
"""
PAYLOADS = ("tool_calls", "function_call", "refusal", "audio")
"""Fields beside a content that say something."""
ATTACHED = ("images", "attachments", "experimental_attachments")
"""Lists of pictures and files beside a content."""
_OTHER_CONTENTS = ("text", "message", "body", "value")
_NO_ROLE = "is required: user, assistant, system or tool"
_NO_TYPE = "is not a kind of message that is known; a message has a role and a content"
_SAYING = (
    "content",
    *LISTS_OF_PARTS,
    *PAYLOADS,
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


_CONTENT: TypeAdapter[str] = TypeAdapter(Content, config=ConfigDict(defer_build=True))


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
        """Read a message leniently, and keep nothing of it but the names of its tools.

        A message that can't be read gives no messages.

        Args:
            place: The message's index in the call.
            message: The message as JSON has it.

        Returns:
            The messages that it becomes.

        """
        self.read(place, message)
        messages, self.messages = self.messages, []
        self.errors.clear()
        return messages

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
        given = message
        path, message = unwrapped(path, message)
        given, message = {**given, **message}, in_one_form(message)
        timed = created_at(message, self._now) is not None
        for name, field in given.items():
            if not self._is_known(name, field, timed=timed):
                self._ignore(shown_name(name))
        kind = kind_of(message)
        if kind is not None and not isinstance(kind, str):
            self._refuse(f"{path}.type", "should be a text")
            return
        frame = self._frame(path, message, kind)
        if frame is None or self._is_dropped(kind, message):
            return
        pieces = MessagePieces()
        try:
            if self._is_tool_item(kind, message):
                self._read_item(message, str(kind), pieces)
            elif kind is None or kind in MESSAGE_TYPES or "role" in message:
                self._read_message(path, message, frame, pieces)
            else:
                self._refuse(f"{path}.type", _NO_TYPE)
        except PartError as error:
            self._pass_over(f"{path}.{error.field}" if error.field else path, error.message)
        if kind == "event":  # of which only what tools did is part of the conversation
            pieces.words.clear()
            del self.errors[before:]
        if len(self.errors) == before:
            self._add(path, message, frame, pieces)

    def _is_known(self, name: object, field: Any, *, timed: bool) -> bool:
        """Whether a field is read, is known to be ignored, or holds nothing."""
        plain = one_form(str(name))
        return (
            timed
            if plain == "created_at"
            else plain in KNOWN_FIELDS or field is None or field in ("", [], {})
        )

    def _is_dropped(self, kind: str | None, message: Mapping[str, Any]) -> bool:
        return kind in DROPPED_TYPES and ("role" not in message or "content" not in message)

    def _frame(self, path: str, message: Mapping[str, Any], kind: str | None) -> Frame | None:
        """Role, time and names of a message; None where they are refused."""
        given = frame_fields(message, kind, self._now)
        if self._is_tool_item(kind, message) or self._is_dropped(kind, message):
            given.pop("name", None)
            given["role"] = "tool"
        elif "role" not in given and not self._roles_optional:
            known = kind is None or kind in MESSAGE_TYPES
            self._refuse(*((f"{path}.role", _NO_ROLE) if known else (f"{path}.type", _NO_TYPE)))
            return None
        try:
            return Frame.model_validate(given, context={"now": self._now})
        except ValidationError as error:
            wrong = {
                str(details["loc"][0]): error_words(details)
                for details in error.errors(include_url=False)
            }
        if self._lenient and "role" not in wrong:
            return Frame.model_validate(
                {name: value for name, value in given.items() if name not in wrong},
                context={"now": self._now},
            )
        for name, message_of_error in wrong.items():
            self._refuse(f"{path}.{name}", message_of_error)
        return None

    def _is_tool_item(self, kind: str | None, message: Mapping[str, Any]) -> bool:
        return (
            kind is not None
            and kind not in MESSAGE_TYPES
            and kind not in DROPPED_TYPES
            and "role" not in message
            and kind.endswith(("_call", "_output"))
        )

    def _read_item(self, item: Mapping[str, Any], kind: str, pieces: MessagePieces) -> None:
        """Read an item of OpenAI's responses that is a tool's call or its output."""
        if kind.endswith("_output") and "output" not in item:
            raise PartError("output", "is required")
        for read in read_part(item, self._tools, set()):
            pieces.add(read.text, read.role)

    def _read_message(
        self, path: str, message: Mapping[str, Any], frame: Frame, pieces: MessagePieces
    ) -> None:
        content_field = name_of_content(message)
        content, calls = message.get(content_field), set[str]()
        beside = any(message.get(name) is not None for name in PAYLOADS) or any(
            message.get(name) for name in ATTACHED
        )
        silent = frame.role in MAY_BE_BLANK
        if content_field not in message and not beside:
            other = next((name for name in _OTHER_CONTENTS if name in message), None)
            self._pass_over(
                f"{path}.content",
                f"is required; {other} is no field of a message" if other else "is required",
            )
        elif isinstance(content, Mapping) and is_part(content):
            self._read_parts(f"{path}.{content_field}", [content], calls, pieces)
        elif isinstance(content, str):
            if not content.strip() and not beside and not silent:
                self._pass_over(f"{path}.content", "must not be empty")
            pieces.add(without_data_urls(content))
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
            name = (
                frame.name
                or message.get("tool_name")
                or self._tools.find(message.get("tool_call_id"), message.get("call_id"))
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
                pieces.add(without_data_urls(part))
            elif isinstance(part, Mapping):
                try:
                    texts = list(read_part(part, self._tools, calls))
                except PartError as error:
                    self._pass_over(
                        f"{path}.{place}.{error.field}" if error.field else f"{path}.{place}",
                        error.message,
                    )
                    continue
                for read in texts:
                    if read.unknown is not None:
                        self._ignore(f"content.*.{read.unknown}")
                    pieces.add(read.text, read.role, from_document=read.from_document)
            else:
                self._refuse(f"{path}.{place}", "should be an object or a text")

    def _read_payloads(
        self, path: str, message: Mapping[str, Any], calls: set[str], pieces: MessagePieces
    ) -> None:
        """Read the texts beside a message's content: a refusal, speech, calls of tools."""
        refusal, audio = message.get("refusal"), message.get("audio")
        if isinstance(refusal, str):
            pieces.add(without_data_urls(refusal))
        elif refusal is not None:
            self._pass_over(f"{path}.refusal", "should be a text or null")
        if isinstance(audio, Mapping):
            pieces.add(read_media(ContentPart("audio", "audio", fields_of(audio))))
        elif audio is not None:
            self._pass_over(f"{path}.audio", "should be an object or null")
        for name in ATTACHED:
            attached = message.get(name)
            for media in attached if isinstance(attached, list) else ():
                fields = fields_of(media) if isinstance(media, Mapping) else {}
                pieces.add(
                    read_media(ContentPart("image" if name == "images" else "file", name, fields))
                )
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
                part = ContentPart("tool_call", name, fields_of(call))
                pieces.add(read_call(part, self._tools, calls), "tool")
            except PartError as error:
                self._pass_over(
                    f"{path}.{name}.{error.field}" if error.field else f"{path}.{name}",
                    error.message,
                )

    def _add(
        self, path: str, message: Mapping[str, Any], frame: Frame, pieces: MessagePieces
    ) -> None:
        pieces.cut_documents()
        words: list[tuple[Role | None, list[str]]] = (
            [(frame.role, pieces.words)] if pieces.words else []
        )
        instructions: list[tuple[Role | None, list[str]]] = (
            [("system", pieces.instructions)] if pieces.instructions else []
        )
        doings: list[tuple[Role | None, list[str]]] = [("tool", pack) for pack in pieces.packs()]
        speaker = frame.actor or (None if frame.role == "tool" else frame.name)
        for number, (role, texts) in enumerate(
            [*instructions, *doings, *words]
            if pieces.tools_first
            else [*instructions, *words, *doings]
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
