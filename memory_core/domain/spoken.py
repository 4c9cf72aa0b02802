"""What is told besides whole conversations: an agent's own words, messages to sum up, and messages to gather.

Of an agent's own words only the content is needed: who says them and when is known without being told.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from memory_core.domain.chat_input import ChatMessages, SpokenMessages
from memory_core.domain.chat_messages import timed
from memory_core.domain.conversation import Message, Role
from memory_core.domain.fields import CallbackUrl, Input, Name
from memory_core.domain.time_zone import TimeZone


class _Spoken(Input):
    messages: SpokenMessages

    def told(self, now: datetime, role: Role, actor: str | None = None) -> list[Message]:
        """The messages; what names no role is `role`'s, and what that role says is said by `actor`."""
        messages = timed(self.messages, now, role)
        return [message if message.actor or message.role != role else message.model_copy(update={"actor": actor}) for message in messages]


class AgentMemoryInput(_Spoken):
    """An agent's own words, to be kept as one memory."""

    session_id: Name | None = None
    agent_id: Name | None = None
    time_zone: TimeZone | None = None


class SummaryInput(_Spoken):
    """Messages to sum up, kept nowhere. fast: in a text; full: with what it is about besides. callback_url: where to send it."""

    mode: Literal["fast", "full"] = "fast"
    callback_url: CallbackUrl | None = None


class BatchInput(Input):
    """Messages to gather until there are enough of them, or nothing more comes."""

    session_id: Name
    messages: ChatMessages
    time_zone: TimeZone | None = None


class SessionInput(Input):
    """One session."""

    session_id: Name
