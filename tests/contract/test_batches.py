"""Batches: messages wait session by session, until there are enough, nothing more comes,
or a caller asks.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.domain.errors import Conflict
from memory_core.domain.requests.memories import TasksInput
from memory_core.domain.results import Accepted, Buffered, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.documents import MAX_BYTES
from tests.agents import ScriptedAgents
from tests.batches import IDLE_S, everything, gather, handed_over, settled, waiting
from tests.builders import ALICE, NOW, AnswerLost
from tests.tasks import Hand, converse, finished, pending, stored, texts
from tests.world import BOB, Down, World

LATE = timedelta(minutes=7).total_seconds()
EMPTY = Buffered(0, None)


async def test_messages_wait_and_are_formed_together_once_nothing_more_comes(world: World) -> None:
    core = await world.core()
    first = await gather(core, "I live in Lisbon")
    assert first == Buffered(1, NOW + timedelta(seconds=IDLE_S))
    world.clock.forward(40)
    second = await gather(core, "It is warm here", "I like flamenco")
    assert (
        second
        == await core.batch_state(ALICE, "s1")
        == Buffered(3, NOW + timedelta(seconds=40 + IDLE_S))
    )
    (task,) = (await core.tasks(ALICE, TasksInput())).tasks
    assert (task.kind, task.status, task.step) == ("flush", "accepted", "gathering")
    world.clock.forward(50)
    await Hand(core).work_all()
    assert await handed_over(world) == [], "somebody spoke 50 seconds ago"
    assert (await core.task(ALICE, task.task_id)).status == "accepted"
    world.clock.forward(11)
    await Hand(core).work_all()
    done = await core.task(ALICE, task.task_id)
    assert (done.status, done.attempts) == ("succeeded", 0)
    assert await handed_over(world) == [["I live in Lisbon", "It is warm here", "I like flamenco"]]
    assert await core.batch_state(ALICE, "s1") == EMPTY
    assert await texts(core) == [
        "I live in Lisbon It is warm here I like flamenco",
        "The user lives in Lisbon",
    ]
    assert done.result is not None
    conversation = await stored(world, done.result["conversation_id"])
    assert (conversation.state, conversation.session_id, conversation.task_id) == (
        "formed",
        "s1",
        task.task_id,
    )
    assert await pending(world) == 0
    assert await core.queue.length("formation") == 0


async def test_enough_messages_are_formed_at_once_and_the_answer_names_their_task(
    world: World,
) -> None:
    core = await world.core(batch_messages=4)
    assert (await gather(core, "a1", "a2")).task_id is None
    assert (await gather(core, "a3")).task_id is None
    full = await gather(core, "a4", "a5")
    assert (full.buffered, full.flush_at, full.degraded) == (0, None, ())
    assert full.task_id is not None
    assert (await finished(world, core, Accepted(full.task_id))).status == "succeeded"
    assert await handed_over(world) == [["a1", "a2", "a3", "a4", "a5"]]
    assert await pending(world) == 0


async def test_more_than_enough_at_once_need_not_wait_at_all(world: World) -> None:
    core = await world.core(batch_messages=2)
    full = await gather(core, "a1", "a2", "a3")
    assert full.task_id is not None
    assert await pending(world) == 1
    assert (await finished(world, core, Accepted(full.task_id))).status == "succeeded"
    assert await handed_over(world) == [["a1", "a2", "a3"]]
    assert await pending(world) == 0


async def test_thirty_messages_are_enough_unless_the_settings_say_otherwise(world: World) -> None:
    core = await world.core()
    assert (await gather(core, *(f"a{n}" for n in range(29)))).buffered == 29
    assert (await gather(core, "a29")).task_id is not None


async def test_generations_follow_each_other_each_with_a_task_of_its_own(world: World) -> None:
    core = await world.core(batch_messages=2)
    tasks = [(await gather(core, f"a{n}", f"b{n}")).task_id for n in range(4)]
    assert len(set(tasks)) == 4
    await gather(core, "the last")
    await settled(world, core)
    assert await handed_over(world) == [*([f"a{n}", f"b{n}"] for n in range(4)), ["the last"]]


async def test_a_batch_that_is_full_at_once_is_formed_though_the_answer_of_its_commit_is_lost(
    world: World,
) -> None:
    core = await world.core(wrap=AnswerLost, batch_messages=2)
    full = await gather(core, "a1", "a2")
    assert full.task_id is not None
    await Hand(core).work_all()
    assert (await core.task(ALICE, full.task_id)).status == "succeeded", (
        "nobody else sends its message within the hour"
    )


async def test_whoever_asks_has_what_waits_formed_at_once(world: World) -> None:
    core = await world.core()
    assert await core.batch_flush(ALICE, "s1") is None
    assert await world.head() is None, "asking leaves no trace of somebody unknown"
    await gather(core, "I live in Faro")
    (gathering,) = (await core.tasks(ALICE, TasksInput())).tasks
    accepted = await core.batch_flush(ALICE, "s1")
    assert accepted == Accepted(gathering.task_id)
    assert await core.batch_flush(ALICE, "s1") is None
    await Hand(core).work_all()
    assert (await core.task(ALICE, gathering.task_id)).status == "succeeded"
    assert await texts(core) == ["I live in Faro", "The user lives in Faro"]
    world.clock.forward(IDLE_S + 1)
    await Hand(core).work_all()
    assert await handed_over(world) == [["I live in Faro"]]
    assert await core.queue.length("formation") == 0


async def test_a_flush_with_the_same_key_is_one_flush(world: World) -> None:
    core = await world.core()
    await gather(core, "a1")
    first = await core.batch_flush(ALICE, "s1", Call(idempotency_key="k1"))
    await gather(core, "a2")
    assert await core.batch_flush(ALICE, "s1", Call(idempotency_key="k1")) == first
    assert await waiting(world) == [["a2"]]
    with pytest.raises(Conflict):
        await core.batch_flush(ALICE, "s2", Call(idempotency_key="k1"))


async def test_sessions_and_users_gather_apart(world: World) -> None:
    core = await world.core()
    await gather(core, "of s1")
    await gather(core, "of s2", session="s2")
    await gather(core, "of bob", owner=BOB)
    assert (await core.batch_state(ALICE, "s2")).buffered == 1
    await core.batch_flush(ALICE, "s1")
    assert await handed_over(world) == [["of s1"]]
    assert sorted(await waiting(world)) == [[], ["of s2"]]
    assert await waiting(world, BOB) == [["of bob"]]
    assert await core.batch_state(ALICE, "s3") == EMPTY


async def test_the_same_append_with_the_same_key_is_one_append(world: World) -> None:
    core = await world.core(batch_messages=4)
    answers = [await gather(core, "a1", "a2", key="k1") for _ in range(3)]
    assert answers == [answers[0]] * 3
    await gather(core, "a3", key="k2")
    full = await gather(core, "a4", key="k3")
    assert full.task_id is not None
    assert (await gather(core, "a4", key="k3")).task_id == full.task_id
    assert await gather(core, "a3", key="k2") == EMPTY, "long handed over"
    with pytest.raises(Conflict):
        await gather(core, "something else", key="k1")
    assert await everything(world) == ["a1", "a2", "a3", "a4"]


async def test_what_would_not_fit_one_conversation_goes_into_the_next(world: World) -> None:
    core = await world.core()
    large = "x" * 30_000
    for n in range(3):
        await gather(core, *(f"{n}{place} {large}" for place in range(12)))
    (first,) = await handed_over(world)
    assert (len(first), (await core.batch_state(ALICE, "s1")).buffered) == (24, 12)
    assert sum(len(batch) for batch in first) <= MAX_BYTES
    await settled(world, core)
    sent = [f"{n}{place} {large}" for n in range(3) for place in range(12)]
    assert await everything(world) == sorted(sent)


async def test_a_buffer_whose_message_got_lost_is_found_by_the_sweep(world: World) -> None:
    queue = Down(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"),
        name="queue",
    )
    core = await world.core(queue=queue)
    queue.down = True
    assert (await gather(core, "I live in Faro")).degraded == ("queue",)
    queue.down = False
    world.clock.forward(LATE)
    assert (await core.sweep()).sent == 1
    assert [task.status for task in await settled(world, core)] == ["succeeded"]
    assert await handed_over(world) == [["I live in Faro"]]


async def test_a_batch_that_is_still_growing_is_not_swept(world: World) -> None:
    core = await world.core(batch_messages=200)
    for n in range(20):
        await gather(core, f"a{n}")
        world.clock.forward(50)
        await Hand(core).work_all()
        assert (await core.sweep()).sent == 0
    assert await handed_over(world) == []
    assert await core.queue.length("formation") == 1
    assert (await core.batch_state(ALICE, "s1")).buffered == 20


async def test_cancelling_the_task_of_what_waits_throws_it_away(world: World) -> None:
    core = await world.core()
    await gather(core, "never mind")
    (gathering,) = (await core.tasks(ALICE, TasksInput())).tasks
    assert (await core.cancel(ALICE, gathering.task_id)).status == "cancelled"
    assert await core.batch_state(ALICE, "s1") == EMPTY
    assert await pending(world) == 0
    await gather(core, "this counts")
    await settled(world, core)
    assert await everything(world) == ["this counts"]
    assert await pending(world) == 0


async def test_a_batch_that_is_being_formed_is_cancelled_as_any_conversation(world: World) -> None:
    core = await world.core()
    await gather(core, "I live in Faro")
    accepted = await core.batch_flush(ALICE, "s1")
    assert accepted is not None
    await gather(core, "this counts")
    await core.cancel(ALICE, accepted.task_id)
    await settled(world, core)
    assert await texts(core) == ["this counts"]
    assert await pending(world) == 0


async def test_a_batch_that_can_not_be_formed_is_poisoned_and_a_retry_forms_it(
    world: World,
) -> None:
    agents = ScriptedAgents(broken=True)
    core = await world.core(agents=agents)
    await gather(core, "I live in Faro")
    (task,) = await settled(world, core)
    assert (task.status, task.attempts) == ("poisoned", 5)
    agents.broken = False
    await core.retry(ALICE, task.task_id)
    assert [task.status for task in await settled(world, core)] == ["succeeded"]
    assert await texts(core) == ["I live in Faro", "The user lives in Faro"]
    assert await pending(world) == 0


async def test_what_waits_for_a_poisoned_task_is_not_lost_and_asking_revives_it(
    world: World,
) -> None:
    core = await world.core()
    await gather(core, "a1")
    (task,) = (await core.tasks(ALICE, TasksInput())).tasks
    world.clock.forward(IDLE_S + 1)
    (message,) = await Hand(core).take()
    await core.give_up(message.body)
    assert (await core.task(ALICE, task.task_id)).status == "poisoned"
    assert await pending(world) == 0
    assert (await gather(core, "a2")).buffered == 2
    assert await core.batch_flush(ALICE, "s1") == Accepted(task.task_id)
    assert await pending(world) == 1
    assert [task.status for task in await settled(world, core)] == ["succeeded"]
    assert await handed_over(world) == [["a1", "a2"]]
    assert await pending(world) == 0


async def test_a_retry_of_what_still_waits_does_not_form_it_early(world: World) -> None:
    core = await world.core()
    await gather(core, "I live in Faro")
    (task,) = (await core.tasks(ALICE, TasksInput())).tasks
    await core.retry(ALICE, task.task_id)
    await Hand(core).work_all()
    assert await waiting(world) == [["I live in Faro"]]
    assert [task.status for task in await settled(world, core)] == ["succeeded"]


async def test_batches_and_conversations_of_one_session_do_not_disturb_each_other(
    world: World,
) -> None:
    core = await world.core()
    await gather(core, "I live in Faro")
    await converse(core, "It is warm here")
    await settled(world, core)
    assert await texts(core) == ["I live in Faro", "It is warm here", "The user lives in Faro"]


async def test_what_waits_survives_the_process_that_took_it_in(world: World) -> None:
    core = await world.core()
    await gather(core, "I live in Faro", owner=Owner("app", "zoë"))
    await world.end(core)
    other = await world.core()
    assert (await other.batch_state(Owner("app", "zoë"), "s1")).buffered == 1
