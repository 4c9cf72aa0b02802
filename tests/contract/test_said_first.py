"""Consolidation displaces nothing: what a run makes of several memories leads to them, and never
comes before one that answers better.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.domain.results import Hit
from tests.builders import ALICE, NOW
from tests.patterns import RUNS, Finding, consolidated, patterns, told
from tests.telling import Tellers, of_category, on_all, tell
from tests.world import WordsEmbedder, World

DAY = 86_400.0
MORNING = "running in the park this morning"
NEWEST_FIRST = {"recipe": "linear", "weights": {"relevance": 0.1, "recency": 1.0}}
"""Weights by which whatever was made last comes first."""


async def hits(core: MemoryCore, query: str, **fields: Any) -> tuple[Hit, ...]:
    return (
        await core.retrieve(ALICE, RetrieveInput.model_validate({"query": query, **fields}))
    ).results


async def with_a_habit(world: World) -> MemoryCore:
    """A habit that a run found two months after its last telling."""
    agents = Finding({"summary": "User goes running in the park", "sources": [0, 2, 3]})
    core = await world.core(embedder=WordsEmbedder(), agents=agents, rules=agents)
    await told(core, *RUNS)
    world.clock.forward(60 * DAY)
    await consolidated(core)
    (pattern,) = await patterns(core)
    assert pattern.source_ids
    return core


async def test_a_pattern_follows_the_turn_that_answers_better_however_new_it_is(
    world: World,
) -> None:
    core = await with_a_habit(world)
    answer_hits = await hits(core, MORNING, **NEWEST_FIRST)
    places = {hit.memory.content: hit.rank for hit in answer_hits}
    by_relevance = {hit.memory.content: hit.relevance_score for hit in answer_hits}
    (pattern,) = await patterns(core)
    better = [
        text
        for text in (RUNS[0], RUNS[2], RUNS[3])
        if by_relevance.get(text, 0.0) > by_relevance[pattern.content]
    ]
    assert RUNS[0] in better
    assert all(places[text] < places[pattern.content] for text in better)


async def test_the_turn_comes_in_from_behind_the_limit(world: World) -> None:
    core = await with_a_habit(world)
    (best,) = await hits(core, MORNING, limit=1, **NEWEST_FIRST)
    assert best.memory.content in (RUNS[0], RUNS[3])


async def test_a_pattern_leads_to_the_turns_that_it_was_made_of(world: World) -> None:
    core = await with_a_habit(world)
    (pattern,) = [hit for hit in await hits(core, MORNING) if hit.memory.category == "pattern"]
    assert {passage.text for passage in pattern.passages} <= {RUNS[0], RUNS[2], RUNS[3]}
    assert RUNS[0] in {passage.text for passage in pattern.passages}
    assert {passage.message for passage in pattern.passages} <= set(pattern.memory.source_ids)


async def test_a_merged_note_leads_to_what_was_said_in_both_conversations(world: World) -> None:
    agents = Tellers(rulings=on_all("UPDATE", category="note"))
    core = await world.core(embedder=WordsEmbedder(), agents=agents, rules=agents)
    await tell(core, "Grandmother keeps the silver key under the blue pot", session="s1")
    later = NOW + timedelta(days=300)
    world.clock.forward(300 * DAY)
    await tell(core, "Grandmother keeps the garden key on the hook", at=later, session="s2")
    merged = [
        note
        for note in await of_category(core, "note")
        if note.status_reason == "consolidated" and note.status == "active"
    ]
    assert len(merged) == 1
    answer_hits = await hits(core, "silver key under the blue pot", **NEWEST_FIRST)
    passages = [[passage.text for passage in hit.passages] for hit in answer_hits]
    assert "Grandmother keeps the silver key under the blue pot" in passages[0]
    context = await core.context(
        ALICE, ContextInput(query="Where is the silver key?", parts=["memories"])
    )
    assert "silver key under the blue pot" in context.context
