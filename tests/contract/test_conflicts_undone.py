"""Decisions taken back: both memories stand again as they would without it, or the answer says what
is in the way.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import OnConflict, Status
from memory_core.domain.results import Saved
from tests.builders import ALICE, NOW
from tests.conflicts import (
    DECISIONS,
    all_of,
    asking,
    check_questions,
    lives,
    now,
    open_conflict,
    records_of,
    standing,
    warring,
)
from tests.telling import Tellers, facts_of, of_category, on_all, tell
from tests.world import WordsEmbedder, World, find, listed

REASON = {"status_reason": "any"}
"""What is active again says so in its reason."""


@pytest.fixture
async def words(world: World) -> MemoryCore:
    """A core that calls texts near which share most of their words."""
    return await warring(world)


async def test_what_was_never_decided_can_not_be_undone(words: MemoryCore) -> None:
    _, _, name = await open_conflict(words)
    with pytest.raises(Conflict, match="nothing was decided"):
        await words.undo_conflict(ALICE, name)


@pytest.mark.parametrize("decision", DECISIONS)
async def test_an_undo_restores_both_as_they_were(
    words: MemoryCore, world: World, decision: str
) -> None:
    """Content, status, validity and chain; the reason of the contradiction; the counts of
    the session.
    """
    end = NOW + timedelta(days=900)
    old, new, name = await open_conflict(words, session_id="s1", valid_until=end)
    before, record = await now(words, old, new), await words.conflict(ALICE, name)
    world.clock.forward(60)
    await words.resolve_conflict(ALICE, name, asking(decision, "because"))
    world.clock.forward(60)
    undone = await words.undo_conflict(ALICE, name)
    assert [standing(memory) for memory in await now(words, old, new)] == [
        standing(memory) for memory in before
    ]
    assert (undone.reason, undone.strategy, undone.sides) == (
        record.reason,
        record.strategy,
        record.sides,
    )
    assert {memory.content for memory in await listed(words)} == {
        memory.content for memory in before
    }
    assert (await words.session(ALICE, "s1")).counts == {"semantic": 2}
    await check_questions(world, words)


@pytest.mark.parametrize("strategy", OnConflict)
async def test_what_was_decided_at_a_save_can_be_undone(
    words: MemoryCore, world: World, strategy: OnConflict
) -> None:
    """Both are active then, the new one as if it contradicted nothing; a rejected text is back."""
    old = await lives(words, "Oslo", tags=["a"])
    before = await words.get(ALICE, old.memory.id)
    new = await lives(words, "Bergen", 1, on_conflict=strategy, tags=["b"], session_id="s1")
    assert new.conflict is not None
    undone = await words.undo_conflict(ALICE, new.conflict.id)
    assert (undone.status, undone.old_id) == ("pending", old.memory.id)
    assert undone.new_id is not None
    assert standing(await words.get(ALICE, old.memory.id)) | REASON == standing(before) | REASON
    alone = await words.get(ALICE, undone.new_id)
    assert (alone.content, alone.tags, alone.status, alone.supersedes_id, alone.valid_until) == (
        "Ana lives in Bergen", ["b"], Status.ACTIVE, None, None,
    )  # fmt: skip
    assert alone.embedding is not None
    assert alone.embedding.tolist() == pytest.approx(
        (await WordsEmbedder().embed(["Ana lives in Bergen"]))[0].tolist(), rel=1e-4
    )
    assert (await words.session(ALICE, "s1")).counts == {"semantic": 1}
    assert sorted(
        await find(words, "Where does Ana live?", answer_threshold=0.1, similarity_threshold=0.1)
    ) == ["Ana lives in Bergen", "Ana lives in Oslo"]
    await check_questions(world, words)


async def test_a_rejected_text_is_shown_in_its_record(core: MemoryCore) -> None:
    await lives(core, "Oslo")
    rejected = (await lives(core, "Bergen", 1, on_conflict=OnConflict.REJECT_NEW)).conflict
    assert rejected is not None
    assert (rejected.new_id, rejected.rejected_content) == (None, "Ana lives in Bergen")
    assert "moves" not in rejected.public()
    undone = await core.undo_conflict(ALICE, rejected.id)
    assert undone.rejected_content is None


async def test_what_is_decided_about_a_fact_that_came_late_can_not_be_undone_over_its_successor(
    core: MemoryCore, world: World
) -> None:
    await lives(core, "Oslo", 0)
    last, late = await lives(core, "Bergen", 9), await lives(core, "Turku", 5)
    assert late.conflict is not None
    assert late.memory.status is Status.SUPERSEDED
    before = await all_of(core)
    with pytest.raises(Conflict, match=f"{late.memory.id} is superseded by {last.memory.id} since"):
        await core.undo_conflict(ALICE, late.conflict.id)
    assert await all_of(core) == before
    await check_questions(world, core)


async def superseded(core: MemoryCore, new: Saved) -> str:
    return f"{new.memory.id} is superseded by {(await lives(core, 'Turku', 2)).memory.id} since"


async def deleted(core: MemoryCore, new: Saved) -> str:
    await core.delete(ALICE, new.memory.id)
    return f"{new.memory.id} is deleted since"


@pytest.mark.parametrize("later", [superseded, deleted])
async def test_an_undo_names_what_is_in_its_way(core: MemoryCore, world: World, later: Any) -> None:
    await lives(core, "Oslo")
    new = await lives(core, "Bergen", 1)
    blocking = await later(core, new)
    before = await all_of(core)
    assert new.conflict is not None
    with pytest.raises(Conflict) as refused:
        await core.undo_conflict(ALICE, new.conflict.id)
    assert blocking in refused.value.detail
    assert await all_of(core) == before
    await check_questions(world, core)


async def test_decisions_that_stand_on_each_other_are_undone_one_after_the_other(
    core: MemoryCore, world: World
) -> None:
    results = [
        await lives(core, where, day) for day, where in enumerate(("Oslo", "Bergen", "Turku"))
    ]
    before = (await now(core, results[0]))[0]
    for result in (results[2], results[1]):
        assert result.conflict is not None
        await core.undo_conflict(ALICE, result.conflict.id)
        await check_questions(world, core)
    assert {memory.content for memory in await listed(core)} == {
        result.memory.content for result in results
    }
    assert before.valid_until is not None
    assert {memory.valid_until for memory in await listed(core)} == {None}


async def test_a_memory_told_again_since_is_in_nobodys_way(words: MemoryCore, world: World) -> None:
    old, new = await lives(words, "Oslo"), await lives(words, "Bergen", 1)
    await lives(words, "Bergen", 2)
    assert new.conflict is not None
    await words.undo_conflict(ALICE, new.conflict.id)
    first, second = await now(words, old, new)
    assert (first.status, second.status, second.reinforcement_count) == (
        Status.ACTIVE,
        Status.ACTIVE,
        1,
    )
    await check_questions(world, words)


async def test_an_agents_decision_names_the_model_and_can_be_undone(world: World) -> None:
    agents = Tellers()
    core = await world.core(
        agents=agents, rules=Tellers(), embedder=WordsEmbedder(), link_threshold=0.3
    )
    await tell(core, "Ana's tennis club is Racket")
    before = {memory.id: standing(memory) for memory in await of_category(core, "fact")}
    agents.rulings = on_all("DELETE", category="fact", confidence=0.9)
    await tell(core, "Ana's end of tennis is today", at=NOW + timedelta(days=5))
    (record,) = [record for record in await records_of(world) if record.by == agents.model]
    assert (record.strategy, record.confidence) == ("supersede", 0.9)
    cell, *_ = await of_category(core, "cell")
    assert cell.atomic_facts[0].superseded_by == record.new_id
    await core.undo_conflict(ALICE, record.id)
    facts = await facts_of(core)
    assert {fact.status for fact in facts.values()} == {Status.ACTIVE}
    assert {fact.id: standing(fact) for fact in facts.values() if fact.id in before} == before
    assert facts["Ana's end of tennis is today"].supersedes_id is None
    for memory in await of_category(core, "cell"):
        assert [fact.superseded_by for fact in memory.atomic_facts] == [None], (
            "the cell that told it knows that it holds again"
        )
    assert all(not memory.atomic_facts for memory in await of_category(core, "note"))
    await core.resolve_conflict(ALICE, record.id, asking("supersede"))
    cell, *_ = await of_category(core, "cell")
    assert cell.atomic_facts[0].superseded_by == record.new_id
    await check_questions(world, core)


GARDEN = "We spoke about the old garden with its apple trees and the stone wall"


MORE = "We spoke about the old garden with its apple trees and the broken gate"


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
async def test_notes_that_were_merged_or_contradicted_stand_again(
    world: World, operation: str
) -> None:
    agents = Tellers()
    core = await world.core(
        agents=agents, rules=Tellers(), embedder=WordsEmbedder(), link_threshold=0.3
    )
    await tell(core, GARDEN, session="s1")
    before = {memory.id: standing(memory) for memory in await of_category(core, "note")}
    agents.rulings = on_all(operation, category="note")
    await tell(core, MORE, at=NOW + timedelta(days=5), session="s2")
    (record,) = await records_of(world)
    assert (record.strategy, record.by) == (
        "merge" if operation == "UPDATE" else "supersede",
        agents.model,
    )
    gone = 0 if operation == "UPDATE" else 1
    assert sum((await core.session(ALICE, "s1")).counts.values()) == 3 - gone, "and the message"
    await core.undo_conflict(ALICE, record.id)
    notes = await of_category(core, "note")
    assert [note.status for note in notes] == [Status.ACTIVE] * 2
    assert {note.id: standing(note) for note in notes if note.id in before} == before
    assert "stone wall" not in notes[1].content
    assert sum((await core.session(ALICE, "s1")).counts.values()) == 3
    await check_questions(world, core)


async def test_a_decision_about_a_pending_conflict_leaves_other_members_as_they_were_when_undone(
    core: MemoryCore, world: World
) -> None:
    """A third value that the new one replaced does not come to hold beside it."""
    await lives(core, "Turku", 9)
    beside = await lives(core, "Porto", 9, on_conflict=OnConflict.KEEP_BOTH)
    assert beside.conflict is not None
    await core.undo_conflict(ALICE, beside.conflict.id)
    late = await lives(core, "Oslo", 6, on_conflict=OnConflict.KEEP_BOTH)
    before = {name: standing(memory) | REASON for name, memory in (await all_of(core)).items()}
    assert before[late.memory.id]["status"] is Status.SUPERSEDED
    world.clock.forward(60)
    await core.resolve_conflict(ALICE, beside.conflict.id, asking("supersede", "because"))
    world.clock.forward(60)
    await core.undo_conflict(ALICE, beside.conflict.id)
    after = {name: standing(memory) | REASON for name, memory in (await all_of(core)).items()}
    assert after == before
    await check_questions(world, core)
