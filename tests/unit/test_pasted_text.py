"""Fiction, translations and exercises are no words of the user about themselves."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.agent_schemas import ExtractedFacts
from memory_core.domain.conversation import Message
from memory_core.domain.statements.fact_checks import asserted_facts
from memory_core.domain.statements.own_words import own_words
from tests.builders import NOW

OTHERS = [
    "how do you say in italian: i live in rome and i work as a cook",
    "ok so how do i say: my wife is a doctor and we live in Madrid",
    "and: my wife is a doctor and we have three children",
    "what's this in French: I live in Lyon with my sister",
    "also correct this: I lives in Paris since two years",
    "here's how chapter one starts: I am fifty-two. I live above a pawn shop in Baltimore.",
    "chapter 2: I live in Boston and I work as a nurse.",
    "some lyrics: I lost my job, my wife left me, I live in Memphis now.",
    "My poem goes: I live in Rome, I am a king.",
    "wie sagt man auf englisch: ich wohne in Köln",
    "übersetz mal ins englische: ich habe drei kinder und wohne in Bonn",
    "mein romananfang: Ich heiße Jakob und wohne in Wien. Meine Frau ist Ärztin.",
    "so beginnt das zweite Kapitel: Ich bin 50 und lebe in Wien.",
    "「私は東京に住んでいます」を英語にして",
    "fill in the gaps in this exercise: My name is Peter, I live in Cardiff.",
    "is this sentence correct? I live in Cardiff since five years.",
    "Chapter 1. I live in Prague and I have three wives.",
    "Kapitel 1. Ich wohne in Prag.",
    "第一章。私はパリに住んでいます。",
    "次は英訳お願い:私は医者で、子どもが三人います",
    "小説の書き出しはこれ:「私は刑事だ。大阪で一人暮らしをしている。」どう思う?",
]
OWN = [
    ("About me: I live in Rome.", "Rome"),
    ("My story: I live in Rome now.", "Rome"),
    ("My life story: I live in Rome.", "Rome"),
    ("check this out: I live in Rome now!", "Rome"),
    ("Scene 2 was fun. I live in Bonn.", "Bonn"),
    ("Update: I live in Rome.", "Rome"),
    ("My favourite song is 'Alien' and I live in Rome.", "Rome"),
    ("How do you say hello in Italian? I live in Rome now.", "Rome"),
    ("Kurzes Update: Ich wohne in Köln.", "Köln"),
    ("自己紹介:私は大阪に住んでいます", "大阪"),
    ("映画「君の名は」が好きです。大阪に住んでいます。", "大阪"),
    ("chapter 2: I live in Boston.\n\nIs that good? I live in Bonn.", "Bonn"),
    ("chapter 2: I live in Boston. Too dark? In real life I live in Bonn.", "Bonn"),
]


def facts_of(text: str) -> str:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    return " ".join(fact.text for fact in said_facts(messages))


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_written_or_translated_is_no_fact(text: str) -> None:
    assert facts_of(text) == ""


@pytest.mark.parametrize(("text", "place"), OWN)
def test_what_a_person_says_of_themselves_is_one(text: str, place: str) -> None:
    assert place in facts_of(text)
    assert "Boston" not in facts_of(text)


@pytest.mark.parametrize(
    "text",
    ["映画「君の名は」が好きです", "My favourite film is 'Alien'", "「ワンピース」を読んでる"],
)
def test_a_title_in_quotation_marks_stays(text: str) -> None:
    assert own_words(text) == text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("my name is Bond, James Bond lol", 0),
        ("My name is Inigo Montoya, you killed my father, prepare to die 😂", 0),
        ("haha ich heiße Batman", 0),
        ("My name is Max.", 1),
        ("My name is Max!", 1),
        ("Ich heiße Jonas und lache gern.", 1),
    ],
)
def test_a_name_that_is_told_with_a_laugh_is_none(text: str, names: int) -> None:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    extracted = ExtractedFacts(facts=said_facts(messages), foresight=[], instructions=[])
    facts = asserted_facts(extracted, messages).facts
    assert len([fact for fact in facts if fact.attribute == "name"]) == names
