"""A pattern rests on the episodes that say it, and two patterns are one when they differ in the
wording alone.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.statements.patterns import (
    FEWEST,
    SaidTerms,
    carriers,
    is_stated_by,
    same_pattern,
    telling,
)
from tests.injections import ALL

EPISODES = (
    "I went running in the park with Ana",
    "The park was empty, I ran 5 km while running",
    "We painted the kitchen wall",
)
SAID = [SaidTerms.of(text) for text in EPISODES]


@pytest.mark.parametrize(
    ("statement", "places"),
    [
        ("User goes running in the park", [0, 1]),
        ("User often goes running in the park, 5 km", [0, 1]),
        ("User goes running in the park with Ana", [0, 1]),
        ("User goes running in the park with Bob", []),
        ("User goes running in the park, 7 km", []),
        ("User painted the kitchen wall", []),
        ("User keeps llamas in Peru", []),
        ("User trains hard for the marathon in the park", []),
        ("User usually does it again", []),
        ("", []),
    ],
)
def test_each_episode_says_a_part_and_together_they_say_most(
    statement: str, places: list[int]
) -> None:
    assert carriers(statement, SAID) == places


def test_what_is_quoted_pasted_or_recalled_carries_nothing() -> None:
    recalled = [
        SaidTerms.of(f"<memory>{EPISODES[0]}</memory> What else?"),
        SaidTerms.of(f'He wrote: "{EPISODES[0]}, I tell you"'),
        SAID[0],
    ]
    assert carriers("User goes running in the park", recalled) == []


def test_who_told_it_may_be_named() -> None:
    assert carriers(
        "Ana sails to Porto",
        [SaidTerms.of("I sailed to Porto", "Ana"), SaidTerms.of("Porto again, we sailed", "Ana")],
    ) == [0, 1]


def test_a_particular_needs_one_episode_only() -> None:
    assert carriers("User ran 5 km", SAID, fewest=1) == [1]


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
@settings(max_examples=60, deadline=None)
def test_whatever_is_claimed_the_places_are_of_what_was_shown(
    statement: str, texts: list[str]
) -> None:
    places = carriers(statement, [SaidTerms.of(text) for text in texts])
    assert not places or (
        len(places) >= FEWEST and set(places) <= set(range(len(texts))) and telling(statement)
    )


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("User usually runs in the park", "User often goes running in the park", True),
        ("User likes tea", "User prefers tea", True),
        ("User likes tea", "User likes tea.", True),
        ("User likes tea", "User dislikes tea", False),
        ("User likes tea", "User does not like tea", False),
        ("User likes tea", "User drinks tea", False),
        ("User runs 5 km", "User runs 7 km", False),
        ("User prefers tea over coffee", "User prefers coffee over tea", False),
        ("User meets Ana at noon", "User meets Tom at noon", False),
    ],
)
def test_two_patterns_are_one_when_only_their_frame_differs(
    first: str, second: str, same: bool
) -> None:
    assert same_pattern(first, second) is same
    assert same_pattern(second, first) is same


def test_what_a_fact_says_is_told_by_it() -> None:
    assert is_stated_by("User often speaks of Lisbon", "User lives in Lisbon")
    assert not is_stated_by("User goes running in the park in Lisbon", "User lives in Lisbon")
    assert not is_stated_by("User goes again", "User lives in Lisbon")


@pytest.mark.parametrize("order", ALL.values(), ids=ALL.keys())
def test_an_order_that_stands_in_one_episode_comes_to_nothing(order: str) -> None:
    assert carriers(order, [SaidTerms.of(order), *SAID]) == []
