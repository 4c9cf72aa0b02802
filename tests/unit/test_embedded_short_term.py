"""Write-backs that wait in the embedded short term: they are there when they are looked at,
and never show what is gone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.redis.local import MOST_WAITING, TOGETHER, EmbeddedShortTermStore
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.ports import Stamp
from tests.memories import ANA, BEN, MovableClock, turn

ROOM = 2**25


@pytest.fixture
async def store() -> AsyncIterator[EmbeddedShortTermStore]:
    made = EmbeddedShortTermStore(MovableClock(), ROOM)
    await made.open()
    yield made
    assert (made.failures, made.skipped) == (0, 0)
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


@pytest.mark.parametrize("turns", [1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER + 1])
async def test_every_turn_is_there_when_its_session_is_looked_at(
    store: EmbeddedShortTermStore, turns: int
) -> None:
    await save(store, *range(1, turns + 1))
    assert await recalled(store) == (1, [*range(turns, 0, -1)])


async def test_what_waits_in_many_sessions_is_bounded_and_not_lost(
    store: EmbeddedShortTermStore,
) -> None:
    for number in range(1, 2 * MOST_WAITING):
        await save(store, number, session=f"s{number}")
    for number in range(1, 2 * MOST_WAITING):
        assert await recalled(store, f"s{number}") == (number, [number])


async def test_a_turn_that_is_removed_while_it_waits_is_not_there(
    store: EmbeddedShortTermStore,
) -> None:
    await save(store, 1, 2)
    await store.drop(ANA, ["s1"], [turn(1).id], Stamp("e1", 3, 3), 0)
    assert await recalled(store) == (3, [2])


async def test_a_set_that_begins_with_what_waited_is_no_newer_than_the_first_of_it(
    store: EmbeddedShortTermStore,
) -> None:
    await save(store, 1)
    # Another process removes it, as sequence 2, of which this store hears nothing.
    await save(store, 3)
    assert (await recalled(store))[0] == 1


async def test_what_was_saved_before_a_rebuild_and_written_after_it_shows_nothing_older(
    store: EmbeddedShortTermStore,
) -> None:
    await save(store, 1)
    assert await store.rebuild(ANA, "s1", [turn(2)], Stamp("e1", 3, 3))
    await save(store, 4)
    assert await recalled(store) == (3, [4, 2])


async def test_an_erased_user_leaves_nothing_that_waits(store: EmbeddedShortTermStore) -> None:
    await save(store, 1, 2)
    assert await store.forget(ANA, ["e1"])
    await save(store, 3)
    assert await recalled(store) == (None, [])
    await save(store, 1, epoch="e2")
    assert await recalled(store) == (1, [1])


async def test_a_user_who_is_erased_takes_nothing_of_another(store: EmbeddedShortTermStore) -> None:
    await save(store, 1)
    assert await store.forget(BEN, ["e1"])
    assert await recalled(store) == (1, [1])


async def test_a_new_epoch_replaces_what_waits_of_the_old_one(
    store: EmbeddedShortTermStore,
) -> None:
    await save(store, 5, 6)
    await save(store, 1, epoch="e2")
    stamp, memories = await store.recall(ANA, "s1", 10)
    assert stamp == Stamp("e2", 1, 1)
    assert [(memory.epoch, memory.sequence) for memory in memories] == [("e2", 1)]


async def test_what_waited_longer_than_a_set_lives_is_over() -> None:
    clock = MovableClock()
    store = EmbeddedShortTermStore(clock, ROOM)
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
    store = EmbeddedShortTermStore(MovableClock(), ROOM)
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
