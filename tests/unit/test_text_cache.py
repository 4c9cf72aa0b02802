"""What is kept of texts that were read: within bounds, as numbers, or until it has to
be forgotten.
"""

from __future__ import annotations

import sys

from memory_core.domain.statements.change_messages import read
from memory_core.domain.text.excerpts import _READ, AHEAD_CHARACTERS, read_ahead
from memory_core.domain.text.text_cache import CachedNumbers, forget_texts, keep_texts


def test_the_least_used_number_goes_first_once_there_are_too_many() -> None:
    numbers = CachedNumbers[int](10)
    numbers.put("boat", value=1, size=4)
    numbers.put("cabin", value=2, size=4)
    assert numbers.get("boat") == 1
    numbers.put("deck", value=3, size=4)
    assert (numbers.get("boat"), numbers.get("cabin"), numbers.get("deck")) == (1, None, 3)
    assert numbers.size == 8


def test_a_number_that_is_put_again_takes_the_place_of_the_one_before() -> None:
    numbers = CachedNumbers[int](10)
    for value in range(5):
        numbers.put("boat", 7, value=value, size=4)
    assert (numbers.get("boat", 7), numbers.get("boat", 8), numbers.get("boat"), numbers.size) == (
        4,
        None,
        None,
        4,
    )


def test_no_text_is_held_by_the_numbers_that_stand_for_it() -> None:
    numbers = CachedNumbers[int](10)
    text = "".join(("a boat", " with a cabin"))
    before = sys.getrefcount(text)
    numbers.put(text, value=1)
    assert sys.getrefcount(text) == before


def test_texts_that_a_function_was_asked_for_are_forgotten_at_once() -> None:
    calls = []

    @keep_texts(4)
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    assert length("boat") == length("boat") == 4
    forget_texts()
    assert length("boat") == 4
    assert calls == ["boat", "boat"]


def test_a_message_read_before_is_read_anew_after_all_was_forgotten() -> None:
    message = read("My flight is on the 14th.")
    assert read("My flight is on the 14th.") is message
    forget_texts()
    assert read("My flight is on the 14th.") is not message


def test_a_long_text_is_read_before_it_is_asked_for_and_a_short_one_is_not() -> None:
    _READ.forget()
    read_ahead("I keep a boat.")
    assert _READ.size == 0
    read_ahead("I keep a boat. Its cabin is dry. " * (AHEAD_CHARACTERS // 10))
    assert _READ.size > 0
