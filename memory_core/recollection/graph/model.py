"""A graph of a memory's evolution: nodes, edges, and where each node is drawn.

Everything here is about the same few memories that were read; nothing names one that is not among
the nodes. Note: texts, categories and reasons are users' words. They are data,
and each format escapes them in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, MemoryType, Status

MAX_NODES = 100
"""More are neither legible nor within the 50,000 characters that Mermaid reads."""
MAX_EDGES = 400
"""Mermaid draws no graph of more than 500."""
EdgeKind = Literal["next", "told", "link"]
Look = Literal["standing", "past", "gone", "episode"]

_INVISIBLE = regex.compile(r"[\p{Cc}\p{Zl}\p{Zp}\s]+")
_TURNS_TEXT = regex.compile(r"[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]")
_GRAPHEMES = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Edge:
    """From one node to another, by their places. next: replaced by; told: the first is where the
    second was told; link: is like.
    """

    source: int
    target: int
    kind: EdgeKind
    label: str


@dataclass(frozen=True, slots=True)
class Graph:
    """asked: the place of the memory that was asked for. complete: False when there is more
    than is shown.
    """

    nodes: tuple[Memory, ...]
    edges: tuple[Edge, ...]
    asked: int
    complete: bool = True


def mentioned(asked: Memory, tree: Sequence[Memory]) -> list[str]:
    """Ids that the memories of a tree name beside `next_id`, each once, what matters most first.

    The facts that an asked cell told, and what replaced them; where the memories were told;
    what the asked one is linked with.
    """
    names = [name for fact in asked.atomic_facts for name in (fact.fact_id, fact.superseded_by)]
    names += [name for memory in (asked, *tree) for name in (memory.cell_id, *memory.source_ids)]
    names += [link.memory_id for link in asked.links]
    return list(dict.fromkeys(name for name in names if name is not None))


def of_memories(
    asked: Memory, tree: Sequence[Memory], beside: Sequence[Memory], *, complete: bool
) -> Graph:
    """The graph of these memories (`asked` is one of the tree), the earliest event first."""
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
    """From cells to what they told: as the memories say it, and as the cell itself does."""
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
    """The text on one line, cut after `most` characters as people count them; without the controls
    that turn text around.

    Never empty. Of characters that are heaped up from many code points, fewer are shown.
    """
    head = text[: most * 4]
    graphemes = _GRAPHEMES.findall(_INVISIBLE.sub(" ", _TURNS_TEXT.sub("", head)).strip())
    if len(head) == len(text) and len(graphemes) <= most:
        return "".join(graphemes) or "…"
    return (
        "".join(graphemes[: most - 1] if len(graphemes) >= most else graphemes[:-1]).rstrip() + "…"
    )


def name_of(memory: Memory) -> str:
    """What kind of memory it is, in a word or two: its category, else its type."""
    return brief(memory.category or memory.type.value, 24)


def facts_of(memory: Memory) -> str:
    """Status, day of the event and version, on one line."""
    return (
        f"{memory.status.value} · {memory.event_timestamp.date().isoformat()} · v{memory.version}"
    )


def look_of(memory: Memory) -> Look:
    """How it is drawn: what happened (episode), what holds (standing), what held (past),
    what was deleted (gone).
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
"""Lanes that a graph from top to bottom may have before its width is compared with that of one from
left to right.
"""


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """levels: of each node, 0 for the earliest; lanes: of each, from 0, halves too;
    sideways: levels are columns, not rows.
    """

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


def arranged(count: int, edges: Sequence[Edge]) -> GraphLayout:
    """A place for each of `count` (at least one) nodes; no two in one level are less than
    a lane apart.
    """
    replaced = _without_cycles({edge.source: edge.target for edge in edges if edge.kind == "next"})
    after = replaced | _beside(count, edges, replaced)
    back = _levels_back(count, edges, after, {*replaced, *replaced.values()})
    lanes = _lanes(count, after, back, frozenset(replaced))
    deepest = max(back)
    levels = tuple(deepest - steps for steps in back)
    return GraphLayout(levels, lanes, sideways=max(lanes) + 1 > max(WIDE, deepest + 1))


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
    """For nodes that neither replaced nor were replaced: the node that they stand before, the one
    furthest back of those they belong to.
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
    """How many levels before the last each node is: its steps, and more where its tree is drawn
    back to the cell that told its end.
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
    """The end of a node's tree and the steps to it."""
    steps = 0
    while node in after:
        node, steps = after[node], steps + 1
    return node, steps


def _lanes(
    count: int, after: dict[int, int], back: Sequence[int], replaced: frozenset[int]
) -> tuple[float, ...]:
    """Trees side by side, each from its beginnings on: a node is amid what it replaced,
    so a chain is straight.
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
    """All nodes of a tree, each after those before it, the replaced ones before those beside; no
    recursion, for chains are long.
    """
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += sorted(
            before.get(node, ()), key=lambda earlier: (earlier not in replaced, earlier)
        )
    return order[::-1]
