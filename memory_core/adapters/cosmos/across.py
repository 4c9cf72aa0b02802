"""An admin's reads: the poisoned tasks of an app's users, and agents user by user.

Note: the first crosses partitions, and no continuation of such a query can be kept. So it goes on from the place of its
last row. That its clause names the app confines it to the partitions of the app.
"""

from __future__ import annotations

from datetime import datetime

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.connection import Connection, together
from memory_core.adapters.cosmos.documents import document_of
from memory_core.domain.scope import Owner
from memory_core.ports import AgentCount, Document, Place

_POISONED = (
    "SELECT TOP @limit c.id, c.app_id, c.user_id, c.kind, c.body, c.expires_at, c._etag FROM c "
    "WHERE c.kind = 'task' AND c.app_id = @app_id AND c.body.status = 'poisoned'"
)
_BEYOND = " AND (c.sequence < @sequence OR (c.sequence = @sequence AND c.id < @id))"
_NEWEST_FIRST = " ORDER BY c.sequence DESC, c.id DESC"


async def poisoned(connection: Connection, app_id: str, after: Place | None, limit: int) -> list[tuple[Owner, Document]]:
    """The next poisoned tasks of an app's users, newest first."""
    values: dict[str, str | int] = {"@limit": limit, "@app_id": app_id}
    if after is not None:
        values |= {"@sequence": after.sequence, "@id": after.id}
    text = f"{_POISONED}{_BEYOND if after is not None else ''}{_NEWEST_FIRST}"
    rows = (await connection.query(None, Query(text, [{"name": name, "value": value} for name, value in values.items()]))).rows
    return [(Owner(row["app_id"], row["user_id"]), document_of(row)) for row in rows]


async def agents(connection: Connection, owner: Owner, after: str | None, limit: int) -> list[AgentCount]:
    """The next agents of a user: each is looked up by aggregates, which bring a number or a text and no memory."""
    counts: list[AgentCount] = []
    agent_id = await _next(connection, owner, after or "")
    while agent_id is not None and len(counts) < limit:
        count, changed = await together(*(connection.query(owner, query) for query in queries.of_agent(owner, agent_id)))
        if changed.rows:  # else the last of them has just gone
            counts.append(AgentCount(agent_id, int(count.rows[0]), datetime.fromisoformat(changed.rows[0])))
        agent_id = await _next(connection, owner, agent_id) if len(counts) < limit else None
    return counts


async def _next(connection: Connection, owner: Owner, after: str) -> str | None:
    rows = (await connection.query(owner, queries.next_agent(owner, after))).rows
    return next((row for row in rows if isinstance(row, str)), None)
