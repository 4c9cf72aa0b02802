"""Keys that an admin makes, at the gate and over time, and the log of what was done:
on every store.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest

from memory_core.access.records import AuditEntry, NewKey
from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound, Unauthenticated, Unavailable
from memory_core.domain.requests.access import AuditInput, KeyInput, KeysInput, RotateInput
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.results import Call
from memory_core.functions.callers import Caller, Keyring
from memory_core.functions.runtime import Runtime
from memory_core.ports import KeyStore
from memory_core.setting_types import ApiKey
from memory_core.telemetry import SharedReadiness
from tests.builders import ALICE, NOW, StillClock
from tests.tasks import ended
from tests.world import BOB, Down, World, turn

pytestmark = pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
SETTING_KEY = "mc_app_s1_0123456789abcdefABCDEF"
SETTING = {
    "id": "s1",
    "app": "app",
    "sha256": hashlib.sha256(SETTING_KEY.encode()).hexdigest(),
    "rights": ["admin"],
}
ASKED = Call("trace-1", actor="s1")


def gate(core: MemoryCore) -> Runtime:
    """What a request meets in one process, whose settings have one admin key."""
    keyring = Keyring([ApiKey.model_validate(SETTING)])
    return Runtime(core, SharedReadiness(core.ready, core.clock), keyring, 60, 1_048_576)


async def caller(core: MemoryCore, key: str) -> Caller:
    return await gate(core).caller("GET", "http://localhost/", {"x-api-key": key})


async def refusal(core: MemoryCore, key: str) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await caller(core, key)
    return refused.value.detail


async def made(core: MemoryCore, call: Call = ASKED, app_id: str = "app", **fields: Any) -> NewKey:
    return await core.make_key(app_id, KeyInput(**fields), call)


async def status(core: MemoryCore, key_id: str) -> str:
    page = await core.keys("app", KeysInput(limit=100))
    (key,) = (key for key in page.keys if key.key_id == key_id)
    return key.status(core.clock.now())


async def entries(core: MemoryCore, app_id: str = "app", **asked: Any) -> list[AuditEntry]:
    return list((await core.audit(app_id, AuditInput(**asked))).entries)


async def test_a_key_is_accepted_as_it_was_made_and_its_use_is_listed(
    world: World, clock: StillClock
) -> None:
    core = await world.core()
    key = await made(core, name="web shop", user_id="alice", rights=["admin", "read"])
    assert await caller(core, key.text) == Caller(
        "app", key.key.key_id, frozenset({"read", "admin"}), "alice"
    )
    assert (
        await refusal(core, key.text[:-1] + ("0" if key.text[-1] != "0" else "1"))
        == "The API key is not known"
    )
    assert (
        await refusal(core, key.text.replace("mc_app_", "mc_rival_")) == "The API key is not known"
    )
    await world.end(core)

    later = await world.core()
    (listed,) = (await later.keys("app", KeysInput())).keys
    public_key = listed.public(clock.now())
    assert (
        public_key["name"],
        public_key["rights"],
        public_key["status"],
        public_key["last_used_at"],
    ) == ("web shop", ("read", "admin"), "active", NOW)
    assert key.text.rpartition("_")[2] not in json.dumps(listed.model_dump(mode="json"))
    clock.forward(3_599)
    await caller(later, key.text)
    await world.end(later)
    later = await world.core()
    assert (await later.keys("app", KeysInput())).keys[0].last_used_at == NOW, "once an hour"
    clock.forward(1)
    await caller(later, key.text)
    await world.end(later)
    assert (await (await world.core()).keys("app", KeysInput())).keys[0].last_used_at == clock.now()


async def test_a_rotated_key_works_on_for_the_overlap_and_the_new_one_from_the_first_moment(
    world: World, clock: StillClock
) -> None:
    core, elsewhere = await world.core(), await world.core()
    first = await made(core, rights=["admin"], name="crm")
    await caller(elsewhere, first.text)
    clock.forward(1)
    second = await core.rotate_key("app", first.key.key_id, RotateInput(overlap_seconds=600), ASKED)
    assert (second.replaces, second.key.rights, second.key.name) == (
        first.key.key_id,
        ("admin",),
        "crm",
    )
    for process in (core, elsewhere):
        assert (await caller(process, first.text)).key_id == first.key.key_id
        assert (await caller(process, second.text)).key_id == second.key.key_id
    with pytest.raises(Conflict, match=second.key.key_id):
        await core.rotate_key("app", first.key.key_id, RotateInput(), ASKED)
    clock.forward(600)
    for process in (core, elsewhere):
        assert await refusal(process, first.text) == "This API key has expired"
        assert (await caller(process, second.text)).is_admin
    assert await status(core, first.key.key_id) == "expired"
    page = await core.keys("app", KeysInput(status="active", limit=1))
    assert ([key.key_id for key in page.keys], page.next_cursor) == ([second.key.key_id], None)
    with pytest.raises(Conflict, match="expired"):
        await core.rotate_key("app", first.key.key_id, RotateInput(), ASKED)


async def test_a_withdrawn_key_is_refused_here_at_once_and_elsewhere_within_a_minute(
    world: World, clock: StillClock
) -> None:
    core, elsewhere = await world.core(), await world.core()
    key = await made(core)
    await caller(elsewhere, key.text)
    clock.forward(30)
    await core.withdraw_key("app", key.key.key_id, ASKED)
    assert await refusal(core, key.text) == "This API key was withdrawn"
    assert (await caller(elsewhere, key.text)).key_id == key.key.key_id, (
        "it was read half a minute ago"
    )
    clock.forward(30)
    assert await refusal(elsewhere, key.text) == "This API key was withdrawn"
    await core.withdraw_key("app", key.key.key_id, ASKED)
    assert await status(core, key.key.key_id) == "withdrawn"
    with pytest.raises(Conflict, match="withdrawn"):
        await core.rotate_key("app", key.key.key_id, RotateInput(), ASKED)
    assert [entry.action for entry in await entries(core)] == ["key_withdrawn", "key_made"], (
        "the second time nothing was done"
    )
    clock.forward(91 * 86_400)
    assert (await core.keys("app", KeysInput())).keys == ()


async def test_an_admin_key_withdraws_itself_only_where_another_one_is_left(
    world: World, clock: StillClock
) -> None:
    core = await world.core()
    first = await made(core, rights=["admin"])
    await made(core, rights=["admin"], user_id="alice")
    await made(core, rights=["admin"], expires_at=clock.now())
    await made(core, rights=["admin"], expires_at=clock.now() + timedelta(hours=23))
    by_first = Call("trace-2", actor=first.key.key_id)
    with pytest.raises(Conflict, match="make an admin key first"):
        await core.withdraw_key("app", first.key.key_id, by_first)
    second = await made(core, by_first, rights=["admin"])
    await core.withdraw_key("app", first.key.key_id, by_first)
    by_second = Call(actor=second.key.key_id)
    with pytest.raises(Conflict):
        await core.withdraw_key("app", second.key.key_id, by_second)
    third = await made(core, by_second, rights=["admin"])
    each = (
        core.withdraw_key("app", key.key.key_id, Call(actor=key.key.key_id))
        for key in (second, third)
    )
    ends = await asyncio.gather(*each, return_exceptions=True)
    assert sorted(type(end).__name__ for end in ends) == ["Conflict", "NoneType"], (
        "two at the same moment do not end both"
    )
    (second,) = (key for key, end in zip((second, third), ends, strict=True) if end is not None)
    fourth = await made(core, by_second, rights=["admin"])
    rivals = ((second, fourth), (fourth, second))
    each = (
        core.withdraw_key("app", other.key.key_id, Call(actor=key.key.key_id))
        for key, other in rivals
    )
    ends = await asyncio.gather(*each, return_exceptions=True)
    assert sorted(type(end).__name__ for end in ends) == ["Conflict", "NoneType"], (
        "nor do two that withdraw each other"
    )
    (second,) = (key for (key, _), end in zip(rivals, ends, strict=True) if end is None)
    by_second = Call(actor=second.key.key_id)
    await world.end(core)
    configured = await world.core(api_keys=(ApiKey.model_validate(SETTING),))
    await configured.withdraw_key("app", second.key.key_id, by_second)


async def test_an_erasure_withdraws_the_keys_of_its_user_and_no_others(
    world: World, clock: StillClock
) -> None:
    core = await world.core()
    await core.save(ALICE, turn("I keep bees"))
    bound, own, bobs, open_to_all = [
        await made(core, user_id=user_id, name=f"{user_id}'s phone")
        for user_id in ("alice", "alice", "bob", None)
    ]
    await core.withdraw_key("app", bound.key.key_id, Call("trace-8", actor=own.key.key_id))
    erasure = await core.erase(ALICE, Call("alice@home-9", actor=own.key.key_id))
    await ended(world, core, erasure.task_id, apart_s=700)
    for key in (bound, own):
        assert await refusal(core, key.text) == "This API key was withdrawn"
    for key in (bobs, open_to_all):
        assert (await caller(core, key.text)).key_id == key.key.key_id
    withdrawn = await entries(core, action="key_withdrawn")
    assert {(entry.target["key_id"], entry.actor) for entry in withdrawn} == {
        (key.key.key_id, own.key.key_id) for key in (bound, own)
    }
    names = {key.key_id: key.name for key in (await core.keys("app", KeysInput())).keys}
    assert (names[bound.key.key_id], names[own.key.key_id]) == (None, None)
    assert names[bobs.key.key_id] == "bob's phone"
    clock.forward(1)
    again = await core.erase(ALICE, ASKED)
    await ended(world, core, again.task_id, apart_s=700)
    assert len(await entries(core, action="key_withdrawn")) == 2, (
        "what is withdrawn is not withdrawn again"
    )


async def test_no_app_sees_or_touches_the_keys_and_the_log_of_another(world: World) -> None:
    core = await world.core()
    key = await made(core)
    assert (await core.keys("rival", KeysInput())).keys == ()
    assert await entries(core, "rival") == []
    for act in (
        core.withdraw_key("rival", key.key.key_id, ASKED),
        core.rotate_key("rival", key.key.key_id, RotateInput(), ASKED),
    ):
        with pytest.raises(NotFound):
            await act
    assert (await caller(core, key.text)).app_id == "app"


async def test_the_same_idempotency_key_makes_one_key_and_says_which(world: World) -> None:
    core = await world.core()
    once = Call("trace-1", "order-7", "POST key_make", actor="s1")
    key = await made(core, once)
    with pytest.raises(Conflict, match=key.key.key_id):
        await made(core, once)
    assert len((await core.keys("app", KeysInput())).keys) == len(await entries(core)) == 1


@pytest.fixture
async def failing(world: World) -> tuple[MemoryCore, Down]:
    """A process that loses its keys, while all else works."""
    doors: list[Down] = []

    def wrap_keys(keys: KeyStore) -> Down:
        doors.append(Down(keys))
        return doors[0]

    core = await world.core(wrap_keys=wrap_keys)
    return core, doors[0]


async def test_without_the_key_store_known_keys_work_for_a_minute_and_then_get_a_503(
    failing: tuple[MemoryCore, Down], world: World, clock: StillClock
) -> None:
    core, door = failing
    known, unread = await made(core), await made(await world.core())
    assert await refusal(core, "mc_app_nobodys_0123456789abcdef") == "The API key is not known"
    door.down = True
    assert (await caller(core, known.text)).key_id == known.key.key_id
    assert await refusal(core, "mc_app_nobodys_0123456789abcdef") == "The API key is not known"
    clock.forward(60)
    for key in (known.text, unread.text, "mc_app_nobodys_0123456789abcdef"):
        with pytest.raises(Unavailable) as refused:
            await caller(core, key)
        assert refused.value.retry_after_s
    assert (await caller(core, SETTING_KEY)).key_id == "s1"
    assert await refusal(core, f"{SETTING_KEY}x") == "The API key is not known", (
        "nothing has to be asked for that"
    )
    door.down = False
    assert (await caller(core, known.text)).key_id == known.key.key_id


async def test_what_is_done_with_a_users_data_is_in_the_log_without_what_it_says(
    world: World, clock: StillClock
) -> None:
    core = await world.core()
    await core.save(ALICE, turn("I keep bees"))
    await core.save(ALICE, turn("I keep hens"))
    await core.save(BOB, turn("I keep cats"))
    soft = await core.forget(
        ALICE,
        ForgetInput.model_validate(
            {"filter": {"ids": [(await core.save(ALICE, turn("I keep pigs"))).memory.id]}}
        ),
        ASKED,
    )
    await ended(world, core, soft.task_id)
    clock.forward(1)
    export = await core.export(ALICE, ASKED)
    await ended(world, core, export.task_id)
    clock.forward(1)
    bobs = await core.export(BOB, ASKED)
    await ended(world, core, bobs.task_id, owner=BOB)
    third, second, first = await entries(core)
    assert first.public() == {
        "id": first.id, "at": NOW, "actor": "s1", "action": "memories_forgotten",
        "target": {"user_id": "alice", "task_id": soft.task_id}, "outcome": "succeeded",
        "correlation_id": "trace-1", "counts": {"forgotten": 1}, "mode": "soft",
    }  # fmt: skip
    assert (second.action, second.outcome, second.target["task_id"]) == (
        "user_exported",
        "succeeded",
        export.task_id,
    )
    assert third.target["user_id"] == "bob"
    page = await core.audit("app", AuditInput(limit=2))
    rest = await core.audit("app", AuditInput(limit=2, cursor=page.next_cursor))
    assert ([entry.id for entry in page.entries], [entry.id for entry in rest.entries]) == (
        [third.id, second.id],
        [first.id],
    )
    assert [entry.id for entry in await entries(core, since=second.at, until=third.at)] == [
        second.id
    ]

    clock.forward(1)
    erasure = await core.erase(ALICE, ASKED)
    task = await ended(world, core, erasure.task_id, apart_s=700)
    erased, *others = await entries(core)
    hashed = {"user": task.result["user"]} if task.result else {}
    assert (erased.action, erased.outcome, erased.target) == (
        "user_erased",
        "succeeded",
        {**hashed, "task_id": erasure.task_id},
    )
    assert erased.counts
    assert [entry.target.get("user_id") for entry in others] == ["bob", None, None]
    assert all(entry.target["user"] == hashed["user"] for entry in others[1:])
    assert "bees" not in str([entry.public() for entry in await entries(core)])


async def test_after_an_erasure_no_entry_has_what_callers_named_a_request_after(
    world: World,
) -> None:
    core = await world.core()
    key = await made(core, user_id="alice")
    await core.save(ALICE, turn("I keep bees"))
    named, plain = "alice.example.com", "0af7651916cd43dd8448eb211c80319c"
    for correlation in (named, plain):
        task = await core.export(ALICE, Call(correlation, actor=key.key.key_id))
        await ended(world, core, task.task_id)
    erasure = await core.erase(ALICE, Call(named, actor=key.key.key_id))
    await ended(world, core, erasure.task_id, apart_s=700)
    seen = await entries(core)
    assert len(seen) >= 4
    assert named not in {entry.correlation_id for entry in seen}
    assert plain in {entry.correlation_id for entry in seen}


async def test_an_entry_that_can_not_be_written_holds_the_work_up_and_loses_nothing(
    failing: tuple[MemoryCore, Down], world: World, clock: StillClock
) -> None:
    core, door = failing
    await core.save(ALICE, turn("I keep bees"))
    door.down = True
    accepted = await core.export(ALICE, ASKED)
    await core.work(
        json.dumps(
            {"app_id": "app", "user_id": "alice", "task_id": accepted.task_id, "generation": 0}
        ),
        "consolidation",
    )
    assert (await core.task(ALICE, accepted.task_id)).status in ("accepted", "running")
    assert await entries(await world.core()) == []
    door.down = False
    clock.forward(600)
    assert (await ended(world, core, accepted.task_id)).status == "succeeded"
    assert [(entry.action, entry.outcome) for entry in await entries(core)] == [
        ("user_exported", "succeeded")
    ]
