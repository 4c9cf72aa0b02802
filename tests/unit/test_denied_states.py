"""What a later sentence denies is over, wherever its time is; what sounds alike is not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.voice import base_form
from memory_core.domain.conversation import Message
from memory_core.domain.statements.changes import change
from memory_core.domain.statements.first_person import in_first_person
from tests.builders import NOW


def facts_of(text: str) -> dict[str, str]:
    """The slots that a message fills, with their values."""
    message = Message(role="user", content=text, timestamp=NOW)
    return {fact.attribute: fact.value or "" for fact in said_facts([message]) if fact.attribute}


@pytest.mark.parametrize(
    "text",
    [
        "I stopped working at Otto last Friday.",
        "Last Friday I stopped working at Otto.",
        "Since last Friday I don't work at Otto.",
        "Since last Friday, I don't work at Otto.",
        "As of last week I no longer work at Otto.",
        "From last month on I don't work at Otto.",
        "I don't work at Otto any more since last Friday.",
        "In March I gave up working at Otto.",
        "On Friday I ceased working at Otto.",
        "I stopped working for Otto two weeks ago.",
        "I haven't worked at Otto since May.",
    ],
)
def test_a_job_is_over_wherever_the_time_of_its_end_stands(text: str) -> None:
    assert facts_of(text) == {"employer": "no longer Otto"}


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("Last month I stopped living in Utrecht.", {"home city": "no longer Utrecht"}),
        ("As of last month I'm not vegan anymore.", {"diet": "no longer vegan"}),
        ("I stopped learning Spanish yesterday.", {"learning spanish": "no"}),
        (
            "Ich habe letzten Freitag aufgehört, bei Otto zu arbeiten.",
            {"employer": "no longer Otto"},
        ),
        ("I stopped working at 5.", {}),
        ("I stopped driving at midnight.", {}),
        ("I stopped at Otto last Friday.", {}),
        ("Since last Friday I don't work late at Otto.", {}),
        ("Since I moved I don't work at Otto.", {}),
        ("Since Monday I don't drive the Golf to work.", {}),
        ("I am no longer allergic to nuts.", {"allergy to nuts": "no"}),
        ("I don't work at Otto on Fridays.", {}),
        ("I would never stop working at Otto.", {}),
        ("Ich habe um zehn aufgehört, Klavier zu spielen.", {}),
        ("夜はコーヒーを飲みません。", {}),
        ("私はお酒を飲みません。", {"drinks お酒": "no"}),
    ],
)
def test_no_time_of_an_end_is_part_of_a_fact(text: str, slots: dict[str, str]) -> None:
    assert facts_of(text) == slots


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I work at Otto.", "My contract with Otto ended last Friday."),
        ("I work at Lidl.", "My employment at Lidl ended on Monday."),
        ("I am married to Paul.", "My marriage to Paul ended last year."),
        ("I attend a Spanish course.", "Since March I don't attend the Spanish course."),
        ("I own a boat.", "As of last week I don't own the boat."),
        ("User is engaged", "Since last week User is no longer engaged to Tom"),
        (
            "User has a subscription to the Guardian.",
            "Last Tuesday User cancelled their Guardian subscription.",
        ),
        ("I study law in Bonn.", "I gave up studying law."),
        ("I live with my parents.", "Since last month I no longer live with my parents."),
        ("Ich arbeite bei Otto.", "Ich habe letzten Freitag aufgehört, bei Otto zu arbeiten."),
        ("Ich habe ein Abo bei Netflix.", "Mein Abo bei Netflix endete letzte Woche."),
        ("私はオットーで働いています。", "先週からオットーでは働いていません。"),
        ("ピアノを習っています。", "先月からピアノは習っていません。"),
    ],
)
def test_a_state_that_is_denied_later_is_changed(earlier: str, later: str) -> None:
    moments = (NOW, NOW + timedelta(days=7))
    assert change(in_first_person(earlier), in_first_person(later), moments) is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I work at Otto.", "I stopped at Otto last Friday."),
        ("I work at Otto.", "Since last Friday I don't work late at Otto."),
        ("I work at Otto.", "My contract with Otto was extended last Friday."),
        ("I work at Otto.", "My shift at Otto ended at six."),
        ("I work at Siemens.", "My contract with Vodafone ended last week."),
        ("I work at Bosch.", "As of last week I don't work with Peter at Bosch."),
        ("I drive a Golf.", "Since Monday I don't drive the Golf to work anymore."),
        ("I drive a Golf.", "I stopped driving at midnight."),
        ("I live in Leeds.", "The train stopped in Leeds last Friday."),
        ("I live in Bonn.", "Since Monday I don't have a car in Bonn."),
        ("I play tennis.", "The tennis match ended at nine."),
        ("I play the cello.", "Last night I stopped playing the cello at ten."),
        ("I take metformin daily.", "Since Monday my mother no longer takes metformin."),
        ("I'm learning Spanish.", "Since June I'm not learning Spanish on the train anymore."),
        ("My sister is Anna.", "I haven't seen Anna since May."),
        ("I use a trainer.", "I don't use the trainer since its only running."),
        ("I recommend the game.", "I don't think I can recommend the game as of yet."),
        ("Ich arbeite bei Otto.", "Seit letztem Freitag arbeite ich nicht mehr nachts bei Otto."),
        ("Ich fahre einen Golf.", "Seit Montag fahre ich mit dem Golf nicht mehr zur Arbeit."),
        ("Ich spiele Klavier.", "Ich habe um zehn aufgehört, Klavier zu spielen."),
        ("プリウスに乗っています。", "先週からプリウスで通勤していません。"),
        ("ネットフリックスを契約しています。", "先週アマゾンを解約しました。"),
    ],
)
def test_what_only_sounds_like_an_end_changes_nothing(earlier: str, later: str) -> None:
    assert change(earlier, later, (NOW, NOW + timedelta(days=7))) is None


def test_a_verb_is_read_in_its_base_form() -> None:
    forms = "living working running driving cycling dancing seeing visiting smoked planned studied"
    bases = "live work run drive cycle dance see visit smoke plan study"
    assert [base_form(form) for form in forms.split()] == bases.split()
