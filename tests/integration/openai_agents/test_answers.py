"""Answers that need mending, and answers that are none: one call of the model each,
whatever it wrote.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.domain.errors import AgentFailed
from memory_core.ports import Agents
from memory_core.prompts import NAMES, prompt
from tests.chat_server import GOOD, ChatServer, kind_of, refuses, says, sends
from tests.model_calls import APP, CALLS, MESSAGES, Made, every_call


@pytest.mark.parametrize(
    "wrapping",
    [
        "```json\n{}\n```",
        "Of course! {} Anything else?",
        "<think>What is a fact?\nLet me see {{}}.</think>\n\n{}",
        "thoughts</think>{}",
    ],
    ids=["code fence", "chatter", "thoughts", "thoughts without a beginning"],
)
@pytest.mark.parametrize("name", NAMES)
async def test_what_stands_around_an_answer_is_taken_off_without_asking_again(
    agents: OpenAIAgents, server: ChatServer, made: Made, name: str, wrapping: str
) -> None:
    good = await CALLS[name](agents)
    text = json.dumps(GOOD[kind_of(server.bodies[0])])
    server.script = [
        says(
            wrapping.replace("{{}}", "{}").replace("{}", text)
            if "{{}}" not in wrapping
            else f"<think>a {{}}</think>{text}"
        )
    ]
    assert (await CALLS[name](agents)).value == good.value
    assert len(server.bodies) == 2
    assert made.counted(f'memory_core_agent_calls_total{{call="{name}",outcome="repaired"}} 1.0')


async def test_of_a_truncated_list_the_whole_items_are_kept(
    agents: OpenAIAgents, server: ChatServer
) -> None:
    facts = [
        {**GOOD["ExtractedFacts"]["facts"][0], "text": f"fact {number}"} for number in range(5)
    ]
    text = json.dumps({"facts": facts, "foresight": []})
    server.script = [says(text[: text.index("fact 3") + 9], finish="length")]
    answer = await agents.extract_facts(APP, MESSAGES)
    assert [fact.text for fact in answer.value.facts] == ["fact 0", "fact 1", "fact 2"]


async def test_wrong_items_are_left_out_and_that_is_logged_without_their_words(
    agents: OpenAIAgents, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    facts = [
        *GOOD["ExtractedFacts"]["facts"],
        {"text": "hush-hush"},
        {**GOOD["ExtractedFacts"]["facts"][0], "message": "zero"},
    ]
    server.script = [says(json.dumps({"facts": facts, "foresight": []}))]
    with caplog.at_level(logging.WARNING):
        assert len((await agents.extract_facts(APP, MESSAGES)).value.facts) == 1
    assert "left out 2 things" in caplog.text
    assert "hush" not in caplog.text


@pytest.mark.parametrize(
    "behaviour",
    [
        says(None, refusal="I can't talk about that."),
        says("I can't help with that."),
        says(None, finish="content_filter"),
        says("Half of it", finish="content_filter"),
        refuses(400, "content_filter"),
        refuses(400, "context_length_exceeded"),
        refuses(413),
        says(""),
        says("   ", finish="length"),
        says('{"narrative": "It was a dark and', finish="length"),
        says('{"foo": 1}'),
        says("[]]"),
        sends({"id": "x", "object": "chat.completion", "choices": []}),
        sends({"choices": None}),
        sends({"choices": [{}]}),
        sends({"choices": [{"message": {"content": [1]}}]}),
        sends({}),
        sends([]),
        sends("a text"),
        sends(None),
    ],
    ids=[
        "refusal", "refusal in words", "filtered", "half filtered", "prompt filtered", "too long",
        "too large", "nothing", "blanks, cut", "a story, cut", "another schema", "garbage",
        "no choices", "null choices", "empty choice", "content of a kind", "empty object", "list",
        "string", "null",
    ],
)  # fmt: skip
@every_call
async def test_an_answer_that_cannot_be_used_is_a_failure_after_one_call(
    agents: OpenAIAgents,
    server: ChatServer,
    call: Callable[[Agents], Awaitable[Any]],
    behaviour: Any,
) -> None:
    server.script = [behaviour]
    with pytest.raises(AgentFailed) as caught:
        await call(agents)
    assert len(server.bodies) == 1
    assert "Lisbon" not in caught.value.detail
    assert "secret-key" not in caught.value.detail
    assert "gpt-x" in caught.value.detail


@pytest.mark.parametrize("name", [name for name in NAMES if prompt(name).examples])
async def test_an_answer_equal_to_the_prompts_example_is_a_failure(
    agents: OpenAIAgents, server: ChatServer, name: str
) -> None:
    for example in prompt(name).examples:
        server.script = [says(json.dumps(example))]
        with pytest.raises(AgentFailed):
            await CALLS[name](agents)


async def test_a_failure_is_counted_and_its_tokens_too(
    agents: OpenAIAgents, made: Made, server: ChatServer
) -> None:
    server.script = [says("no")]
    with pytest.raises(AgentFailed):
        await agents.summarise(APP, MESSAGES)
    assert made.counted('memory_core_agent_calls_total{call="summarise",outcome="failed"} 1.0')
    assert made.counted(
        'memory_core_llm_tokens_total{app="shop",kind="prompt",model="gpt-x"} 120.0'
    )
    assert made.counted(
        'memory_core_llm_tokens_total{app="shop",kind="completion",model="gpt-x"} 30.0'
    )
