"""Notes say which of their facts were superseded, whatever is merged, told late or taken back: a
note is found like any other memory.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from tests.builders import ALICE, NOW
from tests.conflicts import records_of
from tests.telling import Tellers, facts_of, of_category, on_all, tell
from tests.world import WordsEmbedder, World

LATER = NOW + timedelta(days=5)
pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""Stores have no part in it."""


@pytest.fixture
def agents() -> Tellers:
    return Tellers()


@pytest.fixture
async def core(world: World, agents: Tellers, embedder: WordsEmbedder) -> MemoryCore:
    return await world.core(agents=agents, rules=Tellers(), embedder=embedder, link_threshold=0.3)


async def test_a_note_merged_after_a_fact_of_it_fell_still_says_so(
    core: MemoryCore, agents: Tellers, world: World
) -> None:
    await tell(core, "Ana's city is Oslo, she said in the old garden")
    await tell(core, "Ana's city is Bergen", at=NOW + timedelta(days=1))
    bergen = (await facts_of(core))["Ana's city is Bergen"]
    agents.rulings = on_all("UPDATE", category="note")
    await tell(core, "Ana's dog is Bo, she said in the old garden", at=LATER)
    merged = next(
        memory
        for memory in await of_category(core, "note")
        if memory.status_reason == "consolidated" and memory.status == "active"
    )
    assert "Oslo" in merged.content
    assert [(fact.text, fact.superseded_by) for fact in merged.atomic_facts] == [
        ("Ana's city is Oslo", bergen.id)
    ]
    agents.rulings = lambda new, older: []
    await tell(core, "Ana's dog is Rex", at=LATER + timedelta(days=1))
    (record,) = [record for record in await records_of(world) if record.strategy == "merge"]
    await core.undo_conflict(ALICE, record.id)
    notes = {
        memory.content.split("\n")[1]: memory
        for memory in await of_category(core, "note")
        if memory.status == "active"
    }
    assert {
        text[:10]: {fact.text for fact in note.atomic_facts}
        for text, note in notes.items()
        if "garden" in text
    } == {"Ana's city": {"Ana's city is Oslo"}, "Ana's dog ": {"Ana's dog is Bo"}}


async def test_a_merge_undone_after_a_fact_fell_leaves_the_mark_with_the_note_that_told_it(
    core: MemoryCore, agents: Tellers, world: World
) -> None:
    agents.rulings = on_all("UPDATE", category="note")
    await tell(core, "Ana's city is Oslo, she said in the old garden")
    await tell(core, "Ana's dog is Bo, she said in the old garden", at=NOW + timedelta(days=1))
    agents.rulings = lambda new, older: []
    await tell(core, "Ana's city is Bergen", at=LATER)
    (record,) = [record for record in await records_of(world) if record.strategy == "merge"]
    await core.undo_conflict(ALICE, record.id)
    bergen = (await facts_of(core))["Ana's city is Bergen"]
    note = next(
        memory
        for memory in await of_category(core, "note")
        if memory.status == "active" and "Oslo" in memory.content
    )
    assert [(fact.text, fact.superseded_by) for fact in note.atomic_facts] == [
        ("Ana's city is Oslo", bergen.id)
    ]


async def test_a_mark_of_what_holds_again_is_not_told(core: MemoryCore, agents: Tellers) -> None:
    agents.rulings = on_all("UPDATE", category="note")
    await tell(core, "Ana's city is Oslo, she said in the old garden")
    await tell(core, "Ana's dog is Bo, she said in the old garden", at=NOW + timedelta(days=1))
    agents.rulings = lambda new, older: []
    await tell(core, "Ana's city is Bergen", at=LATER)
    oslo = (await facts_of(core))["Ana's city is Oslo"]
    asked = RetrieveInput(
        query="old garden dog Bo", categories=["note"], limit=1, at=LATER + timedelta(days=1)
    )
    assert [
        fact["text"]
        for hit in (await core.retrieve(ALICE, asked)).results
        for fact in hit.stale_facts
    ] == ["Ana's city is Oslo"]
    await core.restore(ALICE, oslo.id)
    assert [hit.stale_facts for hit in (await core.retrieve(ALICE, asked)).results] == [()]


async def test_a_note_of_what_has_fallen_already_says_so(core: MemoryCore) -> None:
    await tell(core, "Ana's city is Oslo")
    await tell(core, "Ana's city is Bergen", at=LATER)
    await tell(core, "Ana's city is Oslo, she said in the old garden", at=NOW + timedelta(days=1))
    bergen = (await facts_of(core))["Ana's city is Bergen"]
    note = next(memory for memory in await of_category(core, "note") if "garden" in memory.content)
    assert [(fact.text, fact.superseded_by) for fact in note.atomic_facts] == [
        ("Ana's city is Oslo", bergen.id)
    ]


async def test_who_moved_back_lives_there_as_before(core: MemoryCore) -> None:
    await tell(core, "Ana's city is Oslo, she said in the old garden")
    await tell(core, "Ana's city is Bergen", at=NOW + timedelta(days=1))
    await tell(core, "Ana's city is Oslo", at=LATER)
    asked = {"query": "old garden Oslo", "limit": 1}
    for days, sentences in ((2, ["Ana's city is Oslo"]), (6, [])):
        answer = await core.retrieve(
            ALICE, RetrieveInput.model_validate({**asked, "at": NOW + timedelta(days=days)})
        )
        assert [fact["text"] for hit in answer.results for fact in hit.stale_facts] == sentences, (
            days
        )


@pytest.mark.parametrize("merges", [1, 3])
async def test_a_save_marks_the_note_that_stands_for_many(
    core: MemoryCore, agents: Tellers, merges: int
) -> None:
    agents.rulings = on_all("UPDATE", category="note")
    await tell(core, "Ana's city is Oslo, she said in the old garden")
    for number, tail in enumerate(
        ("the stone wall", "the broken gate", "the green bench")[:merges]
    ):
        await tell(
            core, f"We spoke about the old garden and {tail}", at=NOW + timedelta(hours=number + 1)
        )
    fields = {
        "type": "semantic",
        "subject": "Ana",
        "attribute": "city",
        "value": "Bergen",
        "event_timestamp": LATER,
    }
    bergen = await core.save(
        ALICE, SaveInput.model_validate({"content": "Ana's city is Bergen", **fields})
    )
    (note,) = [memory for memory in await of_category(core, "note") if memory.status == "active"]
    assert [(fact.text, fact.superseded_by) for fact in note.atomic_facts] == [
        ("Ana's city is Oslo", bergen.memory.id)
    ]


@pytest.mark.parametrize("category", ["cell", "note"])
async def test_a_truth_falls_that_was_told_in_another_session_in_what_is_deleted_since(
    core: MemoryCore, category: str
) -> None:
    await tell(core, "Ana's city is Oslo", session="s1")
    (teller,) = await of_category(core, category)
    await core.delete(ALICE, teller.id)
    bergen = SaveInput(
        type="semantic",
        content="Bergen",
        subject="Ana",
        attribute="city",
        session_id="s2",
        event_timestamp=LATER,
    )
    assert (await core.save(ALICE, bergen)).outcome == "superseded"
    assert (
        await tell(core, "Ana's city is Rome", session="s3", at=LATER + timedelta(days=1))
    ).status == "succeeded"
    fallen = (await facts_of(core))["Ana's city is Oslo"]
    back = await core.restore(ALICE, teller.id)
    assert [(fact.text, fact.superseded_by) for fact in back.atomic_facts] == [
        ("Ana's city is Oslo", fallen.next_id)
    ]
    assert (await core.session(ALICE, "s1")).counts == {"messages": 1, "episodic": 1, "semantic": 2}
