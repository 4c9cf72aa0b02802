"""Repeats that a log can do without: what it shows stays, and a memory that is told daily does not make it long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memory_core.domain.truth import operations
from memory_core.domain.truth.entries import Assertion, Entry, Withdrawal
from memory_core.domain.truth.repeats import MAX_IN_A_ROW, rows, surplus, without_surplus_repeats
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import project
from tests.truth_logs import FIRST, KINDS, MAX_ACTS, NUMBERS, Act, day, log_of

number = st.integers(0, NUMBERS - 1)
NOW = day(FIRST + 400)


def told(times: int, value: str = "Oslo", first: int = 1, memory_id: str = "m1") -> list[Entry]:
    return [
        Assertion(sequence=first + n, memory_id=memory_id, value=value, asserted_at=day(first + n), valid_from=day(first + n))
        for n in range(times)
    ]


def test_of_a_row_of_repeats_the_first_and_the_latest_are_kept() -> None:
    log = told(100)
    assert without_surplus_repeats(log, NOW) == [log[0], *log[-MAX_IN_A_ROW + 1 :]]


def test_a_log_without_a_long_row_is_kept_as_it_is() -> None:
    log = [*told(30), *told(30, "Bergen", 31, "m2"), *told(30, first=61)]
    assert without_surplus_repeats(log, NOW) is log


def test_a_repeat_that_says_since_before_stays() -> None:
    log = told(100)
    log[50] = replace(log[50], valid_from=day(-30))  # type: ignore[call-arg]
    kept = without_surplus_repeats(log, NOW)
    assert log[50] in kept
    assert resolve(kept).intervals[0].begins == day(-30)


def test_repeats_that_another_entry_names_stay() -> None:
    log = told(100)
    withdrawn = [*log, Withdrawal(sequence=200, places=(log[50].place, log[51].place))]
    kept = without_surplus_repeats(withdrawn, NOW)
    assert {log[50].place, log[51].place} <= {one.place for one in kept}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, KINDS - 1), number, number, number), min_size=2, max_size=MAX_ACTS), number, number)
def test_what_is_said_or_deleted_later_shows_the_same_without_them(acts: Sequence[Act], choice: int, back: int) -> None:
    drawn = log_of(acts)
    plain = [one for one in drawn if isinstance(one, Assertion) and one.valid_until is None and one.edits is None]
    assume(plain)
    said = plain[choice % len(plain)]
    log = [*drawn, *(replace(said, part=n, asserted_at=said.asserted_at + timedelta(hours=n)) for n in range(101, 107))]
    gone = {one.place for row in rows(log) for one in surplus(row, 3)}
    shorter = [one for one in log if one.place not in gone]
    assume(project(resolve(shorter), NOW) == project(resolve(log), NOW))
    later = Assertion(sequence=500, memory_id="new", value="new", asserted_at=NOW, valid_from=NOW - timedelta(days=390 + back))
    assert project(resolve([*shorter, later]), NOW) == project(resolve([*log, later]), NOW)
    for name in {one.memory_id for one in log if isinstance(one, Assertion)}:
        deleted = operations.delete(name, 501)
        assert project(resolve([*shorter, *deleted]), NOW) == project(resolve([*log, *deleted]), NOW)
