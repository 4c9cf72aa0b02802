"""The rules answer whatever was said, within the schemas of their answers.

A conversation with twenty long links, a hundred file paths or an address of 230 characters made
rules answer outside their own schema: its task was poisoned, its summary a 500.
`python -m bench.odd_conversations` tells many more of them than these.
"""

from __future__ import annotations

import base64
from hashlib import shake_128

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.domain.agent_schemas import MAX_NARRATIVE
from memory_core.domain.conversation import Message
from memory_core.telemetry import Telemetry
from tests.odd_conversations import ask_all, conversation, messages, requests
from tests.talk import talk

LONG = {
    "links": " ".join(
        f"https://wiki.example/{'section' * 20}/{number}?q={'x' * 60}" for number in range(20)
    ),
    "paths": "\n".join(
        f"C:\\Users\\ana\\projects\\{'module' * 8}\\file{number}.py" for number in range(100)
    ),
    "words": "Heute: "
    + " ".join(f"{number}te{'Donaudampfschifffahrtsgesellschaft' * 3}" for number in range(60)),
    "base64": base64.b64encode(shake_128(b"odd").digest(3_000)).decode(),
    "japanese": "".join(
        f"私は{chr(0x4E00 + number)}区の{number}番地に住んでいる{chr(0x5E00 + number)}さんが好きです。"  # noqa: E501
        for number in range(400)
    ),
    "speaker": " ".join(f"I saw {number} and I ate {number + 1} and" for number in range(400)),
    "spaces": "a " * 10_000,
}
VALUE = "a" * 230
SLOTS = {
    "email address": f"My email is {'a' * 200}@{'b' * 40}.example",
    "home city": f"I live in L{VALUE}.",
    "employer": f"I work at C{VALUE}.",
    "favourite": f"My favourite editor is {VALUE}.",
    "favourite thing": f"My favourite {'b' * 30} is {VALUE}.",
    "name": f"My name is A{VALUE}.",
    "birthday": f"My birthday is 3{VALUE}.",
    "speaks": f"I love {VALUE}.",
    "goal": f"My goal is {VALUE}.",
}


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


def counted(telemetry: Telemetry) -> list[str]:
    """What the metrics say was cut."""
    lines = telemetry.text({}, {}).decode().splitlines()
    return [line for line in lines if line.startswith("memory_core_rule_answers_cut_total{")]


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("actor", [None, "Anna-Magdalena Gräfin von und zu Habsburg-Lothringen"])
async def test_a_story_is_within_its_limit_whatever_its_words_are(
    kind: str, actor: str | None, telemetry: Telemetry
) -> None:
    agents = OfflineAgents(meter=telemetry)
    turns = talk(LONG[kind], "a: I see.", LONG[kind], actor=actor)
    for fast in (True, False):
        summary = (await agents.summarise("app", turns, fast=fast)).value
        assert 0 < len(summary.narrative) <= MAX_NARRATIVE
    await ask_all_of(agents, turns)
    assert not [line for line in counted(telemetry) if 'field="answer"' in line]


@pytest.mark.parametrize("kind", SLOTS)
async def test_a_value_that_is_too_long_fills_no_slot_but_is_told(
    kind: str, telemetry: Telemetry
) -> None:
    """Half an address is another address; the fact stays, as words."""
    agents = OfflineAgents(meter=telemetry)
    turns = talk(SLOTS[kind], "I work as a nurse.")
    facts = (await agents.extract_facts("app", turns)).value.facts
    assert [fact.value for fact in facts if fact.value] == ["nurse"]
    assert all(
        fact.subject is None and fact.attribute is None for fact in facts if fact.value is None
    )
    assert (await agents.summarise("app", turns)).value.narrative


async def test_what_was_cut_is_counted_by_field(telemetry: Telemetry) -> None:
    agents = OfflineAgents(meter=telemetry)
    facts = (await agents.extract_facts("app", talk(SLOTS["email address"]))).value.facts
    assert [(fact.message, fact.value) for fact in facts] == [(0, None)]
    assert counted(telemetry) == [
        'memory_core_rule_answers_cut_total{call="extract_facts",field="value"} 1.0'
    ]


@pytest.mark.parametrize(
    "start", [0, 20, *(pytest.param(start, marks=pytest.mark.long) for start in range(40, 200, 20))]
)
async def test_odd_conversations_are_answered_by_the_rules_themselves(
    start: int, telemetry: Telemetry
) -> None:
    """Not by the plainer ones: that a conversation still forms when a rule fails on it is no reason
    for a rule to fail.
    """
    agents = OfflineAgents(meter=telemetry)
    for seed in range(start, start + 20):
        await ask_all(agents, seed)
        assert not [line for line in counted(telemetry) if 'field="answer"' in line], seed


def test_a_seed_is_the_same_conversation_each_time() -> None:
    assert [conversation(seed) for seed in range(30)] == [conversation(seed) for seed in range(30)]
    assert [requests(seed, "ana") for seed in range(10)] == [
        requests(seed, "ana") for seed in range(10)
    ]
    assert all(messages(seed) for seed in range(30))


async def ask_all_of(agents: OfflineAgents, turns: list[Message]) -> None:
    await agents.detect_boundary("app", turns, turns[0].content)
    await agents.analyse_episode("app", turns)
    await agents.extract_facts("app", turns)
