"""The graph as Mermaid's flowchart.

Note: quotes do not protect a label. Mermaid looks for directives (`%%{…}%%`), styles and Markdown inside them too,
so every mark but a comma and a question mark is written as its code, `#37;`; letters, digits and what is beyond ASCII stay. And it
decodes before it looks for mathematics (`$$`), icons (`fa:fa-ban`) and line breaks (a backslash and an n): an invisible joiner parts these.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory_core.recollection.graph.graph import Edge, Graph, brief, facts_of, look_of, name_of

TEXT_CHARACTERS = 48
_PLAIN = frozenset(" ,?")
_SPEAKS_WITH_THE_NEXT = frozenset("$:\\")
_JOINER = "\u2060"
_ARROWS = {"next": "-->", "told": "-.->", "link": "-.-"}
_COLOURS = {
    "standing": "fill:#e7f5ec,stroke:#2f7d4f,color:#16351f",
    "past": "fill:#f0f0f2,stroke:#8a8a94,color:#3c3c44",
    "gone": "fill:#fbeaea,stroke:#b3473f,color:#5a1f1a",
    "episode": "fill:#ece9fb,stroke:#6b5bc4,color:#2c2459",
}


def as_mermaid(graph: Graph) -> str:
    """The source of the flowchart, from top to bottom; ends with a line break."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield "flowchart TB"
    for place, memory in enumerate(graph.nodes):
        text = brief(memory.content, TEXT_CHARACTERS)
        yield f'  n{place}["{_escaped(text)}<br/>{_escaped(name_of(memory))} · {_escaped(facts_of(memory))}"]:::{look_of(memory)}'
    for edge in graph.edges:
        yield f"  n{edge.source} {_ARROWS[edge.kind]}|{_label(edge)}| n{edge.target}"
    if not graph.complete:
        yield '  more["There is more than is shown"]:::past'
    yield from (f"  classDef {name} {colours}" for name, colours in _COLOURS.items())
    yield "  classDef asked stroke-width:4px,font-weight:bold"
    yield f"  class n{graph.asked} asked"


def _label(edge: Edge) -> str:
    return f'"{_escaped(brief(edge.label, 24))}"'


def _escaped(text: str) -> str:
    # These begin and end what Mermaid itself puts in place of codes, so no text may bring them along.
    plain = text.replace("\ufb02", "fl").replace("¶ß", f"¶{_JOINER}ß")
    return "".join(_coded(character) for character in plain)


def _coded(character: str) -> str:
    if not character.isascii() or character.isalnum() or character in _PLAIN:
        return character
    return f"#{ord(character)};{_JOINER if character in _SPEAKS_WITH_THE_NEXT else ''}"
