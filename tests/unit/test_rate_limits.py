"""Rates of requests: what a bucket lets in, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.rate_limits import Bucket, Rate, Spent, spend
from memory_core.functions.responses import rate_headers

KEY = Bucket("key", "k1", Rate(3, 60))
APP = Bucket("app", "shop", Rate(4, 60))


def spend_at(moments: Sequence[float], *buckets: Bucket) -> list[Spent]:
    """What becomes of requests at these moments, in seconds."""
    full_at: dict[str, float] = {}
    answers = []
    for moment in moments:
        moved, spent = spend(full_at, buckets, moment)
        full_at |= moved
        answers.append(spent)
    return answers


def test_all_requests_of_a_rate_may_come_at_once_and_then_one_by_one() -> None:
    answers = spend_at([0, 0, 0, 0, 19, 20, 20], KEY)
    assert [spent.refused for spent in answers] == [False, False, False, True, True, False, True]
    assert [spent.levels[0].remaining for spent in answers] == [2, 1, 0, 0, 0, 0, 0]
    assert [spent.retry_after_s for spent in answers if spent.refused] == [20, 1, 20]


def test_a_clock_that_is_set_back_leaves_no_bucket_empty_for_longer_than_its_rate() -> None:
    answers = spend_at([10_000] * 4 + [0] * 4, KEY)
    assert [spent.refused for spent in answers] == [False, False, False, True] * 2


def test_a_request_that_one_limit_refuses_takes_nothing_of_the_other() -> None:
    answers = spend_at([0, 0, 0, 0, 0], KEY, APP)
    assert [[level.remaining for level in spent.levels] for spent in answers] == [
        [2, 3],
        [1, 2],
        [0, 1],
        [0, 1],
        [0, 1],
    ]
    assert [spent.refused for spent in answers] == [False, False, False, True, True]


@given(
    st.integers(1, 20),
    st.sampled_from([1, 60, 3600]),
    st.lists(st.integers(0, 10_000).map(lambda tenths: tenths / 10), max_size=80).map(sorted),
)
def test_no_while_lets_in_more_than_a_full_bucket_and_what_flows_in_meanwhile(
    requests: int, seconds: int, moments: list[float]
) -> None:
    bucket = Bucket("key", "k1", Rate(requests, seconds))
    let_in = [
        moment
        for moment, spent in zip(moments, spend_at(moments, bucket), strict=True)
        if not spent.refused
    ]
    for place, begin in enumerate(let_in):
        for end in let_in[place:]:
            count = sum(begin <= moment <= end for moment in let_in)
            assert count <= requests + (end - begin) * requests / seconds + 1e-6


@given(st.integers(1, 1000), st.sampled_from([1, 60, 3600]), st.integers(1, 2000))
def test_after_the_time_that_a_refusal_names_there_is_room(
    requests: int, seconds: int, tries: int
) -> None:
    bucket = Bucket("key", "k1", Rate(requests, seconds))
    full_at: dict[str, float] = {}
    for _ in range(tries):
        moved, spent = spend(full_at, [bucket], 0.0)
        full_at |= moved
    assert not spend(full_at, [bucket], float(spent.retry_after_s))[1].refused


def test_the_headers_name_every_limit_and_what_it_has_left() -> None:
    (spent,) = spend_at([0], KEY, APP)
    assert rate_headers(spent) == {
        "RateLimit-Policy": '"key";q=3;w=60, "app";q=4;w=60',
        "RateLimit": '"key";r=2;t=20, "app";r=3;t=15',
    }
    assert rate_headers(None) == {}


@pytest.mark.parametrize(
    "text", ["", "600", "0/minute", "-1/second", "1/fortnight", "1e3/minute", "99999999999/day"]
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="600/minute"):
        Rate.read(text)


def test_a_rate_is_read_in_any_case_and_with_blanks() -> None:
    assert [Rate.read(text) for text in ("600/minute", " 5 / Second", "1/day")] == [
        Rate(600, 60),
        Rate(5, 1),
        Rate(1, 86_400),
    ]
