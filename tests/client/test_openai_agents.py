"""The session and the tools of the OpenAI Agents SDK on a real host; `python -m bench.frameworks`
runs the SDK's own suite.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from agents import Agent, Runner
from agents.memory import SessionSettings
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from agents.tracing import set_tracing_disabled

from memory_core_client import MemoryCore, User
from memory_core_client.openai_agents import MemoryCoreSession, memory_tools, recalling


@pytest.fixture(scope="module")
def url(host: httpx.Client) -> str:
    set_tracing_disabled(True)
    return str(host.base_url)


@pytest.fixture
def sent() -> list[str]:
    """What was asked of the host."""
    return []


@pytest.fixture
def user(url: str, sent: list[str]) -> Iterator[User]:
    hooks: dict[str, Any] = {
        "request": [lambda asked: sent.append(f"{asked.method} {asked.url.path}")]
    }
    with httpx.Client(base_url=url, event_hooks=hooks, timeout=60) as http:
        yield MemoryCore(url, http=http).user(uuid.uuid4().hex)


async def test_items_come_back_as_they_were_added(user: User) -> None:
    session = MemoryCoreSession(user, "s")
    items: list[Any] = [
        {"role": "user", "content": "Weather?"},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "weather",
            "arguments": "{}",
            "id": "fc_1",
        },
        {"type": "function_call_output", "call_id": "c1", "output": "cold"},
    ]
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items([])
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(2) == items[1:]
    assert await session.get_items(0) == []
    assert await session.pop_item() == items[2]
    await session.clear_session()
    assert await session.get_items() == []


async def test_a_closed_session_says_so_whatever_is_asked_of_it_and_its_items_stay(
    user: User,
) -> None:
    """Also where nothing is to be added: as the SDK's own sessions do."""
    session = MemoryCoreSession(user, "s")
    item: Any = {"role": "user", "content": "Weather?"}
    await session.add_items([item])
    session.close()
    session.close()
    for use in (
        session.get_items,
        session.pop_item,
        session.clear_session,
        lambda: session.add_items([]),
        lambda: session.add_items([item]),
    ):
        with pytest.raises(RuntimeError, match=r"^MemoryCoreSession is closed$"):
            await use()
    assert await MemoryCoreSession(user, "s").get_items() == [item], (
        "another session of the same client goes on"
    )


async def test_messages_name_the_parts_of_their_content(user: User) -> None:
    content = [
        {"type": "input_text", "text": "Which boat?"},
        {"type": "input_image", "image_url": "https://x.example/red.png"},
    ]
    items: list[Any] = [
        {"role": "user", "content": content},
        {"role": "assistant", "content": "The red one."},
    ]
    await MemoryCoreSession(user, "s").add_items(items)
    assert [message.parts for message in user.messages("s")] == [
        content,
        [{"type": "text", "text": "The red one."}],
    ]
    assert await MemoryCoreSession(user, "s").get_items() == items


async def test_an_item_is_of_the_moment_that_it_brings_and_comes_back_without_it(
    user: User,
) -> None:
    """A model's API refuses an item with a field that it does not know."""
    item, answer = (
        {"role": "user", "content": "I had lunch with Tom."},
        {"role": "assistant", "content": "How is he?"},
    )
    items: list[Any] = [
        item | {"timestamp": "2026-03-02T13:00:00+01:00"},
        answer,
        item | {"timestamp": datetime(2026, 3, 3, 9, tzinfo=UTC)},
    ]
    await MemoryCoreSession(user, "march", form=True).add_items(items)
    assert await MemoryCoreSession(user, "march").get_items() == [item, answer, item]
    moments = [message.timestamp for message in user.messages("march")]
    assert moments == [
        datetime(2026, 3, day, hour, tzinfo=UTC) for day, hour in [(2, 12), (2, 12), (3, 9)]
    ]


async def test_a_long_history_is_added_in_portions_and_limited_by_the_settings(user: User) -> None:
    session = MemoryCoreSession(user, "s", session_settings=SessionSettings(limit=3))
    items: list[Any] = [{"role": "user", "content": f"number {number}"} for number in range(250)]
    await session.add_items(items)
    assert await session.get_items() == items[-3:]
    assert await session.get_items(250) == items


async def test_items_that_are_too_large_for_one_call_are_added_in_several(
    user: User, sent: list[str]
) -> None:
    session = MemoryCoreSession(user, "s")
    items: list[Any] = [
        {"type": "function_call_output", "call_id": str(n), "output": "ä" * 100_000}
        for n in range(7)
    ]
    await session.add_items(items)
    assert len(sent) == 2
    assert await session.get_items() == items


async def test_the_model_looks_up_and_keeps_by_tools(user: User) -> None:
    sent_messages: list[Any] = []

    def look(call: Any) -> ModelStep:
        sent_messages.append(call.input[-1]["output"])
        return ModelStep(output=[assistant_message("Done.")])

    for name, arguments in [
        ("remember", {"fact": "Ana's locker is number 12."}),
        ("recall", {"query": "Which locker has Ana?"}),
    ]:
        call = function_call(name, json.dumps(arguments), call_id=name)
        agent = Agent(
            name="a",
            tools=[*memory_tools(user)],
            model=ScriptedModel([ModelStep(output=[call]), ModelStep.respond(look)]),
        )
        await Runner.run(agent, "Go on.")
    assert sent_messages[0] == "created"
    assert "Ana's locker is number 12." in sent_messages[1]


async def test_the_model_learns_why_a_tool_was_refused(user: User) -> None:
    (_, remember) = memory_tools(user)
    arguments = json.dumps({"fact": "x" * 40_000})
    call = ToolContext(
        context=None, tool_name="remember", tool_call_id="1", tool_arguments=arguments
    )
    assert str(await remember.on_invoke_tool(call, arguments)).startswith("Not done: content: ")


def test_only_wishes_of_the_running_session_are_recalled_once_facts_are_formed_of_it(
    user: User,
) -> None:
    messages = [{"role": "user", "content": "I live in Lisbon. Please always answer in French."}]
    task = user.append("monday", messages, form=True).task_id
    assert task is not None
    user.wait_for_task(task)
    asked = [{"role": "user", "content": "Where do I live?"}]
    running = user.context(messages=asked, session_id="monday", exclude_session_id="monday").context
    assert "Lisbon" not in running
    assert "French" in running
    elsewhere = user.context(
        messages=asked, session_id="tuesday", exclude_session_id="tuesday"
    ).context
    assert "Lisbon" in elsewhere
    assert "French" in elsewhere


def test_a_turn_recalls_what_another_session_was_told_in_four_calls(
    user: User, sent: list[str]
) -> None:
    instructions: list[str] = []

    def answer(call: Any) -> ModelStep:
        instructions.append(call.system_instructions)
        return ModelStep(output=[assistant_message("Fine.")])

    for thread, text in [
        ("monday", "I am allergic to peanuts."),
        ("tuesday", "What am I allergic to?"),
    ]:
        agent = Agent(
            name="a",
            instructions=recalling(user, "Be kind.", session_id=thread),
            model=ScriptedModel([ModelStep.respond(answer)]),
        )
        session = MemoryCoreSession(user, thread, form=True)
        asyncio.run(Runner.run(agent, text, session=session))  # each in a loop of its own
    assert instructions[1].startswith("Be kind.\n\n")
    assert "I am allergic to peanuts." in instructions[1]
    items = "/api/v1/sessions/monday/messages"
    assert sorted(sent[:4]) == [
        f"GET {items}",
        "POST /api/v1/context",
        f"POST {items}",
        f"POST {items}",
    ]
    assert len(sent) == 8
