"""What every long-term store promises about commits: all or nothing, no lost update, no gap,
and limits that say so.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import numpy as np
import pytest

from memory_core.domain.errors import (
    AlreadyExists,
    EmbeddingMismatch,
    HeadMoved,
    TooLarge,
    Unavailable,
)
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import Document, LongTermStore, Place, Write
from tests.builders import (
    ALICE,
    NOW,
    AnswerLost,
    StillClock,
    batch,
    commit,
    document,
    memory,
    query,
    save,
    saving,
    unit,
)
from tests.contract.conftest import StoreFactory


def note(identity: str, **body: object) -> Document:
    return Document(identity, "marker", {"text": "x", **body})


async def present(store: LongTermStore, *ids: str, owner: Owner = ALICE) -> set[str]:
    return set((await store.snapshot(owner, ids)).documents)


async def settled(store: LongTermStore) -> Head:
    """Commit once more, past whatever is still under way: what comes after that fails by
    its old head.
    """
    while True:
        try:
            return await commit(store, ALICE)
        except HeadMoved:
            continue


async def test_what_was_committed_is_read_back_whole(store: LongTermStore) -> None:
    stored_memory = memory(
        "tea at five", embedding=unit(1), tags=["tea"], metadata={"deep": [1, {"x": None}]}
    )
    head = await save(store, stored_memory)
    snapshot = await store.snapshot(ALICE, [stored_memory.id, "mem_absent"])
    assert snapshot.head == head
    assert set(snapshot.documents) == {stored_memory.id}
    read = snapshot.documents[stored_memory.id]
    assert read.kind == "memory"
    assert read.body == {
        **stored_memory.model_dump(mode="json"),
        "epoch": "epoch-1",
        "sequence": 1,
        "revision": 1,
    }
    assert read.vector is not None
    assert np.allclose(read.vector, unit(1), rtol=1e-4), "5 significant digits at least"


async def test_an_unknown_user_has_no_head_and_nothing_else(store: LongTermStore) -> None:
    assert (await store.snapshot(ALICE, ["mem_x"])).head is None
    answer = await store.search(ALICE, query("tea", unit(1)))
    assert (answer.head, len(answer.candidates), answer.statistics.documents) == (None, 0, 0)
    assert answer.candidates.tf.shape == (0, 1)
    assert await store.page(ALICE, "memory", None, None, 10) == []
    assert await store.events(ALICE, 0, 10) == []


async def test_a_batch_with_one_bad_write_leaves_nothing_behind(store: LongTermStore) -> None:
    head = await commit(store, ALICE, Write("create", note("taken")))
    bad = batch(
        head,
        [
            Write("create", note("first")),
            Write("put", document(memory(id="mem_1"))),
            Write("create", note("taken")),
        ],
    )
    with pytest.raises(AlreadyExists):
        await store.commit(ALICE, bad)
    assert await present(store, "first", "mem_1", "taken") == {"taken"}
    assert (await store.snapshot(ALICE)).head == head
    assert len(await store.events(ALICE, 0, 10)) == 1
    assert len((await store.search(ALICE, query("green"))).candidates) == 0


async def test_a_commit_on_an_old_head_is_refused(store: LongTermStore) -> None:
    first = await commit(store, ALICE)
    await commit(store, ALICE)
    for expected in (first, None, Head(epoch="another", sequence=2)):
        with pytest.raises(HeadMoved):
            await store.commit(ALICE, batch(expected, [Write("put", note("late"))]))
    assert await present(store, "late") == set()


async def test_a_first_commit_may_not_expect_a_head(store: LongTermStore) -> None:
    with pytest.raises(HeadMoved):
        await store.commit(ALICE, batch(Head(epoch="epoch-1")))
    assert (await store.snapshot(ALICE)).head is None


async def test_bookkeeping_that_keeps_the_sequence_still_makes_an_older_head_stale(
    store: LongTermStore,
) -> None:
    head = await commit(store, ALICE)
    await store.commit(ALICE, batch(head, events=0, head={"pending_count": 1}))
    with pytest.raises(HeadMoved):
        await store.commit(ALICE, batch(head, events=0, head={"pending_count": 1}))
    assert (await store.snapshot(ALICE)).head == head.model_copy(update={"pending_count": 1})


async def test_the_same_batch_again_is_refused_and_changes_nothing(store: LongTermStore) -> None:
    head = await commit(store, ALICE)
    made = saving(head, memory(id="mem_1"))
    await store.commit(ALICE, made)
    with pytest.raises((HeadMoved, AlreadyExists)):
        await store.commit(ALICE, made)
    assert [event.sequence for event in await store.events(ALICE, 0, 10)] == [1, 2]


async def test_put_overwrites_and_delete_removes(store: LongTermStore) -> None:
    await commit(store, ALICE, Write("put", note("one", n=1)), Write("put", note("two")))
    await commit(
        store,
        ALICE,
        Write("put", note("one", n=2)),
        Write("delete", note("two")),
        Write("delete", note("never was")),
    )
    documents = (await store.snapshot(ALICE, ["one", "two"])).documents
    assert {identity: document.body["n"] for identity, document in documents.items()} == {"one": 2}


async def test_two_writers_race_without_a_lost_update_or_a_gap(store_factory: StoreFactory) -> None:
    stores = [await store_factory(), await store_factory()]

    async def count(store: LongTermStore, writer: int) -> None:
        for turn in range(100):
            while True:
                snapshot = await store.snapshot(ALICE, ["counter"])
                seen = snapshot.documents["counter"].body["n"] if snapshot.documents else 0
                write = Write("put", note("counter", n=seen + 1))
                try:
                    await store.commit(
                        ALICE, batch(snapshot.head, [write], commit_id=f"{writer}-{turn}")
                    )
                    break
                except HeadMoved:
                    continue

    await asyncio.gather(*(count(store, writer) for writer, store in enumerate(stores)))
    assert (await stores[0].snapshot(ALICE, ["counter"])).documents["counter"].body["n"] == 200
    events = await stores[1].events(ALICE, 0, 1000)
    assert [event.sequence for event in events] == list(range(1, 201))
    assert {event.id for event in events} == {
        f"evt_{writer}-{turn}_0" for writer in range(2) for turn in range(100)
    }


async def test_a_commit_whose_answer_was_lost_is_there_with_its_marker(
    store: LongTermStore,
) -> None:
    cut = AnswerLost(store)
    made = saving(None, memory(id="mem_1"), commit_id="c1")
    with pytest.raises(Unavailable):
        await cut.commit(ALICE, made)
    assert await present(store, "evt_c1_0", "mem_1") == {"evt_c1_0", "mem_1"}
    assert (await store.snapshot(ALICE)).head == made.head


async def test_a_cancelled_commit_is_applied_whole_or_not_at_all(store: LongTermStore) -> None:
    head = await commit(store, ALICE)
    for number in range(30):
        made = saving(
            head, memory(id=f"mem_{number}_a"), memory(id=f"mem_{number}_b"), commit_id=f"c{number}"
        )
        task = asyncio.create_task(store.commit(ALICE, made))
        for _ in range(number % 4):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        head = await settled(store)
        parts = await present(
            store, f"mem_{number}_a", f"mem_{number}_b", f"evt_c{number}_0", f"evt_c{number}_1"
        )
        assert len(parts) in (0, 4)
    assert [event.sequence for event in await store.events(ALICE, 0, 1000)] == list(
        range(1, head.sequence + 1)
    )


async def test_more_than_a_hundred_documents_are_too_large(store: LongTermStore) -> None:
    writes = [Write("create", note(f"n{number}")) for number in range(99)]
    with pytest.raises(TooLarge, match="101"):
        await store.commit(ALICE, batch(None, writes))
    assert (await store.snapshot(ALICE)).head is None
    await store.commit(ALICE, batch(None, writes[:98]))


# aiohttp's, of 1.8 MB written in one go by the Azure SDK
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_more_than_the_size_of_a_batch_is_too_large(store: LongTermStore) -> None:
    def writes(size: int) -> list[Write]:
        return [
            Write("create", note(f"n{number}", text="x" * (size // 90))) for number in range(90)
        ]

    with pytest.raises(TooLarge, match="1800000"):
        await store.commit(ALICE, batch(None, writes(1_810_000)))
    assert await present(store, "n0") == set()
    await store.commit(ALICE, batch(None, writes(1_780_000)))


async def test_a_vector_of_other_dimensions_is_refused_with_both_numbers(
    store: LongTermStore,
) -> None:
    with pytest.raises(EmbeddingMismatch, match=r"5.*8"):
        await save(store, memory(embedding=unit(1, 5)))
    assert (await store.snapshot(ALICE)).head is None


async def test_an_expired_document_is_gone_for_every_read_and_its_id_is_free(
    store: LongTermStore, clock: StillClock
) -> None:
    receipt = Document("rcp_1", "receipt", {"n": 1}, expires_at=NOW + timedelta(seconds=60))
    await commit(store, ALICE, Write("create", receipt))
    assert (await store.snapshot(ALICE, ["rcp_1"])).documents["rcp_1"] == receipt
    clock.forward(60)
    assert await present(store, "rcp_1") == set()
    assert await store.page(ALICE, "receipt", None, None, 10) == []
    await commit(store, ALICE, Write("create", Document("rcp_1", "receipt", {"n": 2})))
    assert (await store.snapshot(ALICE, ["rcp_1"])).documents["rcp_1"].body == {"n": 2}


async def test_events_come_in_order_and_in_pages(store: LongTermStore) -> None:
    for _ in range(4):
        await commit(store, ALICE, events=3)
    sequences, after = [], 0
    while page := await store.events(ALICE, after, 5):
        sequences += [event.sequence for event in page]
        after = page[-1].sequence
    assert sequences == list(range(1, 13))


async def test_what_is_closed_says_so_and_what_was_acknowledged_stays(
    store_factory: StoreFactory,
) -> None:
    store = await store_factory()
    await save(store, memory(id="mem_1"))
    await store.close()
    with pytest.raises(Unavailable):
        await store.snapshot(ALICE)
    assert (await store.check()).status == "unavailable"
    again = await store_factory()
    assert await present(again, "mem_1") == {"mem_1"}
    assert (await again.check()).status == "ok"


OWNERS = [
    Owner("a_b", "c"),
    Owner("a", "b_c"),
    Owner("a", "b"),
    Owner("A", "b"),
    Owner("b", "a"),
    Owner("a", "b%"),
    Owner("a", "b' OR '1'='1"),
]


async def test_owners_never_see_each_other_by_any_read(store: LongTermStore) -> None:
    for number, owner in enumerate(OWNERS):
        stored_memory = memory(
            f"shared word{number}",
            owner=owner,
            id="mem_same",
            embedding=unit(7),
            actor=f"actor{number}",
            tags=["tag"],
            session_id="s",
        )
        await save(store, stored_memory)
    for number, owner in enumerate(OWNERS):
        snapshot = await store.snapshot(owner, ["mem_same"])
        assert snapshot.documents["mem_same"].body["user_id"] == owner.user_id
        assert snapshot.documents["mem_same"].body["app_id"] == owner.app_id
        assert [
            document.body["content"]
            for document in await store.page(owner, "memory", None, None, 100)
        ] == [f"shared word{number}"]
        assert (
            len(await store.page(owner, "event", None, Place(0, ""), 100, newest_first=False)) == 1
        )
        assert [event.sequence for event in await store.events(owner, 0, 100)] == [1]
        others = " ".join(f"word{other}" for other in range(len(OWNERS)) if other != number)
        answer = await store.search(owner, query(f"shared {others}", unit(7)))
        assert answer.candidates.actor == [f"actor{number}"]
        assert answer.statistics.documents == 1
        assert answer.statistics.actors == {f"actor{number}"}
        assert sum(answer.statistics.document_frequency.values()) == 1
    assert (await store.snapshot(Owner("a", "nobody"), ["mem_same"])).documents == {}


async def test_deleting_one_owners_document_leaves_the_others(store: LongTermStore) -> None:
    for owner in OWNERS:
        await save(store, memory(owner=owner, id="mem_same"))
    await commit(store, OWNERS[0], Write("delete", document(memory(id="mem_same"))))
    assert [await present(store, "mem_same", owner=owner) for owner in OWNERS] == [set()] + [
        {"mem_same"}
    ] * (len(OWNERS) - 1)
