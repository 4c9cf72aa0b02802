"""A later statement replaces an earlier one only where both fill one slot: of one owner, one thing,
one attribute.
"""

from __future__ import annotations

import pytest

from memory_core.domain.statements.change_clauses import telling
from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.changes import change
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.statements.said_things import SELF, Thing, ThingsSaid, read_things
from memory_core.domain.text.analyzer import words
from tests.change_stories import Story
from tests.slot_stories import ONE_THING, TWO_THINGS

LEAST_NOTICED = 0.75


def read(text: str, language: str = "english") -> ThingsSaid:
    return read_things(text, language, lambda word: telling(words(word), language))


def thing(text: str, term: str, language: str = "english") -> Thing:
    return next(thing for thing in read(text, language).things if term in thing.words)


@pytest.mark.parametrize("story", TWO_THINGS, ids=lambda story: story.later)
def test_a_statement_about_another_thing_or_one_more_replaces_nothing(story: Story) -> None:
    assert change(story.earlier, story.later) is None
    assert contradiction(story.earlier, story.later) is None


def test_most_everyday_changes_of_one_thing_are_noticed() -> None:
    noticed = [story for story in ONE_THING if change(story.earlier, story.later) is not None]
    assert len(noticed) >= LEAST_NOTICED * len(ONE_THING)


@pytest.mark.parametrize(
    ("text", "term", "owner"),
    [
        ("Clara gave up the cello.", "cello", "clara"),
        ("We raised the bathroom budget.", "budget", SELF),
        ("My sister Maren sold the house.", "hous", "sister maren"),
        ("Freya's violin lesson has been moved.", "lesson", "freya"),
        ("Our neighbours sold their Golf.", "golf", "neighbour"),
        ("The rent went up.", "rent", ""),
        ("The standup's moved to 10.", "standup", ""),
    ],
)
def test_whose_a_thing_is_follows_from_the_words_around_it(
    text: str, term: str, owner: str
) -> None:
    assert thing(text, term).owner == owner


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("My mother-in-law moved to Bremen.", "mother-in-law"),
        ("Meine Schwiegermutter ist nach Kassel gezogen.", "schwiegermutter"),
        ("義理の母が福岡に引っ越しました。", "義理の母"),
        ("I moved to Bonn.", SELF),
        ("大阪に引っ越しました。", SELF),
    ],
)
def test_the_subject_is_the_person_who_does_what_is_said(text: str, person: str) -> None:
    assert SaidSentence(text, ends_asking=False).named.subject().person == person


def test_a_german_relative_behind_a_thing_owns_it() -> None:
    assert thing("Die Miete meiner Schwester ist gestiegen.", "miet", "german").owner == "sister"


@pytest.mark.parametrize(
    ("text", "term", "which"),
    [
        ("The hotel in Rome costs 180.", "hotel", ("in", "rome")),
        ("The kitchen budget is 8,000.", "budget", ("part", "kitchen")),
        ("The code of the garage changed.", "code", ("part", "garag")),
        ("My left knee hurts.", "knee", ("pre", "left")),
        ("The train back leaves at six.", "train", ("to", "back")),
    ],
)
def test_what_tells_a_thing_from_others_of_its_name_is_read(
    text: str, term: str, which: tuple[str, str]
) -> None:
    assert which in thing(text, term).which


@pytest.mark.parametrize(
    ("text", "adds"),
    [
        ("I also work at the library.", True),
        ("We bought a second car.", True),
        ("I go there on Thursdays too.", True),
        ("Ich lerne auch noch Klavier.", True),
        ("最近フランス語も勉強し始めました。", True),
        ("It was too late.", False),
        ("I picked up a second-hand Kia.", False),
        ("もう辞めました。", False),
    ],
)
def test_what_is_said_of_one_more_adds(text: str, *, adds: bool) -> None:
    assert read(text).adds is adds


def test_facts_name_the_speaker_as_user() -> None:
    assert change("User is on a keto diet.", "User's sister stopped her keto diet.") is None
    assert change("User is on a keto diet.", "User stopped the keto diet.") is not None


def test_a_person_is_known_by_name_where_the_relative_was_named() -> None:
    assert change("My sister Anna lives in Leeds.", "Anna has relocated to Bristol.") is not None
    assert change("My sister Anna lives in Leeds.", "Nora has relocated to Bristol.") is None


def test_what_is_added_in_another_clause_leaves_a_change_one() -> None:
    earlier = "Bin bei der Stadtsparkasse in der IT."
    assert change(earlier, "Seit 1. September bin ich beim Finanzamt, auch wieder IT.") is not None
    assert change(earlier, "Seit 1. September bin ich auch beim Finanzamt.") is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The living room lamp is on.", "The hallway lamp is off."),
        ("弟は家を買った。", "弟は車を売った。"),
    ],
)
def test_a_lamp_that_is_off_and_a_person_in_common_end_nothing(earlier: str, later: str) -> None:
    assert change(earlier, later) is None
