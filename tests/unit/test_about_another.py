"""A sentence without a subject goes on about the person of the sentence before it."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.omissions import is_about_the_same_person
from memory_core.adapters.offline.summary import candidates, narrative
from memory_core.domain.conversation import Message
from tests.builders import NOW


def slots_of(text: str) -> dict[str, str | None]:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    return {
        fact.attribute: fact.value
        for fact in said_facts(messages)
        if fact.attribute is not None and fact.subject == "user"
    }


@pytest.mark.parametrize(
    "text",
    [
        "Tom called. just got divorced, has two kids, 45. poor guy",
        "My brother texted me. lost his job and moved to Rome.",
        "My friend Lea was here. works as a nurse now.",
        "父は先月退職しました。今は京都に住んでいます。67歳です",
        "彼女は医者です。大阪に住んでいます。",
        "so my sister moved out. got divorced last month",
        "he's in Rome now. works at Lidl",
        "My best friend lives in Bath. sold his house and moved to Spain",
        "My cousin is doing well. been vegan for two years",
        "She is a nurse. allergic to peanuts",
        "my daughter started school. has two kids in the class she likes",
        "My mum visited. no longer works at Lidl",
        "Ana texted. quit smoking last month",
        "My uncle called. just retired",
        "he lives in Bath now, works at Lidl and just got divorced",
        "she's 29, works at Zara and just got engaged",
        "my neighbour lost a bet. moved to Oslo",
        "My brother's wife is pregnant and just lost her job. moved in with my parents",
    ],
)
def test_what_is_said_of_another_is_no_fact_of_the_user(text: str) -> None:
    assert slots_of(text) == {}


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("Tom called. I just got divorced.", "marital status", "divorced"),
        ("Work was busy. just got divorced too.", "marital status", "divorced"),
        ("They called today. moved to Rome last week", "home city", "Rome"),
        ("The kids are fine. moved to Rome last week", "home city", "Rome"),
        ("My landlord raised the rent. moved to Rome last week", "home city", "Rome"),
        ("My boss was awful. moved to Rome last week", "home city", "Rome"),
        ("My flat was too small. moved to Rome last week", "home city", "Rome"),
        ("The winter was long. moved to Rome last week", "home city", "Rome"),
        ("My brother called. moved to Rome with my wife", "home city", "Rome"),
        ("My sister is here. I live in Rome now", "home city", "Rome"),
        ("Ben is great. moved to Rome last week", "home city", "Rome"),
        ("My therapist says hi. just got divorced", "marital status", "divorced"),
        ("I moved last week. I live in Rome now.", "home city", "Rome"),
        ("Hi there. I live in Rome.", "home city", "Rome"),
        ("父は先月退職しました。私は京都に住んでいます。", "home city", "京都"),
        ("福岡に住んでいます。28歳です。", "age", "28"),
    ],
)
def test_what_the_speaker_says_of_themselves_is_one(text: str, slot: str, value: str) -> None:
    assert slots_of(text)[slot] == value


@pytest.mark.parametrize(
    "sentence",
    [
        "Also Ben started school in Rome on Monday.",
        "Need a recipe without nuts, as Ben is allergic.",
        "Now the kitchen is done.",
        "Indeed, a lot happened.",
        "Just to be clear: the party is on Friday.",
        "I just got divorced.",
    ],
)
def test_a_sentence_with_its_own_subject_is_about_that(sentence: str) -> None:
    assert not is_about_the_same_person(sentence, "My brother called.")


def test_anothers_new_person_is_not_the_users() -> None:
    for text, persons in {
        "he's got a new girlfriend called Mia": [],
        "My sister got a new boss called Petra": [],
        "I've moved teams and got a new boss called Petra": ["user's boss"],
        "we hired a new manager called Petra": ["user's manager"],
    }.items():
        messages = [Message(role="user", content=text, timestamp=NOW)]
        assert [f.subject for f in said_facts(messages) if f.attribute == "name"] == persons


def test_the_story_does_not_make_it_the_users() -> None:
    messages = [
        Message(role="user", content="Tom called. just got divorced, poor guy", timestamp=NOW)
    ]
    assert "User just got" not in narrative(messages, candidates(messages))


def test_an_ordinal_is_no_age() -> None:
    assert slots_of("ich bin 3. geworden beim lauf") == {}
    assert slots_of("ich bin 34 geworden") == {"age": "34"}


def test_a_thing_is_no_person_of_an_age() -> None:
    messages = [Message(role="user", content="weight is 81 now!", timestamp=NOW)]
    assert all(fact.attribute != "age" for fact in said_facts(messages))


def test_a_time_is_nothing_that_is_drunk() -> None:
    assert set(slots_of("i quit drinking 3 weeks ago and started running")) == {"drinks alcohol"}
    assert slots_of("I don't drink coffee.") == {"drinks coffee": "no"}


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I also work at a bakery as a cashier on Saturdays.", "employer"),
        ("I also work at a bakery as a cashier on Saturdays.", "occupation"),
        ("I bought a Volvo as a second car.", "car"),
        ("I live in Porto in the winter.", "home city"),
        ("Samstags arbeite ich als Kassiererin bei Otto.", "employer"),
        ("週末は本屋で働いています。", "employer"),
        ("Wir sind mit der Werkstatt nach Ulm gezogen.", "home city"),
        ("Ich bin mit dem Verlag nach Trier umgezogen.", "home city"),
        ("Unsere Nachbarn sind nach Trier umgezogen.", "home city"),
        ("工場は熊本に引っ越しました。", "home city"),
    ],
)
def test_what_stands_beside_the_job_or_home_takes_no_place(text: str, attribute: str) -> None:
    assert attribute not in slots_of(text)


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I also moved to Bremen in May.", "home city", "Bremen"),
        ("Also I work at Bosch now.", "employer", "Bosch"),
        ("Ich bin mit meiner Familie nach Trier gezogen.", "home city", "Trier"),
        ("Mein Mann und ich sind nach Köln gezogen.", "home city", "Köln"),
        ("妻と私は熊本に引っ越しました。", "home city", "熊本"),
    ],
)
def test_what_takes_the_place_of_the_job_or_home_fills_the_slot(
    text: str, attribute: str, value: str
) -> None:
    assert slots_of(text)[attribute] == value
