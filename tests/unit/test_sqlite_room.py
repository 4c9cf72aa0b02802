"""A file that can't be written is known to be so, until a write of its own succeeds again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from memory_core.adapters.sqlite.file import FileState, check_folder
from memory_core.domain.errors import Unavailable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "full.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(path, isolation_level=None)
    made.execute("PRAGMA journal_mode = WAL")
    made.execute("CREATE TABLE kept (text BLOB)")
    yield made
    made.close()


def fill(connection: sqlite3.Connection, room: FileState) -> None:
    """Let the file be as large as it may get, and meet that."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError) as caught, room.watched():
        connection.execute("INSERT INTO kept VALUES (zeroblob(1000000))")
    assert caught.value.sqlite_errorname == "SQLITE_FULL"


def test_a_full_file_is_told_of_until_there_is_room_again(
    connection: sqlite3.Connection, path: Path
) -> None:
    room = FileState(path)
    assert (room.failed, room.problem(connection)) == (False, None)
    fill(connection, room)
    assert room.failed
    assert [room.problem(connection) for _ in range(3)] == [
        "OperationalError: the disk is full (SQLITE_FULL)"
    ] * 3
    connection.execute("PRAGMA max_page_count = 1000000")
    assert room.problem(connection) is None
    assert not room.failed


def test_looking_for_room_leaves_nothing_behind(connection: sqlite3.Connection, path: Path) -> None:
    room = FileState(path)
    fill(connection, room)
    connection.execute("PRAGMA max_page_count = 1000000")
    room.problem(connection)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("kept",)]
    assert not connection.in_transaction


def test_a_writer_in_the_way_and_a_mistake_of_ours_are_no_want_of_room(
    connection: sqlite3.Connection, path: Path
) -> None:
    room = FileState(path)
    rival = sqlite3.connect(path, isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    connection.execute("PRAGMA busy_timeout = 1")
    for statement in ("INSERT INTO kept VALUES (1)", "INSERT INTO missing VALUES (1)"):
        with pytest.raises(sqlite3.OperationalError), room.watched():
            connection.execute(statement)
    rival.close()
    assert not room.failed


@pytest.mark.parametrize(("flags", "why"), [(os.ST_RDONLY, "read-only"), (0, "this user")])
def test_a_folder_that_cant_be_written_to_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, why: str
) -> None:
    check_folder("long_term", tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=flags))
    with pytest.raises(Unavailable, match=why) as caught:
        check_folder("long_term", tmp_path)
    assert str(tmp_path) in caught.value.detail
    check_folder("long_term", tmp_path / "not there yet")
