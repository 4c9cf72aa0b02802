"""A short year of daily chats on the stores of this machine, told and asked as `bench.year` does,
and what faded memories cost.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bench.year import cost, daily
from bench.year.lived import Lived, embedded, live
from bench.year.lives import MONTHS, Life
from bench.year.report import Told, recall, verdicts

HOURS_A_MONTH = 730


async def year(life: Life, folder: Path) -> Lived:
    return await live(life, embedded(folder, "hash"))


@pytest.fixture(scope="module")
def life() -> Life:
    return daily.life(every_days=12)


@pytest.fixture(scope="module")
def lived(life: Life, tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """The year, once for all that look at it."""
    return asyncio.run(year(life, tmp_path_factory.mktemp("year")))


def test_a_year_is_told_and_asked_month_by_month_and_idle_hours_are_skipped(
    life: Life, lived: Lived
) -> None:
    assert lived.months[-1].turns == sum(len(chat.turns) for chat in life.chats)
    for month in range(MONTHS):
        figures, of = recall([Told(lived)], month), lived.months[month]
        assert figures.now is not None
        assert figures.now > 0.9
        assert figures.peer_beginning is not None
        assert figures.words is not None
        assert 0 < of.hours < HOURS_A_MONTH / 10
        assert min(of.run_requests, of.run_units, of.telling_requests, of.telling_units) > 0
    for kind in ("turns", "documents", "stored"):
        counted = [getattr(of, kind) for of in lived.months]
        assert counted == sorted(counted)


def test_the_beginning_of_a_year_is_found_as_well_as_its_last_month(lived: Lived) -> None:
    beginning = verdicts([Told(lived, even=True)])[0]
    assert beginning.broken == []


async def test_asking_leaves_no_trace_in_the_life_that_is_asked_about(tmp_path: Path) -> None:
    life = daily.life(every_days=10).first_months(1, "silent")
    asked, unasked = (
        await year(life, tmp_path / "asked"),
        await year(replace(life, questions=[]), tmp_path / "unasked"),
    )
    assert asked.answers
    assert not unasked.answers
    assert [of.faded for of in asked.months] == [of.faded for of in unasked.months]
    assert asked.months[-1].faded > 0


async def test_a_life_that_has_nothing_left_to_fade_costs_nothing(tmp_path: Path) -> None:
    lived = await year(daily.life(every_days=10).first_months(1, "silent"), tmp_path / "silent")
    last = lived.months[-1]
    assert (last.hours, last.run_requests, last.telling_requests) == (0, 0, 0)


async def test_users_with_and_without_faded_memories_are_asked_the_same(tmp_path: Path) -> None:
    asked = {row.user: row for row in await cost.faded_beside_active(tmp_path, 300, 5)}
    faded, active, fresh = asked[cost.FADED], asked[cost.ACTIVE], asked[cost.FRESH]
    assert (faded.memories, active.memories, fresh.memories) == (300, 300, 30)
    assert (faded.decayed, active.decayed, fresh.decayed) == (270, 0, 0)
    assert faded.queries == active.queries == fresh.queries == 5
    assert min(row.candidates for row in asked.values()) > 0
    assert min(row.units for row in asked.values()) > 0


async def test_an_idle_users_months_are_counted_apart_from_the_month_of_telling(
    tmp_path: Path,
) -> None:
    told_month, first = await cost.idle(tmp_path, 1, every_days=15, tick=timedelta(hours=6))
    assert (told_month.month, first.month) == (0, 1)
    assert told_month.requests > 0
    assert told_month.hours > 0
