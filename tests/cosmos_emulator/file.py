"""The SQLite file that lets the emulator start again with its documents.

Everything is answered from memory; the file is only written, one transaction a commit, and read at
start. `synchronous=OFF` survives a killed process (the pages are the operating system's by then),
not a power cut, which no test needs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from tests.cosmos_emulator.items import Item, dumps

SCHEMA = """
CREATE TABLE IF NOT EXISTS databases (id TEXT PRIMARY KEY, rid TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS containers (
    rid TEXT PRIMARY KEY, database TEXT NOT NULL, definition BLOB NOT NULL, lsn INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS items (
    container TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, rid INTEGER NOT NULL, lsn INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (container, key, id)) WITHOUT ROWID;
"""  # noqa: E501

Change = tuple[str, str, Item | None]
"""(key, id, what is there now)."""


class File:
    """One data file. Without a path no document is written: the answers come from memory."""

    def __init__(self, path: Path | None) -> None:
        self._kept = path is not None
        self._db = sqlite3.connect(path or ":memory:", isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=OFF")
        # who looks for something in the file finds what is there, not what was
        self._db.execute("PRAGMA secure_delete=ON")
        self._db.executescript(SCHEMA)

    def databases(self) -> list[tuple[str, str]]:
        """(id, rid) of each."""
        return self._db.execute("SELECT id, rid FROM databases ORDER BY rowid").fetchall()

    def containers(self) -> list[tuple[str, str, dict[str, Any], int]]:
        """(rid, database, definition, lsn) of each."""
        rows = self._db.execute(
            "SELECT rid, database, definition, lsn FROM containers ORDER BY rowid"
        )
        return [
            (rid, database, orjson.loads(definition), lsn)
            for rid, database, definition, lsn in rows
        ]

    def items(self, container: str) -> Iterator[tuple[str, int, int, bytes]]:
        """(key, rid, lsn, body) of each document, oldest first."""
        yield from self._db.execute(
            "SELECT key, rid, lsn, body FROM items WHERE container = ? ORDER BY rid", (container,)
        )

    def add_database(self, id_: str, rid: str) -> None:
        """Keep a database."""
        self._db.execute("INSERT INTO databases VALUES (?, ?)", (id_, rid))

    def remove_database(self, id_: str) -> None:
        """Forget a database whose containers are gone."""
        self._db.execute("DELETE FROM databases WHERE id = ?", (id_,))

    def put_container(self, rid: str, database: str, definition: dict[str, Any]) -> None:
        """Keep a container's definition."""
        self._db.execute(
            "INSERT INTO containers VALUES (?, ?, ?, 0) ON CONFLICT (rid) DO UPDATE "
            "SET definition = excluded.definition",
            (rid, database, dumps(definition)),
        )

    def remove_container(self, rid: str) -> None:
        """Forget a container and its documents."""
        self._db.execute("DELETE FROM containers WHERE rid = ?", (rid,))
        self._db.execute("DELETE FROM items WHERE container = ?", (rid,))

    def commit(self, container: str, lsn: int, changes: Sequence[Change]) -> None:
        """All changes of one commit, or none."""
        if not self._kept:
            return
        self._db.execute("BEGIN")
        for key, id_, item in changes:
            if item is None:
                self._db.execute(
                    "DELETE FROM items WHERE container = ? AND key = ? AND id = ?",
                    (container, key, id_),
                )
            else:
                row = (container, key, id_, item.rid, item.lsn, dumps(item.body))
                self._db.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?)", row)
        self._db.execute("UPDATE containers SET lsn = ? WHERE rid = ?", (lsn, container))
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Write what is left to write."""
        self._db.close()
