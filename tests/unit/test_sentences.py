"""Where sentences begin and end, and that each is a quotation of its text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.text.sentences import MAX_LENGTH, MAX_SENTENCES, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        (
            "Dr. Smith came at 3.15, e.g. by car. Then he left.",
            ["Dr. Smith came at 3.15, e.g. by car.", "Then he left."],
        ),
        (
            "Order it at Tony's. In the evening we soak.",
            ["Order it at Tony's.", "In the evening we soak."],
        ),
        (
            "J. R. Tolkien wrote. So did I. You too.",
            ["J. R. Tolkien wrote.", "So did I.", "You too."],
        ),
        ("Am 3. Mai bin ich weg. Gut.", ["Am 3. Mai bin ich weg.", "Gut."]),
        ("5. Mai bin ich weg. Gut.", ["5. Mai bin ich weg.", "Gut."]),
        ("Im 3. Stock ist mein 30. Fest.", ["Im 3. Stock ist mein 30. Fest."]),
        ("I'm 27. I live in Leeds.", ["I'm 27.", "I live in Leeds."]),
        ("i'm 27. i left at 8. ok", ["i'm 27.", "i left at 8.", "ok"]),
        ("Ich bin 29. Lea ist 3. Gut.", ["Ich bin 29.", "Lea ist 3.", "Gut."]),
        ("Todo: 1. milk 2. bread", ["Todo: 1. milk 2. bread"]),
        ("Todo:1. milk", ["Todo:1. milk"]),
        ("Part 3: 1. milk", ["Part 3: 1. milk"]),
        (
            "It is on 2026-12-03 at 10:00. I live in Rome.",
            ["It is on 2026-12-03 at 10:00.", "I live in Rome."],
        ),
        ("Um 9:30. Ich bin da.", ["Um 9:30.", "Ich bin da."]),
        ("- first\n* second\n1. third\n## fourth", ["first", "second", "third", "fourth"]),
        ("今日は晴れ。明日は雨？", ["今日は晴れ。", "明日は雨？"]),
        ("...\n---\n!!", []),
        ("Mail ana@example.com now.", ["Mail ana@example.com now."]),
    ],
)
def test_a_text_in_sentences(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


def test_a_question_is_known_by_its_end() -> None:
    assert [sentence.asks for sentence in sentences('Really? "Why?" Yes. 本当？')] == [
        True,
        True,
        False,
        True,
    ]


@given(st.one_of(st.text(max_size=300), st.text(alphabet="ab. ?\n-1", max_size=300)))
def test_every_sentence_stands_in_its_text_in_order(text: str) -> None:
    split = sentences(text)
    assert all(text[sentence.start : sentence.end] == sentence.text for sentence in split)
    assert all(before.end <= after.start for before, after in pairwise(split))
    assert all(
        0 < len(sentence.text) <= MAX_LENGTH and sentence.text == sentence.text.strip()
        for sentence in split
    )


def test_a_long_sentence_is_cut_between_its_clauses() -> None:
    story = ", and ".join([f"I painted the wall of room number {number}" for number in range(40)])
    pieces = sentences(story)
    assert all(len(piece.text) <= MAX_LENGTH for piece in pieces)
    assert all(piece.text.startswith("and I painted the wall") for piece in pieces[1:])
    assert not any(piece.text.endswith(",") for piece in pieces)


def test_endless_texts_are_cut() -> None:
    assert len(sentences("word " * 10_000)) > 50
    assert len(sentences("x" * 2_000)) == 4
    assert len(sentences("go on. " * 1_000)) == MAX_SENTENCES
