"""What a model behind the wire says of conversations goes through the checks that the rules'
answers go through.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import ContextInput, ConverseInput
from tests.builders import ALICE, NOW, StillClock
from tests.chat_server import GOOD, ChatServer, completion, kind_of
from tests.model_calls import Made
from tests.telling import facts_of, formed, of_category
from tests.world import WordsEmbedder, World, listed

DAY = timedelta(days=1)


@dataclass
class Scripted:
    """A model that says of each conversation what the test wants: facts, instructions, and what it
    decides of any new and held fact.
    """

    facts: list[dict[str, Any]] = field(default_factory=list)
    instructions: list[dict[str, Any]] = field(default_factory=list)
    decision: str | None = None
    story: str | None = None

    async def __call__(self, _: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        kind, record = kind_of(body), body["messages"][1]["content"]
        answer: dict[str, Any] = GOOD[kind]
        if kind == "Boundaries":
            answer = {"cuts": [], "continues": False}
        if kind == "ConversationSummary":
            answer = {
                **answer,
                "narrative": self.story
                or " ".join(
                    line
                    for line in record.splitlines()
                    if not line.startswith(("[", "BEGIN", "END"))
                ),
            }
        if kind == "ExtractedFacts":
            answer = {"facts": self.facts, "foresight": [], "instructions": self.instructions}
        if kind == "Decisions":
            answer = {"decisions": self._decided(record)}
        return completion(json.dumps(answer))

    def _decided(self, record: str) -> list[dict[str, Any]]:
        new, older = (re.findall(rf"\| {name} (\d+) \| fact", record) for name in ("new", "held"))
        ruling = {
            "confidence_score": 0.9,
            "reasoning": "she has two homes",
            "operation": self.decision,
        }
        return [
            {"new": int(number), "memory": int(other), **ruling}
            for number in new
            for other in older
            if self.decision
        ]


def fact(text: str, quote: str, message: int = 0, **slot: str | None) -> dict[str, Any]:
    empty = {"subject": None, "attribute": None, "value": None}
    return {
        "text": text,
        "message": message,
        "quote": quote,
        **empty,
        **slot,
        "confidence": 1,
        "lasting": True,
    }


@pytest.fixture
def model(server: ChatServer) -> Scripted:
    server.model = scripted = Scripted()
    return scripted


@pytest.fixture
async def core(made: Made, tmp_path: Path) -> AsyncIterator[MemoryCore]:
    clock = StillClock()
    clock.forward(400 * 86_400)
    world = World(tmp_path, clock)
    embedder = WordsEmbedder()
    yield await world.core(
        agents=made.agents(), rules=OfflineAgents(), embedder=embedder, link_threshold=0.3
    )
    await world.close()


async def tell(
    core: MemoryCore, *lines: str | tuple[str, str], days: int = 0, actor: str | None = "Ana"
) -> None:
    messages = [
        {
            "role": "user" if isinstance(line, str) else line[0],
            "content": line if isinstance(line, str) else line[1],
            "timestamp": (NOW + days * DAY + place * timedelta(minutes=1)).isoformat(),
            "actor": actor if isinstance(line, str) else None,
        }
        for place, line in enumerate(lines)
    ]
    conversation = ConverseInput.model_validate({"session_id": f"s{days}", "messages": messages})
    task = await formed(core, await core.converse(ALICE, conversation))
    assert task.status == "succeeded", task


async def instructions(core: MemoryCore) -> list[Memory]:
    return [memory for memory in await listed(core, ALICE) if memory.category == "instruction"]


async def test_only_what_people_said_becomes_a_fact(core: MemoryCore, model: Scripted) -> None:
    model.facts = [
        fact("Ana has a sister called Petra", "My sister moved to Lisbon"),
        fact(
            "Ana's sister lives in Lisbon",
            "My sister moved to Lisbon",
            subject="Ana's sister",
            attribute="lives in",
            value="Lisbon",
        ),
        fact("The user plays tennis", "I play tennis"),
        fact("Ana runs marathons", "You must love running marathons", 1),
        fact("Ana runs marathons", "Yes", 2),
        fact("Ana may move to Oslo", "Should I move to Oslo?", 2),
        fact("Ana spielt jede Woche Tennis", "I play tennis every week", 0),
    ]
    await tell(
        core,
        "My sister moved to Lisbon, and I play tennis every week.",
        ("assistant", "You must love running marathons too!"),
        "Yes. Should I move to Oslo?",
    )
    made = await facts_of(core)
    assert set(made) == {
        "Ana's sister lives in Lisbon",
        "Ana plays tennis",
        "Ana: I play tennis every week",
    }
    sister = made["Ana's sister lives in Lisbon"]
    assert (sister.subject, sister.attribute, sister.value) == (
        "Ana's sister",
        "home city",
        "Lisbon",
    )


async def test_a_standing_instruction_that_a_model_finds_is_kept_as_one_and_is_part_of_every_context(  # noqa: E501
    core: MemoryCore, model: Scripted
) -> None:
    sentence = "Celsius is the only scale that says anything to me, so stick with it"
    model.facts = [fact("Ana uses Celsius", sentence)]
    model.instructions = [{"message": 0, "quote": sentence}]
    await tell(core, f"It is 20 degrees here. {sentence}.")
    (memory,) = await instructions(core)
    assert (memory.type, memory.content, memory.session_id) == ("procedural", sentence, "s0")
    context = await core.context(ALICE, ContextInput(query="What is the capital of France?"))
    assert sentence in context.context
    await tell(core, f"It is 20 degrees here. {sentence}.")
    assert [instruction.id for instruction in await instructions(core)] == [memory.id]


async def test_a_part_of_an_instruction_that_rules_read_is_not_kept_beside_it(
    core: MemoryCore, model: Scripted
) -> None:
    model.instructions = [{"message": 0, "quote": "answer me in Spanish from now on"}]
    await tell(core, "I'm feeling braver, answer me in Spanish from now on, please.")
    (memory,) = await instructions(core)
    assert memory.content == "I'm feeling braver, answer me in Spanish from now on, please."


@pytest.mark.parametrize(
    ("messages", "place", "quote"),
    [
        (
            ["Just this once, give it to me in Fahrenheit"],
            0,
            "Just this once, give it to me in Fahrenheit",
        ),
        (
            ["My boss wrote: 'Stick with Celsius in all reports that you write'"],
            0,
            "Stick with Celsius in all reports that you write",
        ),
        (
            ["Hello", ("assistant", "I will stick with Celsius from here on")],
            1,
            "I will stick with Celsius from here on",
        ),
        (["Shall we stick with Celsius"], 0, "Stick with Celsius for ever"),
    ],
    ids=["for once", "quoted", "an assistant's", "not said"],
)
async def test_no_other_words_become_an_instruction(
    core: MemoryCore, model: Scripted, messages: list[str | tuple[str, str]], place: int, quote: str
) -> None:
    model.instructions = [{"message": place, "quote": quote}]
    await tell(core, *messages)
    assert await instructions(core) == []


async def test_what_is_lifted_later_in_the_talk_is_not_kept(
    core: MemoryCore, model: Scripted
) -> None:
    sentence = "Celsius is the only scale that says anything to me, so stick with it"
    model.instructions = [{"message": 0, "quote": sentence}]
    await tell(core, sentence, ("assistant", "Fine."), "You don't need to use Celsius any more.")
    assert await instructions(core) == []


async def test_a_model_that_sees_no_conflict_in_another_value_of_a_slot_leaves_it_to_a_person(
    core: MemoryCore, model: Scripted
) -> None:
    def home(city: str) -> dict[str, Any]:
        return fact(
            f"Ana's home is in {city}",
            f"My home is in {city}",
            subject="Ana",
            attribute="home city",
            value=city,
        )

    model.facts = [home("Berlin")]
    await tell(core, "My home is in Berlin")
    model.facts, model.decision = [home("Lisbon")], "KEEP"
    await tell(core, "My home is in Lisbon", days=3)
    made = await facts_of(core)
    assert {text: memory.status for text, memory in made.items()} == {
        "Ana's home is in Berlin": "active",
        "Ana's home is in Lisbon": "active",
    }
    (record,) = (await core.conflicts(ALICE)).conflicts
    assert (record.status, record.by) == ("pending", "gpt-x")
    assert record.reason == "same slot, other value or time; but gpt-x says: she has two homes"


@pytest.mark.parametrize(
    ("sentence", "story"),
    [
        (
            (
                "Ich wohne jetzt in der Altstadt von Lissabon und das ist schön, denn ich bin "
                "dort Lehrerin."
            ),
            (
                "Ana lives in the old town of Lisbon and is a teacher there, and that is what the "
                "talk was about."
            ),
        ),
        (
            "I moved to Lisbon in May and live near the river.",
            "Ana moved to Lisbon in May, near the river, with Petra and Tom.",
        ),
    ],
    ids=["in another language", "with invented people"],
)
async def test_a_story_that_is_not_of_the_talk_is_told_by_the_rules(
    core: MemoryCore, model: Scripted, sentence: str, story: str
) -> None:
    model.story = story
    await tell(core, sentence)
    (cell,) = await of_category(core, "cell")
    assert cell.content != story
    assert cell.model != "gpt-x"
