"""Webhooks: who asked is told of a task's end, at least once and as it ended,
by deliveries that are tasks of their own.
"""

from __future__ import annotations

import hashlib
import hmac
from contextlib import suppress
from datetime import timedelta

import pytest

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict, Invalid, NotFound
from memory_core.domain.requests.memories import TasksInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ports import POISON, Posted
from tests.agents import ScriptedAgents
from tests.builders import ALICE
from tests.couriers import Brought, ScriptedCourier
from tests.mortal import Moment, Mortal
from tests.tasks import Hand, converse, finished, formed_once, pending, task_of
from tests.world import Down, Killed, World

URL = "https://hooks.example/memory"
SECRET = "what both of us know of"
LATE = timedelta(minutes=6).total_seconds()


async def asking(world: World, courier: ScriptedCourier, **options: object) -> MemoryCore:
    """A core whose webhooks go to a courier of the test's."""
    return await world.core(courier=courier, webhook_secret=SECRET, **options)


async def delivered(world: World, core: MemoryCore, owner: Owner = ALICE) -> list[Task]:
    """Deliver, and let time go by, until nothing is left to be delivered: the deliveries' tasks,
    the newest first.
    """
    for _ in range(130):
        await Hand(core, "webhooks").work_all()
        tasks = list((await core.tasks(owner, TasksInput(kind="webhook"))).tasks)
        if all(task.finished for task in tasks):
            return tasks
        world.clock.forward(1)
    raise AssertionError(f"they are never delivered: {tasks}")


def signed(brought: Brought, secret: str = SECRET) -> bool:
    """Whether the signature is as documented: what a receiver would check."""
    stamped = brought.headers["X-Memory-Timestamp"].encode() + b"." + brought.body
    made = hmac.new(secret.encode(), stamped, hashlib.sha256).hexdigest()
    return brought.headers["X-Memory-Signature"] == f"sha256={made}"


async def log_of(
    core: MemoryCore, accepted: Accepted, owner: Owner = ALICE
) -> list[dict[str, object]]:
    """The log of deliveries in a task's result, without what is in it for the reader alone."""
    result = (await task_of(core, accepted, owner)).result
    assert result is not None
    fields = ("status", "attempts", "status_code", "error")
    return [{name: delivery[name] for name in fields} for delivery in result["deliveries"]]


async def test_the_end_of_a_conversation_is_told_with_its_result_signed(world: World) -> None:
    core = await asking(world, courier := ScriptedCourier())
    accepted = await converse(core, callback_url=URL, call=Call(correlation_id="c-1"))
    await Hand(core).work_all()
    assert courier.brought == [], "on its own queue"
    assert await pending(world) == 1
    (webhook,) = await delivered(world, core)
    (brought,) = courier.brought
    assert brought.url == URL
    assert brought.headers["Content-Type"] == "application/json"
    assert brought.headers["X-Memory-Timestamp"] == str(int(world.clock.now().timestamp()))
    assert brought.headers["X-Memory-Delivery"].startswith("dlv_")
    assert signed(brought)
    task = await task_of(core, accepted)
    assert task.result is not None
    del task.result["deliveries"]
    assert brought.task == task.public()
    assert brought.task["status"] == "succeeded"
    assert (webhook.status, webhook.correlation_id, webhook.error) == ("succeeded", "c-1", None)
    assert webhook.result is not None
    assert webhook.result["for_task_id"] == accepted.task_id
    assert await log_of(core, accepted) == [
        {"status": "delivered", "attempts": 1, "status_code": 200, "error": None}
    ]
    assert await pending(world) == 0
    await formed_once(world, core, accepted)


async def test_without_a_callback_address_nobody_is_told(world: World) -> None:
    core = await asking(world, courier := ScriptedCourier())
    await converse(core)
    await Hand(core).work_all()
    assert await delivered(world, core) == []
    assert courier.brought == []


async def test_three_more_tries_follow_after_one_two_and_four_seconds_with_one_delivery_id(
    world: World,
) -> None:
    answers = [Posted(503), Posted(429), Posted(None, "it can't be reached")]
    core = await asking(world, courier := ScriptedCourier(answers))
    accepted = await converse(core, callback_url=URL)
    await Hand(core).work_all()
    begun, tries = world.clock.now(), []
    for _ in range(20):
        known = len(courier.brought)
        await Hand(core, "webhooks").work_all()
        tries += [(world.clock.now() - begun).total_seconds()] * (len(courier.brought) - known)
        world.clock.forward(1)
    assert tries == [0, 1, 3, 7]
    assert all(signed(upload) for upload in courier.brought)
    assert len({upload.headers["X-Memory-Delivery"] for upload in courier.brought}) == 1
    assert len({upload.headers["X-Memory-Timestamp"] for upload in courier.brought}) == 4
    assert len({upload.body for upload in courier.brought}) == 1
    assert await log_of(core, accepted) == [
        {"status": "delivered", "attempts": 4, "status_code": 200, "error": None}
    ]
    task = await task_of(core, accepted)
    assert task.result is not None
    errors = [attempt["error"] for attempt in task.result["deliveries"][0]["tries"]]
    assert errors == ["it answered 503", "it answered 429", "it can't be reached", None]


async def test_after_the_fourth_try_a_delivery_has_failed_until_somebody_retries_it(
    world: World,
) -> None:
    core = await asking(world, courier := ScriptedCourier([Posted(504)] * 4))
    accepted = await converse(core, callback_url=URL)
    await Hand(core).work_all()
    (webhook,) = await delivered(world, core)
    assert (webhook.status, webhook.attempts, webhook.error) == ("failed", 4, "it answered 504")
    assert await log_of(core, accepted) == [
        {"status": "failed", "attempts": 4, "status_code": 504, "error": "it answered 504"}
    ]
    await formed_once(world, core, accepted)
    assert await core.queue.length("webhooks") == 0
    assert (await core.retry(ALICE, webhook.task_id)).status == "accepted"
    assert await pending(world) == 1
    (again,) = await delivered(world, core)
    assert (again.status, again.attempts, len(courier.brought)) == ("succeeded", 0, 5)
    assert await log_of(core, accepted) == [
        {"status": "delivered", "attempts": 5, "status_code": 200, "error": None}
    ]
    assert await pending(world) == 0


@pytest.mark.parametrize("code", [301, 307, 400, 401, 404, 410, 422, 500, 501, 502])
async def test_what_another_try_would_not_change_is_tried_once(world: World, code: int) -> None:
    core = await asking(world, courier := ScriptedCourier([Posted(code)]))
    accepted = await converse(core, callback_url=URL)
    await Hand(core).work_all()
    (webhook,) = await delivered(world, core)
    assert (webhook.status, len(courier.brought)) == ("failed", 1)
    (log,) = await log_of(core, accepted)
    assert (log["status"], log["status_code"]) == ("failed", code)
    assert str(log["error"]).startswith(f"it answered {code}")


@pytest.mark.parametrize("code", [200, 201, 202, 204, 299])
async def test_any_status_of_success_is_one(world: World, code: int) -> None:
    core = await asking(world, ScriptedCourier([Posted(code)]))
    await converse(core, callback_url=URL)
    await Hand(core).work_all()
    assert [task.status for task in await delivered(world, core)] == ["succeeded"]


async def test_an_address_that_turns_out_to_be_ours_is_not_tried_again(world: World) -> None:
    core = await asking(
        world,
        courier := ScriptedCourier([Posted(None, "10.0.0.1 is no public address", refused=True)]),
    )
    accepted = await converse(core, callback_url=URL)
    await Hand(core).work_all()
    await delivered(world, core)
    assert len(courier.brought) == 1
    assert await log_of(core, accepted) == [
        {
            "status": "failed",
            "attempts": 1,
            "status_code": None,
            "error": "10.0.0.1 is no public address",
        }
    ]


async def test_a_poisoned_task_is_told_and_so_is_its_success_after_a_retry(world: World) -> None:
    agents = ScriptedAgents(broken=True)
    core = await asking(world, courier := ScriptedCourier(), agents=agents)
    accepted = await converse(core, callback_url=URL)
    await finished(world, core, accepted)
    await delivered(world, core)
    agents.broken = False
    await core.retry(ALICE, accepted.task_id)
    await finished(world, core, accepted)
    await delivered(world, core)
    assert [(upload.task["status"], upload.task["error"]) for upload in courier.brought] == [
        ("poisoned", "RuntimeError"),
        ("succeeded", None),
    ]
    assert len({upload.headers["X-Memory-Delivery"] for upload in courier.brought}) == 2
    assert [attempt["status"] for attempt in await log_of(core, accepted)] == [
        "delivered",
        "delivered",
    ]
    await formed_once(world, core, accepted)


async def test_a_message_in_the_poison_queue_is_told_of_too(world: World) -> None:
    core = await asking(world, courier := ScriptedCourier())
    accepted = await converse(core, callback_url=URL)
    (delivery,) = await Hand(core).take()
    await core.give_up(delivery.body)
    await delivered(world, core)
    (brought,) = courier.brought
    assert (brought.task["task_id"], brought.task["status"]) == (accepted.task_id, "poisoned")


async def test_a_cancelled_task_is_told_once(world: World) -> None:
    core = await asking(world, courier := ScriptedCourier())
    accepted = await converse(core, callback_url=URL)
    await core.cancel(ALICE, accepted.task_id)
    await core.cancel(ALICE, accepted.task_id)
    assert await pending(world) == 1
    await delivered(world, core)
    assert [upload.task["status"] for upload in courier.brought] == ["cancelled"]
    assert await log_of(core, accepted) == [
        {"status": "delivered", "attempts": 1, "status_code": 200, "error": None}
    ]


async def test_a_delivery_that_is_cancelled_is_tried_no_more(world: World) -> None:
    core = await asking(world, courier := ScriptedCourier([Posted(503)] * 9))
    accepted = await converse(core, callback_url=URL)
    await Hand(core).work_all()
    await Hand(core, "webhooks").work_all()
    (webhook,) = (await core.tasks(ALICE, TasksInput(kind="webhook"))).tasks
    await core.cancel(ALICE, webhook.task_id)
    world.clock.forward(60)
    await Hand(core, "webhooks").work_all()
    assert len(courier.brought) == 1
    assert await log_of(core, accepted) == [
        {"status": "cancelled", "attempts": 1, "status_code": 503, "error": "it answered 503"}
    ]
    assert await pending(world) == 0
    assert len((await core.tasks(ALICE, TasksInput(kind="webhook"))).tasks) == 1, (
        "its own end is nobody's business"
    )


async def test_a_delivery_whose_message_got_lost_is_found_by_the_sweep(world: World) -> None:
    queue = Down(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"),
        name="queue",
    )
    core = await asking(world, courier := ScriptedCourier(), queue=queue)
    accepted = await converse(core, callback_url=URL)
    (message,) = await Hand(core).take()
    queue.down = True
    await core.work(message.body)
    queue.down = False
    assert await pending(world) == 1
    world.clock.forward(LATE)
    assert (await core.sweep()).sent == 1
    await delivered(world, core)
    assert [upload.task["task_id"] for upload in courier.brought] == [accepted.task_id]


async def lived(world: World, moment: Moment, owner: Owner) -> tuple[Accepted, list[Brought]]:
    """A conversation is formed and its end told, by a process that dies at `moment`."""
    courier = ScriptedCourier([Posted(503)], before=moment.on_agent)
    queue = Mortal(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"), moment
    )
    core = await asking(world, courier, wrap=lambda store: Mortal(store, moment), queue=queue)
    moment.asleep = True
    accepted = await converse(core, "I live in Faro", owner=owner, callback_url=URL)
    await Hand(core).work_all()
    moment.asleep = False
    with suppress(Killed):
        await delivered(world, core, owner)
    await world.end(core)
    return accepted, courier.brought


async def test_killed_between_any_two_steps_of_a_delivery_it_is_delivered_at_least_once(
    world: World, adapter: str
) -> None:
    """In a storm some writes are sent twice, so a life may have fewer steps than the whole one,
    and end in peace.
    """
    whole = Moment()
    await lived(world, whole, Owner("app", "whole"))
    assert whole.names.count("post") == 2
    for at, name in enumerate(whole.names, 1):
        for after in (False, True) if name in Mortal.WRITES else (False,):
            owner, moment = Owner("app", f"{at}-{after}"), Moment(at, after)
            accepted, before = await lived(world, moment, owner)
            assert moment.dead or adapter == "storm"
            courier = ScriptedCourier()
            core = await asking(world, courier)
            await delivered(world, core, owner)
            brought = before + courier.brought
            assert 1 <= len(brought) <= 3, (at, after, name)
            assert len({upload.headers["X-Memory-Delivery"] for upload in brought}) == 1
            assert len({upload.body for upload in brought}) == 1
            assert [attempt["status"] for attempt in await log_of(core, accepted, owner)] == [
                "delivered"
            ]
            assert await pending(world, owner) == 0
            await world.end(core)


async def test_a_message_of_a_delivery_that_came_too_often_poisons_it_and_not_its_task(
    world: World,
) -> None:
    core = await asking(world, ScriptedCourier())
    accepted = await converse(core, callback_url=URL)
    await Hand(core).work_all()
    (message,) = await Hand(core, "webhooks").take()
    await core.queue.send("webhooks" + POISON, message.body)
    await Hand(core, "webhooks" + POISON).work_all()
    (webhook,) = (await core.tasks(ALICE, TasksInput(kind="webhook"))).tasks
    assert webhook.status == "poisoned"
    assert (await task_of(core, accepted)).status == "succeeded"
    assert [attempt["status"] for attempt in await log_of(core, accepted)] == ["poisoned"]
    assert await pending(world) == 0


async def test_a_finished_delivery_is_forgotten_with_its_task(world: World) -> None:
    core = await asking(world, ScriptedCourier())
    accepted = await converse(core, callback_url=URL)
    await Hand(core).work_all()
    (webhook,) = await delivered(world, core)
    world.clock.forward(timedelta(days=8).total_seconds())
    for name in (accepted.task_id, webhook.task_id):
        with pytest.raises(NotFound):
            await core.task(ALICE, name)
    assert not (await (await world.look_on()).snapshot(ALICE, [webhook.subject_id])).documents


async def test_the_same_call_with_the_same_key_is_told_of_once(world: World) -> None:
    core = await asking(world, courier := ScriptedCourier())
    keyed = Call(idempotency_key="k1")
    first, second = [await converse(core, callback_url=URL, call=keyed) for _ in range(2)]
    assert first.task_id == second.task_id
    with pytest.raises(Conflict):
        await converse(core, callback_url=URL + "/other", call=keyed)
    await Hand(core).work_all()
    await delivered(world, core)
    assert len(courier.brought) == 1


async def test_an_address_that_is_never_called_is_refused_at_once_and_named(world: World) -> None:
    core = await asking(world, ScriptedCourier())
    with pytest.raises(Invalid) as refused:
        await converse(core, callback_url="http://127.0.0.1/hook")
    assert [error.field for error in refused.value.errors] == ["callback_url"]
    assert (await core.tasks(ALICE, TasksInput())).tasks == ()


async def test_where_nothing_is_set_to_sign_with_callbacks_are_refused_and_the_setting_is_named(
    world: World,
) -> None:
    core = await world.core(
        long_term="cosmos", cosmos_endpoint="https://cosmos.example", secret="x" * 16
    )
    with pytest.raises(Invalid, match="MEMORY_WEBHOOK_SECRET") as refused:
        await converse(core, callback_url=URL)
    assert [error.field for error in refused.value.errors] == ["callback_url"]
    assert (await converse(core)).task_id


async def test_on_one_machine_a_secret_is_made_and_kept_for_receivers_to_read(world: World) -> None:
    courier = ScriptedCourier()
    core = await world.core(courier=courier)
    await converse(core, callback_url=URL)
    await Hand(core).work_all()
    await delivered(world, core)
    path = world.folder / "webhook_secret"
    assert path.stat().st_mode & 0o777 == 0o600
    assert signed(courier.brought[0], path.read_text())
    again = await world.core(courier=courier)
    await converse(again, "It rains in Porto", callback_url=URL)
    await Hand(again).work_all()
    await delivered(world, again)
    assert signed(courier.brought[1], path.read_text())
