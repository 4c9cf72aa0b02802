"""Each adapter bounds its contexts where `max_tokens` says so, and leaves them to the service's
default otherwise.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from agent_framework import AgentSession, Message, SessionContext
from agents import Agent, RunContextWrapper
from langchain_core.messages import HumanMessage

from memory_core_client import Invalid, MemoryCore, User
from memory_core_client.agent_framework import MemoryCoreProvider
from memory_core_client.langgraph import MemoryNodes
from memory_core_client.openai_agents import recalling
from memory_core_client.tools import memory_functions

QUESTION = "What grows in Ana's garden?"


@pytest.fixture(scope="module")
def user(host: httpx.Client) -> Iterator[User]:
    """A user with twelve memories that answer the question, together far longer than 100 tokens."""
    with MemoryCore(str(host.base_url)) as service:
        owner = service.user(uuid.uuid4().hex)
        crops = [
            "peas",
            "leeks",
            "kale",
            "beans",
            "chard",
            "garlic",
            "onions",
            "carrots",
            "turnips",
            "lettuce",
            "spinach",
            "radishes",
        ]
        owner.save_many(
            [
                {
                    "content": (
                        f"In Ana's garden grow {crop}, in a bed beside the wall that Ana waters in "
                        "the evening."
                    )
                }
                for crop in crops
            ]
        )
        yield owner


def by_nodes(user: User, max_tokens: int | None) -> str:
    config: Any = {"configurable": {"user_id": user.user_id, "thread_id": "t"}}
    nodes = MemoryNodes(user._service, max_tokens=max_tokens)
    return str(nodes.recall({"messages": [HumanMessage(QUESTION)]}, config)["context"])


def by_instructions(user: User, max_tokens: int | None) -> str:
    run: Any = RunContextWrapper(context=None, turn_input=[{"role": "user", "content": QUESTION}])
    return asyncio.run(_text(recalling(user, "", max_tokens=max_tokens)(run, Agent(name="a"))))


def by_provider(user: User, max_tokens: int | None) -> str:
    context = SessionContext(input_messages=[Message("user", [QUESTION])])
    provider = MemoryCoreProvider(user, max_tokens=max_tokens)
    asyncio.run(
        provider.before_run(
            agent=None, session=AgentSession(session_id="t"), context=context, state={}
        )
    )
    return "".join(context.instructions)


def by_function(user: User, max_tokens: int | None) -> str:
    (recall, _) = memory_functions(user, max_tokens=max_tokens)
    return asyncio.run(_text(recall(QUESTION)))


async def _text(answer: Any) -> str:
    return str(await answer)


@pytest.mark.parametrize("recall", [by_nodes, by_instructions, by_provider, by_function])
def test_a_context_is_as_long_as_the_adapter_is_told(
    recall: Callable[[User, int | None], str], user: User
) -> None:
    bounded, default = recall(user, 100), recall(user, None)
    assert "Ana's garden" in bounded
    assert len(bounded) < 100 * 6 < len(default)


def test_a_length_that_the_service_does_not_offer_is_an_error(user: User) -> None:
    with pytest.raises(Invalid, match="max_tokens"):
        by_nodes(user, 20)
