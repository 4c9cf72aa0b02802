"""Excerpts of long texts of every shape: what was asked for is in them, wherever it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.ranking.selection import Piece
from memory_core.domain.text.excerpts import _READ, KEPT_BYTES, Source, excerpt
from memory_core.domain.text.token_count import _halves, _halves_by_columns, count_tokens

PASSAGE = 160
DAY = datetime(2026, 5, 8, 12, tzinfo=timezone.utc)
PLANTS = ["fern", "moss", "ivy", "oak", "edelweiss"]


def csv(count: int = 300) -> str:
    rows = (
        (
            f"{number},{PLANTS[number % 4]}{number},{number * 3 % 97} "
            f"cm,{'green' if number % 3 else 'brown'}"
        )
        for number in range(count)
    )
    return "id,plant,height,colour\n" + "\n".join(rows)


def table(count: int = 400) -> str:
    rows = (
        f"| City{number} | {10_000 + number * 37} | Mayor {chr(65 + number % 26)}. Name{number} |"
        for number in range(count)
    )
    return "Here is the table:\n\n| city | inhabitants | mayor |\n|---|---:|---|\n" + "\n".join(
        rows
    )


def objects(count: int = 400) -> str:
    people = [
        {
            "id": number,
            "name": f"Person {number}",
            "phone": f"+49-30-{5000 + number}",
            "desk": f"D-{number * 3}",
        }
        for number in range(count)
    ]
    return json.dumps({"employees": people})


def code() -> str:
    helpers = [
        f"def helper_{number}(a, b):\n    '''Review the module.'''\n    return a * {number} + b\n"
        for number in range(150)
    ]
    helpers[0] = (
        "def first_of(path):\n    # opens the archive at its cover page\n    return read(path, "
        "page=17)\n"
    )
    helpers[75] = (
        "def retry_with_backoff(fn, attempts=5):\n    # exponential backoff with jitter\n    for n "
        "in range(attempts):\n        try:\n"
        "            return fn()\n        except IOError:\n            time.sleep(min(42, 0.35 * 2 "
        "** n))\n"
    )
    helpers[-1] = (
        "def close_ledger(book):\n    # the ledger is sealed for the year\n    book.seal(years=9)\n"
    )
    return "\n".join(helpers)


def log(count: int = 2_000) -> str:
    rows = [
        f"10:{number // 60 % 60:02d}:{number % 60:02d} INFO worker {number % 7} ok"
        for number in range(count)
    ]
    rows[3] = "10:00:03 WARN disk sda is 93 percent full"
    rows[count // 2] = "10:16:40 ERROR payment gateway refused the card of customer Oyelaran"
    rows[count - 1] = "10:33:19 FATAL kernel panic on host kestrel"
    return "\n".join(rows)


def minutes() -> str:
    points = [
        (
            f"{number}. On parking: Ms Okafor reported that item {number} will be prepared until "
            "the next time."
        )
        for number in range(1, 121)
    ]
    points[1] = "2. On the canteen: Mr Moreau reported that soup will cost 4.20 euros from June."
    points[60] = (
        "61. Pump: Dr. Falk said the leaking pump in hall 7 will be replaced by Grundfos in "
        "week 23."
    )
    points[-1] = "120. The next meeting is on 9 April in the small library."
    return "Minutes of the works council\n\n" + "\n".join(points)


def german() -> str:
    sentences = ["Am Morgen war es noch still, und niemand wollte schon aufstehen."] * 100
    sentences[1] = (
        "Den Schlüssel für den Dachboden haben wir bei der Nachbarin Frau Özdemir gelassen."
    )
    sentences[50] = "Die kaputten Pumpen werden von Grundfos im Juni ausgetauscht."
    sentences[-2] = "Die Miete beträgt ab Herbst 1.140 Euro im Monat."
    return " ".join(sentences)


def settings_of_one_line() -> str:
    return json.dumps(
        {
            f"station_{number}": {"code": f"K{number * 7}", "track": number % 9}
            for number in range(300)
        }
    )


def wide_row() -> str:
    return "; ".join(f"sensor{number} reads {number * 11} volt" for number in range(500))


TEXTS: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "csv": (
        csv(),
        (
            ("How tall is moss1?", "1,moss1,3 cm,green"),
            ("How tall is ivy150?", "150,ivy150,62 cm"),
            ("colour of oak299", "oak299,24 cm,green"),
        ),
    ),
    "table": (
        table(),
        (
            ("Who is the mayor of City2?", "Name2 "),
            ("inhabitants of City233", "18621"),
            ("inhabitants of City399", "24763"),
        ),
    ),
    "json": (
        objects(),
        (
            ("phone number of Person 3", "-5003"),
            ("What desk does Person 201 have?", "D-603"),
            ("phone of Person 399", "-5399"),
        ),
    ),
    "json, indented": (
        json.dumps(json.loads(objects()), indent=2),
        (
            ("phone number of Person 3", "-5003"),
            ("What desk does Person 201 have?", "D-603"),
            ("phone of Person 399", "-5399"),
        ),
    ),
    "json, an object of one line": (
        settings_of_one_line(),
        (
            ("code of station 2", "K14"),
            ("code of station 150", "K1050"),
            ("Which track has station 299?", '"track": 2'),
        ),
    ),
    "a row of one line": (
        wide_row(),
        (
            ("What does sensor3 read?", "33 volt"),
            ("What does sensor250 read?", "2750 volt"),
            ("What does sensor499 read?", "5489 volt"),
        ),
    ),
    "code": (
        code(),
        (
            ("At which page is the cover of the archive?", "page=17"),
            ("retry with exponential backoff and jitter", "min(42"),
            ("For how many years is the ledger sealed?", "years=9"),
        ),
    ),
    "log": (
        log(),
        (
            ("How full is the disk?", "93 percent"),
            ("Which customer did the payment gateway refuse?", "Oyelaran"),
            ("Where was the kernel panic?", "kestrel"),
        ),
    ),
    "minutes": (
        minutes(),
        (
            ("What will the soup cost?", "4.20 euros"),
            ("Who replaces the leaking pump?", "Grundfos"),
            ("Where is the next meeting?", "library"),
        ),
    ),
    "German": (
        german(),
        (
            ("Wer hat die Schlüssel vom Dachboden?", "Özdemir"),
            ("Von wem wird die kaputte Pumpe ausgetauscht?", "Grundfos"),
            ("Wie hoch ist die Miete?", "1.140"),
        ),
    ),
    "words without an end": (
        "word " * 3000 + "the secret recipe needs seven cloves of black garlic " + "word " * 2500,
        (("How many cloves of black garlic does the recipe need?", "seven cloves"),),
    ),
}
ASKED = [
    pytest.param(text, query, answer, id=f"{name}: {query}")
    for name, (text, pairs) in TEXTS.items()
    for query, answer in pairs
]


@pytest.mark.parametrize("most", [PASSAGE, 900])
@pytest.mark.parametrize(("text", "query", "answer"), ASKED)
def test_an_excerpt_has_the_answer_wherever_it_stands(
    text: str, query: str, answer: str, most: int
) -> None:
    passage = excerpt(text, analyse_query(query, DAY).terms, most)
    assert answer in passage
    assert count_tokens(passage) <= most


@pytest.mark.parametrize(
    ("text", "query", "answer"),
    [case for case in ASKED if not str(case.id).startswith(("code", "json, indented"))],
)
def test_an_excerpt_of_60_tokens_has_the_answer_that_stands_beside_the_words(
    text: str, query: str, answer: str
) -> None:
    passage = excerpt(text, analyse_query(query, DAY).terms, 60)
    assert answer in passage
    assert count_tokens(passage) <= 60


@pytest.mark.parametrize(("text", "query", "answer"), ASKED)
def test_a_passage_of_a_context_has_the_answer_on_one_line(
    text: str, query: str, answer: str
) -> None:
    piece = Piece("mem_1", DAY, 1, text, 1.0, speaker="user").passage(
        analyse_query(query, DAY).terms, PASSAGE
    )
    (line,) = piece.lines
    assert answer in line
    assert line.startswith("user: ")
    assert len(line.splitlines()) == 1
    assert count_tokens(line) <= PASSAGE


@pytest.mark.parametrize(
    ("text", "query", "heading"),
    [
        (csv(), "How tall is ivy150?", "id,plant,height,colour"),
        (csv().replace(",", ";"), "How tall is ivy150?", "id;plant;height;colour"),
        (csv().replace(",", "\t"), "How tall is ivy150?", "id\tplant\theight\tcolour"),
        (table(), "inhabitants of City233", "| city | inhabitants | mayor |"),
        (f"{table(9)}\n\nThe plants:\n\n{csv()}", "How tall is ivy150?", "id,plant,height,colour"),
        (
            f"{csv(9)}\n\nThe cities:\n\n{table()}",
            "inhabitants of City233",
            "| city | inhabitants | mayor |",
        ),
    ],
    ids=[
        "commas",
        "semicolons",
        "tabs",
        "bars",
        "the second of two, commas",
        "the second of two, bars",
    ],
)
def test_a_row_is_shown_under_the_heading_of_its_table(text: str, query: str, heading: str) -> None:
    lines = excerpt(text, analyse_query(query, DAY).terms, 80).splitlines()
    assert heading in lines
    assert lines.index(heading) < next(
        place for place, line in enumerate(lines) if query.split()[-1].strip("?") in line
    )


def test_a_heading_does_not_take_the_place_of_the_row() -> None:
    text = (
        ",".join(f"column{letter}" for letter in "abcdefghijkl")
        + "\n"
        + "\n".join(",".join(f"{row}x" for _ in range(12)) for row in range(90))
    )
    passage = excerpt(text, ("77x",), 40)
    assert "77x" in passage
    assert "column" not in passage


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"We met, spoke, ate, and left on day {number}." for number in range(90)),
        "\n".join(f"    call_{number}(first, second)" for number in range(90)),
        "\n".join(f"value_{number} = {number};" for number in range(90)),
        log(90),
    ],
    ids=["prose", "calls", "statements", "log"],
)
def test_lines_that_are_no_table_have_no_heading(text: str) -> None:
    lines = text.splitlines()
    assert lines[0] not in excerpt(text, ("77", "16"), 40)


def test_lines_stay_lines_and_keep_their_indentation() -> None:
    passage = excerpt(code(), analyse_query("exponential backoff with jitter", DAY).terms, PASSAGE)
    assert (
        "def retry_with_backoff(fn, attempts=5):\n    # exponential backoff with jitter\n    "
        "for n in range(attempts):\n"
    ) in passage


def test_what_is_cut_within_a_line_says_so_on_both_sides() -> None:
    passage = excerpt(wide_row(), analyse_query("What does sensor250 read?", DAY).terms, 60)
    assert passage.startswith("…")
    assert passage.endswith("…")


def test_the_best_sentence_is_shown_where_it_does_not_fit_whole() -> None:
    long = (
        "We went by the old road, " * 30
        + "where the heron stood in the shallow water, "
        + "and then by the new one, " * 30
    )
    text = "It rained. " * 60 + long + "and that was it. " + "The heron. " + "It rained. " * 60
    passage = excerpt(text, ("heron", "stood", "shallow", "water"), 40)
    assert "the heron stood in the shallow water" in passage


def test_what_no_word_tells_apart_is_filled_from_around_the_best() -> None:
    text = (
        " ".join(f"Sentence number {number} says little." for number in range(200))
        + " The heron stood there. It flew away. Then nothing."
    )
    passage = excerpt(text, ("heron",), 40)
    assert "The heron stood there. It flew away." in passage
    assert "number 0 " not in passage


@pytest.mark.parametrize(
    "shape",
    [csv(4000), table(2500), objects(1300), log(3800), wide_row() * 8, german() * 15],
    ids=range(6),
)
def test_the_last_line_of_a_text_of_100_000_characters_is_found(shape: str) -> None:
    text = f"{shape[:100_000]}\nThe heron stood in the shallow water.\n"
    assert "The heron stood in the shallow water." in excerpt(text, ("heron", "shallow"), PASSAGE)


shapes = st.text(st.characters(codec="utf-8"), max_size=400) | st.text(
    'a1,;|{}[] \n\t"#-。😀日boat', max_size=600
)


@given(text=shapes, most=st.integers(8, 60))
@settings(deadline=None, max_examples=150)
def test_an_excerpt_of_any_text_keeps_its_length(text: str, most: int) -> None:
    passage = excerpt(text, ("boat", "日", "1"), most)
    assert count_tokens(passage) <= most
    assert passage == text or count_tokens(text) > most


@given(st.text(st.sampled_from("abcXYZ019 \t\n.,:é ß猫ー한ไ😀\u2003\x85\ud800"), min_size=1))
def test_a_long_text_is_counted_as_a_short_one(text: str) -> None:
    assert _halves_by_columns(text) == _halves(text)
    assert count_tokens(text * 500) == -(-_halves(text * 500) // 2)


@settings(max_examples=200)
@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_a_character_of_ascii_takes_a_token_at_most(text: str) -> None:
    """So a text of so many characters needs no count to be shown whole."""
    assert count_tokens(text) <= len(text)


@pytest.mark.parametrize("most", [40, 160, 400])
def test_excerpts_of_one_source_are_those_of_its_text(most: int) -> None:
    for text in (csv(), table()):
        source = Source(text)
        for terms in (["moss"], ["oak", "green"], [], ["edelweiss"]):
            assert source.excerpt(terms, most) == excerpt(text, terms, most)


def test_what_is_kept_of_texts_is_bounded_and_no_text() -> None:
    for number in range(40):
        for most in range(10, 40):
            excerpt(f"I keep boat {number}. Its cabin is dry. " * 100, ("boat",), most)
    assert 0 < _READ.size <= KEPT_BYTES
    readings = [read for read, _ in _READ._held.values()]
    assert all(
        isinstance(value, int)
        for read in readings
        for column in (read.starts, read.terms, read.places)
        for value in column
    )


def test_an_excerpt_read_before_is_the_one_read_anew() -> None:
    text = "\n".join(
        f"The {plant} stands in pot {number}. Water it {number % 7} times."
        for number, plant in enumerate(PLANTS * 30)
    )
    asked = [
        (terms, most)
        for terms in (["moss"], ["oak", "pot"], [], ["unsaid"])
        for most in (12, 40, 160)
    ]
    first = [excerpt(text, terms, most) for terms, most in asked]
    _READ.forget()
    assert [excerpt(text, terms, most) for terms, most in reversed(asked)][::-1] == first
