"""Keys and audit logs in the container of memories, in a partition for each app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_core.adapters.cosmos.client import CosmosConnection
from memory_core.adapters.cosmos.conditions import Conditions
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.adapters.cosmos.items import DEPENDENCY, document_of, is_expired, item_of
from memory_core.adapters.cosmos.queries import BRIEF, after_place
from memory_core.domain.errors import Unavailable
from memory_core.ports import (
    AccessKind,
    Clock,
    Document,
    EntryFilter,
    Place,
    owner_of_keys,
    sequence_of,
)

_MOVED = frozenset({404, 409, 412})


class CosmosKeyStore:
    """`KeyStore` in the container of a `CosmosStore`, over its connection."""

    def __init__(self, connection: CosmosConnection, clock: Clock) -> None:
        self._connection, self._clock = connection, clock

    async def read(self, app_id: str, identity: str) -> Document | None:
        """Read a document by a point read."""
        rows = (await self._connection.item(owner_of_keys(app_id), identity)).rows
        return document_of(rows[0]) if rows and not is_expired(rows[0], self._clock.now()) else None

    async def page(
        self,
        app_id: str,
        kind: AccessKind,
        after: Place | None,
        limit: int,
        where: EntryFilter | None = None,
    ) -> list[Document]:
        """A page, newest first, by the index that pages of memories use."""
        where = where or EntryFilter()
        asked = Conditions(owner_of_keys(app_id), (kind,))
        asked.unexpired(self._clock.now())
        after_place(asked, after, newest_first=True)
        for moment, comparison in ((where.since, ">="), (where.until, "<")):
            if moment is not None:
                asked.add(f"c.sequence {comparison} {asked.value(sequence_of(moment))}")
        if where.action is not None:
            asked.equal("c.type", where.action)  # as `item_of` writes it
        query = asked.query(f"TOP {int(limit)} {BRIEF}", "ORDER BY c.sequence DESC, c.id DESC")
        return [
            document_of(row)
            for row in (await self._connection.query(owner_of_keys(app_id), query)).rows
        ]

    async def about(self, app_id: str, user_id: str, limit: int) -> list[Document]:
        """Audit entries about a user, from the index."""
        asked = Conditions(owner_of_keys(app_id), ("audit",))
        asked.equal("c.key", user_id)  # as `item_of` writes it
        rows = (
            await self._connection.query(
                owner_of_keys(app_id), asked.query(f"TOP {int(limit)} {BRIEF}")
            )
        ).rows
        return [document_of(row) for row in rows]

    async def write(self, app_id: str, documents: Sequence[Document]) -> bool:
        """Write all documents in a transactional batch, which is sent once."""
        from azure.cosmos.exceptions import CosmosBatchOperationError

        owner, now = owner_of_keys(app_id), self._clock.now()
        operations: list[tuple[Any, ...]] = []
        for document in documents:
            item = item_of(owner, document, now)
            is_new = document.tag is None
            operations.append(
                ("create", (item,))
                if is_new
                else ("replace", (document.id, item), {"if_match_etag": document.tag})
            )
        try:
            await self._connection.batch(owner, operations)
        except CosmosBatchOperationError as refused:
            if refused.status_code in PASSING:
                raise Unavailable(
                    DEPENDENCY, f"Cosmos DB answered a write with {refused.status_code}"
                ) from refused
            if refused.status_code not in _MOVED:
                raise
            return await self._are_stored(app_id, documents)
        return True

    async def _are_stored(self, app_id: str, documents: Sequence[Document]) -> bool:
        """Whether the refused documents are stored already.

        Then the refusal is the echo of a first try whose answer the SDK had lost.
        """
        for document in documents:
            stored = await self.read(app_id, document.id)
            if stored is None or (stored.body, stored.expires_at) != (
                document.body,
                document.expires_at,
            ):
                return False
        return True
