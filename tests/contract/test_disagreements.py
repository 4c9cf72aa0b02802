"""A model and the rules say opposite things of two statements: both stand, and the conflict is
pending with both reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import Message
from memory_core.domain.requests.maintenance import ConsolidateInput, ResolveInput
from memory_core.domain.results import Accepted
from tests.builders import ALICE, NOW
from tests.conflicts import check_questions
from tests.tasks import Hand
from tests.telling import Tellers, facts_of, on_all, statuses, tell
from tests.world import WordsEmbedder, World

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
LATER = NOW + timedelta(days=5)
OSLO, BERGEN = "Ana's city is Oslo", "Ana's city is Bergen"


def each_as_a_lasting_fact(messages: Sequence[Message]) -> list[SaidFact]:
    return [
        SaidFact(text=message.content, message=place, quote=message.content, lasting=True)
        for place, message in enumerate(messages)
    ]


async def core_of(world: World, agents: Tellers, link_threshold: float = 0.3) -> MemoryCore:
    world.clock.forward(10 * 86_400)
    return await world.core(
        agents=agents,
        rules=Tellers(),
        embedder=WordsEmbedder(),
        link_threshold=link_threshold,
        duplicate_threshold=0.95,
    )


async def only_record(core: MemoryCore) -> ConflictRecord:
    (record,) = (await core.conflicts(ALICE)).conflicts
    return record


async def consolidate(core: MemoryCore) -> None:
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()


@pytest.mark.parametrize("operation", ["KEEP", "SKIP", "UPDATE"])
async def test_another_value_of_a_slot_that_a_model_sees_no_conflict_in_waits_for_a_person(
    world: World, operation: str
) -> None:
    agents = Tellers(notes=False)
    core = await core_of(world, agents)
    await tell(core, OSLO)
    agents.rulings = on_all(operation, category="fact")
    task = await tell(core, BERGEN, at=LATER)
    assert task.result is not None
    assert task.result["counts"]["pending"] == 1
    made = await facts_of(core)
    assert statuses(made) == {OSLO: "active", BERGEN: "active"}
    record = await only_record(core)
    assert (record.status, record.by, record.old_id, record.new_id) == (
        "pending",
        "scripted",
        made[OSLO].id,
        made[BERGEN].id,
    )
    assert record.reason.startswith("same slot, other value or time; but scripted says: ")
    await check_questions(world, core)
    await consolidate(core)
    assert (await only_record(core)).open, "no run decides what a person is asked"


async def test_a_person_decides_between_a_model_and_the_rules(world: World) -> None:
    agents = Tellers(notes=False)
    core = await core_of(world, agents)
    await tell(core, OSLO)
    agents.rulings = on_all("KEEP", category="fact")
    await tell(core, BERGEN, at=LATER)
    await core.resolve_conflict(
        ALICE, (await only_record(core)).id, ResolveInput(decision="supersede")
    )
    assert statuses(await facts_of(core)) == {OSLO: "superseded", BERGEN: "active"}
    await check_questions(world, core)


@pytest.mark.parametrize(
    ("operation", "confidence"), [("KEEP", 0.6), ("DELETE", 1.0), ("SKIP", 0.0)]
)
async def test_an_unsure_model_or_one_that_agrees_leaves_the_slot_to_the_rules(
    world: World, operation: str, confidence: float
) -> None:
    agents = Tellers(notes=False)
    core = await core_of(world, agents)
    await tell(core, OSLO)
    agents.rulings = on_all(operation, category="fact", confidence=confidence)
    await tell(core, BERGEN, at=LATER)
    assert statuses(await facts_of(core)) == {OSLO: "superseded", BERGEN: "active"}


async def test_an_earlier_value_that_changes_nothing_now_is_no_matter_of_dispute(
    world: World,
) -> None:
    agents = Tellers(notes=False)
    core = await core_of(world, agents)
    await tell(core, BERGEN, at=LATER)
    agents.rulings = on_all("KEEP", category="fact")
    await tell(core, OSLO, at=NOW)
    assert statuses(await facts_of(core)) == {OSLO: "superseded", BERGEN: "active"}


async def test_a_contradiction_in_words_that_a_model_denies_keeps_both_reasons(
    world: World,
) -> None:
    agents = Tellers(notes=False, facts=each_as_a_lasting_fact)
    core = await core_of(world, agents)
    await tell(core, "The weekly meeting with Petra starts at 9")
    agents.rulings = on_all("KEEP", category="fact")
    await tell(core, "The weekly meeting with Petra starts at 11", at=LATER)
    record = await only_record(core)
    assert (record.status, record.by) == ("pending", "scripted")
    assert (
        record.reason == "near-equal, but different in numbers; but scripted says: both can be true"
        or record.reason
        == ("about the same, but different in numbers; but scripted says: both can be true")
    )
    await consolidate(core)
    assert (await only_record(core)).open


async def test_of_two_likings_none_falls_because_a_model_says_so(world: World) -> None:
    agents = Tellers(notes=False, facts=each_as_a_lasting_fact)
    core = await core_of(world, agents)
    await tell(core, "Ana likes green tea")
    agents.rulings = on_all("DELETE", category="fact")
    await tell(core, "Ana likes green apples", at=LATER)
    assert set(statuses(await facts_of(core)).values()) == {"active"}
    record = await only_record(core)
    assert (record.status, record.by) == ("pending", "scripted")
    assert record.reason == (
        "they differ in a word that leaves room for both; but scripted says: they can't both "
        "be true"
    )
    await check_questions(world, core)
    await consolidate(core)
    assert (await only_record(core)).open


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (
            "Ana's opinion of tea is likes",
            "Ana's opinion of coffee is likes",
            "one may have several of these",
        ),
        (
            "Ana's tennis club is Racket",
            "Ben's tennis partner is Racket",
            "they are about two people or things",
        ),
    ],
)
async def test_what_fills_slots_of_their_own_is_set_against_each_other_by_a_person_alone(
    world: World, first: str, second: str, why: str
) -> None:
    agents = Tellers(notes=False)
    core = await core_of(world, agents)
    await tell(core, first)
    agents.rulings = on_all("DELETE", category="fact")
    await tell(core, second, at=LATER)
    assert set(statuses(await facts_of(core)).values()) == {"active"}
    assert (await only_record(core)).reason == f"{why}; but scripted says: they can't both be true"


async def test_a_model_alone_decides_what_the_rules_know_nothing_of(world: World) -> None:
    agents = Tellers(notes=False, facts=each_as_a_lasting_fact)
    core = await core_of(world, agents)
    await tell(core, "Ana has been a strict vegan for years")
    agents.rulings = on_all("DELETE", category="fact")
    await tell(core, "Ana is a vegan no more and grills steak on weekends", at=LATER)
    assert sorted(statuses(await facts_of(core)).values()) == ["active", "superseded"]


@pytest.mark.parametrize(
    ("later", "confidence"),
    [
        ("There are people that try for a baby", 0.9),
        ("Ana grills steak every weekend, vegan or not", 0.6),
    ],
    ids=["no-word-in-common", "unsure"],
)
async def test_what_a_model_alone_sees_is_left_to_a_person_where_the_words_do_not_show_it(
    world: World, later: str, confidence: float
) -> None:
    """A model's word retires nothing by itself, but it is not forgotten either."""
    earlier = "There are no children that Ana wants" if "baby" in later else "Ana is a vegan"
    agents = Tellers(facts=each_as_a_lasting_fact)
    core = await core_of(world, agents, link_threshold=0.05)
    await tell(core, earlier)
    agents.rulings = on_all("DELETE", category="fact", confidence=confidence)
    await tell(core, later, at=LATER)
    assert statuses(await facts_of(core)) == {earlier: "active", later: "active"}
    record = await only_record(core)
    assert (record.status, record.by) == ("pending", agents.model)
    await consolidate(core)
    assert (await only_record(core)).status == "pending"


async def test_within_a_scene_too_a_dispute_is_left_to_a_person(world: World) -> None:
    agents = Tellers(notes=False)
    core = await world.core(agents=agents)
    await tell(core, "Ana's opinion of vegan pasta is likes")
    await tell(
        core, "Ana's opinion of beef pasta is likes", at=NOW + timedelta(days=1), session="s2"
    )
    agents.rulings = on_all("DELETE", category="fact", confidence=0.9)
    await consolidate(core)
    assert set(statuses(await facts_of(core)).values()) == {"active"}
    record = await only_record(core)
    assert (record.status, record.by) == ("pending", "scripted")
    assert record.reason.startswith("one may have several of these; but scripted says: ")
    await check_questions(world, core)
    await consolidate(core)
    assert (await only_record(core)).open
