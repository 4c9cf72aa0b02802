"""Where the nodes of a drawing stand: whatever the edges, none on another, replacements from
level to level.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.recollection.graph.model import Edge, GraphLayout, arranged
from tests.drawings import GRAPHS, cell_with_facts, chain, forest, merge, story

COUNT = 12
NODES = st.integers(0, COUNT - 1)
BESIDE = st.builds(Edge, NODES, NODES, st.sampled_from(["told", "link"]), st.just("x"))


@st.composite
def edges(draw: st.DrawFn) -> list[Edge]:
    following = draw(st.dictionaries(NODES, NODES))
    replaced = [Edge(source, target, "next", "x") for source, target in following.items()]
    return [
        edge
        for edge in [*replaced, *draw(st.lists(BESIDE, max_size=20))]
        if edge.source != edge.target
    ]


def apart(layout: GraphLayout) -> bool:
    rows: dict[int, list[float]] = {}
    for level, lane in zip(layout.levels, layout.lanes, strict=True):
        rows.setdefault(level, []).append(lane)
    return all(
        second - first > 1 - 1e-9
        for row in rows.values()
        for first, second in pairwise(sorted(row))
    )


def closes_a_cycle(edge: Edge, all_edges: list[Edge]) -> bool:
    following = {edge.source: edge.target for edge in all_edges if edge.kind == "next"}
    step, seen = edge.target, set[int]()
    while step in following and step not in seen:
        seen.add(step)
        step = following[step]
        if step == edge.source:
            return True
    return edge.target == edge.source


@given(edges=edges())
def test_no_node_stands_on_another_and_levels_begin_at_the_first(edges: list[Edge]) -> None:
    layout = arranged(COUNT, edges)
    assert apart(layout)
    assert min(layout.levels) == 0
    assert min(layout.lanes) >= 0
    assert layout.depth == max(layout.levels) + 1


@given(edges=edges())
def test_a_replacement_stands_one_level_on_unless_it_closes_a_cycle(edges: list[Edge]) -> None:
    levels = arranged(COUNT, edges).levels
    replaced = [edge for edge in edges if edge.kind == "next"]
    back = [edge for edge in replaced if levels[edge.target] != levels[edge.source] + 1]
    assert all(closes_a_cycle(edge, edges) for edge in back)
    circles = {
        frozenset(_circle(edge.source, replaced))
        for edge in replaced
        if closes_a_cycle(edge, edges)
    }
    assert len(back) == len(circles)


def _circle(node: int, replaced: list[Edge]) -> list[int]:
    following = {edge.source: edge.target for edge in replaced}
    circle, step = [node], following[node]
    while step != node:
        circle.append(step)
        step = following[step]
    return circle


@given(edges=edges())
def test_the_same_edges_stand_the_same(edges: list[Edge]) -> None:
    assert arranged(COUNT, edges) == arranged(COUNT, list(edges))


def test_a_chain_is_a_straight_line_downwards() -> None:
    graph = chain(5)
    layout = arranged(5, graph.edges)
    assert (layout.levels, layout.lanes, layout.sideways) == ((0, 1, 2, 3, 4), (0.0,) * 5, False)


def test_cells_stand_beside_the_chain_before_what_they_told() -> None:
    graph = story()
    layout = arranged(len(graph.nodes), graph.edges)
    at = {
        node.id: (layout.levels[place], layout.lanes[place])
        for place, node in enumerate(graph.nodes)
    }
    assert [at[name] for name in ("f1", "f2", "f3")] == [(1, 0.0), (2, 0.0), (3, 0.0)]
    assert [at[name][0] for name in ("c1", "c2", "c3", "n1")] == [0, 1, 2, 2]


def test_what_was_merged_stands_around_its_successor() -> None:
    graph = merge()
    layout = arranged(len(graph.nodes), graph.edges)
    lanes = {node.id: layout.lanes[place] for place, node in enumerate(graph.nodes)}
    assert (
        [lanes[f"s{number}"] for number in range(4)]
        == [lanes[f"c{number}"] for number in range(4)]
        == [0, 1, 2, 3]
    )
    assert lanes["m"] == lanes["end"] == 1.5


def test_the_facts_of_a_cell_stand_right_after_it_also_those_that_nothing_replaced() -> None:
    graph = cell_with_facts()
    layout = arranged(len(graph.nodes), graph.edges)
    levels = {node.id: layout.levels[place] for place, node in enumerate(graph.nodes)}
    assert levels == {"c": 0, "now": 2, **{f"f{number}": 1 for number in range(6)}}
    assert layout.sideways


@pytest.mark.parametrize("name", GRAPHS)
def test_told_edges_lead_onward(name: str) -> None:
    graph = GRAPHS[name]()
    levels = arranged(len(graph.nodes), graph.edges).levels
    assert all(
        levels[edge.source] < levels[edge.target] for edge in graph.edges if edge.kind == "told"
    )


def test_a_bush_is_laid_the_way_that_is_narrower() -> None:
    wide = arranged(60, forest(60).edges)
    assert wide.sideways == (max(wide.lanes) + 1 > wide.depth)
