"""Whose slot a German clause fills: the speaker's only where the speaker says it of themselves."""

import pytest

from memory_core.adapters.offline.clause_facts import ClauseFact, read_clauses
from memory_core.adapters.offline.german_facts import GERMAN, clauses


def slots(sentence: str) -> list[tuple[str | None, str | None, str]]:
    facts: list[ClauseFact] = list(read_clauses(clauses(sentence, asks=False), GERMAN))
    return [(fact.attribute, fact.value, fact.of) for fact in facts if fact.attribute is not None]


@pytest.mark.parametrize(
    "sentence",
    [
        "Hanne hat am 4. Mai Geburtstag.",
        "Sie hat am 4. Mai Geburtstag.",
        "Hannes Geburtstag ist am 4. Mai.",
        "Meine Frau ist allergisch gegen Krabben.",
        "Er ist allergisch gegen Katzen.",
        "Mein Hund ist allergisch gegen Huhn.",
        "Meine Tochter hat eine Laktoseintoleranz.",
        "Hanne ist in Bremen aufgewachsen.",
        "Er ist Fleischesser.",
        "Hanne ist gegen Nüsse allergisch.",
        "Ich bin nicht gegen Nüsse allergisch.",
        "Wir wohnen im Hotel 3 Tage.",
        "Er wohnt in Köln und arbeitet als Arzt.",
    ],
)
def test_what_another_has_or_is_fills_no_slot_of_the_speaker(sentence: str) -> None:
    assert slots(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Meine Schwester Hanne hat am 4. Mai Geburtstag.",
        "Meine Nachbarin Frau Wolf hat am 4. Mai Geburtstag.",
    ],
)
def test_a_relatives_birthday_is_not_the_speakers(sentence: str) -> None:
    assert "birthday" not in [attribute for attribute, _, _ in slots(sentence)]


@pytest.mark.parametrize(
    ("sentence", "slot"),
    [
        ("Ich habe am 1. Juli Geburtstag.", ("birthday", "1. Juli", "")),
        ("Mein Geburtstag ist am 4. Mai.", ("birthday", "4. Mai", "")),
        ("Mein Geburtstag ist der 4. Mai.", ("birthday", "4. Mai", "")),
        ("Ich bin allergisch gegen Nüsse.", ("allergy to nüsse", "yes", "")),
        (
            "Leider ist bei mir eine Laktoseintoleranz festgestellt worden.",
            ("intolerance to laktose", "yes", ""),
        ),
        ("Mein Zahnarzttermin ist am 9. Dezember.", ("zahnarzttermin", "9. Dezember", "")),
        ("Meine Frau heißt Julia.", ("name", "Julia", "frau")),
        ("Lena hat eine Nussallergie.", ("allergy", "Nussallergie", "Lena")),
        ("Ich bin in Bremen aufgewachsen.", ("home town", "Bremen", "")),
        ("Ich wohne seit Mai in der Lindenstraße 12b.", ("address", "Lindenstraße 12b", "")),
        (
            "Leider bin ich stark gegen Gräserpollen allergisch.",
            ("allergy to gräserpollen", "yes", ""),
        ),
    ],
)
def test_what_people_say_of_themselves_and_of_one_they_name_fills_its_slot(
    sentence: str, slot: tuple[str, str, str]
) -> None:
    assert slots(sentence) == [slot]


def test_a_home_after_another_verb_of_the_same_subject_fills_its_slot() -> None:
    assert set(slots("Ich heiße Jonas und wohne in Kiel.")) == {
        ("home city", "Kiel", ""),
        ("name", "Jonas", ""),
    }
    assert slots("Er heißt Jonas und wohnt in Kiel.") == []


@pytest.mark.parametrize(
    ("sentence", "home", "work"),
    [
        ("Ich wohne in Köln und arbeite als Arzt.", "Köln", ("occupation", "Arzt", "")),
        ("Ich lebe in Bonn und arbeite bei der Telekom.", "Bonn", ("employer", "Telekom", "")),
    ],
)
def test_a_home_and_the_work_in_one_clause_fill_a_slot_each(
    sentence: str, home: str, work: tuple[str, str, str]
) -> None:
    assert slots(sentence) == [("home city", home, ""), work]
