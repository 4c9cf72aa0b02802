"""What a profile rests on follows what happens to memories, and what it says follows what they say
at a moment.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.adapters.offline.agents import seen_traits
from memory_core.domain.agent_schemas import SeenTrait
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.profile import (
    MAX_FACTS,
    MAX_TRUTHS,
    Seen,
    profile_at,
    subjects,
    with_facts,
    with_successors,
    with_traits,
    without_memories,
)
from memory_core.domain.scenes import KnownPerson
from memory_core.ports import SceneItem
from tests.builders import NOW, memory

DAY = timedelta(days=1)


def truth(
    name: str, value: Any, *, day: int = 0, until: int | None = None, **fields: Any
) -> Memory:
    """A fact of the user; one that ended on a day was contradicted then."""
    ended = (
        {}
        if until is None
        else {
            "status": Status.SUPERSEDED,
            "status_reason": "contradicted",
            "valid_until": NOW + until * DAY,
        }
    )
    about = {
        "subject": "User",
        "attribute": "Home City",
        "event_timestamp": NOW + day * DAY,
        "valid_from": NOW + day * DAY,
    }
    return memory(
        str(value),
        id=name,
        type=MemoryType.SEMANTIC,
        category="fact",
        value=value,
        **{**about, **ended, **fields},
    )


def by_id(*memories: Memory) -> dict[str, Memory]:
    return {memory.id: memory for memory in memories}


def known(*memories: Memory, person: KnownPerson | None = None) -> KnownPerson:
    return with_facts(person or KnownPerson(), memories, {"user"}, by_id(*memories))


def seen(text: str, *names: int, by: str = "m") -> Seen:
    return Seen(
        SeenTrait(trait=text, scenes=[0], confidence=0.6),
        tuple(f"mem_{name}" for name in names),
        by,
    )


def cells(count: int) -> dict[str, Memory]:
    return by_id(
        *(
            memory(f"cell {number}", id=f"mem_{number}", event_timestamp=NOW + number * DAY)
            for number in range(count)
        )
    )


def test_the_latest_that_stands_is_shown_and_the_others_by_their_times() -> None:
    oslo, rome, porto = (
        truth("a", "Oslo", until=2),
        truth("b", "Rome", day=2, until=5),
        truth("c", "Porto", day=5),
    )
    person, memories = known(porto, oslo, rome), by_id(oslo, rome, porto)
    (fact,) = profile_at(person, memories, NOW + 9 * DAY).explicit
    assert (fact.name, fact.value, [previous.value for previous in fact.previous]) == (
        "home city",
        "Porto",
        ["Rome", "Oslo"],
    )
    (fact,) = profile_at(person, memories, NOW + 3 * DAY).explicit
    assert (fact.value, [previous.value for previous in fact.previous]) == ("Rome", ["Oslo"])
    assert profile_at(person, memories, NOW - DAY).explicit == []


def test_of_too_many_names_the_most_important_are_kept() -> None:
    tastes = [
        truth(f"taste{n}", "likes", attribute=f"opinion of cheese {n}") for n in range(MAX_FACTS)
    ]
    allergy = truth("allergy", "yes", attribute="zinc allergy", worth="health")
    every = by_id(*tastes, allergy)
    person = with_facts(KnownPerson(), every.values(), {"user"}, every)
    assert len(person.facts) == MAX_FACTS
    assert "zinc allergy" in {fact.name for fact in person.facts}


def test_what_is_gone_deleted_or_renamed_is_nowhere() -> None:
    oslo, porto = truth("a", "Oslo", until=2), truth("b", "Porto", day=2)
    person = known(oslo, porto)
    deleted = porto.model_copy(update={"status": Status.DELETED, "status_reason": "manual_delete"})
    assert profile_at(person, by_id(oslo, deleted), NOW + 3 * DAY).explicit == []
    assert [fact.memory_ids for fact in known(deleted, person=person).facts] == [["a"]]
    assert profile_at(person, by_id(porto), NOW + 3 * DAY).explicit[0].previous == []
    renamed = porto.model_copy(update={"attribute": "holiday home"})
    assert {fact.name: fact.memory_ids for fact in known(renamed, person=person).facts} == {
        "home city": ["a"],
        "holiday home": ["b"],
    }


def test_a_successor_that_no_run_has_seen_is_shown_under_its_own_name_only() -> None:
    oslo, porto = truth("a", "Oslo", until=2, next_id="b"), truth("b", "Porto", day=2)
    person = known(truth("a", "Oslo"))
    (fact,) = profile_at(
        with_successors(person, by_id(oslo, porto)), by_id(oslo, porto), NOW + 3 * DAY
    ).explicit
    assert (fact.value, fact.memory_id) == ("Porto", "b")
    other = by_id(oslo, porto.model_copy(update={"attribute": "diet"}))
    assert profile_at(with_successors(person, other), other, NOW + 3 * DAY).explicit == []


def test_many_truths_are_bounded_and_the_latest_stay() -> None:
    person = known(
        *(truth(f"m{number:02}", number, day=number) for number in range(2 * MAX_TRUTHS))
    )
    assert person.facts[0].memory_ids == [
        f"m{number:02}" for number in range(MAX_TRUTHS, 2 * MAX_TRUTHS)
    ]


def test_the_person_is_who_speaks_the_user_of_that_id_and_the_name_that_was_told() -> None:
    name = truth("n", "Ana", attribute="name")
    assert subjects([name, truth("a", "Oslo")], "U7") == {"user", "u7", "ana"}


def test_a_trait_needs_three_cells_and_a_models_other_words_for_it_are_the_same_trait() -> None:
    there = cells(6)
    assert (
        with_traits(KnownPerson(), [seen("Swims in the sea every morning.", 0, 1)], there).traits
        == []
    )
    first = with_traits(KnownPerson(), [seen("Swims in the sea every morning.", 2, 0, 1)], there)
    assert [(trait.cell_ids, trait.since) for trait in first.traits] == [
        (["mem_0", "mem_1", "mem_2"], NOW + 2 * DAY)
    ]
    again = with_traits(first, [seen("Swims every morning in the sea.", 4)], there)
    assert [(trait.trait, len(trait.cell_ids)) for trait in again.traits] == [
        ("Swims every morning in the sea.", 4)
    ]
    ruled = [
        seen("Often talks about food.", 0, 1, 2, by="rule"),
        seen("Often talks about film.", 0, 1, 2, by="rule"),
    ]
    assert len(with_traits(KnownPerson(), ruled, there).traits) == 2


def test_what_rested_on_the_forgotten_goes_and_a_models_trait_with_any_of_it() -> None:
    there = cells(5)
    ids = tuple(there)
    both = [Seen(SeenTrait(trait=by, scenes=[0]), ids, by) for by in ("rule", "m")]
    person = with_traits(
        known(truth("a", "Oslo", source_ids=["mem_0"]), truth("b", "Rome", attribute="birthplace")),
        both,
        there,
    )
    left = without_memories(person, {"mem_0", "b"})
    assert [(fact.memory_ids, fact.cell_ids) for fact in left.facts] == [(["a"], [])]
    assert [(trait.by, trait.cell_ids) for trait in left.traits] == [("rule", list(ids[1:]))]
    assert without_memories(left, {"mem_1", "mem_2"}).traits == []


def test_of_how_long_messages_are_one_is_shown() -> None:
    there = cells(6)
    first = with_traits(KnownPerson(), [seen("User writes short messages.", 0, 1, 2)], there)
    later = with_traits(
        first, [seen("User writes medium-length messages and is polite.", 3, 4, 5)], there
    )
    assert [(trait.trait, trait.cell_ids) for trait in later.traits] == [
        ("User writes medium-length messages and is polite.", ["mem_3", "mem_4", "mem_5"])
    ]


def test_rules_see_the_length_that_most_talks_have() -> None:
    shows = [("User writes short messages.",)] * 3 + [("User writes long messages.",)] * 4
    scene = SceneItem(0, "work", tuple(f"boss {number}" for number in range(7)), tuple(shows), NOW)
    assert [trait.trait for trait in seen_traits([scene]).traits] == [
        "Often talks about work.",
        "User writes long messages.",
    ]
