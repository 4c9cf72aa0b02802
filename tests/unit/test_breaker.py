"""The circuit breaker, on a clock that only moves when told to."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.breaker import Breaker
from tests.memories import MovableClock


def breaker(clock: MovableClock) -> Breaker:
    return Breaker(clock, failures=3, rest=timedelta(seconds=2))


def test_it_stays_closed_under_fewer_failures_than_the_limit() -> None:
    circuit = breaker(MovableClock())
    circuit.failed()
    circuit.failed()
    assert (circuit.state, circuit.allow(), circuit.failing) == ("closed", True, True)
    circuit.succeeded()
    assert not circuit.failing


def test_only_failures_in_a_row_count() -> None:
    circuit = breaker(MovableClock())
    for _ in range(10):
        circuit.failed()
        circuit.failed()
        circuit.succeeded()
    assert circuit.state == "closed"


def test_it_opens_at_the_limit_and_refuses() -> None:
    circuit = breaker(MovableClock())
    for _ in range(3):
        circuit.failed()
    assert (circuit.state, circuit.allow()) == ("open", False)


def test_after_its_rest_one_probe_passes_and_the_others_wait_for_it() -> None:
    clock = MovableClock()
    circuit = breaker(clock)
    for _ in range(3):
        circuit.failed()
    clock.advance(seconds=2)
    assert circuit.state == "half_open"
    assert [circuit.allow() for _ in range(3)] == [True, False, False]
    circuit.succeeded()
    assert (circuit.state, circuit.allow(), circuit.allow()) == ("closed", True, True)


def test_a_failed_probe_opens_it_for_another_rest() -> None:
    clock = MovableClock()
    circuit = breaker(clock)
    for _ in range(3):
        circuit.failed()
    clock.advance(seconds=2)
    assert circuit.allow()
    circuit.failed()
    assert not circuit.allow()
    clock.advance(seconds=1.9)
    assert not circuit.allow()
    clock.advance(seconds=0.1)
    assert circuit.allow()


def test_a_probe_that_never_reports_is_forgotten() -> None:
    clock = MovableClock()
    circuit = breaker(clock)
    for _ in range(3):
        circuit.failed()
    clock.advance(seconds=2)
    assert [circuit.allow(), circuit.allow()] == [True, False]
    clock.advance(seconds=2)
    assert [circuit.allow(), circuit.allow()] == [True, False]


def test_a_clock_that_is_set_back_ends_the_rest_and_forgets_the_probe() -> None:
    clock = MovableClock()
    circuit = breaker(clock)
    for _ in range(3):
        circuit.failed()
    clock.advance(seconds=-10_000)
    assert (circuit.state, circuit.allow(), circuit.allow()) == ("half_open", True, False)
    clock.advance(seconds=-10_000)
    assert circuit.allow()


@given(st.lists(st.sampled_from(["fail", "succeed", "wait"]), max_size=60))
def test_whatever_happened_a_success_closes_it_and_a_rest_lets_one_call_pass(
    steps: list[str],
) -> None:
    clock = MovableClock()
    circuit = breaker(clock)
    for step in steps:
        if step == "wait":
            clock.advance(seconds=1)
        elif circuit.allow():
            circuit.failed() if step == "fail" else circuit.succeeded()
        assert (circuit.state == "closed") or circuit.failing
    clock.advance(seconds=2)
    assert circuit.allow()
    circuit.succeeded()
    assert circuit.state == "closed"
