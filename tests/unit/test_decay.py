from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.importance import (
    importance_at,
    importances_at,
    recency_half_life,
    recency_secmsa,
)

START = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
HOUR = 3600.0
fractions = st.floats(0, 1)
half_lives = st.floats(0.5, 1000)


def test_asked_every_hour_for_ten_days_it_is_what_one_look_after_ten_days_says():
    hourly = [importance_at(0.8, START, START + timedelta(hours=hour)) for hour in range(1, 241)]
    once = importance_at(0.8, START, START + timedelta(days=10))
    assert hourly[-1] == pytest.approx(once, abs=1e-9)
    assert once == pytest.approx(0.8 * 2 ** (-1 / 3), abs=1e-9)
    assert hourly == sorted(hourly, reverse=True)


def test_one_half_life_halves_it_and_the_future_leaves_it_alone():
    assert importance_at(0.6, START, START + timedelta(days=30)) == pytest.approx(0.3)
    assert importance_at(0.6, START, START + timedelta(days=7), half_life_days=7) == pytest.approx(
        0.3
    )
    assert importance_at(0.6, START, START) == 0.6
    assert importance_at(0.6, START + timedelta(days=5), START) == 0.6


@given(fractions, st.floats(-1e6, 1e8), half_lives)
def test_the_array_form_says_what_the_scalar_form_says(base, age_s, half_life):
    now = START + timedelta(seconds=age_s)
    expected = importance_at(base, START, now, half_life)
    got = importances_at(
        np.array([base]), np.array([START.timestamp()]), now.timestamp(), half_life
    )
    assert got == pytest.approx([expected], abs=1e-9)


@given(fractions, st.lists(st.floats(0, 1e7), min_size=1, max_size=5))
def test_importance_never_grows_with_time_and_stays_within_its_base(base, ages):
    values = [importance_at(base, START, START + timedelta(seconds=age)) for age in sorted(ages)]
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= base for value in values)


def test_secmsas_recency_is_one_when_fresh_or_future_and_never_under_a_hundredth():
    at = 1_000_000 * HOUR
    ages_h = np.array([0.0, -500.0, 10_950.0, 43_800.0, 900_000.0])
    got = recency_secmsa(at - ages_h * HOUR, at)
    assert got == pytest.approx([1.0, 1.0, np.exp(-1), np.exp(-4), 0.01])


def test_secmsas_constants_can_be_set():
    assert recency_secmsa(
        np.array([0.0]), 100 * HOUR, max_age_hours=200, half_life_factor=2
    ) == pytest.approx([np.exp(-1)])


def test_half_life_recency_halves_every_thirty_days():
    at = 90 * 24 * HOUR
    days = np.array([0.0, 30.0, 60.0, -3.0])
    assert recency_half_life(at - days * 24 * HOUR, at) == pytest.approx([1.0, 0.5, 0.25, 1.0])


def test_an_unknown_time_has_no_age():
    unknown = np.array([np.nan])
    assert recency_secmsa(unknown, 1e9) == pytest.approx([1.0])
    assert recency_half_life(unknown, 1e9) == pytest.approx([1.0])
    assert importances_at(np.array([0.7]), unknown, 1e9) == pytest.approx([0.7])
