"""The agents against a real server of the protocol with a real model: what it is sent it takes,
and what it writes has the form.

The model is far too small to be right about anything, so nothing here is about what it says. About
25 s on two busy cores; the whole prompts take some minutes and run by `make test-long`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.adapters.openai.answers import answer_in
from memory_core.adapters.openai.budget import Budget
from memory_core.adapters.openai.chat import Chat, Form, Reply, Sampling
from memory_core.adapters.openai.client import Retries, Service
from memory_core.adapters.openai.prompt_record import Echoes
from memory_core.domain.agent_schemas import Narrative
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.prompts import NAMES, Name, Prompt, prompt
from tests.llama_server import running
from tests.memories import MovableClock
from tests.model_calls import APP, CALLS, MESSAGES

DEPLOYMENT = "tiny"
SHORT: Prompt[Any] = replace(prompt("summarise_fast"), text="Answer with a JSON object.")
"""Reading a prompt takes this model longer than answering it."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running() as address:
        yield address


class Watched(Chat):
    """Keeps what the model wrote."""

    replies: list[Reply]

    async def ask(self, prompt: Prompt[Any], record: str) -> Reply:
        reply = await super().ask(prompt, record)
        self.replies = [*getattr(self, "replies", []), reply]
        return reply


def chat(address: str, max_tokens: int, timeout_s: float = 300.0, **service: Any) -> Watched:
    where = Service(**{"base_url": f"{address}/v1", **service})
    sampling = Sampling(temperature=0, max_tokens=max_tokens)
    return Watched(
        where,
        DEPLOYMENT,
        MovableClock(),
        sampling=sampling,
        timeout_s=timeout_s,
        retries=Retries(tries=1, deadline_s=timeout_s),
    )


@pytest.fixture
async def asked(server: str) -> AsyncIterator[Watched]:
    made = chat(server, 40)
    yield made
    await made.close()


@pytest.mark.parametrize("name", NAMES)
async def test_the_server_takes_the_strictest_schema_and_writes_by_it(
    asked: Watched, name: Name
) -> None:
    short: Prompt[Any] = replace(prompt(name), text=SHORT.text)
    reply = await asked.ask(short, "Ana moved to Lisbon.")
    assert asked._dialect.form is Form.BOUNDED_SCHEMA
    first = next(iter(short.answer.model_fields))
    assert "".join(reply.text.split()).startswith(f'{{"{first}":')
    assert 0 < reply.tokens[1] <= 40
    assert (reply.cut, reply.failure) == (reply.tokens[1] == 40, None)


async def test_an_answer_that_ends_by_itself_is_right_as_it_stands(server: str) -> None:
    made = chat(server, 300)
    reply = await made.ask(
        replace(SHORT, text='Answer with this JSON object: {"narrative": "Hello."}'), "Hello."
    )
    assert not reply.cut
    assert not answer_in(reply.text, Narrative, Echoes(frozenset(), ())).repaired
    await made.close()


async def test_a_model_that_takes_too_long_is_unavailable(server: str) -> None:
    made = chat(server, 2000, timeout_s=0.4)
    await made.open()
    with pytest.raises(Unavailable, match="did not answer within"):
        await made.ask(SHORT, "Ana moved to Lisbon.")
    await made.close()


async def test_a_record_that_the_model_cannot_hold_is_a_failure(server: str) -> None:
    made = chat(server, 12)
    agents = OpenAIAgents(made, Budget(None, MovableClock()), MovableClock())
    long = [
        message.model_copy(update={"content": "Lisbon is on seven hills. " * 2000})
        for message in MESSAGES
    ]
    with pytest.raises(AgentFailed, match="refused: HTTP 400"):
        await agents.summarise(APP, long, fast=True)
    await agents.close()


async def test_addresses_of_azures_shape_are_asked() -> None:
    with running("/openai") as address:
        made = chat(address, 12, provider="azure", base_url=address, api_key="k")
        assert (await made.ask(SHORT, "Ana moved.")).text.lstrip().startswith("{")
        await made.close()


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
async def test_each_call_with_its_whole_prompt_gives_an_answer_or_fails_as_it_should(
    server: str, name: str
) -> None:
    made = chat(server, 700)
    agents = OpenAIAgents(made, Budget(None, MovableClock()), MovableClock())
    try:
        answer = await CALLS[name](agents)
    except AgentFailed:
        assert made.replies[0].text
    else:
        assert answer.provenance.prompt_id == name
    assert len(made.replies) == 1
    assert (await agents.check()).status == "ok"
    await agents.close()
