"""The context provider of the Microsoft Agent Framework on a real host."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest
from agent_framework import AgentSession, Message, SessionContext

from memory_core_client import MemoryCore
from memory_core_client.agent_framework import MemoryCoreProvider


@pytest.fixture(scope="module")
def url(host: httpx.Client) -> str:
    return str(host.base_url)


async def test_a_run_is_told_and_recalled_in_another_session_with_two_calls(url: str) -> None:
    sent: list[str] = []
    hooks: dict[str, Any] = {"request": [lambda asked: sent.append(asked.url.path)]}
    with httpx.Client(base_url=url, event_hooks=hooks, timeout=60) as http:
        provider = MemoryCoreProvider(MemoryCore(url, http=http).user(uuid.uuid4().hex))
        instructions = []
        for thread, text in [
            ("monday", "I am allergic to peanuts."),
            ("tuesday", "What am I allergic to?"),
        ]:
            session, context = (
                AgentSession(session_id=thread),
                SessionContext(input_messages=[Message("user", [text])]),
            )
            await provider.before_run(agent=None, session=session, context=context, state={})
            instructions.append("".join(context.instructions))
            await provider.after_run(agent=None, session=session, context=context, state={})
    assert "peanuts" not in instructions[0]
    assert "I am allergic to peanuts." in instructions[1]
    assert sent == ["/api/v1/context", "/api/v1/memories"] * 2
