"""What is pasted at work (tickets, chats, prompts, outputs, code) is not about who pasted it."""

from __future__ import annotations

import pytest

from memory_core.domain.statements.own_words import own_words


@pytest.mark.parametrize(
    ("text", "others"),
    [
        (
            "Ticket 4411\nCustomer: I moved to Berlin and my plan is Pro.\nAgent: Thanks.\n"
            "Customer: My name is Carla.",
            ("Berlin", "Carla", "Pro"),
        ),
        ("Client: I live in Rome.\nWhat do I answer?", ("Rome",)),
        ("Kunde: Ich wohne in Mainz.\nBerater: Danke.", ("Mainz",)),
        ("お客様: 私は大阪に住んでいます。\n担当者: ありがとうございます。", ("大阪",)),
        (
            "[10:02] tom: I'm moving to Berlin next month\n[10:03] lena: I work at Google now",
            ("Berlin", "Google"),
        ),
        (
            "tom 10:02 AM\nI'm moving to Berlin next month\nlena 10:03 AM\nI work at Google now",
            ("Berlin", "Google"),
        ),
        ("10:02 tom: I live in Rome\n10:04 lena: me too\nWho is in Rome?", ("I live", "too")),
        ("12/05/2026, 10:02 - Tom: I live in Rome\n12/05/2026, 10:05 - Eve: ok", ("I live",)),
        (
            "Priya: I'm moving to Ghent.\nTom: nice!\nPriya: my start is on Monday",
            ("Ghent", "Monday"),
        ),
        ("2026-11-03 10:02 Tom: I live in Rome", ("Rome",)),
        ("Tom (10:02): I live in Rome", ("Rome",)),
        ("[10:02] @tom: I live in Rome", ("Rome",)),
        ("From: Tom\nTo: me\nSubject: Moving\n\nI live in Rome.", ("Rome",)),
        ("See below.\n--- Forwarded message ---\nFrom: Tom\n\nI live in Rome.", ("Rome",)),
        ("E-mail from the client: we moved to Munich, our budget is 5 million.", ("Munich", "5")),
        ("Mail von Herrn Abel: Ich wohne in Bonn.", ("Bonn",)),
        ("Survey answer 17: I hate the new dashboard. I use Excel every day.", ("hate", "Excel")),
        ("Review comment from Priya: you should never use eval here.", ("never",)),
        ("System prompt for the bot: I am Clara. Never mention prices.", ("Clara", "Never")),
        (
            "Prompt we use: You are Max. You live in Rome. Always answer in rhymes.",
            ("Max", "Always"),
        ),
        ("Write a persona: My name is Anna and I work as a baker.", ("Anna", "baker")),
        ("Draft a bio for the site: I live in Lyon.", ("Lyon",)),
        ("Schreib eine Persona: Ich heiße Anna.", ("Anna",)),
        ("Here is the output:\nI am root\nMy name is node-7\nAlways restart", ("root", "node-7")),
        ("+ const city = 'Rome' // I live in Rome", ("Rome",)),
        ('const name = "Anna"; // my name is Anna', ("Anna",)),
        ("def home():  # I live in Rome", ("Rome",)),
    ],
)
def test_what_is_pasted_at_work_is_not_the_speakers(text: str, others: tuple[str, ...]) -> None:
    assert [word for word in others if word in own_words(text)] == []


def test_in_a_pasted_chat_the_speakers_own_lines_stay() -> None:
    text = "Me: I live in Rome.\nBen: I live in Oslo.\nMe: Ah.\nBen: Yes."
    own = own_words(text)
    assert "Rome" in own
    assert "Oslo" not in own


@pytest.mark.parametrize(
    "text",
    [
        "Diet: I'm vegan.\nWork: I'm a nurse.",
        "Remember: never push to main.",
        "Note: I live in Rome.\nPS: I work at Globex.",
        "About me: I live in Rome and I work at Globex.",
        "My answer: I live in Rome.",
        "Write this down: I'm allergic to nuts.",
        "Please write it down: my flight is on 3 May.",
        "Create a reminder: my dentist appointment is tomorrow at 9.",
        "My team: we use pnpm. Our output: two releases a week.",
        "I got up at 10:02 and my train left at 10:30: I was late.",
        "Meeting 10:30 AM: I present the budget.",
        "Name: Max\nCity: Rome\nName of my dog: Rex",
        "Answer to your question: I live in Rome.",
        "Prefer tabs; I live in Rome.",
        "The value of x = 5 in my notes",
        "Update: I moved to Ghent.",
        "Two things: I moved to Ghent. Also: I work at Globex.",
        "Merke dir: Ich wohne in Mainz.",
        "12:30: I have lunch with Ana.",
        "From: Oslo\nI moved to Rome.",
        "On 2026-11-03 10:02 I moved to Rome: what a day!",
        "Dentist 10:30 AM\nGym 6:00 PM\nI live in Rome.",
        "To the support team: I moved to Ghent.",
    ],
)
def test_a_label_of_ones_own_leaves_the_words_ones_own(text: str) -> None:
    assert own_words(text) == text
