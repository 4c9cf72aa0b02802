"""Microsoft Agent Framework: a context provider.
`pip install 'memory-core-client[agent-framework]'`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from memory_core_client.messages import sendable
from memory_core_client.sync_client import User

try:
    from agent_framework import AgentSession, ContextProvider, Message, SessionContext
except ImportError as error:
    message = (
        "memory_core_client.agent_framework needs the Microsoft Agent Framework: pip install "
        "'memory-core-client[agent-framework]'"
    )
    raise ImportError(message) from error


class MemoryCoreProvider(ContextProvider):
    """Instructions with what to know of a user before a run, and the run told after it."""

    def __init__(
        self, user: User, source_id: str = "memory_core", *, max_tokens: int | None = None
    ) -> None:
        """Build the provider.

        Args:
            user: Whose memories.
            source_id: The framework's name of this provider.
            max_tokens: Length of a context, 100 to 16,000; the service's default where
                there is none.

        """
        super().__init__(source_id)
        self._user, self._max_tokens = user, max_tokens

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add the context to the instructions; nothing of the running session is told again."""
        messages, thread = said_in(context.input_messages), session.session_id
        running = {"session_id": thread, "exclude_session_id": thread}
        known = await asyncio.to_thread(
            self._user.context, messages=messages, max_tokens=self._max_tokens, **running
        )
        if known.context:
            context.extend_instructions(self.source_id, known.context)

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Tell what was asked and answered; memories are formed of it in the background."""
        answers = context.response.messages if context.response is not None else []
        messages = said_in([*context.input_messages, *answers])
        if messages:
            await asyncio.to_thread(self._user.tell, messages, session.session_id)


def said_in(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Messages with a text, as role and content."""
    return sendable([{"role": str(message.role), "content": message.text} for message in messages])
