"""What a model is asked, and what comes of a good answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.adapters.openai.chat import Sampling
from memory_core.adapters.openai.client import Service
from memory_core.ports import Agents
from memory_core.prompts import NAMES, prompt
from tests.chat_server import ChatServer
from tests.memories import NOON
from tests.model_calls import APP, CALLS, ITEMS, MESSAGES, Made, every_call


@pytest.mark.parametrize("name", NAMES)
async def test_each_call_is_one_request_and_its_answer_says_who_gave_it(
    agents: OpenAIAgents, server: ChatServer, name: str
) -> None:
    answer = await CALLS[name](agents)
    assert len(server.bodies) == 1
    assert (
        answer.provenance.model,
        answer.provenance.prompt_id,
        answer.provenance.prompt_version,
    ) == ("gpt-x", name, prompt(name).version)
    assert answer.tokens == (120, 30)


async def test_what_the_model_said_is_what_is_answered(agents: OpenAIAgents) -> None:
    assert (await agents.detect_boundary(APP, MESSAGES, None)).value.cuts[0].after == 1
    assert (await agents.summarise(APP, MESSAGES)).value.retrieval.tags == ["moving"]
    assert (
        await agents.summarise(APP, MESSAGES, fast=True)
    ).value.narrative == "Ana moved to Lisbon."
    assert (await agents.decide_conflicts(APP, ITEMS, ITEMS)).value.decisions[
        0
    ].operation == "DELETE"
    assert (
        "Lisbon"
        in (await agents.synthesise(APP, ITEMS)).value.consolidated_memory.natural_memory_note
    )
    assert (await agents.analyse_episode(APP, MESSAGES)).value.what_worked.strategies == [
        "Asking one question at a time."
    ]


async def test_slots_come_by_their_canonical_names(agents: OpenAIAgents) -> None:
    (fact,) = (await agents.extract_facts(APP, MESSAGES)).value.facts
    assert (fact.subject, fact.attribute, fact.value) == ("Ana", "home city", "Lisbon")


async def test_the_request_carries_settings_schema_and_key(made: Made, server: ChatServer) -> None:
    await made.agents(sampling=Sampling(temperature=0.1, top_p=0.5, max_tokens=77)).extract_facts(
        APP, MESSAGES
    )
    (body,) = server.bodies
    assert (body["model"], body["temperature"], body["top_p"], body["max_tokens"]) == (
        "gpt-x",
        0.1,
        0.5,
        77,
    )
    assert body["response_format"]["type"] == "json_schema"
    schema = body["response_format"]["json_schema"]
    assert (schema["name"], schema["strict"]) == ("ExtractedFacts", True)
    assert schema["schema"]["required"] == ["facts", "foresight", "instructions"]
    assert server.headers[0]["Authorization"] == "Bearer secret-key"


@every_call
async def test_words_of_users_stand_in_the_record_and_never_in_the_instructions(
    agents: OpenAIAgents, server: ChatServer, call: Callable[[Agents], Awaitable[Any]]
) -> None:
    await call(agents)
    (body,) = server.bodies
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert server.systems[0] in {prompt(name).text for name in NAMES}
    assert "Lisbon" not in server.systems[0]
    mark = server.records[0].splitlines()[0].removeprefix("BEGIN ")
    assert f"\n[{mark} | " in server.records[0]
    assert f"\nEND {mark}\n" in server.records[0]
    assert mark not in server.systems[0]


async def test_nobody_tells_the_model_what_day_it_is(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    made.clock.advance(days=1234)
    await agents.extract_facts(APP, MESSAGES)
    today = made.clock.now()
    sent = json.dumps(server.bodies)
    assert f"{today:%Y-%m-%d}" not in sent
    assert f"Friday {NOON.isoformat()}" in sent


async def test_the_previous_episode_is_data_too(agents: OpenAIAgents, server: ChatServer) -> None:
    await CALLS["detect_boundary"](agents)
    assert " | previous episode]\nAna spoke of her boat.\n" in server.records[0]


async def test_a_base_url_with_a_path_is_kept(made: Made, server: ChatServer) -> None:
    agents = made.agents(service=Service(base_url=f"{server.root}/gateway/llm/v1/"))
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).status == "ok"
    assert server.paths == ["/gateway/llm/v1/chat/completions"]


async def test_azure_is_asked_without_a_version_by_the_name_of_the_deployment(
    made: Made, server: ChatServer
) -> None:
    service = Service(provider="azure", base_url=server.root, api_key="azure-key")
    agents = made.agents(service=service, deployment="small-and-cheap")
    answer = await agents.summarise(APP, MESSAGES)
    assert server.paths == ["/openai/v1/chat/completions"]
    assert server.headers[0]["Authorization"] == "Bearer azure-key"
    assert (server.bodies[0]["model"], agents.model, answer.provenance.model) == (
        "small-and-cheap",
        "gpt-x",
        "gpt-x",
    )
    made.clock.advance(minutes=5)
    assert (await agents.check()).adapter == "azure"
    assert server.lookups == 1
