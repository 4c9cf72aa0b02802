"""The archive in a folder when processes share it, die over it, or the folder goes away."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import stat
from pathlib import Path

import pytest

from memory_core.domain.errors import Unavailable
from memory_core.ports import Archive
from tests import fork_server
from tests.archives import Folder

ROOT = Path(__file__).parents[2]


async def child(folder: Path, name: str, below: str, count: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *fork_server.command("tests.integration.archiving_child", str(folder), name, below,
            str(count)),
        stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


async def writer_of(archive: Archive, name: str) -> str:
    """Who wrote the blob, which is whole."""
    data = await archive.get(name)
    assert data is not None
    writer = data.decode().partition(" ")[0]
    assert data == f"{writer} {name};".encode() * 20_000
    return writer


async def test_killed_while_writing_it_loses_nothing_acknowledged_and_leaves_nothing_half(
    tmp_path: Path,
) -> None:
    rng = random.Random(7)
    for life in range(6):
        process = await child(tmp_path, "one", f"life{life}", 10_000)
        assert process.stdout is not None
        lines = [await process.stdout.readline() for _ in range(rng.randint(1, 30))]
        process.kill()
        lines += (await process.stdout.read()).splitlines(keepends=True)
        await process.wait()
        acknowledged = {line.decode().split()[0] for line in lines if line.endswith(b"\n")}
        archive = Folder(tmp_path).process()
        await archive.open()
        there = await archive.names(f"life{life}/", None, 10_000)
        assert acknowledged <= set(there)
        assert len(there) <= len(acknowledged) + 1
        for name in there:
            assert await writer_of(archive, name) == "one"
        assert [*(tmp_path / "drafts").iterdir()] == []
        await archive.close()


async def test_of_two_processes_that_write_the_same_names_exactly_one_wins_each(
    tmp_path: Path,
) -> None:
    processes = {name: await child(tmp_path, name, "same", 60) for name in ("left", "right")}
    lines_of = {
        name: (await process.communicate())[0].decode().split("\n")[:-1]
        for name, process in processes.items()
    }
    assert [process.returncode for process in processes.values()] == [0, 0]
    won = {
        name: {line.split()[0] for line in lines if line.endswith("won")}
        for name, lines in lines_of.items()
    }
    assert not won["left"] & won["right"]
    archive = Folder(tmp_path).process()
    await archive.open()
    names = await archive.names("same", None, 100)
    assert won["left"] | won["right"] == set(names)
    assert len(names) == 60
    for name in names:
        assert name in won[await writer_of(archive, name)]
    await archive.close()


async def test_only_drafts_whose_writer_is_gone_are_removed(tmp_path: Path) -> None:
    archive = Folder(tmp_path).process()
    await archive.open()
    await archive.close()
    alive, dead = tmp_path / "drafts" / "alive", tmp_path / "drafts" / "dead"
    dead.write_bytes(b"what somebody told")
    with alive.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        await archive.open()
    assert [*(tmp_path / "drafts").iterdir()] == [alive]
    await archive.close()


async def test_what_is_archived_is_nobody_elses_on_the_machine(tmp_path: Path) -> None:
    archive = Folder(tmp_path / "data" / "archive").process()
    await archive.open()
    await archive.put("a/b", b"x")
    await archive.close()
    paths = [*(tmp_path / "data").rglob("*"), tmp_path / "data"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir()] == [0o700] * 5
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_file()] == [0o600]


async def test_removing_leaves_no_empty_folders_and_nothing_of_the_content(tmp_path: Path) -> None:
    archive = Folder(tmp_path).process()
    await archive.open()
    await archive.put("a/b/c", b"what somebody told")
    await archive.put("a/d", b"x")
    await archive.remove("a/b/c")
    assert [path.name for path in (tmp_path / "blobs").rglob("*")] == ["a", "d+blob"]
    await archive.remove("a/d")
    assert [*(tmp_path / "blobs").iterdir()] == []
    await archive.close()


async def test_a_folder_that_went_away_is_unavailable_and_not_empty(tmp_path: Path) -> None:
    folder, away = tmp_path / "archive", tmp_path / "away"
    archive = Folder(folder).process()
    await archive.open()
    await archive.put("a/b", b"x")
    folder.rename(away)
    for call in (
        archive.get("a/b"),
        archive.put("a/c", b"x"),
        archive.remove("a/b"),
        archive.names("", None, 10),
    ):
        with pytest.raises(Unavailable):
            await call
    health = await archive.check()
    assert health.status == "unavailable"
    assert health.last_ok is None
    assert not folder.exists()
    away.rename(folder)
    assert await archive.get("a/b") == b"x"
    assert await archive.put("a/c", b"x")
    assert (await archive.check()).status == "ok"
    await archive.close()


async def test_a_folder_that_can_not_be_made_at_the_start_is_made_once_it_can(
    tmp_path: Path,
) -> None:
    place = tmp_path / "archive"
    place.touch()
    archive = Folder(place).process()
    with pytest.raises(Unavailable):
        await archive.open()
    with pytest.raises(Unavailable):
        await archive.names("", None, 10)
    place.unlink()
    assert await archive.put("a", b"x")
    assert await archive.names("", None, 10) == ["a"]
    await archive.close()


async def test_files_of_others_in_the_folder_are_not_blobs(tmp_path: Path) -> None:
    archive = Folder(tmp_path).process()
    await archive.open()
    await archive.put("a/b", b"x")
    (tmp_path / "blobs" / ".DS_Store").touch()
    (tmp_path / "blobs" / "a" / "c").touch()
    assert await archive.names("", None, 10) == ["a/b"]
    assert await archive.get("a/c") is None
    await archive.close()


async def test_a_file_that_can_not_be_read_is_unavailable(tmp_path: Path) -> None:
    archive = Folder(tmp_path).process()
    await archive.open()
    (tmp_path / "blobs" / "a+blob").mkdir()
    with pytest.raises(Unavailable, match="directory"):
        await archive.get("a")
    await archive.close()
