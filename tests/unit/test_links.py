from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.memory import Memory, MemoryType
from memory_core.evolution.links import MAX_LINKS, LinkRules, find_compared, find_links
from memory_core.ports import Neighbour
from tests.builders import NOW, memory

RULES = LinkRules(duplicate_threshold=0.98, link_threshold=0.7)


def note(name: str, **fields: object):  # type: ignore[no-untyped-def]
    return memory(name, id=f"mem_{name}", type=MemoryType.SEMANTIC, category="note", **fields)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 5000), st.floats(0, 1)), max_size=40))
def test_every_link_is_at_least_as_strong_as_the_threshold_and_at_most_a_fifth_stronger(
    neighbours: list[tuple[float, float, float]],
) -> None:
    near = [
        Neighbour(
            note(
                str(number),
                created_at=NOW - timedelta(days=days),
                updated_at=NOW - timedelta(days=days),
                importance_base=base,
            ),
            similarity,
        )
        for number, (similarity, days, base) in enumerate(neighbours)
    ]
    links = find_links(note("new"), near, RULES, NOW)
    assert len(links) == min(
        MAX_LINKS, sum(similarity >= RULES.link_threshold for similarity, _, _ in neighbours)
    )
    for link in links:
        assert RULES.link_threshold <= link.link.similarity_score + 1e-6
        assert (
            link.link.similarity_score
            <= link.link.link_strength + 1e-6
            <= link.link.similarity_score * 1.2 + 2e-6
        )
    strengths = [candidate.link.composite_score for candidate in links]
    assert strengths == sorted(strengths, reverse=True)


@pytest.mark.parametrize(
    ("similarity", "kind"), [(0.99, "duplicate"), (0.9, "strong"), (0.75, "related")]
)
def test_the_kind_of_a_link_is_told_by_similarity(similarity: float, kind: str) -> None:
    (link,) = find_links(note("new"), [Neighbour(note("old"), similarity)], RULES, NOW)
    assert link.link.relationship_type == kind


def test_memories_of_one_slot_are_linked_however_unlike() -> None:
    old = note("old", subject="Ana", attribute="Home")
    (link,) = find_links(
        note("new", subject="ana", attribute="home"), [Neighbour(old, 0.1)], RULES, NOW
    )
    assert link.memory.id == "mem_old"


def test_what_is_not_found_by_default_and_the_memory_itself_are_not_linked() -> None:
    near = [
        Neighbour(note("old", status="superseded", status_reason="contradicted"), 0.9),
        Neighbour(note("new"), 1.0),
    ]
    assert find_links(note("new"), near, RULES, NOW) == []


def fact(content: str, **fields: object) -> Memory:
    return memory(content, type=MemoryType.SEMANTIC, category="fact", **fields)


def compared(new: Memory, *near: tuple[str | Memory, float]) -> list[str]:
    neighbours = [
        Neighbour(fact(old) if isinstance(old, str) else old, similarity)
        for old, similarity in near
    ]
    return [link.memory.content for link in find_compared(new, neighbours, RULES, NOW)]


def test_a_new_fact_is_compared_with_the_nearest_few() -> None:
    near = [(f"User likes tea number {place}", 0.8 + place / 100) for place in range(9)]
    assert compared(fact("User likes rain"), *near) == [
        f"User likes tea number {place}" for place in (8, 7, 6, 5)
    ]


def test_words_that_only_one_has_in_common_bring_it_forward() -> None:
    near = [(f"Nutzer hat eine Sache {place}", 0.7) for place in range(9)]
    new = fact("Nutzer hat Rex abgegeben")
    assert compared(new, *near, ("Nutzer hat den Hund Rex", 0.6))[0] == "Nutzer hat den Hund Rex"


def test_a_statement_of_its_slot_is_compared_beside_the_nearest_few() -> None:
    slot = {"subject": "user", "attribute": "home city"}
    lisbon = fact("User is a Lisbon person", value="Lisbon", **slot)
    near = [(f"User likes Bonn {place}", 0.9) for place in range(9)]
    contents = compared(fact("User lives in Bonn", value="Bonn", **slot), (lisbon, 0.1), *near)
    assert (contents[0], len(contents)) == (lisbon.content, 5)


def test_what_is_told_to_be_over_is_compared_however_far_away_the_nearest_are() -> None:
    golf = ("User drives a 2014 Golf", 0.2)
    assert compared(fact("User sold the car"), golf) == [golf[0]]
    assert compared(fact("User likes rain"), golf) == []


def test_facts_are_compared_with_facts_alone() -> None:
    assert compared(fact("User likes rain"), (note("User likes the rain"), 0.9)) == []
