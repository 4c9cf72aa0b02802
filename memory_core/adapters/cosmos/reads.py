"""Reads of Cosmos DB: heads with documents that belong to them, reads of an admin.

Note: a query is no snapshot. What is read beside the head may be older than it, and a commit built
on both would undo what it did not see. So documents count only when the head had not moved since
before they were asked for; else they are read again, as they are when one of them is newer
than the head.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import Answer, CosmosConnection, together
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.container import EmbedderRecord
from memory_core.adapters.cosmos.event_pages import opened, with_pages
from memory_core.adapters.cosmos.heads import Heads, Known, known_of
from memory_core.adapters.cosmos.items import HEAD_ID, MEMORY_KINDS, Item, document_of, epoch_of
from memory_core.adapters.cosmos.neighbours import Neighbourhoods
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import AgentCount, Document, Near, Place

POINT_READS = 3
"""Up to this number of documents, each is read by a point read.

A point read costs 1 request unit and bypasses any index. More documents are read by a single query,
which costs about as much as four point reads and is a single request.
"""
IDS_A_QUERY = 200
PLACED_BY_TIME = frozenset({"task"})
"""Kinds whose `sequence` is a moment, not a sequence of the log.

Without this exception each read of a task was made three times.
"""
WRITTEN_BY_COMMITS = (
    "mem_", "evt_", "ses_", "slt_", "cnv_", "cft_", "scn_", "prf_", "op_", "rcp_",
)  # fmt: skip
"""Prefixes of ids that only commits write.

A commit that changed such a document moved the head.
"""
MORE_LOOKS = 2
"""Repetitions of a read, after which its result is used as it is.

A commit that is built on an inconsistent result would be refused.
"""


class NeighbourRead(NamedTuple):
    """Documents and possible neighbours that were read beside a head."""

    items: Sequence[Item] = ()
    nearby: Sequence[Item] = ()

    def is_newer_than(self, head: Head) -> bool:
        """Whether a document is of a later commit than the head.

        Further documents may then be older than that commit, and a decision would rest on a mixed
        state that never existed. A document that was requested by its id and is of another epoch
        may be of an epoch that has begun since; documents of an old epoch are rarely requested.
        """
        if any(epoch_of(item) not in (None, head.epoch) for item in self.items):
            return True
        beside = (
            item for item in (*self.items, *self.nearby) if epoch_of(item) in (None, head.epoch)
        )
        return any(_changed_at(item) > head.sequence for item in beside)


def split_ids(
    ids: Iterable[str], token: str | None
) -> tuple[tuple[list[str], str | None], tuple[list[str], str | None]]:
    """Divide ids into documents that only commits write and documents beside the log.

    Args:
        ids: The ids of the documents.
        token: The token of the state from which documents of commits may be read.

    Returns:
        The ids that only commits write, with the token; and the remaining ids, without a token.

    """
    parts: tuple[list[str], list[str]] = ([], [])
    for name in ids:
        parts[not name.startswith(WRITTEN_BY_COMMITS)].append(name)
    return (parts[0], token), (parts[1], None)


def _changed_at(item: Item) -> int:
    """The sequence of the commit that wrote an item last, if the item has it."""
    fields = item if item["kind"] in MEMORY_KINDS else item["body"]
    return (
        0
        if item["kind"] in PLACED_BY_TIME
        else int(fields.get("revision") or fields.get("sequence", 0))
    )


def _opened(answers: Iterable[Answer], ids: Collection[str]) -> list[Item]:
    """The requested items, including those within pages."""
    return opened((row for answer in answers for row in answer.rows), frozenset(ids))


class WithHead(NamedTuple):
    """A head and the answers that are not older than it.

    Attributes:
        known: The head; None for an unknown user.
        answers: The answers.
        charge: The cost of all requests, in request units.
        beside: The head that the answers were requested beside.

    """

    known: Known | None
    answers: list[Answer]
    charge: float
    beside: Known | None = None


class Looks:
    """Reads heads and the documents that belong to them."""

    def __init__(
        self, connection: CosmosConnection, heads: Heads, embedder: EmbedderRecord
    ) -> None:
        self._connection, self._heads, self._embedder = connection, heads, embedder
        self._about_to_read: dict[Owner, asyncio.Task[Answer]] = {}
        self._neighbourhoods = Neighbourhoods(connection, embedder)

    async def read_head(self, owner: Owner) -> Answer:
        """The head's item as it is now, without a row for an unknown user.

        Raises Unavailable. Calls before the request is sent share it: three steps of a cell that
        begin together cost a single read.
        """
        reading = self._about_to_read.get(owner)
        if reading is None:
            reading = self._about_to_read[owner] = asyncio.create_task(self._read_head(owner))
        return await asyncio.shield(reading)

    async def _read_head(self, owner: Owner) -> Answer:
        # later callers could be answered with a head from before they asked
        del self._about_to_read[owner]
        return await self._connection.item(owner, HEAD_ID)

    async def head(self, owner: Owner) -> Known | None:
        """The head as it is now, which is remembered. Raises Unavailable."""
        return self.noted(owner, await self.read_head(owner))

    def noted(self, owner: Owner, read: Answer) -> Known | None:
        """The head in an answer of `read_head`, which is remembered.

        Args:
            owner: The owner of the head.
            read: The answer.

        """
        return self._heads.keep(owner, known_of(read))

    async def look(
        self, owner: Owner, ids: Sequence[str], near: Near | None
    ) -> tuple[Known | None, NeighbourRead]:
        """The head, with documents and neighbours.

        They are read again while some of them show a commit that the head does not show yet.

        Args:
            owner: The owner to read.
            ids: The ids of the documents.
            near: The neighbours to find; None for none.

        Raises:
            Unavailable: The service is down or too slow.

        """
        known, beside = await self._look(owner, ids, near)
        for _ in range(MORE_LOOKS):
            if known is None or not beside.is_newer_than(known.head):
                break
            known, beside = await self._look(owner, ids, near)
        return known, beside

    async def nearest(
        self, owner: Owner, nears: Sequence[Near], known: Known
    ) -> list[dict[str, float]]:
        """Ids and similarities of the nearest memories, as of this head or later."""
        return await self._neighbourhoods.nearest(owner, nears, known)

    async def with_head(
        self, owner: Owner, ask: Callable[[Known], Sequence[Coroutine[Any, Any, Answer]]]
    ) -> WithHead:
        """The head and answers that are not older than it.

        The queries run concurrently with the read of the head, beside the head that was known. They
        run again where the head has moved.

        Args:
            owner: The owner to read.
            ask: Makes the queries beside a head.

        Raises:
            Unavailable: The service is down or too slow.

        """
        before, answers, spent = self._heads.get(owner), list[Answer](), 0.0
        beside = before
        if before is None:
            read = await self.read_head(owner)
        else:
            read, *answers = await together(self.read_head(owner), *ask(before))
        known = self.noted(owner, read)
        if known is None:
            return WithHead(None, [], read.charge)
        if before is None or (self._connection.reads_twice and known.etag != before.etag):
            spent = sum(answer.charge for answer in answers)
            answers, beside = await together(*ask(known)), known
        return WithHead(
            known, answers, read.charge + spent + sum(answer.charge for answer in answers), beside
        )

    async def of_the_head(
        self,
        owner: Owner,
        ask: Callable[[str | None], Query],
        epoch_of: Callable[[Item], str | None],
        *,
        by_commits: bool = False,
    ) -> list[Item]:
        """The rows of a query that are of the head's epoch.

        The query is repeated for that epoch alone when rows of another epoch were found. The head
        is read only then: beside a page it would cost a third more, and callers have read it before
        the page.

        Args:
            owner: The owner to read.
            ask: Makes the query, for all epochs (None) or for an epoch.
            epoch_of: The epoch of a row; None for a row without an epoch.
            by_commits: Only commits write these documents, so that they may be read as they were
                with the known head, or later.

        Raises:
            Unavailable: The service is down or too slow.

        """
        known = self._heads.get(owner)
        since = known.token if known is not None and by_commits else None
        rows = (await self._connection.query(owner, ask(None), since=since)).rows
        if all(epoch in (None, known and known.head.epoch) for epoch in map(epoch_of, rows)):
            return rows
        known = await self.head(owner)
        if known is None:
            return []
        return (await self._connection.query(owner, ask(known.head.epoch))).rows

    async def _look(
        self, owner: Owner, ids: Sequence[str], near: Near | None
    ) -> tuple[Known | None, NeighbourRead]:
        """The head, with documents and neighbours that are not older.

        The head is read first when no head is known that it could be compared with.
        """
        before = self._heads.get(owner)
        if before is None or not (ids or near):
            known = await self.head(owner)
            return known, NeighbourRead() if known is None else await self._beside(
                owner, ids, near, known
            )
        known, beside = cast(
            "tuple[Known | None, NeighbourRead]",
            tuple(await together(self.head(owner), self._beside(owner, ids, near, before))),
        )
        if known is not None and known.etag != before.etag:
            beside = await self._beside(owner, ids, near, known)
        return known, beside

    async def _beside(
        self, owner: Owner, ids: Sequence[str], near: Near | None, known: Known
    ) -> NeighbourRead:
        """Documents by id, and the memories that may be neighbours.

        Documents that a head vouches for are read as they were with that head, or later.
        """
        reads = self._by_ids(owner, with_pages(ids), known)
        if near is None:
            return NeighbourRead(_opened(await together(*reads), ids))
        # All side by side: of a `together` inside another one the reads would never be awaited
        # where it is cancelled before it begins.
        *answers, mates = await together(*reads, self._neighbourhoods.around(owner, near, known))
        return NeighbourRead(_opened(cast("list[Answer]", answers), ids), cast("list[Item]", mates))

    def _by_ids(
        self, owner: Owner, wanted: Sequence[str], known: Known
    ) -> list[Coroutine[Any, Any, Answer]]:
        """Requests for documents: a few by point reads, more by a query.

        Documents that only commits write are read as they were with the head, or later. Documents
        beside the log are read as they are now.
        """
        asked = list[Coroutine[Any, Any, Answer]]()
        for names, since in split_ids(wanted, known.token):
            if len(names) <= POINT_READS:
                asked += (self._connection.item(owner, name, since=since) for name in names)
                continue
            for at in range(0, len(names), IDS_A_QUERY):
                query = queries.by_ids(owner, names[at : at + IDS_A_QUERY])
                asked.append(self._connection.query(owner, query, since=since))
        return asked


# The memories that a new truth is compared with: those of its slot, or else near memories.
#
# This is almost always a single query. Note: no single query returns both. ORDER BY VectorDistance
# needs a TOP, which may leave out a member of the slot that is unlike the new truth, and there is
# no UNION. But the members of a filled slot decide alone. So the head's record of filled slots
# selects the query.


# An admin's reads: the poisoned tasks of an app's users, and agents user by user.
#
# Note: the first query crosses partitions, by the index on `app_id`. The continuation of such a
# query can't be kept, so the next page begins after the last row of the page before.


_POISONED = (
    "SELECT TOP @limit c.id, c.app_id, c.user_id, c.kind, c.body, c.expires_at, c._etag FROM c "
    "WHERE c.kind = 'task' AND c.app_id = @app_id AND c.body.status = 'poisoned'"
)
_BEYOND = " AND (c.sequence < @sequence OR (c.sequence = @sequence AND c.id < @id))"
_NEWEST_FIRST = " ORDER BY c.sequence DESC, c.id DESC"


async def poisoned(
    connection: CosmosConnection, app_id: str, after: Place | None, limit: int
) -> list[tuple[Owner, Document]]:
    """The next poisoned tasks of an app's users, newest first.

    Args:
        connection: The connection to the container.
        app_id: The app of the users.
        after: The last place of the previous page; None for the first page.
        limit: The most tasks to return.

    """
    values: dict[str, str | int] = {"@limit": limit, "@app_id": app_id}
    if after is not None:
        values |= {"@sequence": after.sequence, "@id": after.id}
    text = f"{_POISONED}{_BEYOND if after is not None else ''}{_NEWEST_FIRST}"
    rows = (
        await connection.query(
            None, Query(text, [{"name": name, "value": value} for name, value in values.items()])
        )
    ).rows
    return [(Owner(row["app_id"], row["user_id"]), document_of(row)) for row in rows]


async def agents(
    connection: CosmosConnection, owner: Owner, after: str | None, limit: int
) -> list[AgentCount]:
    """The next agents of a user.

    Each agent is found by aggregates, which return a number or a text and no memory.

    Args:
        connection: The connection to the container.
        owner: The user.
        after: The last agent of the previous page; None for the first page.
        limit: The most agents to return.

    """
    counts: list[AgentCount] = []
    agent_id = await _next(connection, owner, after or "")
    while agent_id is not None and len(counts) < limit:
        count, changed = await together(
            *(connection.query(owner, query) for query in queries.of_agent(owner, agent_id))
        )
        if changed.rows:  # else the last of them has just gone
            counts.append(
                AgentCount(agent_id, int(count.rows[0]), datetime.fromisoformat(changed.rows[0]))
            )
        agent_id = await _next(connection, owner, agent_id) if len(counts) < limit else None
    return counts


async def _next(connection: CosmosConnection, owner: Owner, after: str) -> str | None:
    rows = (await connection.query(owner, queries.next_agent(owner, after))).rows
    return next((row for row in rows if isinstance(row, str)), None)
