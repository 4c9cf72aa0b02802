"""Which standing instructions exclude each other."""

from __future__ import annotations

import pytest

from memory_core.domain.statements.exclusive_instructions import (
    are_exclusive,
    are_of_two_things,
    names_thing,
)
from memory_core.domain.statements.wish_signs import read


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Always answer in German.", "Always answer in French."),
        ("Antworte immer auf Deutsch.", "Always reply in English."),
        ("Always use metric units.", "From now on use imperial units, please."),
        ("Please always answer briefly.", "From now on always give detailed answers."),
        ("Bitte antworte immer kurz.", "Antworte immer ausführlich."),
        ("Always be formal.", "Always be casual."),
        ("Call me Sam.", "Always call me Captain."),
        ("Call me Sam.", "From now on address me as Dr. Okafor, never by my first name."),
        ("Always give me prices in euros.", "Give me prices in pounds from now on."),
        ("Always show distances in miles.", "Please use kilometres for distances from now on."),
        ("Antworte immer mit Stichpunkten.", "Antworte ab jetzt in Fließtext."),
        ("Always use 24-hour time.", "Use 12-hour time from now on."),
        ("値段はいつも円で教えて。", "これからは値段をドルで教えて。"),
        ("Bitte antworte immer kurz.", "Du darfst wieder ausführlicher antworten."),
        ("Nenn mich Max.", "Nenn mich bitte Moritz."),
        ("いつも英語で答えてください。", "これからは日本語で答えて。"),
        ("サムと呼んで。", "太郎と呼んで。"),
        ("これからは敬語を使わないでください。", "やっぱり敬語で話してください。"),
        ("敬語はやめてください。", "いつも敬語を使ってください。"),
        ("Bitte duze mich ab jetzt.", "Bitte sieze mich ab jetzt."),
    ],
)
def test_two_values_of_one_kind_exclude_each_other(first: str, second: str) -> None:
    assert are_exclusive(first, second)
    assert are_exclusive(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Always answer in German.", "Always answer in German."),
        ("Always answer in German.", "Antworte immer auf Deutsch."),
        ("Always answer in German.", "Always use metric units."),
        ("Always answer in German.", "Always answer briefly."),
        ("Never answer in bullet points.", "Always answer in a table."),
        ("Always give travel budgets in euros.", "Give me salaries in pounds from now on."),
        ("Always answer in German.", "Always write my emails in French."),
        ("Always answer in German.", "Always write code comments in English."),
        ("Always answer in German or English.", "Always answer in English."),
        ("Always answer briefly.", "Always keep my emails long."),
        ("Never suggest meat.", "Always suggest vegetables."),
        ("Call me Sam.", "call me sam"),
        ("Please always address me as Dr. Okafor.", "Do not call me by phone, email only please."),
        ("Please always address me as Dr. Okafor.", "Do not call me at night."),
        ("Call me Max.", "Never call me before 9."),
        ("Call me Max.", "Always call me on my mobile."),
        ("Call me Max.", "Please call me back when the build fails."),
        ("Call me Max.", "Never call me Sir."),
        ("Nenn mich Max.", "Nenn mich bitte nicht Moritz."),
        ("Nenn mich Max.", "Ruf mich bitte nie vor neun an."),
        ("サムと呼んで。", "夜は電話しないでください。"),
        ("いつも英語で答えてください。", "メールは日本語で書いて。"),
        ("これからは敬語を使わないでください。", "メールは敬語で書いてください。"),
        ("これからは敬語を使わないでください。", "返事は三行以内にしてください。"),
    ],
)
def test_others_hold_beside_each_other(first: str, second: str) -> None:
    assert not are_exclusive(first, second)
    assert not are_exclusive(second, first)


@pytest.mark.parametrize(
    "permission",
    [
        "You may push to main again.",
        "You can deploy again.",
        "You may use the cache again.",
        "You can use default exports again.",
        "It's fine to restart the worker now.",
        "Du darfst wieder auf main pushen.",
        "また本番にデプロイしていいですよ",
    ],
)
def test_a_permission_that_names_a_thing_ends_only_what_is_about_it(permission: str) -> None:
    assert names_thing(read(permission))


@pytest.mark.parametrize(
    "permission",
    [
        "You don't need to be brief anymore.",
        "Answer normally again please",
        "You can ask about him again.",
        "You can speak German with me again.",
        "ok you can go back to feet and inches, I'm living in Ohio now",
        "Du darfst wieder normal antworten.",
        "もう普通に話していいよ",
    ],
)
def test_a_permission_about_answers_may_end_the_nearest_instruction(permission: str) -> None:
    assert not names_thing(read(permission))


@pytest.mark.parametrize(
    ("instruction", "permission", "apart"),
    [
        ("Never merge on green in lighthouse.", "In kestrel you may merge on green.", True),
        ("Never quote prices to Lund.", "You may quote prices to Aalto.", True),
        (
            "Ruf Frau Sommer bitte nie vor acht an.",
            "Herrn Winter darfst du vor acht anrufen.",
            True,
        ),
        ("Ruf Herrn Sommer bitte nie vor acht an.", "Herrn Winter darfst du anrufen.", True),
        ("Nie direkt auf main pushen in heron.", "In egret darfst du auf main pushen.", True),
        (
            "Never merge on green in lighthouse.",
            "You may merge on green in lighthouse again.",
            False,
        ),
        ("Never quote prices to Lund.", "You may quote prices now.", False),
        ("Never push to main.", "Pushing to main is fine now.", False),
        ("Never email me at night.", "You can email me at any time.", False),
        ("Always reply in formal English.", "You can reply in a casual tone.", False),
    ],
)
def test_a_permission_for_one_thing_says_nothing_of_another(
    instruction: str, permission: str, apart: bool
) -> None:
    assert are_of_two_things(instruction, permission) is apart
