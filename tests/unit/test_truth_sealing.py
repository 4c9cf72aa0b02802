"""A log of which the oldest part is sealed: it tells the same of all that is not frozen,
until an entry reaches back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.domain.truth.entries import Account, Assertion, Entry, Statement
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.sealing import (
    Seal,
    reaches_back,
    seal_oldest,
    sealed_timeline_of,
    suffices,
)
from memory_core.domain.truth.timeline import Reference, Timeline
from memory_core.evolution.truth_projection import Projection
from tests.truth_logs import FIRST, MAX_ACTS, NUMBERS, Act, after, day, drawn, log_of, projections

number = st.integers(0, NUMBERS - 1)
drawn_settings = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)
NOW = day(FIRST + MAX_ACTS + 1)
Told = dict[Reference, Projection]


def names(entries: Sequence[Entry]) -> set[str]:
    return {entry.memory_id for entry in entries if isinstance(entry, Statement)}


def told(timeline: Timeline) -> Told:
    return projections(timeline, NOW)


def untold(timeline: Timeline, whole: Told) -> Told:
    """What a sealed timeline says nothing of; all else is as the whole one says."""
    here = told(timeline)
    assert {name: projection for name, projection in whole.items() if name in here} == here
    return {name: projection for name, projection in whole.items() if name not in here}


def check(acts: Sequence[Act], sealed_after: int, keep: int) -> int:
    """How many acts a sealed log was enough for."""
    log = log_of(acts[:sealed_after])
    last = max((entry.sequence for entry in log), default=0)
    sealed = seal_oldest(log, keep, last)
    if sealed is None:
        return 0
    seal, part, rest = sealed
    assert sorted([*part, *rest], key=lambda entry: entry.place) == sorted(
        log, key=lambda entry: entry.place
    )
    away = names(part) - names(rest)
    frozen, enough = untold(sealed_timeline_of(Account.of(rest), seal), told(resolve(log))), 0
    for place, act in enumerate(acts[sealed_after:], len(acts[:sealed_after]) + 1):
        log = after(log, act, place)
        added = [entry for entry in log if entry.sequence > last]
        if reaches_back(seal, rest, added) or away & names(added):
            break
        timeline = sealed_timeline_of(Account.of([*rest, *added]), seal)
        if not suffices(seal, timeline):
            break
        enough += 1
        assert untold(timeline, told(resolve(log))) == frozen
        again = seal_oldest([*rest, *added], keep, place, seal)
        if again is not None:
            assert (
                untold(
                    sealed_timeline_of(Account.of(again[2]), again[0]), told(resolve(log))
                ).items()
                >= frozen.items()
            )
    return enough


@drawn_settings
@given(
    st.lists(st.tuples(st.integers(0, 25), number, number, number), min_size=4, max_size=MAX_ACTS),
    st.integers(2, MAX_ACTS),
    st.integers(1, 20),
)
def test_what_is_sealed_is_missed_only_where_an_entry_reaches_back(
    acts: list[Act], sealed_after: int, keep: int
) -> None:
    check(acts, sealed_after, keep)


def test_many_acts_on_drawn_logs_do_without_what_is_sealed() -> None:
    enough = 0
    for seed in range(400):
        random = Random(seed)
        acts = [act for act in drawn(random, MAX_ACTS) if act[0] <= 25]
        enough += check(acts, random.randint(2, MAX_ACTS), random.randint(1, 20))
    assert enough > 40


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_drawn_logs_what_is_sealed_is_missed_only_where_an_entry_reaches_back(
    part: int,
) -> None:
    for seed in range(part * 3000, part * 3000 + 3000):
        random = Random(seed)
        acts = [act for act in drawn(random, MAX_ACTS) if act[0] <= 25]
        check(acts, random.randint(2, MAX_ACTS), random.randint(1, 20))


@pytest.mark.parametrize(
    "name_of",
    [lambda n: f"m{n}", lambda n: f"m{n % 2}", lambda n: "m"],
    ids=["each another", "two in turn", "always the same"],
)
def test_a_log_that_is_sealed_again_and_again_never_grows(name_of: object) -> None:
    log, seal, parts = list[Entry](), None, list[Entry]()
    for place in range(1, 1001):
        name = name_of(place)  # type: ignore[operator]
        moment = day(1) + timedelta(hours=place)
        log.append(
            Assertion(
                sequence=place, memory_id=name, value=name, asserted_at=moment, valid_from=moment
            )
        )
        if len(log) > 200:
            made = seal_oldest(log, 100, place, seal)
            assert made is not None
            seal, part, log = made
            parts += part
            now = day(100)
            whole = projections(resolve([*parts, *log]), now)
            for name, projection in projections(
                sealed_timeline_of(Account.of(log), seal), now
            ).items():
                assert whole[name] == projection
    assert isinstance(seal, Seal)
    assert len(log) <= 200
