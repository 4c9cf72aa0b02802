import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.candidates import CandidateSet
from memory_core.domain.ranking.recipes import (
    DEFAULT_WEIGHTS,
    ScoringParameters,
    frequencies,
    score,
)
from memory_core.domain.requests.memories import RECIPE_WEIGHTS

NOW = 1_800_000_000.0
DAY = 86_400.0
PARAMETERS = ScoringParameters()
fractions = st.floats(0, 1)
rows = st.lists(
    st.tuples(
        fractions,
        fractions,
        fractions,
        st.floats(-100, 5000),
        st.floats(-100, 5000),
        st.integers(0, 10**6),
    ),
    min_size=0,
    max_size=12,
)


def candidates(importance, confidence=None, touched_days=None, accessed_days=None, accesses=None):
    count = len(importance)

    def column(values, default):
        return np.array([default] * count if values is None else values, dtype=np.float64)

    blank = np.full(count, np.nan)
    return CandidateSet(
        ids=[f"mem_{row}" for row in range(count)], cosine=blank, previous_cosine=blank,
        next_cosine=blank, tf=np.zeros((count, 0)), own=np.zeros((count, 0), dtype=bool),
        length=np.zeros(count), own_length=np.zeros(count), before=np.full(count, -1),
        after=np.full(count, -1), asks=np.zeros(count, dtype=bool),
        tells_time=np.zeros(count, dtype=bool), turns=np.zeros(count, dtype=bool),
        actor=[None] * count, cell=[None] * count, event_at=blank,
        touched_at=NOW - DAY * column(touched_days, 0.0),
        accessed_at=NOW - DAY * column(accessed_days, 0.0), importance_base=column(importance, 0.5),
        access_count=column(accesses, 0.0), confidence=column(confidence, 1.0),
    )  # fmt: skip


def scored(recipe, relevance, scored_candidates, weights=None, parameters=PARAMETERS):
    return score(
        recipe, weights, np.array(relevance, dtype=np.float64), scored_candidates, NOW, parameters
    )


def test_composite_is_relevance_with_two_boosts_of_a_tenth():
    got = scored(
        "composite", [0.5], candidates([0.8], touched_days=[10_950 / 24], accessed_days=[30])
    )
    assert got.recency == pytest.approx([np.exp(-1)])
    assert got.importance == pytest.approx([0.4])
    assert got.score == pytest.approx([0.5 * (1 + 0.1 * np.exp(-1) + 0.1 * 0.4)])
    assert got.composite is got.score


def test_balanced_is_seven_parts_relevance_and_three_parts_importance():
    got = scored("balanced", [0.5], candidates([0.8], accessed_days=[30]))
    assert got.score == pytest.approx([0.7 * 0.5 + 0.3 * 0.4])


def test_weighted_has_four_parts():
    got = scored(
        "weighted",
        [0.5, 0.2],
        candidates([0.1, 0.1], confidence=[0.6, 1.0], touched_days=[30, 60], accesses=[3, 15]),
    )
    shares = np.array([np.log(4) / np.log(16), 1.0])
    assert got.frequency == pytest.approx(shares)
    assert got.recency == pytest.approx([0.5, 0.25])
    assert got.score == pytest.approx(
        0.4 * np.array([0.5, 0.2])
        + 0.25 * np.array([0.5, 0.25])
        + 0.15 * shares
        + 0.2 * np.array([0.6, 1.0])
    )


def test_linear_has_three_parts():
    got = scored("linear", [0.5], candidates([0.8], touched_days=[10_950 / 24]))
    assert got.score == pytest.approx([0.5 * 0.5 + 0.3 * np.exp(-1) + 0.2 * 0.8])


@pytest.mark.parametrize(
    ("recipe", "used"),
    [
        ("composite", {"recency"}),
        ("balanced", set()),
        ("linear", {"recency"}),
        ("weighted", {"recency", "frequency", "confidence"}),
    ],
)
def test_a_part_that_the_recipe_does_not_use_is_none(recipe, used):
    got = scored(recipe, [0.5], candidates([0.8]))
    assert {
        name for name in ("recency", "frequency", "confidence") if getattr(got, name) is not None
    } == used


def test_given_weights_replace_only_their_defaults_and_never_the_composite_score():
    important = candidates([0.8])
    got = scored("composite", [0.5], important, weights={"importance": 1.0})
    assert got.score == pytest.approx([0.5 * (1 + 0.1 + 0.8)])
    assert got.composite == pytest.approx([0.5 * (1 + 0.1 + 0.08)])
    assert scored("linear", [0.5], important, weights={"recency": 0.0}).score == pytest.approx(
        [0.25 + 0.16]
    )


def test_the_settings_boosts_are_the_default_weights_of_composite():
    parameters = ScoringParameters(recency_boost=0.3, importance_boost=0.0)
    got = scored("composite", [0.5], candidates([0.8]), parameters=parameters)
    assert got.score == pytest.approx([0.5 * 1.3])


def test_frequency_is_zero_for_all_when_nobody_ever_looked():
    assert frequencies(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert frequencies(np.zeros(0)).tolist() == []


def test_the_door_knows_the_same_weights():
    assert {
        recipe: frozenset(weights) for recipe, weights in DEFAULT_WEIGHTS.items()
    } == RECIPE_WEIGHTS
    assert dict(DEFAULT_WEIGHTS["composite"]) == {
        "recency": PARAMETERS.recency_boost,
        "importance": PARAMETERS.importance_boost,
    }


@given(rows, st.sampled_from(["composite", "balanced", "weighted", "linear"]))
def test_composite_is_between_relevance_and_a_fifth_more_whatever_the_recipe(rows, recipe):
    relevance, importance, confidence, touched, accessed, accesses = (
        (list(column) for column in zip(*rows, strict=True)) if rows else [[]] * 6
    )
    got = scored(recipe, relevance, candidates(importance, confidence, touched, accessed, accesses))
    assert len(got.score) == len(rows)
    assert np.all(np.isfinite(got.score))
    assert np.all(got.composite <= 1.2 * np.array(relevance) + 1e-12)
    assert np.all(got.composite >= np.array(relevance))


@given(
    rows,
    st.dictionaries(
        st.sampled_from(["relevance", "recency", "frequency", "confidence"]), fractions
    ),
)
def test_a_weighted_score_is_never_more_than_its_weights_together(rows, weights):
    relevance, importance, confidence, touched, accessed, accesses = (
        (list(column) for column in zip(*rows, strict=True)) if rows else [[]] * 6
    )
    got = scored(
        "weighted",
        relevance,
        candidates(importance, confidence, touched, accessed, accesses),
        weights=weights,
    )
    assert np.all(got.score <= sum({**DEFAULT_WEIGHTS["weighted"], **weights}.values()) + 1e-12)
    assert np.all(got.score >= 0)
