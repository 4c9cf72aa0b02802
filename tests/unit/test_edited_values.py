"""The value of a memory whose text is edited without a value."""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.domain.memory import MemoryType, text_of_value
from memory_core.evolution.versions import value_for
from tests.builders import memory


@pytest.mark.parametrize(
    ("before", "value", "after", "expected"),
    [
        ("User works at Siemens", "Siemens", "User works at Bosch", "Bosch"),
        ("User works at siemens", "Siemens", "User works at Bosch", "Bosch"),
        ("User wants the dark theme", "dark", "User wants the light theme", "light"),
        ("Userは東京に住んでいる", "東京", "Userは大阪に住んでいる", "大阪"),
        ("User works at Siemens", "Siemens", "User works at Siemens AG", "Siemens"),
        ("User works at Siemens", "Siemens", "Siemens employs User", "Siemens"),
        ("User works at Siemens", "Siemens", "Bosch employs User", None),
        ("User works at Ann", "Ann", "User works at Anna", "Anna"),
        ("User works at Siemens", "Siemens", "User works at", None),
        ("a note in other words", "Siemens", "yet another note", "Siemens"),
        ("User works at Siemens", None, "User works at Bosch", None),
        ("User has 3 cats", 3, "User has 4 cats", 3),
        ("no longer Berlin", {"no_longer": "Berlin"}, "Berlin is over", {"no_longer": "Berlin"}),
        ("Straße ẞ", "ẞ", "Straße x", None),
    ],
)
def test_a_value_that_left_the_text_is_read_anew_or_is_none(
    before: str, value: Any, after: str, expected: Any
) -> None:
    assert value_for(after, memory(before, type=MemoryType.SEMANTIC, value=value)) == expected


@pytest.mark.parametrize(
    ("value", "after", "expected"),
    [
        ("dark", "theme: dark, always", "dark"),
        ("dark", "User wants the light theme", None),
        ({"a": 1}, "a is two by now", None),
        ({"a": 1}, 'limits: {"a":1}', {"a": 1}),
    ],
)
def test_a_text_that_repeated_its_value_keeps_it_where_it_says_it(
    value: Any, after: str, expected: Any
) -> None:
    text = text_of_value(value)
    old = memory(
        f"limits: {text}", type=MemoryType.PROCEDURAL, key="limits", value=value, value_text=text
    )
    assert value_for(after, old) == expected
