"""What a model costs and how much it may: tokens, budgets, settings, and readiness that
costs nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.requests.memories import ConverseInput, ListInput
from memory_core.domain.scope import Owner
from memory_core.telemetry import Telemetry
from tests.chat_server import GOOD, ChatServer, completion, is_proof, kind_of, refuses, says, sends
from tests.memories import MovableClock
from tests.model_calls import APP, MESSAGES, Made
from tests.reading_model import ReadingModel


async def test_an_app_that_has_used_up_its_day_costs_nothing_more_until_the_next(
    made: Made, server: ChatServer
) -> None:
    agents = made.agents(cap=300)
    await agents.summarise(APP, MESSAGES)
    await agents.summarise(APP, MESSAGES)
    with pytest.raises(AgentFailed, match="300 tokens for 2026-05-08"):
        await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 2
    await agents.summarise(Owner("another-app", "ana"), MESSAGES)
    assert (await agents.check()).facts == {"apps_over_daily_tokens": 1}
    assert made.counted('memory_core_agent_calls_total{call="summarise",outcome="over_budget"} 1.0')
    made.clock.advance(days=1)
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).facts == {}


async def test_tokens_that_a_server_does_not_count_are_estimated(
    made: Made, server: ChatServer
) -> None:
    text = json.dumps(GOOD["Narrative"])
    server.script = [
        sends(
            {
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": text},
                    }
                ]
            }
        )
    ]
    answer = await made.agents().summarise(APP, MESSAGES, fast=True)
    assert answer.tokens == ((len(server.systems[0]) + len(server.records[0])) // 4, len(text) // 4)


async def test_apps_without_number_do_not_flood_the_metrics(made: Made) -> None:
    for number in range(300):
        made.telemetry.tokens(f"app-{number}", "m", 1, 1)
    lines = [
        line
        for line in made.telemetry.text({}, {}).decode().splitlines()
        if line.startswith("memory_core_llm_tokens_total{")
    ]
    assert len(lines) == 2 * 201
    assert made.counted(
        'memory_core_llm_tokens_total{app="(others)",kind="prompt",model="m"} 100.0'
    )


async def test_settings_choose_the_model_and_all_that_is_set_reaches_it(
    server: ChatServer, tmp_path: Path
) -> None:
    settings = Settings.from_env(
        {
            "LLM_PROVIDER": "openai", "LLM_BASE_URL": f"{server.root}/v1",
            "LLM_API_KEY": "secret-key", "LLM_MODEL": "gpt-y", "LLM_DEPLOYMENT": "dep-y",
            "LLM_REASONING_EFFORT": "low", "LLM_TEMPERATURE": "0", "LLM_TOP_P": "0.3",
            "LLM_MAX_TOKENS": "99", "LLM_CONCURRENCY": "3", "LLM_DAILY_TOKENS": "150",
            "EMBEDDING_PROVIDER": "hash", "MEMORY_DATA": str(tmp_path),
        }
    )  # fmt: skip
    telemetry = Telemetry()
    made = Adapters.of(settings, MovableClock(), telemetry.charged, telemetry)
    await made.long_term.open()
    await made.agents.summarise(APP, MESSAGES)
    with pytest.raises(AgentFailed, match="150 tokens"):
        await made.agents.summarise(APP, MESSAGES)
    (body,) = server.bodies
    assert (body["model"], body["temperature"], body["top_p"], body["max_tokens"]) == (
        "dep-y",
        0,
        0.3,
        99,
    )
    assert body["reasoning_effort"] == "low"
    assert made.pools()["agents"] == (3, 0)
    assert made.agents.model == "gpt-y"
    assert made.rules is not made.agents
    assert (
        'memory_core_llm_tokens_total{app="shop",kind="prompt",model="gpt-y"} 120.0'
        in telemetry.text({}, {}).decode()
    )
    await made.agents.close()
    await made.long_term.close()


async def test_a_conversation_is_formed_by_a_model_and_readiness_and_metrics_tell_of_it(
    server: ChatServer, tmp_path: Path
) -> None:
    """Everything real but the model, which reads what it is sent and answers as rules would."""
    server.model = ReadingModel()
    settings = Settings(
        llm_provider="openai",
        llm_base_url=f"{server.root}/v1",
        llm_model="gpt-y",
        embedding_provider="hash",
        data=tmp_path,
    )
    async with MemoryCore(settings) as core:
        assert (await core.ready())["dependencies"]["agents"]["adapter"] == "openai"
        owner = Owner("local", "ana")
        messages = [
            {"role": "user", "content": text, "timestamp": "2026-05-08T12:00:00Z"}
            for text in ("I live in Lisbon.", "I work as a nurse.")
        ]
        await core.converse(
            owner, ConverseInput.model_validate({"session_id": "s1", "messages": messages})
        )
        for delivery in await core.queue.receive("formation", 1, timedelta(seconds=30)):
            await core.work(delivery.body)
        memories = (await core.list(owner, ListInput())).memories
        assert {"User lives in Lisbon"} <= {memory.content for memory in memories}
        assert {memory.model for memory in memories} == {"gpt-y"}
        assert (
            'memory_core_llm_tokens_total{app="local",kind="completion",model="gpt-y"}'
            in core.metrics().decode()
        )
    cells = sum(memory.category == "cell" for memory in memories)
    assert Counter("proof" if is_proof(body) else kind_of(body) for body in server.bodies) == {
        "proof": 1,
        "Boundaries": 1, "ExtractedFacts": cells, "EpisodeAnalysis": cells,
        "ConversationSummary": cells
    }  # fmt: skip


async def test_a_user_whose_tokens_are_used_up_has_conversations_formed_by_rule_and_the_task_says_so(  # noqa: E501
    server: ChatServer, tmp_path: Path
) -> None:
    server.model = ReadingModel()
    settings = Settings(
        llm_provider="openai",
        llm_base_url=f"{server.root}/v1",
        embedding_provider="hash",
        data=tmp_path,
        llm_daily_tokens_user=50,
    )
    ana, results = Owner("local", "ana"), []
    async with MemoryCore(settings) as core:
        for text in ("I live in Lisbon.", "I work as a nurse."):
            accepted = await core.converse(
                ana, ConverseInput.model_validate({"messages": [{"role": "user", "content": text}]})
            )
            for delivery in await core.queue.receive("formation", 1, timedelta(seconds=30)):
                await core.work(delivery.body)
            results.append((await core.task(ana, accepted.task_id)).result)
        assert (await core.ready())["dependencies"]["agents"]["facts"] == {
            "users_over_daily_tokens": 1
        }
        tokens = (await core.usage(ana))["model_tokens"]
        assert tokens["used"] == tokens["limit"] == 50
        contents = {memory.content for memory in (await core.list(ana, ListInput())).memories}
    assert [result["counts"].get("by_rule", 0) for result in results if result] == [0, 1]
    assert {"User lives in Lisbon", "User works as a nurse"} <= contents
    kinds = Counter("proof" if is_proof(body) else kind_of(body) for body in server.bodies)
    assert kinds["ExtractedFacts"] == kinds["ConversationSummary"] == 1, (
        "of the second conversation no model was asked"
    )


async def test_readiness_has_the_model_answer_one_word_and_costs_no_tokens_after_that(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    """A list of models says nothing of a deployment that is missing or of a model
    that is retired.
    """
    assert (await agents.check()).status == "ok"
    assert [body["messages"][0]["content"] for body in server.bodies] == [
        "Answer with the word ready."
    ]
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).last_ok == made.clock.now()
    made.clock.advance(minutes=2)
    assert (await agents.check()).status == "ok"
    assert (len(server.bodies), server.lookups) == (2, 1)


async def test_readiness_of_a_process_that_has_called_costs_no_tokens(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    await agents.summarise(APP, MESSAGES)
    made.clock.advance(minutes=2)
    assert (await agents.check()).status == "ok"
    assert (len(server.bodies), server.lookups) == (1, 1)


async def test_a_deployment_that_is_missing_is_seen_until_it_is_there(
    agents: OpenAIAgents, server: ChatServer
) -> None:
    server.script = [refuses(404, "DeploymentNotFound"), refuses(410, "ModelDeprecated")]
    assert (await agents.check()).detail == "agents: it answered HTTP 404 (DeploymentNotFound)"
    assert (await agents.check()).detail == "agents: it answered HTTP 410 (ModelDeprecated)"
    assert (await agents.check()).status == "ok"
    assert server.lookups == 0


async def test_a_slow_first_answer_serves_the_check_after_the_one_that_stopped_waiting(
    agents: OpenAIAgents, server: ChatServer
) -> None:
    answered = asyncio.Event()

    async def waits(_: Any, __: dict[str, Any]) -> Any:
        await answered.wait()
        return completion("ready")

    server.script = [waits]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await agents.check()
    answered.set()
    assert (await agents.check()).status == "ok"
    assert len(server.bodies) == 1


async def test_a_server_without_a_list_of_models_answers_all_the_same(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    await agents.summarise(APP, MESSAGES)
    made.clock.advance(minutes=2)
    server.models_status = 404
    assert (await agents.check()).status == "ok"
    server.models_status = 401
    health = await agents.check()
    assert (health.status, health.detail) == (
        "unavailable",
        "agents: it answered HTTP 401 (no code)",
    )


REASONED = {
    "prompt_tokens": 120,
    "completion_tokens": 530,
    "total_tokens": 650,
    "completion_tokens_details": {"reasoning_tokens": 500},
}


async def test_tokens_of_reasoning_are_paid_for_and_told_apart(
    made: Made, server: ChatServer
) -> None:
    server.script = [says(json.dumps(GOOD["Narrative"]), usage=REASONED)]
    agents = made.agents(cap=600)
    answer = await agents.summarise(APP, MESSAGES, fast=True)
    assert answer.tokens == (120, 530)
    assert made.counted(
        'memory_core_llm_tokens_total{app="shop",kind="completion",model="gpt-x"} 530.0'
    )
    assert made.counted('memory_core_llm_reasoning_tokens_total{app="shop",model="gpt-x"} 500.0')
    with pytest.raises(AgentFailed, match="used up"):
        await agents.summarise(APP, MESSAGES)


async def test_reasoning_that_a_service_counts_in_the_total_only_is_paid_for_too(
    made: Made, server: ChatServer
) -> None:
    server.script = [
        says(json.dumps(GOOD["Narrative"]), usage=REASONED | {"completion_tokens": 30})
    ]
    assert (await made.agents().summarise(APP, MESSAGES, fast=True)).tokens == (120, 530)


async def test_an_answer_that_reasoning_left_no_room_for_says_so(
    made: Made, server: ChatServer
) -> None:
    server.script = [says("", "length", usage=REASONED)]
    with pytest.raises(
        AgentFailed,
        match=r"nothing within its limit of tokens, of which reasoning took 500 \(LLM_REASONING_EFFORT\)",  # noqa: E501
    ):
        await made.agents().summarise(APP, MESSAGES)


async def test_readiness_says_why_the_last_call_failed_until_one_succeeds(
    agents: OpenAIAgents, server: ChatServer
) -> None:
    server.script = [refuses(429, "insufficient_quota")]
    with pytest.raises(Unavailable):
        await agents.summarise(APP, MESSAGES)
    health = await agents.check()
    assert (health.status, health.detail) == (
        "degraded",
        "the last call failed: agents: it answered HTTP 429 (insufficient_quota)",
    )
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).status == "ok"
