"""What is told besides whole conversations: an agent's own words, messages to sum up, and messages to gather.

Of an agent's own words only the content is needed: who says them and when is known without being told.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from memory_core.domain.conversation import Message, Role
from memory_core.domain.models import Moment
from memory_core.domain.requests import CallbackUrl, Content, Input, Label, MessageInput, Name


class SpokenInput(Input):
    """A message of an agent's own, or one to be summed up: only its content is needed. timestamp: now, when it has none."""

    role: Role | None = None
    content: Content
    timestamp: Moment | None = None
    actor: Label | None = None


class _Spoken(Input):
    """Messages given as one text, or as a list of texts and messages."""

    messages: Content | Annotated[list[Content | SpokenInput], Field(min_length=1, max_length=200)]

    def told(self, now: datetime, role: Role, actor: str | None = None) -> list[Message]:
        """The messages; what names no role is `role`'s, and what that role says is said by `actor`."""
        given = [self.messages] if isinstance(self.messages, str) else self.messages
        spoken = [SpokenInput(content=one) if isinstance(one, str) else one for one in given]
        return [
            Message(
                role=one.role or role,
                content=one.content,
                timestamp=one.timestamp or now,
                actor=one.actor or (actor if (one.role or role) == role else None),
            )
            for one in spoken
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
