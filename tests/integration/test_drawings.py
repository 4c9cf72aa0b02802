"""The drawings in their real readers: Graphviz and Mermaid read back what was meant,
a real browser shows the page.

Graphviz comes as WebAssembly from npm and runs in the Node that the tests have; Mermaid and the
page run in Chromium (`tests/browser.py`).
"""

from __future__ import annotations

import functools
import json
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations, product
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, fromstring

import pytest

from memory_core.recollection.graph.formats import as_dot, as_mermaid, as_page
from memory_core.recollection.graph.model import Graph, brief, facts_of, name_of
from memory_core.recollection.graph.style import POLICY
from tests.browser import Browser
from tests.drawings import GRAPHS
from tests.npm import NODE
from tests.npm_file import npm_file

GRAPHVIZ, MERMAID = "@viz-js/viz@3.31.0", "mermaid@12.3.0"
JOINER = "\u2060"
EMPHASIS = {"light": "rgb(184, 80, 10)", "dark": "rgb(245, 158, 75)"}
GROUND = {"light": "rgb(247, 247, 248)", "dark": "rgb(19, 19, 22)"}


@functools.cache
def graph_of(name: str) -> Graph:
    return GRAPHS[name]()


@contextmanager
def serving(page: Callable[[str], str]) -> Iterator[str]:
    """The address of a server whose answer to `/<name>` is `page(name)`, with the header that
    belongs to such pages.
    """

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page(unquote(self.path[1:])).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with serving(lambda name: as_page(graph_of(name))) as address:
        yield address


def drawn_by_graphviz(sources: list[str]) -> list[Element]:
    """What Graphviz draws of each source: the groups of its SVG, in the order of the source."""
    script = (
        "const viz = require(process.argv[1]); let text = ''; process.stdin.on('data', one => text "
        "+= one).on('end', async () => {const graphviz = await viz.instance(); const drawn = "
        "JSON.parse(text).map(one => graphviz.renderString(one, {format: "
        "'svg'}));console.log(JSON.stringify(drawn)) })"
    )
    command = [str(NODE), "-e", script, str(npm_file(GRAPHVIZ, "dist/viz.cjs"))]
    done = subprocess.run(
        command, input=json.dumps(sources), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return [fromstring(drawing) for drawing in json.loads(done.stdout)]


def groups(svg: Element, kind: str) -> dict[str, Element]:
    """The groups of the class, by their titles: `n0`, `n0->n1`."""
    return {
        element.findtext("{*}title", ""): element
        for element in svg.iterfind(f".//{{*}}g[@class='{kind}']")
    }


def words_in(group: Element) -> str:
    return "".join(element.text or "" for element in group.iterfind(".//{*}text"))


def test_graphviz_reads_every_graph_and_the_labels_that_were_meant() -> None:
    for graph, svg in zip(
        map(graph_of, GRAPHS),
        drawn_by_graphviz([as_dot(graph_of(name)) for name in GRAPHS]),
        strict=True,
    ):
        nodes, edges = groups(svg, "node"), groups(svg, "edge")
        assert nodes.keys() - {"more"} == {f"n{place}" for place in range(len(graph.nodes))}
        for place, memory in enumerate(graph.nodes):
            meant = f"{brief(memory.content, 60)}{name_of(memory)} · {facts_of(memory)}"
            assert without_spaces(words_in(nodes[f"n{place}"])) == without_spaces(meant)
        assert edges.keys() == {f"n{edge.source}->n{edge.target}" for edge in graph.edges}
        for edge in graph.edges:
            group = edges[f"n{edge.source}->n{edge.target}"]
            assert without_spaces(words_in(group)) == without_spaces(brief(edge.label, 24))
            dashed = [
                line for line in group.iterfind(".//{*}path") if "stroke-dasharray" in line.attrib
            ]
            assert bool(dashed) == (edge.kind != "next")


READ_BACK = """
(async source => {
  const { svg } = await mermaid.render('drawing', source);
  document.body.innerHTML = svg;
  const all = query => [...document.querySelectorAll(query)];
  return { nodes: Object.fromEntries(all('.node').map(one => [one.id.match(/-(\\w+)-\\d+$/)[1], one.textContent])),
           edges: all('.edgeLabels .edgeLabel').map(one => one.textContent), title: document.title,
           scripts: all('script, img, iframe, a').length };
})"""  # noqa: E501


def without_spaces(text: str) -> str:
    """What Mermaid may break into lines, without where it did, and without the
    invisible joiners.
    """
    return "".join(text.replace(JOINER, "").replace("\ufb02", "fl").split())


@pytest.fixture(scope="module")
def mermaid(chromium: Browser) -> Browser:
    """A page with Mermaid, for all graphs one after the other: its 3 MB take a second to read."""
    chromium.open("about:blank")
    chromium.evaluate(
        npm_file(MERMAID, "dist/mermaid.min.js").read_text(encoding="utf-8")
        + "; mermaid.initialize({startOnLoad: false})"
    )
    return chromium


@pytest.mark.parametrize("name", GRAPHS)
def test_mermaid_reads_every_graph_and_the_labels_that_were_meant(
    mermaid: Browser, name: str
) -> None:
    graph = graph_of(name)
    mermaid.evaluate("document.body.replaceChildren()")
    read = mermaid.evaluate(f"{READ_BACK}({json.dumps(as_mermaid(graph))})")
    assert read["nodes"].keys() - {"more"} == {f"n{place}" for place in range(len(graph.nodes))}
    for place, memory in enumerate(graph.nodes):
        meant = f"{brief(memory.content, 48)}{name_of(memory)} · {facts_of(memory)}"
        assert without_spaces(read["nodes"][f"n{place}"]) == without_spaces(meant)
    drawn = {without_spaces(edge) for edge in read["edges"]} - {""}
    assert drawn == {without_spaces(brief(edge.label, 24)) for edge in graph.edges}
    assert (read["title"], read["scripts"]) == ("", 0)


BOXES = """[...document.querySelectorAll('.box')].map(one => { const at = one.getBoundingClientRect();
  return [at.left, at.top, at.right, at.bottom] })"""  # noqa: E501
LAYOUT = """(() => {
  const all = query => [...document.querySelectorAll(query)];
  const drawing = document.querySelector('.drawing'), svg = drawing.querySelector('svg');
  return {
    title: document.title,
    wide: document.documentElement.scrollWidth,
    ground: getComputedStyle(document.body).backgroundColor,
    asked: getComputedStyle(document.querySelector('g.asked .box')).stroke,
    texts: all('.whole').map(one => one.textContent),
    drawing: drawing.getBoundingClientRect().right,
    reachable: drawing.scrollWidth + 1 >= svg.getBoundingClientRect().width,
    smallest: Math.min(...all('.words, .about, .why, .whole').map(one => parseFloat(getComputedStyle(one).fontSize))),
  } })()"""  # noqa: E501


@pytest.mark.parametrize("name", GRAPHS)
def test_a_browser_shows_the_page_wide_and_narrow_light_and_dark(
    chromium: Browser, pages: str, name: str
) -> None:
    """No script runs in it, so it is the same page however it came to its width."""
    graph = graph_of(name)
    chromium.open(f"{pages}/{name}", width=1200, scheme="light")
    for width, scheme in product((1200, 400), ("light", "dark")):
        chromium.show(width, scheme)
        seen = chromium.evaluate(LAYOUT)
        assert seen["title"] == f"Evolution: {brief(graph.nodes[graph.asked].content, 60)}"
        assert seen["wide"] == width, "the page itself never scrolls sideways"
        assert seen["drawing"] <= width
        assert seen["reachable"]
        assert (seen["ground"], seen["asked"]) == (GROUND[scheme], EMPHASIS[scheme])
        assert seen["texts"] == [
            node.content.replace("\r\n", "\n").replace("\r", "\n") for node in graph.nodes
        ]
        assert seen["smallest"] >= 11
        boxes = chromium.evaluate(BOXES)
        assert len(boxes) == len(graph.nodes)
        assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
        assert distinct_colours(chromium.screenshot()) > 20, (width, scheme)


def overlap(first: list[float], other: list[float]) -> bool:
    return (
        first[0] < other[2] and other[0] < first[2] and first[1] < other[3] and other[1] < first[3]
    )


def distinct_colours(png: bytes) -> int:
    """Roughly: how many different bytes a picture holds; a blank one has hardly any."""
    at, data = 8, b""
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    return len(set(zlib.decompress(data)))


@pytest.mark.parametrize("name", ["story", "hostile"])
def test_the_page_asks_for_nothing_runs_nothing_and_breaks_no_rule_of_its_policy(
    chromium: Browser, pages: str, name: str
) -> None:
    chromium.open(f"{pages}/{name}")
    asked_for = [
        event["params"]["request"]["url"]
        for event in chromium.seen
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked_for if not url.startswith("data:")] == [f"{pages}/{name}"]
    texts = [
        event
        for event in chromium.seen
        if event["method"]
        in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    ]
    assert texts == []
    assert (
        chromium.evaluate(
            "document.querySelectorAll('script, img, iframe, object, form, input').length"
        )
        == 0
    )


def test_the_policy_would_stop_what_were_forgotten(chromium: Browser) -> None:
    """The page with a hole in it, as if one text were not escaped: nothing runs, nothing is
    fetched, nothing looks otherwise.
    """
    pwned = "document.title = 'pwned'"
    hole = (
        f"<script>{pwned}</script><img src='/image' onerror=\"{pwned}\"><p style='color: red' "
        f'onclick="{pwned}">red</p></header>'
    )
    with serving(lambda _: as_page(graph_of("story")).replace("</header>", hole)) as address:
        chromium.open(address)
        title = chromium.evaluate("document.title")
        colour = chromium.evaluate(
            "getComputedStyle(document.querySelector('header > p:last-of-type')).color"
        )
    blocked = [
        event["params"] for event in chromium.seen if event["method"] == "Network.loadingFailed"
    ]
    assert title == "Evolution: Ana lives in Lisbon"
    assert colour != "rgb(255, 0, 0)"
    assert [request["blockedReason"] for request in blocked] == ["csp"]


def test_without_scripts_a_box_leads_to_its_memory_and_a_long_text_unfolds(
    chromium: Browser, pages: str
) -> None:
    graph = graph_of("merge")
    chromium.open(f"{pages}/merge", scripts=False)
    click(chromium, "g.asked a")
    assert chromium.evaluate("location.hash") == f"#m{graph.asked}"
    assert chromium.evaluate("document.querySelector(':target').classList.contains('asked')")
    assert chromium.evaluate("document.querySelector(':target').getBoundingClientRect().top") < 900
    is_shown = "document.querySelector(':target .whole').checkVisibility()"
    assert not chromium.evaluate(is_shown)
    click(chromium, ":target summary")
    assert chromium.evaluate(is_shown)
    assert chromium.evaluate("document.querySelector('g.asked title').textContent") == brief(
        graph.nodes[graph.asked].content, 1000
    )


def click(chromium: Browser, query: str) -> None:
    """Press where the first element of the query is, as a hand would."""
    at = chromium.evaluate(
        "(at => [at.left + 20, at.top + "
        f"12])(document.querySelector({json.dumps(query)}).getBoundingClientRect())"
    )
    for kind in ("mousePressed", "mouseReleased"):
        chromium.call(
            "Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1
        )
