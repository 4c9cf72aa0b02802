"""Runs of consolidation, whatever their steps: frozen news, chunks done once, a watermark that only
a whole run moves, the next one due.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from memory_core.consolidation.run_commits import RunFinishRules
from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Event, Head
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Call, Foreseen
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ports import Document
from memory_core.tasks.leases import MAX_ATTEMPTS
from tests.builders import ALICE, NOW
from tests.runs import QUEUE, Asking, Tagging, begun, hour, runs, settled, stepping
from tests.tasks import Hand, task_of
from tests.world import DiesAfter, Down, Killed, World, fact, listed, turn

ON_SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


async def standing(world: World) -> Head:
    head = await world.head()
    assert head is not None
    return head


async def tags(world: World) -> list[Event]:
    return [event for event in await world.log() if event.actor == "consolidation"]


async def test_a_run_goes_over_what_others_did_since_the_last_and_never_over_its_own(
    world: World,
) -> None:
    core = stepping(await world.core(), step := Tagging())
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(5)])
    first = await settled(core)
    assert first.result is not None
    assert (first.result["counts"], first.result["read"], first.result["to"]) == (
        {"tagged": 5},
        5,
        5,
    )
    assert step.asked == [None, 2, 4, 6]
    assert (await standing(world)).consolidated_sequence == 5
    again = await settled(core)
    assert again.result is not None
    assert (again.result["counts"], again.result["read"]) == ({}, 0)
    await core.save(ALICE, turn("word5"))
    third = await settled(core)
    assert third.result is not None
    assert (third.result["counts"], third.result["read"]) == ({"tagged": 1}, 1)
    assert len(await tags(world)) == 6


@ON_SQLITE
@pytest.mark.parametrize("applied", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("commits", [1, 2, 3, 4])
async def test_killed_between_any_two_chunks_it_goes_on_from_there(
    world: World, commits: int, applied: bool
) -> None:
    core = stepping(await world.core(), Tagging(), Tagging("further"))
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(3)])
    dying = stepping(
        await world.core(wrap=lambda store: DiesAfter(store, commits, applied)),
        Tagging(),
        Tagging("further"),
    )
    accepted = await begun(dying)
    with pytest.raises(Killed):
        await Hand(dying, QUEUE).work_all()
    world.clock.forward(100)
    await Hand(core, QUEUE).work_all()
    task = await task_of(core, accepted)
    assert task.result is not None
    assert (task.status, task.result["counts"]) == ("succeeded", {"tagged": 6})
    assert len(await tags(world)) == 6
    assert (await standing(world)).consolidated_sequence == 3


async def test_two_workers_do_each_chunk_once(world: World) -> None:
    cores = [stepping(await world.core(commit_deadline_s=60), Tagging()) for _ in range(2)]
    await cores[0].bulk(ALICE, [turn(f"word{n}") for n in range(9)])
    accepted = await begun(cores[0])
    (message,) = await Hand(cores[0], QUEUE).take()
    await cores[0].queue.send(QUEUE, message.body)
    world.clock.forward(60)
    await asyncio.gather(*(Hand(core, QUEUE).work_all() for core in cores))
    task = await task_of(cores[0], accepted)
    assert task.result is not None
    assert (task.status, task.result["counts"]) == ("succeeded", {"tagged": 9})
    assert len(await tags(world)) == 9


class Holed:
    """A store whose log does not show its second event yet."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.holed = inner, True

    async def events(self, *args: Any) -> list[Event]:
        return [
            event
            for event in await self._inner.events(*args)
            if not (self.holed and event.sequence == 2)
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@ON_SQLITE
async def test_a_run_waits_until_it_can_read_every_event_of_its_range(world: World) -> None:
    core = stepping(await world.core(wrap=Holed), Tagging())
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(3)])
    accepted = await begun(core)
    await Hand(core, QUEUE).work_all()
    task = await task_of(core, accepted)
    assert (task.status, task.attempts, task.waiting_for) == ("accepted", 0, "long_term")
    assert (await standing(world)).consolidated_sequence == 0
    store = core._services.adapters.long_term
    assert isinstance(store, Holed)
    store.holed = False
    world.clock.forward(60)
    await Hand(core, QUEUE).work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    assert len(await tags(world)) == 3


async def test_a_run_of_one_session_settles_nothing_for_the_others(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    await core.bulk(ALICE, [turn("one", "s1"), turn("two", "s2")])
    before = await standing(world)
    task = await settled(core, session_id="s1")
    assert task.result is not None
    assert task.result["counts"] == {"tagged": 1}
    after = await standing(world)
    assert (after.consolidated_sequence, after.due_at, after.settled_at, after.fresh_count) == (
        0,
        before.due_at,
        None,
        2,
    )
    assert (await settled(core)).result["counts"] == {"tagged": 1}  # type: ignore[index]


async def test_who_writes_during_a_run_is_due_again_at_that_moment_and_loses_nothing(
    world: World,
) -> None:
    other = await world.core()

    async def write() -> None:
        step.before = None
        world.clock.forward(60)
        await other.save(ALICE, turn("said meanwhile"))
        memory = next(memory for memory in await listed(other) if memory.content == "word0")
        await other.update(
            ALICE, memory.id, UpdateInput(content="edited meanwhile"), memory.etag
        ) if memory.type == "semantic" else None

    core = stepping(await world.core(), step := Tagging(before=write))
    await core.bulk(ALICE, [fact("word0"), turn("word1")])
    await begun(core)
    assert (await standing(world)).due_at == NOW + DAY
    await Hand(core, QUEUE).work_all()
    head = await standing(world)
    assert (head.due_at, head.consolidated_sequence) == (NOW + timedelta(seconds=60), 2)
    edited = next(memory for memory in await listed(core) if memory.content == "edited meanwhile")
    assert edited.tags == ["tagging"]
    world.clock.forward(3600)
    await hour(core)
    assert [memory.tags for memory in await listed(core)] == [["tagging"]] * 3
    assert (await standing(world)).due_at is not None  # for what will have faded


def always_failing() -> Tagging:
    async def fail() -> None:
        raise RuntimeError("this step never works")

    return Tagging(before=fail)


async def worked_off(core: MemoryCore, world: World) -> Task:
    for _ in range(2 * MAX_ATTEMPTS):
        await Hand(core, QUEUE).work_all()
        world.clock.forward(1200)
    return (await runs(core))[0]


@ON_SQLITE
async def test_a_run_that_always_fails_is_given_up_and_another_tried_a_day_later(
    world: World,
) -> None:
    core = stepping(await world.core(), always_failing())
    await core.save(ALICE, turn("word"))
    await hour(core)
    task = await worked_off(core, world)
    assert (task.status, task.attempts) == ("poisoned", MAX_ATTEMPTS)
    assert str(task.error) == "RuntimeError"
    head = await standing(world)
    assert (head.consolidated_sequence, head.due_at) == (0, NOW + DAY)
    await core.save(ALICE, turn("more"))
    assert await hour(core) == 2, "written to or not, another one is not begun so soon"
    assert len(await runs(core)) == 1
    world.clock.moment = NOW + DAY
    core = stepping(core, Tagging())
    await hour(core)
    later, earlier = await runs(core)
    assert (later.status, earlier.status, (await standing(world)).consolidated_sequence) == (
        "succeeded",
        "poisoned",
        2,
    )
    await core.retry(ALICE, earlier.task_id)
    await Hand(core, QUEUE).work_all()
    overtaken = await core.task(ALICE, earlier.task_id)
    assert (overtaken.status, len(await tags(world))) == ("cancelled", 2)
    assert "another run" in str(overtaken.error)


async def test_while_a_run_is_under_way_no_other_is_begun(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    await core.bulk(ALICE, [turn("one", "s1"), turn("two", "s2")])
    first = await begun(core)
    assert await begun(core) == await begun(core, session_id="s1") == first
    await Hand(core, QUEUE).work_all()
    of_one = await begun(core, session_id="s1")
    assert await begun(core, session_id="s1") == of_one
    for asked in ({}, {"session_id": "s2"}):
        with pytest.raises(Conflict, match=of_one.task_id):
            await begun(core, **asked)
    await Hand(core, QUEUE).work_all()
    assert len(await runs(core)) == 2


async def test_one_idempotency_key_is_one_run(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    await core.save(ALICE, turn("one"))
    keyed = Call(idempotency_key="k1")
    first = await begun(core, call=keyed)
    await Hand(core, QUEUE).work_all()
    assert await begun(core, call=keyed) == first
    with pytest.raises(Conflict):
        await begun(core, call=keyed, session_id="s1")


async def test_a_dry_run_says_what_would_be_done_and_does_nothing(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    await core.bulk(ALICE, [turn("one"), turn("two")])
    before = await standing(world)
    assert await core.consolidate(ALICE, ConsolidateInput(dry_run=True)) == Foreseen(
        {"tagged": 2}, capped=False
    )
    assert await standing(world) == before
    assert await runs(core) == []


async def test_a_run_reports_what_it_did_and_what_that_cost(world: World) -> None:
    core = await world.core()
    rules = RunFinishRules(Fading(), timedelta(days=4000), prompt_price=2.0, completion_price=10.0)

    async def wait() -> None:
        step.before = None
        world.clock.forward(2.5)

    core = stepping(
        core, step := Tagging(before=wait), Asking(core._services.task_services.steps), rules=rules
    )
    await core.bulk(ALICE, [turn("one"), turn("two")])
    task = await settled(core)
    counts = {
        "after": 0,
        "to": 2,
        "read": 2,
        "tokens": {"prompt": 1_000, "completion": 200},
        "cost": 0.004,
        "duration_s": 2.5,
    }
    assert task.result == {
        "counts": {"tagged": 2, "prompt_tokens": 1_000, "completion_tokens": 200},
        **counts,
    }
    (report,) = await (await world.look_on()).page(ALICE, "run", None, None, 10)
    assert report.id.startswith("run_")
    assert {name: report.body[name] for name in (*counts, "counts")} == {
        **counts,
        "counts": {"tagged": 2},
    }
    assert report.expires_at == world.clock.now() + timedelta(days=30)
    text = core.metrics().decode()
    for kind, count in (("runs", 1), ("read", 2), ("tagged", 2), ("prompt_tokens", 1_000)):
        assert f'memory_core_consolidation_total{{what="{kind}"}} {float(count)}' in text


@ON_SQLITE
async def test_the_next_run_is_due_when_time_will_have_done_something(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    await core.save(ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city"))
    await core.save(ALICE, turn("it rains", importance=0.4))
    await settled(core)
    ten_years = timedelta(hours=10 * 365.25 * 24)
    assert (await standing(world)).due_at == NOW + ten_years + timedelta(seconds=2), (
        "what fades until then is told by reads"
    )
    strict = stepping(await world.core(forgetting="strict"), Tagging())
    await strict.save(ALICE, turn("it snows", importance=0.4))
    await settled(strict)
    due_at = (await standing(world)).due_at
    assert due_at is not None
    assert abs(due_at - NOW - 90 * DAY) < timedelta(seconds=5)


@ON_SQLITE
async def test_nothing_comes_to_a_user_who_has_nothing(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    await core.save(ALICE, turn("one", pinned=True))
    await settled(core)
    assert (await standing(world)).due_at is None
    world.clock.forward(1e9)
    assert await hour(core) == 1


@ON_SQLITE
async def test_an_open_question_is_looked_at_less_and_less_often(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    memory, other = [
        (await core.save(ALICE, turn(text, pinned=True))).memory for text in ("one", "two")
    ]
    record = ConflictRecord(
        id="cft_1",
        status="pending",
        similarity=0.9,
        confidence=0.5,
        strategy="ask",
        reason="?",
        old_id=memory.id,
        new_id=other.id,
        by="rule",
        at=NOW,
    )
    book = Ledger(await world.look_on(), world.clock, core._services.access_counts._ids)
    asking = Document("cft_1", "conflict", record.model_dump(mode="json"))
    await book.commit(
        ALICE,
        lambda look: Changes(
            None, creates=(asking,), head_fields=lambda head: {"pending_count": 1}
        ),
        ids=(),
        call=Call(),
    )
    waits = []
    for _ in range(5):
        await hour(core)
        due_at = (await standing(world)).due_at
        assert due_at is not None
        waits.append((due_at - world.clock.now()) / DAY)
        world.clock.moment = due_at
    assert [round(days) for days in waits] == [1, 1, 2, 4, 8]


@ON_SQLITE
async def test_more_than_one_run_goes_over_is_gone_over_at_once(world: World) -> None:
    core = stepping(await world.core(), Tagging())
    for start in range(0, 2_100, 100):
        await core.bulk(ALICE, [turn(f"word{n}", pinned=True) for n in range(start, start + 100)])
    core = stepping(core)  # without steps: only what is read counts
    await hour(core)
    assert sorted(run.result["read"] for run in await runs(core) if run.result) == [100, 2_000]
    head = await standing(world)
    assert (head.consolidated_sequence, head.due_at, head.fresh_count) == (2_100, None, 0)


async def test_a_store_that_goes_down_during_a_run_is_waited_for(world: World) -> None:
    async def go_down() -> None:
        step.before = None
        store.down = True

    core = stepping(await world.core(wrap=Down), step := Tagging(before=go_down))
    store = core._services.adapters.long_term
    assert isinstance(store, Down)
    await core.bulk(ALICE, [turn("one"), turn("two")])
    accepted = await begun(core)
    await Hand(core, QUEUE).work_all()
    store.down = False
    for _ in range(4):
        world.clock.forward(60)
        await Hand(core, QUEUE).work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    assert len(await tags(world)) == 2
