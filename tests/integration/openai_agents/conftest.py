"""A chat server on a real socket, and agents that ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from tests.certificates import self_signed
from tests.chat_server import ChatServer
from tests.model_calls import Made


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one authority that clients trust here: each reads its list of them, a hundred and more,
    though it speaks plain HTTP.
    """
    return self_signed(tmp_path_factory.mktemp("authority") / "certificate.pem")


@pytest.fixture(autouse=True)
def few_authorities(authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))


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
