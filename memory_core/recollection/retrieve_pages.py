"""Pages of a retrieve, without repeated results.

A cursor names the results of earlier pages, so that no result comes twice, however the order has
changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Hit, Retrieved
from memory_core.domain.scope import Owner
from memory_core.ledger.cursors import Cursors
from memory_core.recollection.retrieve import Retriever

MOST_RESULTS: Final = 500
"""The most results that the pages of a query show together."""
_MARK_CHARACTERS: Final = 8
"""The length of a result's mark in a cursor: a digest of its id, as hex."""


class RetrievePages:
    """Pages of any owner's queries."""

    def __init__(self, retriever: Retriever, cursors: Cursors) -> None:
        self._retriever, self._cursors = retriever, cursors

    async def page(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """Return the first results of a query, or the results after its cursor.

        Args:
            owner: Whose memories are searched.
            query: The query with its limit and cursor.

        Raises:
            Malformed: The cursor is void.
            Unavailable: The long-term store is down.

        """
        bound = _bound(query)
        earlier = self._cursors.read_results(owner, bound, query.cursor)
        limit = self._retriever.passing.limit(query)
        asked = min(len(earlier) + limit, MOST_RESULTS)
        retrieved = await self._retriever.retrieve(
            owner, query if not earlier else query.limited(asked)
        )
        marks = (
            [_mark(hit) for hit in retrieved.results]
            if earlier or len(retrieved.results) >= asked
            else []
        )
        if not marks:
            return retrieved
        known = set(earlier)
        left = [
            (hit, mark)
            for hit, mark in zip(retrieved.results, marks, strict=True)
            if mark not in known
        ]
        page = left[:limit]
        further = len(left) > limit or (len(retrieved.results) >= asked and asked < MOST_RESULTS)
        cursor = (
            self._cursors.make_results(owner, bound, [*earlier, *(mark for _, mark in page)])
            if page and further
            else None
        )
        return replace(
            retrieved, results=_ranked([hit for hit, _ in page], len(earlier)), next_cursor=cursor
        )


def _bound(query: RetrieveInput) -> dict[str, Any]:
    """Return the part of a query that its cursor is bound to.

    The length of the pages may change.
    """
    asked = query.model_dump(
        mode="json",
        include=set(RetrieveInput.model_fields) - {"cursor", "limit", "explain"},
        exclude_none=True,
    )
    return {"retrieve": asked}


def _ranked(hits: Sequence[Hit], before: int) -> tuple[Hit, ...]:
    """Number the hits after those of earlier pages."""
    if not before:
        return tuple(hits)
    return tuple(hit._replace(rank=before + place) for place, hit in enumerate(hits, start=1))


def _mark(hit: Hit) -> str:
    identity: str = hit.serialized.fields["id"]
    return blake2b(identity.encode(), digest_size=_MARK_CHARACTERS // 2).hexdigest()
