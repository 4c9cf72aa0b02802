import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.importance import (
    BOOSTS,
    CUES,
    importance_by_interaction,
    importance_by_type,
    indicators,
)
from memory_core.domain.memory import MemoryType

PLAIN = "The train leaves at nine."


@pytest.mark.parametrize(
    ("type", "score"), [("episodic", 0.6), ("semantic", 0.8), ("procedural", 0.7)]
)
def test_a_plain_memory_has_the_score_of_its_type(type, score):
    assert importance_by_type(MemoryType(type), PLAIN) == score


@pytest.mark.parametrize(
    ("content", "indicator"),
    [
        ("She prefers window seats", "user_preference"),
        ("I don’t like early meetings", "user_preference"),
        ("ALWAYS USES tabs, never spaces", "user_preference"),
        ("We decided to move the launch", "critical_decision"),
        ("Both sides agreed on Postgres", "critical_decision"),
        ("The root cause was a full disk", "error_resolution"),
        ("He fixed the build", "error_resolution"),
        ("Lesson learned: back up first", "learning_outcome"),
        ("We figured out how the cache works", "learning_outcome"),
    ],
)
def test_a_cue_in_the_content_is_its_indicator(content, indicator):
    assert indicators(content) == {indicator}


def test_an_indicator_counts_by_name_in_content_category_or_tag_however_it_is_joined():
    assert indicators("pattern user_preference_pattern seen") == {"user_preference"}
    assert indicators(PLAIN, category="critical-decision") == {"critical_decision"}
    assert indicators(PLAIN, tags=["travel", "Error Resolution"]) == {"error_resolution"}
    assert indicators(PLAIN, category="preference") == {"user_preference"}


def test_a_cue_inside_another_word_does_not_count():
    assert indicators("The preferential tariff of the unlikely indecision, unsolved") == frozenset()


def test_boosts_add_up_and_stop_at_one():
    assert importance_by_type(MemoryType.EPISODIC, "She prefers tea") == pytest.approx(0.8)
    assert importance_by_type(MemoryType.EPISODIC, "Lesson: she prefers tea") == pytest.approx(0.95)
    assert importance_by_type(MemoryType.SEMANTIC, "We decided to keep it, she prefers tea") == 1.0


@given(
    st.sampled_from(MemoryType),
    st.text(max_size=200),
    st.none() | st.text(max_size=20),
    st.lists(st.text(max_size=20), max_size=4),
)
def test_importance_is_a_fraction_for_any_text(type, content, category, tags):
    assert 0.6 <= importance_by_type(type, content, category, tags) <= 1.0


def test_every_indicator_has_cues():
    assert set(CUES) == set(BOOSTS)
    assert all(CUES.values())


@pytest.mark.parametrize(
    ("quality", "follow_ups", "labels", "expected"),
    [
        ("high", 3, 10, 1.0),
        ("high", 7, 25, 1.0),
        ("medium", 2, 9, 0.5 * 0.6 + 0.3 * 0.8 + 0.2 * 0.8),
        ("low", 1, 4, 0.5 * 0.2 + 0.3 * 0.6 + 0.2 * 0.6),
        (None, 0, 1, 0.5 * 0.5 + 0.3 * 0.3 + 0.2 * 0.3),
        ("low", 0, 0, 0.25),
        (None, 0, 5, 0.5 * 0.5 + 0.3 * 0.3 + 0.2 * 0.8),
        (None, 0, 2, 0.5 * 0.5 + 0.3 * 0.3 + 0.2 * 0.6),
    ],
)
def test_interaction_importance_follows_the_tables(quality, follow_ups, labels, expected):
    assert importance_by_interaction(quality, follow_ups, labels) == pytest.approx(expected)
