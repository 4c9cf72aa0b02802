"""What the chaos run takes from a host's log: workers that ended by themselves, and those that
could not start.
"""

from __future__ import annotations

import pytest

from bench.chaos_servers import ended_workers

REFUSAL = "Memory Core did not start: a store is down"


def ended(pid: int, how: str) -> str:
    return f"Worker 2 of 2 (process {pid}) {how}; another one takes its place."


@pytest.mark.parametrize("how", ["was ended by signal 9", "ended with code 0", "ended with code 1"])
def test_a_worker_that_nobody_killed_has_crashed(how: str) -> None:
    line = ended(7, how)
    assert ended_workers(f"Stop with Ctrl+C.\n{line}\n", {70}) == ([line], 0)


def test_a_worker_that_was_killed_on_purpose_has_not_crashed() -> None:
    assert ended_workers(ended(7, "was ended by signal 9"), {7}) == ([], 0)


def test_a_worker_that_says_why_it_can_not_start_has_refused() -> None:
    line = ended(8, "ended with code 1")
    log = "\n".join([ended(7, "was ended by signal 9"), REFUSAL, line])
    assert ended_workers(log, {7}) == ([], 1)


def test_a_refusal_excuses_one_worker() -> None:
    lines = [ended(pid, "ended with code 1") for pid in (7, 8)]
    assert ended_workers("\n".join([REFUSAL, *lines]), set()) == ([lines[1]], 1)


def test_a_signal_is_a_crash_although_another_worker_refused() -> None:
    line = ended(7, "was ended by signal 11")
    assert ended_workers(f"{REFUSAL}\n{line}", set()) == ([line], 0)
