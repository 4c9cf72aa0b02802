import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.passages import IDF_FLOOR, idf, saturation


def test_the_worth_of_a_term_follows_the_formula():
    assert idf([0, 3], 1_000) == pytest.approx(
        [math.log(1 + 1000.5 / 0.5), math.log(1 + 997.5 / 3.5)]
    )


def test_a_small_store_counts_as_one_of_the_floor():
    assert idf([1], 1) == pytest.approx(idf([1], IDF_FLOOR))
    assert idf([1], 1, floor=0) != pytest.approx(idf([1], IDF_FLOOR))


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=20),
    st.integers(0, 10**6),
    st.integers(0, 1_000),
)
def test_the_worth_is_positive_and_falls_with_frequency(frequencies, documents, floor):
    worth = idf(sorted(frequencies), documents, floor)
    assert (worth > 0).all()
    within = np.array(sorted(frequencies)) <= max(documents, floor)
    assert (np.diff(worth[within]) <= 0).all()


def test_a_term_covers_a_short_text_more_than_a_long_one():
    short, long, none = saturation(
        np.array([[2.0], [2.0], [0.0]]), np.array([20.0, 40.0, 10.0]), 10.0, 1.2, 0.75
    )[:, 0]
    assert short == pytest.approx(2 / (2 + 1.2 * (0.25 + 0.75 * 2)))
    assert short > long > none == 0.0


def test_no_texts_or_no_terms_are_covered_too():
    assert saturation(np.zeros((0, 3)), np.zeros(0), 0.0, 1.2, 0.75).shape == (0, 3)
    assert saturation(np.zeros((2, 0)), np.ones(2), 1.0, 1.2, 0.75).shape == (2, 0)


@given(
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.just(0.0) | st.floats(0.01, 1e6),
    st.floats(0, 3),
    st.floats(0, 1),
)
def test_saturation_stays_below_one_or_at_it_without_any_norm(tf, length, mean, k1, b):
    (value,) = saturation(np.array([[tf]]), np.array([length]), mean, k1, b)[0]
    assert 0.0 <= value <= 1.0
    assert (value == 0.0) or tf > 0.0
