"""A graph of a memory's evolution: nodes, edges, and where each node is drawn.

The graph has only the few memories that were read; no edge names a memory that is not a node. Note:
texts, categories and reasons are users' words. They are data, and each format escapes them in its
own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.transitions import FOUND_BY_DEFAULT

MAX_NODES = 100
"""The most nodes; more are neither legible nor within the 50,000 characters that Mermaid reads."""
MAX_EDGES = 400
"""The most edges; Mermaid draws no graph of more than 500."""
EdgeKind = Literal["next", "told", "link"]
Look = Literal["standing", "past", "gone", "episode"]

_INVISIBLE = regex.compile(r"[\p{Cc}\p{Zl}\p{Zp}\s]+")
_TURNS_TEXT = regex.compile(r"[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]")
_GRAPHEMES = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes, by their places.

    The kind `next` means that the target replaced the source, `told` that the source told the
    target, and `link` that they are alike.
    """

    source: int
    target: int
    kind: EdgeKind
    label: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of memories.

    Attributes:
        nodes: The memories, the earliest event first.
        edges: The edges between them.
        asked: The place of the memory that was asked for.
        complete: False if there are more memories or edges than the graph has.

    """

    nodes: tuple[Memory, ...]
    edges: tuple[Edge, ...]
    asked: int
    complete: bool = True


def mentioned(asked: Memory, tree: Sequence[Memory]) -> list[str]:
    """Return the ids that a tree's memories name beside `next_id`, the most important first.

    First come the facts that an asked cell told and their successors, then the cells that told the
    memories, then the links of the asked memory. Each id comes once.

    Args:
        asked: The memory that was asked for.
        tree: The memories of its tree.

    """
    names = [name for fact in asked.atomic_facts for name in (fact.fact_id, fact.superseded_by)]
    names += [name for memory in (asked, *tree) for name in (memory.cell_id, *memory.source_ids)]
    names += [link.memory_id for link in asked.links]
    return list(dict.fromkeys(name for name in names if name is not None))


def of_memories(
    asked: Memory, tree: Sequence[Memory], beside: Sequence[Memory], *, complete: bool
) -> Graph:
    """Make the graph of these memories, the earliest event first.

    Args:
        asked: The memory that was asked for, which is in the tree.
        tree: The memories that replaced each other.
        beside: The memories that these name.
        complete: Whether these are all memories.

    """
    nodes = sorted(
        (*tree, *beside), key=lambda memory: (memory.event_timestamp, memory.sequence, memory.id)
    )
    places = {memory.id: place for place, memory in enumerate(nodes)}
    edges: dict[tuple[int, int], Edge] = {}
    all_edges = [*_replaced(nodes, places), *_told(nodes, places), *_linked(nodes, places)]
    for edge in all_edges:
        if edge.source != edge.target:
            edges.setdefault((edge.source, edge.target), edge)
    edges_shown = tuple(edges.values())[:MAX_EDGES]
    return Graph(
        tuple(nodes), edges_shown, places[asked.id], complete and len(edges_shown) == len(edges)
    )


def _replaced(nodes: Sequence[Memory], places: dict[str, int]) -> list[Edge]:
    return [
        Edge(places[memory.id], places[memory.next_id], "next", memory.status_reason)
        for memory in nodes
        if memory.next_id in places
    ]


def _told(nodes: Sequence[Memory], places: dict[str, int]) -> list[Edge]:
    """Return edges from cells to the memories that they told.

    Both the memories and the cells name them.
    """
    pairs = [
        (name, memory.id)
        for memory in nodes
        for name in (memory.cell_id, *memory.source_ids)
        if name is not None
    ]
    pairs += [
        (memory.id, fact.fact_id)
        for memory in nodes
        for fact in memory.atomic_facts
        if fact.fact_id is not None
    ]
    return [
        Edge(places[source], places[target], "told", "told")
        for source, target in pairs
        if source in places and target in places
    ]


def _linked(nodes: Sequence[Memory], places: dict[str, int]) -> list[Edge]:
    return [
        Edge(places[memory.id], places[link.memory_id], "link", link.relationship_type)
        for memory in nodes
        for link in memory.links
        if link.memory_id in places
    ]


def brief(text: str, most: int) -> str:
    """Return the text on a single line, cut after `most` characters.

    Characters are counted as people count them, and the controls that turn text around are removed.
    The result is never empty. Of characters that consist of many code points, fewer are shown.

    Args:
        text: The text.
        most: The most characters.

    """
    head = text[: most * 4]
    graphemes = _GRAPHEMES.findall(_INVISIBLE.sub(" ", _TURNS_TEXT.sub("", head)).strip())
    if len(head) == len(text) and len(graphemes) <= most:
        return "".join(graphemes) or "…"
    return (
        "".join(graphemes[: most - 1] if len(graphemes) >= most else graphemes[:-1]).rstrip() + "…"
    )


def name_of(memory: Memory) -> str:
    """Return the kind of a memory, in short: its category, else its type."""
    return brief(memory.category or memory.type.value, 24)


def facts_of(memory: Memory) -> str:
    """Return status, day of the event and version on a single line."""
    return (
        f"{memory.status.value} · {memory.event_timestamp.date().isoformat()} · v{memory.version}"
    )


def look_of(memory: Memory) -> Look:
    """Return how a memory is drawn.

    An `episode` is an event, `standing` is active, `past` was active, and `gone` is deleted.
    """
    if memory.status is Status.DELETED:
        return "gone"
    if memory.type is MemoryType.EPISODIC:
        return "episode"
    return "standing" if memory.status in FOUND_BY_DEFAULT else "past"


# The place of each node of a graph: a level for every step that a memory is away from what holds
# now, and a lane within the level.
#
# Replacements make a forest, so its edges never cross a node and each spans one level. What is only
# beside it (cells, linked memories) gets a place one level before the memory that it belongs to.
# Note: cycles are drawn, not trusted; of each, the replacement that closes it has no say in where
# its nodes stand.


WIDE = 4
"""The most lanes of a graph from top to bottom, however narrow a graph from left to right is.

A graph with more lanes is drawn in the narrower direction.
"""


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """The place of each node.

    Attributes:
        levels: The level of each node, 0 for the earliest.
        lanes: The lane of each node, from 0; halves occur.
        sideways: Whether levels are columns, not rows.

    """

    levels: tuple[int, ...]
    lanes: tuple[float, ...]
    sideways: bool

    @property
    def depth(self) -> int:
        """The number of levels."""
        return max(self.levels) + 1


def arranged(count: int, edges: Sequence[Edge]) -> GraphLayout:
    """Return a place for each node.

    No two nodes of a level are less than a lane apart.

    Args:
        count: The number of nodes, at least 1.
        edges: The edges between them.

    """
    replaced = _without_cycles({edge.source: edge.target for edge in edges if edge.kind == "next"})
    after = replaced | _beside(count, edges, replaced)
    back = _levels_back(count, edges, after, {*replaced, *replaced.values()})
    lanes = _lanes(count, after, back, frozenset(replaced))
    deepest = max(back)
    levels = tuple(deepest - steps for steps in back)
    return GraphLayout(levels, lanes, sideways=max(lanes) + 1 > max(WIDE, deepest + 1))


def _without_cycles(following: dict[int, int]) -> dict[int, int]:
    """Return the steps without those that close a cycle.

    The step that leads back to where a cycle was entered first is left out.
    """
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
    """Return the node before which each separate node is placed.

    Such a node neither replaced a node nor was replaced. Of the nodes that it belongs to, the node
    furthest back counts.
    """
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


def _levels_back(
    count: int, edges: Sequence[Edge], after: dict[int, int], replacing: set[int]
) -> list[int]:
    """Return how many levels each node is before the last level.

    These are its steps, and more if its tree is drawn back to the cell that told its end.
    """
    ends = [_end(node, after) for node in range(count)]
    shift = [0] * count
    for edge in edges:
        end, steps = ends[edge.source]
        if (
            edge.kind == "told"
            and edge.target not in replacing
            and edge.target not in after
            and end != edge.target
        ):
            shift[edge.target] = max(shift[edge.target], steps + shift[end] - 1)
    return [steps + shift[end] for end, steps in ends]


def _end(node: int, after: dict[int, int]) -> tuple[int, int]:
    """Return the end of a node's tree and the steps to it."""
    steps = 0
    while node in after:
        node, steps = after[node], steps + 1
    return node, steps


def _lanes(
    count: int, after: dict[int, int], back: Sequence[int], replaced: frozenset[int]
) -> tuple[float, ...]:
    """Return lanes with the trees side by side, each from its beginnings on.

    A node is in the middle of the nodes that it replaced, so a chain is straight.
    """
    before: dict[int, list[int]] = {}
    for node, end in after.items():
        before.setdefault(end, []).append(node)
    lanes, free = [0.0] * count, [0.0] * (max(back) + 1)
    trees = [
        _beginnings_first(root, before, replaced) for root in range(count) if root not in after
    ]
    for tree in sorted(trees, key=min):
        for node in tree:
            ahead = before.get(node, ())
            deciding = [earlier for earlier in ahead if earlier in replaced] or ahead
            # where its successor will stand, if nothing came before
            straight = free[max(0, back[node] - 1)]
            wanted = (
                sum(lanes[earlier] for earlier in deciding) / len(deciding)
                if deciding
                else straight
            )
            lanes[node] = max(free[back[node]], wanted)
            free[back[node]] = lanes[node] + 1
    return tuple(lanes)


def _beginnings_first(
    root: int, before: dict[int, list[int]], replaced: frozenset[int]
) -> list[int]:
    """Return all nodes of a tree, each after those before it.

    Replaced nodes come before nodes beside them. There is no recursion, because chains are long.
    """
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += sorted(
            before.get(node, ()), key=lambda earlier: (earlier not in replaced, earlier)
        )
    return order[::-1]
