"""Whose vectors the container holds: one document that belongs to no user, written before the first vector.

One would get wrong: the container itself knows how long a vector is, and nothing else. Two embedders of one length would go unnoticed,
and similarities of two scales be compared.
"""

from __future__ import annotations

from typing import Final

from memory_core.adapters.cosmos.connection import Connection
from memory_core.adapters.cosmos.documents import DEPENDENCY, Item
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.scope import Owner

NOBODY: Final = Owner("_", "_")
"""No app may be named so."""
_ID = "embedder"


class EmbedderRecord:
    """The embedder that is configured here, held against the one on record."""

    def __init__(self, connection: Connection, model: str, dimensions: int) -> None:
        self._connection, self._model, self._dimensions = connection, model, dimensions
        self._known = False

    async def check(self) -> None:
        """Compare, if there is anything on record yet. Raises EmbeddingMismatch, naming both, and Unavailable."""
        rows = (await self._connection.item(NOBODY, _ID)).rows
        self._known = bool(rows)
        if rows and (rows[0]["model"], rows[0]["dimensions"]) != (self._model, self._dimensions):
            stored = f"{rows[0]['model']!r} with {rows[0]['dimensions']} dimensions"
            ours = f"{self._model!r} with {self._dimensions}"
            raise EmbeddingMismatch(DEPENDENCY, f"the stored vectors are from {stored}, the configured embedder is {ours}")

    async def compare(self) -> None:
        """As `check`, at no cost once it was seen to agree: a record never changes."""
        if not self._known:
            await self.check()

    async def keep(self) -> None:
        """Put ours on record unless one is. Raises as `check` does."""
        from azure.cosmos.exceptions import CosmosBatchOperationError

        await self.compare()
        if self._known:
            return
        item: Item = {"id": _ID, "app_id": NOBODY.app_id, "user_id": NOBODY.user_id, "kind": "embedder"}
        item |= {"model": self._model, "dimensions": self._dimensions}
        try:
            await self._connection.batch(NOBODY, [("create", (item,))])
        except CosmosBatchOperationError as refused:
            if refused.status_code in PASSING:
                raise Unavailable(DEPENDENCY, f"Cosmos DB answered {refused.status_code}") from refused
            if refused.status_code != 409:
                raise
        await self.check()
