"""Stored bytes: counted with each commit, refused beyond their limit, given back by what is
forgotten for good.
"""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import QuotaExceeded
from memory_core.domain.memory import stored_bytes
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput, UpdateInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ports import Batch
from tests.builders import ALICE, StillClock
from tests.tasks import Hand
from tests.world import BOB, World, fact, listed, recounted_bytes

LIMIT = 100_000
LONG = "tea " * 3_000


async def filled(core: MemoryCore, owner: Owner) -> int:
    """Save until there is no more room; how many were saved."""
    for number in range(100):
        try:
            await core.save(owner, fact(f"Note {number}: {LONG}"))
        except QuotaExceeded:
            return number
    raise AssertionError("nothing was refused")


async def forget_all(core: MemoryCore, owner: Owner) -> None:
    await core.forget(
        owner, ForgetInput.model_validate({"filter": {"types": ["semantic"]}, "mode": "hard"})
    )
    await Hand(core, "consolidation").work_all()


async def used(core: MemoryCore, owner: Owner) -> int:
    return int((await core.usage(owner))["stored_bytes"]["used"])


async def test_a_user_at_the_limit_reads_and_forgets_and_then_has_room_again(world: World) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    saved = await filled(core, ALICE)
    assert 5 <= saved <= 8
    assert (
        await used(core, ALICE)
        == sum(stored_bytes(memory) for memory in await listed(core, ALICE, status="all"))
        <= LIMIT
    )
    assert (await core.retrieve(ALICE, RetrieveInput(query="tea"))).results
    for refused in (
        core.converse(
            ALICE, ConverseInput.model_validate({"messages": [{"role": "user", "content": LONG}]})
        ),
        core.update(ALICE, (await listed(core, ALICE))[0].id, UpdateInput(content=LONG), "*"),
        core.bulk(ALICE, [fact(LONG)]),
    ):
        with pytest.raises(QuotaExceeded, match="MEMORY_STORED_BYTES_PER_USER"):
            await refused
    await core.save(BOB, fact(LONG))
    again = await world.core(stored_bytes_per_user=LIMIT)
    assert await used(again, ALICE) == await used(core, ALICE), (
        "a process that begins later counts the same"
    )
    await forget_all(again, ALICE)
    assert await used(again, ALICE) == 0
    assert await filled(core, ALICE) == saved


async def test_a_call_that_was_answered_is_answered_again_though_it_filled_the_room(
    world: World,
) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    for number in range(4):
        await core.save(ALICE, fact(f"Note {number}: {LONG}"))
    call, item = Call(idempotency_key="k"), fact("coffee " * 4_000)
    first = await core.save(ALICE, item, call)
    with pytest.raises(QuotaExceeded):
        await core.save(ALICE, fact("cocoa " * 4_000))
    assert (await core.save(ALICE, item, call)).memory.id == first.memory.id


async def test_an_app_has_one_limit_for_its_users_in_all_processes_and_an_erasure_makes_room(
    world: World, clock: StillClock
) -> None:
    cores = [await world.core(stored_bytes_per_app=2 * LIMIT) for _ in range(2)]
    saved = await filled(cores[0], ALICE)
    clock.forward(6)
    with pytest.raises(QuotaExceeded, match="of the app"):
        await cores[1].save(BOB, fact(LONG))
    total = (await cores[1].app_usage("app"))["stored_bytes"]
    assert total == {"used": await used(cores[0], ALICE), "limit": 2 * LIMIT}
    await cores[1].erase(ALICE)
    clock.forward(6)
    assert await filled(cores[0], BOB) == saved
    clock.forward(90_000)
    assert (await cores[0].app_usage("app"))["stored_bytes"]["used"] == await used(cores[0], BOB), (
        "counted anew after a day"
    )


class Before:
    """A store as an earlier version wrote it: its heads count no bytes."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def commit(self, owner: Owner, batch: Batch) -> None:
        head = batch.head.model_copy(update={"kept_bytes": None})
        await self.inner.commit(
            owner,
            Batch(batch.commit_id, batch.expected, head, batch.events, batch.writes, batch.marks),
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def test_users_of_an_earlier_version_are_counted_once(world: World) -> None:
    before = await world.core(wrap=Before)
    for number in range(3):
        await before.save(ALICE, fact(f"Note {number}: {LONG}"))
    core = await world.core(stored_bytes_per_user=LIMIT, stored_bytes_per_app=LIMIT)
    counted = await used(core, ALICE)
    assert counted == sum(stored_bytes(memory) for memory in await listed(core, ALICE))
    await core.save(ALICE, fact("Ana sails"))
    head = await world.head(ALICE)
    assert head is not None
    assert head.kept_bytes == await used(core, ALICE) > counted
    assert (await core.app_usage("app"))["stored_bytes"]["used"] == head.kept_bytes


async def test_the_count_of_an_app_counts_users_of_an_earlier_version_with_their_old_versions_once(
    world: World,
) -> None:
    before = await world.core(wrap=Before)
    saved = (await before.save(ALICE, fact("Ana sails"))).memory
    await before.update(ALICE, saved.id, UpdateInput(content=LONG), "*")
    core = await world.core(stored_bytes_per_app=LIMIT)
    assert (await core.app_usage("app"))["stored_bytes"]["used"] == await recounted_bytes(world)
    head = await world.head(ALICE)
    assert head is not None
    assert head.kept_bytes == await recounted_bytes(world)
    await core.save(BOB, fact("Bob reads"))
    assert (await core.app_usage("app"))["stored_bytes"][
        "used"
    ] == head.kept_bytes + await recounted_bytes(world, BOB)


async def test_the_log_has_one_line_a_minute_of_an_apps_calls_without_room(
    world: World, clock: StillClock, caplog: pytest.LogCaptureFixture
) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    await filled(core, ALICE)
    for _ in range(3):
        with pytest.raises(QuotaExceeded):
            await core.save(ALICE, fact(LONG))
    clock.forward(61)
    for owner in (ALICE, Owner("another-app", "ana")):
        await filled(core, owner)
    lines = [
        record.getMessage() for record in caplog.records if "had no room" in record.getMessage()
    ]
    assert [line.split(" had")[0] for line in lines] == [
        "1 calls of the app app",
        "4 calls of the app app",
        "1 calls of the app another-app",
    ]
