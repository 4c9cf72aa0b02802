r"""The graph in Graphviz' language.

Note: inside quotes a backslash still speaks (`\N` is the node's name, `\l` ends a line) and so do HTML's
entities (`&amp;`), so both are escaped; the tooltip is no exception.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory_core.recollection.graph.graph import Graph, brief, facts_of, look_of, name_of

TEXT_CHARACTERS, TOOLTIP_CHARACTERS = 60, 1000
_COLOURS = {
    "standing": 'fillcolor="#e7f5ec", color="#2f7d4f"',
    "past": 'fillcolor="#f0f0f2", color="#8a8a94"',
    "gone": 'fillcolor="#fbeaea", color="#b3473f"',
    "episode": 'fillcolor="#ece9fb", color="#6b5bc4"',
}
_EDGES = {"next": "", "told": ", style=dotted", "link": ", style=dotted, dir=none, constraint=false"}


def as_dot(graph: Graph) -> str:
    """The source of the digraph, from top to bottom; ends with a line break."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield "digraph evolution {"
    yield '  graph [rankdir=TB, charset="UTF-8", bgcolor=transparent];'
    yield '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, margin="0.15,0.08"];'
    yield '  edge [fontname="sans-serif", fontsize=9, color="#71717a", fontcolor="#71717a"];'
    for place, memory in enumerate(graph.nodes):
        label = f"{_escaped(brief(memory.content, TEXT_CHARACTERS))}\\n{_escaped(name_of(memory))} · {_escaped(facts_of(memory))}"
        tooltip = _escaped(brief(memory.content, TOOLTIP_CHARACTERS))
        asked = ", penwidth=3" if place == graph.asked else ""
        yield f'  n{place} [label="{label}", tooltip="{tooltip}", {_COLOURS[look_of(memory)]}{asked}];'
    for edge in graph.edges:
        yield f'  n{edge.source} -> n{edge.target} [label="{_escaped(brief(edge.label, 24))}"{_EDGES[edge.kind]}];'
    if not graph.complete:
        yield '  more [label="There is more than is shown", shape=plaintext, style=""];'
    yield "}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
