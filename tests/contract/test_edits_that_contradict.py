"""An edit whose new words contradict another memory: a person is asked, as at a save."""

from __future__ import annotations

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.maintenance import ResolveInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Saved
from tests.builders import ALICE
from tests.conflicts import records_of, warring
from tests.world import World, fact


@pytest.fixture
async def words(world: World) -> MemoryCore:
    return await warring(world)


async def says(core: MemoryCore, text: str) -> Saved:
    return await core.save(ALICE, fact(text))


async def edit(core: MemoryCore, saved: Saved, text: str) -> None:
    memory = await core.get(ALICE, saved.memory.id)
    await core.update(ALICE, memory.id, UpdateInput(content=text), memory.etag)


PAIRS = [
    (
        "The meeting with Lena is on Tuesday",
        "The meeting with Lena is in room 4",
        "The meeting with Lena is on Thursday",
    ),
    (
        "The budget for the kitchen is 6,500 euros",
        "The budget for the kitchen is still open",
        "The budget for the kitchen is 8,000 euros",
    ),
    ("Das Treffen ist am Dienstag", "Das Treffen wird schön", "Das Treffen ist am Freitag"),
]


@pytest.mark.parametrize(("earlier", "first", "then"), PAIRS)
async def test_it_is_pending_as_a_save_is(
    world: World, words: MemoryCore, earlier: str, first: str, then: str
) -> None:
    old, new = await says(words, earlier), await says(words, first)
    assert await records_of(world) == []
    await edit(words, new, then)
    (record,) = await records_of(world)
    assert (record.status, record.old_id, record.new_id) == (
        "pending",
        old.memory.id,
        new.memory.id,
    )
    for saved in (old, new):
        memory = await words.get(ALICE, saved.memory.id)
        assert (memory.conflict_state, memory.conflict_ids) == ("pending", [record.id])
    assert (await words.get(ALICE, new.memory.id)).content == then


async def test_it_can_be_decided_and_is_not_asked_again(world: World, words: MemoryCore) -> None:
    earlier, first, then = PAIRS[0]
    await says(words, earlier)
    new = await says(words, first)
    await edit(words, new, then)
    (record,) = await records_of(world)
    await words.resolve_conflict(ALICE, record.id, ResolveInput(decision="keep_both"))
    await edit(words, new, "The meeting with Lena is on Friday")
    (again,) = await records_of(world)
    assert again.status == "resolved"


@pytest.mark.parametrize(
    "then", ["The meeting with Lena is in room 5", "The meeting with Tom is on Thursday"]
)
async def test_other_words_ask_nothing(world: World, words: MemoryCore, then: str) -> None:
    earlier, first, _ = PAIRS[0]
    await says(words, earlier)
    await edit(words, await says(words, first), then)
    assert await records_of(world) == []
