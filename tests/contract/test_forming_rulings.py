"""What agents decide about memories, executed: all of it in one commit, as far as code can agree,
and nothing lost where they fail.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Decision, SaidFact
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import Message, Task
from memory_core.domain.errors import AgentFailed
from memory_core.domain.memory import Memory
from memory_core.domain.messages import is_message
from memory_core.domain.requests.memories import UpdateInput
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW
from tests.tasks import told
from tests.telling import Items, Tellers, decision, facts_of, of_category, on_all, statuses, tell
from tests.world import WordsEmbedder, World

LATER = NOW + timedelta(days=5)
GARDEN = "We spoke about the old garden with its apple trees and the stone wall"
MORE = "We spoke about the old garden with its apple trees and the broken gate"


async def records(world: World) -> list[ConflictRecord]:
    """All conflict records of Alice."""
    store = await world.look_on()
    documents = await store.page(ALICE, "conflict", None, None, 100)
    return [
        ConflictRecord.model_validate(
            {k: v for k, v in document.body.items() if k not in ("epoch", "sequence")}
        )
        for document in documents
    ]


async def pending_count(world: World) -> int:
    head = await world.head()
    assert head is not None
    return head.pending_count


def counts(task: Task) -> dict[str, int]:
    assert (task.status, task.error) == ("succeeded", None)
    assert task.result is not None
    counted: dict[str, int] = task.result["counts"]
    return counted


@pytest.fixture
def agents() -> Tellers:
    return Tellers()


@pytest.fixture
async def core(world: World, agents: Tellers, embedder: WordsEmbedder) -> MemoryCore:
    return await world.core(agents=agents, rules=Tellers(), embedder=embedder, link_threshold=0.3)


async def test_notes_that_add_to_each_other_become_one_that_stands_for_both(
    core: MemoryCore, agents: Tellers
) -> None:
    await tell(core, GARDEN)
    (old,) = await of_category(core, "note")
    agents.rulings = on_all("UPDATE", category="note")
    assert counts(await tell(core, MORE, at=LATER)) == {"updated": 1, "created": 2}
    old = await core.get(ALICE, old.id)
    (new,) = [memory for memory in await of_category(core, "note") if memory.id != old.id]
    assert (old.status, old.status_reason, old.next_id, old.consolidated_into_ids) == (
        "updated",
        "consolidated",
        new.id,
        [new.id],
    )
    assert (new.status, new.status_reason, new.supersedes_id) == ("active", "consolidated", old.id)
    cells = await of_category(core, "cell")
    assert new.source_ids == [cells[1].id, old.id]
    assert "stone wall" in new.content
    assert "broken gate" in new.content
    assert (await core.get(ALICE, new.id)).embedding is not None
    assert [cell.status for cell in cells] == ["active"] * 2, "episodes are never merged away"
    assert agents.calls["synthesis"] == agents.calls["conflicts"] == 1


async def test_mixed_decisions_are_all_executed_in_one_commit(
    core: MemoryCore, agents: Tellers, world: World
) -> None:
    for number, tail in enumerate(("the stone wall", "the broken gate", "the green bench")):
        await tell(
            core,
            f"We spoke about the old garden with its apple trees and {tail}",
            at=NOW + timedelta(days=number),
        )
    before = {
        memory.content.split(" and ")[1][:15]: memory for memory in await of_category(core, "note")
    }
    assert set(before) == {"the stone wall\n", "the broken gate", "the green bench"}

    def mixed(new: Items, older: Items) -> list[Decision]:
        operations = {"stone": "UPDATE", "gate": "DELETE", "bench": "SKIP"}
        note = next(item for item in new if item.category == "note")
        notes = [
            (old, operation)
            for old in older
            for word, operation in operations.items()
            if word in old.text and old.category == "note"
        ]
        return [decision(note.number, old.number, operation) for old, operation in notes]

    agents.rulings = mixed
    last = await world.log()
    told_all = (
        "We spoke about the old garden with its apple trees, the stone wall, and the green bench"
    )
    assert counts(await tell(core, told_all, at=LATER)) == {
        "updated": 1,
        "deleted": 1,
        "skipped": 1,
        "created": 2,
    }
    wall, gate, bench = [
        await core.get(ALICE, before[name].id)
        for name in ("the stone wall\n", "the broken gate", "the green bench")
    ]
    assert (wall.status, wall.status_reason) == ("updated", "consolidated")
    assert (gate.status, gate.status_reason) == ("deleted", "contradicted")
    assert (bench.status, bench.next_id) == ("active", None)
    assert wall.next_id == gate.next_id is not None
    assert (
        bench.updated_at > before["the green bench"].updated_at
        or bench.revision > before["the green bench"].revision
    )
    events = [
        event for event in (await world.log())[len(last) :] if not is_message(event.memory_id)
    ]
    assert len({event.id.rsplit("_", 1)[0] for event in events}) == 1, "one commit"
    assert {event.event_type for event in events} == {
        "created",
        "merged",
        "contradicted",
        "touched",
    }


async def test_a_note_whose_linked_notes_say_it_all_joins_them(
    core: MemoryCore, agents: Tellers
) -> None:
    await tell(core, GARDEN)
    (note,) = await of_category(core, "note")
    agents.rulings = on_all("SKIP", category="note", confidence=0.8)
    assert counts(await tell(core, GARDEN, at=LATER)) == {"joined": 1, "created": 1}
    (joined,) = await of_category(core, "note")
    assert joined.id == note.id
    assert joined.source_ids == [cell.id for cell in await of_category(core, "cell")]


@pytest.mark.parametrize(
    ("confidence", "text"),
    [(0.79, GARDEN), (1.0, f"{GARDEN} of Petra"), (1.0, f"{GARDEN} of 1907")],
    ids=["unsure", "a name", "a number"],
)
async def test_a_note_that_says_more_or_is_not_surely_said_does_not_join(
    core: MemoryCore, agents: Tellers, confidence: float, text: str
) -> None:
    await tell(core, GARDEN)
    agents.rulings = on_all("SKIP", category="note", confidence=confidence)
    assert counts(await tell(core, text, at=LATER)) == {"created": 2}
    assert len(await of_category(core, "note")) == 2


@pytest.mark.parametrize(
    ("merged", "complaint"),
    [
        (lambda notes: "## Summary\nWe spoke.", "is missing"),
        (lambda notes: notes[0].text + " " * 80 + "x", "next to nothing is left of"),
        (
            lambda notes: "\n".join(note.text for note in notes) + " Petra paid for it.",
            "these names stand in no source",
        ),
        (
            lambda notes: "\n".join(note.text for note in notes) + " It was 1907.",
            "these numbers stand in no source",
        ),
        (
            lambda notes: (
                "\n".join(note.text for note in notes) + " bread" * 3 + " ".join(INVENTED)
            ),
            "most of it stands in no source",
        ),
    ],
    ids=[
        "too short",
        "one left out",
        "an invented name",
        "an invented number",
        "an invented story",
    ],
)
async def test_a_merge_that_loses_or_invents_is_refused_and_left_to_the_rules(
    core: MemoryCore,
    agents: Tellers,
    merged: Callable[[Items], str],
    complaint: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    await tell(core, GARDEN)
    agents.rulings, agents.merged = on_all("UPDATE", category="note"), merged
    assert counts(await tell(core, MORE, at=LATER)) == {"updated": 1, "created": 2}
    assert complaint in caplog.text
    assert "petra" not in caplog.text.casefold()
    (new,) = [memory for memory in await of_category(core, "note") if memory.status == "active"]
    assert "stone wall" in new.content
    assert "Petra" not in new.content
    assert "1907" not in new.content


INVENTED = [
    f"{first}{second}"
    for first in ("lu", "mo", "ka", "ri", "so", "te")
    for second in ("bna", "drev", "lkos", "mpit", "rguf")
]


async def test_a_merge_that_rules_can_not_do_either_leaves_both_notes_as_they_are(
    world: World, agents: Tellers, embedder: WordsEmbedder
) -> None:
    core = await world.core(
        agents=agents,
        rules=Tellers(merged=lambda notes: "## Summary\nnothing"),
        embedder=embedder,
        link_threshold=0.3,
    )
    await tell(core, GARDEN)
    agents.rulings, agents.merged = on_all("UPDATE", category="note"), lambda notes: "nothing"
    assert counts(await tell(core, MORE, at=LATER)) == {"created": 2}
    notes = await of_category(core, "note")
    assert [(note.status, note.conflict_state) for note in notes] == [("active", "none")] * 2
    assert await records(world) == []
    assert await pending_count(world) == 0


async def test_a_failed_conflict_agent_keeps_the_new_memory(
    core: MemoryCore, agents: Tellers, world: World
) -> None:
    """The agent answers garbage: two notes that are alike are in no conflict because of that."""
    await tell(core, GARDEN)
    agents.failing = {"conflicts": [AgentFailed("garbage")]}
    assert counts(await tell(core, MORE, at=LATER)) == {"created": 2}
    notes = await of_category(core, "note")
    assert [(note.status, note.conflict_state) for note in notes] == [("active", "none")] * 2
    assert await records(world) == []
    assert await pending_count(world) == 0


async def test_a_failed_conflict_agent_does_not_hinder_what_rules_are_certain_of(
    core: MemoryCore, agents: Tellers
) -> None:
    await tell(core, "Ana's city is Oslo")
    agents.failing = {"conflicts": [AgentFailed("garbage")]}
    await tell(core, "Ana's city is Bergen", at=LATER)
    assert statuses(await facts_of(core)) == {
        "Ana's city is Oslo": "superseded",
        "Ana's city is Bergen": "active",
    }


async def test_facts_that_rules_leave_alone_are_no_conflict_because_an_agent_failed(
    core: MemoryCore, agents: Tellers, world: World
) -> None:
    """A model that answers garbage would mark everything that is alike as "in conflict"."""
    await tell(core, "Ana's tennis club is Racket")
    agents.failing = {"conflicts": [AgentFailed("garbage")]}
    await tell(core, "Ana's end of tennis is today", at=LATER)
    made = await facts_of(core)
    assert {fact.conflict_state for fact in made.values()} == {"none"}
    of_facts = {fact.id for fact in made.values()}
    assert not [record for record in await records(world) if record.old_id in of_facts]


async def test_an_agent_retires_a_fact_of_another_slot_that_excludes_the_new_one(
    core: MemoryCore, agents: Tellers, world: World
) -> None:
    await tell(core, "Ana's tennis club is Racket")
    agents.rulings = on_all("DELETE", category="fact", confidence=0.9)
    assert counts(await tell(core, "Ana's end of tennis is today", at=LATER))["superseded"] == 1
    made = await facts_of(core)
    club, end = made["Ana's tennis club is Racket"], made["Ana's end of tennis is today"]
    assert (club.status, club.next_id, end.status, end.supersedes_id) == (
        "superseded",
        end.id,
        "active",
        club.id,
    )
    (record,) = [record for record in await records(world) if record.by == agents.model]
    assert (record.status, record.old_id, record.new_id) == ("resolved", club.id, end.id)
    first, *_ = await of_category(core, "cell")
    assert first.atomic_facts[0].superseded_by == end.id


async def test_all_that_one_fact_excludes_falls(core: MemoryCore, agents: Tellers) -> None:
    await tell(core, "Ana's tennis club is Racket", at=NOW)
    await tell(core, "Ana's tennis partner is Bo", at=NOW + timedelta(days=1))
    agents.rulings = on_all("DELETE", category="fact", confidence=0.9)
    await tell(core, "Ana's end of tennis is today", at=LATER)
    made = await facts_of(core)
    assert statuses(made) == {
        "Ana's tennis club is Racket": "superseded",
        "Ana's tennis partner is Bo": "superseded",
        "Ana's end of tennis is today": "active",
    }
    assert len({memory.next_id for memory in made.values() if memory.next_id}) == 1


async def test_what_excludes_a_later_truth_falls_itself(core: MemoryCore, agents: Tellers) -> None:
    """An agent only says that the two exclude each other; the one that was said earlier is
    superseded, whichever arrives first.
    """
    await tell(core, "Ana's end of tennis is today", at=LATER)
    agents.rulings = on_all("DELETE", confidence=0.9)
    await tell(core, "Ana's tennis club is Racket", at=NOW)
    made = await facts_of(core)
    club, end = made["Ana's tennis club is Racket"], made["Ana's end of tennis is today"]
    assert (club.status, club.next_id, end.status) == ("superseded", end.id, "active")
    first, second = await of_category(core, "note")
    assert (first.event_timestamp, second.event_timestamp) == (NOW, LATER)
    assert (first.status, first.status_reason, first.next_id, second.status) == (
        "deleted",
        "contradicted",
        second.id,
        "active",
    )
    cell = (await of_category(core, "cell"))[0]
    assert cell.atomic_facts[0].superseded_by == end.id


@pytest.mark.parametrize("confidence", [0.0, 0.69])
async def test_an_agent_that_is_not_sure_retires_nothing(
    core: MemoryCore, agents: Tellers, confidence: float
) -> None:
    await tell(core, "Ana's tennis club is Racket")
    agents.rulings = on_all("DELETE", confidence=confidence)
    await tell(core, "Ana's end of tennis is today", at=LATER)
    assert {memory.status.value for memory in await told(core)} == {"active"}


async def test_what_is_pinned_is_retired_by_no_agent(core: MemoryCore, agents: Tellers) -> None:
    await tell(core, "Ana's tennis club is Racket")
    for memory in [*(await facts_of(core)).values(), *await of_category(core, "note")]:
        await core.update(ALICE, memory.id, UpdateInput(pinned=True), memory.etag)
    agents.rulings = on_all("DELETE")
    task = await tell(core, "Ana's end of tennis is today", at=LATER)
    assert {memory.status.value for memory in await told(core)} == {"active"}
    assert counts(task)["pending"] == 2, "a person is to decide"
    assert {memory.conflict_state for memory in await told(core) if memory.category != "cell"} == {
        "pending"
    }
    assert {memory.supersedes_id for memory in await told(core)} == {None}


async def test_numbers_that_were_not_shown_are_dropped_and_counted(
    core: MemoryCore, agents: Tellers
) -> None:
    await tell(core, GARDEN)
    agents.rulings = lambda new, older: [
        decision(0, 99, "DELETE"),
        decision(7, 0, "DELETE"),
        decision(50, 50, "UPDATE"),
    ]
    assert counts(await tell(core, MORE, at=LATER)) == {"created": 2, "invented": 3}
    assert {memory.status.value for memory in await told(core)} == {"active"}


async def test_of_two_decisions_about_the_same_pair_the_first_stands(
    core: MemoryCore, agents: Tellers
) -> None:
    await tell(core, GARDEN)
    agents.rulings = lambda new, older: [
        *on_all("SKIP", category="note")(new, older),
        *on_all("DELETE", category="note")(new, older),
    ]
    await tell(core, GARDEN, at=LATER)
    assert [memory.status.value for memory in await of_category(core, "note")] == ["active"]


async def test_what_is_said_again_in_other_words_reinforces_where_an_agent_says_so(
    core: MemoryCore, agents: Tellers
) -> None:
    agents.facts = slotted("Ana plays tennis", "plays tennis", "tennis")
    await tell(core, "Ana plays tennis")
    agents.facts, agents.rulings = (
        slotted("Ana is playing tennis", "plays tennis", "tennis"),
        on_all("SKIP", category="fact"),
    )
    await tell(core, "Ana is playing tennis", at=LATER)
    made = await facts_of(core)
    assert [(memory.content, memory.reinforcement_count) for memory in made.values()] == [
        ("Ana plays tennis", 1)
    ]
    assert len(made["Ana plays tennis"].source_ids) == 2


async def test_a_skip_loses_no_fact_of_another_slot(core: MemoryCore, agents: Tellers) -> None:
    agents.facts = slotted("Ana likes to hike", "opinion of hiking", "hike")
    await tell(core, "Ana likes to hike")
    agents.facts, agents.rulings = (
        slotted("Ana likes to bake", "opinion of baking", "bake"),
        on_all("SKIP"),
    )
    await tell(core, "Ana likes to bake", at=LATER)
    assert set(await facts_of(core)) == {"Ana likes to hike", "Ana likes to bake"}


def slotted(text: str, attribute: str, value: str) -> Callable[[list[Message]], list[SaidFact]]:  # type: ignore[type-arg]
    """Facts of one slot, proven by the first message."""
    return lambda messages: [
        SaidFact(
            text=text,
            message=0,
            quote=messages[0].content,
            subject="Ana",
            attribute=attribute,
            value=value,
        )
    ]


async def test_merges_follow_each_other_and_each_stands_for_all_before(
    core: MemoryCore, agents: Tellers
) -> None:
    agents.rulings = on_all("UPDATE", category="note")
    for number, tail in enumerate(
        ("the stone wall", "the broken gate", "the green bench", "the deep well")
    ):
        await tell(
            core,
            f"We spoke about the old garden with its apple trees and {tail}",
            at=NOW + timedelta(days=number),
        )
    notes = await of_category(core, "note")
    (last,) = [note for note in notes if note.status == "active"]
    assert all(
        tail in last.content for tail in ("stone wall", "broken gate", "green bench", "deep well")
    )
    assert [await end_of(core, note) for note in notes] == [last.id] * 4
    assert agents.calls["synthesis"] == 3


async def test_a_note_that_was_merged_away_says_where_it_stands_that_its_fact_has_fallen(
    core: MemoryCore, agents: Tellers
) -> None:
    agents.rulings = on_all("UPDATE", category="note")
    await tell(core, "Ana's city is Oslo, she said in the old garden")
    await tell(core, "Ana's dog is Bo, she said in the old garden", at=NOW + timedelta(days=1))
    agents.rulings = lambda new, older: []
    await tell(core, "Ana's city is Bergen", at=LATER)
    bergen = (await facts_of(core))["Ana's city is Bergen"]
    merged = next(
        memory
        for memory in await of_category(core, "note")
        if memory.status_reason == "consolidated" and memory.status == "active"
    )
    assert [(fact.text, fact.superseded_by) for fact in merged.atomic_facts] == [
        ("Ana's city is Oslo", bergen.id)
    ]


async def end_of(core: MemoryCore, memory: Memory) -> str:
    while memory.next_id is not None:
        memory = await core.get(ALICE, memory.next_id)
    return memory.id


async def test_the_agent_is_shown_numbers_texts_and_no_ids(
    core: MemoryCore, agents: Tellers
) -> None:
    await tell(core, GARDEN)
    await tell(core, MORE, at=LATER)
    ((new, older),) = agents.conflict_calls
    assert len(new) == len(older) == 1
    assert all("mem_" not in text for text in (*new, *older))


async def test_a_conflict_agent_that_only_rules_ends_in_the_same_memories_on_every_run(
    world: World, embedder: WordsEmbedder
) -> None:
    core = await world.core(agents=ScriptedAgents(), embedder=embedder)
    await tell(core, "I live in Lisbon")
    first = {memory.id for memory in await told(core)}
    await tell(core, "I live in Lisbon")
    assert {memory.id for memory in await told(core)} == first


async def test_a_cell_asks_at_most_three_agents_about_itself_one_about_conflicts_and_one_to_merge(
    core: MemoryCore, agents: Tellers
) -> None:
    agents.rulings = on_all("UPDATE", category="note")
    await tell(core, GARDEN)
    lines = [
        f"Now to something else: {MORE} of Ana's plot{number}, Ana's plot{number} is green"
        for number in range(6)
    ]
    agents.calls.clear()
    task = await tell(core, *lines, at=LATER)
    assert task.result is not None
    cells = len(task.result["cells"])
    assert cells == 6
    assert agents.calls == {
        "boundary": 1,
        "facts": cells,
        "episode": cells,
        "summary": cells,
        "conflicts": cells,
        "synthesis": cells,
    }


@pytest.mark.parametrize(
    ("rulings", "states"),
    [
        (lambda new, older: [], {"none"}),
        (on_all("KEEP", category="fact", confidence=0.9), {"pending"}),
    ],
    ids=["says nothing of the two", "says that both are true"],
)
async def test_words_that_tell_a_change_open_no_conflict_where_a_model_saw_both_and_says_nothing(
    core: MemoryCore, agents: Tellers, rulings: Any, states: set[str]
) -> None:
    agents.facts = lambda messages: [
        SaidFact(
            text=messages[0].content.replace("I", "User"),
            message=0,
            quote=messages[0].content,
            lasting=True,
        )
    ]
    await tell(core, "I drive a Golf")
    agents.rulings = rulings
    await tell(core, "I sold the Golf", at=LATER)
    assert {fact.conflict_state for fact in (await facts_of(core)).values()} == states
