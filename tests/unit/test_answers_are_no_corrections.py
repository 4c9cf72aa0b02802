"""A short denial right after a question answers it, and corrects nothing that was told before."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from tests.builders import NOW


def values_of(*texts: tuple[str, str]) -> dict[str | None, str | None]:
    messages = [Message(role=role, content=content, timestamp=NOW) for role, content in texts]
    return {fact.attribute: fact.value for fact in said_facts(messages) if fact.attribute}


@pytest.mark.parametrize(
    ("asked", "answered", "exam"),
    [
        ("Do you want to study on Monday?", "no, sunday", "Wednesday"),
        ("Shall I remind you on Monday?", "sorry, sunday", "Wednesday"),
        ("Shall I remind you?", "oh wait no, friday", "friday"),
        ("Wednesday, then?", "sorry, I meant friday", "friday"),
        ("Noted.", "no, friday", "friday"),
        ("Should I put the reminder on Monday?", "no wait, tuesday", "Wednesday"),
        ("Your exam is on Wednesday, right?", "no wait, friday", "friday"),
        ("Should I put the reminder on Monday?", "no wait, the exam is on tuesday", "tuesday"),
    ],
)
def test_a_denial_after_a_question_corrects_only_if_it_names_a_mistake(
    asked: str, answered: str, exam: str
) -> None:
    values = values_of(
        ("user", "My exam is on Wednesday."), ("assistant", asked), ("user", answered)
    )
    assert values == {"exam": exam}


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("weight is 81 now!", "81"),
        ("Vet visit with the rabbit today. Weight is 12 now", None),
        ("weight is 81 now, for the suitcase", None),
    ],
)
def test_a_weight_without_an_owner_is_the_speakers_only_if_it_opens_a_message(
    text: str, weight: str | None
) -> None:
    assert values_of(("user", text)).get("weight") == weight


@pytest.mark.parametrize(
    "text", ["The thesis is stressful, deadline is 18 December.", "Age is 140, rent is 70 now."]
)
def test_what_is_told_of_no_owner_fills_no_slot(text: str) -> None:
    assert values_of(("user", text)) == {}


@pytest.mark.parametrize(
    ("stated", "asked", "answered", "left"),
    [
        ("試験は水曜日です。", "月曜日に勉強しますか？", "違います、火曜", "試験は水曜日です"),
        ("試験は水曜日です。", "水曜日ですね？", "違います、火曜です", "試験は火曜です"),
        ("家賃は8万円です。", "他には？", "ごめん、8万5千円だった", "家賃は8万5千円です"),
        ("会費は月3500円です。", "他には？", "間違えた、3400円です", "会費は月3400円です"),
        ("水曜の10時に予約があります。", "他には？", "木曜*", "木曜の10時に予約があります"),
        ("予約が水曜10時にあります。", "他には？", "時間は同じです。", "予約が水曜10時にあります"),
    ],
)
def test_a_japanese_correction_is_put_into_the_last_statement_unless_it_answers(
    stated: str, asked: str, answered: str, left: str
) -> None:
    texts = [("user", stated), ("assistant", asked), ("user", answered)]
    messages = [Message(role=role, content=content, timestamp=NOW) for role, content in texts]
    assert [fact.text for fact in said_facts(messages)] == [f"User: {left}"]


def test_a_correction_passes_over_the_wish_to_keep_what_it_corrects() -> None:
    texts = ["予約が水曜10時にあります。覚えておいてください。", "あ、違った、木曜でした。"]
    messages = [Message(role="user", content=content, timestamp=NOW) for content in texts]
    assert [fact.text for fact in said_facts(messages)] == ["User: 予約が木曜10時にあります"]


def test_a_starred_day_is_the_last_of_two() -> None:
    texts = ["I see the landlord on Monday and the plumber comes on Wednesday.", "tuesday*"]
    messages = [Message(role="user", content=content, timestamp=NOW) for content in texts]
    assert [fact.text for fact in said_facts(messages)] == [
        "User sees the landlord on Monday and the plumber comes on Tuesday"
    ]


@pytest.mark.parametrize(
    ("stated", "asked", "answered", "age"),
    [
        ("猫のミケを飼っています。", "何歳ですか？", "3歳です", None),
        ("犬を2匹飼っています。", "まだ1歳の子犬ですか？", "違います、3歳です", None),
        ("横浜に住んでいます。", "何歳ですか？", "33歳です", "33"),
        ("犬を飼っています。", "あなたは何歳ですか？", "33歳です", "33"),
    ],
)
def test_the_age_of_an_animal_is_not_the_speakers(
    stated: str, asked: str, answered: str, age: str | None
) -> None:
    values = values_of(("user", stated), ("assistant", asked), ("user", answered))
    assert values.get("age") == age
