"""Reads of Cosmos DB: heads with documents that belong to them, reads of an admin.

Note: a query is no snapshot. What is read beside the head may be older than it, and a commit built
on both would undo what it did not see. So documents count only when the head had not moved since
before they were asked for; else they are read again, as they are when one of them is newer
than the head.
"""

from __future__ import annotations

import asyncio
import logging
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
"""Up to so many documents are read one by one, at 1 request unit each and past any index; more,
by one query, which costs about as much as four of these, and is one request.
"""
IDS_A_QUERY = 200
PLACED_BY_TIME = frozenset({"task"})
"""Kinds whose `sequence` is a moment, not one of the log's: each look at a task was taken
three times over.
"""
WRITTEN_BY_COMMITS = (
    "mem_", "evt_", "ses_", "slt_", "cnv_", "cft_", "scn_", "prf_", "op_", "rcp_",
)  # fmt: skip
"""How ids of what commits alone write begin: a commit that changed one of them moved the head."""
MORE_LOOKS = 2
"""After so many, what was seen must do: a commit on it would be refused."""


class Beside(NamedTuple):
    """What was read beside a head."""

    items: Sequence[Item] = ()
    nearby: Sequence[Item] = ()

    def is_newer_than(self, head: Head) -> bool:
        """Whether one of them is of a later commit. Others may then be of before it, and a decision
        on both would be on what never was.

        One that was asked for by its id and is of another epoch may be of one that has begun since;
        of an old one, little is asked for.
        """
        if any(epoch_of(item) not in (None, head.epoch) for item in self.items):
            return True
        beside = (
            item for item in (*self.items, *self.nearby) if epoch_of(item) in (None, head.epoch)
        )
        return any(_changed_at(item) > head.sequence for item in beside)


def parted(
    ids: Iterable[str], token: str | None
) -> tuple[tuple[list[str], str | None], tuple[list[str], str | None]]:
    """Ids in two: of what commits alone write, with the token of the state from which it may be
    read; and of what is kept beside the log, without.
    """
    parts: tuple[list[str], list[str]] = ([], [])
    for name in ids:
        parts[not name.startswith(WRITTEN_BY_COMMITS)].append(name)
    return (parts[0], token), (parts[1], None)


def _changed_at(item: Item) -> int:
    """The sequence of the commit that wrote it last, as far as it tells."""
    fields = item if item["kind"] in MEMORY_KINDS else item["body"]
    return (
        0
        if item["kind"] in PLACED_BY_TIME
        else int(fields.get("revision") or fields.get("sequence", 0))
    )


def _opened(answers: Iterable[Answer], ids: Collection[str]) -> list[Item]:
    """The items that were asked for, those out of pages too."""
    return opened((row for answer in answers for row in answer.rows), frozenset(ids))


class WithHead(NamedTuple):
    """A head and the answers that are not older than it. charge: of all that was asked. beside: the
    head that these were asked beside.
    """

    known: Known | None
    answers: list[Answer]
    charge: float
    beside: Known | None = None


class Looks:
    """Reads heads, and what belongs to them. heads: where those that were read are remembered."""

    def __init__(
        self, connection: CosmosConnection, heads: Heads, embedder: EmbedderRecord
    ) -> None:
        self._connection, self._heads, self._embedder = connection, heads, embedder
        self._about_to_read: dict[Owner, asyncio.Task[Answer]] = {}
        self._neighbourhoods = Neighbourhoods(connection, embedder)

    async def read_head(self, owner: Owner) -> Answer:
        """The head's item as it is now, without a row for an unknown user.

        Raises Unavailable. Calls before the request goes out share it: three steps of one cell that
        begin together cost one read.
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
        """The head as it is now; it is remembered. Raises Unavailable."""
        return self.noted(owner, await self.read_head(owner))

    def noted(self, owner: Owner, read: Answer) -> Known | None:
        """The head in what `read_head` answered; it is remembered."""
        return self._heads.keep(owner, known_of(read))

    async def look(
        self, owner: Owner, ids: Sequence[str], near: Near | None
    ) -> tuple[Known | None, Beside]:
        """The head beside documents and neighbours, looked at again while a commit shows in some of
        them and not yet in the head.
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
        """Ids and similarities of the nearest, as of this head or later."""
        return await self._neighbourhoods.nearest(owner, nears, known)

    async def with_head(
        self, owner: Owner, ask: Callable[[Known], Sequence[Coroutine[Any, Any, Answer]]]
    ) -> WithHead:
        """The head and what is asked beside it, none of it older; beside the head that was known,
        and again where that has moved.

        Raises Unavailable.
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
        """The rows of a query that are of the head's epoch: asked again, for that alone,
        when others were found among them.

        The head is read only then: beside a page it would cost a third more,
        and callers have read it before the page. by_commits: commits alone write what is asked for,
        so that it may be read as it was with that head, or later.
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
    ) -> tuple[Known | None, Beside]:
        """The head, and what is asked for, none of it older; the head first when none is known that
        could be found not to have moved.
        """
        before = self._heads.get(owner)
        if before is None or not (ids or near):
            known = await self.head(owner)
            return known, Beside() if known is None else await self._beside(owner, ids, near, known)
        known, beside = cast(
            "tuple[Known | None, Beside]",
            tuple(await together(self.head(owner), self._beside(owner, ids, near, before))),
        )
        if known is not None and known.etag != before.etag:
            beside = await self._beside(owner, ids, near, known)
        return known, beside

    async def _beside(
        self, owner: Owner, ids: Sequence[str], near: Near | None, known: Known
    ) -> Beside:
        """Documents by id, beside the memories that may be neighbours. What a head tells of is read
        as it was with that head, or later.
        """
        reads = self._by_ids(owner, with_pages(ids), known)
        if near is None:
            return Beside(_opened(await together(*reads), ids))
        # All side by side: of a `together` inside another one the reads would never be awaited
        # where it is cancelled before it begins.
        *answers, mates = await together(*reads, self._neighbourhoods.around(owner, near, known))
        return Beside(_opened(cast("list[Answer]", answers), ids), cast("list[Item]", mates))

    def _by_ids(
        self, owner: Owner, wanted: Sequence[str], known: Known
    ) -> list[Coroutine[Any, Any, Answer]]:
        """What asks for documents: a few one by one, more by a query. What commits alone write is
        read as it was with the head, or later; what is kept beside the log, as it is now.
        """
        asked = list[Coroutine[Any, Any, Answer]]()
        for names, since in parted(wanted, known.token):
            if len(names) <= POINT_READS:
                asked += (self._connection.item(owner, name, since=since) for name in names)
                continue
            for at in range(0, len(names), IDS_A_QUERY):
                query = queries.by_ids(owner, names[at : at + IDS_A_QUERY])
                asked.append(self._connection.query(owner, query, since=since))
        return asked


# Memories shown to a decision about a new truth: its slot's, or else near ones.
#
# Almost always that is one query. Note: no single query gives both. ORDER BY VectorDistance needs a
# TOP, and whatever else the WHERE lets in, the TOP leaves out a member of the slot that is unlike
# the new truth; there is no union. But once the slot is filled it alone decides, so the head's
# record of filled slots says which of the two to ask for.


log = logging.getLogger(__name__)


# An admin's reads: the poisoned tasks of an app's users, and agents user by user.
#
# Note: the first crosses partitions, by the index on `app_id`, and no continuation of such a query
# can be kept. So it goes on from the place of its last row.


_POISONED = (
    "SELECT TOP @limit c.id, c.app_id, c.user_id, c.kind, c.body, c.expires_at, c._etag FROM c "
    "WHERE c.kind = 'task' AND c.app_id = @app_id AND c.body.status = 'poisoned'"
)
_BEYOND = " AND (c.sequence < @sequence OR (c.sequence = @sequence AND c.id < @id))"
_NEWEST_FIRST = " ORDER BY c.sequence DESC, c.id DESC"


async def poisoned(
    connection: CosmosConnection, app_id: str, after: Place | None, limit: int
) -> list[tuple[Owner, Document]]:
    """The next poisoned tasks of an app's users, newest first."""
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
    """The next agents of a user: each is looked up by aggregates, which bring a number or a text
    and no memory.
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
