"""The head and what is read beside it, so that a commit can be built on both.

Note: a query is no snapshot. What is read beside the head may be older than it, and a commit built on both would undo
what it did not see. So documents count only when the head had not moved since before they were asked for; else they are read again, as
they are when one of them is newer than the head.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.connection import Answer, Connection, together
from memory_core.adapters.cosmos.documents import HEAD_ID, MEMORY_KINDS, Item, epoch_of
from memory_core.adapters.cosmos.embedder import EmbedderRecord
from memory_core.adapters.cosmos.heads import Heads, Known, known_of
from memory_core.adapters.cosmos.neighbours import nearby
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import Near

POINT_READS = 3
"""Up to so many documents are read one by one, at 1 request unit each and past any index; more, by one query."""
IDS_A_QUERY = 200
PLACED_BY_TIME = frozenset({"task"})
"""Kinds whose `sequence` is a moment, not one of the log's: each look at a task was taken three times over."""
MORE_LOOKS = 2
"""After so many, what was seen must do: a commit on it would be refused."""


class Beside(NamedTuple):
    """What was read beside a head."""

    items: Sequence[Item] = ()
    nearby: Sequence[Item] = ()

    def is_newer_than(self, head: Head) -> bool:
        """Whether one of them is of a later commit. Others may then be of before it, and a decision on both would be on what never was.

        One that was asked for by its id and is of another epoch may be of one that has begun since; of an old one, little is asked for.
        """
        if any(epoch_of(item) not in (None, head.epoch) for item in self.items):
            return True
        beside = (item for item in (*self.items, *self.nearby) if epoch_of(item) in (None, head.epoch))
        return any(_changed_at(item) > head.sequence for item in beside)


def _changed_at(item: Item) -> int:
    """The sequence of the commit that wrote it last, as far as it tells."""
    fields = item if item["kind"] in MEMORY_KINDS else item["body"]
    return 0 if item["kind"] in PLACED_BY_TIME else int(fields.get("revision") or fields.get("sequence", 0))


class Looks:
    """Reads heads, and what belongs to them. heads: where those that were read are remembered."""

    def __init__(self, connection: Connection, heads: Heads, embedder: EmbedderRecord) -> None:
        self._connection, self._heads, self._embedder = connection, heads, embedder
        self._about_to_read: dict[Owner, asyncio.Task[Answer]] = {}

    async def read_head(self, owner: Owner) -> Answer:
        """The head's item as it is now, without a row for an unknown user.

        Raises Unavailable. Calls before the request goes out share it: three steps of one cell that begin together cost one read.
        """
        reading = self._about_to_read.get(owner)
        if reading is None:
            reading = self._about_to_read[owner] = asyncio.create_task(self._read_head(owner))
        return await asyncio.shield(reading)

    async def _read_head(self, owner: Owner) -> Answer:
        del self._about_to_read[owner]  # later callers could be answered with a head from before they asked
        return await self._connection.item(owner, HEAD_ID)

    async def head(self, owner: Owner) -> Known | None:
        """The head as it is now; it is remembered. Raises Unavailable."""
        return self.noted(owner, await self.read_head(owner))

    def noted(self, owner: Owner, read: Answer) -> Known | None:
        """The head in what `read_head` answered; it is remembered."""
        return self._heads.keep(owner, known_of(read.rows[0]) if read.rows else None)

    async def look(self, owner: Owner, ids: Sequence[str], near: Near | None) -> tuple[Known | None, Beside]:
        """The head beside documents and neighbours, looked at again while a commit shows in some of them and not yet in the head."""
        known, beside = await self._look(owner, ids, near)
        for _ in range(MORE_LOOKS):
            if known is None or not beside.is_newer_than(known.head):
                break
            known, beside = await self._look(owner, ids, near)
        return known, beside

    async def of_the_head(self, owner: Owner, ask: Callable[[str | None], Query], epoch_of: Callable[[Item], str | None]) -> list[Item]:
        """The rows of a query that are of the head's epoch: asked again, for that alone, when others were found among them.

        The head is read only then: beside a page it would cost a third more, and callers have read it before the page.
        """
        rows = (await self._connection.query(owner, ask(None))).rows
        known = self._heads.get(owner)
        if all(epoch in (None, known and known.head.epoch) for epoch in map(epoch_of, rows)):
            return rows
        known = await self.head(owner)
        if known is None:
            return []
        return (await self._connection.query(owner, ask(known.head.epoch))).rows

    async def _look(self, owner: Owner, ids: Sequence[str], near: Near | None) -> tuple[Known | None, Beside]:
        """The head, and what is asked for, none of it older; the head first when none is known that could be found not to have moved."""
        before = self._heads.get(owner)
        if before is None or not (ids or near):
            known = await self.head(owner)
            return known, Beside() if known is None else await self._beside(owner, ids, near, known.head)
        known, beside = cast(
            "tuple[Known | None, Beside]", tuple(await together(self.head(owner), self._beside(owner, ids, near, before.head)))
        )
        if known is not None and known.etag != before.etag:
            beside = await self._beside(owner, ids, near, known.head)
        return known, beside

    async def _beside(self, owner: Owner, ids: Sequence[str], near: Near | None, head: Head) -> Beside:
        """Documents by id, beside the memories that may be neighbours."""
        wanted = list(dict.fromkeys(ids))
        if len(wanted) <= POINT_READS:
            reads = [self._connection.item(owner, identity) for identity in wanted]
        else:
            parts = [wanted[at : at + IDS_A_QUERY] for at in range(0, len(wanted), IDS_A_QUERY)]
            reads = [self._connection.query(owner, queries.by_ids(owner, part)) for part in parts]
        if near is None:
            return Beside([row for answer in await together(*reads) for row in answer.rows])
        answers, mates = await together(together(*reads), nearby(self._connection, owner, near, head, self._embedder.only))
        return Beside([row for answer in cast("list[Answer]", answers) for row in answer.rows], cast("list[Item]", mates))
