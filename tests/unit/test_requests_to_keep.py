"""Sentences that name what is forgotten and ask for no such thing, and casual ones that do."""

from __future__ import annotations

import pytest

from memory_core.domain.conversation import Message
from memory_core.domain.statements.sentence_wishes import Wish
from memory_core.domain.statements.wishes import said_wishes
from tests.builders import NOW


def wishes(text: str) -> list[Wish]:
    return said_wishes([Message(role="user", content=text, timestamp=NOW)])


@pytest.mark.parametrize(
    "text",
    [
        "Don't ever delete my allergy from your memory.",
        "I didn't ask you to forget my salary.",
        "I never asked you to forget my birthday.",
        "Nobody asked you to delete my address.",
        "I don't want you to forget my allergy.",
        "I'm not asking you to forget my ex.",
        "Please don't go and delete my address.",
        "My address must not be deleted.",
        "Please ensure my diagnosis isn't removed from your memory.",
        "I don't want my address deleted.",
        "Stop forgetting my name!",
        "There's no need to delete my address.",
        "Before you delete my address, tell me.",
        "Should I delete my old address?",
        "What happens if I ask you to forget my address?",
        "Why would I want you to forget my salary?",
        "How could you forget my birthday!",
        "When will you delete my address?",
        "Wann löschst du meine Adresse?",
        "Could you ever forget my name?",
        "She told me to forget my salary demands.",
        "My therapist told me to forget my ex.",
        "Lösch mein Gehalt nicht aus deinem Gedächtnis.",
        "Lösch bloß nicht meine Adresse aus deinem Speicher.",
        "Bitte entferne meine Diagnose nicht aus deinen Daten.",
        "Lösche meine Telefonnummer bitte niemals.",
        "Lösche auf keinen Fall meine Medikamente.",
        "Vergiss mir ja nicht meine Tabletten!",
        "Vergiss bitte nicht meine Allergie.",
        "bitte nicht meine adresse löschen",
        "Du sollst meine Adresse nicht löschen.",
        "Ich will nicht, dass meine Adresse gelöscht wird.",
        "Ich habe dich nicht gebeten, mein Gehalt zu vergessen.",
        "wehe du löschst meine Adresse",
        "Hör auf, meine Adresse zu löschen",
        "Was passiert, wenn ich dich bitte, meine Adresse zu vergessen?",
        "Sie hat gesagt, ich soll mein Gehalt vergessen.",
        "住所は消さないで。",
        "薬のことは消しちゃダメです。",
        "記憶から住所を消すのはやめて。",
        "給料のこと、忘れてほしくない",
        "住所を消す必要はありません。",
        "給料の話を忘れてと言ったらどうなりますか？",
        "薬のことを忘れてはいけません。",
        "彼女に元カレのことは忘れてと言われた。",
    ],
)
def test_what_is_denied_supposed_or_reported_is_no_request(text: str) -> None:
    assert [wish for wish in wishes(text) if wish.kind == "forget"] == []


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("forget the lithium thing please", "lithium"),
        ("please forget the lock code of my bike", "lock code of my bike"),
        ("delete the lock code from your memory pls", "lock code"),
        ("forget that i ever told you about the affair", "the affair"),
        ("scrub my old address", "my old address"),
        ("pls forget abt my salary", "my salary"),
        ("kannst du das mit der Schwangerschaft wieder rausnehmen", "der schwangerschaft"),
        ("vergiss mal den Code von meinem Fahrradschloss", "code von meinem fahrradschloss"),
        ("wie gesagt, vergiss bitte meine alte Adresse", "meine alte adresse"),
        ("さっきの住所、消しといて", "住所"),
        ("自転車の鍵の番号は忘れてください", "自転車の鍵の番号"),
        ("元カレのことは忘れてもらえない？", "元カレ"),
    ],
)
def test_a_casual_request_names_what_it_is_about(text: str, about: str) -> None:
    assert [(wish.kind, wish.about) for wish in wishes(text)] == [("forget", about)]


def test_a_thing_that_only_a_word_names_is_forgotten_if_a_memory_has_it() -> None:
    assert [wish.surety for wish in wishes("forget the lithium thing please")] == ["known"]


@pytest.mark.parametrize(
    "text", ["Lass die Emojis weg", "leave out the emojis", "Leave the bullet points out please"]
)
def test_what_answers_are_to_leave_out_is_an_instruction(text: str) -> None:
    assert [wish.kind for wish in wishes(text)] == ["instruction"]


@pytest.mark.parametrize(
    "text",
    [
        "Lass die Tomaten weg",
        "Lass in dieser Mail die Emojis weg",
        "Leave the emojis in this text out",
        "誰にも言わないで。",
    ],
)
def test_what_a_single_text_or_other_people_are_to_leave_out_is_none(text: str) -> None:
    assert wishes(text) == []


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        (
            "I'm solo on this project now, so pushing to main is fine from now on.",
            "pushing to main is fine from now on",
        ),
        ("Auf main pushen ist ab jetzt okay.", "Auf main pushen ist ab jetzt okay"),
    ],
)
def test_what_is_fine_from_now_on_may_end_a_rule(text: str, clause: str) -> None:
    assert [(wish.kind, wish.text, wish.surety) for wish in wishes(text)] == [
        ("withdrawal", clause, "perhaps")
    ]
