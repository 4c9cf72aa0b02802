"""OpenAI Agents SDK: a `Session`, tools, and instructions that recall.
`pip install 'memory-core-client[openai-agents]'`.

All calls are sent in a thread, by the sync client: a session is used from several event loops
(`run_sync` makes one a run).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import islice
from typing import Any, cast

from memory_core_client.errors import NotFound
from memory_core_client.messages import portions, sendable
from memory_core_client.models import Message
from memory_core_client.sync_client import User
from memory_core_client.tools import memory_functions

try:
    from agents import Agent, FunctionTool, RunContextWrapper, TResponseInputItem, function_tool
    from agents.memory import SessionSettings
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
except ImportError as error:
    message = (
        "memory_core_client.openai_agents needs the OpenAI Agents SDK: pip install "
        "'memory-core-client[openai-agents]'"
    )
    raise ImportError(message) from error

AT_ONCE = 200
"""Items of one call."""


class MemoryCoreSession(SessionABC):
    """The items of one session of a user, as they were added."""

    def __init__(
        self,
        user: User,
        session_id: str,
        *,
        form: bool = False,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """Build the session.

        Args:
            user: Whose it is.
            session_id: Its name.
            form: Whether memories are formed of what is added, too, in the background.
            session_settings: The SDK's, such as how many items a run sees.

        """
        self._user, self.session_id, self._form, self._is_closed = user, session_id, form, False
        self.session_settings = (
            SessionSettings()
            if session_settings is None
            else coerce_session_settings(session_settings)
        )

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last `limit` items, or all, the oldest first."""
        self._check_open()
        return await asyncio.to_thread(
            self._last, resolve_session_limit(limit, self.session_settings)
        )

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items in order.

        An item with a `timestamp` is of that moment, others of the moment of the item before them
        in the call, or else of now.
        """
        self._check_open()
        for some in portions(items, AT_ONCE):
            await asyncio.to_thread(self._user.append, self.session_id, some, form=self._form)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item out: of several who pop at once each gets another."""
        self._check_open()
        taken = await asyncio.to_thread(self._take_back)
        return _item(taken[0]) if taken else None

    async def clear_session(self) -> None:
        """Take all items out."""
        self._check_open()
        await asyncio.to_thread(self._user.clear, self.session_id)

    def close(self) -> None:
        """Use this session no more: its calls raise RuntimeError from now on, as those of the SDK's
        sessions do.

        The items stay, and so does the client, which other sessions may share.
        """
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(f"{type(self).__name__} is closed")

    def _last(self, limit: int | None) -> list[TResponseInputItem]:
        if limit is not None and limit < 1:
            return []
        try:
            return [
                _item(message)
                for message in islice(self._user.messages(self.session_id, order="desc"), limit)
            ][::-1]
        except NotFound:
            return []

    def _take_back(self) -> list[Message]:
        try:
            return self._user.take_back(self.session_id, 1)
        except NotFound:
            return []


def _item(message: Message) -> TResponseInputItem:
    """The item as the SDK has it, without its `timestamp`, a field that the models' APIs refuse."""
    return cast(
        TResponseInputItem,
        {name: field for name, field in message.item.items() if name != "timestamp"},
    )


def memory_tools(user: User, *, max_tokens: int | None = None) -> list[FunctionTool]:
    """`recall` and `remember`: tools by which the model looks things up and keeps them.
    max_tokens: length of a context.
    """
    return [function_tool(function) for function in memory_functions(user, max_tokens=max_tokens)]


def recalling(
    user: User, instructions: str, *, session_id: str | None = None, max_tokens: int | None = None
) -> Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]:
    """An agent's `instructions`, with what to know of the user before each call of the model.

    Args:
        user: Whose memories.
        instructions: The agent's own.
        session_id: The session that the model sees: nothing of it is told again. None:
            an agent without a session.
        max_tokens: Length of a context, 100 to 16,000; the service's default where there is none.

    """

    async def with_context(run: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        running = (
            {}
            if session_id is None
            else {"session_id": session_id, "exclude_session_id": session_id}
        )
        messages = sendable(cast(list[dict[str, Any]], run.turn_input)[-20:])
        known = await asyncio.to_thread(
            user.context, messages=messages, max_tokens=max_tokens, **running
        )
        return f"{instructions}\n\n{known.context}".rstrip()

    return with_context
