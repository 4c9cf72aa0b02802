"""A chat server on a real socket, and agents that ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from tests.chat_server import ChatServer
from tests.model_calls import Made


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    made = ChatServer()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def made(server: ChatServer) -> AsyncIterator[Made]:
    made = Made(server)
    yield made
    await made.close()


@pytest.fixture
def agents(made: Made) -> OpenAIAgents:
    return made.agents()
