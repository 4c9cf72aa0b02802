"""Slips put right in the next breath, and comparisons that name nothing liked."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from tests.talk import talk


def told(*lines: str) -> list[str]:
    """The facts that fill a slot."""
    return [fact.text for fact in said_facts(talk(*lines)) if fact.attribute is not None]


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        (
            ("My sister is called Anna.", "a: What a name!", "No, I meant Hannah."),
            ["User's sister is called Hannah"],
        ),
        (("I live in Rome.", "Sorry, I meant to say Turin"), ["User lives in Turin"]),
        (("I live in Rome. Oops, I mean Turin!",), ["User lives in Turin"]),
        (
            ("I work as a baker at Fabrikam.", "No, I meant Contoso, not Fabrikam."),
            ["User works as a baker", "User works at Contoso"],
        ),
        (("I'm allergic to nuts.", "Wait, sorry, I meant eggs."), ["User is allergic to eggs"]),
        (("My wife is called Ella.", "Sorry, Emma, not Ella."), ["User's wife is called Emma"]),
        (("I live in Rome.", "No, Turin, not Rome!"), ["User lives in Turin"]),
        (("I live in Rome.", "No, Turin is nicer, not Rome."), ["User lives in Rome"]),
        (("I live in Rome.", "Sorry, Turin."), ["User lives in Rome"]),
        (("I live in Rome.", "Wait, Ben, not Ana."), ["User lives in Rome"]),
        (("I live in Rome.", "We meet on Monday.", "No, I meant Tuesday."), ["User lives in Rome"]),
        (("I live in Rome.", "No, I meant Contoso, not Fabrikam."), ["User lives in Rome"]),
        (("I live in Rome.", "No, I meant the other one."), ["User lives in Rome"]),
        (("I live in Rome.", "I meant it."), ["User lives in Rome"]),
    ],
)
def test_a_correction_takes_the_place_of_what_was_said_just_before(
    lines: tuple[str, ...], facts: list[str]
) -> None:
    assert told(*lines) == facts


def test_the_correction_is_proven_by_its_own_words() -> None:
    (fact,) = [
        fact
        for fact in said_facts(talk("My sister is called Anna.", "No, I meant Hannah."))
        if fact.attribute is not None
    ]
    assert (fact.message, fact.quote) == (1, "No, I meant Hannah.")


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("I ran this morning, like every Tuesday.", []),
        ("I called her, like always.", []),
        ("I love aubergines even more.", ["User likes aubergines"]),
        ("I like small kitchens anyway.", ["User likes small kitchens"]),
        ("I like running in the rain best.", ["User likes running in the rain"]),
    ],
)
def test_a_comparison_is_no_liking_and_a_degree_no_part_of_one(
    sentence: str, facts: list[str]
) -> None:
    assert told(sentence) == facts
