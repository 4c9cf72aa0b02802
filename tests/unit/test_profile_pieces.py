"""Which lines of a profile a context is offered, and which come first."""

from datetime import datetime, timezone

from memory_core.domain.ranking.selection import BudgetLeft, chosen
from memory_core.domain.scenes import Profile, ProfileFact, ProfileTrait
from memory_core.domain.text.analyzer import tokens
from memory_core.recollection.context_pieces import MOST_TRAITS, profile_pieces

NOW = datetime(2026, 5, 8, 12, tzinfo=timezone.utc)
PROFILE = Profile(
    explicit=[
        ProfileFact(
            name=name, value=value, confidence=confidence, since=NOW, memory_id=f"mem_{name}"
        )
        for name, value, confidence in (
            ("employer", "the harbour office", 0.9),
            ("home", "Porto", 0.8),
            ("allergy", "peanuts", 0.5),
        )
    ],
    implicit=[
        ProfileTrait(trait=trait, confidence=confidence, source_scene_ids=[trait])
        for trait, confidence in (
            ("Asks for examples.", 0.4),
            ("Writes long messages.", 0.9),
            ("Often talks about work.", 0.7),
        )
    ],
)


def test_facts_with_words_of_the_query_come_first_then_the_surest() -> None:
    pieces = profile_pieces(PROFILE, tokens("may I serve peanuts"), NOW, MOST_TRAITS)
    assert [piece.text for piece in chosen(pieces, BudgetLeft(25))] == [
        "allergy: peanuts",
        "employer: the harbour office",
    ]
    without = profile_pieces(PROFILE, (), NOW, None)
    assert [piece.text for piece in chosen(without, BudgetLeft(25))] == [
        "employer: the harbour office",
        "home: Porto",
    ]


def test_beside_what_answers_a_query_only_the_surest_traits_are_told() -> None:
    def traits(most: int | None) -> list[str]:
        return [
            piece.text for piece in profile_pieces(PROFILE, (), NOW, most) if piece.said_by is None
        ]

    assert traits(MOST_TRAITS) == ["Writes long messages.", "Often talks about work."]
    assert traits(None) == [
        "Writes long messages.",
        "Often talks about work.",
        "Asks for examples.",
    ]
