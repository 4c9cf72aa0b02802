"""What holds when, of drawn logs: against the tables applied to single moments, and what must be true of every timeline."""

from __future__ import annotations

from random import Random

import pytest

from memory_core.domain.truth.entries import Entry
from memory_core.domain.truth.resolve import resolve
from tests.truth_by_moments import Grid
from tests.truth_logs import MAX_ACTS, MOMENTS, drawn, log_of


def differences(log: list[Entry], known_at: int | None = None) -> list[str]:
    timeline, grid, made = resolve(log, known_at), Grid(log, MOMENTS, known_at), list[str]()
    for moment in MOMENTS:
        at = timeline.at(moment)
        values = sorted(one.value for one in at if one.value is not None)
        retractions = [one.memory_id for one in at if one.value is None]
        retraction = grid.retraction(moment)
        if values != grid.values(moment):
            made.append(f"{moment:%d.%m.}: {values}, by the tables {grid.values(moment)}")
        elif retractions != ([] if retraction is None or retraction.startswith("forgotten") else [retraction]):
            made.append(f"{moment:%d.%m.}: {retractions}, by the tables {retraction}")
    return made


def check(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        log = log_of(drawn(random, random.randint(1, MAX_ACTS)))
        known_at = random.choice([None, random.randint(0, MAX_ACTS)])
        assert not differences(log, known_at), f"seed {seed}, known at {known_at}"


@pytest.mark.parametrize("part", range(4))
def test_of_drawn_logs_every_moment_is_as_the_tables_say(part: int) -> None:
    check(range(part * 250, part * 250 + 250))
