"""Whose slot a German clause fills: the speaker's only where the speaker says it of themselves."""

import pytest

from memory_core.adapters.offline.clause_facts import ClauseFact, read_clauses
from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.german_facts import GERMAN, clauses
from tests.talk import talk


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
        "Ich bin 12 Jahre bei Bosch.",
        "Ich bin schon 7 Jahre in Österreich.",
        "Ich bin 20 Jahre verheiratet.",
        "Ich bin 30 Jahre Lehrerin gewesen.",
        "Ich bin 12 Jahre und 3 Monate dabei.",
    ],
)
def test_what_another_has_or_is_and_a_length_of_time_fill_no_slot_of_the_speaker(
    sentence: str,
) -> None:
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
        (
            "Der Zahnarzttermin wurde auf den 12. Dezember um 11 Uhr verschoben.",
            ("zahnarzttermin", "12. Dezember um 11 Uhr", ""),
        ),
        ("Meine Frau heißt Julia.", ("name", "Julia", "frau")),
        ("Lena hat eine Nussallergie.", ("allergy", "Nussallergie", "Lena")),
        ("Ich bin in Bremen aufgewachsen.", ("home town", "Bremen", "")),
        ("Ich wohne seit Mai in der Lindenstraße 12b.", ("address", "Lindenstraße 12b", "")),
        (
            "Leider bin ich stark gegen Gräserpollen allergisch.",
            ("allergy to gräserpollen", "yes", ""),
        ),
        ("Ich bin 41 Jahre alt.", ("age", "41", "")),
        ("Ich bin 41 Jahre und froh.", ("age", "41", "")),
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


def said(sentence: str, name: str) -> list[str | None]:
    """The values of an attribute that a message of a talk fills."""
    return [fact.value for fact in said_facts(talk(sentence)) if fact.attribute == name]


@pytest.mark.parametrize(
    "sentence",
    [
        "Ich habe gekündigt.",
        "Ich hab letzte Woche gekündigt.",
        "Ich habe meinen Job gekündigt.",
        "Ich habe meine Stelle verloren.",
        "Mir wurde gekündigt.",
        "Ich habe gestern gekündigt, weil mein Chef unmöglich war.",
        "Ich wurde entlassen.",
        "Ich bin in Rente gegangen.",
        "Ich bin leider arbeitslos.",
    ],
)
def test_a_job_that_ends_ends_the_employer_and_the_occupation(sentence: str) -> None:
    assert said(sentence, "employer") == said(sentence, "occupation") == ["no longer"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Ich habe im Ruderverein gekündigt.",
        "Ich habe mein Fitnessstudio gekündigt.",
        "Den Handyvertrag habe ich gekündigt.",
        "Die Wohnung war zu teuer. Ich habe gekündigt.",
        "Mir wurde die Wohnung gekündigt.",
        "Ich wurde gestern aus dem Krankenhaus entlassen.",
        "Meine Schwester hat gekündigt.",
        "Ich habe gestern gekündigt, weil die Miete zu hoch war.",
        "Ich habe gekündigt. Die Wohnung war zu teuer.",
        "Der Vermieter braucht die Wohnung selbst. Mir wurde gekündigt.",
        "Ich war drei Tage im Krankenhaus. Gestern wurde ich entlassen.",
        "Ich habe im Chor aufgehört.",
    ],
)
def test_what_else_is_given_notice_of_or_left_ends_no_job(sentence: str) -> None:
    assert said(sentence, "employer") == said(sentence, "occupation") == []


@pytest.mark.parametrize(
    ("sentence", "slot"),
    [
        ("Ich arbeite nicht mehr als Krankenpfleger.", ("occupation", "no longer Krankenpfleger")),
        ("Als Busfahrer arbeite ich nicht mehr.", ("occupation", "no longer Busfahrer")),
        ("Ich bin keine Erzieherin mehr.", ("occupation", "no longer Erzieherin")),
        ("Ich habe bei Siemens aufgehört.", ("employer", "no longer Siemens")),
        ("Den Polo habe ich verkauft.", ("car", "no longer Polo")),
        ("Wir haben unseren alten Skoda verkauft.", ("car", "no longer Skoda")),
        ("Ich trinke inzwischen wieder Kaffee.", ("drinks kaffee", "yes")),
        ("Ich esse wieder Fleisch.", ("eats fleisch", "yes")),
        ("Neue Adresse: Ahornallee 12, Mainz.", ("address", "Ahornallee 12")),
        ("Wir sind jetzt in Trier, nicht mehr in Köln.", ("home city", "Trier")),
    ],
)
def test_what_is_over_or_so_again_fills_its_slot(sentence: str, slot: tuple[str, str]) -> None:
    assert said(sentence, slot[0]) == [slot[1]]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Ich bin Tischler und fahre einen alten Volvo.",
            [("occupation", "Tischler"), ("car", "einen alten Volvo")],
        ),
        (
            "Ich bin Bäckerin und wohne in Bremen.",
            [("occupation", "Bäckerin"), ("home city", "Bremen")],
        ),
        ("Ich arbeite als Köchin bei Otto.", [("occupation", "Köchin"), ("employer", "Otto")]),
        ("Ich bin Mutter und habe viel zu tun.", []),
        ("Ich bin Raucher und trinke gern Rotwein.", []),
        ("Wenn ich bei Oma bin und esse gern Kuchen, freut sie sich.", []),
        ("Ich mag alte und große Hunde.", [("opinion of alte und grosse hunde", "likes")]),
    ],
)
def test_two_facts_in_a_breath_fill_a_slot_each(
    sentence: str, expected: list[tuple[str, str]]
) -> None:
    assert [(attribute, value) for attribute, value, _ in slots(sentence)] == expected
