"""Draw a graph as SVG, and the style of its page.

Note: the texts are HTML inside `foreignObject`, not SVG's own text, so that the browser breaks lines, cuts them and
knows which way a script runs. No attribute `style`, for the page's policy refuses that.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from memory_core.domain.models import Memory
from memory_core.recollection.graph.model import Edge, Graph, Layout, arranged, brief, look_of, name_of

WIDTH, HEIGHT = 188, 102
"""Of a box, in CSS pixels."""
MARGIN = 22
GAP_IN_LEVEL, GAP_OF_LEVELS = 26, 54
"""From top to bottom: between boxes of one level, and between levels, where the reasons are written."""
SIDEWAYS_GAP_IN_LEVEL, SIDEWAYS_GAP_OF_LEVELS = 20, 104
LABEL_AT = 0.42
"""How far along an edge its reason is written: nearer to its beginning, for edges meet at their ends."""
BULGE, ROOM_FOR_BULGE = 70, 94
"""How far the curve that closes a cycle is pulled aside, and what the drawing grows by for it and its reason."""
Point = tuple[float, float]


def drawn(graph: Graph) -> str:
    """The `svg` element, as large as the graph needs."""
    return "\n".join(_Drawing(graph, arranged(len(graph.nodes), graph.edges)).parts())


@dataclass(frozen=True, slots=True)
class _Drawing:
    graph: Graph
    layout: Layout

    def parts(self) -> Iterator[str]:
        corners = [self._corner(node) for node in range(len(self.graph.nodes))]
        around = ROOM_FOR_BULGE if any(self._is_back(edge) for edge in self.graph.edges) else 0
        width = max(left for left, _ in corners) + WIDTH + MARGIN + (0 if self.layout.sideways else around)
        height = max(top for _, top in corners) + HEIGHT + MARGIN + (around if self.layout.sideways else 0)
        yield f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="group" aria-label="Evolution graph">'
        yield '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto"'
        yield ' markerUnits="userSpaceOnUse"><path class="tip" d="M0 0.5 8 4 0 7.5z"/></marker></defs>'
        # Dotted ones lie below, boxes above all; a reason must not be crossed by an edge that is drawn after it.
        for edge in sorted(self.graph.edges, key=lambda edge: edge.kind == "next"):
            yield self._edge(edge)
        for edge in self.graph.edges:
            if edge.kind == "next":
                yield self._reason(edge)
        for node, memory in enumerate(self.graph.nodes):
            yield self._box(node, memory)
        yield "</svg>"

    def _corner(self, node: int) -> Point:
        """The left upper corner of a box."""
        level, lane = self.layout.levels[node], self.layout.lanes[node]
        if self.layout.sideways:
            return MARGIN + level * (WIDTH + SIDEWAYS_GAP_OF_LEVELS), MARGIN + lane * (HEIGHT + SIDEWAYS_GAP_IN_LEVEL)
        return MARGIN + lane * (WIDTH + GAP_IN_LEVEL), MARGIN + level * (HEIGHT + GAP_OF_LEVELS)

    def _curve(self, edge: Edge) -> tuple[Point, Point, Point, Point]:
        """The four points of the edge's cubic curve: from level to level, or around the side when that would go back or stay."""
        source, target = edge.source, edge.target
        levels = self.layout.levels
        if edge.kind == "link" and levels[target] < levels[source]:
            source, target = target, source
        (left, top), (end_left, end_top) = self._corner(source), self._corner(target)
        if self._is_back(edge):
            return self._around((left, top), (end_left, end_top))
        if levels[target] == levels[source]:
            return self._across((left, top), (end_left, end_top))
        if self.layout.sideways:
            start, end = (left + WIDTH, top + HEIGHT / 2), (end_left, end_top + HEIGHT / 2)
            reach = (end[0] - start[0]) / 2
            return start, (start[0] + reach, start[1]), (end[0] - reach, end[1]), end
        start, end = (left + WIDTH / 2, top + HEIGHT), (end_left + WIDTH / 2, end_top)
        reach = (end[1] - start[1]) / 2
        return start, (start[0], start[1] + reach), (end[0], end[1] - reach), end

    def _is_back(self, edge: Edge) -> bool:
        """Whether it leads to an earlier level, as what closes a cycle does. A link has no direction."""
        return edge.kind != "link" and self.layout.levels[edge.target] < self.layout.levels[edge.source]

    def _across(self, corner: Point, end_corner: Point) -> tuple[Point, Point, Point, Point]:
        """Straight from side to side within a level."""
        (left, top), (far_left, far_top) = sorted((corner, end_corner))
        if self.layout.sideways:
            ends = [(left + WIDTH / 2, top + HEIGHT), (far_left + WIDTH / 2, far_top)]
        else:
            ends = [(left + WIDTH, top + HEIGHT / 2), (far_left, far_top + HEIGHT / 2)]
        start, end = ends if corner < end_corner else ends[::-1]
        return start, start, end, end

    def _around(self, corner: Point, end_corner: Point) -> tuple[Point, Point, Point, Point]:
        (left, top), (end_left, end_top) = corner, end_corner
        if self.layout.sideways:
            start, end = (left + WIDTH / 2, top + HEIGHT), (end_left + WIDTH / 2, end_top + HEIGHT)
            low = max(start[1], end[1]) + BULGE
            return start, (start[0], low), (end[0], low), end
        start, end = (left + WIDTH, top + HEIGHT / 2), (end_left + WIDTH, end_top + HEIGHT / 2)
        far = max(start[0], end[0]) + BULGE
        return start, (far, start[1]), (far, end[1]), end

    def _edge(self, edge: Edge) -> str:
        start, first, second, end = (f"{x:g} {y:g}" for x, y in self._curve(edge))
        kind = "edge" if edge.kind == "next" else "edge dotted"
        tip = "" if edge.kind == "link" else ' marker-end="url(#tip)"'
        return f'<path class="{kind}" d="M{start}C{first} {second} {end}"{tip}><title>{escape(said(edge))}</title></path>'

    def _reason(self, edge: Edge) -> str:
        across, down = (_at(LABEL_AT, *(point[axis] for point in self._curve(edge))) for axis in (0, 1))
        return f'<text class="why" x="{across:g}" y="{down + 4:g}">{escape(said(edge))}</text>'

    def _box(self, node: int, memory: Memory) -> str:
        left, top = self._corner(node)
        classes = look_of(memory) + (" asked" if node == self.graph.asked else "")
        day = memory.event_timestamp.date().isoformat()
        area = f'x="{left:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}"'
        return (
            f'<g class="{classes}"><a href="#m{node}"><title>{escape(brief(memory.content, 1000))}</title>'
            f'<rect class="box" {area} rx="9"/><foreignObject {area}><div class="inside">'
            f'<p class="about"><b dir="auto">{escape(name_of(memory))}</b><span>{escape(memory.status.value)}</span></p>'
            f'<p class="words" dir="auto">{escape(brief(memory.content, 140))}</p>'
            f'<p class="about"><span>{day}</span><span>v{memory.version}</span></p></div></foreignObject></a></g>'
        )


def said(edge: Edge) -> str:
    """The edge's label as people write it."""
    return brief(edge.label.replace("_", " "), 24)


def _at(share: float, start: float, first: float, second: float, end: float) -> float:
    """A coordinate of a cubic Bézier curve, `share` (0-1) of the way along its parameter."""
    rest = 1 - share
    return rest**3 * start + 3 * rest**2 * share * first + 3 * rest * share**2 * second + share**3 * end


STYLE = """
:root { color-scheme: light dark; --page: #f7f7f8; --card: #fff; --text: #1d1d21; --soft: #63636e; --line: #d9d9df; --edge: #8f8f9b;
  --standing: #2a7547; --standing-ground: #e8f5ed; --past: #64646f; --past-ground: #f0f0f2; --gone: #b3473f; --gone-ground: #fbebea;
  --episode: #6b5bc4; --episode-ground: #eeebfb; --asked: #b8500a; }
@media (prefers-color-scheme: dark) { :root { --page: #131316; --card: #1d1d22; --text: #ececf0; --soft: #a1a1ad; --line: #35353d;
  --edge: #71717e; --standing: #63c48c; --standing-ground: #16291e; --past: #94949f; --past-ground: #26262c; --gone: #e8867e;
  --gone-ground: #351c1a; --episode: #a699f0; --episode-ground: #242039; --asked: #f59e4b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere; }
header, main, footer { max-width: 1280px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 24px; }
h1 { margin: 0; font-size: 22px; line-height: 1.25; }
h2 { margin: 0 0 10px; font-size: 15px; }
header p { margin: 4px 0 0; color: var(--soft); }
.cut { margin-top: 12px; padding: 8px 12px; border-left: 3px solid var(--asked); background: var(--card); color: var(--text); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 14px 0 16px; padding: 0; list-style: none; font-size: 13px;
  color: var(--soft); }
.legend li { display: flex; align-items: center; gap: 7px; }
.key { width: 14px; height: 14px; border: 1.5px solid; border-radius: 4px; }
.ring { border: 3px solid var(--asked); }
.legend svg { width: 28px; height: 10px; }
main { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 20px; padding-bottom: 32px; }
.drawing { flex: 1 1 auto; max-width: 100%; overflow: auto; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
.drawing svg { display: block; margin: 0 auto; }
.list { flex: 999 1 420px; min-width: 0; }
.list ol { margin: 0; padding: 0; list-style: none; display: grid; gap: 8px; }
.standing { color: var(--standing); background: var(--standing-ground); }
.past { color: var(--past); background: var(--past-ground); }
.gone { color: var(--gone); background: var(--gone-ground); }
.episode { color: var(--episode); background: var(--episode-ground); }
.edge { fill: none; stroke: var(--edge); stroke-width: 1.6; }
.dotted { stroke-dasharray: 2 5; stroke-linecap: round; }
.tip { fill: var(--edge); }
.why { font-size: 11px; fill: var(--soft); text-anchor: middle; paint-order: stroke; stroke: var(--card); stroke-width: 5px;
  stroke-linejoin: round; }
.box { fill: var(--ground); stroke: var(--tone); stroke-width: 1.3; }
g.standing { --tone: var(--standing); --ground: var(--standing-ground); }
g.past { --tone: var(--past); --ground: var(--past-ground); }
g.gone { --tone: var(--gone); --ground: var(--gone-ground); }
g.episode { --tone: var(--episode); --ground: var(--episode-ground); }
g.asked .box { stroke: var(--asked); stroke-width: 3; }
a:focus-visible { outline: 2px solid var(--asked); outline-offset: 3px; border-radius: 8px; }
g a:hover .box { stroke-width: 2.6; }
.inside { height: 100%; padding: 7px 10px; display: flex; flex-direction: column; justify-content: space-between; line-height: 1.3; }
.inside p { margin: 0; }
.words { font-size: 12.5px; color: var(--text); display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3;
  overflow: hidden; }
.about { font-size: 11px; color: var(--tone); display: flex; justify-content: space-between; gap: 6px; white-space: nowrap; }
.about b { overflow: hidden; text-overflow: ellipsis; font-weight: 600; }
.memory { padding: 10px 14px; border: 1px solid var(--line); border-radius: 10px; background: var(--card); scroll-margin: 16px; }
.memory.asked { border-color: var(--asked); }
.memory:target { outline: 2px solid var(--asked); outline-offset: 1px; }
.facts { display: flex; flex-wrap: wrap; align-items: center; gap: 3px 10px; margin: 0 0 4px; font-size: 12.5px; color: var(--soft); }
.pill { padding: 0 8px; border-radius: 999px; font-weight: 600; }
.mark { color: var(--asked); font-weight: 600; }
.whole { margin: 0; white-space: pre-wrap; }
summary { cursor: pointer; }
details[open] summary { margin-bottom: 6px; color: var(--soft); }
.then { margin: 5px 0 0; font-size: 12.5px; color: var(--soft); }
.then a { color: inherit; }
code { color: var(--soft); font: 11.5px ui-monospace, "SF Mono", Consolas, monospace; }
@media (max-width: 560px) { header, main, footer { padding-left: 12px; padding-right: 12px; } h1 { font-size: 19px; }
  .list { flex-basis: 100%; } }
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""The Content-Security-Policy of the page. `img-src data:` lets its empty icon be, or browsers would ask the host for one."""
