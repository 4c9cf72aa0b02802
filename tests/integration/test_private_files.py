"""What the embedded profile keeps on a disk is for the user who runs it, not for others of
the machine.
"""

from __future__ import annotations

import stat
from pathlib import Path

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.adapters.sqlite.store import SqliteStore
from tests.builders import ALICE, DIMENSIONS, StillClock, memory, save
from tests.host import running
from tests.host import save as save_by_http


def modes(folder: Path) -> dict[str, int]:
    """The mode of each file and folder below, by name."""
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in folder.rglob("*")
    }


async def test_files_of_the_store_and_the_queue_are_made_for_their_owner_alone(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    store = SqliteStore(
        data / "memory.db", clock=StillClock(), embedding_model="one", dimensions=DIMENSIONS
    )
    queue = SqliteQueue(data / "queue.db", clock=StillClock())
    await store.open()
    await queue.open()
    await save(store, memory("tea", owner=ALICE))
    await queue.send("formation", "a message")
    made = modes(tmp_path)
    await store.close()
    await queue.close()
    assert made.pop("data") == 0o700
    assert {
        "data/memory.db",
        "data/memory.db-wal",
        "data/memory.db-shm",
        "data/queue.db",
        "data/queue.db-wal",
    } <= made.keys()
    assert set(made.values()) == {0o600}


async def test_files_of_an_older_version_are_tightened_and_a_folder_of_the_owner_stays_as_it_is(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    store = SqliteStore(
        data / "memory.db", clock=StillClock(), embedding_model="one", dimensions=DIMENSIONS
    )
    await store.open()
    await save(store, memory("tea", owner=ALICE))
    for path in data.iterdir():
        path.chmod(0o644)
    data.chmod(0o755)
    second = SqliteStore(
        data / "memory.db", clock=StillClock(), embedding_model="one", dimensions=DIMENSIONS
    )
    await second.open()
    made = modes(tmp_path)
    await second.close()
    await store.close()
    assert made.pop("data") == 0o755
    assert {"data/memory.db", "data/memory.db-wal", "data/memory.db-shm"} <= made.keys()
    assert set(made.values()) == {0o600}


def test_a_host_leaves_nothing_that_others_may_read(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        save_by_http(client, "ana", "tea in the morning")
        messages = [
            {"role": "user", "content": "I moved to Lisbon.", "timestamp": "2026-05-08T13:50:00Z"}
        ]
        assert (
            client.post(
                "/api/v1/memories", json={"user_id": "ana", "messages": messages}
            ).status_code
            == 202
        )
        assert client.post("/api/v1/users/ana/export").status_code == 202
        made = modes(tmp_path / "data")
    assert {"memory.db", "queue.db"} <= made.keys()
    assert {name: oct(mode) for name, mode in made.items() if mode & 0o077} == {}
