"""An embedder behind a network that takes a request and never answers: queries go on by words,
and say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.requests.memories import ContextInput, RetrieveInput, SaveInput
from memory_core.domain.results import Retrieved
from tests.agents import ScriptedAgents
from tests.builders import ALICE
from tests.memories import MovableClock
from tests.openai_server import OpenAIServer, hangs, refuses

GUARD_S = 30.0
"""Far above the deadline of the tests, far below what the embedder itself may take here."""


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    made = OpenAIServer(16)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def settings(server: OpenAIServer, tmp_path: Path) -> Settings:
    return Settings(
        data=tmp_path,
        embedding_provider="openai",
        embedding_base_url=f"{server.root}/v1",
        embedding_dimensions=16,
        embedding_timeout=600,
        embedding_query_deadline_s=0.5,
    )


@pytest.fixture
async def core(
    server: OpenAIServer, clock: MovableClock, settings: Settings
) -> AsyncIterator[MemoryCore]:
    """Three memories, saved while the embedder answered; then it goes silent."""
    async with MemoryCore(settings, clock=clock) as made:
        await fill(made, server)
        yield made


async def fill(core: MemoryCore, server: OpenAIServer) -> None:
    """Save three memories while the embedder answers, and silence it."""
    for text in ("the red boat sank near Porto", "lunch was late", "Ana sold the blue boat"):
        await core.save(ALICE, SaveInput.model_validate({"type": "episodic", "content": text}))
    await ask(core, "asked before")
    server.bodies.clear()
    server.script = [hangs() for _ in range(20)]


async def ask(core: MemoryCore, text: str) -> Retrieved:
    async with asyncio.timeout(GUARD_S):
        return await core.retrieve(ALICE, RetrieveInput(query=text, similarity_threshold=0.1))


async def asked(server: OpenAIServer, times: int) -> None:
    """So often it was asked and no more, though a request may arrive when no caller waits for its
    answer any longer.
    """
    async with asyncio.timeout(GUARD_S):
        while len(server.bodies) < times:
            await asyncio.sleep(0)
    assert len(server.bodies) == times


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
    await asked(server, 1)


async def test_further_rounds_do_not_wait_for_an_embedder_that_was_silent(
    server: OpenAIServer, clock: MovableClock, settings: Settings
) -> None:
    rewriting = replace(
        Adapters.of(settings, clock, lambda operation, charge: None),
        agents=ScriptedAgents(rewritten=["blue boat"]),
    )
    query = RetrieveInput.model_validate(
        {"query": "red boat captain", "mode": "reconstruct", "similarity_threshold": 0.1}
    )
    async with MemoryCore(settings, clock=clock, adapters=rewriting) as core:
        await fill(core, server)
        async with asyncio.timeout(GUARD_S):
            answer = await core.retrieve(ALICE, query)
    assert answer.rounds == 2
    assert answer.degraded == ("embedder",)
    await asked(server, 1)


async def test_a_context_goes_on_and_says_so_too(core: MemoryCore) -> None:
    async with asyncio.timeout(GUARD_S):
        context = await core.context(ALICE, ContextInput(query="red boat Porto"))
    assert "the red boat sank near Porto" in context.context
    assert context.degraded == ("embedder",)


async def test_after_two_in_a_row_nobody_waits_and_nobody_asks(
    core: MemoryCore, server: OpenAIServer
) -> None:
    answers = [await ask(core, f"red boat {number}") for number in range(6)]
    assert [answer.degraded for answer in answers] == [("embedder",)] * 6
    assert all(answer.results for answer in answers)
    await asked(server, 2)


async def test_a_vector_that_is_held_serves_while_the_embedder_rests(
    core: MemoryCore, server: OpenAIServer
) -> None:
    for number in range(3):
        await ask(core, f"red boat {number}")
    assert (await ask(core, "asked before")).degraded == ()
    await asked(server, 2)


async def test_after_a_rest_one_query_tries_it_and_the_rest_go_on_without(
    core: MemoryCore, server: OpenAIServer, clock: MovableClock
) -> None:
    for number in range(3):
        await ask(core, f"red boat {number}")
    clock.advance(seconds=10)
    answers = await asyncio.gather(*(ask(core, f"blue boat {number}") for number in range(4)))
    assert [answer.degraded for answer in answers] == [("embedder",)] * 4
    await asked(server, 3)
    await ask(core, "still resting")
    await asked(server, 3)


async def test_one_that_answers_again_is_asked_by_all(
    core: MemoryCore, server: OpenAIServer, clock: MovableClock
) -> None:
    for number in range(3):
        await ask(core, f"red boat {number}")
    server.script.clear()
    clock.advance(seconds=10)
    assert [(await ask(core, f"blue boat {number}")).degraded for number in range(3)] == [()] * 3
    await asked(server, 5)


async def test_one_that_only_refuses_is_let_alone_too(
    core: MemoryCore, server: OpenAIServer
) -> None:
    server.script = [refuses(401) for _ in range(20)]
    answers = [await ask(core, f"red boat {number}") for number in range(4)]
    assert [answer.degraded for answer in answers] == [("embedder",)] * 4
    await asked(server, 2)


async def test_saves_are_embedded_while_queries_let_it_rest(
    core: MemoryCore, server: OpenAIServer
) -> None:
    for number in range(3):
        await ask(core, f"red boat {number}")
    server.script.clear()
    saved = await core.save(
        ALICE, SaveInput.model_validate({"type": "episodic", "content": "a green boat came"})
    )
    assert saved.memory.embedding is not None
    await asked(server, 3)


async def test_the_same_question_does_not_wait_again_for_the_vector_it_gave_up_on(
    core: MemoryCore, server: OpenAIServer
) -> None:
    """It would wait for the request of the first, which is still under way."""
    await ask(core, "red boat")
    with pytest.raises(Unavailable):
        # it is not suspended once
        core._services.adapters.embedder.embed_queries(["red boat"]).send(None)
    await asked(server, 1)


async def test_a_model_in_this_process_may_take_its_time_to_load(tmp_path: Path) -> None:
    async with MemoryCore(
        Settings(embedding_provider="minilm", data=tmp_path, embedding_query_deadline_s=1e-6)
    ) as core:
        await core.save(
            ALICE,
            SaveInput.model_validate(
                {"type": "episodic", "content": "the red boat sank near Porto"}
            ),
        )
        assert (await ask(core, "red boat")).degraded == ()
