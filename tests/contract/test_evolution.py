"""Walks along next_id over every long-term store: whatever is stored, they end, in order,
and never reach what is another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.domain.errors import NotFound
from memory_core.domain.memory import AtomicFact, Link, Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.evolution.chains import MAX_LEVELS, MAX_MEMORIES
from memory_core.ports import LongTermStore, Write
from memory_core.recollection.graph.model import MAX_NODES, Graph
from memory_core.recollection.history import Lineage
from tests.builders import ALICE, NOW, commit, document, memory, save
from tests.world import BOB

COUNT = 9
NEXT = st.one_of(st.none(), st.integers(0, COUNT - 1), st.just(-1))
"""Where a memory leads: to none, to any other or itself, or to one that is not there."""


def ids(memories: tuple[Memory, ...] | list[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def led(*names: str, **fields: Any) -> list[Memory]:
    """A chain of facts, a day apart, each leading to the next."""
    following = [*names[1:], None]
    return [
        fact(name, day, next_id=after, **fields)
        for day, (name, after) in enumerate(zip(names, following, strict=True))
    ]


def fact(name: str, day: int = 0, *, next_id: str | None = None, **fields: Any) -> Memory:
    fallen = {"status": Status.SUPERSEDED, "status_reason": "contradicted"} if next_id else {}
    given = {
        "id": name,
        "next_id": next_id,
        "type": MemoryType.SEMANTIC,
        "category": "fact",
        "event_timestamp": NOW + timedelta(days=day),
    }
    return memory(f"what {name} says", **{**given, **fallen, **fields})


def forward(start: int, following: list[int | None]) -> list[int]:
    walked, step = [start], following[start]
    while step is not None and step >= 0 and step not in walked:
        walked.append(step)
        step = following[step]
    return walked


def leading_to(start: int, following: list[int | None]) -> dict[int, int]:
    """Which memories lead to `start`, with the number of steps; a check that knows
    nothing of levels.
    """
    lineages = {}
    for number in range(COUNT):
        walked = forward(number, following)
        if start in walked[1:]:
            lineages[number] = walked.index(start)
    return lineages


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    following=st.lists(NEXT, min_size=COUNT, max_size=COUNT),
    start=st.integers(0, COUNT - 1),
    days=st.permutations(range(COUNT)),
)
async def test_the_walks_end_and_keep_their_order_whatever_leads_where(
    store: LongTermStore, following: list[int | None], start: int, days: list[int]
) -> None:
    owner = Owner("app", uuid4().hex)
    memories = [
        fact(
            f"mem_{number}",
            days[number],
            next_id=None if following[number] is None else f"mem_{following[number]}",
            owner=owner,
        )
        for number in range(COUNT)
    ]
    await save(store, *memories)
    lineage = Lineage(store)
    ahead = await lineage.chain(owner, f"mem_{start}", "forward")
    assert ids(ahead.memories) == [f"mem_{number}" for number in forward(start, following)]
    behind = await lineage.chain(owner, f"mem_{start}", "backward")
    steps = leading_to(start, following)
    expected = sorted(steps, key=lambda number: (steps[number], -days[number]))
    assert ids(behind.memories) == [f"mem_{number}" for number in (start, *expected)]
    both = await lineage.chain(owner, f"mem_{start}", "both")
    before = [
        memory_id
        for memory_id in reversed(ids(behind.memories)[1:])
        if memory_id not in ids(ahead.memories)
    ]
    assert ids(both.memories) == [*before, *ids(ahead.memories)]
    assert ahead.complete and behind.complete and both.complete  # noqa: PT018 - all three alike
    graph = await lineage.graph(owner, f"mem_{start}")
    tree = {
        number for end in forward(start, following) for number in (end, *leading_to(end, following))
    }
    assert {node.id for node in graph.nodes} == {f"mem_{number}" for number in tree}
    wanted = {
        (f"mem_{number}", f"mem_{following[number]}")
        for number in tree
        if following[number] in tree and following[number] != number
    }
    assert {
        (graph.nodes[edge.source].id, graph.nodes[edge.target].id) for edge in graph.edges
    } == wanted


async def test_a_merge_is_walked_back_level_by_level_the_latest_event_first(
    store: LongTermStore,
) -> None:
    await save(
        store,
        fact("mem_end", 9),
        fact("mem_a", 1, next_id="mem_end"),
        fact("mem_b", 5, next_id="mem_end"),
        fact("mem_a1", 7, next_id="mem_a"),
        fact("mem_b1", 2, next_id="mem_b"),
    )
    lineage = Lineage(store)
    back = ["mem_end", "mem_b", "mem_a", "mem_a1", "mem_b1"]
    assert ids((await lineage.chain(ALICE, "mem_end", "backward")).memories) == back
    assert ids((await lineage.chain(ALICE, "mem_end", "both")).memories) == back[::-1]
    assert ids((await lineage.chain(ALICE, "mem_b", "both")).memories) == [
        "mem_b1",
        "mem_b",
        "mem_end",
    ]


@dataclass
class Counting:
    """A store that notes which calls it got."""

    inner: LongTermStore
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self.inner, name)


async def test_a_level_is_one_query_however_many_memories_it_has(store: LongTermStore) -> None:
    wide = [
        fact(f"mem_{level}_{number}", next_id=f"mem_{level - 1}_{number % 2}" if level else None)
        for level in range(3)
        for number in range(15)
    ]
    await save(store, *wide)
    counting = Counting(store)
    backward = await Lineage(counting).chain(ALICE, "mem_0_0", "backward")  # type: ignore[arg-type]
    assert len(backward.memories) == 1 + 8 + 8
    assert counting.calls == ["memories", "page", "page", "page"]


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
async def test_another_owners_another_epochs_and_old_versions_are_no_part_of_it(
    store: LongTermStore, direction: Any
) -> None:
    await save(store, fact("mem_b1", next_id="mem_1", owner=BOB), fact("mem_2", owner=BOB))
    mine = fact("mem_1", next_id="mem_2")
    await save(store, mine)
    leftover = fact("mem_0", next_id="mem_1").model_copy(update={"epoch": "an-erased-epoch"})
    ahead = fact("mem_2").model_copy(update={"epoch": "an-erased-epoch"})
    version = fact("mem_1.v1", next_id="mem_1")
    await commit(
        store,
        ALICE,
        Write("put", document(leftover)),
        Write("put", document(ahead)),
        Write("put", document(version, "version")),
    )
    assert ids((await Lineage(store).chain(ALICE, "mem_1", direction)).memories) == ["mem_1"]
    assert ids(list((await Lineage(store).graph(ALICE, "mem_1")).nodes)) == ["mem_1"]


@pytest.mark.parametrize("name", ["mem_b1", "mem_0", "mem_1.v1", "nobody"])
async def test_what_is_not_the_owners_own_memory_is_not_found(
    store: LongTermStore, name: str
) -> None:
    await save(store, fact("mem_b1", owner=BOB))
    await save(store, fact("mem_1"))
    leftover = fact("mem_0").model_copy(update={"epoch": "an-erased-epoch"})
    await commit(
        store,
        ALICE,
        Write("put", document(leftover)),
        Write("put", document(fact("mem_1.v1"), "version")),
    )
    for call in (Lineage(store).chain(ALICE, name, "both"), Lineage(store).graph(ALICE, name)):
        with pytest.raises(NotFound):
            await call


async def test_walks_say_when_their_bounds_cut_them(store: LongTermStore) -> None:
    long = led(*(f"mem_{number:03}" for number in range(MAX_LEVELS + 5)))
    wide = [
        fact(f"mem_w{number}", number, next_id="mem_wide") for number in range(MAX_MEMORIES + 1)
    ]
    memories = [*long, *wide, fact("mem_wide")]
    for at in range(0, len(memories), 45):
        await save(store, *memories[at : at + 45])
    lineage = Lineage(store)
    ahead = await lineage.chain(ALICE, long[0].id, "forward")
    assert (ids(ahead.memories), ahead.complete) == (ids(long)[: MAX_LEVELS + 1], False)
    assert (await lineage.chain(ALICE, long[10].id, "forward")).complete
    behind = await lineage.chain(ALICE, long[-1].id, "backward")
    assert (ids(behind.memories), behind.complete) == (ids(long)[::-1][: MAX_LEVELS + 1], False)
    joined = await lineage.chain(ALICE, "mem_wide", "backward")
    assert (len(joined.memories), joined.complete) == (MAX_MEMORIES + 1, False)
    assert joined.memories[0].id == "mem_wide"
    drawn = await lineage.graph(ALICE, "mem_wide")
    assert (len(drawn.nodes), drawn.complete) == (MAX_NODES, False)


async def test_exactly_as_many_as_there_is_room_for_are_all(store: LongTermStore) -> None:
    wide = [fact(f"mem_w{number}", number, next_id="mem_wide") for number in range(MAX_MEMORIES)]
    for at in range(0, len(wide), 45):
        await save(store, *wide[at : at + 45])
    await save(store, fact("mem_wide"))
    joined = await Lineage(store).chain(ALICE, "mem_wide", "backward")
    assert (len(joined.memories), joined.complete) == (MAX_MEMORIES + 1, True)


def ties(graph: Graph) -> set[tuple[str, str, str, str]]:
    return {
        (graph.nodes[edge.source].id, graph.nodes[edge.target].id, edge.kind, edge.label)
        for edge in graph.edges
    }


def a_move() -> Mapping[str, Memory]:
    """Two cells, what they told of where Ana lives, and a note that the new fact is linked with."""
    facts = [
        AtomicFact(text="lives in Berlin", fact_id="f1", superseded_by="f2"),
        AtomicFact(text="is a nurse", fact_id="job"),
    ]
    cells = [
        memory("Ana spoke of Berlin", id="c1", cell_id="c1", category="cell", atomic_facts=facts),
        memory(
            "Ana spoke of Lisbon",
            id="c2",
            cell_id="c2",
            category="cell",
            event_timestamp=NOW + timedelta(days=3),
        ),
    ]
    link = Link(
        memory_id="n1",
        similarity_score=0.8,
        composite_score=0.8,
        link_strength=0.8,
        relationship_type="related",
    )
    made = [
        *cells,
        fact("f1", 0, next_id="f2", cell_id="c1", source_ids=["c1"]),
        fact("f2", 3, cell_id="c2", source_ids=["c2", "gone"], links=[link]),
        fact("job", 0, cell_id="c1", source_ids=["c1"]),
        fact("n1", 1, category="note"),
        fact("other", 2),
    ]
    return {memory.id: memory for memory in made}


async def test_the_graph_of_a_fact_shows_the_cells_that_told_it_and_what_it_is_linked_with(
    store: LongTermStore,
) -> None:
    await save(store, *a_move().values())
    graph = await Lineage(store).graph(ALICE, "f2")
    assert ids(list(graph.nodes)) == ["c1", "f1", "n1", "c2", "f2"]
    assert graph.nodes[graph.asked].id == "f2"
    expected = {("c1", "f1", "told", "told"), ("c2", "f2", "told", "told")}
    assert ties(graph) == {
        *expected,
        ("f1", "f2", "next", "contradicted"),
        ("f2", "n1", "link", "related"),
    }
    assert graph.complete


async def test_the_graph_of_a_cell_shows_the_facts_it_told_and_what_replaced_them(
    store: LongTermStore,
) -> None:
    await save(store, *a_move().values())
    graph = await Lineage(store).graph(ALICE, "c1")
    assert ties(graph) == {
        ("c1", "f1", "told", "told"),
        ("c1", "job", "told", "told"),
        ("f1", "f2", "next", "contradicted"),
    }


async def test_the_list_shows_no_cells(store: LongTermStore) -> None:
    await save(store, *a_move().values())
    assert ids((await Lineage(store).chain(ALICE, "f2", "both")).memories) == ["f1", "f2"]
