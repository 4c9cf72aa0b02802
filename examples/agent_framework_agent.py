"""An agent of the Microsoft Agent Framework that remembers its user.

`memory-core serve` or `make run` in another terminal, then this file, after
`pip install './memory_core_client[agent-framework]'`. The model is a script; put a chat client of
the framework in its place to ask a real one.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, FunctionInvocationLayer, Message

from memory_core_client import MemoryCore
from memory_core_client.agent_framework import MemoryCoreProvider


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Answers as a model would: a question by what the instructions tell."""

    async def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> ChatResponse:
        is_known = messages[-1].text.endswith("?") and "peanuts" in (
            options.get("instructions") or ""
        )
        return ChatResponse(
            messages=[Message(role="assistant", contents=["No peanuts." if is_known else "I see."])]
        )


# The agent.
service = MemoryCore(os.environ.get("HOST_URL", "http://127.0.0.1:7071"))
provider = MemoryCoreProvider(service.user("pia"))
agent = Agent(Scripted(), "You are a helpful assistant.", context_providers=[provider])


# Two threads of one user.
async def main() -> None:
    """Run them."""
    for thread, text in [
        ("monday", "I am allergic to peanuts."),
        ("tuesday", "What am I allergic to?"),
    ]:
        print((await agent.run(text, session=agent.create_session(session_id=thread))).text)


asyncio.run(main())
service.close()
