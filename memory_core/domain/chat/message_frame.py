"""What a message has beside its content: who said it, when, and under which id."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from memory_core.domain.chat.message_content import name_of_content
from memory_core.domain.chat.part_kinds import fields_of, first_of, one_form
from memory_core.domain.conversation import GivenRole
from memory_core.domain.fields import Input, Label, Name
from memory_core.domain.text.timestamps import EventTimestamp

KNOWN_FIELDS: Final = frozenset({
    # ours
    "role", "content", "timestamp", "actor", "id", "name", "type", "parts", "data",
    # OpenAI's chat completions, and services that speak like it
    "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations", "reasoning",
    "reasoning_content", "reasoning_details", "thinking", "message", "index", "finish_reason",
    "object", "thread_id", "prefix", "images", "tool_name", "tool_plan", "citations", "done",
    "done_reason", "total_duration",
    # OpenAI's responses
    "status", "call_id", "arguments", "output", "outputs", "input", "namespace", "summary",
    "encrypted_content", "phase", "results", "result", "queries", "action", "actions", "code",
    "container_id", "server_label", "error", "tools", "approval_request_id", "operation",
    "pending_safety_checks", "acknowledged_safety_checks", "created_by", "caller", "execution",
    "environment", "fingerprint",
    # Anthropic's messages, and transcripts of them
    "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container",
    "context_management", "cache_control", "uuid", "parent_uuid", "is_sidechain", "user_type",
    "session_id", "version", "tool_use_result",
    # LangChain, LlamaIndex, Haystack
    "additional_kwargs", "response_metadata", "example", "invalid_tool_calls", "usage_metadata",
    "artifact", "tool_call_chunks", "chunk_position", "lc", "kwargs", "graph", "blocks", "meta",
    # Microsoft's frameworks
    "contents", "items", "author_name", "message_id", "metadata", "additional_properties",
    "content_type", "model_id", "ai_model_id", "source", "models_usage", "thought",
    # Pydantic AI, Google's agents, Vercel's AI SDK
    "kind", "state", "model_name", "instructions", "author", "invocation_id", "partial",
    "turn_complete", "attachments", "experimental_attachments", "tool_invocations", "revision_id",
})  # fmt: skip
"""Fields of a message that are read, or ignored without being reported."""
_ROLE_OF_TYPE = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
_OF_CLASS = {
    "Human": "human",
    "User": "user",
    "AI": "ai",
    "Assistant": "assistant",
    "System": "system",
    "Tool": "tool",
    "Function": "function",
    "FunctionExecutionResult": "tool",
    "ToolCallSummary": "tool",
    "Chat": "chat",
    "Remove": "remove",
}
_TYPE_OF_CLASS = {
    f"{name}Message{end}": kind for name, kind in _OF_CLASS.items() for end in ("", "Chunk")
}
"""Classes of messages of LangChain and AutoGen, of which a dump has the name as `type`."""
_SENT = re.compile(r"[A-Za-z]{1,40}(?P<what>Message|Event)")
"""Classes of messages that name a sender instead of a role."""
_ROLE_OF_KIND = {"request": "user", "response": "assistant"}
MESSAGE_TYPES: Final = frozenset({"message", "chat", "event", *_ROLE_OF_TYPE})
DROPPED_TYPES: Final = frozenset(
    {
        "reasoning",
        "item_reference",
        "compaction",
        "compaction_trigger",
        "configuration_update",
        "additional_tools",
        "tool_search_output",
        "program",
        "program_output",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "remove",
    }
)
EPOCH: Final = (10**8, 10**11, 10**14)
"""A number from the first on is of seconds since 1970, and from the second on of milliseconds.

Both begin in 1973 and end in 5138, so a number can be only one of them.
"""


def _from_epoch(value: Any) -> Any:
    """The moment of a number since 1970; any other value as it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    least, most_of_seconds, most = EPOCH
    if not least <= value < most:
        raise ValueError(
            "must be an ISO 8601 text with a time zone, or seconds or milliseconds since 1970"
        )
    return datetime.fromtimestamp(value if value < most_of_seconds else value / 1000, timezone.utc)


MessageMoment = Annotated[EventTimestamp, BeforeValidator(_from_epoch)]
"""When a message was said, as callers write it: a text, or a number since 1970."""
_MOMENT: TypeAdapter[datetime] = TypeAdapter(MessageMoment, config=ConfigDict(defer_build=True))


class Frame(Input):
    """The fields of a message beside its content."""

    role: GivenRole | None = None
    timestamp: MessageMoment | None = None
    actor: Label | None = None
    name: Label | None = None
    id: Name | None = None


def in_one_form(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message by the names of its fields in a single form.

    Of two names that are the same, the first counts. `additional_kwargs` holds calls of tools in
    messages that have no field for them.
    """
    fields: dict[str, Any] = {}
    for name, field in message.items():
        fields.setdefault(one_form(name), field)
    extras = fields.get("additional_kwargs")
    if isinstance(extras, Mapping):
        for name, kind in (("tool_calls", list), ("function_call", Mapping), ("tool_call_id", str)):
            if not fields.get(name) and isinstance(extras.get(name), kind):
                fields[name] = extras[name]
    return fields


def kind_of(message: Mapping[str, Any]) -> Any:
    """The type of a message: its `type`, or what its class is."""
    kind = message.get("type")
    if not isinstance(kind, str):
        return kind
    kind = _TYPE_OF_CLASS.get(kind, kind)
    sent = _SENT.fullmatch(kind)
    if sent is None or "role" in message or not isinstance(message.get("source"), str):
        return kind
    return "event" if sent["what"] == "Event" else "chat"


def named_role(role: Any) -> Any:
    """The role within an object such as `{"value": …}`, or as it is."""
    return first_of(fields_of(role), ("value", "label")) if isinstance(role, Mapping) else role


def role_of(message: Mapping[str, Any], kind: str | None) -> Any:
    """The role that a message names, or that follows from its type or sender.

    None where there is none.

    Args:
        message: By the names of its fields in a single form.
        kind: Its type.

    """
    role = named_role(message.get("role"))
    if role is not None:
        return role
    if kind in _ROLE_OF_TYPE:
        return _ROLE_OF_TYPE[kind]
    if kind in ("chat", "event") and isinstance(message.get("source"), str):
        return "user" if message["source"] == "user" else "assistant"
    return (
        _ROLE_OF_KIND.get(str(message.get("kind"))) if name_of_content(message) == "parts" else None
    )


def frame_fields(
    message: Mapping[str, Any], kind: str | None, now: datetime | None
) -> dict[str, Any]:
    """The fields of a message's frame, wherever they were sent; none is None.

    Args:
        message: By the names of its fields in a single form.
        kind: Its type.
        now: No moment of another field than `timestamp` is long after it; None checks none.

    """
    names = ["name", "author_name", "author"]
    if kind in (*_ROLE_OF_TYPE, "chat", "event") and "role" not in message:
        names.append("source")
    speaker = next((message[name] for name in names if message.get(name) is not None), None)
    if speaker == "user" or (not isinstance(speaker, str) and message.get("name") is None):
        speaker = None
    given = {
        "role": role_of(message, kind),
        "timestamp": _timestamp_of(message, now),
        "actor": message.get("actor"),
        "name": speaker,
        "id": message.get("id") or message.get("message_id"),
    }
    return {name: value for name, value in given.items() if value is not None}


def created_at(message: Mapping[str, Any], now: datetime | None) -> datetime | None:
    """The moment in `created_at`, a text with a time zone or a number since 1970.

    None where it is no such moment.

    Args:
        message: By the names of its fields in a single form.
        now: A moment long after it is none; None checks none.

    """
    return _moment(message.get("created_at"), now)


def _timestamp_of(message: Mapping[str, Any], now: datetime | None) -> Any:
    if message.get("timestamp") is not None:
        return message["timestamp"]
    content = message.get(name_of_content(message))
    parts = content if isinstance(content, Sequence) and not isinstance(content, str) else ()
    extras = (message.get("metadata"), message.get("additional_kwargs"))
    for holder in (message, *extras, *parts[:1]):
        if isinstance(holder, Mapping):
            fields = fields_of(holder)
            for name in ("created_at", "timestamp"):
                if (moment := _moment(fields.get(name), now)) is not None:
                    return moment
    return None


def _moment(value: Any, now: datetime | None) -> datetime | None:
    try:
        return _MOMENT.validate_python(value, context={"now": now})
    except (ValidationError, ValueError, OverflowError, OSError):
        return None
