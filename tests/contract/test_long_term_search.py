"""What every long-term store promises about searches: the lists of a full scan, exact cosines,
statistics per owner, no staleness.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from memory_core.domain.errors import EmbeddingMismatch
from memory_core.domain.memory import Lexical, Memory, MemoryType, Status
from memory_core.ports import AccessCount, Found, LongTermStore, Search, Write
from tests.builders import ALICE, NOW, accessed, commit, document, memory, query, save, tokens, unit
from tests.contract import reference
from tests.contract.conftest import StoreFactory
from tests.contract.reference import Stored

WORDS = ["tea", "cup", "green", "train", "rain", "book", "dog", "moon", "日本語", "c++"]


def some(rng: random.Random, number: int, **fields: Any) -> Memory:
    """A memory with a bit of everything."""

    def text(most: int) -> dict[str, int]:
        return tokens(" ".join(rng.choice(WORDS) for _ in range(rng.randint(0, most))))

    session = rng.choice([None, "s1", "s2"])
    start = NOW - timedelta(days=rng.randint(0, 20))
    drawn: dict[str, Any] = {
        "id": f"mem_{number}",
        "lexical": Lexical(
            own=text(6), date=text(1), previous=text(4), before_previous=text(4),
            asks=rng.random() < 0.3, previous_asks=rng.random() < 0.3,
            tells_time=rng.random() < 0.3, turn=None if session is None else number,
        ),
        "type": rng.choice(list(MemoryType)),
        "status": rng.choice([Status.ACTIVE] * 4 + list(Status)),
        "status_reason": rng.choice(["created", "contradicted", "consolidated", "new_version",
            "cleared"]),
        "category": rng.choice([None, "fact", "note"]),
        "session_id": session,
        "agent_id": rng.choice([None, "a1", "a2"]),
        "cell_id": rng.choice([None, "cell"]),
        "actor": rng.choice([None, "Ann", "Bob"]),
        "tags": rng.sample(["x", "y", "z"], rng.randint(0, 2)),
        "next_id": rng.choice([None, "mem_1", "mem_2", "elsewhere"]),
        "embedding": None if rng.random() < 0.1 else unit(number),
        "event_timestamp": start,
        "valid_from": start,
        "valid_until": rng.choice([None, start + timedelta(days=rng.randint(1, 10))]),
        "created_at": start,
        "updated_at": start + timedelta(hours=rng.randint(0, 5)),
        "last_accessed_at": rng.choice([None, NOW]),
        "importance_base": rng.random(),
        "confidence": rng.random(),
        "access_count": rng.randint(0, 9),
    }  # fmt: skip
    return memory(**(drawn | fields))


def some_search(rng: random.Random) -> Search:
    terms = tuple(rng.sample([*WORDS, "unknown"], rng.randint(0, 4)))
    fields: dict[str, Any] = {
        "types": rng.choice([frozenset(), frozenset({"episodic", "semantic"})]),
        "categories": rng.choice([frozenset(), frozenset({"fact"}), frozenset({"nobody's"})]),
        "tags": rng.choice([frozenset(), frozenset({"x", "y"})]),
        "next_ids": rng.choice(
            [frozenset({"mem_1"}), frozenset({"mem_2", "elsewhere"}), frozenset({"nobody's"})]
        ),
        "session_id": rng.choice([None, None, "s1"]),
        "agent_id": rng.choice([None, None, "a2"]),
        "since": rng.choice([None, NOW - timedelta(days=12)]),
        "until": rng.choice([None, NOW - timedelta(days=3)]),
        "at": rng.choice([None, NOW - timedelta(days=rng.randint(0, 9))]),
        "now": rng.choice([None, NOW]),
    }
    chosen = {name: value for name, value in fields.items() if rng.random() < 0.35}
    if rng.random() < 0.2:
        chosen["statuses"] = frozenset(status.value for status in Status)
    return query(
        " ".join(terms),
        rng.choice([None, unit(rng.randint(0, 500))]),
        rng.choice([3, 10, 200]),
        **chosen,
    )


async def stored_world(store: LongTermStore, rng: random.Random, count: int = 60) -> list[Stored]:
    """Memories and versions, saved, then some of them changed in text, in status, or deleted."""
    items = {f"mem_{number}": Stored(some(rng, number)) for number in range(count)}
    for number in range(0, count, 9):
        old = some(
            rng,
            number,
            id=f"mem_{number}.v1",
            status=Status.SUPERSEDED,
            status_reason="new_version",
        )
        items[old.id] = Stored(old, version=True)
    for start in range(0, len(items), 30):
        part = list(items.values())[start : start + 30]
        writes = [
            Write("create", document(item.memory, "version" if item.version else "memory"))
            for item in part
        ]
        await commit(store, ALICE, *writes, events=len(part), head={"counts": {"deleted": 1}})
    return list(items.values())


async def changed_world(
    store: LongTermStore, rng: random.Random, world: list[Stored]
) -> list[Stored]:
    writes, after = [], []
    for number, item in enumerate(world):
        if rng.random() < 0.15:
            writes.append(
                Write("delete", document(item.memory, "version" if item.version else "memory"))
            )
            continue
        if rng.random() < 0.3:
            fresh = some(rng, number, id=item.memory.id)
            keep = {
                "status",
                "status_reason",
                "importance_base",
                "updated_at",
                "agent_id",
                "category",
                "next_id",
            }
            changes = (
                fresh.model_dump(include=keep)
                if rng.random() < 0.5
                else {**dict(fresh), "lexical": fresh.lexical}
            )
            item = Stored(item.memory.model_copy(update=changes), item.version)
            writes.append(
                Write("put", document(item.memory, "version" if item.version else "memory"))
            )
        after.append(item)
    await commit(
        store,
        ALICE,
        *sorted(writes, key=lambda write: write.document.kind),
        events=max(1, len(writes)),
    )
    return after


def check_against_reference(
    answer: Found, world: list[Stored], search: Search, adapter: str
) -> None:
    inside = {item.memory.id: item.memory for item in world if reference.passes(item, search.where)}
    got = answer.candidates
    check_list(
        got.lists["vector"],
        {key: reference.cosine(memory, search) for key, memory in inside.items()},
        search.limit,
    )
    scores = {key: reference.words(world, item, search) for key, item in inside.items()}
    hits = {key: score for key, score in scores.items() if score > 0}
    assert list(dict.fromkeys(got.lists["vector"] + got.lists["lexical"])) == got.ids
    if not indexed(answer, adapter):
        check_words_of_a_service(got.lists["lexical"], hits, search.limit, len(world))
        check_statistics(
            answer, [item.memory for item in world if item.memory.id in got.ids], search
        )
    else:
        check_list(got.lists["lexical"], hits, search.limit)
        check_statistics(answer, reference.findable(world), search)
    for row, key in enumerate(got.ids):
        check_row(answer, row, inside[key], world, search, adapter)


def indexed(answer: Found, adapter: str) -> bool:
    """Whether the answer is from an index of all memories: with Cosmos DB, once the user is held,
    and then it brings no whole documents.
    """
    return adapter == "sqlite" or (
        not answer.candidates.memories and answer.statistics.documents > 0
    )


def check_words_of_a_service(
    ids: list[str], hits: dict[str, float], limit: int, stored: int
) -> None:
    """Cosmos DB orders by its own BM25 over unweighted words, so which hits are cut is its choice;
    when all fit in, none is missing.

    A list may be shorter than it could be: what the service's analyser takes for a hit and ours
    does not is left out.
    """
    assert set(ids) <= set(hits)
    assert len(set(ids)) == len(ids) <= limit
    if limit >= stored:
        assert set(ids) == set(hits)


def check_statistics(answer: Found, counted: Sequence[Memory], search: Search) -> None:
    """What terms are worth, counted over these memories: all that are found by default, or, where
    no index knows them, the candidates.
    """
    stored = [Stored(memory.model_copy(update={"status": Status.ACTIVE})) for memory in counted]
    assert answer.statistics.documents == len(stored)
    assert answer.statistics.mean_length == pytest.approx(reference.mean_length(stored))
    assert answer.statistics.document_frequency == {
        term: reference.frequency(stored, term) for term in search.terms
    }
    assert answer.statistics.actors == {memory.actor for memory in counted} - {None}


def check_list(ids: list[str], scores: dict[str, float], limit: int) -> None:
    """The ids are the best by score; which of two equal ones comes first, or is cut,
    is the store's choice.
    """
    known = {key: score for key, score in scores.items() if not np.isnan(score)}
    best = sorted(known.values(), reverse=True)[:limit]
    assert len(set(ids)) == len(ids) == len(best)
    np.testing.assert_allclose([known[key] for key in ids], best, atol=5e-5)


def check_row(
    answer: Found,
    row: int,
    stored_memory: Memory,
    world: list[Stored],
    search: Search,
    adapter: str,
) -> None:
    got, counts = answer.candidates, reference.counts_of(world, stored_memory)
    np.testing.assert_allclose(got.cosine[row], reference.cosine(stored_memory, search), atol=5e-5)
    np.testing.assert_allclose(
        got.tf[row], [counts.get(term, 0.0) for term in search.terms], rtol=1e-6
    )
    assert got.own[row].tolist() == [
        term in stored_memory.lexical.own or term in stored_memory.lexical.date
        for term in search.terms
    ]
    np.testing.assert_allclose(got.length[row], reference.weighted_length(stored_memory), rtol=1e-6)
    assert (got.asks[row], got.tells_time[row]) == (
        stored_memory.lexical.asks,
        stored_memory.lexical.tells_time,
    )
    assert (got.actor[row], got.cell[row]) == (stored_memory.actor, stored_memory.cell_id)
    assert got.event_at[row] == stored_memory.event_timestamp.timestamp()
    assert (
        got.touched_at[row] == max(stored_memory.created_at, stored_memory.updated_at).timestamp()
    )
    assert (
        got.accessed_at[row]
        == (stored_memory.last_accessed_at or stored_memory.created_at).timestamp()
    )
    assert (got.importance_base[row], got.confidence[row]) == (
        stored_memory.importance_base,
        stored_memory.confidence,
    )
    assert got.access_count[row] == stored_memory.access_count
    is_version = any(stored.version and stored.memory.id == stored_memory.id for stored in world)
    assert got.turns[row] == (
        stored_memory.lexical.turn is not None
        and stored_memory.session_id is not None
        and not is_version
    )
    for step, cosines, places in (
        (-1, got.previous_cosine, got.before),
        (1, got.next_cosine, got.after),
    ):
        beside = (
            None if is_version else reference.neighbour(world, stored_memory, step, search.where)
        )
        if not indexed(answer, adapter) and beside is not None and beside.id not in got.ids:
            beside = None  # what was not among the candidates was not read
        expected = np.nan if beside is None else reference.cosine(beside, search)
        np.testing.assert_allclose(cosines[row], expected, atol=5e-5)
        assert places[row] == (
            got.ids.index(beside.id) if beside is not None and beside.id in got.ids else -1
        )


@pytest.mark.parametrize("seed", range(8))
async def test_a_search_finds_what_a_scan_of_everything_finds(
    store_factory: StoreFactory, adapter: str, seed: int
) -> None:
    rng, before = random.Random(seed), random.Random(-seed)
    writer, reader = await store_factory(), await store_factory()
    world = await stored_world(writer, rng)
    for _ in range(3):
        for _ in range(12):
            search, asked = some_search(rng), rng.choice([writer, reader])
            if before.random() < 0.5:
                await asked.prepare(ALICE, before.choice([search, some_search(before)]))
            check_against_reference(await asked.search(ALICE, search), world, search, adapter)
        world = await changed_world(writer, rng, world)


@pytest.mark.parametrize("seed", range(4))
async def test_a_list_shows_what_a_scan_of_everything_shows(
    store: LongTermStore, seed: int
) -> None:
    rng = random.Random(seed)
    world = await stored_world(store, rng)
    for _ in range(25):
        where = some_search(rng).where
        ids = [document.id for document in await store.page(ALICE, "memory", where, None, 1000)]
        assert sorted(ids) == sorted(
            item.memory.id for item in world if reference.passes(item, where)
        )


async def test_another_stores_commits_are_found_at_the_next_search(
    store_factory: StoreFactory,
) -> None:
    here, there = await store_factory(), await store_factory()
    await save(here, memory("tea", id="mem_1", embedding=unit(1)))
    assert (await here.search(ALICE, query("tea"))).candidates.ids == ["mem_1"]
    await here.prepare(ALICE, query("tea", unit(2)))
    await save(there, memory("tea", id="mem_2", embedding=unit(2)))
    answer = await here.search(ALICE, query("tea", unit(2)))
    assert answer.candidates.ids[0] == "mem_2"
    assert answer.head is not None
    assert answer.head.sequence == 2
    await commit(
        there, ALICE, Write("put", document(memory("tea", id="mem_2", status=Status.DELETED)))
    )
    assert (await here.search(ALICE, query("tea", unit(2)))).candidates.ids == ["mem_1"]
    await commit(there, ALICE, Write("delete", document(memory(id="mem_1"))))
    assert (await here.search(ALICE, query("tea", unit(2)))).candidates.ids == []


async def test_an_access_counts_in_the_next_search_here_and_is_shown_by_another_store(
    store_factory: StoreFactory,
) -> None:
    here, there = await store_factory(), await store_factory()
    await save(here, memory("tea", id="mem_1"))
    for store in (here, there, here, there):
        await store.search(ALICE, query("tea"))
    await accessed(here, ALICE, {"mem_1": AccessCount(7, NOW)})
    candidates = (await here.search(ALICE, query("tea"))).candidates
    assert (candidates.access_count.tolist(), candidates.accessed_at.tolist()) == (
        [7],
        [NOW.timestamp()],
    )
    assert (await there.memories(ALICE, ["mem_1"]))["mem_1"].memory.access_count == 7


async def test_a_store_with_equal_memories_cuts_the_list_at_its_limit(store: LongTermStore) -> None:
    await save(
        store, *(memory("tea", id=f"mem_{number:02}", embedding=unit(1)) for number in range(20))
    )
    answer = await store.search(ALICE, query("tea", unit(1), 5))
    assert (
        answer.candidates.lists["vector"]
        == answer.candidates.lists["lexical"]
        == [f"mem_{number:02}" for number in range(5)]
    )


async def test_a_fallen_neighbour_no_longer_speaks(store: LongTermStore) -> None:
    turns = [
        memory(
            f"word{turn}",
            id=f"mem_{turn}",
            session_id="s",
            embedding=unit(turn),
            lexical=Lexical(own={f"word{turn}": 1}, turn=turn),
        )
        for turn in range(3)
    ]
    await save(store, *turns)
    search = query("word1", unit(0), 10)
    got = (await store.search(ALICE, search)).candidates
    row = got.ids.index("mem_1")
    assert (got.ids[got.before[row]], got.ids[got.after[row]]) == ("mem_0", "mem_2")
    await commit(
        store, ALICE, Write("put", document(turns[0].model_copy(update={"status": Status.DELETED})))
    )
    got = (await store.search(ALICE, search)).candidates
    row = got.ids.index("mem_1")
    assert got.before[row] == -1
    assert np.isnan(got.previous_cosine[row])
    assert got.next_cosine[row] == pytest.approx(float(unit(2) @ unit(0)), abs=5e-5)


async def test_a_query_of_other_dimensions_is_refused(store: LongTermStore) -> None:
    await save(store, memory(embedding=unit(1)))
    with pytest.raises(EmbeddingMismatch, match=r"5.*8"):
        await store.search(ALICE, query("tea", unit(1, 5)))
