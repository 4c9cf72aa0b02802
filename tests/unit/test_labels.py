"""What a statement's label names belongs to its slot: no client's budget replaces another's."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.labels import with_its_purpose
from tests.talk import talk

APART = [
    ("For Contoso: our budget is 80,000 EUR.", "For Fabrikam: our budget is 120,000 EUR."),
    ("Contoso: the deadline is 3 May.", "Fabrikam: the deadline is 10 May."),
    ("Contoso: the deadline is 3 May.", "Fabrikam: the deadline moved to 10 May."),
    ("Contoso: the budget is 40k.", "Fabrikam: the budget was raised to 70k."),
    ("Project Helios: my deadline is 3 May.", "Project Atlas: my deadline is 10 May."),
    ("Apple: the deadline is 3 May.", "The deadline is 10 May."),
    ("Shell: our budget is 80,000 EUR.", "Our budget is 120,000 EUR."),
    ("For Contoso, our budget is 80,000 EUR.", "Our budget is 120,000 EUR."),
    ("My email is ana@acme.com for support.", "My email is ana@home.org for invoices."),
    ("My phone number is 030 1234567 for emergencies.", "My phone number is 030 7654321."),
    ("My budget is 80,000 EUR for Contoso.", "My budget is 90,000 EUR for Fabrikam."),
    ("Für Contoso: unser Budget ist 80.000 Euro.", "Für Fabrikam: unser Budget ist 90.000 Euro."),
    ("Contoso: Unser Budget beträgt 80.000 Euro.", "Unser Budget beträgt 90.000 Euro."),
    ("Unser Budget für Contoso ist 80.000 Euro.", "Unser Budget für Fabrikam ist 90.000 Euro."),
    ("Meine Telefonnummer ist 030 1234567 für Notfälle.", "Meine Telefonnummer ist 030 765432."),
    ("Contoso：私の予算は800万円です。", "Fabrikam：私の予算は900万円です。"),
    ("Contosoは、締め切りは5月3日です。", "Fabrikamは、締め切りは5月10日です。"),
]
OF_SPEAKER = [
    ("Update: my rent is 900 euros.", "rent"),
    ("FYI: my rent is 900 euros.", "rent"),
    ("Reminder: my rent is 900 euros.", "rent"),
    ("Quick correction: my rent is 900 euros.", "rent"),
    ("For the record: my rent is 900 euros.", "rent"),
    ("On Monday, my dentist appointment is at 10.", "dentist appointment"),
    ("My email is ana@acme.com for now.", "email address"),
    ("Typo: the deadline is 3 May.", "deadline"),
    ("Edit: the deadline is 3 May.", "deadline"),
    ("PS: the deadline is 3 May.", "deadline"),
    ("Tippfehler: Unser Budget beträgt 9.000 Euro.", "budget"),
    ("Rent: the new rent is 900 euros.", "rent"),
    ("Work: my deadline is 3 May.", "deadline"),
    ("My rent is 900 euros for two rooms.", "rent"),
    ("Kurzes Update: Meine Miete ist 900 Euro.", "rent"),
    ("Korrektur: Meine Miete beträgt 900 Euro.", "rent"),
    ("ちなみに、私の家賃は9万円です。", "rent"),
    ("メモ：私の家賃は9万円です。", "rent"),
]


OPENINGS = [
    "Edit",
    "PS",
    "P.S.",
    "Also",
    "IMPORTANT",
    "New",
    "Change",
    "Changed",
    "Fix",
    "Attention",
    "Email",
    "Contact",
    "Today",
    "Hey",
    "Heads up",
    "Heads Up",
    "Last thing",
    "Hi Bot",
    "One more thing",
    "For reference",
    "For context",
    "For now",
    "Small change",
]
OPENINGS_IN_GERMAN = [
    "Neu",
    "Achtung",
    "Kontakt",
    "Wichtig",
    "Nachtrag",
    "Änderung",
    "Hinweis",
    "Heute",
]
LABELS = [
    "Contoso",
    "Northwind Traders",
    "Project Helios",
    "Project Atlas",
    "Client Umbrella",
    "For Contoso",
    "For marketing",
    "For the Helios launch",
    "Fabrikam website",
]


def _slots(text: str) -> dict[tuple[str | None, str | None], str | None]:
    facts = said_facts(talk(text))
    return {(fact.subject, fact.attribute): fact.value for fact in facts if fact.attribute}


@pytest.mark.parametrize(("first", "second"), APART)
def test_values_for_two_things_are_in_two_slots(first: str, second: str) -> None:
    assert _slots(first).keys().isdisjoint(_slots(second))


@pytest.mark.parametrize(("text", "attribute"), OF_SPEAKER)
def test_an_opening_names_no_thing(text: str, attribute: str) -> None:
    assert [slot for _, slot in _slots(text)] == [attribute]


@pytest.mark.parametrize("opening", OPENINGS)
def test_plain_words_before_a_statement_name_no_thing(opening: str) -> None:
    text = f"{opening}: my email is b@x.org."
    assert list(_slots(text)) == list(_slots("My email is b@x.org."))


@pytest.mark.parametrize("opening", OPENINGS_IN_GERMAN)
def test_plain_words_of_german_name_no_thing(opening: str) -> None:
    text = f"{opening}: Meine Miete beträgt 900 Euro."
    assert list(_slots(text)) == list(_slots("Meine Miete beträgt 900 Euro."))


@pytest.mark.parametrize("label", LABELS)
def test_a_name_before_a_statement_is_a_label(label: str) -> None:
    text = f"{label}: our budget is 80,000 EUR."
    name = label.removeprefix("For ").removeprefix("the ")
    assert with_its_purpose(text) == f"Our budget for {name} is 80,000 EUR."


def test_the_same_thing_meets_in_one_slot() -> None:
    texts = (
        "For Contoso: our budget is 80,000 EUR.",
        "Contoso: our budget is 80,000 EUR.",
        "Our budget is 80,000 EUR for Contoso.",
    )
    assert len({tuple(_slots(text)) for text in texts}) == 1


def test_a_new_value_behind_a_label_is_in_the_slot_of_the_old() -> None:
    before = _slots("Fabrikam: the deadline is 3 May.")
    assert _slots("Fabrikam: the deadline moved to 9 June.").keys() == before.keys()
    assert _slots("Fabrikam: the deadline is now 9 June.").keys() == before.keys()


@pytest.mark.parametrize(
    "text",
    [
        "Contoso: the deadline is 3 May. The budget is 40k.",
        "Contoso: the deadline is 3 May. They are nice. Its budget is 40k.",
        "For Contoso: the deadline is 3 May. Our budget is 40k.",
        "Contoso: the deadline is 3 May.\nThe budget is 40k.",
    ],
)
def test_a_label_holds_for_its_paragraph(text: str) -> None:
    assert _slots(text).keys() == {("Contoso", "deadline"), ("Contoso", "budget")}


@pytest.mark.parametrize(
    "text",
    [
        "Contoso: the deadline is 3 May.\n\nThe budget is 40k.",
        "Contoso: the deadline is 3 May. My budget is 40k.",
        "Edit: the deadline is 3 May. The budget is 40k.",
    ],
)
def test_a_label_holds_no_further(text: str) -> None:
    assert ("Contoso", "budget") not in _slots(text)
    assert ("user", "budget") in _slots(text)


def test_a_label_ends_with_the_next() -> None:
    text = "Contoso: the deadline is 3 May. Fabrikam: the deadline is 4 June. The budget is 70k."
    assert ("Fabrikam", "budget") in _slots(text)
    assert ("Contoso", "budget") not in _slots(text)


@pytest.mark.parametrize(
    "text",
    [
        "My brother is a coach for the Lakers.",
        "Ana: my boss is Tom.",
        "I live in Rome.",
        "The launch is planned for Q2.",
    ],
)
def test_no_other_statement_is_changed(text: str) -> None:
    assert with_its_purpose(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Contoso: we moved to Berlin.",
        "Contoso: I live in Rome.",
        "Priya: I moved to Berlin.\nNoriko: I stay in Oslo.",
        "Fabrikam: my boss is Lee Park.",
        "Tom: I moved to Bonn.",
        "Mark: I'm vegan.",
    ],
)
def test_what_a_name_before_it_says_is_not_of_the_speaker(text: str) -> None:
    assert [fact for fact in said_facts(talk(text)) if fact.attribute] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Diet: I'm vegan.", "vegan"),
        ("Work: I'm a nurse.", "nurse"),
        ("Home: I moved to Rome.", "Rome"),
        ("Update: I moved to Rome.", "Rome"),
        ("About me: I live in Rome.", "Rome"),
        ("Good news: we moved to Rome!", "Rome"),
        ("Beruf: Ich bin Lehrer.", "Lehrer"),
        ("Wohnort: Ich wohne in Mainz.", "Mainz"),
        ("Note to self: I live in Rome now.", "Rome"),
        ("Big change: I moved to Rome.", "Rome"),
    ],
)
def test_a_label_of_plain_words_leaves_a_statement_the_speakers(text: str, value: str) -> None:
    assert value in [fact.value for fact in said_facts(talk(text))]
