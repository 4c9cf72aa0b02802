"""What is told besides whole conversations: an agent's own words, messages to sum up, and messages to gather.

Of an agent's own words only the content is needed: who says them and when is known without being told.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from memory_core.domain.conversation import GivenRole, Message, Role
from memory_core.domain.fields import CallbackUrl, Content, Input, Label, Name
from memory_core.domain.moments import Happened
from memory_core.domain.requests import MessageInput


class SpokenInput(Input):
    """A message of an agent's own, or one to be summed up: only its content is needed. timestamp: now, when it has none."""

    role: GivenRole | None = None
    content: Content
    timestamp: Happened | None = None
    actor: Label | None = None


def _as_messages(value: Any) -> Any:
    given = [value] if isinstance(value, str) else value
    return [{"content": one} if isinstance(one, str) else one for one in given] if isinstance(given, list) else given


SpokenMessages = Annotated[
    list[SpokenInput],
    Field(min_length=1, max_length=200),
    BeforeValidator(
        _as_messages, json_schema_input_type=Content | Annotated[list[Content | SpokenInput], Field(min_length=1, max_length=200)]
    ),
]
"""One text, or a list of texts and messages. As messages they are checked, so that a refusal says what is wrong with which."""


class _Spoken(Input):
    messages: SpokenMessages

    def told(self, now: datetime, role: Role, actor: str | None = None) -> list[Message]:
        """The messages; what names no role is `role`'s, and what that role says is said by `actor`."""
        return [
            Message(
                role=one.role or role,
                content=one.content,
                timestamp=one.timestamp or now,
                actor=one.actor or (actor if (one.role or role) == role else None),
            )
            for one in self.messages
        ]


class AgentMemoryInput(_Spoken):
    """An agent's own words, to be kept as one memory."""

    session_id: Name | None = None
    agent_id: Name | None = None


class SummaryInput(_Spoken):
    """Messages to sum up, kept nowhere. fast: in a text; full: with what it is about besides. callback_url: where to send it."""

    mode: Literal["fast", "full"] = "fast"
    callback_url: CallbackUrl | None = None


class BatchInput(Input):
    """Messages to gather until there are enough of them, or nothing more comes."""

    session_id: Name
    messages: Annotated[list[MessageInput], Field(min_length=1, max_length=200)]


class SessionInput(Input):
    """One session."""

    session_id: Name
