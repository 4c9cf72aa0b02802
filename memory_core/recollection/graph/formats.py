"""Write a graph as Mermaid, as Graphviz' dot, and as an HTML page.

Note: quotes do not protect a label. Mermaid looks for directives (`%%{…}%%`), styles and Markdown
inside them, too. So every mark but a comma and a question mark is written as its code, such as
`#37;`; letters, digits and characters beyond ASCII stay. Mermaid decodes the codes before it looks
for mathematics (`$$`), icons (`fa:fa-ban`) and line breaks (a backslash and an n). An invisible
joiner separates these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

from memory_core.domain.memory import Memory
from memory_core.recollection.graph.model import (
    MAX_NODES,
    Edge,
    Graph,
    Look,
    brief,
    facts_of,
    look_of,
    name_of,
)
from memory_core.recollection.graph.style import STYLE
from memory_core.recollection.graph.svg import drawn, said

MERMAID_TEXT_CHARACTERS = 48
_PLAIN = frozenset(" ,?")
_SPEAKS_WITH_THE_NEXT = frozenset("$:\\")
_JOINER = "\u2060"
_ARROWS = {"next": "-->", "told": "-.->", "link": "-.-"}
_MERMAID_COLOURS = {
    "standing": "fill:#e7f5ec,stroke:#2f7d4f,color:#16351f",
    "past": "fill:#f0f0f2,stroke:#8a8a94,color:#3c3c44",
    "gone": "fill:#fbeaea,stroke:#b3473f,color:#5a1f1a",
    "episode": "fill:#ece9fb,stroke:#6b5bc4,color:#2c2459",
}


def as_mermaid(graph: Graph) -> str:
    """Return the source of the flowchart, from top to bottom.

    It ends with a line break.
    """
    return "\n".join(_mermaid_lines(graph)) + "\n"


def _mermaid_lines(graph: Graph) -> Iterator[str]:
    yield "flowchart TB"
    for place, memory in enumerate(graph.nodes):
        text = brief(memory.content, MERMAID_TEXT_CHARACTERS)
        yield (
            f'  n{place}["{_as_mermaid(text)}<br/>{_as_mermaid(name_of(memory))} · '
            f'{_as_mermaid(facts_of(memory))}"]:::{look_of(memory)}'
        )
    for edge in graph.edges:
        yield f"  n{edge.source} {_ARROWS[edge.kind]}|{_label(edge)}| n{edge.target}"
    if not graph.complete:
        yield '  more["There is more than is shown"]:::past'
    yield from (f"  classDef {name} {colours}" for name, colours in _MERMAID_COLOURS.items())
    yield "  classDef asked stroke-width:4px,font-weight:bold"
    yield f"  class n{graph.asked} asked"


def _label(edge: Edge) -> str:
    return f'"{_as_mermaid(brief(edge.label, 24))}"'


def _as_mermaid(text: str) -> str:
    # These begin and end what Mermaid itself puts in place of codes, so no text may
    # bring them along.
    plain = text.replace("\ufb02", "fl").replace("¶ß", f"¶{_JOINER}ß")
    return "".join(_coded(character) for character in plain)


def _coded(character: str) -> str:
    if not character.isascii() or character.isalnum() or character in _PLAIN:
        return character
    return f"#{ord(character)};{_JOINER if character in _SPEAKS_WITH_THE_NEXT else ''}"


# The graph in Graphviz' language.
#
# Note: inside quotes a backslash still speaks (`\N` is the node's name, `\l` ends a line) and so do
# HTML's entities (`&amp;`), so both are escaped; the tooltip is no exception.


DOT_TEXT_CHARACTERS, TOOLTIP_CHARACTERS = 60, 1000
_DOT_COLOURS = {
    "standing": 'fillcolor="#e7f5ec", color="#2f7d4f"',
    "past": 'fillcolor="#f0f0f2", color="#8a8a94"',
    "gone": 'fillcolor="#fbeaea", color="#b3473f"',
    "episode": 'fillcolor="#ece9fb", color="#6b5bc4"',
}
_EDGES = {
    "next": "",
    "told": ", style=dotted",
    "link": ", style=dotted, dir=none, constraint=false",
}


def as_dot(graph: Graph) -> str:
    """Return the source of the digraph, from top to bottom.

    It ends with a line break.
    """
    return "\n".join(_dot_lines(graph)) + "\n"


def _dot_lines(graph: Graph) -> Iterator[str]:
    yield "digraph evolution {"
    yield '  graph [rankdir=TB, charset="UTF-8", bgcolor=transparent];'
    yield (
        '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, '
        'margin="0.15,0.08"];'
    )
    yield '  edge [fontname="sans-serif", fontsize=9, color="#71717a", fontcolor="#71717a"];'
    for place, memory in enumerate(graph.nodes):
        label = (
            f"{_as_dot(brief(memory.content, DOT_TEXT_CHARACTERS))}\\n{_as_dot(name_of(memory))} · "
            f"{_as_dot(facts_of(memory))}"
        )
        tooltip = _as_dot(brief(memory.content, TOOLTIP_CHARACTERS))
        asked = ", penwidth=3" if place == graph.asked else ""
        yield (
            f'  n{place} [label="{label}", tooltip="{tooltip}", '
            f"{_DOT_COLOURS[look_of(memory)]}{asked}];"
        )
    for edge in graph.edges:
        yield (
            f"  n{edge.source} -> n{edge.target} "
            f'[label="{_as_dot(brief(edge.label, 24))}"{_EDGES[edge.kind]}];'
        )
    if not graph.complete:
        yield '  more [label="There is more than is shown", shape=plaintext, style=""];'
    yield "}"


def _as_dot(text: str) -> str:
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


# The graph as a page of its own: the drawing, and beside it every memory with its whole text and
# what it is tied to.
#
# It loads nothing and runs nothing, and `style.POLICY`, which goes with it as a header, keeps it
# so. Note: that no script could come in is not the policy's merit. Every word of users is escaped;
# the policy is for the day when one is forgotten.


SHORT_CHARACTERS, SHORT_LINES = 280, 6
"""The length and the lines up to which a text is shown whole; a longer text is folded."""
_LOOKS: dict[Look, str] = {
    "standing": "current",
    "past": "past",
    "gone": "deleted",
    "episode": "episodic",
}
_PHRASES = {
    "next": ("replaced by", "replaces"),
    "told": ("tells", "told in"),
    "link": ("linked with", "linked with"),
}


def as_page(graph: Graph) -> str:
    """Return the whole HTML document."""
    return "\n".join(_parts(graph)) + "\n"


def _parts(graph: Graph) -> Iterator[str]:
    asked = graph.nodes[graph.asked]
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield (
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" '
        'href="data:,">'
    )
    yield f"<title>Evolution: {escape(brief(asked.content, 60))}</title>"
    yield f"<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>Evolution of a memory</h1>"
    yield f"<p><bdi>{escape(brief(asked.content, 140))}</bdi></p>\n<p>{_counted(graph)}</p>"
    if not graph.complete:
        yield (
            f'<p class="cut" role="note">There is more than is shown: a drawing holds {MAX_NODES} '
            "memories.</p>"
        )
    yield from _legend(graph)
    yield '</header>\n<main>\n<div class="drawing" tabindex="0">'
    yield drawn(graph)
    yield '</div>\n<section class="list">\n<h2>From the earliest to the latest</h2>\n<ol>'
    for place, memory in enumerate(graph.nodes):
        yield from _memory(graph, place, memory)
    yield "</ol>\n</section>\n</main>\n</body>\n</html>"


def _counted(graph: Graph) -> str:
    if len(graph.nodes) == 1:
        return "Nothing has replaced it, it replaced nothing, and it is tied to no other memory."
    counts = Counter(look_of(memory) for memory in graph.nodes)
    shares = [f"{counts[look]} {text}" for look, text in _LOOKS.items() if counts[look]]
    return f"{len(graph.nodes)} memories: {', '.join(shares)}."


def _legend(graph: Graph) -> Iterator[str]:
    yield '<ul class="legend">'
    looks = {look_of(memory) for memory in graph.nodes}
    for look, text in _LOOKS.items():
        if look in looks:
            yield f'<li><span class="key {look}"></span>{text}</li>'
    kinds = {edge.kind for edge in graph.edges}
    if "next" in kinds:
        yield f"<li>{_line('edge', tip=True)}replaced, and why</li>"
    if "told" in kinds:
        yield f"<li>{_line('edge dotted', tip=True)}told there</li>"
    if "link" in kinds:
        yield f"<li>{_line('edge dotted', tip=False)}linked</li>"
    yield '<li><span class="key ring"></span>the one that was asked for</li>\n</ul>'


def _line(kind: str, *, tip: bool) -> str:
    end = ' marker-end="url(#tip)"' if tip else ""
    return (
        f'<svg viewBox="0 0 28 10" aria-hidden="true"><path class="{kind}" d="M1 5H26"{end}/></svg>'
    )


def _memory(graph: Graph, place: int, memory: Memory) -> Iterator[str]:
    asked = place == graph.asked
    moment = memory.event_timestamp
    day_and_time = f"{moment.date().isoformat()} {moment:%H:%M} UTC"
    yield f'<li class="memory{" asked" if asked else ""}" id="m{place}">'
    yield (
        '<p class="facts"><span class="pill '
        f'{look_of(memory)}">{escape(memory.status.value)}</span>'
    )
    yield (
        f"<b><bdi>{escape(name_of(memory))}</bdi></b><time "
        f'datetime="{moment.isoformat()}">{day_and_time}</time>'
    )
    mark = '<span class="mark">asked for</span>' if asked else ""
    yield f"<span>version {memory.version}</span>{mark}</p>"
    yield _text(memory.content)
    yield from _ties(graph, place)
    yield f'<p class="then"><code>{escape(memory.id)}</code></p>\n</li>'


def _text(text: str) -> str:
    whole = f'<p class="whole" dir="auto">{escape(text)}</p>'
    if len(text) <= SHORT_CHARACTERS and text.count("\n") < SHORT_LINES:
        return whole
    return f'<details><summary dir="auto">{escape(brief(text, 200))}</summary>{whole}</details>'


def _ties(graph: Graph, place: int) -> Iterator[str]:
    """Return the ties of a memory, a line for each way."""
    ties: dict[str, list[int]] = {}
    for edge in graph.edges:
        if place == edge.source:
            ties.setdefault(_phrase(edge, 0), []).append(edge.target)
        if place == edge.target:
            ties.setdefault(_phrase(edge, 1), []).append(edge.source)
    for phrase, places in ties.items():
        named = ", ".join(
            f'<a href="#m{tied}"><bdi>{escape(brief(graph.nodes[tied].content, 60))}</bdi></a>'
            for tied in places
        )
        yield f'<p class="then">{escape(phrase)} {named}</p>'


def _phrase(edge: Edge, side: int) -> str:
    phrase = _PHRASES[edge.kind][side]
    return phrase if edge.kind == "told" or side else f"{said(edge)}, {phrase}"
