"""When a task is free, due and overdue, by its own words and the clock that wrote them."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.conversation import Task
from memory_core.domain.skew import MAX_SKEW
from memory_core.tasks.control import overdue
from memory_core.tasks.leases import due_at, is_leased, leased_until
from tests.builders import NOW

LENGTH = timedelta(seconds=90)
MOMENT = timedelta(microseconds=1)
spans = st.timedeltas(timedelta(0), timedelta(days=3))


def task(written_at: datetime, **fields: object) -> Task:
    """A task that a clock wrote at a moment of its own."""
    return Task.model_validate({
        "task_id": "tsk_1", "kind": "converse", "subject_id": "cnv_1", "created_at": written_at,
        "updated_at": written_at, **fields,
    })  # fmt: skip


def leased(written_at: datetime) -> Task:
    return task(written_at, leased_until=written_at + LENGTH, leased_by="lea_1")


def test_a_lease_holds_for_its_length_and_no_longer() -> None:
    assert is_leased(leased(NOW), NOW + LENGTH - MOMENT)
    assert not is_leased(leased(NOW), NOW + LENGTH)
    assert not is_leased(task(NOW), NOW)


def test_a_lease_by_a_clock_a_minute_ahead_holds_and_one_further_ahead_does_not() -> None:
    assert leased_until(leased(NOW + MAX_SKEW), NOW) == NOW + MAX_SKEW + LENGTH
    assert not is_leased(leased(NOW + MAX_SKEW + MOMENT), NOW)


@given(spans)
def test_no_clock_makes_a_lease_last_longer_than_its_length_and_a_minute(ahead: timedelta) -> None:
    assert leased_until(leased(NOW + ahead), NOW) <= NOW + LENGTH + MAX_SKEW


@given(spans, spans)
def test_no_clock_makes_a_task_wait_longer_than_it_was_told_to(
    ahead: timedelta, delay: timedelta
) -> None:
    put_off = task(NOW + ahead, next_enqueue_at=NOW + ahead + delay)
    assert NOW <= due_at(put_off, NOW) <= NOW + delay


def test_a_task_is_overdue_when_its_message_is_late_or_a_wrong_clock_wrote_it() -> None:
    sent = task(NOW, next_enqueue_at=NOW)
    assert not overdue(sent, NOW + timedelta(minutes=1))
    assert overdue(sent, NOW + timedelta(minutes=1) + MOMENT)
    assert not overdue(leased(NOW + MAX_SKEW), NOW)
    assert overdue(leased(NOW + MAX_SKEW + MOMENT), NOW)
