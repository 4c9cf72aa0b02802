"""The record of filled slots: it never denies one, and rarely claims one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.truth.slots import marked, same_value, slot_of, value_form, with_marks
from tests.builders import memory

slots = st.tuples(st.text(max_size=20), st.text(max_size=20))


@given(st.lists(slots, max_size=30), st.lists(slots, max_size=30))
def test_a_slot_that_was_filled_is_never_denied(
    first: list[tuple[str, str]], second: list[tuple[str, str]]
) -> None:
    marks = with_marks(with_marks("", first), second)
    assert all(marked(marks, slot) for slot in first + second)


@given(st.lists(slots, max_size=30))
def test_marks_do_not_depend_on_order_or_repetition(filled: list[tuple[str, str]]) -> None:
    marks = with_marks("", filled)
    assert with_marks("", reversed(filled)) == marks
    assert with_marks(marks, filled) is marks


def test_no_marks_claim_nothing_and_weigh_nothing() -> None:
    assert with_marks("", []) == ""
    assert not marked("", ("ana", "city"))


def test_of_slots_that_were_never_filled_few_are_taken_for_filled() -> None:
    marks = with_marks("", ((f"subject {number}", "home") for number in range(500)))
    claimed = sum(marked(marks, (f"another {number}", "home")) for number in range(10_000))
    assert claimed < 60  # 22 by the formula
    assert len(marks) < 1400


def test_where_subject_ends_and_attribute_begins_matters() -> None:
    assert not marked(with_marks("", [("ab", "c")]), ("a", "bc"))


def test_a_slot_is_a_subject_and_an_attribute_whatever_their_case() -> None:
    assert slot_of(memory(subject="ANN Straße", attribute="Home")) == ("ann strasse", "home")
    assert slot_of(memory(subject="Ann")) is None


def test_a_name_is_one_however_its_letters_are_composed() -> None:
    composed, decomposed = (
        memory(subject="Zo\u00eb", attribute="caf\u00e9"),
        memory(subject="ZOE\u0308", attribute="cafe\u0301"),
    )
    assert slot_of(composed) == slot_of(decomposed) == ("zo\u00eb", "caf\u00e9")


@pytest.mark.parametrize(
    ("value", "other", "same"),
    [
        ("Berlin", "berlin", True),
        ("nurse", "a nurse", True),
        ("Berlin", "Bonn", False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        (True, 1, False),
        ("Berlin", {"no_longer": "Berlin"}, False),
        ({"no_longer": "Berlin"}, {"no_longer": "berlin"}, True),
        ("Berlin", None, False),
    ],
)
def test_values_of_a_slot_are_equal_as_its_log_compares_them(
    value: object, other: object, same: bool
) -> None:
    first, second = (memory(value=each) for each in (value, other))
    assert same_value(first, second) is same
    assert same_value(second, first) is same


def test_a_copy_has_the_value_of_its_original_and_a_form_of_its_own() -> None:
    original = memory(value="Berlin")
    copied = original.changed(copied_from=original.id, agent_id="other")
    assert same_value(original, copied)
    assert value_form(original) != value_form(copied)
