"""The hour: a user that is due gets one message, spread, whatever happens to the messages;
and no other user costs anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Answered, ConversationSummary
from memory_core.domain.conversation import Message
from memory_core.domain.errors import Malformed
from memory_core.domain.memory import Foresight, Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.functions.triggers import each
from memory_core.ports import POISON, Write
from memory_core.tasks.leases import LONGEST_PAUSE, MAX_ATTEMPTS
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW, StillClock, batch, document
from tests.runs import QUEUE, begun, hour, runs
from tests.tasks import Hand
from tests.world import BOB, DiesAfter, Down, Killed, World, fact, listed, turn

ON_SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
DAY = 86_400.0


def users(count: int) -> list[Owner]:
    return [Owner(f"app{n % 3}", f"user{n:03}") for n in range(count)]


async def told(core: MemoryCore, owners: Sequence[Owner], **fields: Any) -> None:
    for owner in owners:
        await core.save(owner, turn("it rains", **fields))


async def test_who_is_due_gets_a_run_and_in_the_next_hour_nobody_does(world: World) -> None:
    core = await world.core()
    owners = users(5)
    await told(core, owners)
    assert await hour(core) == 1 + len(owners), (
        "one for the range, and for each user one that begins a task and goes on with it"
    )
    assert [task.status for task in await runs(core, owners)] == ["succeeded"] * 5
    world.clock.forward(3600)
    assert await hour(core) == 1
    await told(core, owners[:2])
    world.clock.forward(3600)
    assert await hour(core) == 3
    assert len(await runs(core, owners)) == 7


async def test_ticks_that_overlap_and_messages_that_come_twice_begin_one_run(world: World) -> None:
    cores = [await world.core() for _ in range(2)]
    owners = users(3)
    await told(cores[0], owners)
    for core in cores:
        await core.fan_out()
    hand = Hand(cores[0], QUEUE)
    for _ in range(2):  # the ranges' messages, then the users'
        for delivery in await hand.take():
            await hand.work(delivery)
            if "task_id" not in orjson.loads(delivery.body):
                await cores[1].work(delivery.body, QUEUE)
    await hand.work_all()
    assert [task.status for task in await runs(cores[0], owners)] == ["succeeded"] * 3


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("commits", [0, 1])
async def test_who_dies_in_a_run_that_an_hours_message_began_is_followed_when_that_comes_again(
    world: World, commits: int, applied: bool
) -> None:
    """No one else is told of the run while its worker lives, and no sweep is needed."""
    core = await world.core()
    await told(core, [ALICE])
    await core.fan_out()
    hand = Hand(core, QUEUE)
    await hand.work((await hand.take(1))[0])  # the range's
    dying = await world.core(wrap=lambda store: DiesAfter(store, commits, applied))  # type: ignore[misc]
    with suppress(Killed):
        await Hand(dying, QUEUE).work_all()
    await world.end(dying)
    assert len(await runs(core)) == (commits or applied)
    for _ in range(2):
        world.clock.forward(61)
        await hand.work_all()
    assert [task.status for task in await runs(core)] == ["succeeded"]
    assert await core.queue.length(QUEUE) == 0


@ON_SQLITE
async def test_the_users_of_an_hour_are_spread_over_most_of_it(world: World) -> None:
    core = await world.core(consolidation_spread_minutes=45)
    owners = users(40)
    await told(core, owners)
    await core.fan_out()
    hand, begun_at = Hand(core, QUEUE), []
    for minute in range(46):
        await hand.work_all()
        begun_at += [minute] * (len(await runs(core, owners)) - len(begun_at))
        world.clock.forward(60)
    assert len(begun_at) == 40
    assert len(set(begun_at)) > 20
    assert max(Counter(begun_at).values()) <= 5


@ON_SQLITE
async def test_many_are_handed_on_from_message_to_message(world: World) -> None:
    core = await world.core()
    store = await world.look_on()
    for n in range(1_201):
        await store.commit(Owner("app", f"user{n:04}"), batch(None, head={"due_at": NOW}))
    await core.fan_out()
    hand = Hand(core, QUEUE)
    await hand.work((await hand.take(1))[0])
    assert await core.queue.length(QUEUE) == 1_001
    waiting = [message.body for _ in range(40) for message in await hand.take()]
    (further,) = [body for body in waiting if "within" in body]
    await core.work(further, QUEUE)
    named = [
        orjson.loads(message.body)["user_id"] for _ in range(10) for message in await hand.take()
    ]
    named += [orjson.loads(body)["user_id"] for body in waiting if body != further]
    assert sorted(named) == [f"user{n:04}" for n in range(1_201)]


class Counting:
    """A store that counts what it is asked, by the call's name."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.asked = inner, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if name in ("open", "close", "pool", "check"):
            return attribute

        async def counted(*args: Any, **options: Any) -> Any:
            self.asked[name] += 1
            return await attribute(*args, **options)

        return counted


@ON_SQLITE
async def test_an_hour_costs_by_who_is_due_and_not_by_who_there_is(world: World) -> None:
    core = await world.core(wrap=Counting)
    store, onlooker = core._services.adapters.long_term, await world.look_on()
    assert isinstance(store, Counting)
    for owner in users(10):  # who was told of before has a scene, which a run looks at
        await core.save(owner, turn("breakfast was early"))
    await hour(core)
    costs = []
    for there in (100, 10_000):
        for n in range(there):
            if (await onlooker.snapshot(owner := Owner("idle", f"user{n:05}"))).head is None:
                await onlooker.commit(
                    owner, batch(None, head={"due_at": NOW + timedelta(days=400)})
                )
        for owner in users(10):
            await core.save(owner, turn("it rains" if there == 100 else "lunch was late"))
        world.clock.forward(3600)
        store.asked.clear()
        assert await hour(core) == 11
        costs.append(dict(store.asked))
    assert costs[0] == costs[1]
    assert costs[1]["due"] == costs[1]["ranges"] == 1
    store.asked.clear()
    world.clock.forward(3600)
    await hour(core)
    assert store.asked == {"ranges": 1, "due": 1}


class FailsFor(ScriptedAgents):
    """Agents that fail whenever they read of one thing, in a way that the code does not expect."""

    async def summarise(
        self, app_id: str, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        if any("cursed" in message.content for message in messages):
            raise RuntimeError("these agents always fail here")
        return await super().summarise(app_id, messages, fast=fast)


@ON_SQLITE
async def test_one_user_whose_agents_always_fail_touches_none_of_two_hundred(world: World) -> None:
    core = await world.core(agents=FailsFor(), rules=FailsFor())
    owners = users(200)
    await told(core, owners, importance=0.3)
    cursed = owners[77]
    await core.save(
        cursed, turn("cursed " + " ".join(f"word{n}" for n in range(400)), importance=0.45)
    )
    world.clock.forward(100 * DAY)
    await hour(core)
    ended = {owner: (await runs(core, [owner]))[0] for owner in owners}
    assert {owner for owner, task in ended.items() if task.status != "succeeded"} == {cursed}
    assert (ended[cursed].status, ended[cursed].attempts) == ("accepted", 1)
    for _ in range(2 * MAX_ATTEMPTS):
        world.clock.forward(1200)
        await Hand(core, QUEUE).work_all()
    (given_up,) = await runs(core, [cursed])
    assert (given_up.status, given_up.attempts) == ("poisoned", MAX_ATTEMPTS)
    assert str(given_up.error) == "RuntimeError"
    head = await world.head(cursed)
    assert head is not None
    assert head.consolidated_sequence == 0
    world.clock.forward(3600)
    await hour(core)
    assert len(await runs(core, [cursed])) == 1
    world.clock.forward(DAY)
    await hour(core)
    assert [task.status for task in await runs(core, [cursed])] == ["accepted", "poisoned"]


@ON_SQLITE
async def test_while_the_store_is_down_messages_wait_and_after_an_hour_leave_it_to_the_next(
    world: World,
) -> None:
    core = await world.core(wrap=Down)
    store = core._services.adapters.long_term
    assert isinstance(store, Down)
    await told(core, [ALICE, BOB])
    await core.fan_out()
    store.down = True
    hand = Hand(core, QUEUE)
    for _ in range(30):
        await hand.work_all()
        world.clock.forward(60)
    assert await core.queue.length(QUEUE) == 1
    assert hand.received < 12
    store.down = False
    world.clock.forward(1.25 * LONGEST_PAUSE.total_seconds())
    await hand.work_all()
    assert [task.status for task in await runs(core, [ALICE, BOB])] == ["succeeded"] * 2
    await told(core, [ALICE])
    await core.fan_out()
    store.down = True
    for _ in range(120):
        await hand.work_all()
        world.clock.forward(60)
    assert await core.queue.length(QUEUE) == await core.queue.length(QUEUE + POISON) == 0
    store.down = False
    await hour(core)
    assert [task.status for task in await runs(core)] == ["succeeded"] * 2


async def test_a_message_that_is_nobodys_is_refused_as_before(world: World) -> None:
    core = await world.core()
    for body in ("?", "[]", "{}", '{"tick": 1}', '{"within": "all"}'):
        with pytest.raises(Malformed):
            await core.work(body, QUEUE)


async def test_so_many_new_memories_do_not_wait_for_the_hour(world: World) -> None:
    core = await world.core(consolidation_threshold=20)
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(19)])
    assert await core.queue.length(QUEUE) == 0
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(19, 30)])
    await core.save(ALICE, turn("word30"))
    assert await core.queue.length(QUEUE) == 1
    assert await Hand(core, QUEUE).work_all() == 0  # a user that has just saved twenty may save on
    world.clock.forward(60)
    assert await Hand(core, QUEUE).work_all() == 1
    (task,) = await runs(core)
    assert task.result is not None
    assert (task.status, task.result["read"]) == ("succeeded", 31)
    head = await world.head()
    assert head is not None
    assert head.fresh_count == 0
    await core.bulk(ALICE, [turn(f"further{n}") for n in range(20)])
    # a user that saves thousands needs no run for every twenty
    assert await Hand(core, QUEUE).work_all() == 0
    world.clock.forward(600)
    assert await Hand(core, QUEUE).work_all() == 1


async def test_after_a_run_by_a_clock_hours_ahead_new_memories_wait_no_longer_than_after_any_other(
    world: World,
) -> None:
    ahead = await world.core(consolidation_threshold=20, clock=StillClock(NOW + timedelta(hours=3)))
    core = await world.core(consolidation_threshold=20)
    await ahead.save(ALICE, turn("it rains"))
    await ahead.consolidate(ALICE, ConsolidateInput())
    await Hand(ahead, QUEUE).work_all()
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(20)])
    assert await Hand(core, QUEUE).work_all() == 0
    world.clock.forward(600)
    assert await Hand(core, QUEUE).work_all() == 1


async def test_the_first_memory_of_a_user_makes_a_run_due_a_minute_later_and_no_other_does(
    world: World,
) -> None:
    core = await world.core(consolidation_first_minutes=1)
    assert await core.next_run(ALICE) is None
    await core.save(ALICE, turn("word0"))
    expected = await core.next_run(ALICE)
    assert expected is not None
    assert expected - world.clock.now() <= timedelta(minutes=1)
    await core.save(ALICE, turn("word1"))
    assert await core.queue.length(QUEUE) == 1
    world.clock.forward(61)
    assert await Hand(core, QUEUE).work_all() == 1
    assert [run.status for run in await runs(core)] == ["succeeded"]
    assert await core.next_run(ALICE) is None
    await core.save(ALICE, turn("word2"))
    assert await core.queue.length(QUEUE) == 0
    later = await core.next_run(ALICE)
    assert later is not None
    assert timedelta(0) < later - world.clock.now() <= timedelta(hours=1)


@ON_SQLITE
async def test_240_hours_are_as_good_as_one(world: World) -> None:
    core = await world.core()
    await core.bulk(
        ALICE,
        [
            turn("it rains", importance=0.06),
            fact("a fact without a slot", importance=0.7),
            turn("long ago", importance=0.01),
        ],
    )
    messages = 0
    for _ in range(240):
        messages += await hour(core)
        world.clock.forward(3600)
    assert messages == 240 + 1, "one run, for what was new: what fades later is told by reads"
    (memory,) = await listed(core)
    assert memory.importance_base == 0.7
    assert Counter(event.event_type for event in await world.log()) == {"created": 3}
    once = await world.core(short_term=None, forgetting="strict")
    await once.bulk(BOB, [turn("it rains", importance=0.06), turn("long ago", importance=0.01)])
    world.clock.forward(240 * 3600)
    await hour(once)
    assert {memory.status for memory in await listed(once, BOB, status="all")} == {Status.DECAYED}


@ON_SQLITE
async def test_what_one_run_may_not_take_out_of_sight_the_next_does_at_once(world: World) -> None:
    core = await world.core(upkeep_cap=3, forgetting="strict")
    await core.bulk(ALICE, [turn(f"word{n}", importance=0.1) for n in range(8)])
    world.clock.forward(100 * DAY)
    await hour(core)
    assert len(await listed(core, status="decayed")) == 8
    assert len(await runs(core)) == 3
    assert await hour(core) == 1


async def test_what_is_saved_at_the_moment_of_a_run_is_in_the_next_one(world: World) -> None:
    core = await world.core(forgetting="strict")
    await core.save(ALICE, turn("it rains", importance=0.1))
    await hour(core)
    for _ in range(2):
        head = await world.head()
        assert head is not None
        assert head.due_at is not None
        world.clock.moment = head.due_at
        await hour(core)
        await core.save(ALICE, turn("it snows", importance=0.1))
    world.clock.forward(3600)
    await hour(core)
    head = await world.head()
    assert head is not None
    assert head.consolidated_sequence == head.sequence
    assert head.due_at is None or head.due_at > world.clock.now()


async def begun_and_killed(world: World) -> None:
    """A worker begins the run of the hour, and dies."""
    dying = await world.core(wrap=lambda store: DiesAfter(store, 1))
    with suppress(Killed):
        await hour(dying)
    await world.end(dying)


async def settled_in_the_next_hours(world: World, core: MemoryCore) -> None:
    """Within two hours all events are read, and no run is due."""
    for _ in range(2):
        world.clock.forward(3600)
        await core.sweep()
        await hour(core)
    head = await world.head()
    assert head is not None
    assert head.consolidated_sequence == head.sequence
    assert head.due_at is None or head.due_at > world.clock.now()


async def test_what_is_saved_at_the_moment_of_a_run_that_was_cancelled_is_in_the_next_one(
    world: World,
) -> None:
    core = await world.core()
    await core.save(ALICE, turn("it rains"))
    await begun_and_killed(world)
    (run,) = await runs(core)
    await core.cancel(ALICE, run.task_id)
    await core.save(ALICE, turn("it snows"))
    await settled_in_the_next_hours(world, core)


async def test_what_is_saved_at_the_moment_when_a_run_is_to_be_tried_again_is_in_the_next_one(
    world: World,
) -> None:
    core = await world.core()
    await core.save(ALICE, turn("it rains"))
    await begun_and_killed(world)
    world.clock.forward(DAY)
    await core.save(ALICE, turn("it snows"))
    await settled_in_the_next_hours(world, core)


@ON_SQLITE
async def test_foresight_that_ended_wakes_nobody_is_counted_by_the_next_run_and_ages_for_the_archive(  # noqa: E501
    world: World,
) -> None:
    core = await world.core()
    cold = Foresight(description="has a cold", start_time=NOW, end_time=NOW + timedelta(days=5))
    made = (
        await core.save(ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city"))
    ).memory
    with_cold = made.model_copy(update={"foresight": [cold]})
    head = await world.head()
    assert head is not None
    await (await world.look_on()).commit(
        ALICE, batch(head, [Write("put", document(with_cold))], events=0)
    )
    await hour(core)
    world.clock.forward(4 * DAY)
    assert await hour(core) == 1
    world.clock.forward(2 * DAY)
    seen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert {name: count for name, count in seen.counts.items() if count} == {"foresight_ended": 1}  # type: ignore[union-attr]
    assert await hour(core) == 1, "nothing is to be done about it"
    await core.consolidate(ALICE, ConsolidateInput())
    await hour(core)
    first, *_ = await runs(core)
    assert first.result is not None
    assert first.result["counts"] == {"foresight_ended": 1}
    seen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert {name: count for name, count in seen.counts.items() if count} == {}  # type: ignore[union-attr]
    world.clock.forward(3660 * DAY)
    seen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert {name: count for name, count in seen.counts.items() if count} == {"archive_runs": 1}  # type: ignore[union-attr]
    await hour(core)
    assert [memory.status for memory in await listed(core, status="all")] == [Status.ARCHIVED]
    world.clock.forward(3600)
    await hour(core)
    assert await hour(core) == 1


@ON_SQLITE
async def test_what_was_looked_at_this_hour_does_not_fade_in_it(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, fact("the door is green", importance=0.1))
    world.clock.forward(29 * DAY)
    assert (await core.retrieve(ALICE, RetrieveInput(query="the door is green", limit=1))).results
    world.clock.forward(2 * DAY)
    await begun(core)
    await Hand(core, QUEUE).work_all()
    assert [memory.status for memory in await listed(core, status="all")] == [Status.ACTIVE]


async def test_the_parts_of_the_hour_fail_alone(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    def part(name: str, error: Exception | None = None) -> Any:
        async def work() -> str:
            done.append(name)
            if error is not None:
                raise error
            return name

        work.__name__ = name
        return work

    await each(part("one"), part("two"))
    with pytest.raises(ExceptionGroup) as raised:
        await each(
            part("three", ValueError("3")), part("four"), part("five", OSError("5")), part("six")
        )
    assert done == ["one", "two", "three", "four", "five", "six"]
    assert [str(error) for error in raised.value.exceptions] == ["3", "5"]
    assert [record.args for record in caplog.records if record.levelname == "ERROR"] == [
        ("three",),
        ("five",),
    ]
