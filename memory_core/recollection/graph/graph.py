"""What an evolution graph shows: memories as nodes, and who replaced, told or is linked with whom as edges.

Everything here is about the same few memories that were read; nothing names one that is not among the nodes.
Note: texts, categories and reasons are users' words. They are data, and each format escapes them in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType, Status

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
    """From one node to another, by their places. next: replaced by; told: the first is where the second was told; link: is like."""

    source: int
    target: int
    kind: EdgeKind
    label: str


@dataclass(frozen=True, slots=True)
class Graph:
    """asked: the place of the memory that was asked for. complete: False when there is more than is shown."""

    nodes: tuple[Memory, ...]
    edges: tuple[Edge, ...]
    asked: int
    complete: bool = True


def mentioned(asked: Memory, tree: Sequence[Memory]) -> list[str]:
    """Ids that the memories of a tree name beside `next_id`, each once, what matters most first.

    The facts that an asked cell told, and what replaced them; where the memories were told; what the asked one is linked with.
    """
    names = [name for fact in asked.atomic_facts for name in (fact.fact_id, fact.superseded_by)]
    names += [name for memory in (asked, *tree) for name in (memory.cell_id, *memory.source_ids)]
    names += [link.memory_id for link in asked.links]
    return list(dict.fromkeys(name for name in names if name is not None))


def of_memories(asked: Memory, tree: Sequence[Memory], beside: Sequence[Memory], *, complete: bool) -> Graph:
    """The graph of these memories (`asked` is one of the tree), the earliest event first."""
    nodes = sorted((*tree, *beside), key=lambda memory: (memory.event_timestamp, memory.sequence, memory.id))
    places = {memory.id: place for place, memory in enumerate(nodes)}
    edges: dict[tuple[int, int], Edge] = {}
    all_edges = [*_replaced(nodes, places), *_told(nodes, places), *_linked(nodes, places)]
    for edge in all_edges:
        if edge.source != edge.target:
            edges.setdefault((edge.source, edge.target), edge)
    edges_shown = tuple(edges.values())[:MAX_EDGES]
    return Graph(tuple(nodes), edges_shown, places[asked.id], complete and len(edges_shown) == len(edges))


def _replaced(nodes: Sequence[Memory], places: dict[str, int]) -> list[Edge]:
    return [Edge(places[memory.id], places[memory.next_id], "next", memory.status_reason) for memory in nodes if memory.next_id in places]


def _told(nodes: Sequence[Memory], places: dict[str, int]) -> list[Edge]:
    """From cells to what they told: as the memories say it, and as the cell itself does."""
    pairs = [(name, memory.id) for memory in nodes for name in (memory.cell_id, *memory.source_ids) if name is not None]
    pairs += [(memory.id, fact.fact_id) for memory in nodes for fact in memory.atomic_facts if fact.fact_id is not None]
    return [Edge(places[source], places[target], "told", "told") for source, target in pairs if source in places and target in places]


def _linked(nodes: Sequence[Memory], places: dict[str, int]) -> list[Edge]:
    return [
        Edge(places[memory.id], places[link.memory_id], "link", link.relationship_type)
        for memory in nodes
        for link in memory.links
        if link.memory_id in places
    ]


def brief(text: str, most: int) -> str:
    """The text on one line, cut after `most` characters as people count them; without the controls that turn text around.

    Never empty. Of characters that are heaped up from many code points, fewer are shown.
    """
    head = text[: most * 4]
    graphemes = _GRAPHEMES.findall(_INVISIBLE.sub(" ", _TURNS_TEXT.sub("", head)).strip())
    if len(head) == len(text) and len(graphemes) <= most:
        return "".join(graphemes) or "…"
    return "".join(graphemes[: most - 1] if len(graphemes) >= most else graphemes[:-1]).rstrip() + "…"


def name_of(memory: Memory) -> str:
    """What kind of memory it is, in a word or two: its category, else its type."""
    return brief(memory.category or memory.type.value, 24)


def facts_of(memory: Memory) -> str:
    """Status, day of the event and version, on one line."""
    return f"{memory.status.value} · {memory.event_timestamp.date().isoformat()} · v{memory.version}"


def look_of(memory: Memory) -> Look:
    """How it is drawn: what happened (episode), what holds (standing), what held (past), what was deleted (gone)."""
    if memory.status is Status.DELETED:
        return "gone"
    if memory.type is MemoryType.EPISODIC:
        return "episode"
    return "standing" if memory.status in FOUND_BY_DEFAULT else "past"
