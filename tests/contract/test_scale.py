"""The simulation of many users: the same by its seed, its fan-out the real one's;
and a user with a long log, brought in at once.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from bench.counted import CountedQueue, CountedStore, kind_of
from bench.day import MOST_A_DAY, day, owner, rates
from bench.loads import PRICES, TIMES, Assumed, dollars, load_of
from bench.ticks import tick
from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.data_rights.export_format import document_of
from memory_core.tasks import leases
from memory_core.tasks.operations import RUN_REPORT_KEPT_FOR
from tests.builders import ALICE, NOW, batch
from tests.runs import QUEUE, hour, runs
from tests.tasks import Hand
from tests.world import BOB, World, turn

ON_SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
ASSUMED = Assumed(PRICES, TIMES)


async def test_two_days_of_one_seed_are_equal_and_of_another_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # by real time, a running task would look at itself without end
    monkeypatch.setattr(leases, "LOOK_S", 0.0)
    first, second, other = [
        await day(tmp_path / name, 5, 1.0, seed, 64)
        for name, seed in (("a", 3), ("b", 3), ("c", 4))
    ]
    assert first == second
    assert first != other
    assert first.runs == sum(first.due) > 0
    assert await load_of(100_000, first, ASSUMED) == await load_of(100_000, second, ASSUMED)


async def test_what_a_day_costs_grows_with_its_users_and_with_each_price(tmp_path: Path) -> None:
    lived = await day(tmp_path, 8, 1.0, 3, 64)
    idle, few, many = [await load_of(users, lived, ASSUMED) for users in (0, 1_000, 1_000_000)]
    assert (idle.runs, idle.requests, idle.messages) == (0, 0, 24)
    assert many.talk_units == pytest.approx(1000 * few.talk_units)
    assert many.ranges > few.ranges == 1
    free = Assumed(
        {**PRICES, "prompt_million": 0, "completion_million": 0, "embedded_million": 0}, TIMES
    )
    assert dollars(many, free)["models"] == 0 < dollars(many, ASSUMED)["models"]


def test_rates_have_the_mean_and_the_tail_of_a_power_law() -> None:
    for users in (10, 1_000):
        drawn = rates(users, 1.0)
        assert sum(drawn) == pytest.approx(users)
        assert drawn == sorted(drawn, reverse=True)
    assert sum(drawn[:200]) > 0.5 * sum(drawn)
    assert drawn[0] < 3 * MOST_A_DAY


@ON_SQLITE
@pytest.mark.parametrize("users", [0, 7, 1_005])
async def test_the_simulated_fan_out_sends_what_the_real_one_does(world: World, users: int) -> None:
    counts = Counter[str]()
    queue = CountedQueue(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"), counts
    )
    core = await world.core(wrap=lambda inner: CountedStore(inner, counts), queue=queue)
    store = await world.look_on()
    for number in range(users):
        await store.commit(owner(number), batch(None, head={"due_at": NOW}))
    await core.fan_out()
    hand, worked = Hand(core, QUEUE), 0
    while worked < counts["message.consolidation.range"]:
        for delivery in await hand.take():
            if kind_of(delivery.body) == "range":
                await hand.work(delivery)
                worked += 1
    ticked = await tick(1, users, timedelta(0))
    assert (counts["message.consolidation.range"], counts["message.consolidation.user"]) == (
        ticked.ranges,
        ticked.users,
    )
    assert (counts["due"], ticked.users) == (ticked.pages, users)


@ON_SQLITE
async def test_a_long_log_that_was_brought_in_is_settled_run_after_run_at_a_cost_that_grows_with_it(
    world: World,
) -> None:
    counts = Counter[str]()
    core = await world.core(wrap=lambda inner: CountedStore(inner, counts), upkeep_cap=10_000)
    calls = []
    for owners, many in ((ALICE, 200), (BOB, 600)):
        for start in range(0, many, 100):
            await core.bulk(
                owners,
                [
                    turn(f"the {start + place}th walk in the rain", f"s{start}")
                    for place in range(100)
                ],
            )
        counts.clear()
        await hour(core)
        calls.append(sum(counts.values()))
        (run,) = await runs(core, [owners])
        assert run.status == "succeeded"
        scenes = await core.scenes(owners, limit=100)
        assert max(scene.count for scene in scenes.scenes) <= core.settings.scene_cells + 1
        assert sum(scene.count for scene in scenes.scenes) == many
    assert calls[1] < 3.5 * calls[0]


def test_the_report_of_a_run_goes_where_it_is_brought_when_it_would_have_gone_where_it_was_made() -> (  # noqa: E501
    None
):
    body = {"sequence": 4, "ended_at": NOW.isoformat()}
    assert (
        document_of(ALICE, "run", "run_1", body, "ep_1", {}).expires_at == NOW + RUN_REPORT_KEPT_FOR
    )
    assert document_of(ALICE, "profile", "profile", {"sequence": 4}, "ep_1", {}).expires_at is None
