"""Keys and audit logs in the long-term file, as `documents` that belong to no user."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from memory_core.adapters.sqlite.database import Connections
from memory_core.adapters.sqlite.rows import (
    READ_COLUMNS,
    WRITE,
    decoded,
    parameters,
    tag_of,
    values_of,
)
from memory_core.adapters.sqlite.unlogged import purge, read, stored_tag
from memory_core.domain.scope import Owner
from memory_core.ports import (
    AccessKind,
    Clock,
    Document,
    EntryFilter,
    Place,
    owner_of_keys,
    sequence_of,
)

_ROWS: Final = (
    f"SELECT {READ_COLUMNS} FROM documents WHERE app_id = :app_id AND user_id = :user_id "  # noqa: S608 - our own names
    "AND kind = :kind AND (expires_at IS NULL OR expires_at > :now)"
)
_TARGET_IS: Final = " AND json_extract(CAST(body AS TEXT), '$.target.user_id') = :target"
_ACTION_IS: Final = " AND json_extract(CAST(body AS TEXT), '$.action') = :action"


class SqliteKeyStore:
    """`KeyStore` in the file of a `SqliteStore`, over its connections."""

    def __init__(self, file: Connections, clock: Clock) -> None:
        self._file, self._clock = file, clock

    async def read(self, app_id: str, identity: str) -> Document | None:
        """Read a document on the event loop."""
        return self._file.here(read, owner_of_keys(app_id), identity, self._clock.now())

    async def page(
        self,
        app_id: str,
        kind: AccessKind,
        after: Place | None,
        limit: int,
        where: EntryFilter | None = None,
    ) -> list[Document]:
        """A page, newest first, by the index of kinds."""
        where = where or EntryFilter()
        values: dict[str, Any] = {"kind": kind, "limit": limit}
        restriction = ""
        if after is not None:
            restriction += " AND (sequence, id) < (:after_sequence, :after_id)"
            values |= {"after_sequence": after.sequence, "after_id": after.id}
        for name, moment, comparison in (("since", where.since, ">="), ("until", where.until, "<")):
            if moment is not None:
                restriction += f" AND sequence {comparison} :{name}"
                values[name] = sequence_of(moment)
        if where.action is not None:
            restriction += _ACTION_IS
            values["action"] = where.action
        statement = f"{_ROWS}{restriction} ORDER BY sequence DESC, id DESC LIMIT :limit"
        return await self._file.read(
            _documents, owner_of_keys(app_id), statement, values, self._clock.now()
        )

    async def about(self, app_id: str, user_id: str, limit: int) -> list[Document]:
        """Audit entries about a user, by reading all entries of the app."""
        values = {"kind": "audit", "target": user_id, "limit": limit}
        return await self._file.read(
            _documents,
            owner_of_keys(app_id),
            f"{_ROWS}{_TARGET_IS} LIMIT :limit",
            values,
            self._clock.now(),
        )

    async def write(self, app_id: str, documents: Sequence[Document]) -> bool:
        """Write all documents in a single transaction."""
        return await self._file.write_light(
            _write, owner_of_keys(app_id), documents, self._clock.now()
        )


def _documents(
    connection: sqlite3.Connection,
    owner: Owner,
    statement: str,
    values: dict[str, Any],
    now: datetime,
) -> list[Document]:
    asked = {**values, "app_id": owner.app_id, "user_id": owner.user_id, "now": now.timestamp()}
    return [decoded(row) for row in connection.execute(statement, asked)]


def _write(
    connection: sqlite3.Connection, owner: Owner, documents: Sequence[Document], now: datetime
) -> bool:
    """Write all documents if each is as it was read, else none of them.

    Without a write, True says that all documents are stored like this already.
    """
    rows = [parameters(document) for document in documents]
    connection.execute("BEGIN IMMEDIATE")
    try:
        stored = [stored_tag(connection, owner, document.id, now) for document in documents]
        if stored != [document.tag for document in documents]:
            return stored == [tag_of(row["body"], row["expires_at"]) for row in rows]
        for row in rows:
            row.update(
                app_id=owner.app_id,
                user_id=owner.user_id,
                change=None,
                overwrite=1,
                now=now.timestamp(),
            )
            connection.execute(WRITE, values_of(row))
        purge(connection, owner, now)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return True
