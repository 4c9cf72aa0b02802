"""What any short-term store must do, in this process or in a Redis.

The caller of `recall` serves a set only when its epoch is the head's and its stamp is not behind
the head's last_removal_sequence; `served` below applies that rule as the retrieve does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest
from redis.asyncio import Redis

from memory_core.adapters.redis.client import Connect, server
from memory_core.adapters.redis.local import EmbeddedShortTermStore, NullShortTermStore
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.domain.memory import Memory
from memory_core.domain.rate_limits import Bucket, Rate
from memory_core.domain.scope import Owner
from memory_core.ports import ShortTermStore, Stamp
from tests.memories import ANA, BEN, MovableClock, turn, unit_vector
from tests.redis_server import RedisServer


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    process = RedisServer()
    process.start()
    yield process
    process.kill()


Store = RedisShortTermStore | EmbeddedShortTermStore


class Bench:
    """Makes stores over one Redis, and keeps the plain client of the last, for a look at what is
    really there; without a Redis, stores of this process.
    """

    def __init__(self, connect: Connect | None) -> None:
        self.clock = MovableClock()
        self._connect = connect
        self._made: list[Store] = []
        self.client: Redis | None = None

    async def store(self, **settings: Any) -> Store:
        made: Store
        if self._connect is None:
            made = EmbeddedShortTermStore(self.clock, **settings)
        else:
            made = RedisShortTermStore(self._connected, self.clock, timeout_s=5, **settings)
        self._made.append(made)
        await made.open()
        return made

    async def close(self) -> None:
        for made in self._made:
            assert not isinstance(made, RedisShortTermStore) or made.failures == 0
            await made.close()

    def _connected(self) -> Redis:
        assert self._connect is not None
        self.client = self._connect()
        return self.client


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that look into a Redis run on the store that has one, all others on both."""
    if "bench" in metafunc.fixturenames:
        stores = ["redis"] if "client" in metafunc.fixturenames else ["embedded", "redis"]
        metafunc.parametrize("bench", stores, indirect=True)


@pytest.fixture
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    connect = None
    if request.param == "redis":
        connect = server(request.getfixturevalue("redis_server").url)
        client = connect()
        await client.flushall()
        await client.aclose()
    made = Bench(connect)
    yield made
    await made.close()


@pytest.fixture
async def store(bench: Bench) -> Store:
    return await bench.store()


@pytest.fixture
def client(bench: Bench, store: Store) -> Redis:
    assert bench.client is not None
    return bench.client


def stamp(sequence: int, removal: int = 0, epoch: str = "e1") -> Stamp:
    return Stamp(epoch, sequence, removal)


async def served(
    store: ShortTermStore, head: Stamp, owner: Owner = ANA, session: str = "s1", limit: int = 500
) -> list[str]:
    """Ids that a retrieve would show from this session's set, newest first; nothing when the
    set is void.
    """
    current, memories = await store.recall(owner, session, limit)
    if (
        current is None
        or current.epoch != head.epoch
        or current.sequence < head.last_removal_sequence
    ):
        return []
    return [memory.id for memory in memories]


async def test_what_was_remembered_is_recalled_whole_and_newest_first(store: Store) -> None:
    saved = [turn(number, metadata={"n": number}, tags=["C++", "кофе"]) for number in (1, 2, 3)]
    for memory in saved:
        assert await store.remember(memory, stamp(memory.sequence))
    current, recalled = await store.recall(ANA, "s1", 10)
    assert current == Stamp("e1", 1, 1)
    assert [memory.model_dump() for memory in recalled] == [
        memory.model_dump() for memory in reversed(saved)
    ]
    for before, after in zip(reversed(saved), recalled, strict=True):
        assert before.embedding is not None
        assert after.embedding is not None
        assert after.embedding.dtype == np.float32
        np.testing.assert_array_equal(before.embedding, after.embedding)


async def test_a_memory_without_a_vector_comes_back_without_one(store: Store) -> None:
    await store.remember(turn(1, embedding=None), stamp(1))
    _, recalled = await store.recall(ANA, "s1", 10)
    assert recalled[0].embedding is None


async def test_recall_reads_the_newest_only(store: Store) -> None:
    for number in (3, 1, 2, 5, 4):
        await store.remember(turn(number), stamp(10))
    assert await served(store, stamp(10), limit=2) == ["mem_5", "mem_4"]


async def test_a_session_that_nobody_saved_to_is_held_by_nobody(store: Store) -> None:
    assert await store.recall(ANA, "elsewhere", 10) == (None, [])


async def test_a_memory_without_a_session_is_not_kept(store: Store) -> None:
    assert not await store.remember(turn(1, session=None), stamp(1))


async def test_remembering_an_id_again_replaces_it(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    await store.remember(turn(1, content="said better", revision=2), stamp(2))
    _, recalled = await store.recall(ANA, "s1", 10)
    assert [memory.content for memory in recalled] == ["said better"]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ((Owner("a", "b:c"), "s"), (Owner("a", "b"), "c:s")),
        ((Owner("a", "b}"), "s"), (Owner("a", "b"), "}s")),
        ((Owner("a", "b"), "s:session:t"), (Owner("a", "b:session:s"), "t")),
        ((Owner("a", "b"), "s"), (Owner("a", "b%3A"), "s")),
        ((Owner("a", "b"), "s:order"), (Owner("a", "b"), "s")),
        ((ANA, "s1"), (BEN, "s1")),
    ],
)
async def test_no_id_reaches_into_anothers_set(
    store: Store, first: tuple[Owner, str], other: tuple[Owner, str]
) -> None:
    await store.remember(turn(1, owner=first[0], session=first[1]), stamp(1))
    assert await store.recall(*other, 10) == (None, [])
    await store.drop(other[0], [other[1]], ["mem_1"], stamp(5), 0)
    assert await served(store, stamp(1), *first) == ["mem_1"]


async def test_the_oldest_leave_a_full_session(bench: Bench) -> None:
    store = await bench.store(session_cap=3)
    for number in range(1, 6):
        await store.remember(turn(number), stamp(number))
    assert await served(store, stamp(5)) == ["mem_5", "mem_4", "mem_3"]
    assert await store.rebuild(ANA, "s1", [turn(number) for number in (9, 7, 6, 8)], stamp(9))
    assert await served(store, stamp(9)) == ["mem_9", "mem_8", "mem_7"]


async def test_a_set_expires_a_day_after_its_last_write(store: Store, client: Redis) -> None:
    await store.remember(turn(1), stamp(1))
    await store.rebuild(ANA, "s2", [turn(1, session="s2")], stamp(1))
    names = await client.keys("mc:*")
    assert len(names) == 4
    assert [86_000 < await client.ttl(name) <= 86_400 for name in names] == [True] * 4


async def test_a_set_that_is_written_to_goes_on_living(
    bench: Bench, store: Store, client: Redis
) -> None:
    """Its life is extended once a 24th of it has passed, and at once where there is none or where
    the clock went back.
    """
    await store.remember(turn(1), stamp(1))
    names = await client.keys("mc:*")
    for number, minutes in ((2, 61), (3, 60), (4, -5)):
        for name in names:
            await client.expire(name, 80_000)
        bench.clock.advance(minutes=minutes)
        await store.remember(turn(number), stamp(number))
        assert [await client.ttl(name) > 86_000 for name in names] == [True] * 2
    entries, order = sorted(names)
    await client.delete(order)
    await store.remember(turn(5), stamp(5))
    assert [await client.ttl(name) > 86_000 for name in (entries, order)] == [True] * 2


async def test_a_write_back_older_than_the_sets_stamp_is_refused(store: Store) -> None:
    await store.remember(turn(5), stamp(5))
    assert not await store.remember(turn(4), stamp(4))
    assert await served(store, stamp(5)) == ["mem_5"]


async def test_adding_does_not_raise_the_stamp_over_a_removal_that_was_missed(store: Store) -> None:
    """Memory 1 was deleted by commit 3 and the drop was lost; commit 4's write-back must not make
    the set look clean.
    """
    await store.remember(turn(1), stamp(1))
    await store.remember(turn(4), stamp(4, removal=3))
    assert await served(store, stamp(4, removal=3)) == []


async def test_a_drop_takes_out_what_was_removed_and_keeps_the_rest(store: Store) -> None:
    for number in (1, 2, 3):
        await store.remember(turn(number), stamp(number))
    await store.drop(ANA, ["s1"], ["mem_2"], stamp(4, removal=4), 0)
    assert await served(store, stamp(4, removal=4)) == ["mem_3", "mem_1"]


async def test_a_drop_reaches_several_sessions_and_leaves_the_others_void(store: Store) -> None:
    for number, session in ((1, "s1"), (2, "s2"), (3, "s3")):
        await store.remember(turn(number, session=session), stamp(number))
    await store.drop(ANA, ["s1", "s2"], ["mem_1"], stamp(4, removal=4), 0)
    head = stamp(4, removal=4)
    assert [await served(store, head, session=session) for session in ("s1", "s2", "s3")] == [
        [],
        ["mem_2"],
        [],
    ]


async def test_a_drop_of_the_last_memory_still_refuses_its_late_write_back(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    await store.drop(ANA, ["s1"], ["mem_1"], stamp(2, removal=2), 0)
    assert not await store.remember(turn(1), stamp(1))
    assert await store.remember(turn(3), stamp(3, removal=2))
    assert await served(store, stamp(3, removal=2)) == ["mem_3"]


async def test_a_set_that_missed_an_earlier_removal_is_deleted_by_the_next(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    await store.remember(turn(2), stamp(2))
    # the drop of commit 3, which removed memory 1, never arrived
    await store.drop(ANA, ["s1"], ["mem_2"], stamp(4, removal=4), previous_removal=3)
    assert await store.recall(ANA, "s1", 10) == (None, [])


async def test_drops_that_arrive_in_the_wrong_order_bring_nothing_back(store: Store) -> None:
    for number in (1, 2, 3):
        await store.remember(turn(number), stamp(number))
    await store.drop(ANA, ["s1"], ["mem_2"], stamp(5, removal=5), previous_removal=4)
    await store.drop(ANA, ["s1"], ["mem_1"], stamp(4, removal=4), previous_removal=0)
    assert await served(store, stamp(5, removal=5)) == []


async def test_a_late_drop_does_not_lower_the_stamp(store: Store) -> None:
    await store.remember(turn(9), stamp(9, removal=8))
    await store.drop(ANA, ["s1"], ["mem_1"], stamp(4, removal=4), previous_removal=0)
    assert await served(store, stamp(9, removal=8)) == ["mem_9"]


async def test_a_write_back_paused_across_a_delete_of_its_own_memory_is_not_served(
    store: Store,
) -> None:
    """The set may exist or not when the delete comes; in neither case does the removed
    memory come back.
    """
    for session, warm in (("cold", False), ("warm", True)):
        paused = turn(5, session=session)
        if warm:
            await store.remember(turn(4, session=session), stamp(4))
        await store.drop(ANA, [session], [paused.id], stamp(6, removal=6), 0)
        await store.remember(paused, stamp(5))
        assert paused.id not in await served(store, stamp(6, removal=6), session=session)
        await store.remember(turn(7, session=session), stamp(7, removal=6))
        assert paused.id not in await served(store, stamp(7, removal=6), session=session)
        await store.drop(ANA, [session], ["mem_7"], stamp(8, removal=8), previous_removal=6)
        assert paused.id not in await served(store, stamp(8, removal=8), session=session)


async def test_a_write_back_of_an_erased_epoch_is_not_served(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    await store.remember(turn(1, epoch="e2", content="after the erase"), stamp(1, epoch="e2"))
    current, recalled = await store.recall(ANA, "s1", 10)
    assert current is not None
    assert (current.epoch, [memory.content for memory in recalled]) == ("e2", ["after the erase"])
    await store.remember(turn(2), stamp(2))  # a worker of the old epoch wakes up
    assert await served(store, stamp(1, epoch="e2")) == []


async def test_a_drop_of_another_epoch_deletes_the_set(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    await store.drop(ANA, ["s1"], [], stamp(1, epoch="e2"), 0)
    assert await store.recall(ANA, "s1", 10) == (None, [])


async def test_a_rebuild_replaces_a_void_set(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    assert await store.rebuild(ANA, "s1", [turn(2), turn(3)], stamp(4, removal=4))
    assert await served(store, stamp(4, removal=4)) == ["mem_3", "mem_2"]


async def test_a_rebuild_keeps_what_was_saved_after_it_had_read(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    await store.remember(turn(5), stamp(5))
    assert await store.rebuild(ANA, "s1", [turn(2)], stamp(4, removal=4))
    assert await served(store, stamp(5, removal=4)) == ["mem_5", "mem_2"]


async def test_a_rebuild_read_before_a_newer_set_is_refused(store: Store) -> None:
    await store.remember(turn(1), stamp(1))
    await store.drop(ANA, ["s1"], ["mem_1"], stamp(6, removal=6), 0)
    assert not await store.rebuild(ANA, "s1", [turn(1)], stamp(5))
    assert await served(store, stamp(6, removal=6)) == []


async def test_a_rebuild_paused_across_a_delete_is_not_served(store: Store) -> None:
    await store.drop(ANA, ["s1"], ["mem_1"], stamp(6, removal=6), 0)
    await store.rebuild(ANA, "s1", [turn(1)], stamp(5))
    assert await served(store, stamp(6, removal=6)) == []


async def test_a_rebuild_with_nothing_stands_for_an_empty_session(store: Store) -> None:
    assert await store.rebuild(ANA, "s1", [], stamp(5))
    assert await store.recall(ANA, "s1", 10) == (Stamp("e1", 5, 5), [])


async def test_an_evicted_order_leaves_no_orphans(store: Store, client: Redis) -> None:
    """allkeys-lru may take one of a set's two keys."""
    for number in (1, 2, 3):
        await store.remember(turn(number), stamp(number))
    entries, order = sorted(await client.keys("mc:*"))
    await client.delete(order)
    await store.remember(turn(4), stamp(4))
    assert await served(store, stamp(4)) == ["mem_4"]
    assert await client.hlen(entries) == 4  # three fields about the set, and the one memory
    await client.delete(entries)
    await store.remember(turn(5), stamp(5))
    assert await served(store, stamp(5)) == ["mem_5"]


async def test_an_entry_that_cannot_be_read_is_skipped_and_counted(
    store: Store, client: Redis
) -> None:
    for number in (1, 2, 3, 4):
        await store.remember(turn(number), stamp(number))
    entries, _ = sorted(await client.keys("mc:*"))
    await client.hset(
        entries, mapping={"mem_2": b"\x07garbage", "mem_3": b"", "mem_4": b"\x01\x00\x00not lz4"}
    )
    assert await served(store, stamp(4)) == ["mem_1"]
    assert store.skipped == 3


@pytest.mark.parametrize("damage", [{"#sequence": "abc"}, {"#epoch": b"\xff\xfe"}])
async def test_a_set_whose_stamp_cannot_be_read_is_gone_and_begins_anew(
    store: Store, client: Redis, damage: dict[str, str | bytes]
) -> None:
    await store.remember(turn(1), stamp(1))
    entries, _ = sorted(await client.keys("mc:{*"))
    await client.hset(entries, mapping=damage)
    assert await store.recall(ANA, "s1", 10) == (None, [])
    assert store.skipped == 1
    await store.remember(turn(2), stamp(2))
    assert await served(store, stamp(2)) == ["mem_2"]


async def test_a_memory_that_cannot_be_written_is_skipped_and_counted(
    store: Store, client: Redis
) -> None:
    assert not await store.remember(turn(1, metadata={"a": "\ud800"}), stamp(1))
    assert await store.rebuild(ANA, "s1", [turn(1, metadata={"a": "\ud800"}), turn(2)], stamp(2))
    assert await served(store, stamp(2)) == ["mem_2"]
    assert store.skipped == 2


async def test_vectors_are_found_again_by_key(store: Store) -> None:
    first, second = unit_vector(1, 384), unit_vector(2, 384)
    await store.keep_vectors({"a": first, "b": second})
    vectors = await store.vectors(["b", "missing", "a"])
    assert vectors[1] is None
    assert vectors[0] is not None
    assert vectors[2] is not None
    np.testing.assert_array_equal(vectors[0], second)
    np.testing.assert_array_equal(vectors[2], first)
    assert await store.vectors([]) == []
    await store.keep_vectors({})


async def test_vectors_are_kept_for_a_day(store: Store, client: Redis) -> None:
    await store.keep_vectors({"a": unit_vector(1, 384), "b": unit_vector(2, 384)})
    assert [
        86_000 < await client.ttl(name) <= 86_400 for name in await client.keys("mc:vector:*")
    ] == [True] * 2


async def test_check_says_ok(store: Store) -> None:
    health = await store.check()
    assert (health.status, store.degraded) == ("ok", False)
    assert health.latency_ms is not None
    assert health.last_ok is not None


async def test_none_is_an_empty_cache_and_not_degraded() -> None:
    store: ShortTermStore = NullShortTermStore()
    await store.open()
    memory: Memory = turn(1)
    assert not await store.remember(memory, stamp(1))
    assert not await store.rebuild(ANA, "s1", [memory], stamp(1))
    await store.drop(ANA, ["s1"], [memory.id], stamp(2), 0)
    await store.keep_vectors({"a": unit_vector(1)})
    assert await store.recall(ANA, "s1", 10) == (None, [])
    assert await store.vectors(["a", "b"]) == [None, None]
    assert not store.degraded
    assert (await store.check()).status == "off"
    await store.close()


async def test_requests_are_counted_for_all_processes_as_the_rule_says(
    bench: Bench, client: Redis
) -> None:
    writer, other = await bench.store(), await bench.store()
    buckets = [Bucket("key", "shop\nk1", Rate(3, 3600)), Bucket("app", "shop", Rate(4, 3600))]
    answers = [await store.spend("shop", buckets) for store in (writer, other, writer, other)]
    another_key = [Bucket("key", "shop\nk2", Rate(3, 3600)), buckets[1]]
    answers += [await store.spend("shop", another_key) for store in (writer, other)]
    assert [
        spent and (spent.refused, [level.remaining for level in spent.levels]) for spent in answers
    ] == [
        (False, [2, 3]),
        (False, [1, 2]),
        (False, [0, 1]),
        (True, [0, 1]),
        (False, [2, 0]),
        (True, [2, 0]),
    ]
    assert answers[3] is not None
    assert 0 < answers[3].retry_after_s <= 1200
