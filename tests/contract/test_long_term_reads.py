"""What every long-term store promises about pages and about the neighbours of a decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory_core.domain.memory import MemoryType, Status
from memory_core.ports import Document, Filter, LongTermStore, Near, Place, Write
from tests.builders import ALICE, NOW, commit, document, memory, query, save, unit, where
from tests.contract.conftest import StoreFactory
from tests.world import BOB

SEMANTIC = frozenset({"semantic"})
PROCEDURAL = frozenset({"procedural"})


def place(stored_document: Document) -> Place:
    return Place(stored_document.body["sequence"], stored_document.id)


@pytest.mark.parametrize("newest_first", [True, False])
async def test_paging_shows_each_once_while_others_insert(
    store: LongTermStore, newest_first: bool
) -> None:
    for number in range(10):
        await save(store, memory(id=f"mem_{number}a"), memory(id=f"mem_{number}b"))
    seen: list[str] = []
    after: Place | None = None
    while page := await store.page(ALICE, "memory", where(), after, 3, newest_first=newest_first):
        seen += [document.id for document in page]
        after = place(page[-1])
        if len(seen) < 15:
            await save(store, memory(id=f"mem_late_{len(seen)}"))
    first = [f"mem_{number}{letter}" for number in range(10) for letter in "ab"]
    if newest_first:
        assert seen == first[::-1]
    else:
        assert seen[:20] == first
        assert len(set(seen)) == len(seen) == 24


async def test_rows_of_one_sequence_are_paged_by_id(store: LongTermStore) -> None:
    await commit(
        store,
        ALICE,
        *(
            Write("create", Document(f"ses_{number}", "session", {"sequence": 4}))
            for number in "cab"
        ),
    )
    first = await store.page(ALICE, "session", None, None, 2)
    assert [document.id for document in first] == ["ses_c", "ses_b"]
    assert [
        document.id for document in await store.page(ALICE, "session", None, place(first[-1]), 2)
    ] == ["ses_a"]


async def test_conflicts_are_paged_by_their_status_as_it_is_now(store: LongTermStore) -> None:
    def record(number: int, status: str) -> Write:
        return Write(
            "put", Document(f"cft_{number}", "conflict", {"status": status, "sequence": number + 1})
        )

    await commit(
        store,
        ALICE,
        *(record(number, "resolved" if number % 3 else "pending") for number in range(9)),
    )
    await commit(store, ALICE, record(3, "resolved"), record(4, "pending"))
    for newest_first in (True, False):
        for status, wanted in (("pending", [0, 4, 6]), ("resolved", [1, 2, 3, 5, 7, 8])):
            seen: list[str] = []
            after: Place | None = None
            while page := await store.page(
                ALICE, "conflict", Filter(frozenset({status})), after, 2, newest_first=newest_first
            ):
                seen += [document.id for document in page]
                after = place(page[-1])
            assert seen == [
                f"cft_{number}" for number in (wanted[::-1] if newest_first else wanted)
            ]
    assert (
        len(
            await store.page(
                ALICE, "conflict", Filter(frozenset({"pending", "resolved"})), None, 20
            )
        )
        == 9
    )
    assert len(await store.page(ALICE, "conflict", None, None, 20)) == 9
    assert await store.page(ALICE, "conflict", Filter(frozenset()), None, 20) == []


async def test_a_page_is_of_one_kind_and_reads_no_vectors(store: LongTermStore) -> None:
    await save(store, memory(id="mem_1", embedding=unit(1)))
    await commit(store, ALICE, Write("create", Document("tsk_1", "task", {"state": "open"})))
    assert [document.id for document in await store.page(ALICE, "task", None, None, 10)] == [
        "tsk_1"
    ]
    assert [
        (document.id, document.vector)
        for document in await store.page(ALICE, "memory", None, None, 10)
    ] == [("mem_1", None)]


async def test_a_moment_at_the_edge_of_validity_belongs_to_what_begins_there(
    store: LongTermStore,
) -> None:
    turn = NOW - timedelta(days=1)
    old = memory(
        "tea",
        id="mem_1.v1",
        status=Status.SUPERSEDED,
        status_reason="new_version",
        valid_from=NOW - timedelta(days=2),
        valid_until=turn,
    )
    await commit(
        store,
        ALICE,
        Write("create", document(old, "version")),
        Write("create", document(memory("tea", id="mem_1", valid_from=turn))),
    )
    for moment, expected in (
        (turn - timedelta(microseconds=1), ["mem_1.v1"]),
        (turn, ["mem_1"]),
        (turn - timedelta(days=2), []),
    ):
        assert [
            document.id
            for document in await store.page(ALICE, "memory", where(at=moment), None, 10)
        ] == expected
        assert (await store.search(ALICE, query("tea", at=moment))).candidates.ids == expected


async def test_what_was_cleared_is_not_found_at_any_time(store: LongTermStore) -> None:
    await save(store, memory("tea", id="mem_1", status=Status.DELETED, status_reason="cleared"))
    assert await store.page(ALICE, "memory", where(at=NOW), None, 10) == []
    assert (await store.search(ALICE, query("tea", at=NOW))).candidates.ids == []


async def test_neighbours_are_the_nearest_over_the_floor_of_the_asked_types(
    store: LongTermStore,
) -> None:
    target = unit(1)

    def like(share: float) -> object:
        other = unit(2) - (unit(2) @ target) * target
        other /= (other @ other) ** 0.5
        return (share * target + (1 - share**2) ** 0.5 * other).astype("float32")

    kinds = {"near": 0.9, "nearer": 0.95, "far": 0.2, "compressed": 0.8}
    made = [
        memory(id=f"mem_{name}", type=MemoryType.SEMANTIC, embedding=like(share))
        for name, share in kinds.items()
    ]
    made[3] = made[3].model_copy(update={"status": Status.COMPRESSED})
    made.append(memory(id="mem_episode", embedding=target))
    made.append(
        memory(id="mem_gone", type=MemoryType.SEMANTIC, embedding=target, status=Status.SUPERSEDED)
    )
    head = await save(store, *made)
    snapshot = await store.snapshot(ALICE, ["mem_far"], Near(target, SEMANTIC, 0.5))
    assert snapshot.head == head
    assert set(snapshot.documents) == {"mem_far"}
    assert [neighbour.memory.id for neighbour in snapshot.near] == [
        "mem_nearer",
        "mem_near",
        "mem_compressed",
    ]
    assert [neighbour.similarity for neighbour in snapshot.near] == pytest.approx(
        [0.95, 0.9, 0.8], abs=1e-5
    )
    first = snapshot.near[0].memory
    assert first.embedding is not None
    assert first.embedding.tolist() == pytest.approx(made[1].embedding.tolist(), rel=1e-4)  # type: ignore[union-attr]
    assert first == made[1].model_copy(
        update={"embedding": first.embedding, "epoch": head.epoch, "sequence": 2, "revision": 2}
    )
    limited = await store.snapshot(ALICE, near=Near(target, SEMANTIC, 0.5, limit=1))
    assert [neighbour.memory.id for neighbour in limited.near] == ["mem_nearer"]
    nears = [Near(target, SEMANTIC, 0.5), Near(target, SEMANTIC, 0.5, limit=1)]
    several, single = await store.nearest(ALICE, nears)
    assert [*several.items()] == [
        ("mem_nearer", pytest.approx(0.95, abs=1e-5)),
        ("mem_near", pytest.approx(0.9, abs=1e-5)),
        ("mem_compressed", pytest.approx(0.8, abs=1e-5)),
    ]
    assert [*single] == ["mem_nearer"]
    assert await store.nearest(BOB, nears) == [{}, {}]


async def test_the_nearest_of_many_to_several_vectors_are_those_that_one_look_each_shows(
    store: LongTermStore,
) -> None:
    made = [
        memory(id=f"mem_{n:03}", type=MemoryType.SEMANTIC, embedding=unit(n)) for n in range(60)
    ]
    for start in range(0, len(made), 30):
        await save(store, *made[start : start + 30])
    nears = [Near(unit(n), SEMANTIC, 0.0, limit=5) for n in (3, 40)]
    seen = [await store.snapshot(ALICE, near=near) for near in nears]
    assert [[*similarities] for similarities in await store.nearest(ALICE, nears)] == [
        [neighbour.memory.id for neighbour in look.near] for look in seen
    ]


async def test_neighbours_of_the_same_slot_come_however_unlike_they_are(
    store: LongTermStore,
) -> None:
    slot = {"type": MemoryType.SEMANTIC, "subject": "ANN Straße", "attribute": "Home"}
    await save(
        store,
        memory(id="mem_slot", embedding=-unit(1), **slot),
        memory(id="mem_bare", **slot),
        memory(id="mem_old", status=Status.SUPERSEDED, status_reason="contradicted", **slot),
        memory(id="mem_merged", status=Status.UPDATED, status_reason="consolidated", **slot),
        memory(id="mem_deleted", status=Status.DELETED, status_reason="manual_delete", **slot),
        memory(id="mem_other", **(slot | {"attribute": "work"})),
        memory(id="mem_type", **(slot | {"type": MemoryType.PROCEDURAL})),
    )
    near = Near(unit(1), SEMANTIC, 0.5, slot=("ann strasse", "home"))
    neighbours = (await store.snapshot(ALICE, near=near)).near
    assert {neighbour.memory.id: round(neighbour.similarity, 5) for neighbour in neighbours} == {
        "mem_bare": 0.0,
        "mem_slot": -1.0,
    }
    near = Near(None, SEMANTIC, 0.5, slot=("ann strasse", "home"))
    assert {each.memory.id for each in (await store.snapshot(ALICE, near=near)).near} == {
        "mem_bare",
        "mem_slot",
    }
    whole = (await store.snapshot(ALICE, near=replace(near, past=True))).near
    assert {each.memory.id for each in whole} == {
        "mem_bare",
        "mem_deleted",
        "mem_merged",
        "mem_old",
        "mem_slot",
    }


async def test_the_values_of_a_key_come_by_the_key_alone(store: LongTermStore) -> None:
    rule = {"type": MemoryType.PROCEDURAL, "key": "Editor"}
    await save(
        store,
        memory(id="mem_value", embedding=unit(1), **rule),
        memory(id="mem_short", status=Status.COMPRESSED, status_reason="compressed", **rule),
        memory(id="mem_old", status=Status.SUPERSEDED, status_reason="contradicted", **rule),
        memory(id="mem_merged", status=Status.UPDATED, status_reason="consolidated", **rule),
        memory(id="mem_deleted", status=Status.DELETED, status_reason="manual_delete", **rule),
        memory(id="mem_taken", status=Status.DELETED, status_reason="contradicted", **rule),
        memory(id="mem_other", **(rule | {"key": "editor"})),
        memory(id="mem_type", **(rule | {"type": MemoryType.SEMANTIC})),
    )
    near = Near(None, PROCEDURAL, 1.0, key="Editor")
    snapshot = await store.snapshot(ALICE, ["mem_other"], near)
    assert {neighbour.memory.id for neighbour in snapshot.near} == {"mem_value", "mem_short"}
    whole = (await store.snapshot(ALICE, near=replace(near, past=True))).near
    assert {neighbour.memory.id for neighbour in whole} == {
        "mem_value",
        "mem_short",
        "mem_old",
        "mem_merged",
        "mem_deleted",
        "mem_taken",
    }
    assert {*snapshot.documents} == {"mem_other"}
    assert (await store.snapshot(ALICE, near=Near(None, PROCEDURAL, 1.0, key="none"))).near == ()


async def test_neighbours_are_as_new_as_the_head_beside_them(store_factory: StoreFactory) -> None:
    here, there = await store_factory(), await store_factory()
    near = Near(unit(1), SEMANTIC, 0.5)
    for number in range(5):
        head = await save(
            there, memory(id=f"mem_{number}", type=MemoryType.SEMANTIC, embedding=unit(1))
        )
        snapshot = await here.snapshot(ALICE, near=near)
        assert snapshot.head == head
        assert len(snapshot.near) == number + 1
