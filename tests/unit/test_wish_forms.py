"""Sixty stories of requests to forget: done at once, asked back, or left alone.

A request is carried out only in a form that is surely one, and asked back in any other.
"""

from __future__ import annotations

import pytest

from memory_core.domain.statements.wishes import said_wishes
from tests.talk import talk

DONE = [
    "Please forget my address.",
    "forget the lithium thing please",
    "Can you delete my salary from your memory?",
    "Forget that I have diabetes.",
    "Please forget that I am allergic to penicillin.",
    "Hey, could you please forget what I told you about my divorce?",
    "Delete everything about Gerd, please.",
    "Please forget that Ida is pregnant, she wants to tell it herself.",
    "erase my phone number pls, thanks",
    "Forget what I just said.",
    "I moved to Bonn. Please forget my old address.",
    "Vergiss bitte meine Adresse.",
    "Lösch mein Gehalt bitte aus deinem Gedächtnis.",
    "Kannst du bitte meine Telefonnummer löschen?",
    "Vergiss, dass ich Diabetes habe.",
    "Bitte vergiss alles, was ich dir über Tom erzählt habe.",
    "Lösch bitte alles über Gerd",
    "Vergiss das mit dem Umzug nach Bonn",
    "Vergiss bitte, dass Ida schwanger ist, sie will es selbst sagen.",
    "meine alte Adresse bitte löschen, danke",
    "Vergiss, was ich gerade gesagt habe.",
    "住所を忘れてください",
    "給料の話は忘れて",
    "年収の件、記憶から消して",
    "妊娠のことは忘れてください。まだ誰にも言っていないので。",
    "電話番号を消してもらえますか？",
    "ホンダに応募したことは忘れてください。",
    "すみません、病名を削除してください",
    "さっき言ったことは忘れてください。",
    "田村さんに関することは全部消してください",
    "元カレのことは忘れてもらえない？",
]
ASKED = [
    "If I move, forget my address.",
    "Please forget my address, just kidding",
    "I'm moving to Bonn in May. Please forget my address then, thanks.",
    "Please forget my address, it will be outdated in May, so do it then.",
    "Can my address be deleted?",
    "Next year please delete my salary.",
    "Delete my salary. No wait, keep it.",
    "Wenn ich umziehe, lösch bitte meine Adresse.",
    "Lösch meine Adresse? Auf keinen Fall!",
    "Kann meine Adresse gelöscht werden?",
    "Lösch bitte mein Gehalt. Ach nee, lass es stehen.",
    "Nächstes Jahr lösch bitte meine Telefonnummer.",
    "引っ越したら住所を忘れて",
    "来年になったら年収を消してください",
    "住所を消して。やっぱりやめて、残して。",
    "引っ越した後、住所を消して",
    "給料の話は忘れて、なんてね",
]
NONE = [
    "I forgot my keys.",
    "Forget it, never mind.",
    "Don't forget my birthday.",
    "How do I forget my ex?",
    "My boss told me to forget my salary demands.",
    "Ich habe meine Schlüssel vergessen.",
    "Vergiss es, egal.",
    "Vergiss bitte nicht meine Allergie.",
    "Wie lösche ich mein Konto bei der Bank?",
    "Mein Chef hat gesagt, ich soll mein Gehalt vergessen.",
    "鍵を忘れた",
    "薬のことは忘れないでください",
    "彼女に元カレのことは忘れてと言われた。",
    "ファイルを削除してください",
    "財布を忘れてしまいました",
]


def sureties(text: str) -> list[str]:
    return [wish.surety for wish in said_wishes(talk(text)) if wish.kind == "forget"]


@pytest.mark.parametrize("text", DONE)
def test_a_sure_request_is_carried_out(text: str) -> None:
    assert sureties(text) in (["sure"], ["known"])


@pytest.mark.parametrize("text", ASKED)
def test_a_request_under_a_condition_or_taken_back_is_asked_back(text: str) -> None:
    assert sureties(text) in (["asks"], ["perhaps"])


@pytest.mark.parametrize("text", NONE)
def test_what_only_speaks_of_forgetting_is_left_alone(text: str) -> None:
    assert sureties(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Forget my address, that is, if I move.",
        "Forget my address, he said.",
        "Please forget my address. I changed my mind.",
        "Forget that. Just kidding.",
        "How do you say this in German? Please forget my address.",
        "Lösch meine Adresse morgen.",
        "明日、住所を消してください",
    ],
)
def test_what_another_clause_or_sentence_speaks_of_is_not_carried_out(text: str) -> None:
    assert sureties(text) in (["asks"], ["perhaps"])


@pytest.mark.parametrize(
    "text",
    [
        "この文を日本語に戻してください",
        "この表を箇条書きに戻してください",
        "Please change this text back to German.",
        "Diesen Text bitte wieder auf Deutsch",
        "You can use emojis here",
    ],
)
def test_what_is_said_of_a_text_at_hand_ends_no_instruction(text: str) -> None:
    assert said_wishes(talk(text)) == []


@pytest.mark.parametrize(
    ("later", "surety"),
    [
        ("No wait, keep it.", "asks"),
        ("Just kidding.", "asks"),
        ("Nein, doch nicht.", "asks"),
        ("Thanks!", "sure"),
        ("Gerd is my new dentist.", "sure"),
        ("What is the weather like?", "sure"),
        ("I went hiking with Ben in the hills near Jena yesterday.", "sure"),
    ],
)
def test_the_next_message_may_take_a_request_back(later: str, surety: str) -> None:
    (wish,) = (
        wish
        for wish in said_wishes(talk("Please forget my address.", "a: Done.", later))
        if wish.kind == "forget"
    )
    assert wish.surety == surety
