"""A store for tests that commit by themselves, in a storm: it does what the commit loop does,
until it knows how a commit ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memory_core.domain.errors import AlreadyExists, EmbeddingMismatch, HeadMoved, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import AccessCount, Batch, Document, LongTermStore, Write


@dataclass
class Insistent:
    """Sends a batch again while it is unclear whether it was applied, and knows the echo of its own
    success by a marker.

    That is the batch's first event; a batch without events gets a document for it.
    """

    inner: LongTermStore
    done: set[str] = field(default_factory=set)

    async def commit(self, owner: Owner, batch: Batch) -> None:
        marker = batch.events[0].id if batch.events else f"marker_{batch.commit_id}"
        if not batch.events:
            batch = replace(
                batch, writes=(*batch.writes, Write("create", Document(marker, "marker", {})))
            )
        while True:
            try:
                await self.inner.commit(owner, batch)
                break
            except (HeadMoved, AlreadyExists):
                if batch.commit_id in self.done or not await self._is_there(owner, marker):
                    raise
                break
            except EmbeddingMismatch:
                raise
            except Unavailable:
                if await self._is_there(owner, marker):
                    break
        self.done.add(batch.commit_id)

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """Sent again too: what is equal counts as ours."""
        while True:
            try:
                return await self.inner.keep(owner, document)
            except Unavailable:
                continue

    async def fold(
        self, owner: Owner, accesses: Document, counts: Mapping[str, AccessCount]
    ) -> Document | None:
        """Sent again too: what is there of the document tells whether it was applied."""
        while True:
            try:
                return await self.inner.fold(owner, accesses, counts)
            except Unavailable:
                stored = (await self.inner.snapshot(owner, [accesses.id])).documents.get(
                    accesses.id
                )
            if stored is None or stored.tag != accesses.tag:
                return stored if stored is not None and stored.body == accesses.body else None

    async def _is_there(self, owner: Owner, marker: str) -> bool:
        return marker in (await self.inner.snapshot(owner, [marker])).documents

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
