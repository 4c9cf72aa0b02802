"""What a store does with marks: fields of a memory are set beside the log, in the batch,
and nothing else of it moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from memory_core.domain.errors import AlreadyExists, EmbeddingMismatch, TooLarge
from memory_core.domain.memory import Memory
from memory_core.domain.messages import MESSAGE
from memory_core.domain.ranking.vectors import DIMENSIONS, encoded, state_bytes
from memory_core.domain.results import Call
from memory_core.ledger.batch import assemble
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import LongTermStore, Mark, Near
from memory_core.recollection.filters import shows
from tests.builders import ALICE, NOW, CountedIds, StillClock, memory, query, save, unit, where
from tests.contract.conftest import StoreFactory, on_cosmos, on_sqlite
from tests.cosmos_server import Steered

MODEL = "test"
"""That of the embedder which the stores of these tests were opened for."""


async def mark(
    store: LongTermStore, marks: Mapping[str, Mark], commit_id: str | None = None
) -> None:
    """Commit marks alone."""
    head = (await store.snapshot(ALICE)).head
    changes = Changes(None, marks=marks)
    await store.commit(
        ALICE,
        assemble(
            head,
            changes,
            commit_id=commit_id or f"cmt_{uuid4().hex}",
            epoch="ep_1",
            now=NOW,
            call=Call(),
        ).batch,
    )


async def stored(store: LongTermStore, memory_id: str) -> Memory:
    seen = await store.snapshot(ALICE, [memory_id])
    stored_memory = ReadSet(seen.head, dict(seen.documents)).memory(memory_id)
    assert stored_memory is not None
    return stored_memory


async def vector_list(store: LongTermStore, seed: int) -> list[str]:
    return (await store.search(ALICE, query("", unit(seed)))).candidates.lists["vector"]


async def test_only_the_named_fields_change_and_no_event_tells_of_it(store: LongTermStore) -> None:
    tea = memory(
        "grün 🙂",
        embedding=unit(1),
        embedding_model=None,
        scene_id="scn_0",
        metadata={"a": [1.5, None]},
    )
    cake = memory("cake", embedding=unit(2))
    await save(store, tea, cake)
    before, other = await stored(store, tea.id), await stored(store, cake.id)
    head = (await store.snapshot(ALICE)).head
    await mark(store, {tea.id: Mark(cell_id="mem_cell")}, "cmt_1")
    await mark(store, {tea.id: Mark(embedding=unit(3), embedding_model=MODEL)}, "cmt_2")
    after, moved = await stored(store, tea.id), (await store.snapshot(ALICE)).head
    expected = {
        **before.model_dump(mode="json"),
        "cell_id": "mem_cell",
        "embedding_model": MODEL,
        "embedding_dimensions": 8,
    }
    assert after.model_dump(mode="json") == expected
    assert after.etag == before.etag
    assert np.allclose(after.embedding, unit(3), rtol=1e-4)  # type: ignore[arg-type]
    assert (await stored(store, cake.id)).model_dump() == other.model_dump()
    assert len(await store.events(ALICE, 0, 10)) == 2
    assert head is not None
    assert moved == head.model_copy(update={"marks": 2, "commit_id": "cmt_2"})
    stored_memory = (await store.memories(ALICE, [tea.id]))[tea.id].memory
    assert (stored_memory.cell_id, stored_memory.scene_id, stored_memory.embedding_model) == (
        "mem_cell",
        "scn_0",
        MODEL,
    )


async def test_a_memory_without_a_vector_is_found_by_its_words_and_by_vector_once_it_has_one(
    store: LongTermStore,
) -> None:
    tea, cake = memory("green tea"), memory("cake", embedding=unit(2))
    await save(store, tea, cake)
    for _ in range(4):  # who is searched for more often may be held in memory
        candidates = (await store.search(ALICE, query("green", unit(1)))).candidates
        assert (candidates.lists["vector"], candidates.lists["lexical"]) == ([cake.id], [tea.id])
        assert np.isnan(candidates.cosine[candidates.ids.index(tea.id)])
    await mark(store, {tea.id: Mark(embedding=unit(1), embedding_model=MODEL)})
    candidates = (await store.search(ALICE, query("green", unit(1)))).candidates
    assert candidates.lists["vector"][0] == tea.id
    assert candidates.cosine[candidates.ids.index(tea.id)] == pytest.approx(1.0, abs=1e-5)


async def test_a_new_vector_takes_the_place_of_the_old_one(store: LongTermStore) -> None:
    tea, cake = memory("tea", embedding=unit(1)), memory("cake", embedding=unit(2))
    await save(store, tea, cake)
    for _ in range(4):
        assert await vector_list(store, 1) == [tea.id, cake.id]
    await mark(
        store,
        {
            tea.id: Mark(embedding=unit(2), embedding_model=MODEL),
            cake.id: Mark(embedding=unit(1), embedding_model=MODEL),
        },
    )
    assert await vector_list(store, 1) == [cake.id, tea.id]
    near = (await store.search(ALICE, query("tea"))).candidates
    assert near.lists["lexical"] == [tea.id]


async def test_the_states_of_the_tokens_go_with_the_vector(store: LongTermStore) -> None:
    tea = memory("tea", embedding=unit(1))
    await save(store, tea)

    async def kept() -> str:
        for _ in range(4):  # who is searched for more often may be held in memory
            candidates = (await store.search(ALICE, query("tea", unit(1)))).candidates
        states = (await stored(store, tea.id)).lexical.states
        of_each = candidates.states or [None] * len(candidates)
        assert of_each[candidates.ids.index(tea.id)] == state_bytes(states)
        return states

    assert await kept() == ""
    states = encoded(np.ones((2, DIMENSIONS), dtype=np.float32))
    await mark(store, {tea.id: Mark(embedding=unit(2), embedding_model=MODEL, states=states)})
    assert await kept() == states
    await mark(store, {tea.id: Mark(cell_id="mem_cell")})
    assert await kept() == states
    await mark(store, {tea.id: Mark(embedding=unit(3), embedding_model=MODEL)})
    assert await kept() == ""


async def test_a_cell_is_seen_by_the_next_search_and_formed_messages_can_be_hidden(
    store: LongTermStore,
) -> None:
    stored_memory = memory("green tea", category=MESSAGE, embedding=unit(1), event_timestamp=NOW)
    other = memory("green cup", category=MESSAGE, embedding=unit(2))
    plain = memory("green tree", category="fact", cell_id="mem_cell", embedding=unit(3))
    bare = memory("green moon", cell_id="mem_cell", embedding=unit(4))
    everything = [stored_memory, other, plain, bare]
    await save(store, *everything)

    async def shown() -> tuple[set[str], set[str], set[str]]:
        hiding = where(hide_formed_messages=True)
        page = {document.id for document in await store.page(ALICE, "memory", hiding, None, 10)}
        lists = (
            await store.search(ALICE, query("green", unit(1), hide_formed_messages=True))
        ).candidates.lists
        by_id = set(await store.memories(ALICE, [memory.id for memory in everything], hiding))
        assert page == by_id
        ids = [memory.id for memory in everything if shows(hiding, await stored(store, memory.id))]
        assert page == set(ids)
        return page, set(lists["vector"]), set(lists["lexical"])

    everybody = {memory.id for memory in everything}
    for _ in range(4):
        assert await shown() == (everybody, everybody, everybody)
    await mark(store, {stored_memory.id: Mark(cell_id="mem_cell")})
    hidden = everybody - {stored_memory.id}
    assert await shown() == (hidden, hidden, hidden)
    candidates = (await store.search(ALICE, query("green", unit(1)))).candidates
    assert set(candidates.ids) == everybody
    assert candidates.cell[candidates.ids.index(stored_memory.id)] == "mem_cell"
    assert {
        document.id for document in await store.page(ALICE, "memory", where(), None, 10)
    } == everybody
    back = where(hide_formed_messages=True, at=NOW)
    assert {document.id for document in await store.page(ALICE, "memory", back, None, 10)} == hidden


async def test_a_mark_of_another_process_is_seen_by_the_next_search(
    store_factory: StoreFactory,
) -> None:
    here, there = await store_factory(), await store_factory()
    tea, cake = memory("tea"), memory("cake", embedding=unit(2))
    await save(here, tea, cake)
    for _ in range(4):
        assert await vector_list(there, 1) == [cake.id]
    await mark(
        here,
        {tea.id: Mark(embedding=unit(1), embedding_model=MODEL), cake.id: Mark(cell_id="mem_cell")},
    )
    candidates = (await there.search(ALICE, query("cake", unit(1)))).candidates
    assert candidates.lists["vector"] == [tea.id, cake.id]
    assert candidates.cell[candidates.ids.index(cake.id)] == "mem_cell"


async def test_a_mark_on_what_is_gone_or_of_another_length_refuses_the_whole_batch(
    store: LongTermStore,
) -> None:
    tea = memory("tea", embedding=unit(1))
    await save(store, tea)
    with pytest.raises(AlreadyExists, match="mem_gone"):
        await mark(store, {tea.id: Mark(cell_id="mem_cell"), "mem_gone": Mark(cell_id="mem_cell")})
    with pytest.raises(EmbeddingMismatch):
        await mark(store, {tea.id: Mark(embedding=unit(1, 9), embedding_model=MODEL)})
    assert (await stored(store, tea.id)).cell_id is None


async def test_each_mark_is_a_document_of_the_commit_and_vectors_are_weighed(
    store_factory: StoreFactory,
) -> None:
    store = await store_factory()
    tea = memory("tea", embedding=unit(1))
    await save(store, tea)
    with pytest.raises(TooLarge, match="100 documents"):
        await mark(store, {f"mem_{number}": Mark(cell_id="mem_cell") for number in range(100)})
    with pytest.raises(TooLarge, match="bytes"):
        await mark(store, {tea.id: Mark(cell_id="x" * 1_900_000)})


async def test_a_decision_does_not_undo_a_mark_that_came_between(store: LongTermStore) -> None:
    """A write of the memory as it was read before the mark would take the mark away again."""
    tea = memory("tea", embedding=unit(1))
    await save(store, tea)
    ledger = Ledger(store, StillClock(), CountedIds())
    basis = await ledger.look(ALICE, [tea.id])
    await mark(store, {tea.id: Mark(cell_id="mem_cell")})

    def decide(look: ReadSet) -> Changes[None]:
        stored_memory = look.memory(tea.id)
        assert stored_memory is not None
        return Changes(
            None,
            (
                Change(
                    "updated",
                    stored_memory.model_copy(update={"content": "green tea"}),
                    stored_memory,
                ),
            ),
            reads=frozenset({tea.id}),
        )

    await ledger.commit(ALICE, decide, ids=[tea.id], basis=basis, call=Call())
    after = await stored(store, tea.id)
    assert (after.content, after.cell_id) == ("green tea", "mem_cell")


async def test_marks_alone_are_a_commit_of_the_ledger_and_gone_memories_are_decided_on_anew(
    store: LongTermStore,
) -> None:
    tea, cake = memory("tea", embedding=unit(1)), memory("cake", embedding=unit(2))
    await save(store, tea)
    ledger, seen = Ledger(store, StillClock(), CountedIds()), [0]

    def decide(look: ReadSet) -> Changes[None]:
        seen[0] += 1
        marks = {
            memory_id: Mark(cell_id="mem_cell")
            for memory_id in (tea.id, cake.id)
            if seen[0] == 1 or look.memory(memory_id) is not None
        }
        return Changes(None, marks=marks)

    await ledger.commit(ALICE, decide, ids=[tea.id, cake.id], call=Call())
    assert (await stored(store, tea.id)).cell_id == "mem_cell"
    assert seen == [2]


async def test_a_vector_of_another_model_is_not_compared_and_nothing_shows_it(
    store: LongTermStore,
) -> None:
    tea, cake = memory("green tea"), memory("cake", embedding=unit(2))
    await save(store, tea, cake)
    await mark(store, {tea.id: Mark(embedding=unit(1), embedding_model="another")})
    for _ in range(4):
        candidates = (await store.search(ALICE, query("green", unit(1)))).candidates
        assert candidates.lists == {"vector": [cake.id], "lexical": [tea.id]}
        assert np.isnan(candidates.cosine[candidates.ids.index(tea.id)])
    near = (await store.snapshot(ALICE, near=Near(unit(1), frozenset(), -1.0))).near
    assert [neighbour.memory.id for neighbour in near] == [cake.id]
    stored_memory = await stored(store, tea.id)
    assert (stored_memory.embedding, stored_memory.embedding_model) == (None, "another")
    await mark(store, {tea.id: Mark(embedding=unit(1), embedding_model=MODEL)})
    assert await vector_list(store, 1) == [tea.id, cake.id]


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_two_embedders_of_one_length_share_a_store_and_each_finds_its_own(
    server: Steered | None, tmp_path: Path, clock: StillClock
) -> None:
    make = on_sqlite(tmp_path, clock) if server is None else on_cosmos(server, clock)
    ours, theirs = make("ours", 8), make("theirs", 8)
    for store in (ours, theirs):
        await store.open()
    tea, cake = memory("green tea", embedding=unit(1)), memory("cake", embedding=unit(2))
    await save(ours, tea.model_copy(update={"embedding_model": "ours", "embedding_dimensions": 8}))
    await save(
        theirs, cake.model_copy(update={"embedding_model": "theirs", "embedding_dimensions": 8})
    )
    for store, own, foreign in ((ours, tea, cake), (theirs, cake, tea)):
        await store.check()
        for _ in range(4):
            candidates = (await store.search(ALICE, query("tea cake", unit(1), limit=1))).candidates
            assert candidates.lists["vector"] == [own.id]
        assert (await stored(store, foreign.id)).embedding is None
    for store in (ours, theirs):
        await store.close()


async def expected(store: LongTermStore, cell_id: str, *messages: Memory) -> None:
    """Commit messages that the head names as those that a cell will be formed of."""
    names = {"unformed": {cell_id: [message.id for message in messages]}}
    made = tuple(Change("created", message) for message in messages)
    await commit(store, Changes(None, made, head_fields=lambda head: names))


async def commit(store: LongTermStore, changes: Changes[None]) -> None:
    head = (await store.snapshot(ALICE)).head
    named = {"commit_id": f"cmt_{uuid4().hex}", "epoch": "ep_1", "now": NOW, "call": Call()}
    await store.commit(ALICE, assemble(head, changes, **named).batch)  # type: ignore[arg-type]


@pytest.mark.parametrize("ways_before_it", [0, 4])
async def test_a_message_belongs_to_the_cell_that_is_expected_of_it_once_that_is_formed(
    store: LongTermStore, ways_before_it: int
) -> None:
    """ways_before_it: who is searched for more often may be held in memory."""
    first, second = (
        memory(f"green {word}", category=MESSAGE, embedding=unit(place + 1), event_timestamp=NOW)
        for place, word in enumerate(("tea", "cup"))
    )
    await expected(store, "mem_cell", first, second)

    async def cells() -> list[str | None]:
        names = [first.id, second.id]
        candidates = (await store.search(ALICE, query("green", unit(1)))).candidates
        documents = await store.memories(ALICE, names)
        pages = await store.page(ALICE, "memory", where(hide_formed_messages=True), None, 10)
        by_id = [(await stored(store, name)).cell_id for name in names]
        assert [candidates.cell[candidates.ids.index(name)] for name in names] == by_id
        assert [documents[name].memory.cell_id for name in names] == by_id
        free = {name for name, cell_id in zip(names, by_id, strict=True) if cell_id is None}
        assert {document.id for document in pages} == free
        return by_id

    for _ in range(1 + ways_before_it):
        assert await cells() == [None, None]
    await mark(store, {first.id: Mark(cell_id="mem_cell")})
    assert await cells() == ["mem_cell", None]
    await mark(store, {second.id: Mark(cell_id="mem_other")})
    assert await cells() == ["mem_cell", "mem_other"]
    head = (await store.snapshot(ALICE)).head
    assert head is not None
    assert head.unformed == {}


async def test_an_expected_message_that_is_written_again_is_expected_no_more(
    store: LongTermStore,
) -> None:
    stored_memory = memory("green tea", category=MESSAGE, embedding=unit(1))
    await expected(store, "mem_cell", stored_memory)
    seen = await stored(store, stored_memory.id)
    pinned = seen.model_copy(update={"pinned": True})
    await commit(store, Changes(None, (Change("updated", pinned, seen),)))
    assert (await stored(store, stored_memory.id)).cell_id is None
    head = (await store.snapshot(ALICE)).head
    assert head is not None
    assert head.unformed == {}
    await mark(store, {stored_memory.id: Mark(cell_id="mem_cell")})
    assert (await stored(store, stored_memory.id)).cell_id == "mem_cell"
