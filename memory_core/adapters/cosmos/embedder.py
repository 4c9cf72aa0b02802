"""Whose vectors the container holds: one document that belongs to no user.

It is written before the first vector of each embedder. Note: the container itself knows how long a vector is, and nothing else. While
memories are embedded again, it holds vectors of two embedders of one length side by side; each memory names the model of its own, and a
search asks for one model's alone.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from memory_core.adapters.cosmos.connection import Connection
from memory_core.adapters.cosmos.documents import DEPENDENCY, Item
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner

NOBODY: Final = Owner("_", "_")
"""No app may be named so."""
_ID = "embedder"
_ROUNDS = 3
log = logging.getLogger(__name__)


class EmbedderRecord:
    """The embedder that is configured here, held against those on record."""

    def __init__(self, connection: Connection, ours: VectorKind) -> None:
        self._connection, self._ours = connection, ours
        self._known = False
        self._etag: str | None = None
        self.models: list[str] = []
        """Those on record, in the order of their first vectors."""

    @property
    def only(self) -> str | None:
        """The model that a search has to name; None where no other model's vectors are on record."""
        return None if set(self.models) <= {self._ours.model} else self._ours.model

    async def check(self) -> None:
        """Compare, if there is anything on record yet. Raises Unavailable, and EmbeddingMismatch for another length, naming both."""
        rows = (await self._connection.item(NOBODY, _ID)).rows
        if not rows:
            return
        stored = VectorKind(rows[0]["model"], rows[0]["dimensions"])
        if stored.dimensions != self._ours.dimensions:
            raise EmbeddingMismatch(DEPENDENCY, f"the stored vectors are from {stored}, the configured embedder is {self._ours}")
        before = self.only
        self.models, self._etag = rows[0].get("models") or [stored.model], rows[0]["_etag"]
        self._known = self._ours.model in self.models
        if self.only is not None and before is None:
            log.warning("vectors of the embedders %s are stored; the configured one is %s", ", ".join(self.models), self._ours)

    async def compare(self) -> None:
        """As `check`, at no cost once ours was seen on record: no name leaves it."""
        if not self._known:
            await self.check()

    async def keep(self) -> None:
        """Put ours on record unless it is there. Raises as `check` does."""
        from azure.cosmos.exceptions import CosmosBatchOperationError

        await self.compare()
        for _ in range(_ROUNDS):
            if self._known:
                return
            try:
                await self._connection.batch(NOBODY, [self._operation()])
            except CosmosBatchOperationError as refused:
                if refused.status_code in PASSING:
                    raise Unavailable(DEPENDENCY, f"Cosmos DB answered {refused.status_code}") from refused
                if refused.status_code not in (409, 412):
                    raise
            await self.check()
        if not self._known:
            raise Unavailable(DEPENDENCY, "the record of embedders kept changing")

    def _operation(self) -> tuple[Any, ...]:
        """What writes ours beside those on record."""
        models = [*self.models, self._ours.model]
        item: Item = {"id": _ID, "app_id": NOBODY.app_id, "user_id": NOBODY.user_id, "kind": "embedder"}
        item |= {"model": models[0], "dimensions": self._ours.dimensions, "models": models}
        return ("create", (item,)) if self._etag is None else ("replace", (_ID, item), {"if_match_etag": self._etag})
