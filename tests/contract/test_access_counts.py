"""Accesses: counted once however often they are sent, beside the log, and gathered where other
processes find them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import pytest

from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.adapters.redis.client import server
from memory_core.adapters.redis.local import NullShortTermStore
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.adapters.system import RandomIds
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.ledger import access_counts as access_counts_module
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.waiting_accesses import (
    ADDED_AFTER,
    DOCUMENT_ID,
    MOST_WAITING,
    WaitingAccesses,
)
from memory_core.ports import AccessCount, Document, Due, LongTermStore, Snapshot, Write
from tests.builders import ALICE, NOW, StillClock, accessed, batch, document, memory, query, save
from tests.contract.conftest import StoreFactory
from tests.redis_server import RedisServer
from tests.runs import hour
from tests.tasks import ended
from tests.world import BOB, World

LATER = NOW + timedelta(hours=1)


async def stored(store: LongTermStore, identity: str, owner: Owner = ALICE) -> Memory:
    return Memory.model_validate((await store.snapshot(owner, [identity])).documents[identity].body)


async def counts(world: World, *ids: str, owner: Owner = ALICE) -> list[int]:
    """How often memories were shown, those accesses with them that are written down and
    not added yet.
    """
    store = await world.look_on()
    seen = await store.snapshot(owner, [*ids, DOCUMENT_ID])
    waiting = seen.documents[DOCUMENT_ID].body["touches"] if DOCUMENT_ID in seen.documents else {}
    return [seen.documents[name].body["access_count"] + waiting.get(name, [0])[0] for name in ids]


async def test_an_access_counts_and_moves_neither_head_nor_revision(store: LongTermStore) -> None:
    tea = memory("green tea")
    head = await save(store, tea)
    before = await stored(store, tea.id)
    assert await accessed(store, ALICE, {tea.id: AccessCount(3, LATER)}) == 1
    shown_memory = await stored(store, tea.id)
    assert (shown_memory.access_count, shown_memory.last_accessed_at) == (3, LATER)
    assert shown_memory.etag == before.etag
    assert (await store.snapshot(ALICE)).head == head


async def test_accesses_are_added_once_and_never_from_a_document_that_has_changed(
    store: LongTermStore,
) -> None:
    tea, coffee = memory("green tea"), memory("coffee")
    await save(store, tea, coffee)
    waiting = WaitingAccesses(store, StillClock())
    for _ in range(2):
        await waiting.merge(
            ALICE, "mrk_1", {tea.id: AccessCount(3, LATER), coffee.id: AccessCount(1, LATER)}
        )
    read = (await store.snapshot(ALICE, [DOCUMENT_ID])).documents[DOCUMENT_ID]
    assert await waiting.add(ALICE, [coffee.id]) == 1
    assert await waiting.add(ALICE, [coffee.id]) == 0
    assert await store.fold(ALICE, read, {coffee.id: AccessCount(1, LATER)}) is None
    await waiting.merge(
        ALICE, "mrk_1", {tea.id: AccessCount(3, LATER), coffee.id: AccessCount(1, LATER)}
    )
    assert await waiting.add(ALICE) == 1
    assert [(await stored(store, name)).access_count for name in (tea.id, coffee.id)] == [3, 1]


async def test_an_earlier_access_sets_no_later_one_back(store: LongTermStore) -> None:
    tea = memory("green tea", last_accessed_at=LATER)
    await save(store, tea)
    await accessed(store, ALICE, {tea.id: AccessCount(2, NOW)})
    assert (
        (await stored(store, tea.id)).access_count,
        (await stored(store, tea.id)).last_accessed_at,
    ) == (2, LATER)


async def test_what_is_gone_or_anothers_is_left_out(store: LongTermStore) -> None:
    tea, his = memory("green tea"), memory("his tea", owner=BOB)
    await save(store, tea)
    await save(store, his)
    await accessed(
        store,
        ALICE,
        {
            "mem_gone": AccessCount(1, LATER),
            tea.id: AccessCount(1, LATER),
            his.id: AccessCount(5, LATER),
        },
    )
    assert (await stored(store, tea.id)).access_count == 1
    assert (await stored(store, his.id, BOB)).access_count == 0


async def test_an_unknown_user_has_no_accesses(store: LongTermStore) -> None:
    assert await accessed(store, ALICE, {"mem_1": AccessCount(1, LATER)}) == 0
    assert (await store.snapshot(ALICE)).head is None


async def test_a_search_knows_the_new_count_in_every_process(
    store_factory: StoreFactory, adapter: str
) -> None:
    first, other = await store_factory(), await store_factory()
    tea = memory("green tea")
    await save(first, tea)
    # elsewhere a search may make the user held, whose counts are those of when he was read
    if adapter == "sqlite":
        assert (await other.search(ALICE, query("green"))).candidates.access_count.tolist() == [0]
    await accessed(first, ALICE, {tea.id: AccessCount(7, LATER)})
    for store in (first, other):
        candidates = (await store.search(ALICE, query("green"))).candidates
        assert candidates.access_count.tolist() == [7]
        assert candidates.accessed_at.tolist() == [LATER.timestamp()]


async def test_a_commit_under_way_is_not_disturbed(store: LongTermStore) -> None:
    tea, coffee = memory("green tea"), memory("coffee")
    head = await save(store, tea)
    await accessed(store, ALICE, {tea.id: AccessCount(1, LATER)})
    await store.commit(ALICE, batch(head, [Write("create", document(coffee))]))
    assert (await stored(store, tea.id)).access_count == 1


async def test_who_has_accesses_that_wait_is_due_when_their_time_has_come(
    store: LongTermStore,
) -> None:
    tea = memory("green tea")
    await save(store, tea)
    clock = StillClock()
    waiting = WaitingAccesses(store, clock)
    await waiting.merge(ALICE, "mrk_1", {tea.id: AccessCount(1, NOW)})
    (within,) = await store.ranges()
    ends = NOW + ADDED_AFTER
    assert await store.due(within, ends - timedelta(seconds=1), None, 10) == []
    assert await store.due(within, ends, None, 10) == [Due(ALICE, ends)]
    assert await store.due(within, ends, Due(ALICE, ends), 10) == []
    assert (await waiting.add_due(ALICE))[0] == 0
    clock.moment = ends
    assert (await waiting.add_due(ALICE))[0] == 1
    assert await store.due(within, ends, None, 10) == []


class Halfway:
    """A store that is gone when accesses are to be added."""

    def __init__(self, inner: LongTermStore) -> None:
        self._inner = inner

    async def fold(
        self, owner: Owner, accesses: Document, counts: Mapping[str, AccessCount]
    ) -> Document | None:
        raise Unavailable("long_term", "gone")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def test_what_was_to_be_added_at_once_and_was_not_is_due_though_more_comes(
    store: LongTermStore,
) -> None:
    tea, coffee, water = memory("green tea"), memory("coffee"), memory("water")
    await save(store, tea, coffee, water)
    clock = StillClock()
    merged = await WaitingAccesses(cast("LongTermStore", Halfway(store)), clock).merge(
        ALICE, "mrk_1", {tea.id: AccessCount(1, NOW, faded=True)}
    )
    assert merged == (1, 0), (
        "it is written down, and to be brought again it would be counted twice after a few others"
    )
    waiting = WaitingAccesses(store, clock)
    await waiting.merge(ALICE, "mrk_2", {coffee.id: AccessCount(1, NOW)})
    assert await waiting.merge(ALICE, "mrk_3", {water.id: AccessCount(1, NOW, faded=True)}) == (
        1,
        1,
    )
    assert [(await store.due(within, NOW, None, 10)) for within in await store.ranges()] == [
        [Due(ALICE, NOW)]
    ]
    assert (await waiting.add_due(ALICE))[0] == 2


async def test_as_many_as_a_document_holds_are_added_at_once(store: LongTermStore) -> None:
    tea = memory("green tea")
    await save(store, tea)
    waiting = WaitingAccesses(store, StillClock())
    many = {f"mem_{number}": AccessCount(1, NOW) for number in range(2 * MOST_WAITING)}
    merged = await waiting.merge(ALICE, "mrk_1", {tea.id: AccessCount(2, NOW)} | many)
    assert merged.memories == 2 * MOST_WAITING + 1
    assert (
        len((await store.snapshot(ALICE, [DOCUMENT_ID])).documents[DOCUMENT_ID].body["touches"])
        <= MOST_WAITING
    )
    await waiting.add(ALICE)
    assert (await stored(store, tea.id)).access_count == 2


async def test_what_a_clock_hours_ahead_wrote_waits_no_longer_than_what_came_since(
    store: LongTermStore,
) -> None:
    tea = memory("green tea")
    await save(store, tea)
    ahead, clock = StillClock(NOW + timedelta(days=400)), StillClock()
    await WaitingAccesses(store, ahead).merge(ALICE, "mrk_1", {tea.id: AccessCount(1, NOW)})
    waiting = WaitingAccesses(store, clock)
    await waiting.merge(ALICE, "mrk_2", {tea.id: AccessCount(1, NOW)})
    clock.forward(25 * 3600)
    assert (await waiting.add_due(ALICE))[0] == 1
    assert (await stored(store, tea.id)).access_count == 2


async def saved(core: MemoryCore, *contents: str, owner: Owner = ALICE) -> list[str]:
    return [
        (await core.save(owner, SaveInput(content=content, type="episodic"))).memory.id
        for content in contents
    ]


async def found(core: MemoryCore, words: str, owner: Owner = ALICE) -> list[str]:
    results = (
        await core.retrieve(owner, RetrieveInput(query=words, similarity_threshold=0.0))
    ).results
    return [hit.memory.id for hit in results]


async def test_what_a_retrieve_shows_is_counted_when_it_is_written_down(world: World) -> None:
    core = await world.core()
    tea, coffee = await saved(core, "green tea in the morning", "coffee at noon")
    for _ in range(3):
        assert tea in await found(core, "green tea")
    await core.get(ALICE, coffee)
    events = len(await world.log())
    assert await core.flush_accesses() == 2
    assert (await counts(world, tea))[0] == 3
    assert len(await world.log()) == events
    assert await core.flush_accesses() == 0


async def test_a_look_back_in_time_is_no_access(world: World) -> None:
    core = await world.core()
    (tea,) = await saved(core, "green tea")
    world.clock.forward(60)
    await core.retrieve(ALICE, RetrieveInput(query="tea", at=world.clock.now()))
    await core.get(ALICE, tea, at=world.clock.now())
    assert await core.flush_accesses() == 0


async def test_a_process_that_ends_in_peace_writes_down_what_it_gathered(world: World) -> None:
    core = await world.core(short_term=NullShortTermStore())
    (tea,) = await saved(core, "green tea")
    await found(core, "tea")
    await world.end(core)
    assert await counts(world, tea) == [1]


async def written(world: World, identity: str, count: int) -> None:
    """Wait until that many accesses are written down."""
    async with asyncio.timeout(20):
        while await counts(world, identity) != [count]:
            await asyncio.sleep(0.01)


async def test_without_redis_they_are_written_within_a_minute_in_one_write(world: World) -> None:
    core = await world.core(short_term=NullShortTermStore())
    (tea,) = await saved(core, "green tea")
    await found(core, "tea")
    world.clock.forward(6)
    await found(core, "tea")
    await written(world, tea, 2)
    for _ in range(3):
        world.clock.forward(15)
        await found(core, "tea")
        await asyncio.sleep(0)
    assert await counts(world, tea) == [2], "a user who asks all the time is written once a minute"
    world.clock.forward(16)
    await found(core, "tea", BOB)
    await written(world, tea, 5)


async def test_a_clock_that_is_set_back_delays_the_writing_of_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_counts_module, "HANDED_ON_EVERY", timedelta(milliseconds=20))
    core = await world.core(short_term=NullShortTermStore())
    (tea,) = await saved(core, "green tea")
    world.clock.forward(3 * 3600)
    await found(core, "tea")
    await written(world, tea, 1)
    world.clock.forward(-3 * 3600)
    await found(core, "tea")
    await written(world, tea, 2)


async def test_an_instance_that_is_taken_away_after_its_last_request_has_written_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no further query, and it is not closed: what it gathered is written by the time that
    passes, and by nothing else.
    """
    monkeypatch.setattr(access_counts_module, "HANDED_ON_EVERY", timedelta(milliseconds=20))
    core = await world.core(short_term=NullShortTermStore())
    (tea,) = await saved(core, "green tea")
    await found(core, "tea")
    await written(world, tea, 1)
    core._services.access_counts._cancel_timer()  # … and here the instance is gone
    assert await (await world.core()).flush_accesses() == 0
    assert await counts(world, tea) == [1]


@dataclass
class Deaf:
    """A store whose answers to accesses are lost while it is `down`, though it has written the
    first of them down.
    """

    inner: LongTermStore
    down: bool = True
    asked: int = 0

    async def snapshot(self, owner: Owner, ids: Sequence[str] = ()) -> Snapshot:
        if self.down and self.asked:
            raise Unavailable("long_term", "no answer")
        return await self.inner.snapshot(owner, ids)

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        self.asked += 1
        while True:
            try:
                stored_document = await self.inner.keep(owner, document)
                break
            except Unavailable:
                if not self.down:
                    raise
        if self.down:
            raise Unavailable("long_term", "no answer")
        return stored_document

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def test_what_could_not_be_written_is_tried_again_and_counts_once(world: World) -> None:
    core = await world.core()
    (tea,) = await saved(core, "green tea")
    store = Deaf(await world.look_on())
    gathering = AccessCounts(
        cast("LongTermStore", store), NullShortTermStore(), world.clock, RandomIds()
    )
    gathering.note(ALICE, [tea], world.clock.now())
    with pytest.raises(Unavailable):
        await gathering.flush(ALICE)
    store.down = False
    gathering.note(ALICE, [tea], world.clock.now())
    assert await gathering.flush_all() == 1
    assert await counts(world, tea) == [2]
    asked = store.asked
    await gathering.close()
    assert store.asked == asked, "nothing is left"


class Slow(NullShortTermStore):
    """Refuses what it is given only after more memories were shown meanwhile."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile

    async def add_accesses(self, counts: Mapping[Owner, Mapping[str, AccessCount]]) -> bool:
        self._meanwhile()
        return False


async def test_what_is_shown_while_others_are_handed_on_takes_no_room_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_counts_module, "MOST_GATHERED", 3)
    core = await world.core()
    tea, *others = await saved(core, "green tea", "coffee", "water")
    gathering = AccessCounts(
        await world.look_on(),
        Slow(lambda: gathering.note(ALICE, [tea], NOW)),
        world.clock,
        RandomIds(),
    )
    for _ in range(4):
        gathering.note(ALICE, [tea], world.clock.now())
        world.clock.forward(6)
        gathering.note(ALICE, [tea], world.clock.now())
        await asyncio.sleep(0)
    await gathering.close()
    gathering.note(ALICE, [tea, *others], world.clock.now())
    assert await gathering.flush(ALICE) == 3
    assert min(await counts(world, tea, *others)) > 0


class Held(NullShortTermStore):
    """Refuses what it is given only when it is told to."""

    def __init__(self) -> None:
        self.asked, self.answer = asyncio.Event(), asyncio.Event()

    async def add_accesses(self, counts: Mapping[Owner, Mapping[str, AccessCount]]) -> bool:
        self.asked.set()
        await self.answer.wait()
        return False


async def test_what_is_being_handed_on_is_written_by_who_writes_everything_down(
    world: World,
) -> None:
    core, short = await world.core(), Held()
    (tea,) = await saved(core, "green tea")
    gathering = AccessCounts(await world.look_on(), short, world.clock, RandomIds())
    gathering.note(ALICE, [tea], world.clock.now())
    world.clock.forward(6)
    gathering.note(ALICE, [tea], world.clock.now())
    await short.asked.wait()
    writing = asyncio.create_task(gathering.flush_all())
    await asyncio.sleep(0)
    short.answer.set()
    await writing
    assert await counts(world, tea) == [2]
    await gathering.close()


async def test_who_finds_nothing_leaves_nothing_to_be_written(world: World) -> None:
    gathering = AccessCounts(
        await world.look_on(HashEmbedder(64)), NullShortTermStore(), world.clock, RandomIds()
    )
    gathering.note(BOB, [], world.clock.now())
    assert gathering._gathered == {}, "users who find nothing would fill the process"
    await gathering.close()
    assert await world.head(BOB) is None


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    process = RedisServer()
    process.start()
    yield process
    process.kill()


@pytest.fixture
async def shared(redis: RedisServer, clock: StillClock) -> AsyncIterator[RedisShortTermStore]:
    made = RedisShortTermStore(server(redis.url), clock, timeout_s=5)
    await made.open()
    await made._connected().flushall()
    yield made
    await made.close()


async def test_redis_gathers_for_all_processes_and_gives_each_access_once(
    shared: RedisShortTermStore,
) -> None:
    await shared.add_accesses(
        {ALICE: {"mem_1": AccessCount(2, NOW)}, BOB: {"mem_9": AccessCount(1, NOW)}}
    )
    await shared.add_accesses(
        {ALICE: {"mem_1": AccessCount(1, LATER), "mem_2": AccessCount(1, NOW)}}
    )
    assert set(await shared.owners_with_accesses(10)) == {ALICE, BOB}
    taken = await shared.take_accesses(ALICE, "mrk_a")
    assert taken is not None
    assert taken.counts == {"mem_1": AccessCount(3, LATER), "mem_2": AccessCount(1, NOW)}
    await shared.add_accesses({ALICE: {"mem_1": AccessCount(5, LATER, faded=True)}})
    # the first attempt died: the second one goes on with it, under its id
    assert await shared.take_accesses(ALICE, "mrk_b") == taken
    await shared.drop_taken_accesses(ALICE, "mrk_b")
    assert await shared.take_accesses(ALICE, "mrk_c") == taken
    await shared.drop_taken_accesses(ALICE, "mrk_a")
    rest = await shared.take_accesses(ALICE, "mrk_d")
    assert rest is not None
    assert (rest.flush_id, rest.counts) == ("mrk_d", {"mem_1": AccessCount(5, LATER, faded=True)})
    await shared.drop_taken_accesses(ALICE, "mrk_d")
    assert await shared.take_accesses(ALICE, "mrk_e") is None
    assert await shared.owners_with_accesses(10) == [BOB]


async def test_an_owner_of_any_name_comes_back_as_himself(shared: RedisShortTermStore) -> None:
    odd = Owner("app", "a:b%3A{ü} 日本")
    await shared.add_accesses({odd: {"mem_1": AccessCount(1, NOW)}})
    assert await shared.owners_with_accesses(10) == [odd]


async def test_killed_between_writing_down_and_forgetting_counts_once(
    world: World, shared: RedisShortTermStore
) -> None:
    core = await world.core()
    (tea,) = await saved(core, "green tea")
    dying = await world.core(short_term=shared)
    await found(dying, "tea")
    world.clock.forward(6)
    await found(dying, "tea")
    async with asyncio.timeout(20):
        while not await shared.owners_with_accesses(10):
            await asyncio.sleep(0.01)
    taken = await shared.take_accesses(ALICE, "mrk_dead")
    assert taken is not None
    # … and here its process dies, before `taken`
    await dying._services.access_counts._waiting.merge(ALICE, taken.flush_id, taken.counts)
    another = await world.core(short_term=shared)
    await another.flush_accesses()
    assert await counts(world, tea) == [2]
    assert await shared.take_accesses(ALICE, "mrk_x") is None


async def test_the_same_procedure_told_again_makes_it_surer(world: World) -> None:
    core = await world.core()
    item = SaveInput(type="procedural", key="coffee", value="oat milk", confidence=0.6)
    first = await core.save(ALICE, item)
    second = await core.save(ALICE, item)
    assert (second.outcome, second.memory.reinforcement_count) == ("reinforced", 1)
    assert second.memory.confidence == pytest.approx(0.64)
    assert second.memory.last_used_at is not None
    third = await core.save(ALICE, item)
    assert third.memory.confidence == pytest.approx(0.676)
    other = await core.save(ALICE, item.model_copy(update={"value": "soy milk", "confidence": 0.5}))
    assert (other.memory.id, other.memory.reinforcement_count, other.memory.confidence) == (
        first.memory.id,
        0,
        0.5,
    )


async def test_the_hours_work_adds_what_has_waited_for_a_day_once_and_an_erasure_removes_what_waits(
    world: World,
) -> None:
    core = await world.core(short_term=NullShortTermStore())
    (tea,) = await saved(core, "green tea")
    await found(core, "tea")
    await core.flush_accesses()
    store = await world.look_on()
    assert (await stored(store, tea)).access_count == 0
    world.clock.forward(25 * 3600)
    for _ in range(2):
        await hour(core)
        assert (await stored(store, tea)).access_count == 1
        world.clock.forward(25 * 3600)
    await found(core, "tea")
    await core.flush_accesses()
    await ended(world, core, (await core.erase(ALICE)).task_id, apart_s=700)
    assert DOCUMENT_ID not in (await store.snapshot(ALICE, [DOCUMENT_ID])).documents
    assert await core.flush_accesses() == 0
