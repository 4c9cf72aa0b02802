"""What is the SQLite store's own: its file, its embedder, its memory budget."""

# ruff: noqa: ASYNC240 - small files, in tests

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_core.adapters.sqlite import reads
from memory_core.adapters.sqlite.database import COMMITS_A_CHECKPOINT, LAYOUT, Connections
from memory_core.adapters.sqlite.file import FileState, connect, damage_of
from memory_core.adapters.sqlite.store import SqliteStore
from memory_core.adapters.sqlite.writes import PURGE_EVERY
from memory_core.domain.errors import Unavailable
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Lexical, Memory
from memory_core.domain.scope import Owner
from memory_core.ports import AccessCount, AgentCount, Document, Write
from tests.builders import (
    ALICE,
    DIMENSIONS,
    NOW,
    StillClock,
    accessed,
    batch,
    commit,
    document,
    memory,
    query,
    save,
    tokens,
    unit,
)

Opened = Callable[..., Awaitable[SqliteStore]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "memory.db"


@pytest.fixture
async def opened(path: Path) -> AsyncIterator[Opened]:
    stores: list[SqliteStore] = []

    async def make(**options: Any) -> SqliteStore:
        defaults = {
            "clock": StillClock(),
            "embedding_model": "one",
            "dimensions": DIMENSIONS,
            "synchronous": "normal",
        }
        store = SqliteStore(path, **(defaults | options))
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()


async def test_slices_over_the_budget_are_let_go_and_answer_the_same_again(opened: Opened) -> None:
    small, large = await opened(slice_budget_bytes=1), await opened()
    owners = [Owner("app", f"user{number}") for number in range(4)]
    rng = random.Random(1)
    for number in range(60):
        owner = rng.choice(owners)
        words = " ".join(rng.choice(["tea", "cup", "rain", "moon"]) for _ in range(4))
        await save(small, memory(words, owner=owner, id=f"mem_{number}", embedding=unit(number)))
        asked = rng.choice(owners)
        answers = [
            (await store.search(asked, query("tea moon", unit(500), 7))).candidates
            for store in (small, large)
        ]
        assert answers[0].ids == answers[1].ids
        assert answers[0].lists == answers[1].lists
        np.testing.assert_array_equal(answers[0].cosine, answers[1].cosine)
    assert (await small.check()).facts["slices"] <= 1
    facts = (await large.check()).facts
    assert (facts["slices"], facts["journal_mode"]) == (4, "wal")
    assert facts["slice_bytes"] > 0
    assert facts["file_bytes"] > 0


async def test_unknown_users_take_no_place_in_memory(opened: Opened) -> None:
    store = await opened()
    for number in range(50):
        await store.search(Owner("app", f"nobody{number}"), query("tea", unit(1)))
    assert (await store.check()).facts["slices"] == 0


async def test_a_slice_whose_rows_have_mostly_fallen_is_loaded_afresh(opened: Opened) -> None:
    store = await opened()
    made = [memory(id=f"mem_{number}", embedding=unit(number)) for number in range(60)]
    await save(store, *made[:30])
    await save(store, *made[30:])
    sizes = []
    for turn in range(20):
        lexical = Lexical(own=tokens(f"tea{turn}"))
        await commit(
            store,
            ALICE,
            *(
                Write("put", document(memory.model_copy(update={"lexical": lexical})))
                for memory in made
            ),
        )
        answer = await store.search(ALICE, query(f"tea{turn} tea{turn - 1}", unit(7), 100))
        assert answer.candidates.lists["vector"][0] == "mem_7"
        assert set(answer.candidates.ids) == {memory.id for memory in made}
        assert (
            answer.statistics.documents == answer.statistics.document_frequency[f"tea{turn}"] == 60
        )
        assert answer.statistics.document_frequency[f"tea{turn - 1}"] == 0
        sizes.append((await store.check()).facts["slice_bytes"])
    assert sizes[-1] < max(sizes)


async def test_commits_put_into_a_slice_at_once_make_it_what_the_file_says(opened: Opened) -> None:
    """One store follows its own commits, the other reads all from the file each time: both find the
    same, removals and rivals included.
    """
    following, reading, rival = await opened(), await opened(slice_budget_bytes=1), await opened()
    rng = random.Random(2)
    memories: dict[str, Memory] = {}
    for number in range(80):
        await reading.search(Owner("app", "another"), query("tea"))  # drops the slice of ALICE
        old = (
            memories.pop(rng.choice(sorted(memories)), None)
            if memories and number % 3 == 1
            else None
        )
        if old is not None and number % 4 == 0:
            await commit(following, ALICE, Write("delete", document(old)))
        else:
            text = " ".join(rng.choices(["tea", "cup", "rain", "moon"], k=4))
            fresh = memory(text, id=f"mem_{number}", embedding=unit(number), sequence=number)
            changed = (
                fresh
                if old is None
                else old.model_copy(
                    update={"access_count": number, "tags": ["late"] if number % 2 else []}
                )
            )
            await commit(
                rival if number % 5 == 2 else following, ALICE, Write("put", document(changed))
            )
            memories[changed.id] = changed
        if number % 4 == 2:
            continue  # two commits without a look between them
        ours, theirs = [
            (await store.search(ALICE, query("tea moon", unit(500), 100)))
            for store in (following, reading)
        ]
        assert ours.statistics == theirs.statistics
        assert sorted(ours.candidates.ids) == sorted(theirs.candidates.ids) == sorted(memories)
        assert ours.candidates.lists == theirs.candidates.lists
        for name in ("cosine", "length", "access_count"):
            reader, other = (
                dict(zip(at.ids, getattr(at, name), strict=True))
                for at in (ours.candidates, theirs.candidates)
            )
            assert reader == other


async def test_accesses_put_into_a_slice_at_once_make_it_what_the_file_says(opened: Opened) -> None:
    """One store follows the accesses that it writes, the other reads all from the file each time,
    and a third writes some as well: all find the same.
    """
    following, reading, rival = await opened(), await opened(slice_budget_bytes=1), await opened()
    rng = random.Random(3)
    names = [f"mem_{number}" for number in range(20)]
    await save(following, *(memory("tea", id=name, embedding=unit(1)) for name in names))
    for number in range(40):
        counts = {
            name: AccessCount(rng.randrange(1, 9), NOW + timedelta(hours=rng.randrange(-50, 50)))
            for name in [*rng.sample(names, 5), "mem_unknown"]
        }
        await accessed(rival if number % 5 == 2 else following, ALICE, counts)
        if number % 4 == 2:
            continue  # two of them without a look between
        await reading.search(Owner("app", "another"), query("tea"))  # drops the slice of ALICE
        ours, theirs = [
            (await store.search(ALICE, query("tea", unit(1), 100))).candidates
            for store in (following, reading)
        ]
        for name in ("access_count", "accessed_at"):
            reader, other = (
                dict(zip(at.ids, getattr(at, name), strict=True)) for at in (ours, theirs)
            )
            assert reader == other


async def test_a_memory_is_not_read_again_for_an_access_that_was_written_here(
    opened: Opened, path: Path
) -> None:
    store = await opened()
    tea = memory("tea", id="mem_tea", embedding=unit(1))
    await save(store, tea)
    await store.search(ALICE, query("tea"))
    await accessed(store, ALICE, {tea.id: AccessCount(3, NOW)})
    with sqlite3.connect(path) as connection:  # what is read of it now fails
        connection.execute("UPDATE documents SET body = '{' WHERE id = ?", (tea.id,))
    connection.close()
    candidates = (await store.search(ALICE, query("tea"))).candidates
    assert (candidates.ids, candidates.access_count.tolist()) == ([tea.id], [3])


async def test_a_commit_that_a_slice_cannot_take_in_is_done_all_the_same(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    store = await opened()
    await save(store, memory("tea", id="mem_1", embedding=unit(1)))
    await store.search(ALICE, query("tea"))
    odd = document(memory("tea", id="mem_2"))
    head = await commit(
        store, ALICE, Write("put", Document(odd.id, odd.kind, {**odd.body, "sequence": "second"}))
    )
    assert "could not be put into the slice" in caplog.text
    seen = await store.snapshot(ALICE, ["mem_2"])
    assert (seen.head, set(seen.documents)) == (head, {"mem_2"})


async def test_a_user_who_was_removed_and_made_again_finds_nothing_of_before(
    opened: Opened, path: Path
) -> None:
    store = await opened()
    await save(store, memory("tea", id="mem_before", embedding=unit(1)))
    await store.search(ALICE, query("tea"))
    with sqlite3.connect(path) as connection:
        for table in ("heads", "documents"):
            connection.execute(f"DELETE FROM {table}")
    connection.close()
    await store.commit(
        ALICE,
        batch(
            None,
            [Write("create", document(memory("tea", id="mem_after", epoch="epoch-2")))],
            head={"epoch": "epoch-2"},
        ),
    )
    answer = await store.search(ALICE, query("tea", unit(1)))
    assert answer.candidates.ids == ["mem_after"]
    assert answer.statistics.documents == 1


async def test_another_embedder_opens_the_file_says_so_and_compares_no_vector_of_the_first(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    store = await opened()
    await save(
        store, memory("tea", embedding=unit(1), embedding_model="one", embedding_dimensions=8)
    )
    for other, reason in (
        ({"embedding_model": "two"}, "'two' with 8"),
        ({"dimensions": 5}, "'one' with 5"),
    ):
        caplog.clear()
        later = await opened(**other)
        assert "'one' with 8" in caplog.text
        assert reason in caplog.text
        health = await later.check()
        assert (
            health.status,
            "'one' with 8" in (health.detail or ""),
            reason in (health.detail or ""),
        ) == ("degraded", True, True)
        dimensions = other.get("dimensions", 8)
        candidates = (await later.search(ALICE, query("tea", unit(1, dimensions)))).candidates
        assert (candidates.lists["vector"], len(candidates.lists["lexical"])) == ([], 1)
    assert (await store.check()).status == "ok"


async def test_a_file_without_vectors_takes_any_embedder(opened: Opened) -> None:
    await save(await opened(), memory())
    store = await opened(embedding_model="two", dimensions=5)
    await save(store, memory(id="mem_1", embedding=unit(1, 5)))
    assert (await store.search(ALICE, query("", unit(1, 5)))).candidates.ids == ["mem_1"]


async def test_two_embedders_on_an_empty_file_each_find_their_own_by_vector_and_all_by_words(
    opened: Opened,
) -> None:
    early, late = await opened(), await opened(embedding_model="two")
    await save(
        early,
        memory(
            "tea", id="mem_early", embedding=unit(1), embedding_model="one", embedding_dimensions=8
        ),
    )
    await save(
        late,
        memory(
            "tea", id="mem_late", embedding=unit(2), embedding_model="two", embedding_dimensions=8
        ),
    )
    for store, own in ((early, "mem_early"), (late, "mem_late")):
        candidates = (await store.search(ALICE, query("tea", unit(1)))).candidates
        assert (candidates.lists["vector"], set(candidates.lists["lexical"])) == (
            [own],
            {"mem_early", "mem_late"},
        )


@pytest.mark.parametrize(
    "content",
    [b"this is a text file, not a database\n" * 100, b"SQLite format 3\0" + b"\x00" * 4000],
)
async def test_a_file_that_is_no_database_is_refused_and_left_alone(
    opened: Opened, path: Path, content: bytes
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(Unavailable):
        await opened()
    assert path.read_bytes() == content


async def test_another_programs_database_is_refused_and_left_alone(
    opened: Opened, path: Path
) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(Unavailable, match="another program"):
        await opened()
    assert path.read_bytes() == before


async def test_a_file_of_a_newer_version_is_refused_with_both_versions(
    opened: Opened, path: Path
) -> None:
    await (await opened()).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(Unavailable, match=rf"version 7.*version {LAYOUT.version}"):
        await opened()


async def test_a_file_from_before_an_index_is_given_it_and_what_it_holds_is_found(
    opened: Opened, path: Path
) -> None:
    """Such a file opens as it is: no version of it is another's, and a program that is older than
    the index can go on with it.
    """
    store = await opened()
    await commit(store, ALICE)
    given_up = {"epoch": "epoch-1", "sequence": 5, "status": "poisoned"}
    assert await store.keep(ALICE, Document("tsk_1", "task", given_up)) is not None
    await save(store, memory("tea", id="mem_1", agent_id="planner"))
    await store.close()
    with sqlite3.connect(path) as connection:
        for name in ("tasks_poisoned", "documents_by_agent"):
            connection.execute(f"DROP INDEX {name}")
    connection.close()
    again = await opened()
    assert [(owner, document.id) for owner, document in await again.poisoned("app", None, 9)] == [
        (ALICE, "tsk_1")
    ]
    assert await again.agents(ALICE, None, 9) == [AgentCount("planner", 1, NOW)]


async def test_a_file_from_before_half_lives_of_their_own_is_given_them(
    opened: Opened, path: Path
) -> None:
    """What it holds counts as of no special worth, and its accesses count; a program that is older
    can go on with the file.
    """
    store = await opened()
    await commit(store, ALICE)
    await save(store, memory("tea", id="mem_1", importance_base=0.4, sequence=1, access_count=10))
    await save(store, memory("rye", id="mem_2", importance_base=0.4, sequence=2))
    await store.close()
    older = (
        "CREATE INDEX documents_by_fading ON documents (app_id, user_id, idle_since) WHERE "
        "idle_since IS NOT NULL"
    )
    with sqlite3.connect(path) as connection:
        for statement in (
            "DROP INDEX documents_by_fading",
            "ALTER TABLE documents DROP COLUMN lasts",
            older,
        ):
            connection.execute(statement)
    connection.close()
    again = await opened()

    async def faded(days: int) -> list[str]:
        return [
            place.id
            for place in await again.faded(
                ALICE, Fading(), NOW + timedelta(days=days), None, None, 9
            )
        ]

    assert await faded(91) == ["mem_2"]
    assert await faded(181) == ["mem_1", "mem_2"]
    with sqlite3.connect(path) as connection:  # as a program writes that knows of no such column
        connection.execute("UPDATE documents SET lasts = NULL")
    connection.close()
    assert await faded(91) == ["mem_1", "mem_2"]


async def test_what_an_admin_looks_at_is_read_from_indexes_without_sorting(
    opened: Opened, path: Path
) -> None:
    await opened()
    connection = sqlite3.connect(path)
    plans = {}
    for name, statement in (
        ("poisoned", reads._POISONED),
        ("next", reads._NEXT_AGENT),
        ("count", reads._COUNT),
        ("last", reads._LAST_CHANGED),
    ):
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", [""] * statement.count("?"))
        plans[name] = " ".join(row[3] for row in rows)
    connection.close()
    searched = (
        "SEARCH documents USING INDEX documents_by_agent (app_id=? AND user_id=? AND kind=? "
        "AND agent_id"
    )
    assert plans["poisoned"].startswith(
        "SEARCH documents USING INDEX tasks_poisoned (app_id=? AND (sequence,id)<"
    )
    assert plans["count"].startswith(searched.replace("INDEX", "COVERING INDEX"))
    assert plans["next"].startswith((searched, searched.replace("INDEX", "COVERING INDEX")))
    assert plans["last"].startswith(searched)
    assert not [plan for plan in plans.values() if "TEMP B-TREE" in plan]


async def test_a_path_that_cannot_be_a_file_is_unavailable(opened: Opened, path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(Unavailable):
        await opened()


async def test_a_damaged_file_is_unavailable_and_never_an_empty_answer(
    opened: Opened, path: Path
) -> None:
    store = await opened()
    for number in range(30):
        await save(store, memory("tea " * 300, id=f"mem_{number}", embedding=unit(number)))
    await store.close()
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    assert damage_of(path, LAYOUT) is not None
    with pytest.raises(Unavailable):  # at the start or at the first read, wherever the damage shows
        await (await opened()).search(ALICE, query("tea"))


async def test_a_commit_waits_for_another_process_that_holds_the_file(
    opened: Opened, path: Path
) -> None:
    store = await opened()
    await save(store, memory())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    task = asyncio.create_task(save(store, memory()))
    for _ in range(20):  # reads go on meanwhile
        assert len(await store.page(ALICE, "memory", None, None, 10)) == 1
    assert not task.done()
    other.execute("ROLLBACK")
    other.close()
    assert (await task).sequence == 2


async def test_expired_rows_leave_the_file_as_commits_go_by(opened: Opened, path: Path) -> None:
    clock = StillClock()
    store = await opened(clock=clock)
    receipts = [
        Document(f"rcp_{number}", "receipt", {}, expires_at=NOW + timedelta(seconds=5))
        for number in range(50)
    ]
    await commit(store, ALICE, *(Write("create", receipt) for receipt in receipts))
    clock.forward(5)
    for _ in range(3 * PURGE_EVERY):
        await commit(store, ALICE)
    with sqlite3.connect(path) as connection:
        assert connection.execute(
            "SELECT count(*) FROM documents WHERE kind = 'receipt'"
        ).fetchone() == (0,)
    connection.close()


async def test_a_memory_with_an_expiry_is_a_mistake_of_the_caller(opened: Opened) -> None:
    store = await opened()
    stored_memory = memory()
    with pytest.raises(ValueError, match="does not expire"):
        await commit(
            store,
            ALICE,
            Write(
                "create",
                Document(
                    stored_memory.id,
                    "memory",
                    stored_memory.model_dump(mode="json"),
                    expires_at=NOW,
                ),
            ),
        )


async def test_reads_of_many_users_at_once_keep_to_their_own(opened: Opened) -> None:
    store = await opened()
    owners = [Owner("app", f"user{number}") for number in range(12)]
    for number, owner in enumerate(owners):
        await save(store, memory("tea", owner=owner, id=f"mem_{number}", embedding=unit(number)))
    answers = await asyncio.gather(
        *(store.search(owner, query("tea", unit(1))) for owner in owners * 10)
    )
    assert [answer.candidates.ids for answer in answers] == [
        [f"mem_{number}"] for number in range(12)
    ] * 10


async def test_readiness_says_that_a_part_of_the_file_is_damaged_once_a_read_has_met_it(
    opened: Opened, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = await opened()
    for number in (1, 2):
        await save(store, memory(id=f"mem_{number}", embedding=unit(number)))
    assert ((await store.check()).status, damage_of(path, LAYOUT)) == ("ok", None)
    with sqlite3.connect(path) as file:
        file.execute("UPDATE documents SET id = CAST(x'6dff' AS TEXT) WHERE id = 'mem_1'")
    file.close()
    page = await store.page(ALICE, "memory", None, None, 10)
    assert [(document.id, document.damaged) for document in page] == [
        ("mem_2", False),
        (r"m\xff", True),
    ]
    assert caplog.messages == ["memory.db is damaged: a text in it is no UTF-8"]
    assert damage_of(path, LAYOUT) == r"rows differ from their documents: m\xff"
    health = await store.check()
    assert (health.status, health.detail) == (
        "degraded",
        "memory.db is damaged, and some of it can't be read: memory-core doctor",
    )


@pytest.mark.parametrize("part", ["documents", "heads"])
async def test_a_damaged_row_is_unavailable_and_not_an_accident_of_ours(
    opened: Opened, path: Path, part: str
) -> None:
    store = await opened()
    await save(store, memory(id="mem_1", embedding=unit(1)))
    with sqlite3.connect(path) as file:
        file.execute(f"UPDATE {part} SET body = CAST('{{not json' AS BLOB)")
    file.close()
    with pytest.raises(Unavailable, match="damaged"):
        await store.snapshot(ALICE, ["mem_1"])


async def erase(store: SqliteStore) -> None:
    """The first commit of an erasure: it ends the user's life."""
    await commit(store, ALICE, head={"epoch": "epoch-2", "state": "erasing", "counts": {}})


async def test_of_a_user_who_is_erased_here_nothing_stays_in_memory(opened: Opened) -> None:
    store = await opened()
    await save(store, memory("tea", owner=ALICE))
    await store.search(ALICE, query("tea", unit(1)))
    assert (await store.check()).facts["slices"] == 1
    await erase(store)
    facts = (await store.check()).facts
    assert (facts["slices"], facts["slice_bytes"]) == (0, 0)


async def test_of_a_user_whom_another_process_erased_nothing_stays_in_memory_for_long(
    opened: Opened,
) -> None:
    clock = StillClock()
    here, there = await opened(clock=clock), await opened(clock=clock)
    await save(here, memory("tea", owner=ALICE))
    await there.search(ALICE, query("tea", unit(1)))
    await erase(here)
    clock.forward(3599)
    assert (await there.check()).facts["slices"] == 1
    clock.forward(2)
    facts = (await there.check()).facts
    assert (facts["slices"], facts["slice_bytes"]) == (0, 0)


async def test_slices_weigh_what_is_held_of_them_whoever_came_and_went(opened: Opened) -> None:
    store, fresh = await opened(slice_budget_bytes=1), await opened()
    rng = random.Random(4)
    for number in range(40):
        owner = Owner("app", f"user{rng.randrange(5)}")
        text = " ".join(f"word{rng.randrange(900)}" for _ in range(30))
        await save(store, memory(text, owner=owner, id=f"mem_{number}", embedding=unit(number)))
        await store.search(owner, query("word1", unit(1)))
    await fresh.search(owner, query("word1", unit(1)))
    names = ("slices", "slice_bytes")
    theirs, ours = [(await each.check()).facts for each in (store, fresh)]
    assert [theirs[name] for name in names] == [ours[name] for name in names]


async def test_a_user_who_is_searched_now_and_then_stays_in_memory(opened: Opened) -> None:
    clock = StillClock()
    store = await opened(clock=clock)
    await save(store, memory("tea", owner=ALICE))
    for _ in range(3):
        await store.search(ALICE, query("tea", unit(1)))
        clock.forward(3000)
        await store.search(Owner("app", "another"), query("tea", unit(1)))
    assert (await store.check()).facts["slices"] == 1


async def test_a_memory_whose_text_is_cut_hides_nothing_but_itself(
    opened: Opened, path: Path
) -> None:
    store = await opened()
    await save(
        store,
        *(
            memory(f"tea {number}", owner=ALICE, id=f"mem_{number}", embedding=unit(number))
            for number in range(3)
        ),
    )
    with sqlite3.connect(path) as file:
        file.execute("UPDATE documents SET body = substr(body, 1, 40) WHERE id = 'mem_1'")
    file.close()
    page = await store.page(ALICE, "memory", None, None, 10)
    assert [(document.id, document.body["sequence"]) for document in page] == [
        ("mem_2", 3),
        ("mem_1", 2),
        ("mem_0", 1),
    ]
    assert [document.damaged for document in page] == [False, True, False]
    late = await opened()
    assert set((await late.search(ALICE, query("tea", unit(0)))).candidates.ids) == {
        "mem_0",
        "mem_2",
    }
    health = await late.check()
    assert (health.status, health.detail) == (
        "degraded",
        "1 stored memories can't be read; the log names them",
    )
    with sqlite3.connect(path) as file:
        file.execute(
            "UPDATE documents SET body = (SELECT body FROM documents WHERE id = 'mem_0') "
            "WHERE id = 'mem_1'"
        )
    file.close()
    await commit(
        late,
        ALICE,
        Write("put", document(memory("tea again", owner=ALICE, id="mem_1", embedding=unit(1)))),
    )
    assert set((await late.search(ALICE, query("tea", unit(0)))).candidates.ids) == {
        "mem_0",
        "mem_1",
        "mem_2",
    }
    assert (await late.check()).status == "ok"


async def test_what_is_deleted_is_in_no_byte_of_the_files_whatever_rows_were_moved_between_pages(
    opened: Opened, path: Path
) -> None:
    """A row that SQLite moves between pages leaves its bytes in the free part of a page, which
    deleting the row does not reach.
    """
    store, rng = await opened(), random.Random(7)
    connection, ids = connect(FileState(path), "normal"), list[int]()
    for number in range(150):
        chance, body = rng.random(), b" " * rng.randrange(200, 900)
        if chance < 0.6 or not ids:
            ids.append(number)
            connection.execute(
                "INSERT INTO documents (app_id, user_id, id, kind, sequence, body) "
                "VALUES ('app', 'alice', ?, 'memory', 1, ?)",
                (number, (b"swordfish" if number % 3 == 0 else b"heron") + body),
            )
        elif chance < 0.85:
            number = rng.choice(ids)
            body = (b"swordfish" if number % 3 == 0 else b"heron") + body
            connection.execute("UPDATE documents SET body = ? WHERE id = ?", (body, number))
        else:
            connection.execute(
                "DELETE FROM documents WHERE id = ?", (ids.pop(rng.randrange(len(ids))),)
            )
    for number in rng.sample(ids, len(ids)):
        if number % 3 == 0:
            connection.execute("DELETE FROM documents WHERE id = ?", (number,))
    connection.close()
    assert await store.scrub()
    assert [
        file.name for file in path.parent.glob("memory.db*") if b"swordfish" in file.read_bytes()
    ] == []
    assert b"heron" in path.read_bytes()


async def test_the_log_is_begun_anew_while_two_processes_commit_all_the_time(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.db"
    both = (Connections(file, "normal"), Connections(file, "normal"))  # as in two processes
    try:
        for connections in both:
            connections.open()
        await both[0].write(lambda connection: connection.execute("PRAGMA journal_mode = WAL"))
        await both[0].write(lambda connection: connection.execute("CREATE TABLE kept (value)"))
        log, size, written = file.with_name("memory.db-wal"), 4_000, 0
        # on a busy machine commits may overtake many a checkpoint, which works in a thread
        while written < 60_000_000:
            for number in range(COMMITS_A_CHECKPOINT):
                await both[number % 2].write_light(
                    lambda connection: connection.execute(
                        "INSERT INTO kept VALUES (zeroblob(4000))"
                    )
                )
                await asyncio.sleep(0)
            written += COMMITS_A_CHECKPOINT * size
            if log.stat().st_size < written:
                break
        assert log.stat().st_size < written
    finally:
        for connections in both:
            await connections.close()
