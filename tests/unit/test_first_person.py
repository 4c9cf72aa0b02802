"""Facts in the words of their speaker."""

from __future__ import annotations

import pytest

from memory_core.domain.statements.first_person import in_first_person


@pytest.mark.parametrize(
    ("fact", "spoken"),
    [
        ("User has moved all their savings to Ally", "I have moved all my savings to Ally"),
        ("Olivia and User broke up.", "Olivia and I broke up."),
        ("They rebooked User onto the 16th.", "They rebooked me onto the 16th."),
        ("User's flight is the 14th", "My flight is the 14th"),
        ("User does not really go to church", "I don't really go to church"),
        ("User is eating carbs again", "I'm eating carbs again"),
        ("User got a raise, it is 4,400 euros", "I got a raise, it's 4,400 euros"),
        (
            "User always carries a knife and User's dog barks",
            "I always carry a knife and my dog barks",
        ),
        ("User's parents stopped their subscription", "My parents stopped their subscription"),
        ("User: Ich wohne in Mainz", "User: Ich wohne in Mainz"),
        ("Ben lives in Rome", "Ben lives in Rome"),
    ],
)
def test_a_fact_is_said_by_its_speaker_again(fact: str, spoken: str) -> None:
    assert in_first_person(fact) == spoken
