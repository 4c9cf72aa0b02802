"""An admin's reads: the poisoned tasks of an app's users, and agents user by user.

Note: both are read from indexes that a file may be older than. So these are made when a file is opened, if they are missing.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Final

from memory_core.adapters.sqlite.reading import transaction
from memory_core.adapters.sqlite.rows import READ_COLUMNS, decoded
from memory_core.adapters.sqlite.schema import CHANGED, IS_POISONED
from memory_core.domain.messages import MESSAGE
from memory_core.domain.scope import Owner
from memory_core.ports import AgentCount, Document, Place

_AFTER_ALL: Final = Place(2**62, "")
_POISONED = (
    f"SELECT user_id, {READ_COLUMNS} FROM documents INDEXED BY tasks_poisoned WHERE app_id = ? AND {IS_POISONED} "  # noqa: S608 - our own names
    "AND (sequence, id) < (?, ?) ORDER BY sequence DESC, id DESC LIMIT ?"
)
_ITS_OWN = "FROM documents INDEXED BY documents_by_agent WHERE app_id = ? AND user_id = ? AND kind = 'memory' AND agent_id"
_NEXT_AGENT = f"SELECT MIN(agent_id) {_ITS_OWN} > ?"
_COUNT = f"SELECT COUNT(*) {_ITS_OWN} = ? AND status IN ('active', 'compressed') AND category IS NOT '{MESSAGE}'"
_LAST_CHANGED = f"SELECT {CHANGED} {_ITS_OWN} = ? ORDER BY {CHANGED} DESC LIMIT 1"


def poisoned(connection: sqlite3.Connection, app_id: str, after: Place | None, limit: int) -> list[tuple[Owner, Document]]:
    """The next poisoned tasks of an app's users, newest first."""
    place = after or _AFTER_ALL
    rows = connection.execute(_POISONED, (app_id, place.sequence, place.id, limit))
    return [(Owner(app_id, user_id), decoded(row)) for user_id, *row in rows]


def agents(connection: sqlite3.Connection, owner: Owner, after: str | None, limit: int) -> list[AgentCount]:
    """The next agents of a user: each is looked up, none of the memories between two of them is gone through."""
    counts: list[AgentCount] = []
    last = after or ""
    with transaction(connection):
        while len(counts) < limit:
            (agent_id,) = connection.execute(_NEXT_AGENT, (*owner, last)).fetchone()
            if agent_id is None:
                break
            (count,) = connection.execute(_COUNT, (*owner, agent_id)).fetchone()
            (changed,) = connection.execute(_LAST_CHANGED, (*owner, agent_id)).fetchone()
            counts.append(AgentCount(agent_id, count, datetime.fromisoformat(f"{changed}Z")))
            last = agent_id
    return counts
