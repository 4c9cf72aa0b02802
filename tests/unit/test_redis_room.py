"""The bound on the in-process Redis."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.redis.client import in_process
from memory_core.adapters.redis.local import MAX_VECTOR_BYTES, embedded
from memory_core.adapters.redis.protocol import VECTOR_TTL_S
from memory_core.adapters.redis.store import OVERHEAD, RedisShortTermStore, Room
from memory_core.ports import Stamp
from tests.memories import ANA, MovableClock, turn, unit_vector


def test_the_least_recently_written_goes_first() -> None:
    room = Room(3 * (100 + OVERHEAD))
    for key in ("a", "b", "c", "a"):
        assert room.took((key, f"{key}:order"), 100) == []
    assert room.took(("d",), 100) == ["b", "b:order"]


def test_a_capped_group_stops_growing() -> None:
    room = Room(10 * (100 + OVERHEAD))
    room.took(("other",), 100)
    for _ in range(1000):
        assert room.took(("session",), 100, of_at_most=5) == []


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 500)), max_size=100))
def test_what_is_left_fits_or_is_the_last_written_alone(writes: list[tuple[str, int]]) -> None:
    room = Room(1500)
    sizes: dict[str, int] = {}
    for key, size in writes:
        sizes[key] = size
        for victim in room.took((key,), size):
            del sizes[victim]
        assert key in sizes
        assert len(sizes) == 1 or sum(size + OVERHEAD for size in sizes.values()) <= 1500


async def test_the_embedded_store_lets_old_sessions_go() -> None:
    store = embedded(MovableClock(), max_bytes=4000)
    await store.open()
    for session in ("first", "second", "third"):
        for number in range(1, 5):
            await store.remember(turn(number, session=session), Stamp("e1", number, 0))
        assert len((await store.recall(ANA, session, 10))[1]) == 4
    assert await store.recall(ANA, "first", 10) == (None, [])
    assert len((await store.recall(ANA, "third", 10))[1]) == 4
    await store.close()


async def test_the_embedded_store_lets_old_vectors_go_and_no_session_for_them() -> None:
    store = embedded(MovableClock(), max_bytes=4000)
    await store.open()
    await store.remember(turn(1, session="s1"), Stamp("e1", 1, 0))
    large = MAX_VECTOR_BYTES // 4 // 3
    for number in range(4):
        await store.keep_vectors({f"v{number}": unit_vector(number, large)})
    vectors = await store.vectors([f"v{number}" for number in range(4)])
    assert [vector is not None for vector in vectors] == [False, False, True, True]
    assert len((await store.recall(ANA, "s1", 10))[1]) == 1
    await store.close()


async def test_the_embedded_store_finds_vectors_for_as_long_as_they_live() -> None:
    clock = MovableClock()
    store = embedded(clock)
    await store.open()
    first, second = unit_vector(1, 384), unit_vector(2, 384)
    await store.keep_vectors({"a": first, "b": second})
    clock.advance(seconds=VECTOR_TTL_S - 1)
    await store.keep_vectors({"a": second})
    vector, missing, again = await store.vectors(["b", "c", "a"])
    assert missing is None
    assert vector is not None
    assert again is not None
    np.testing.assert_array_equal(vector, second)
    np.testing.assert_array_equal(again, second)
    clock.advance(seconds=1)
    assert [vector is not None for vector in await store.vectors(["b", "a"])] == [False, True]
    await store.close()
    assert await store.vectors(["a"]) == [None]


async def test_an_erased_user_takes_no_room_any_more() -> None:
    room = Room(1_000_000)
    store = RedisShortTermStore(in_process(), MovableClock(), timeout_s=None, room=room)
    await store.open()
    for session in ("first", "second"):
        await store.remember(turn(1, session=session), Stamp("e1", 1, 0))
    assert room.total > 0
    assert await store.forget(ANA, ["e1"])
    assert room.total == 0
    await store.close()
