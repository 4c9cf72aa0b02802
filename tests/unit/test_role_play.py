"""What a user says in the role of another person is a quotation, until the play is over."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from memory_core.domain.statements.role_play import quote_role_play
from tests.builders import NOW


def talk(*lines: str) -> list[Message]:
    return [
        Message(
            role="assistant" if line.startswith("A: ") else "user",
            content=line.removeprefix("A: "),
            timestamp=NOW,
        )
        for line in lines
    ]


@pytest.mark.parametrize(
    "opening",
    [
        "lets play: you're a tavern keeper and i'm captain Redbeard, a pirate from Tortuga",
        "Let's role-play. You are the dragon and I am a knight.",
        "Can we practice a job interview? You're the interviewer and I'll be a lawyer called Max.",
        "I want to roleplay, I play the queen and you play my guard",
        "Pretend I'm a rich banker and you're my butler.",
        "lass uns vorstellungsgespräch üben, du bist die personalerin und ich spiele den bewerber",
        "Rollenspiel: du bist der Arzt und ich bin ein Patient",
        "ロールプレイしよう。私は海賊の役です。",
        "Let's pretend I'm a vampire. I live in Tortuga.",
        "Imagine I'm a customer calling your hotline. My name is Max.",
        "Stell dir vor, ich wäre ein Pirat.",
        "Du bist jetzt mein Therapeut und ich bin Max.",
        "interview practice! i'll play a candidate: hi, i'm Sarah",
        "lets do a roleplay. i'm a knight called Edmund",
    ],
)
def test_what_is_said_in_a_role_is_no_fact_until_it_is_over(opening: str) -> None:
    before = talk("I live in Oslo.", "A: Nice.")
    played = talk(
        opening, "A: Aye!", "I live in Tortuga and I have a parrot.\nMy wife is a doctor."
    )
    after = talk("That was fun. In real life I live in Bergen.", "I have a dog called Rex.")
    formed = quote_role_play([*before, *played, *after])
    assert formed[:2] == before
    facts = said_facts(formed)
    texts = " ".join(f"{fact.text} {fact.value}" for fact in facts)
    for word in ("Tortuga", "parrot", "doctor", "Redbeard", "lawyer", "banker", "Max"):
        assert word not in texts
    for word in ("Oslo", "Bergen", "Rex"):
        assert word in texts


@pytest.mark.parametrize(
    "line",
    [
        "Act as my therapist. I'm 34 and I live in Oslo.",
        "You are a helpful tutor and I'm a beginner in French.",
        "Let's play chess. I'm a beginner.",
        "My sister and I play the piano, you know.",
        "I pretend to like her food.",
        "My kids play football and I'm their coach.",
        "Can we practice French? I'm a beginner.",
        "Lass uns Deutsch üben, ich bin Anfänger.",
        "ich spiele Klavier und wohne in Köln",
        "ピアノの練習をしています",
        "I had interview practice today, it went well.",
        "I play the guitar and you know I love it.",
    ],
)
def test_who_stays_oneself_is_not_quoted(line: str) -> None:
    messages = talk(line, "A: Fine.", "I have a dog called Rex.")
    assert quote_role_play(messages) == messages


def test_words_after_the_play_in_the_same_message_count() -> None:
    opening = "Let's play: you're a cook and I'm a king. I own ten castles."
    (_, last) = quote_role_play(talk(opening, "I rule in Rome lol that was fun, I live in Bonn"))
    assert last.content == "> I rule in Rome lol\nthat was fun, I live in Bonn"


@pytest.mark.parametrize(
    "end", ["ok stop. thanks, that helped.", "Spiel vorbei.", "Okay, stop!", "in echt jetzt:"]
)
def test_a_play_has_many_ends(end: str) -> None:
    played = talk("Let's role-play. You are a doctor and I am a patient.", f"{end} I live in Bonn.")
    assert "I live in Bonn." in quote_role_play(played)[1].content.split("> ")[-1]
    assert not quote_role_play(played)[1].content.startswith("> I live")


def test_only_users_play_and_other_messages_stay() -> None:
    messages = talk("A: Let's play: you're a cook and I'm a king.", "I live in Bonn.")
    assert quote_role_play(messages) == messages
