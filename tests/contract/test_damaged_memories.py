"""A stored memory that can't be read hides nothing but itself, and is named wherever it is missed."""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Damaged
from memory_core.domain.models import Memory
from memory_core.domain.requests import ListInput, RetrieveInput
from memory_core.ports import Document, Write
from tests.builders import ALICE, commit
from tests.world import World, fact

WORDS = "Quillfeather marmalade"


async def damage(core: MemoryCore, memory: Memory, **wrong: Any) -> None:
    """Store something else in the place of a memory's fields."""
    store = core._adapters.long_term
    found = (await store.snapshot(ALICE, [memory.id])).documents[memory.id]
    await commit(store, ALICE, Write("put", Document(memory.id, "memory", {**found.body, **wrong}, found.vector)))


async def three(core: MemoryCore) -> list[Memory]:
    texts = ["The bees fly at noon", "The bees sleep at night", "The bees drink at dawn"]
    return [(await core.save(ALICE, fact(text, subject="Hive", attribute=f"habit {at}"))).memory for at, text in enumerate(texts)]


@pytest.mark.parametrize("wrong", [{"confidence": WORDS}, {"version": WORDS}], ids=["a number", "a count"])
async def test_a_damaged_memory_is_left_out_of_a_list_which_names_it(
    world: World, wrong: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    core = await world.core()
    first, second, third = await three(core)
    await damage(core, second, **wrong)
    page = await core.list(ALICE, ListInput())
    assert [memory.id for memory in page.memories] == [third.id, first.id]
    assert page.damaged == (second.id,)
    assert second.id in caplog.text
    assert WORDS not in str(caplog.messages)


async def test_pages_go_on_behind_a_damaged_memory(world: World) -> None:
    core = await world.core()
    first, second, third = await three(core)
    await damage(core, second, confidence=WORDS)
    ids, damaged, cursor = [], [], None
    while True:
        page = await core.list(ALICE, ListInput(limit=1, cursor=cursor))
        ids += [memory.id for memory in page.memories]
        damaged += page.damaged
        cursor = page.next_cursor
        if cursor is None:
            break
    assert (ids, damaged) == ([third.id, first.id], [second.id])


async def test_a_damaged_memory_asked_for_by_its_id_is_an_error_that_names_it(world: World) -> None:
    core = await world.core()
    _, second, _ = await three(core)
    await damage(core, second, confidence=WORDS)
    with pytest.raises(Damaged, match=f"the memory {second.id} is damaged: what is stored of it can't be read") as caught:
        await core.get(ALICE, second.id)
    assert WORDS not in caught.value.detail


async def test_a_search_finds_what_stands_beside_a_damaged_memory(world: World, caplog: pytest.LogCaptureFixture) -> None:
    core = await world.core()
    first, second, third = await three(core)
    await damage(core, second, confidence=WORDS)
    found = await core.retrieve(ALICE, RetrieveInput(query="when do the bees fly, sleep, drink?", similarity_threshold=0.0))
    assert {hit.memory.id for hit in found.results} == {first.id, third.id}
    assert second.id in caplog.text
    assert WORDS not in str(caplog.messages)


async def test_a_slot_whose_holder_is_damaged_takes_no_other_truth(world: World) -> None:
    """What it says there must be known before anything is decided; other slots take what comes."""
    core = await world.core()
    _, second, _ = await three(core)
    await damage(core, second, confidence=WORDS)
    with pytest.raises(Damaged, match=second.id):
        await core.save(ALICE, fact("The bees sleep in winter", subject="Hive", attribute="habit 1"))
    await core.save(ALICE, fact("The bees sing in spring", subject="Hive", attribute="habit 7"))
