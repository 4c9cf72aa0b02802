"""What a person fills into a form about themselves is their own; a pasted talk is not."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from tests.talk import talk


def slots(*lines: str) -> dict[str, str]:
    return {fact.attribute: fact.value or "" for fact in said_facts(talk(*lines)) if fact.attribute}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Name: Jane\nCity: Lyon", {"name": "Jane", "home city": "Lyon"}),
        (
            "- Name: Jane\n- Age: 34\n- Job: nurse",
            {"name": "Jane", "age": "34", "occupation": "nurse"},
        ),
        ("Name: Anna\nWohnort: Köln", {"name": "Anna", "home city": "Köln"}),
        ("Beruf: Lehrer", {"occupation": "Lehrer"}),
        ("名前：健太\n住まい：大阪", {"name": "健太", "home city": "大阪"}),
        ("Here are my details:\nName: Jane\nCity: Lyon", {"name": "Jane", "home city": "Lyon"}),
        ("Q: where do you live? A: Lyon", {"home city": "Lyon"}),
        (
            "Q: Where do you live?\nA: Lyon\nQ: What's your job?\nA: nurse",
            {"home city": "Lyon", "occupation": "nurse"},
        ),
        ("Frage: Wo wohnst du?\nAntwort: Köln", {"home city": "Köln"}),
        ("Support: I work in support at Bosch.", {"employer": "Bosch"}),
    ],
)
def test_what_the_speaker_fills_in_fills_slots(text: str, filled: dict[str, str]) -> None:
    assert slots(text) == filled


@pytest.mark.parametrize(
    "text",
    [
        "City: Lyon",
        "Name: Jane Doe\nEmail: jane@x.org\nCity: Lyon",
        "Create a contact:\nName: Jane\nCity: Lyon",
        "Here's my cousin's bio:\nName: Jane\nCity: Lyon",
        "Name: Jane\nProject: Helios",
        "Name: Jane\nCity: Lyon\nWe have to call her back.",
        "Q: Where do you live? A: I live in Lyon.",
        "Q: Where does Tom live? A: Lyon",
        "Support: We moved to Berlin.",
        "Support: I work in support at Bosch.\nCustomer: I live in Rome.",
        "Customer: I live in Rome. Please help.\nSupport: Hello.\nCustomer: Thanks.",
        "お客様：私は大阪に住んでいます。",
    ],
)
def test_forms_and_talks_of_others_fill_no_slot(text: str) -> None:
    assert slots(text) == {}


def test_a_form_that_an_assistant_asked_for_is_about_the_person_asked() -> None:
    assert slots("a: What's your city and job?", "City: Lyon\nJob: nurse") == {
        "home city": "Lyon",
        "occupation": "nurse",
    }
    assert slots("a: For which city and job?", "City: Lyon\nJob: nurse") == {}
