"""The agents over the wire: what is asked, what is believed, what is tried again, and how each way of failing ends."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.adapters.openai.budget import Budget
from memory_core.adapters.openai.chat import Chat, Sampling
from memory_core.adapters.openai.client import Service
from memory_core.adapters.openai.retries import Retries
from memory_core.adapters.redis.embedded import embedded
from memory_core.adapters.redis.none import NoShortTermStore
from memory_core.domain.agent_answers import Answered
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.evolution.shown import Rulings, Shown
from memory_core.ports import Agents, DecisionItem
from memory_core.prompts import NAMES, prompt
from memory_core.telemetry import Telemetry
from tests.chat_server import GOOD, ChatServer, hangs, is_cut, kind_of, refuses, says, sends
from tests.injections import ALL
from tests.memories import NOON, MovableClock, turn

APP = "shop"
MESSAGES = [
    Message(role="user", content="I moved to Lisbon, and I have a cold.", timestamp=NOON, actor="Ana"),
    Message(role="assistant", content="Get well soon!", timestamp=NOON + timedelta(minutes=1)),
    Message(role="user", content="Shall we plan a dinner? Кофе, 日本語 🙂", timestamp=NOON + timedelta(minutes=2), actor="Ana"),
]
ITEMS = [DecisionItem(0, "Ana lives in Lisbon", "fact", NOON, ("ana", "home city")), DecisionItem(1, "Ana sails", "fact", NOON)]
CALLS: dict[str, Callable[[Agents], Awaitable[Answered[Any]]]] = {
    "detect_boundary": lambda agents: agents.detect_boundary(APP, MESSAGES, "Ana spoke of her boat."),
    "analyse_episode": lambda agents: agents.analyse_episode(APP, MESSAGES),
    "summarise": lambda agents: agents.summarise(APP, MESSAGES),
    "summarise_fast": lambda agents: agents.summarise(APP, MESSAGES, fast=True),
    "extract_facts": lambda agents: agents.extract_facts(APP, MESSAGES),
    "decide_conflicts": lambda agents: agents.decide_conflicts(APP, ITEMS, ITEMS),
    "synthesise": lambda agents: agents.synthesise(APP, ITEMS, "these numbers are missing: 7"),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


class Pauses:
    """Stands in for sleep: remembers how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


class Made:
    """Agents, and what they were made with."""

    def __init__(self, server: ChatServer) -> None:
        self.server = server
        self.pauses, self.clock, self.telemetry = Pauses(), MovableClock(), Telemetry()
        self._closing: list[OpenAIAgents] = []

    def agents(self, *, service: Service | None = None, timeout_s: float = 5.0, cap: int | None = None, **given: Any) -> OpenAIAgents:
        service = service or Service(base_url=f"{self.server.root}/v1", api_key="secret-key")
        retries = given.pop("retries", Retries(tries=3, deadline_s=timeout_s, sleep=self.pauses))
        budget = Budget(cap, self.clock, given.pop("short_term", NoShortTermStore()))
        chat = Chat(service, "gpt-x", self.clock, timeout_s=timeout_s, retries=retries, **given)
        made = OpenAIAgents(chat, budget, self.clock, self.telemetry)
        self._closing.append(made)
        return made

    def counted(self, line: str) -> bool:
        return line in self.telemetry.text({}, {}).decode()

    async def close(self) -> None:
        for one in self._closing:
            await one.close()


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


# what is asked, and what comes of a good answer


@pytest.mark.parametrize("name", NAMES)
async def test_each_call_is_one_request_and_its_answer_says_who_gave_it(agents: OpenAIAgents, server: ChatServer, name: str) -> None:
    answer = await CALLS[name](agents)
    assert len(server.bodies) == 1
    assert (answer.provenance.model, answer.provenance.prompt_id, answer.provenance.prompt_version) == ("gpt-x", name, "1")
    assert answer.tokens == (120, 30)


async def test_what_the_model_said_is_what_is_answered(agents: OpenAIAgents) -> None:
    assert (await agents.detect_boundary(APP, MESSAGES, None)).value.cuts[0].after == 1
    assert (await agents.summarise(APP, MESSAGES)).value.retrieval.tags == ["moving"]
    assert (await agents.summarise(APP, MESSAGES, fast=True)).value.narrative == "Ana moved to Lisbon."
    assert (await agents.decide_conflicts(APP, ITEMS, ITEMS)).value.decisions[0].operation == "DELETE"
    assert "Lisbon" in (await agents.synthesise(APP, ITEMS)).value.consolidated_memory.natural_memory_note
    assert (await agents.analyse_episode(APP, MESSAGES)).value.what_worked.strategies == ["Asking one question at a time."]


async def test_slots_come_by_their_canonical_names(agents: OpenAIAgents) -> None:
    (fact,) = (await agents.extract_facts(APP, MESSAGES)).value.facts
    assert (fact.subject, fact.attribute, fact.value) == ("Ana", "home city", "Lisbon")


async def test_the_request_carries_settings_schema_and_key(made: Made, server: ChatServer) -> None:
    await made.agents(sampling=Sampling(temperature=0.1, top_p=0.5, max_tokens=77)).extract_facts(APP, MESSAGES)
    (body,) = server.bodies
    assert (body["model"], body["temperature"], body["top_p"], body["max_tokens"]) == ("gpt-x", 0.1, 0.5, 77)
    assert body["response_format"]["type"] == "json_schema"
    schema = body["response_format"]["json_schema"]
    assert (schema["name"], schema["strict"]) == ("ExtractedFacts", True)
    assert schema["schema"]["required"] == ["facts", "foresight"]
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


async def test_nobody_tells_the_model_what_day_it_is(agents: OpenAIAgents, made: Made, server: ChatServer) -> None:
    made.clock.advance(days=1234)
    await agents.extract_facts(APP, MESSAGES)
    today = made.clock.now()
    sent = json.dumps(server.bodies)
    assert f"{today:%Y-%m-%d}" not in sent
    assert f"Friday {NOON.isoformat()}" in sent


async def test_the_previous_episode_and_the_complaint_are_data_too(agents: OpenAIAgents, server: ChatServer) -> None:
    await CALLS["detect_boundary"](agents)
    await CALLS["synthesise"](agents)
    assert " | previous episode]\nAna spoke of her boat.\n" in server.records[0]
    assert " | complaint]\nthese numbers are missing: 7\n" in server.records[1]


async def test_a_base_url_with_a_path_is_kept(made: Made, server: ChatServer) -> None:
    agents = made.agents(service=Service(base_url=f"{server.root}/gateway/llm/v1/"))
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).status == "ok"
    assert server.paths == ["/gateway/llm/v1/chat/completions"]


async def test_azure_is_asked_by_deployment_version_and_its_own_header(made: Made, server: ChatServer) -> None:
    service = Service(provider="azure", base_url=server.root, api_key="azure-key", api_version="2024-10-21")
    agents = made.agents(service=service)
    await agents.summarise(APP, MESSAGES)
    assert server.paths == ["/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21"]
    assert server.headers[0]["api-key"] == "azure-key"
    made.clock.advance(minutes=5)
    assert (await agents.check()).adapter == "azure"
    assert server.lookups == 1


# answers that need mending


@pytest.mark.parametrize(
    "wrapping",
    ["```json\n{}\n```", "Of course! {} Anything else?", "<think>What is a fact?\nLet me see {{}}.</think>\n\n{}", "thoughts</think>{}"],
    ids=["code fence", "chatter", "thoughts", "thoughts without a beginning"],
)
@pytest.mark.parametrize("name", NAMES)
async def test_what_stands_around_an_answer_is_taken_off_without_asking_again(
    agents: OpenAIAgents, server: ChatServer, made: Made, name: str, wrapping: str
) -> None:
    good = await CALLS[name](agents)
    text = json.dumps(GOOD[kind_of(server.bodies[0])])
    server.script = [says(wrapping.replace("{{}}", "{}").replace("{}", text) if "{{}}" not in wrapping else f"<think>a {{}}</think>{text}")]
    assert (await CALLS[name](agents)).value == good.value
    assert len(server.bodies) == 2
    assert made.counted(f'memory_core_agent_calls_total{{call="{name}",outcome="repaired"}} 1.0')


async def test_of_a_truncated_list_the_whole_items_are_kept(agents: OpenAIAgents, server: ChatServer) -> None:
    facts = [{**GOOD["ExtractedFacts"]["facts"][0], "text": f"fact {number}"} for number in range(5)]
    text = json.dumps({"facts": facts, "foresight": []})
    server.script = [says(text[: text.index("fact 3") + 9], finish="length")]
    answer = await agents.extract_facts(APP, MESSAGES)
    assert [one.text for one in answer.value.facts] == ["fact 0", "fact 1", "fact 2"]


async def test_wrong_items_are_left_out_and_that_is_logged_without_their_words(
    agents: OpenAIAgents, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    facts = [*GOOD["ExtractedFacts"]["facts"], {"text": "hush-hush"}, {**GOOD["ExtractedFacts"]["facts"][0], "message": "zero"}]
    server.script = [says(json.dumps({"facts": facts, "foresight": []}))]
    with caplog.at_level(logging.WARNING):
        assert len((await agents.extract_facts(APP, MESSAGES)).value.facts) == 1
    assert "left out 2 things" in caplog.text
    assert "hush" not in caplog.text


# answers that are none


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
        "refusal", "refusal in words", "filtered", "half filtered", "prompt filtered", "too long", "too large", "nothing", "blanks, cut",
        "a story, cut", "another schema", "garbage", "no choices", "null choices", "empty choice", "content of a kind", "empty object",
        "list", "string", "null",
    ],
)  # fmt: skip
@every_call
async def test_an_answer_that_cannot_be_used_is_a_failure_after_one_call(
    agents: OpenAIAgents, server: ChatServer, call: Callable[[Agents], Awaitable[Any]], behaviour: Any
) -> None:
    server.script = [behaviour]
    with pytest.raises(AgentFailed) as caught:
        await call(agents)
    assert len(server.bodies) == 1
    assert "Lisbon" not in caught.value.detail
    assert "secret-key" not in caught.value.detail
    assert "gpt-x" in caught.value.detail


@pytest.mark.parametrize("name", [name for name in NAMES if prompt(name).examples])
async def test_an_answer_equal_to_the_prompts_example_is_a_failure(agents: OpenAIAgents, server: ChatServer, name: str) -> None:
    for example in prompt(name).examples:  # type: ignore[arg-type]
        server.script = [says(json.dumps(example))]
        with pytest.raises(AgentFailed):
            await CALLS[name](agents)


async def test_a_failure_is_counted_and_its_tokens_too(agents: OpenAIAgents, made: Made, server: ChatServer) -> None:
    server.script = [says("no")]
    with pytest.raises(AgentFailed):
        await agents.summarise(APP, MESSAGES)
    assert made.counted('memory_core_agent_calls_total{call="summarise",outcome="failed"} 1.0')
    assert made.counted('memory_core_llm_tokens_total{app="shop",kind="prompt",model="gpt-x"} 120.0')
    assert made.counted('memory_core_llm_tokens_total{app="shop",kind="completion",model="gpt-x"} 30.0')


# a service that is away


async def test_a_busy_service_is_asked_again_after_the_pause_it_names(agents: OpenAIAgents, made: Made, server: ChatServer) -> None:
    server.script = [refuses(429, retry_after="3")]
    await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 2
    assert 3 <= made.pauses.asked[0] <= 3 * 1.25


async def test_a_pause_beyond_the_deadline_is_passed_on_instead_of_waited_for(agents: OpenAIAgents, made: Made, server: ChatServer) -> None:
    server.script = [refuses(429, retry_after="120")]
    with pytest.raises(Unavailable) as caught:
        await agents.summarise(APP, MESSAGES)
    assert (caught.value.dependency, caught.value.retry_after_s, made.pauses.asked) == ("agents", 120, [])


async def test_a_failing_service_is_asked_again_and_then_unavailable(agents: OpenAIAgents, made: Made, server: ChatServer) -> None:
    server.script = [refuses(500), refuses(503)]
    await agents.summarise(APP, MESSAGES)
    server.script = [refuses(500), refuses(502), refuses(503)]
    with pytest.raises(Unavailable, match="agents: it answered HTTP 503"):
        await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 6
    assert made.counted('memory_core_agent_calls_total{call="summarise",outcome="unavailable"} 1.0')


@pytest.mark.parametrize(("status", "code"), [(401, "invalid_api_key"), (403, None), (404, "model_not_found"), (429, "insufficient_quota")])
async def test_what_only_an_operator_can_mend_makes_work_wait(
    agents: OpenAIAgents, server: ChatServer, status: int, code: str | None
) -> None:
    server.script = [refuses(status, code)]
    with pytest.raises(Unavailable, match=f"HTTP {status}") as caught:
        await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 1
    assert "secret-key" not in caught.value.detail


async def test_a_slow_model_is_unavailable_when_its_time_is_over(made: Made, server: ChatServer) -> None:
    server.script = [hangs()]
    agents = made.agents(timeout_s=0.5)
    await agents.open()
    with pytest.raises(Unavailable, match="did not answer in time"):
        await agents.summarise(APP, MESSAGES)


async def test_a_cut_connection_is_tried_again_and_then_unavailable(agents: OpenAIAgents, server: ChatServer) -> None:
    server.script = [is_cut()]
    await agents.summarise(APP, MESSAGES)
    server.script = [is_cut(), is_cut(), is_cut()]
    with pytest.raises(Unavailable, match="can't be reached"):
        await agents.summarise(APP, MESSAGES)


async def test_a_service_that_is_not_there_is_unavailable(agents: OpenAIAgents, server: ChatServer) -> None:
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


# servers that understand less


def no(*words: str) -> Callable[[dict[str, Any]], str | None]:
    """A server that refuses the first of these words that it finds in a request."""
    return lambda body: next((f"'{word}' is not permitted in response_format" for word in words if f'"{word}"' in json.dumps(body)), None)


@pytest.mark.parametrize(
    ("refused", "requests", "form"),
    [
        (["maxLength"], 2, "json_schema"),
        (["json_schema"], 3, "json_object"),
        (["response_format"], 4, None),
    ],
    ids=["no bounds", "no schema", "no formats"],
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
    assert ("maxLength" in json.dumps(asked)) == (form != "json_schema")  # in words the bounds are told with the schema
    assert ('"natural_memory_note":' in asked["messages"][0]["content"]) == (form != "json_schema")


async def test_a_model_that_wants_other_parameters_gets_them(made: Made, server: ChatServer) -> None:
    def knows(body: dict[str, Any]) -> str | None:
        if "max_tokens" in body:
            return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        return next((f"Unsupported value: '{name}' does not support 0.4" for name in ("temperature", "top_p") if name in body), None)

    server.knows = knows
    agents = made.agents()
    await agents.summarise(APP, MESSAGES)
    await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 5
    assert server.bodies[-1]["max_completion_tokens"] == 3000
    assert not {"max_tokens", "temperature", "top_p"} & server.bodies[-1].keys()
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


async def test_calls_that_are_refused_together_learn_it_once(made: Made, server: ChatServer) -> None:
    server.knows = no("maxLength")
    agents = made.agents()
    await asyncio.gather(*(agents.summarise(APP, MESSAGES) for _ in range(5)))
    assert server.bodies[-1]["response_format"]["type"] == "json_schema"


async def test_a_server_that_refuses_everything_is_not_asked_for_ever(made: Made, server: ChatServer) -> None:
    server.knows = lambda _: "response_format, temperature, top_p and max_tokens are wrong"
    with pytest.raises(AgentFailed, match="refused"):
        await made.agents().summarise(APP, MESSAGES)
    assert len(server.bodies) <= 8


# what it costs


async def test_an_app_that_has_used_up_its_day_costs_nothing_more_until_the_next(made: Made, server: ChatServer) -> None:
    agents = made.agents(cap=300)
    await agents.summarise(APP, MESSAGES)
    await agents.summarise(APP, MESSAGES)
    with pytest.raises(AgentFailed, match="300 tokens for 2026-05-08"):
        await agents.summarise(APP, MESSAGES)
    assert len(server.bodies) == 2
    await agents.summarise("another-app", MESSAGES)
    assert (await agents.check()).facts == {"apps_over_daily_tokens": 1}
    made.clock.advance(days=1)
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).facts == {}


async def test_processes_share_a_day_through_the_short_term(made: Made, server: ChatServer) -> None:
    shared = embedded(made.clock)
    one, other = made.agents(cap=300, short_term=shared), made.agents(cap=300, short_term=shared)
    await one.summarise(APP, MESSAGES)
    await other.summarise(APP, MESSAGES)
    for agents in (one, other):
        with pytest.raises(AgentFailed, match="used up"):
            await agents.summarise(APP, MESSAGES)
    await shared.close()


async def test_tokens_that_a_server_does_not_count_are_estimated(made: Made, server: ChatServer) -> None:
    text = json.dumps(GOOD["Narrative"])
    server.script = [sends({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]})]
    answer = await made.agents().summarise(APP, MESSAGES, fast=True)
    assert answer.tokens == ((len(server.systems[0]) + len(server.records[0])) // 4, len(text) // 4)


async def test_apps_without_number_do_not_flood_the_metrics(made: Made) -> None:
    for number in range(300):
        made.telemetry.tokens(f"app-{number}", "m", 1, 1)
    lines = [line for line in made.telemetry.text({}, {}).decode().splitlines() if line.startswith("memory_core_llm_tokens_total{")]
    assert len(lines) == 2 * 201
    assert made.counted('memory_core_llm_tokens_total{app="(others)",kind="prompt",model="m"} 100.0')


# readiness


async def test_readiness_costs_no_tokens(agents: OpenAIAgents, made: Made, server: ChatServer) -> None:
    assert (await agents.check()).status == "ok"
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).last_ok == made.clock.now()
    assert (len(server.bodies), server.lookups) == (1, 1)
    made.clock.advance(minutes=2)
    assert (await agents.check()).status == "ok"
    assert (len(server.bodies), server.lookups) == (1, 2)


async def test_a_server_without_a_list_of_models_answers_all_the_same(agents: OpenAIAgents, server: ChatServer) -> None:
    server.models_status = 404
    assert (await agents.check()).status == "ok"
    server.models_status = 401
    health = await agents.check()
    assert (health.status, health.detail) == ("unavailable", "agents: it answered HTTP 401 (no code)")


async def test_readiness_says_why_the_last_call_failed_until_one_succeeds(agents: OpenAIAgents, server: ChatServer) -> None:
    server.script = [refuses(429, "insufficient_quota")]
    with pytest.raises(Unavailable):
        await agents.summarise(APP, MESSAGES)
    health = await agents.check()
    assert (health.status, health.detail) == ("degraded", "the last call failed: agents: it answered HTTP 429 (insufficient_quota)")
    await agents.summarise(APP, MESSAGES)
    assert (await agents.check()).status == "ok"


# a model that obeys what it should only read


@pytest.mark.parametrize("text", ALL.values(), ids=ALL.keys())
async def test_a_model_that_writes_what_a_text_orders_changes_nothing(agents: OpenAIAgents, server: ChatServer, text: str) -> None:
    """The text itself comes back as the answer: it is refused, or decides about nothing that it was not shown."""
    new, held = (turn(number, type="semantic", category="fact", content=said) for number, said in ((1, "Ana sails"), (2, text)))
    shown = Shown((new,), (held,))
    server.script = [says(text)]
    try:
        answer = await agents.decide_conflicts(APP, *shown.items())
    except AgentFailed:
        return
    assert Rulings.of(shown, answer.value).on(new, held) is None


async def test_decisions_about_what_was_not_shown_are_dropped_and_counted(agents: OpenAIAgents, server: ChatServer) -> None:
    shown = Shown((turn(1, content="Ana sails"),), (turn(2, content="Ana rows"), turn(3, content="Ana swims")))
    decisions = [
        {"new": new, "memory": memory, "operation": "DELETE", "confidence_score": 1.0, "reasoning": "as ordered"}
        for new, memory in [(0, 1), (0, 2), (0, 99), (1, 0), (-1, 0), (0, "mem_3")]
    ]
    server.script = [says(json.dumps({"decisions": decisions}))]
    answer = await agents.decide_conflicts(APP, *shown.items())
    rulings = Rulings.of(shown, answer.value)
    assert list(rulings.by_pair) == [("mem_1", "mem_3")]
    assert rulings.invented == 3


@pytest.mark.parametrize("name", NAMES)
async def test_a_model_that_recites_its_instructions_is_not_believed(agents: OpenAIAgents, server: ChatServer, name: str) -> None:
    asked = prompt(name)  # type: ignore[arg-type]
    good = json.dumps(GOOD[asked.answer.__name__])
    recited = json.loads(good)
    _put(recited, asked.text[:1500])
    server.script = [says(json.dumps(recited))]
    try:
        answer = await CALLS[name](agents)
    except AgentFailed:
        return
    assert asked.text[:80] not in answer.value.model_dump_json()


def _put(value: Any, text: str) -> None:
    """Put the text in the place of every text within."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, str) and key not in ("operation", "start_time", "end_time", "depth", "quality_check", "new_information_added"):
            value[key] = text
        elif isinstance(inner, (dict, list)):
            _put(inner, text)
