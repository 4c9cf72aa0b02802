"""An embedder behind a network that takes a request and never answers: queries go on by words, and say so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.context import ContextInput
from memory_core.domain.requests import RetrieveInput, SaveInput
from memory_core.rules import retrieve_rules
from tests.builders import ALICE
from tests.openai_server import OpenAIServer, hangs

GUARD_S = 30.0
"""Far above the deadline of the tests, far below what the embedder itself may take here."""


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    made = OpenAIServer(16)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def core(server: OpenAIServer, tmp_path: Path) -> AsyncIterator[MemoryCore]:
    """Three memories, saved while the embedder answered; then it goes silent."""
    settings = Settings(
        data=tmp_path,
        embedding_provider="openai",
        embedding_base_url=f"{server.root}/v1",
        embedding_dimensions=16,
        embedding_timeout=600,
        embedding_query_deadline_s=0.2,
    )
    async with MemoryCore(settings) as made:
        for text in ("the red boat sank near Porto", "lunch was late", "Ana sold the blue boat"):
            await made.save(ALICE, SaveInput.model_validate({"type": "episodic", "content": text}))
        server.bodies.clear()
        server.script = [hangs() for _ in range(20)]
        yield made


@pytest.mark.parametrize("mode", ["fast", "reconstruct"])
async def test_a_query_goes_on_with_the_words_alone_and_names_what_it_did_without(
    core: MemoryCore, server: OpenAIServer, mode: str
) -> None:
    query = RetrieveInput.model_validate({"query": "red boat Porto", "mode": mode})
    async with asyncio.timeout(GUARD_S):
        answer = await core.retrieve(ALICE, query)
    assert answer.results[0].memory.content == "the red boat sank near Porto"
    assert answer.results[0].similarity_score is None
    assert answer.degraded == ("embedder",)
    assert len(server.bodies) == 1


async def test_further_rounds_do_not_wait_for_an_embedder_that_was_silent(core: MemoryCore, server: OpenAIServer) -> None:
    query = RetrieveInput.model_validate({"query": "red boat captain", "mode": "reconstruct", "similarity_threshold": 0.1})
    async with asyncio.timeout(GUARD_S):
        answer = await core.retrieve(ALICE, query)
    assert answer.rounds == 2
    assert answer.degraded == ("embedder",)
    assert len(server.bodies) == 1


async def test_a_context_goes_on_and_says_so_too(core: MemoryCore) -> None:
    async with asyncio.timeout(GUARD_S):
        context = await core.context(ALICE, ContextInput(query="red boat Porto"))
    assert "the red boat sank near Porto" in context.context
    assert context.degraded == ("embedder",)


def test_a_model_in_this_process_may_take_its_time_to_load(tmp_path: Path) -> None:
    assert retrieve_rules(Settings(embedding_provider="minilm", data=tmp_path)).embedding_deadline_s is None
    assert retrieve_rules(Settings(embedding_provider="openai", embedding_base_url="http://127.0.0.1:9/v1")).embedding_deadline_s == 2.0
