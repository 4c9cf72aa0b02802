"""The short term of this process: what was saved is there when it is looked at, within its room,
and never shows what is gone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.redis.local import MAX_VECTOR_BYTES, EmbeddedShortTermStore
from memory_core.adapters.redis.protocol import VECTOR_TTL_S
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.ports import Stamp
from tests.memories import ANA, BEN, MovableClock, turn, unit_vector

MANY = 2_000


@pytest.fixture
async def store() -> AsyncIterator[EmbeddedShortTermStore]:
    made = EmbeddedShortTermStore(MovableClock())
    await made.open()
    yield made
    await made.close()


async def save(
    store: EmbeddedShortTermStore, *numbers: int, session: str = "s1", epoch: str = "e1"
) -> None:
    for number in numbers:
        assert await store.remember_all(
            [turn(number, session=session, epoch=epoch)], Stamp(epoch, number, 0)
        )


async def recalled(
    store: EmbeddedShortTermStore, session: str = "s1"
) -> tuple[int | None, list[int]]:
    """Up to which sequence the set is clean, and the sequences of its entries."""
    stamp, memories = await store.recall(ANA, session, 500)
    return (None if stamp is None else stamp.sequence), [memory.sequence for memory in memories]


@pytest.mark.parametrize("turns", [1, 2, 50])
async def test_every_turn_is_there_when_its_session_is_looked_at(
    store: EmbeddedShortTermStore, turns: int
) -> None:
    await save(store, *range(1, turns + 1))
    assert await recalled(store) == (1, [*range(turns, 0, -1)])


async def test_turns_of_many_sessions_are_there(store: EmbeddedShortTermStore) -> None:
    for number in range(1, MANY):
        await save(store, number, session=f"s{number}")
    for number in range(1, MANY):
        assert await recalled(store, f"s{number}") == (number, [number])


async def test_a_turn_that_is_removed_is_not_there(store: EmbeddedShortTermStore) -> None:
    await save(store, 1, 2)
    await store.drop(ANA, ["s1"], [turn(1).id], Stamp("e1", 3, 3), 0)
    assert await recalled(store) == (3, [2])


async def test_a_set_is_no_newer_than_the_first_that_it_holds(
    store: EmbeddedShortTermStore,
) -> None:
    await save(store, 1)
    # Another process removes it, as sequence 2, of which this store hears nothing.
    await save(store, 3)
    assert (await recalled(store))[0] == 1


async def test_a_rebuilt_set_shows_nothing_older(store: EmbeddedShortTermStore) -> None:
    await save(store, 1)
    assert await store.rebuild(ANA, "s1", [turn(2)], Stamp("e1", 3, 3))
    await save(store, 4)
    assert await recalled(store) == (3, [4, 2])


async def test_an_erased_user_leaves_nothing(store: EmbeddedShortTermStore) -> None:
    await save(store, 1, 2)
    assert await store.forget(ANA, ["e1"])
    assert not await store.remember_all([turn(3)], Stamp("e1", 3, 0))
    assert await recalled(store) == (None, [])
    await save(store, 1, epoch="e2")
    assert await recalled(store) == (1, [1])


async def test_a_user_who_is_erased_takes_nothing_of_another(store: EmbeddedShortTermStore) -> None:
    await save(store, 1)
    assert await store.forget(BEN, ["e1"])
    assert await recalled(store) == (1, [1])


async def test_a_new_epoch_replaces_the_old_one(store: EmbeddedShortTermStore) -> None:
    await save(store, 5, 6)
    await save(store, 1, epoch="e2")
    stamp, memories = await store.recall(ANA, "s1", 10)
    assert stamp == Stamp("e2", 1, 1)
    assert [(memory.epoch, memory.sequence) for memory in memories] == [("e2", 1)]


async def test_a_set_is_over_a_day_after_its_last_write() -> None:
    clock = MovableClock()
    store = EmbeddedShortTermStore(clock)
    await store.open()
    await save(store, 1)
    clock.advance(hours=24)
    assert await recalled(store) == (None, [])
    await store.close()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["save", "drop", "elsewhere", "recall", "rebuild"]), st.integers(0, 9)
        ),
        max_size=40,
    )
)
async def test_whatever_happens_in_between_a_good_set_shows_only_what_stands(
    steps: list[tuple[str, int]],
) -> None:
    store = EmbeddedShortTermStore(MovableClock())
    await store.open()
    standing: set[int] = set()
    sequence = removal = 0
    for step, choice in [*steps, ("recall", 0)]:
        chosen = sorted(standing)[choice % len(standing)] if standing else None
        if step == "save":
            sequence += 1
            standing.add(sequence)
            await save(store, sequence)
        elif step in ("drop", "elsewhere") and chosen is not None:
            sequence, before, removal = sequence + 1, removal, sequence + 1
            standing.discard(chosen)
            if step == "drop":  # by this process, which tells its store
                await store.drop(
                    ANA, ["s1"], [turn(chosen).id], Stamp("e1", sequence, removal), before
                )
        elif step == "rebuild":
            await store.rebuild(
                ANA,
                "s1",
                [turn(number) for number in sorted(standing)],
                Stamp("e1", sequence, removal),
            )
        elif step == "recall":
            stamp, numbers = await recalled(store)
            assert stamp is None or stamp < removal or set(numbers) <= standing
    await store.close()


async def test_it_keeps_as_much_of_a_session_and_as_long_as_the_settings_say() -> None:
    clock = MovableClock()
    made = Adapters.of(
        Settings(session_cap=2, session_ttl_s=60, embedding_provider="hash"), clock, lambda _: None
    ).short_term
    await made.open()
    for number in (1, 2, 3):
        await made.remember(turn(number), Stamp("e1", number, 0))
    _, memories = await made.recall(ANA, "s1", 10)
    assert [memory.sequence for memory in memories] == [3, 2]
    await made.remember(turn(4), Stamp("e1", 4, 0))
    clock.advance(seconds=61)
    _, memories = await made.recall(ANA, "s1", 10)
    assert 4 not in [memory.sequence for memory in memories]
    await made.close()


async def test_a_set_that_is_written_to_goes_on_living() -> None:
    clock = MovableClock()
    store = EmbeddedShortTermStore(clock, session_ttl_s=60)
    for number in range(1, 5):
        await save(store, number)
        clock.advance(seconds=40)
    assert await recalled(store) == (1, [4, 3, 2, 1])
    clock.advance(seconds=20)
    assert await recalled(store) == (None, [])


async def test_it_lets_old_sessions_go() -> None:
    store = EmbeddedShortTermStore(MovableClock(), max_bytes=4000)
    await store.open()
    for session in ("first", "second", "third"):
        for number in range(1, 5):
            await store.remember(turn(number, session=session), Stamp("e1", number, 0))
        assert len((await store.recall(ANA, session, 10))[1]) == 4
    assert await store.recall(ANA, "first", 10) == (None, [])
    assert len((await store.recall(ANA, "third", 10))[1]) == 4
    await store.close()


async def test_it_lets_old_vectors_go_and_no_session_for_them() -> None:
    store = EmbeddedShortTermStore(MovableClock(), max_bytes=4000)
    await store.open()
    await store.remember(turn(1, session="s1"), Stamp("e1", 1, 0))
    large = MAX_VECTOR_BYTES // 4 // 3
    for number in range(4):
        await store.keep_vectors({f"v{number}": unit_vector(number, large)})
    vectors = await store.vectors([f"v{number}" for number in range(4)])
    assert [vector is not None for vector in vectors] == [False, False, True, True]
    assert len((await store.recall(ANA, "s1", 10))[1]) == 1
    await store.close()


async def test_it_finds_vectors_for_as_long_as_they_live() -> None:
    clock = MovableClock()
    store = EmbeddedShortTermStore(clock)
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
