"""A sentence in which people introduce themselves: town, age, and the relatives they live with."""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from tests.builders import NOW


def said(text: str) -> Message:
    return Message(role="user", content=text, timestamp=NOW)


def slots(text: str) -> dict[tuple[str | None, str], Any]:
    return {
        (fact.subject, fact.attribute): fact.value
        for fact in said_facts([said(text)])
        if fact.attribute is not None
    }


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        (
            "I live in York with my wife Laura and our two kids, Ella and Jonah.",
            {
                ("user", "home city"): "York",
                ("user's wife", "name"): "Laura",
                ("user", "child ella"): "yes",
                ("user", "child jonah"): "yes",
            },
        ),
        (
            "Hi, I'm Priya, 34, I live in Leeds with my partner Sam.",
            {
                ("user", "name"): "Priya",
                ("user", "age"): "34",
                ("user", "home city"): "Leeds",
                ("user's partner", "name"): "Sam",
            },
        ),
        (
            "I'm a nurse, married to Owen, with two daughters, Mia and Zoe.",
            {
                ("user", "occupation"): "nurse",
                ("user", "spouse"): "Owen",
                ("user", "marital status"): "married",
                ("user", "daughter mia"): "yes",
                ("user", "daughter zoe"): "yes",
            },
        ),
        (
            "Hallo! Ich heiße Katrin, bin 38 und wohne mit meinem Mann Jens und unserer Tochter "
            "Mila in Köln.",
            {
                ("user", "name"): "Katrin",
                ("user", "age"): "38",
                ("user", "home city"): "Köln",
                ("user's mann", "name"): "Jens",
                ("user", "tochter mila"): "yes",
            },
        ),
        (
            "Ich heiße Murat, 52, verheiratet mit Aylin und habe drei Kinder.",
            {
                ("user", "name"): "Murat",
                ("user", "age"): "52",
                ("user", "spouse"): "Aylin",
                ("user", "marital status"): "verheiratet",
                ("user", "number of children"): "drei",
            },
        ),
        (
            "Ich bin Krankenpfleger, 27, ledig und wohne in Mainz.",
            {
                ("user", "occupation"): "Krankenpfleger",
                ("user", "age"): "27",
                ("user", "marital status"): "ledig",
                ("user", "home city"): "Mainz",
            },
        ),
        (
            "Ich wohne mit meiner Frau Anna und unseren Kindern Paul und Lena in Leipzig.",
            {
                ("user", "home city"): "Leipzig",
                ("user's frau", "name"): "Anna",
                ("user", "kind paul"): "yes",
                ("user", "kind lena"): "yes",
            },
        ),
        (
            "はじめまして、田中健太です。35歳で、妻の由美と横浜に住んでいます。",
            {
                ("user", "name"): "田中健太",
                ("user", "age"): "35",
                ("user", "home city"): "横浜",
                ("user's 妻", "name"): "由美",
            },
        ),
        (
            "神戸に夫の健と娘のさくらと住んでいます。",
            {
                ("user", "home city"): "神戸",
                ("user's 夫", "name"): "健",
                ("user", "娘 さくら"): "yes",
            },
        ),
        (
            "I'm Marta, 29, originally from Porto but living in Leeds now.",
            {
                ("user", "name"): "Marta",
                ("user", "age"): "29",
                ("user", "origin"): "Porto",
                ("user", "home city"): "Leeds",
            },
        ),
        (
            "I'm Aisha - software engineer, 31, and born in Lahore.",
            {
                ("user", "name"): "Aisha",
                ("user", "occupation"): "software engineer",
                ("user", "age"): "31",
                ("user", "birthplace"): "Lahore",
            },
        ),
        (
            "I'm Harold, a 68-year-old bus driver from Hull, widowed.",
            {
                ("user", "name"): "Harold",
                ("user", "age"): "68",
                ("user", "occupation"): "bus driver",
                ("user", "origin"): "Hull",
                ("user", "marital status"): "widowed",
            },
        ),
        (
            "Call me Joe. Electrician, 41, divorced, and I'm based in Cork.",
            {
                ("user", "name"): "Joe",
                ("user", "occupation"): "electrician",
                ("user", "age"): "41",
                ("user", "marital status"): "divorced",
                ("user", "home city"): "Cork",
            },
        ),
        ("Hello, Ruth here. I'm 67.", {("user", "name"): "Ruth", ("user", "age"): "67"}),
        (
            "Ich bin Jonas, 34, und wohne mit Mia in Köln.",
            {("user", "name"): "Jonas", ("user", "age"): "34", ("user", "home city"): "Köln"},
        ),
        (
            "Hi, ich bin der Torsten, 51, Elektriker, verheiratet, zwei Söhne, wohne in Jena.",
            {
                ("user", "name"): "Torsten",
                ("user", "age"): "51",
                ("user", "occupation"): "Elektriker",
                ("user", "marital status"): "verheiratet",
                ("user", "number of sons"): "zwei",
                ("user", "home city"): "Jena",
            },
        ),
        (
            "Kurz zu mir: Bernd, 62, Linkshänder, arbeite als Koch in Rostock.",
            {
                ("user", "name"): "Bernd",
                ("user", "age"): "62",
                ("user", "handedness"): "Linkshänder",
                ("user", "occupation"): "Koch",
            },
        ),
        (
            "Ich bin Karl und 45, Vater von drei Kindern, bin Bäcker und Linkshänder.",
            {
                ("user", "name"): "Karl",
                ("user", "age"): "45",
                ("user", "number of children"): "drei",
                ("user", "occupation"): "Bäcker",
                ("user", "handedness"): "Linkshänder",
            },
        ),
        (
            "僕は大輔、41歳、神戸在住の料理人です。",
            {
                ("user", "name"): "大輔",
                ("user", "age"): "41",
                ("user", "home city"): "神戸",
                ("user", "occupation"): "料理人",
            },
        ),
        (
            "初めまして！ゆいです。北海道出身の25歳で、デザイナーをしています。",
            {
                ("user", "name"): "ゆい",
                ("user", "origin"): "北海道",
                ("user", "age"): "25",
                ("user", "occupation"): "デザイナー",
            },
        ),
        (
            "田中といいます。52歳の会社員で、福岡に妻と息子二人と住んでます。",
            {
                ("user", "name"): "田中",
                ("user", "age"): "52",
                ("user", "occupation"): "会社員",
                ("user", "home city"): "福岡",
            },
        ),
    ],
)
def test_an_introduction_fills_the_slots_of_all_that_it_says(
    text: str, filled: dict[tuple[str, str], Any]
) -> None:
    assert slots(text) == filled


def test_each_fact_of_an_introduction_has_its_own_words() -> None:
    facts = said_facts([said("Ich bin 38 und wohne mit meinem Mann Jens in Köln.")])
    assert [fact.text for fact in facts] == [
        "User: Mann Jens",
        "User: Ich bin 38",
        "User: Ich wohne in Köln",
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I'm flying to Rome with my wife Laura on 3 May.", "User's wife is called Laura"),
        ("Ich war mit meinem Hund Bello beim Tierarzt.", "User: Hund Bello"),
    ],
)
def test_a_relative_named_in_passing_is_one_fact(text: str, fact: str) -> None:
    assert [said_fact.text for said_fact in said_facts([said(text)])] == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "I don't live with my mother in Rome.",
        "In my novel my wife Laura dies.",
        "The king had two sons, Arthur and Tom.",
        "My friend has a daughter called Mia.",
        "My kids, Tom and the dog are outside.",
        "I saw my mum Sunday.",
        "I am happy, single malt is great.",
        "I am tired, vegan food made me sick.",
        "I am tired, living in Berlin is hard.",
        "Ich gehe mit meinem Sohn Fußball spielen.",
        "Ich möchte mit meiner Frau Urlaub in Rom machen.",
        "Vielleicht bin ich krank und wohne dann in Köln.",
        "Meine Schwester hat einen Sohn, Emil.",
        "妻の実家と職場の間に住んでいます。",
        "母は大阪在住です。",
        "友達と東京に住んでいました。",
        "はじめまして、初心者です。",
        "I'm seeing Marta, 29, a physio from Porto.",
        "I'm with Tom, 12, at the dentist.",
        "I have a sister, a 40-year-old nurse from Leeds.",
        "I'm a long way from Leeds.",
        "I'm a 3-year-old at heart.",
        "I'm a day trip from Bristol, 34, single.",
        "Hey, Monday here.",
        "Salami, 34, habe Hunger.",
        "Ich bin älter als er, 34, Koch.",
        "Meine Schwester ist Anna, 34, Lehrerin aus Ulm.",
        "主人公は大輔、41歳、神戸在住の料理人です。",
        "5歳、3歳の子どもがいます。",
        "こんにちは、元気です。",
        "うちの娘は陽菜、5歳です。",
    ],
)
def test_what_is_no_introduction_fills_no_slot(text: str) -> None:
    assert slots(text) == {}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("I'm Ana, married to Ben, 34, a nurse.", {"name": "Ana", "spouse": "Ben"}),
        ("I'm Ana, with Ben, 34, a nurse.", {"name": "Ana"}),
        ("My name is Ana. Teacher, please help me.", {"name": "Ana"}),
        ("I'm Ana, Ben's sister, 12.", {"name": "Ana"}),
        ("Ich heiße Ina, wohne mit Ole, 34, in Köln.", {"name": "Ina"}),
        ("Ich heiße Ina, habe eine Schwester, 34, Lehrerin.", {"name": "Ina"}),
        ("Ich bin Polin, 34, verheiratet mit Jan, 40, Koch.", {"age": "34", "spouse": "Jan"}),
        ("犬を飼っています。ポチといいます。", {"number of pets": "no longer"}),
    ],
)
def test_a_part_after_another_persons_name_is_not_the_speakers(
    text: str, filled: dict[str, str]
) -> None:
    values = {attribute: value for (_, attribute), value in slots(text).items()}
    values.pop("marital status", None)
    assert values == filled


@pytest.mark.parametrize(
    "noun",
    ["Autor", "Coach", "Vorstand", "Polin", "Türke", "Rentner", "Berliner", "Mutter", "Löwe"],
)
def test_a_german_noun_before_an_age_is_no_name(noun: str) -> None:
    read = slots(f"Ich bin {noun}, 50, und wohne in Ulm.")
    assert ("user", "name") not in read
    assert read["user", "age"] == "50"
