"""Parts of a sentence that share a verb, capitals, jokes, and ages of other people."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from tests.builders import NOW


def slots(text: str) -> dict[tuple[str | None, str], str | None]:
    return {
        (fact.subject, fact.attribute): fact.value
        for fact in said_facts([Message(role="user", content=text, timestamp=NOW)])
        if fact.attribute is not None
    }


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        (
            "I have a dog called Rufus and a cat called Luna.",
            {("user", "pet rufus"): "dog", ("user", "pet luna"): "cat"},
        ),
        (
            "My son Leo is 5 and allergic to eggs.",
            {("Leo", "age"): "5", ("Leo", "allergy to eggs"): "yes"},
        ),
        (
            "I'm vegan and allergic to nuts.",
            {
                ("user", "eats meat"): "no",
                ("user", "diet"): "vegan",
                ("user", "allergy to nuts"): "yes",
            },
        ),
        ("I'm from Hull and Polish is my language.", {("user", "origin"): "Hull"}),
        (
            "I weigh 79 kg and I'm 1.82 m tall.",
            {("user", "weight"): "79 kg", ("user", "height"): "1.82 m"},
        ),
    ],
)
def test_parts_of_a_sentence_share_its_verb(
    text: str, filled: dict[tuple[str | None, str], str]
) -> None:
    assert slots(text) == filled


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("夫と5歳の息子の陸と三人暮らしです。", {("user", "息子 陸"): "yes"}),
        ("5歳の双子の母です。", {}),
        ("Ich wiege 79 kg und bin 1,82 m groß.", {}),
        (
            "Ich bin 38 und wohne mit meinem Sohn, 5, in Köln.",
            {("user", "age"): "38", ("user", "home city"): "Köln"},
        ),
        (
            "Ich wohne mit meiner Tochter Mia (5) in Köln.",
            {("user", "tochter mia"): "yes", ("user", "home city"): "Köln"},
        ),
        (
            "I'm 38 and live with my son, 5, in York.",
            {("user", "age"): "38", ("user", "home city"): "York"},
        ),
    ],
)
def test_the_age_of_a_child_is_not_the_speakers(
    text: str, filled: dict[tuple[str | None, str], str]
) -> None:
    assert slots(text) == filled


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("I'M ALLERGIC TO NUTS!!!", {("user", "allergy to nuts"): "yes"}),
        ("I LIVE IN BRISTOL", {("user", "home city"): "Bristol"}),
        ("My peanut allergy is back by the way.", {("user", "allergy to peanut"): "yes"}),
        ("My peanut allergy is gone.", {}),
        ("Meine Erdnussallergie ist wieder da.", {("user", "allergy"): "Erdnussallergie"}),
        (
            "hey im tom, i live in hull n work as a barista",
            {
                ("user", "name"): "Tom",
                ("user", "home city"): "Hull",
                ("user", "occupation"): "barista",
            },
        ),
        ("im 34 and i live in leeds", {("user", "age"): "34", ("user", "home city"): "Leeds"}),
        ("ive got two cats", {("user", "number of cats"): "2"}),
    ],
)
def test_capitals_and_apostrophes_do_not_matter(
    text: str, filled: dict[tuple[str | None, str], str]
) -> None:
    assert slots(text) == filled


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("I'm married to my job lol.", {}),
        ("I'm married to my best friend.", {("user", "marital status"): "married"}),
        ("Just kidding: I work for the CIA 😂", {}),
        ("I work for the CIA. Just kidding!", {}),
        ("I'm not kidding, I live in Rome.", {("user", "home city"): "Rome"}),
        ("Ich wohne in Rom. Nur Spaß!", {}),
        ("私はローマに住んでいます。冗談です。", {}),
        ("I'm 150 years old, obviously.", {}),
        ("Ich bin 150 Jahre alt.", {}),
        ("Q: Where do you live? A: I live in Ohio.", {}),
    ],
)
def test_jokes_and_pasted_answers_fill_no_slot(
    text: str, filled: dict[tuple[str | None, str], str]
) -> None:
    assert slots(text) == filled
