"""The graph as a page of its own: the drawing, and beside it every memory with its whole text and what it is tied to.

It loads nothing and runs nothing, and `style.POLICY`, which goes with it as a header, keeps it so. Note: that no script
could come in is not the policy's merit. Every word of users is escaped; the policy is for the day when one is forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

from memory_core.domain.models import Memory
from memory_core.recollection.graph.drawing import drawn, said
from memory_core.recollection.graph.graph import MAX_NODES, Edge, Graph, Look, brief, look_of, name_of
from memory_core.recollection.graph.style import STYLE

SHORT_CHARACTERS, SHORT_LINES = 280, 6
"""A text within both is shown as it is, another one folded."""
_LOOKS: dict[Look, str] = {"standing": "current", "past": "past", "gone": "deleted", "episode": "episodic"}
_PHRASES = {"next": ("replaced by", "replaces"), "told": ("tells", "told in"), "link": ("linked with", "linked with")}


def as_page(graph: Graph) -> str:
    """The whole HTML document."""
    return "\n".join(_parts(graph)) + "\n"


def _parts(graph: Graph) -> Iterator[str]:
    asked = graph.nodes[graph.asked]
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">'
    yield f"<title>Evolution: {escape(brief(asked.content, 60))}</title>"
    yield f"<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>Evolution of a memory</h1>"
    yield f"<p><bdi>{escape(brief(asked.content, 140))}</bdi></p>\n<p>{_counted(graph)}</p>"
    if not graph.complete:
        yield f'<p class="cut" role="note">There is more than is shown: a drawing holds {MAX_NODES} memories.</p>'
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
    return f'<svg viewBox="0 0 28 10" aria-hidden="true"><path class="{kind}" d="M1 5H26"{end}/></svg>'


def _memory(graph: Graph, place: int, memory: Memory) -> Iterator[str]:
    asked = place == graph.asked
    moment = memory.event_timestamp
    day_and_time = f"{moment.date().isoformat()} {moment:%H:%M} UTC"
    yield f'<li class="memory{" asked" if asked else ""}" id="m{place}">'
    yield f'<p class="facts"><span class="pill {look_of(memory)}">{escape(memory.status.value)}</span>'
    yield f'<b><bdi>{escape(name_of(memory))}</bdi></b><time datetime="{moment.isoformat()}">{day_and_time}</time>'
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
    """What a memory is tied to, a line for each way."""
    ties: dict[str, list[int]] = {}
    for edge in graph.edges:
        if place == edge.source:
            ties.setdefault(_phrase(edge, 0), []).append(edge.target)
        if place == edge.target:
            ties.setdefault(_phrase(edge, 1), []).append(edge.source)
    for phrase, places in ties.items():
        named = ", ".join(f'<a href="#m{tied}"><bdi>{escape(brief(graph.nodes[tied].content, 60))}</bdi></a>' for tied in places)
        yield f'<p class="then">{escape(phrase)} {named}</p>'


def _phrase(edge: Edge, side: int) -> str:
    phrase = _PHRASES[edge.kind][side]
    return phrase if edge.kind == "told" or side else f"{said(edge)}, {phrase}"
