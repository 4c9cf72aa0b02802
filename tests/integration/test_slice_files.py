"""Files of large users' slices: opened after a restart, kept current, and gone with what they
were made of.
"""

# ruff: noqa: ASYNC240 - small files, in tests

from __future__ import annotations

import asyncio
import os
import random
import resource
import shutil
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_core.adapters.memory_index.columns import Slice
from memory_core.adapters.memory_index.packed import SliceSnapshot
from memory_core.adapters.sqlite.reads import SliceStanding, standing_of
from memory_core.adapters.sqlite.slice_files import LEAST_ROWS, SliceFiles
from memory_core.adapters.sqlite.store import SqliteStore
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Lexical
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.ports import Found, LongTermStore, Write
from tests import fork_server
from tests.builders import (
    ALICE,
    DIMENSIONS,
    StillClock,
    commit,
    document,
    memory,
    query,
    save,
    tokens,
    unit,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such files elsewhere")
ROOT = Path(__file__).parents[2]
BOB = Owner("app", "bob")
Opened = Callable[..., Awaitable[SqliteStore]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "slices"


@pytest.fixture
async def opened(path: Path, folder: Path) -> AsyncIterator[Opened]:
    stores: list[SqliteStore] = []

    async def make(**options: Any) -> SqliteStore:
        defaults = {
            "clock": StillClock(),
            "embedding_model": "one",
            "dimensions": DIMENSIONS,
            "synchronous": "normal",
            "slices": folder,
            "slice_file_rows": 1,
        }
        store = SqliteStore(path, **(defaults | options))
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def named(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as file:
        return sorted(name for (name,) in file.execute("SELECT name FROM slices"))


async def filled(store: LongTermStore, owner: Owner = ALICE, count: int = 30) -> None:
    """Some turns of two sessions, with vectors, tags and the words of their number."""
    for start in range(0, count, 30):
        await save(
            store,
            *(
                memory(
                    f"tea word{number} shared{number % 3}",
                    owner=owner,
                    id=f"mem_{owner.user_id}_{number}",
                    session_id=f"s{number % 2}",
                    tags=[f"tag{number % 4}"],
                    embedding=unit(number),
                    lexical=Lexical(
                        own=tokens(f"tea word{number} shared{number % 3}"), turn=number // 2
                    ),
                )
                for number in range(start, min(start + 30, count))
            ),
        )


async def look(
    store: LongTermStore, words: str = "tea word7 shared1", owner: Owner = ALICE
) -> Found:
    answer = await store.search(owner, query(words, unit(500), 12))
    await store.packed()  # type: ignore[attr-defined]
    return answer


async def written(store: SqliteStore, owner: Owner = ALICE) -> Found:
    """Search once, so that the slice is read and its file written."""
    return await look(store, owner=owner)


def same(answer: Found, other: Found) -> None:
    assert answer.candidates.ids == other.candidates.ids
    assert answer.candidates.lists == other.candidates.lists
    assert answer.candidates.sessions == other.candidates.sessions
    assert answer.statistics == other.statistics
    for name in ("cosine", "previous_cosine", "next_cosine", "tf", "own", "length", "before"):
        np.testing.assert_array_equal(
            getattr(answer.candidates, name), getattr(other.candidates, name)
        )


def unreadable(path: Path, identity: str) -> None:
    """Make a stored memory unreadable, as no change of it: who reads all memories misses it."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE documents SET body = CAST('{' AS BLOB) WHERE id = ?", (identity,))


async def test_a_store_that_starts_again_opens_the_file_and_reads_no_memory(
    opened: Opened, path: Path, folder: Path
) -> None:
    first = await opened()
    await filled(first)
    before = await written(first)
    await first.close()
    assert [file.name for file in files(folder)] == named(path)
    assert len(named(path)) == 1
    unreadable(path, "mem_alice_7")
    second = await opened()
    same(await look(second), before)
    assert "damaged" not in (await second.check()).facts


async def test_a_slice_is_held_by_its_file_once_that_is_written(opened: Opened, path: Path) -> None:
    store = await opened()
    await filled(store, count=600)
    before = await store.search(ALICE, query("tea word7", unit(500), 12))
    before_bytes = (await store.check()).facts["slice_bytes"]
    await store.packed()
    same(await store.search(ALICE, query("tea word7", unit(500), 12)), before)
    assert (await store.check()).facts["slice_bytes"] < before_bytes


async def test_what_was_saved_changed_or_touched_after_the_file_is_found_after_a_restart(
    opened: Opened,
) -> None:
    first, plain = await opened(), await opened(slices=None)
    await filled(first, count=120)
    await written(first)
    await save(first, memory("tea late", id="late", embedding=unit(900)))
    changed = memory("rain word7", id="mem_alice_7", embedding=unit(7), revision=3)
    await commit(first, ALICE, Write("put", document(changed)))
    second = await opened()
    for words in ("late", "word7", "rain", "tea shared0 late"):
        same(await look(second, words), await plain.search(ALICE, query(words, unit(500), 12)))


async def test_a_small_slice_has_no_file(opened: Opened, folder: Path) -> None:
    store = await opened(slice_file_rows=LEAST_ROWS)
    await filled(store)
    await written(store)
    await store.close()
    assert files(folder) == []


async def test_a_file_is_written_anew_after_many_changes_only_and_when_the_store_is_closed(
    opened: Opened, path: Path, folder: Path
) -> None:
    store = await opened()
    await filled(store, count=240)
    await written(store)
    names = [named(path)]
    for number in range(40):
        await save(store, memory(f"tea new{number}", id=f"new{number}"))
        await look(store)
        if named(path) != names[-1]:
            names.append(named(path))
    assert len(names) == 2
    await store.close()
    assert named(path) not in names
    assert [file.name for file in files(folder)] == named(path)


@pytest.mark.parametrize("ending", ["deleted", "redacted", "erased"])
async def test_a_file_is_gone_when_a_commit_that_took_something_away_is_answered(
    opened: Opened, path: Path, folder: Path, ending: str
) -> None:
    store, other = await opened(), await opened()
    await filled(store)
    await filled(store, BOB)
    for looking in (store, other):
        await written(looking)
        await written(looking, BOB)
    assert len(files(folder)) == 2
    gone = next(file for file in files(folder) if b"mem_alice_7" in file.read_bytes())
    if ending == "deleted":
        await commit(store, ALICE, Write("delete", document(memory(id="mem_alice_7"))))
    elif ending == "redacted":
        clean = memory("tea [redacted]", id="mem_alice_7", embedding=unit(7))
        await commit(store, ALICE, Write("put", document(clean)), head={"redactions": 1})
    else:
        await commit(store, ALICE, head={"epoch": "epoch-2", "state": "erasing", "counts": {}})
    assert gone not in files(folder)
    assert [file.name for file in files(folder)] == named(path)
    for looking in (other, store):
        answer = await look(looking, "word7 [redacted]")
        assert answer.statistics.document_frequency["word7"] == 0
        assert answer.candidates.lists["lexical"] == ["mem_alice_7"] * (ending == "redacted")
        assert (await look(looking, owner=BOB)).candidates.ids
    for file in files(folder):
        assert b"word7" not in file.read_bytes() or b"mem_bob" in file.read_bytes()


async def test_what_a_changed_memory_said_before_is_in_no_new_file(
    opened: Opened, folder: Path
) -> None:
    store = await opened()
    await filled(store)
    await written(store)
    changed = [
        memory("rain", id=f"mem_alice_{number}", tags=["wet"], session_id="later")
        for number in range(20)
    ]
    await commit(store, ALICE, *(Write("put", document(each)) for each in changed), events=20)
    await look(store)
    (file,) = files(folder)
    content = file.read_bytes()
    assert b"rain" in content
    assert b"word3" not in content
    assert b"word25" in content
    assert unit(3).tobytes() not in content
    assert unit(25).tobytes() in content


def taken(path: Path, words: Sequence[str] = ("tea",)) -> tuple[SliceSnapshot, SliceStanding]:
    """A slice of Alice as of now with her standing, as the writer of a file has them."""
    with closing(sqlite3.connect(path)) as file:
        standing = standing_of(file, ALICE)
    assert standing is not None
    user_slice = Slice(DIMENSIONS)
    for number, word in enumerate(words):
        stored = memory(word, id=f"mem_{number}")
        user_slice.put(stored.id, "memory", stored.model_dump(mode="json"), None)
    user_slice.epoch, user_slice.change = standing.head.epoch, standing.change
    return user_slice.snapshot(), standing


@pytest.mark.parametrize("rival", ["removes", "redacts", "erases", "writes a later file"])
async def test_a_file_that_was_overtaken_while_it_was_written_is_not_named_and_removed(
    opened: Opened, path: Path, folder: Path, rival: str
) -> None:
    store = await opened()
    await filled(store)
    slice_files = SliceFiles(folder, VectorKind("one", DIMENSIONS), 1)
    snapshot, standing = taken(path)
    if rival == "removes":
        await commit(store, ALICE, Write("delete", document(memory(id="mem_alice_7"))))
    elif rival == "redacts":
        await commit(store, ALICE, head={"redactions": 1})
    elif rival == "erases":
        await commit(store, ALICE, head={"epoch": "epoch-2"})
    else:
        await save(store, memory("tea"))
        await written(store)
    names = named(path)
    name = slice_files.write(ALICE, snapshot, standing)
    assert name is not None
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert not slice_files.publish(connection, ALICE, name, snapshot, standing)
    assert named(path) == names
    assert [file.name for file in files(folder)] == names


async def test_a_damaged_file_is_read_from_the_database_instead_and_written_anew(
    opened: Opened, path: Path, folder: Path
) -> None:
    first = await opened()
    await filled(first)
    before = await written(first)
    await first.close()
    rng = random.Random(3)
    for _ in range(20):
        (file,) = files(folder)
        content = bytearray(file.read_bytes())
        place = rng.randrange(len(content))
        content[place] ^= 1 << rng.randrange(8)
        file.write_bytes(content if rng.random() < 0.7 else content[:place])
        store = await opened()
        same(await look(store), before)
        await store.close()
        assert [each.name for each in files(folder)] == named(path)
        assert files(folder) != [file]


async def test_another_users_file_under_the_name_of_ones_own_is_not_used(
    opened: Opened, path: Path, folder: Path
) -> None:
    first = await opened()
    await filled(first)
    await filled(first, BOB, 60)
    await written(first)
    await written(first, BOB)
    await first.close()
    with closing(sqlite3.connect(path)) as file:
        names = dict(file.execute("SELECT user_id, name FROM slices"))
    shutil.copy(folder / names["bob"], folder / names["alice"])
    store = await opened()
    answer = await look(store)
    assert answer.statistics.documents == 30
    assert all(name.startswith("mem_alice") for name in answer.candidates.ids)


async def test_a_file_of_another_embedder_is_not_used(opened: Opened) -> None:
    first = await opened()
    made = [memory(f"tea {n}", embedding=unit(n), embedding_model="one") for n in range(9)]
    await save(first, *made)
    assert not np.isnan((await written(first)).candidates.cosine).any()
    await first.close()
    second = await opened(embedding_model="two")
    assert np.isnan((await look(second)).candidates.cosine).all()


async def test_the_folder_may_be_deleted_at_any_time(opened: Opened, folder: Path) -> None:
    first = await opened()
    await filled(first, count=90)
    before = await written(first)
    shutil.rmtree(folder)
    same(await look(first), before)
    second = await opened()
    same(await look(second), before)
    assert len(files(folder)) == 1


async def test_a_database_that_was_restored_is_not_mixed_with_files_of_its_later_life(
    opened: Opened, path: Path, folder: Path, tmp_path: Path
) -> None:
    first = await opened()
    await filled(first)
    await written(first)
    await first.close()
    shutil.copy(path, tmp_path / "backup.db")
    later = await opened()
    await save(later, *(memory(f"tea wrong{number}", id=f"wrong{number}") for number in range(40)))
    await written(later)
    await later.close()
    for leftover in tmp_path.glob("memory.db*"):
        leftover.unlink()
    shutil.copy(tmp_path / "backup.db", path)
    restored = await opened(slices=None)
    await save(restored, *(memory(f"tea right{number}", id=f"r{number}") for number in range(40)))
    await save(restored, *(memory(f"tea more{number}", id=f"m{number}") for number in range(40)))
    store = await opened()
    answer = await look(store, "wrong1 right1 more1 tea")
    assert answer.statistics.documents == 110
    assert answer.statistics.document_frequency["wrong1"] == 0
    assert answer.statistics.document_frequency["right1"] == 1
    same(answer, await restored.search(ALICE, query("wrong1 right1 more1 tea", unit(500), 12)))


async def test_a_process_opens_what_another_has_written_and_both_see_what_either_does(
    opened: Opened, path: Path
) -> None:
    first, second = await opened(), await opened()
    await filled(first, count=60)
    await written(first)
    names = named(path)
    unreadable(path, "mem_alice_7")
    await look(second)
    assert "damaged" not in (await second.check()).facts
    assert named(path) == names
    for number, (saving, finding) in enumerate([(first, second), (second, first)] * 6):
        await save(saving, memory(f"tea both{number}", id=f"both{number}"))
        assert f"both{number}" in (await look(finding, f"both{number}")).candidates.ids
    same(await look(first, "tea both3"), await look(second, "tea both3"))


async def test_files_that_nobody_names_are_removed_at_the_start_and_by_a_scrub(
    opened: Opened, path: Path, folder: Path
) -> None:
    first = await opened()
    await filled(first)
    await written(first)
    for number in range(2):
        (folder / f"{number}.draft").write_bytes(b"half a file")
        (folder / f"{number}").write_bytes(b"a file whose writer died before it was named")
        if number:
            await opened()
        else:
            assert await first.scrub()
        assert [file.name for file in files(folder)] == named(path)


async def test_a_scrub_says_when_a_file_stays(opened: Opened, folder: Path) -> None:
    store = await opened()
    await filled(store)
    await written(store)
    (folder / "stays").mkdir()
    with pytest.raises(Unavailable):
        await store.scrub()
    await commit(store, ALICE, Write("delete", document(memory(id="mem_alice_7"))))
    assert "mem_alice_7" not in (await look(store, "word7")).candidates.ids


async def test_searches_go_on_where_no_file_can_be_written(opened: Opened, folder: Path) -> None:
    folder.write_bytes(b"no folder")
    store = await opened()
    await filled(store)
    assert (await written(store)).candidates.ids
    assert (await look(store, "word7")).candidates.ids[0]
    await store.close()


async def test_on_a_full_disk_searches_go_on_and_a_file_is_written_once_there_is_room(
    opened: Opened, path: Path, folder: Path
) -> None:
    store, plain = await opened(), await opened(slices=None)
    await filled(store, count=120)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, limits[1]))
    try:
        same(await look(store), await look(plain))
        assert files(folder) == []
        same(await look(store), await look(plain))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    await filled(store, BOB)
    await written(store, BOB)
    await save(store, *(memory(f"tea more{number}") for number in range(40)))
    same(await look(store), await look(plain))
    assert [file.name for file in files(folder)] == named(path)
    assert len(files(folder)) == 2


async def test_a_file_of_the_version_before_is_given_the_table_of_files(
    opened: Opened, path: Path
) -> None:
    first = await opened(slices=None)
    await filled(first)
    await first.close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DROP TABLE slices")
    store = await opened()
    await written(store)
    assert len(named(path)) == 1


async def test_killed_while_it_writes_files_it_leaves_none_that_is_wrong(
    opened: Opened, path: Path, folder: Path
) -> None:
    plain = await opened(slices=None)
    await filled(plain, count=300)
    rng = random.Random(7)
    for life in range(4):
        process = await asyncio.create_subprocess_exec(
            *fork_server.command(
                "tests.integration.packing_child", str(path), str(folder), f"life{life}"
            ),
            stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert process.stdout is not None
        for _ in range(rng.randint(1, 12)):
            assert await process.stdout.readline()
        process.kill()
        await process.stdout.read()
        await process.wait()
        store = await opened()
        words = f"tea life{life} shared1"
        same(await look(store, words), await plain.search(ALICE, query(words, unit(500), 12)))
        assert [file.name for file in files(folder)] == named(path)
        await store.close()
