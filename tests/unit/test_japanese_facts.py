"""Whose name a Japanese sentence says, and which of two things is liked."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.messages import Message

SAID_AT = datetime(2026, 5, 4, 9, tzinfo=timezone.utc)


def slots(text: str) -> dict[str, object]:
    message = Message(role="user", actor="Ana", content=text, timestamp=SAID_AT)
    return {
        f"{fact.subject} {fact.attribute}": fact.value
        for fact in said_facts([message])
        if fact.attribute is not None
    }


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("犬を飼っています。名前はポチです。", "Ana pet ポチ", "犬"),
        ("娘が生まれました。名前はさくらです。", "Ana 娘 さくら", "yes"),
    ],
)
def test_a_name_after_a_sentence_about_another_is_not_the_speakers(
    text: str, slot: str, value: str
) -> None:
    assert slots(text).items() >= {slot: value}.items()
    assert "Ana name" not in slots(text)


def test_a_name_after_a_sentence_about_an_animal_without_a_slot_fills_none() -> None:
    assert slots("うさぎを飼っています。名前はモモです。") == {}


@pytest.mark.parametrize(
    "text",
    [
        "英語で話してください。",
        "やっぱり敬語で話してください。",
        "日本語で話して",
        "敬語を話せます。",
    ],
)
def test_a_request_to_speak_a_language_is_no_language_of_the_speaker(text: str) -> None:
    assert slots(text) == {}


def test_a_language_that_somebody_speaks_fills_a_slot() -> None:
    assert slots("仕事では英語を話しています。") == {"Ana speaks 英語": "yes"}


@pytest.mark.parametrize("text", ["名前は田中です。", "はじめまして。名前は田中です。"])
def test_a_name_after_a_greeting_is_the_speakers(text: str) -> None:
    assert slots(text) == {"Ana name": "田中"}


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("先月から大山製菓で働いてます。", {"Ana employer": "大山製菓"}),
        ("今は東和印刷で営業をやってる。", {"Ana employer": "東和印刷"}),
        ("家賃は6万円でちょっと高い。", {"Ana rent": "6万円"}),
        ("牡蠣の季節だけど食べられません。", {}),
        ("住所は絶対に忘れるなよ。", {}),
        ("年収は覚えなくていいです。", {}),
    ],
)
def test_a_value_has_no_words_around_it(text: str, slot: dict[str, str]) -> None:
    assert slots(text) == slot


@pytest.mark.parametrize(
    "text",
    ["紅茶が好きです。", "コーヒーより紅茶が好きです。", "コーヒーより紅茶のほうが好きです。"],
)
def test_what_is_liked_more_is_liked(text: str) -> None:
    assert slots(text) == {"Ana opinion of 紅茶": "likes"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ソニーでエンジニアをしています。", {"employer": "ソニー", "occupation": "エンジニア"}),
        ("トヨタで営業をしています。", {"employer": "トヨタ", "occupation": "営業"}),
        ("今は大阪で看護師をしています。", {"occupation": "看護師"}),
        ("会社を辞めました。", {"employer": "no longer", "occupation": "no longer"}),
        ("先月、仕事を辞めました。", {"employer": "no longer", "occupation": "no longer"}),
        ("トヨタを辞めました。", {"employer": "no longer トヨタ"}),
        (
            "会社を辞めて、今はメルカリで働いています。",
            {"employer": "メルカリ", "occupation": "no longer"},
        ),
        ("もう保育士ではありません。", {"occupation": "no longer 保育士"}),
        ("教師を辞めました。", {"occupation": "no longer 教師"}),
        ("日立から富士通に転職しました。", {"employer": "富士通"}),
        ("営業からエンジニアに転職しました。", {"occupation": "エンジニア"}),
        ("新しい住所は神戸市中央区3-4です。", {"address": "神戸市中央区3-4"}),
        ("タバコをやめました。", {}),
        ("会社を辞めたいです。", {}),
        ("父は会社を辞めました。", {}),
        ("東京から大阪に転職しました。", {}),
    ],
)
def test_jobs_that_change_and_end_fill_their_slots(text: str, expected: dict[str, str]) -> None:
    assert slots(text) == {f"Ana {attribute}": value for attribute, value in expected.items()}


@pytest.mark.parametrize(
    "text",
    [
        "隣の人はソニーで働いています。",
        "同僚がトヨタで働いています。",
        "田中さんは大阪に住んでいます。",
        "先輩は医者です。",
        "上の階の人は糖尿病です。",
    ],
)
def test_what_is_told_of_another_person_fills_no_slot_of_the_speaker(text: str) -> None:
    assert slots(text) == {}


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("私がトヨタで働いています。", "Ana employer", "トヨタ"),
        ("クリニックで働き始めました。", "Ana employer", "クリニック"),
        ("弁護士になりたかったけど、結局公務員です。", "Ana occupation", "公務員"),
        ("一人が好きです。", "Ana opinion of 一人", "likes"),
    ],
)
def test_the_speaker_and_a_word_of_manner_are_no_part_of_a_value(
    text: str, slot: str, value: str
) -> None:
    assert slots(text) == {slot: value}
