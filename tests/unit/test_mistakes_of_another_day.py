"""A person says that they told something wrongly, and how it is in the next sentence."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.domain.statements.changes import change
from tests.builders import NOW

PROD = (
    "for the migration script: prod db listens on 5433, schema is core, and we deploy with helm 3"
)
PUT_RIGHT = [
    ("息子の蓮は7歳で、サッカーを習っています。", "すみません、昨日間違えました。蓮は8歳です。"),
    ("息子の蓮は7歳です。", "この前は間違えました。蓮は8歳です。先月誕生日でした。"),
    (PROD, "I told you rubbish yesterday, 5433 is staging. prod is 5434."),
    ("prod listens on 5433", "I told you nonsense. prod listens on 5434."),
    ("My rent is 350 euros.", "Sorry, I was wrong yesterday. My rent is 340 euros."),
    ("Our flat has 80 square metres.", "I made a mistake. Our flat has 90 square metres."),
    ("Meine Miete ist 350 Euro.", "Ich hab mich vertan. Meine Miete ist 340 Euro."),
    ("Meine Miete ist 350 Euro.", "Ich habe dir gestern Quatsch erzählt. Die Miete ist 340 Euro."),
    ("My son is 7.", "My mistake. My son is 8."),
    ("The code is 4711.", "I got that wrong. The code is 4712."),
]
OTHERS = [
    ("息子の蓮は7歳です。", "すみません、昨日間違えました。娘の葵は8歳です。"),
    ("息子の蓮は7歳です。", "問題を間違えました。全部で8問です。"),
    (PROD, "I told you rubbish yesterday. staging has 3 replicas."),
    ("My rent is 350 euros.", "He told you rubbish yesterday. Her rent is 340 euros."),
    ("My rent is 350 euros.", "I was wrong about the weather. The sun is out at 7."),
    ("My rent is 350 euros.", "My mistake. My dog is 4."),
    ("My rent is 350 euros.", "You were wrong. Is my rent 340 euros?"),
    ("My son is 7.", "My mistake. My daughter is 8."),
    ("Meine Miete ist 350 Euro.", "Ich hab mich vertan. Mein Hund ist 4."),
    ("The code is 4711.", "I told you rubbish. The weather is nice."),
]


@pytest.mark.parametrize(("before", "now"), PUT_RIGHT)
def test_the_sentence_after_an_admitted_mistake_puts_right(before: str, now: str) -> None:
    assert change(before, now, (NOW, NOW + timedelta(days=1))) is not None


@pytest.mark.parametrize(("before", "now"), OTHERS)
def test_what_is_about_something_else_puts_nothing_right(before: str, now: str) -> None:
    assert change(before, now, (NOW, NOW + timedelta(days=1))) is None
