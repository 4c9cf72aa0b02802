"""Whom and what a sentence is about that leaves the possessive or the verb of chats out."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from tests.talk import talk


def slots(text: str) -> set[tuple[str | None, str | None, str | None]]:
    return {
        (fact.subject, fact.attribute, fact.value) for fact in said_facts(talk(text)) if fact.value
    }


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("partner Lou is vegan which makes cooking fun", ("user's partner", "diet", "vegan")),
        ("Husband Rob is vegan", ("user's husband", "diet", "vegan")),
        ("son Max is 6 and allergic to nuts", ("Max", "age", "6")),
        ("weight is 81 now!", ("user", "weight", "81")),
        ("weight is now 81 kg", ("user", "weight", "81 kg")),
        ("down to 81 kg now!", ("user", "weight", "81 kg")),
        ("I'm at 81 kg", ("user", "weight", "81 kg")),
        ("rent is 350 now", ("user", "rent", "350")),
        ("New address is below: 12 Elm St", ("user", "address", "12 Elm St")),
        (
            "Unsere Katze Mimi ist gestern friedlich eingeschlafen",
            ("user", "pet mimi", "no longer"),
        ),
        ("Mimi ist für immer eingeschlafen", ("user", "pet mimi", "no longer")),
        ("昨日ポチが虹の橋を渡りました", ("user", "pet ポチ", "no longer")),
        ("ポチは先週永眠しました", ("user", "pet ポチ", "no longer")),
    ],
)
def test_it_is_a_fact_of_the_one_it_is_about(text: str, slot: tuple[str, str, str]) -> None:
    assert slot in slots(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sister Mary is a nun",
        "Boss Baby is a film",
        "Partner schools are closed",
        "Weight is 20 kg max",
        "the weight limit is 20 kg",
        "I'm at 80 kg on the bench",
        "I'm down to 3 cigarettes now",
        "Repacked the rucksack. Down to 9 kg.",
        "いつか福岡に引っ越したい",
        "学生の頃は本屋で働いていました",
        "Mimi ist gestern im Auto eingeschlafen",
        "ポチが橋を渡りました",
        "sure, and i'm the queen of england haha",
        "ja klar und ich bin der kaiser von china",
        "my brother's wife is pregnant and just lost her job",
        "my sister's son is 6 and works at Lidl",
        "my mum's new boyfriend lives in Rome and is vegan",
        "Dinner is ready",
        "Flight is delayed",
    ],
)
def test_what_only_looks_like_one_fills_no_slot(text: str) -> None:
    assert slots(text) == set()


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("yeah and I'm vegan", ("user", "diet", "vegan")),
        ("sure, and I'm 35", ("user", "age", "35")),
        ("my brother's name is Tom", ("user's brother", "name", "Tom")),
    ],
)
def test_no_more_is_left_out_than_that(text: str, slot: tuple[str, str, str]) -> None:
    assert slot in slots(text)


def test_a_joke_is_no_fact() -> None:
    assert said_facts(talk("sure, and i'm the queen of england haha")) == []
