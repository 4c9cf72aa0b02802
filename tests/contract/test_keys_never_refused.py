"""Nothing about a key is refused for what was deleted, or done, before: chains over what was
superseded are linked again, repeats get their answer.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import StatusInput, UpdateInput
from memory_core.domain.results import Call
from tests.builders import ALICE, NOW
from tests.world import Meanwhile, World, listed, rule

ACTIVE = StatusInput(status="active", reason="asked for")
SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


async def told(core: MemoryCore, value: str, day: float) -> Memory:
    return (
        await core.save(ALICE, rule("editor", value, event_timestamp=NOW + timedelta(days=day)))
    ).memory


async def torn(core: MemoryCore) -> tuple[Memory, Memory, Memory, Memory]:
    """A key whose own memory, of which an old version holds, fell, and leads over what fell later
    to the first that was told.
    """
    own, first = await told(core, "Graz", 6), await told(core, "Graz 3", 2)
    await told(core, "Bern", 24)
    second, third = await told(core, "Graz", 14), await told(core, "Rome", 15)
    await core.restore(ALICE, third.id)
    between = await told(core, "Rome", 8)
    for memory in (own, between, first):
        await core.set_status(ALICE, memory.id, ACTIVE)
    return own, first, between, second


async def test_one_told_late_is_kept_where_what_fell_would_lead_in_a_circle(
    core: MemoryCore,
) -> None:
    _, first, _, _ = await torn(core)
    for day in (10, 1, 7, 3):
        late = await told(core, f"Zug {day}", day)
        assert late.status in (Status.ACTIVE, Status.SUPERSEDED)
    assert (await core.get(ALICE, first.id)).status in (Status.ACTIVE, Status.SUPERSEDED)


@SQLITE
async def test_a_repeated_undo_gets_its_answer_also_where_it_would_be_refused_by_now(
    core: MemoryCore,
) -> None:
    await told(core, "new", 2)
    old, again = await told(core, "old", 1), Call(idempotency_key="n1")
    assert (await core.set_status(ALICE, old.id, ACTIVE, call=again)).status is Status.ACTIVE
    for day in range(20, 2, -1):
        await told(core, f"value {day}", day)
    # as it is by now
    assert (await core.set_status(ALICE, old.id, ACTIVE, call=again)).status is Status.SUPERSEDED


@SQLITE
async def test_an_undo_that_somebody_else_was_faster_with_is_done_once_all_the_same(
    world: World,
) -> None:
    there, stores = await world.core(), list[Meanwhile]()
    await told(there, "new", 2)
    old, call = await told(there, "old", 1), Call(idempotency_key="n1")

    def watched(store: object) -> Meanwhile:
        stores.append(Meanwhile(store, "snapshot"))  # type: ignore[arg-type]
        return stores[0]

    here = await world.core(wrap=watched)

    async def faster() -> None:
        await there.restore(ALICE, old.id)

    stores[0].then = faster
    assert (await here.restore(ALICE, old.id, call=call)).status is Status.ACTIVE
    await told(there, "newest", 3)
    assert (await here.restore(ALICE, old.id, call=call)).status is Status.SUPERSEDED


async def alone_again(core: MemoryCore) -> tuple[Memory, Memory]:
    """A key's own memory that is active as if it had always been alone, and one that once took its
    place and was edited there.
    """
    own, past = await told(core, "nano", -20), await told(core, "vim", -30)
    await core.restore(ALICE, past.id)
    await core.update(ALICE, past.id, UpdateInput(value="ed"), "*")
    for status in (Status.SUPERSEDED, Status.ACTIVE):
        assert (await core.restore(ALICE, own.id)).status is status
    return own, past


async def test_a_value_told_late_ends_an_old_version_of_one_that_fell(core: MemoryCore) -> None:
    await alone_again(core)
    await told(core, "emacs", -25)
    by_moment = [
        await listed(core, at=NOW + timedelta(days=day, hours=1)) for day in (-30, -25, -20)
    ]
    assert [[memory.value for memory in memories] for memories in by_moment] == [
        ["vim"],
        ["emacs"],
        ["nano"],
    ]


async def test_a_value_told_where_the_keys_own_was_deleted_takes_the_place_of_one_that_holds_again(
    core: MemoryCore,
) -> None:
    own, past = await alone_again(core)
    await core.delete(ALICE, own.id)
    assert (await core.restore(ALICE, past.id)).status is Status.ACTIVE
    await told(core, "emacs", 30)
    assert [memory.value for memory in await listed(core)] == ["ed"], (
        "what a person edited was said when it was edited, after day 30"
    )
