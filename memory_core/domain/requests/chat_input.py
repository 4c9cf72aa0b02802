"""Messages of the usual chat APIs as fields of inputs, with their JSON schemas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Final

from pydantic import (
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, PydanticKnownError

from memory_core.domain.chat.message_content import LISTS_OF_PARTS
from memory_core.domain.chat.message_frame import EPOCH
from memory_core.domain.chat.messages import ATTACHED, MAX_MESSAGES, PAYLOADS, read_messages
from memory_core.domain.chat.read_message import ReadMessages
from memory_core.domain.chat.session_items import SessionItems, read_items
from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.fields import NAME_SCHEMA, NOT_BLANK
from memory_core.domain.memory import MAX_CONTENT_BYTES

_NO_LIST: Final = 'should be a list, such as [{"role": "user", "content": "I live in Rome"}]'
_LABEL = {"type": "string", "minLength": 1, "maxLength": 200, **NOT_BLANK}
_TEXT = {"type": "string", "minLength": 1, "maxLength": MAX_CONTENT_BYTES, **NOT_BLANK}
_OBJECT = {"type": "object", "additionalProperties": True}


def _object_with(*names: str, **rules: Any) -> dict[str, Any]:
    """The JSON schema of an object that has some of these fields, or any others.

    Note: the branch without `additionalProperties` is for TypeScript, where no interface fits a
    type of any fields. The other branch is for objects that are written where they are given.
    """
    fields = {"type": "object", "properties": {name: {} for name in names}}
    return {"anyOf": [{**fields, **rules}, {**_OBJECT, **rules}]}


_ROLES = ["user", "assistant", "system", "tool", "human", "ai", "model", "developer", "function"]
_BLANK_ROLES = ["assistant", "ai", "model", "tool", "function"]
_PART_OBJECT = _object_with("type", "text", minProperties=1)
_PART = {"anyOf": [{"type": "string"}, _PART_OBJECT]}
_CALL = _object_with("id", "name", "function")


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_ROLE = {
    "anyOf": [{"type": "string", "enum": _ROLES}, _object_with("value", "label"), {"type": "null"}]
}
_MOMENT = {
    "anyOf": [
        {"type": "string", "format": "date-time"},
        {"allOf": [{"type": "number", "minimum": EPOCH[0], "maximum": EPOCH[-1]}]},
        {"type": "null"},
    ]
}
_DUMPED = {
    "title": "DumpedMessage",
    "description": (
        "A message as LangChain's `dumpd` writes it: `kwargs` holds the message, the last name of "
        "`id` is its class."
    ),
    "type": "object",
    "properties": {
        "type": {"const": "constructor"},
        "id": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "kwargs": _OBJECT,
    },
    "required": ["type", "id", "kwargs"],
    "additionalProperties": True,
}
_PARTS = {"type": "array", "items": _PART}
_WITHIN = _object_with("type", "text", "role", "content", "parts", minProperties=1)
_FORMS_OF_FRAMEWORKS: tuple[dict[str, Any], ...] = (
    *({name: _WITHIN} for name in ("content", "message", "data")),
    {"kind": {"enum": ["request", "response"]}, "parts": {"type": "array"}},
    {"Role": {"anyOf": [{"type": "string"}, _object_with("Label")]}},
)
_OF_FRAMEWORK = {
    "title": "FrameworkMessage",
    "description": (
        "A message as an agent framework keeps it: within an event or an answer of a service, or "
        "with names of its own."
    ),
    "allOf": [
        {
            "anyOf": [
                {"type": "object", "required": list(fields), "properties": fields}
                for fields in _FORMS_OF_FRAMEWORKS
            ]
        }
    ],
}
_GIVEN = {"not": {"type": "null"}}
_BESIDE = [
    *({"required": [name], "properties": {name: _GIVEN}} for name in PAYLOADS),
    *(
        {"required": [name], "properties": {name: {"type": "array", "minItems": 1}}}
        for name in ATTACHED
    ),
]
_MAY_BE_BLANK = [
    {"required": ["role"], "properties": {"role": {"enum": _BLANK_ROLES}}},
    {"required": ["type"]},
]

_ROLE_OR_TYPE = {
    "anyOf": [{"required": ["role"], "properties": {"role": _GIVEN}}, {"required": ["type"]}]
}


def message_schema(*, roles_optional: bool) -> dict[str, Any]:
    """The JSON schema of a message as callers give it."""
    contents = [{"required": [name]} for name in ("content", *LISTS_OF_PARTS)]
    content = _or_null({"anyOf": [{"type": "string"}, _PARTS]})
    rules: list[dict[str, Any]] = [
        {"anyOf": [{"required": ["type"]}, *contents, *_BESIDE]},
        {
            "anyOf": [
                *_MAY_BE_BLANK,
                *_BESIDE,
                *({"required": [name]} for name in LISTS_OF_PARTS),
                {"properties": {"content": {"anyOf": [_TEXT, {"type": "array", "minItems": 1}]}}},
            ]
        },
    ]
    if not roles_optional:
        rules.append(_ROLE_OR_TYPE)
    return {
        "title": "Message" if not roles_optional else "SpokenMessage",
        "description": (
            "A message in a form of the usual chat APIs. Other fields are ignored, and named in "
            "the answer."
        ),
        "type": "object",
        "properties": {
            "role": _ROLE,
            "content": content,
            "tool_calls": _or_null({"type": "array", "items": _CALL}),
            "function_call": _or_null(_CALL),
            "refusal": _or_null({"type": "string"}),
            "audio": _or_null(_object_with("id", "transcript")),
            "type": _or_null({"type": "string"}),
            "timestamp": _MOMENT,
            "actor": _or_null(_LABEL),
            "name": _or_null(_LABEL),
            "id": _or_null(NAME_SCHEMA),
        },
        "allOf": rules,
    }


def shown_message_schema() -> dict[str, Any]:
    """The JSON schema of a message that a model is shown.

    Only role, content and type are checked closely.
    """
    strict = message_schema(roles_optional=False)
    looked_at = ("role", "content", "type")
    properties = {
        name: schema if name in looked_at else {} for name, schema in strict["properties"].items()
    }
    part = {"anyOf": [{"type": "string"}, _object_with("type", "text")]}
    parts = {"type": "array", "items": part}
    properties["content"] = {"anyOf": [{"type": "string"}, parts, {"type": "null"}]}
    return {**strict, "title": "ShownMessage", "properties": properties, "allOf": [_ROLE_OR_TYPE]}


class _Documented:
    """Gives a field the JSON schema of a list of messages."""

    def __init__(self, *, roles_optional: bool = False, lenient: bool = False) -> None:
        self._roles_optional, self._lenient = roles_optional, lenient

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        message = (
            shown_message_schema()
            if self._lenient
            else message_schema(roles_optional=self._roles_optional)
        )
        items = [message, _DUMPED, _OF_FRAMEWORK, *([_TEXT] if self._roles_optional else [])]
        several = {
            "type": "array",
            "items": {"anyOf": items},
            "minItems": 0 if self._lenient else 1,
            "maxItems": MAX_MESSAGES,
        }
        return {"anyOf": [_TEXT, several]} if self._roles_optional else several


def _reads(
    *, roles_optional: bool = False, lenient: bool = False
) -> Callable[[Any, ValidationInfo], ReadMessages]:
    def read(value: Any, info: ValidationInfo) -> ReadMessages:
        if isinstance(value, ReadMessages):
            return value
        if isinstance(value, str) and roles_optional:
            value = [value]
        if not isinstance(value, list):
            raise PydanticCustomError("list_type", _NO_LIST)
        if not value and not lenient:
            raise PydanticKnownError(
                "too_short", {"field_type": "List", "min_length": 1, "actual_length": 0}
            )
        if len(value) > MAX_MESSAGES:
            raise PydanticKnownError(
                "too_long",
                {"field_type": "List", "max_length": MAX_MESSAGES, "actual_length": len(value)},
            )
        try:
            now = (info.context or {}).get("now")
            messages, ignored = read_messages(
                value, now=now, roles_optional=roles_optional, lenient=lenient
            )
        except Invalid as refused:
            raise ValidationError.from_exception_data(
                "messages", [_as_details(error) for error in refused.errors]
            ) from None
        if not messages and not lenient:
            raise PydanticCustomError(
                "chat_message", "hold nothing that is kept: thinking alone, or no words"
            )
        return ReadMessages(tuple(messages), ignored)

    return read


def _as_details(error: FieldError) -> InitErrorDetails:
    """A refused field in pydantic's form; pydantic adds the name of the list itself."""
    place = tuple(int(part) if part.isdigit() else part for part in error.field.split(".")[1:])
    return InitErrorDetails(
        type=PydanticCustomError("chat_message", error.message), loc=place, input=None
    )


class _DocumentedItems:
    """Gives a field the JSON schema of a list of a session's items."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        item = {
            "title": "SessionItem",
            "description": (
                "A message or another item in any form of the usual chat APIs; it comes back as it "
                "was sent."
            ),
            "type": "object",
            "minProperties": 1,
            "properties": {"role": _ROLE, "timestamp": _MOMENT, "actor": _or_null(_LABEL)},
            "additionalProperties": True,
        }
        return {"type": "array", "items": item, "minItems": 1, "maxItems": MAX_MESSAGES}


def _read_items(value: Any, info: ValidationInfo) -> SessionItems:
    if isinstance(value, SessionItems):
        return value
    if not isinstance(value, list):
        raise PydanticCustomError("list_type", _NO_LIST)
    if not value:
        raise PydanticKnownError(
            "too_short", {"field_type": "List", "min_length": 1, "actual_length": 0}
        )
    if len(value) > MAX_MESSAGES:
        raise PydanticKnownError(
            "too_long",
            {"field_type": "List", "max_length": MAX_MESSAGES, "actual_length": len(value)},
        )
    try:
        return read_items(value, now=(info.context or {}).get("now"))
    except Invalid as refused:
        raise ValidationError.from_exception_data(
            "messages", [_as_details(error) for error in refused.errors]
        ) from None


_Kept = PlainSerializer(
    lambda messages: [
        {name: getattr(message, name) for name in ("role", "content", "timestamp", "actor", "id")}
        for message in messages
    ]
)
ChatMessages = Annotated[ReadMessages, PlainValidator(_reads()), _Kept, _Documented()]
"""1-200 messages, each with its role."""
SpokenMessages = Annotated[
    ReadMessages,
    PlainValidator(_reads(roles_optional=True)),
    _Kept,
    _Documented(roles_optional=True),
]
"""A single text, or 1-200 texts and messages, which may leave out their role."""
Items = Annotated[
    SessionItems,
    PlainValidator(_read_items),
    PlainSerializer(lambda items: [asdict(item) for item in items]),
    _DocumentedItems(),
]
"""1-200 items of a session, each kept as it was sent."""
ShownMessages = Annotated[
    ReadMessages, PlainValidator(_reads(lenient=True)), _Kept, _Documented(lenient=True)
]
"""0-200 messages that a model is shown and that are not kept.

Empty messages are ignored.
"""
