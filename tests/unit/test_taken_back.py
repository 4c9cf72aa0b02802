"""What a speaker says was wrong is taken back, and what they meant is in its place."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.agent_schemas import ExtractedFacts
from memory_core.domain.statements.fact_checks import asserted_facts
from tests.talk import talk

ALLERGIES = [
    (
        (
            "I am allergic to amoxicillin.",
            "a: Noted.",
            "Sorry, that was wrong. I meant azithromycin; amoxicillin I tolerate well.",
        ),
        {"azithromycin": "yes"},
    ),
    (
        ("I am allergic to amoxicillin.", "Sorry, I meant azithromycin; amoxicillin is fine."),
        {"azithromycin": "yes"},
    ),
    (("I'm allergic to walnuts.", "that was wrong. I meant hazelnuts."), {"hazelnuts": "yes"}),
    (("I'm allergic to walnuts.", "oops, it's hazelnuts, walnuts are fine"), {"hazelnuts": "yes"}),
    (("I'm allergic to walnuts.", "Sorry, it's hazelnuts, not walnuts."), {"hazelnuts": "yes"}),
    (
        ("I told you I'm allergic to walnuts, that was wrong. It's hazelnuts, walnuts are fine.",),
        {"walnuts": "no", "hazelnuts": "yes"},
    ),
    (("I said that I'm allergic to cats, but that's not true.",), {"cats": "no"}),
    (
        (
            "Ich bin allergisch gegen Penicillin.",
            "a: ok",
            "Moment, stimmt nicht, ich meinte Cefuroxim. Penicillin vertrage ich.",
        ),
        {"cefuroxim": "yes"},
    ),
    (
        ("Ich bin allergisch gegen Penicillin.", "Moment, ich meinte Cefuroxim."),
        {"cefuroxim": "yes"},
    ),
    (("I'm allergic to cats.", "That was wrong. It's dogs, cats are fine."), {"dogs": "yes"}),
    # what only looks like it
    (("I'm allergic to walnuts.", "Sorry, it's late."), {"walnuts": "yes"}),
    (("I'm allergic to walnuts.", "That was wrong of him."), {"walnuts": "yes"}),
    (("I'm allergic to walnuts.", "He told you that was wrong."), {"walnuts": "yes"}),
    (("I'm allergic to walnuts.", "I meant to ask you; walnuts are in pesto?"), {"walnuts": "yes"}),
    (("I'm allergic to walnuts.", "That was wrong. It's complicated."), {"walnuts": "yes"}),
    (
        ("I'm allergic to walnuts.", "Sorry, one question, walnuts are in pesto?"),
        {"walnuts": "yes"},
    ),
    (("I told you I'm allergic to walnuts, remember?",), {}),
    (("I told you I'm allergic to walnuts.",), {"walnuts": "yes"}),
    (("I said I'm allergic to cats, was that wrong?",), {"cats": "yes"}),
    (
        ("Ich bin allergisch gegen Penicillin.", "Moment, ich meinte es ernst."),
        {"penicillin": "yes"},
    ),
]


@pytest.mark.parametrize(("lines", "allergies"), ALLERGIES)
def test_an_allergy_is_as_it_was_put_right(
    lines: tuple[str, ...], allergies: dict[str, str]
) -> None:
    messages = talk(*lines)
    extracted = ExtractedFacts(facts=said_facts(messages), foresight=[], instructions=[])
    assert {
        (fact.attribute or "").removeprefix("allergy to "): fact.value
        for fact in asserted_facts(extracted, messages).facts
        if (fact.attribute or "").startswith("allergy to ")
    } == allergies
