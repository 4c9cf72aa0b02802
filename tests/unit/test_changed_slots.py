"""Later statements in other words that fill the slot of an earlier one, by rule."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from tests.talk import talk


def slots(sentence: str) -> dict[tuple[str | None, str], str | None]:
    return {
        (fact.subject, fact.attribute): fact.value
        for fact in said_facts(talk(sentence))
        if fact.attribute
    }


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("I'm divorced now.", "divorced"),
        ("Ich bin jetzt geschieden.", "geschieden"),
        ("離婚しました。", "離婚しました"),
        ("My husband Sam died in August.", "widowed"),
        ("My wife passed away last year.", "widowed"),
        ("Mein Mann ist im August gestorben.", "verwitwet"),
    ],
)
def test_the_end_of_a_marriage_ends_the_spouse_too(sentence: str, status: str) -> None:
    values = slots(sentence)
    assert values["user", "marital status"] == status
    assert values["user", "spouse"] == "no longer"


@pytest.mark.parametrize(
    "sentence",
    [
        "My husband died laughing.",
        "My mother died in May.",
        "My wife's phone died.",
        "My parents got divorced.",
        "If my husband died, I would move.",
        "My boss's wife died.",
    ],
)
def test_nothing_else_ends_a_marriage(sentence: str) -> None:
    assert ("user", "spouse") not in slots(sentence)


def test_who_married_again_has_a_spouse() -> None:
    values = slots("I got divorced last year and I'm married to Tom now.")
    assert values["user", "spouse"] == "Tom"
    assert values["user", "marital status"] == "married"


@pytest.mark.parametrize(
    ("sentence", "slot", "value"),
    [
        ("Raj is my new boss.", ("user's boss", "name"), "Raj"),
        ("Raj ist mein neuer Chef.", ("user's chef", "name"), "Raj"),
        ("The landlord raised the rent to $1,240.", ("user", "rent"), "$1,240"),
        ("My landlord has raised our rent from 900 to 950 euros.", ("user", "rent"), "950 euros"),
        (
            "Turns out I'm not lactose intolerant after all.",
            ("user", "intolerance to lactose"),
            "no",
        ),
        ("Ich bin doch nicht laktoseintolerant.", ("user", "intolerance to laktose"), "no"),
        ("Meine Hausnummer ist 12.", ("user", "hausnummer"), "12"),
        ("Ach ja, die Hausnummer ist 21, nicht 12.", ("user", "hausnummer"), "21"),
    ],
)
def test_the_new_value_is_read(sentence: str, slot: tuple[str, str], value: str) -> None:
    assert slots(sentence)[slot] == value


@pytest.mark.parametrize(
    "sentence",
    [
        "Raj is my new boss's son.",
        "They raised the rent to 900.",
        "If the landlord raised the rent to 900, I would move.",
        "Die Antwort ist 21, nicht 12.",
    ],
)
def test_what_is_of_others_fills_no_slot(sentence: str) -> None:
    assert slots(sentence) == {}
