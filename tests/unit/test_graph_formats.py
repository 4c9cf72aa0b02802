"""What is written for a graph: texts are data in every format. Whether the real readers agree,
the integration tests ask them.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.memory import MAX_CONTENT_BYTES
from memory_core.recollection.graph.formats import as_dot, as_mermaid, as_page
from memory_core.recollection.graph.model import MAX_EDGES, MAX_NODES, Graph, brief, of_memories
from memory_core.recollection.graph.style import POLICY, STYLE
from tests.drawings import GRAPHS, HOSTILE, fact, hostile, one_alone, story

TEXTS = st.one_of(
    st.text(min_size=1, max_size=200),
    st.sampled_from(HOSTILE),
    st.text(alphabet='"\\#;<>[]{}|&%:$\n-`', min_size=1),
)
LOOKS = "standing|past|gone|episode"
MERMAID = re.compile(
    rf'flowchart TB|  n\d+\["[^"]*"\]:::({LOOKS})|  n\d+ (-->|-\.->|-\.-)\|"[^"]*"\| n\d+'
    r'|  classDef \w+ [\w:#,-]+|  class n\d+ asked|  more\["There is more than is shown"\]:::past'
)
QUOTED = r'"(?:[^"\\\n]|\\["\\n])*"'
DOT = re.compile(
    rf"digraph evolution \{{|\}}|  (graph|node|edge) \[.*\];|  more \[.*\];"
    rf'|  n\d+ \[label={QUOTED}, tooltip={QUOTED}, fillcolor="#\w+", color="#\w+"(, penwidth=3)?\];'
    rf"|  n\d+ -> n\d+ \[label={QUOTED}(, style=dotted)?(, dir=none, constraint=false)?\];"
)
VOID = {"meta", "link"}
TAGS = {
    "html", "head", "meta", "link", "title", "style", "body", "header", "h1", "h2", "p", "bdi", "b",
    "ul", "ol", "li", "span", "main", "div", "section", "time", "details", "summary", "code",
    "svg", "path", "defs", "marker", "text", "g", "a", "rect", "foreignobject",
}  # fmt: skip


def of(text: str) -> Graph:
    """A graph in which the text is content, category and reason."""
    first = fact("m1", 0, text, category=text[:200], next_id="m2").model_copy(
        update={"status_reason": text[:200]}
    )
    return of_memories(first, [first, fact("m2", 1, text)], [], complete=False)


@given(text=TEXTS)
def test_no_text_leaves_its_label_in_mermaid(text: str) -> None:
    lines = as_mermaid(of(text)).splitlines()
    assert [line for line in lines if not MERMAID.fullmatch(line)] == []
    assert len(lines) == 1 + 2 + 1 + 1 + 4 + 2
    labels = "".join(re.findall(r'"([^"]*)"', "\n".join(lines)))
    assert not set("[]{}()<>|%`*_~^=$&\\") & set(labels.replace("<br/>", ""))


@given(text=TEXTS)
def test_no_text_leaves_its_quotes_in_dot(text: str) -> None:
    lines = as_dot(of(text)).splitlines()
    assert [line for line in lines if not DOT.fullmatch(line)] == []
    assert len(lines) == 4 + 2 + 1 + 1 + 1


class Reader(HTMLParser):
    """What a browser would make of the page, roughly: tags, attributes, and the text of each
    paragraph with whole texts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.whole: list[str] = []
        self.open: list[str] = []
        self.within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        self.within = ("class", "whole") in attrs
        if self.within:
            self.whole.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.within = False

    def handle_data(self, data: str) -> None:
        if self.within:
            self.whole[-1] += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@given(text=TEXTS)
def test_no_text_becomes_markup_in_the_page_and_none_is_lost(text: str) -> None:
    reader = read(as_page(of(text)))
    assert set(reader.tags) <= TAGS
    assert reader.tags.count("style") == 1
    assert not [
        name
        for name, _ in reader.attributes
        if name.startswith("on") or name in ("style", "src", "srcset", "action")
    ]
    assert {value for name, value in reader.attributes if name == "href"} <= {
        "data:,",
        "#m0",
        "#m1",
    }
    assert reader.whole == [text, text]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_page_names_no_address_and_needs_no_script(name: str) -> None:
    reader = read(as_page(GRAPHS[name]()))
    assert "script" not in reader.tags
    assert all(
        value == "data:," or (value or "").startswith("#m")
        for name, value in reader.attributes
        if name == "href"
    )
    assert {
        value
        for name, value in reader.attributes
        if "(" in (value or "") and name not in ("d", "content")
    } <= {"url(#tip)"}
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_the_policy_allows_the_one_style_sheet_and_nothing_else() -> None:
    assert POLICY.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in POLICY
    assert f"<style>{STYLE}</style>" in as_page(one_alone())


def test_the_one_that_was_asked_for_is_marked_in_every_format() -> None:
    graph = story()
    assert f"class n{graph.asked} asked" in as_mermaid(graph)
    assert re.findall(r"n(\d+) \[.*penwidth=3\];", as_dot(graph)) == [str(graph.asked)]
    page = as_page(graph)
    assert (
        page.count('<span class="mark">asked for</span>')
        == page.count('<g class="past asked">')
        == 1
    )
    assert f'<li class="memory asked" id="m{graph.asked}">' in page


def test_dotted_edges_are_what_was_told_and_what_is_linked() -> None:
    graph = story()
    assert (
        sorted(re.findall(r" (-->|-\.->|-\.-)\|", as_mermaid(graph)))
        == ["-->"] * 2 + ["-.-"] + ["-.->"] * 3
    )
    # two are in the legend
    assert (
        as_dot(graph).count("style=dotted")
        == as_page(graph).count('class="edge dotted" d="M') - 2
        == 4
    )
    assert as_page(graph).count('class="why"') == 2


@pytest.mark.parametrize("render", [as_mermaid, as_dot, as_page])
def test_a_drawing_says_that_there_is_more(render: object) -> None:
    assert "There is more than is shown" in render(of("x"))  # type: ignore[operator]
    assert "There is more than is shown" not in render(story())  # type: ignore[operator]


def test_a_memory_alone_is_drawn_and_said_to_be_alone() -> None:
    page = as_page(one_alone())
    assert "Nothing has replaced it" in page
    assert page.count('class="box"') == 1
    assert "Nothing has replaced it" not in as_page(story())


def test_the_largest_graph_of_the_worst_texts_is_still_within_what_mermaid_reads() -> None:
    worst = [
        fact(f"m{number}", number, '"{<#' * 8000, category="{" * 200, next_id="m0")
        for number in range(MAX_NODES)
    ]
    links = [
        memory.model_copy(update={"source_ids": [f"m{other}" for other in range(MAX_NODES)]})
        for memory in worst
    ]
    graph = of_memories(worst[0], links, [], complete=True)
    assert (len(graph.nodes), len(graph.edges), graph.complete) == (MAX_NODES, MAX_EDGES, False)
    assert len(as_mermaid(graph)) < 50_000 + 400 * 30


def test_a_long_text_is_folded_in_the_page_and_whole() -> None:
    text = "w" * MAX_CONTENT_BYTES
    page = as_page(of(text))
    assert page.count("<details>") == 2
    assert read(page).whole == [text, text]


@given(text=TEXTS, most=st.integers(2, 80))
def test_a_brief_text_is_one_line_and_as_short_as_asked(text: str, most: int) -> None:
    text_in_brief = brief(text, most)
    assert text_in_brief
    assert not re.search(r"[\n\r\t\x00-\x1f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text_in_brief)
    assert len(text_in_brief) <= most * 4 + 1


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("a\n\n b\t c", 20, "a b c"),
        ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3, "👨‍👩‍👧‍👦…"),
        ("\u202eabc\u202c", 10, "abc"),
        ("\u200f", 10, "…"),
    ],
)
def test_a_brief_text_is_cut_between_characters_as_people_count_them(
    text: str, most: int, expected: str
) -> None:
    assert brief(text, most) == expected


def test_hostile_texts_make_drawings() -> None:
    graph = hostile()
    assert len(graph.nodes) == len(HOSTILE)
    assert all(render(graph) for render in (as_mermaid, as_dot, as_page))
