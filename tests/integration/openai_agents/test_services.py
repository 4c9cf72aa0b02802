"""A model that is away, slow or busy makes work wait; a server that understands less is asked in
other words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.adapters.openai.chat import Sampling
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.prompts import NAMES
from tests.chat_server import (
    GOOD,
    ChatServer,
    hangs,
    is_cut,
    kind_of,
    reasoning_model,
    refuses,
    says,
    sends,
)
from tests.model_calls import APP, CALLS, MESSAGES, Made


async def test_a_busy_service_is_asked_again_after_the_pause_it_names(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    server.script = [refuses(429, retry_after="3")]
    await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 2
    assert 3 <= made.pauses.asked[0] <= 3 * 1.25


async def test_a_pause_beyond_the_deadline_is_passed_on_instead_of_waited_for(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    server.script = [refuses(429, retry_after="120")]
    with pytest.raises(Unavailable) as caught:
        await agents.summarise(APP, MESSAGES)
    assert (caught.value.dependency, caught.value.retry_after_s, made.pauses.asked) == (
        "agents",
        120,
        [],
    )


async def test_a_failing_service_is_asked_again_and_then_unavailable(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    server.script = [refuses(500), refuses(503)]
    await agents.summarise(APP, MESSAGES)
    server.script = [refuses(500), refuses(502), refuses(503)]
    with pytest.raises(Unavailable, match="agents: it answered HTTP 503"):
        await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 6
    assert made.counted('memory_core_agent_calls_total{call="summarise",outcome="unavailable"} 1.0')


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "invalid_api_key"), (403, None), (404, "model_not_found"), (429, "insufficient_quota")],
)
async def test_what_only_an_operator_can_mend_makes_work_wait(
    agents: OpenAIAgents, server: ChatServer, status: int, code: str | None
) -> None:
    server.script = [refuses(status, code)]
    with pytest.raises(Unavailable, match=f"HTTP {status}") as caught:
        await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 1
    assert "secret-key" not in caught.value.detail


async def test_a_slow_model_is_unavailable_when_its_time_is_over(
    made: Made, server: ChatServer
) -> None:
    server.script = [hangs()]
    agents = made.agents(timeout_s=0.5)
    await agents.open()
    with pytest.raises(Unavailable, match=r"did not answer within 0\.5 s \(LLM_TIMEOUT\)"):
        await agents.summarise(APP, MESSAGES)


async def test_a_cut_connection_is_tried_again_and_then_unavailable(
    agents: OpenAIAgents, server: ChatServer
) -> None:
    server.script = [is_cut()]
    await agents.summarise(APP, MESSAGES)
    server.script = [is_cut(), is_cut(), is_cut()]
    with pytest.raises(Unavailable, match="can't be reached"):
        await agents.summarise(APP, MESSAGES)


async def test_a_service_that_is_not_there_is_unavailable(
    agents: OpenAIAgents, server: ChatServer
) -> None:
    await server.stop()
    with pytest.raises(Unavailable, match="can't be reached"):
        await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).status == "unavailable"


async def test_no_more_calls_are_under_way_than_allowed(made: Made, server: ChatServer) -> None:
    agents = made.agents(concurrency=2)
    most = 0
    released = asyncio.Event()

    async def waits(_: Any, body: dict[str, Any]) -> Any:
        nonlocal most
        most = max(most, agents.pool()[1])
        if len(server.bodies) >= 2:
            released.set()
        await released.wait()
        return await says(json.dumps(GOOD[kind_of(body)]))(_, body)

    server.script = [waits] * 6
    await asyncio.gather(*(agents.summarise(APP, MESSAGES) for _ in range(6)))
    assert (most, agents.pool()) == (2, (2, 0))


def no(*words: str) -> Callable[[dict[str, Any]], str | None]:
    """A server that refuses the first of these words that it finds in a request."""
    return lambda body: next(
        (
            f"'{word}' is not permitted in response_format"
            for word in words
            if f'"{word}"' in json.dumps(body)
        ),
        None,
    )


@pytest.mark.parametrize(
    ("refused", "requests", "form"),
    [
        (["maxLength"], 2, "json_schema"),
        (["json_schema"], 3, "json_object"),
        (["json_schema", "schema"], 4, "json_object"),
        (["response_format"], 5, None),
    ],
    ids=["no bounds", "a schema beside the object", "no schema", "no formats"],
)
async def test_a_server_is_asked_in_words_that_it_understands_and_that_is_remembered(
    made: Made, server: ChatServer, refused: list[str], requests: int, form: str | None
) -> None:
    server.knows = no(*refused)
    agents = made.agents()
    for name in NAMES:
        await CALLS[name](agents)
    assert len(server.bodies) == requests - 1 + len(NAMES)
    asked = server.bodies[-1]
    assert asked.get("response_format", {}).get("type") == form
    # in words the bounds are told with the schema
    assert ("maxLength" in json.dumps(asked)) == (form != "json_schema")
    assert ('"natural_memory_note":' in asked["messages"][0]["content"]) == (form != "json_schema")


async def test_a_server_that_fails_at_a_format_is_asked_for_an_object_with_a_schema(
    made: Made, server: ChatServer
) -> None:
    async def fails_at_formats(_: Any, body: dict[str, Any]) -> Any:
        kind = body["response_format"]["type"]
        if kind != "json_object":
            message = (
                "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
                f"'msg': \"Input should be 'text' or 'json_object'\", 'input': '{kind}'}}]"
            )
            error = {"message": message, "type": "internal_server_error", "code": None}
            return await sends({"error": error}, 500)(_, body)
        names = set(body["response_format"]["schema"]["properties"])
        answer = next(good for good in GOOD.values() if set(good) == names)
        return await says(json.dumps(answer))(_, body)

    server.model = fails_at_formats
    agents = made.agents()
    await agents.summarise(APP, MESSAGES)
    await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 4
    assert '"narrative":' in server.bodies[-1]["messages"][0]["content"]


async def test_a_model_that_wants_other_parameters_gets_them(
    made: Made, server: ChatServer
) -> None:
    def knows(body: dict[str, Any]) -> str | None:
        if "max_tokens" in body:
            return (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead."
            )
        return next(
            (
                f"Unsupported value: '{name}' does not support 0.4"
                for name in ("temperature", "top_p")
                if name in body
            ),
            None,
        )

    server.knows = knows
    agents = made.agents()
    await agents.summarise(APP, MESSAGES)
    await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 5
    assert server.bodies[-1]["max_completion_tokens"] == 3000
    assert not {"max_tokens", "temperature", "top_p"} & server.bodies[-1].keys()
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("efforts", "asked", "requests", "temperature"),
    [
        (("none", "low", "medium"), "none", 2, 0.4),
        (("minimal", "low", "medium"), "minimal", 5, None),
        (("low", "medium", "high"), "low", 6, None),
    ],
    ids=["gpt-5.4-mini", "gpt-5-mini", "o4-mini"],
)
async def test_a_reasoning_model_is_asked_for_the_least_reasoning_that_it_takes(
    made: Made,
    server: ChatServer,
    efforts: tuple[str, ...],
    asked: str,
    requests: int,
    temperature: float | None,
) -> None:
    server.knows = reasoning_model(*efforts)
    agents = made.agents()
    await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == requests
    await agents.summarise(APP, MESSAGES)
    body = server.bodies[-1]
    assert len(server.bodies) == requests + 1
    assert (body["reasoning_effort"], body["max_completion_tokens"], body.get("temperature")) == (
        asked,
        3000,
        temperature,
    )
    assert body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    "refusal",
    [
        {
            "message": "Unrecognized request argument supplied: reasoning_effort",
            "param": None,
            "code": None,
        },
        {
            "message": "'reasoning_effort' is not supported with this model",
            "param": "reasoning_effort",
            "code": "unsupported_parameter",
        },
    ],
)
async def test_a_model_that_knows_no_reasoning_is_not_asked_about_it_again(
    made: Made, server: ChatServer, refusal: dict[str, Any]
) -> None:
    server.knows = lambda body: refusal if "reasoning_effort" in body else None
    agents = made.agents()
    await agents.summarise(APP, MESSAGES)
    await agents.summarise(APP, MESSAGES)
    assert ["reasoning_effort" in body for body in server.bodies] == [True, False, False]
    assert server.bodies[-1]["temperature"] == 0.4


async def test_the_effort_that_is_set_is_asked_for_and_default_says_nothing(
    made: Made, server: ChatServer
) -> None:
    for effort in ("medium", None):
        await made.agents(sampling=Sampling(effort=effort)).summarise(APP, MESSAGES)
    assert [body.get("reasoning_effort") for body in server.bodies] == ["medium", None]


async def test_calls_that_are_refused_together_learn_it_once(
    made: Made, server: ChatServer
) -> None:
    server.knows = no("maxLength")
    agents = made.agents()
    await asyncio.gather(*(agents.summarise(APP, MESSAGES) for _ in range(5)))
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


async def test_a_server_that_refuses_everything_is_not_asked_for_ever(
    made: Made, server: ChatServer
) -> None:
    server.knows = lambda _: "response_format, temperature, top_p and max_tokens are wrong"
    with pytest.raises(AgentFailed, match="refused"):
        await made.agents().summarise(APP, MESSAGES)
    assert len(server.bodies) <= 8
