"""The graph as SVG for a page, with boxes that link to the list.

Arrows show which memory replaced which.

Note: the texts are HTML inside `foreignObject`, not SVG's own text. So the browser breaks and cuts
lines, and knows which way a script runs. There is no `style` attribute, because the page's policy
refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from memory_core.domain.memory import Memory
from memory_core.recollection.graph.model import (
    Edge,
    Graph,
    GraphLayout,
    arranged,
    brief,
    look_of,
    name_of,
)

WIDTH, HEIGHT = 188, 102
"""The size of a box in CSS pixels."""
MARGIN = 22
GAP_IN_LEVEL, GAP_OF_LEVELS = 26, 54
"""The gaps from top to bottom: between boxes of a level, and between levels.

The reasons are written between levels.
"""
SIDEWAYS_GAP_IN_LEVEL, SIDEWAYS_GAP_OF_LEVELS = 20, 104
LABEL_AT = 0.42
"""The part of an edge's way at which its reason is written.

It is nearer to the beginning, because edges meet at their ends.
"""
BULGE, ROOM_FOR_BULGE = 70, 94
"""The sideways pull of the curve that closes a cycle, and the room for it and its reason."""
Point = tuple[float, float]


def drawn(graph: Graph) -> str:
    """Return the `svg` element, as large as the graph needs."""
    return "\n".join(_Drawing(graph, arranged(len(graph.nodes), graph.edges)).parts())


@dataclass(frozen=True, slots=True)
class _Drawing:
    graph: Graph
    layout: GraphLayout

    def parts(self) -> Iterator[str]:
        corners = [self._corner(node) for node in range(len(self.graph.nodes))]
        around = ROOM_FOR_BULGE if any(self._is_back(edge) for edge in self.graph.edges) else 0
        width = (
            max(left for left, _ in corners)
            + WIDTH
            + MARGIN
            + (0 if self.layout.sideways else around)
        )
        height = (
            max(top for _, top in corners)
            + HEIGHT
            + MARGIN
            + (around if self.layout.sideways else 0)
        )
        yield (
            f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
            'role="group" aria-label="Evolution graph">'
        )
        yield (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto"'
        )
        yield (
            ' markerUnits="userSpaceOnUse"><path class="tip" d="M0 0.5 8 4 0 '
            '7.5z"/></marker></defs>'
        )
        # Dotted ones lie below, boxes above all; a reason must not be crossed by an edge that is
        # drawn after it.
        for edge in sorted(self.graph.edges, key=lambda edge: edge.kind == "next"):
            yield self._edge(edge)
        for edge in self.graph.edges:
            if edge.kind == "next":
                yield self._reason(edge)
        for node, memory in enumerate(self.graph.nodes):
            yield self._box(node, memory)
        yield "</svg>"

    def _corner(self, node: int) -> Point:
        """Return the upper left corner of a box."""
        level, lane = self.layout.levels[node], self.layout.lanes[node]
        if self.layout.sideways:
            return MARGIN + level * (WIDTH + SIDEWAYS_GAP_OF_LEVELS), MARGIN + lane * (
                HEIGHT + SIDEWAYS_GAP_IN_LEVEL
            )
        return MARGIN + lane * (WIDTH + GAP_IN_LEVEL), MARGIN + level * (HEIGHT + GAP_OF_LEVELS)

    def _curve(self, edge: Edge) -> tuple[Point, Point, Point, Point]:
        """Return the four points of the edge's cubic curve.

        It leads from level to level; an edge that would go back or stay leads around the side.
        """
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
        """Whether an edge leads to an earlier level and so closes a cycle.

        A link has no direction.
        """
        return (
            edge.kind != "link"
            and self.layout.levels[edge.target] < self.layout.levels[edge.source]
        )

    def _across(self, corner: Point, end_corner: Point) -> tuple[Point, Point, Point, Point]:
        """Return a straight line from side to side within a level."""
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
        return (
            f'<path class="{kind}" d="M{start}C{first} {second} '
            f'{end}"{tip}><title>{escape(said(edge))}</title></path>'
        )

    def _reason(self, edge: Edge) -> str:
        across, down = (
            _at(LABEL_AT, *(point[axis] for point in self._curve(edge))) for axis in (0, 1)
        )
        return f'<text class="why" x="{across:g}" y="{down + 4:g}">{escape(said(edge))}</text>'

    def _box(self, node: int, memory: Memory) -> str:
        left, top = self._corner(node)
        classes = look_of(memory) + (" asked" if node == self.graph.asked else "")
        day = memory.event_timestamp.date().isoformat()
        area = f'x="{left:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}"'
        return (
            f'<g class="{classes}"><a '
            f'href="#m{node}"><title>{escape(brief(memory.content, 1000))}</title><rect '
            f'class="box" {area} rx="9"/><foreignObject {area}><div class="inside">'
            '<p class="about"><b '
            f'dir="auto">{escape(name_of(memory))}</b><span>{escape(memory.status.value)}</span></p><p '  # noqa: E501
            f'class="words" dir="auto">{escape(brief(memory.content, 140))}</p>'
            "<p "
            f'class="about"><span>{day}</span><span>v{memory.version}</span></p></div></foreignObject></a></g>'
        )


def said(edge: Edge) -> str:
    """Return the edge's label as people write it."""
    return brief(edge.label.replace("_", " "), 24)


def _at(share: float, start: float, first: float, second: float, end: float) -> float:
    """Return a coordinate of a cubic Bézier curve.

    `share` is the part of the way along its parameter, from 0 to 1.
    """
    rest = 1 - share
    return (
        rest**3 * start
        + 3 * rest**2 * share * first
        + 3 * rest * share**2 * second
        + share**3 * end
    )
