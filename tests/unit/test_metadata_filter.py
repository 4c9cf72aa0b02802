"""What a filter on metadata may say, and what it means for one memory."""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.domain.metadata_filter import matches, read_conditions
from memory_core.domain.requests.memories import ListInput

METADATA = {
    "team": "red",
    "score": 4.5,
    "done": True,
    "nothing": None,
    "a": {"b": {"c": 1}},
    "list": [1],
    "one": 1,
    "a.b": 2,
    "v": {"1.0": "x"},
}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, True),
        ({"team": "red"}, True),
        ({"team": "blue"}, False),
        ({"a.b.c": 1}, True),
        ({"a.b.c": 1.0}, True),
        ({"a.b.d": 1}, False),
        ({"a\\.b": 2}, True),
        ({"a\\.b.c": 1}, False),
        ({"v.1\\.0": "x"}, True),
        ({"list.b": None}, True),
        ({"one": True}, False),
        ({"done": 1}, False),
        ({"one": "1"}, False),
        ({"nothing": None}, True),
        ({"absent": None}, True),
        ({"team": {"ne": None}}, True),
        ({"absent": {"ne": "red"}}, True),
        ({"one": {"ne": "1"}}, True),
        ({"score": {"gt": 4, "lte": 4.5}}, True),
        ({"score": {"lt": 4.5}}, False),
        ({"team": {"gte": "pink"}}, True),
        ({"team": {"gte": 1}}, False),
        ({"team": {"in": ["blue", "red"]}}, True),
        ({"absent": {"in": [None, 1]}}, True),
        ({"team": {"eq": "red"}, "done": True}, True),
        ({"list": {"ne": 1}}, True),
    ],
)
def test_a_filter_means_the_same_type_and_value(wanted: Any, expected: bool) -> None:
    assert matches(read_conditions(wanted), METADATA) is expected


@pytest.mark.parametrize(
    "wanted",
    [
        {'a"]': 1}, {"": 1}, {"a..b": 1}, {"a b": 1}, {"x" * 65: 1}, {"a": {}},
        {"a": {"like": "x"}}, {"a": [1]}, {"a": {"gt": True}}, {"a": {"gt": None}},
        {"a": {"in": []}}, {"a": {"in": "abc"}}, {"a": {"in": [[1]]}}, {"a": "x" * 501},
        {"a": 2**53 + 1}, {"a": 2**70}, {"a": float(2**70)},
        {"a": {"lt": float("nan")}}, {"a\\": 1}, {"a\\b": 1}, {"a\\..b.": 1}, {"a": "\x00"},
        {f"a{number}": 1 for number in range(21)}, [1], "no JSON", {"a": {"eq": {"b": 1}}},
        {"a\n": 1},
    ],
)  # fmt: skip
def test_what_a_filter_can_not_say_is_refused(wanted: Any) -> None:
    with pytest.raises(ValueError, match="metadata"):
        ListInput.model_validate({"metadata": wanted})


def test_in_a_query_string_it_is_json() -> None:
    assert ListInput.model_validate({"metadata": '{"team": "red"}'}).metadata == read_conditions(
        {"team": "red"}
    )
