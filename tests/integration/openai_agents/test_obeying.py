"""A model that obeys what it should only read is not believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_core.adapters.openai.agents import OpenAIAgents
from memory_core.domain.errors import AgentFailed
from memory_core.evolution.agent_rulings import ConflictPrompt, Rulings
from memory_core.prompts import NAMES, prompt
from tests.chat_server import GOOD, ChatServer, completion, kind_of, says
from tests.injections import ALL
from tests.memories import turn
from tests.model_calls import APP, CALLS

WORDED = [name for name in NAMES if name != "rank_texts"]
"""Those whose answers have words; in one of numbers nothing can be recited."""


@pytest.mark.parametrize("text", ALL.values(), ids=ALL.keys())
async def test_a_model_that_writes_what_a_text_orders_changes_nothing(
    agents: OpenAIAgents, server: ChatServer, text: str
) -> None:
    """The text itself comes back as the answer: it is refused, or decides about nothing that it
    was not shown.
    """
    new, memory = (
        turn(number, type="semantic", category="fact", content=content)
        for number, content in ((1, "Ana sails"), (2, text))
    )
    conflict_prompt = ConflictPrompt((new,), (memory,))
    server.script = [says(text)]
    try:
        answer = await agents.decide_conflicts(APP, *conflict_prompt.items())
    except AgentFailed:
        return
    assert (
        Rulings.of(conflict_prompt, answer.value, answer.provenance.model).on(new, memory) is None
    )


async def test_decisions_about_what_was_not_shown_are_dropped_and_counted(
    agents: OpenAIAgents, server: ChatServer
) -> None:
    conflict_prompt = ConflictPrompt(
        (turn(1, content="Ana sails"),), (turn(2, content="Ana rows"), turn(3, content="Ana swims"))
    )
    decisions = [
        {
            "new": new,
            "memory": memory,
            "operation": "DELETE",
            "confidence_score": 1.0,
            "reasoning": "as ordered",
        }
        for new, memory in [(0, 1), (0, 2), (0, 99), (1, 0), (-1, 0), (0, "mem_3")]
    ]
    server.script = [says(json.dumps({"decisions": decisions}))]
    answer = await agents.decide_conflicts(APP, *conflict_prompt.items())
    rulings = Rulings.of(conflict_prompt, answer.value, answer.provenance.model)
    assert list(rulings.by_pair) == [("mem_1", "mem_3")]
    assert rulings.invented == 3


@pytest.mark.parametrize("name", WORDED)
async def test_a_model_that_gives_the_mark_away_is_not_believed(
    agents: OpenAIAgents, server: ChatServer, name: str
) -> None:
    """Small models do; the mark says nothing, and would be in a user's memories."""

    async def recites(_: Any, body: dict[str, Any]) -> Any:
        recited = json.loads(json.dumps(GOOD[kind_of(body)]))
        _put(
            recited, f"BEGIN {body['messages'][1]['content'].splitlines()[0].split(' ')[1].upper()}"
        )
        return completion(json.dumps(recited))

    server.script = [recites]
    with pytest.raises(AgentFailed):
        await CALLS[name](agents)


@pytest.mark.parametrize("name", WORDED)
async def test_a_model_that_recites_its_instructions_is_not_believed(
    agents: OpenAIAgents, server: ChatServer, name: str
) -> None:
    asked = prompt(name)
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
        if isinstance(inner, str) and key not in (
            "operation",
            "start_time",
            "end_time",
            "depth",
            "quality_check",
            "new_information_added",
        ):
            value[key] = text
        elif isinstance(inner, (dict, list)):
            _put(inner, text)
