"""The place of each node of a graph: a level for every step that a memory is away from what holds now, and a lane within the level.

Replacements make a forest, so its edges never cross a node and each spans one level. What is only beside it (cells, linked memories)
gets a place one level before the memory that it belongs to. Note: cycles are drawn, not trusted; of each, the
replacement that closes it has no say in where its nodes stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.recollection.graph.graph import Edge

WIDE = 4
"""Lanes that a graph from top to bottom may have before its width is compared with that of one from left to right."""


@dataclass(frozen=True, slots=True)
class Layout:
    """levels: of each node, 0 for the earliest; lanes: of each, from 0, halves too; sideways: levels are columns, not rows."""

    levels: tuple[int, ...]
    lanes: tuple[float, ...]
    sideways: bool

    @property
    def depth(self) -> int:
        """How many levels there are."""
        return max(self.levels) + 1

    @property
    def width(self) -> float:
        """How many lanes there are."""
        return max(self.lanes) + 1


def arranged(count: int, edges: Sequence[Edge]) -> Layout:
    """A place for each of `count` (at least one) nodes; no two in one level are less than a lane apart."""
    replaced = _without_cycles({edge.source: edge.target for edge in edges if edge.kind == "next"})
    after = replaced | _beside(count, edges, replaced)
    back = _levels_back(count, edges, after, {*replaced, *replaced.values()})
    lanes = _lanes(count, after, back, frozenset(replaced))
    deepest = max(back)
    levels = tuple(deepest - steps for steps in back)
    return Layout(levels, lanes, sideways=max(lanes) + 1 > max(WIDE, deepest + 1))


def _without_cycles(following: dict[int, int]) -> dict[int, int]:
    """Of each cycle, all but the step that leads back to where it was entered first."""
    acyclic: dict[int, int] = {}
    done: set[int] = set()
    for node in sorted(following):
        path, step = {node}, node
        while step in following and step not in done:
            done.add(step)
            if following[step] in path:
                break
            acyclic[step] = following[step]
            step = following[step]
            path.add(step)
    return acyclic


def _beside(count: int, edges: Sequence[Edge], after: dict[int, int]) -> dict[int, int]:
    """For nodes that neither replaced nor were replaced: the node that they stand before, the one furthest back of those they belong to."""
    belongs: dict[int, list[int]] = {}
    for edge in edges:
        if edge.kind == "told":
            belongs.setdefault(edge.source, []).append(edge.target)
        elif edge.kind == "link":
            belongs.setdefault(edge.target, []).append(edge.source)
    replacing = {*after, *after.values()}
    apart = {node for node in range(count) if node not in replacing and node in belongs}
    placed: dict[int, int] = {}
    for node in sorted(apart):
        owners = [owner for owner in belongs[node] if owner not in apart]
        if owners:
            farthest = max(_end(owner, after)[1] for owner in owners)
            ties = [owner for owner in owners if _end(owner, after)[1] == farthest]
            placed[node] = ties[len(ties) // 2]
    return placed


def _levels_back(count: int, edges: Sequence[Edge], after: dict[int, int], replacing: set[int]) -> list[int]:
    """How many levels before the last each node is: its steps, and more where its tree is drawn back to the cell that told its end."""
    ends = [_end(node, after) for node in range(count)]
    shift = [0] * count
    for edge in edges:
        end, steps = ends[edge.source]
        if edge.kind == "told" and edge.target not in replacing and edge.target not in after and end != edge.target:
            shift[edge.target] = max(shift[edge.target], steps + shift[end] - 1)
    return [steps + shift[end] for end, steps in ends]


def _end(node: int, after: dict[int, int]) -> tuple[int, int]:
    """The end of a node's tree and the steps to it."""
    steps = 0
    while node in after:
        node, steps = after[node], steps + 1
    return node, steps


def _lanes(count: int, after: dict[int, int], back: Sequence[int], replaced: frozenset[int]) -> tuple[float, ...]:
    """Trees side by side, each from its beginnings on: a node is amid what it replaced, so a chain is straight."""
    before: dict[int, list[int]] = {}
    for node, end in after.items():
        before.setdefault(end, []).append(node)
    lanes, free = [0.0] * count, [0.0] * (max(back) + 1)
    trees = [_beginnings_first(root, before, replaced) for root in range(count) if root not in after]
    for tree in sorted(trees, key=min):
        for node in tree:
            ahead = before.get(node, ())
            deciding = [earlier for earlier in ahead if earlier in replaced] or ahead
            straight = free[max(0, back[node] - 1)]  # where its successor will stand, if nothing came before
            wanted = sum(lanes[earlier] for earlier in deciding) / len(deciding) if deciding else straight
            lanes[node] = max(free[back[node]], wanted)
            free[back[node]] = lanes[node] + 1
    return tuple(lanes)


def _beginnings_first(root: int, before: dict[int, list[int]], replaced: frozenset[int]) -> list[int]:
    """All nodes of a tree, each after those before it, the replaced ones before those beside; no recursion, for chains are long."""
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += sorted(before.get(node, ()), key=lambda earlier: (earlier not in replaced, earlier))
    return order[::-1]
