"""Reads of Cosmos DB: heads with documents, neighbours, searches, reads of an admin.

Note: a query is no snapshot. What is read beside the head may be older than it, and a commit built
on both would undo what it did not see. So documents count only when the head had not moved since
before they were asked for; else they are read again, as they are when one of them is newer
than the head.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from math import log1p
from typing import Any, NamedTuple, cast

import numpy as np

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import Answer, CosmosConnection, Remembered, together
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.container import EmbedderRecord
from memory_core.adapters.cosmos.event_pages import opened, with_pages
from memory_core.adapters.cosmos.items import (
    HEAD_ID,
    MEMORY_KINDS,
    Item,
    belonging,
    document_of,
    epoch_of,
    memory_of,
)
from memory_core.adapters.cosmos.queries import SIMILARITIES
from memory_core.domain.errors import Damaged
from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Head, Lexical, Memory, Vector
from memory_core.domain.ranking.candidates import (
    TURNS_THAT_LEND,
    CandidateSet,
    Statistics,
    from_memories,
    listed,
    mean_log_length,
    own_length,
    without_lent_words,
)
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import marked
from memory_core.ports import AgentCount, Document, Found, Near, Neighbour, Place, Search

POINT_READS = 3
"""Up to so many documents are read one by one, at 1 request unit each and past any index; more,
by one query, which costs about as much as four of these, and is one request.
"""
IDS_A_QUERY = 200
COMPARED_AT_ONCE = 25
"""Memories a vector up to which all are compared by one query: a row costs about as much as what
each further query does, shared out.
"""
VECTORS_A_QUERY = 10
"""Vectors that one query names: a statement may have 512 KB, and a vector 30."""
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


# Heads with the ETag each was read with, so that a commit need not read its head again.


class Known(NamedTuple):
    """A head and the ETag of the item that held it. written_at: when that was, by the service's
    clock; 0 where only a commit was told.

    token: of the state in which it was seen: a read that is given it sees all that this head
    vouches for.
    """

    head: Head
    etag: str
    written_at: int = 0
    token: str | None = None


Heads = Remembered[Known]
"""The last known head of each user; the service compares the ETag, so an old one does no harm."""


def known_of(read: Answer) -> Known | None:
    """The head in what a point read of it answered."""
    if not read.rows:
        return None
    item = read.rows[0]
    return Known(Head.model_validate(item["body"]), item["_etag"], item.get("_ts", 0), read.token)


# Memories shown to a decision about a new truth: its slot's, or else near ones.
#
# Almost always that is one query. Note: no single query gives both. ORDER BY VectorDistance needs a
# TOP, and whatever else the WHERE lets in, the TOP leaves out a member of the slot that is unlike
# the new truth; there is no union. But once the slot is filled it alone decides, so the head's
# record of filled slots says which of the two to ask for.


log = logging.getLogger(__name__)


class Neighbourhoods:
    """The memories that may be neighbours of new truths. What several truths of a user with few
    memories are compared with comes by one query.
    """

    def __init__(self, connection: CosmosConnection, embedder: EmbedderRecord) -> None:
        self._connection, self._embedder = connection, embedder
        self._about_to_ask: dict[_Compared, _Asking] = {}

    async def around(self, owner: Owner, near: Near, known: Known) -> Sequence[Item]:
        """The memories that may be neighbours, whole.

        A second query is sent only when the slot was filled once and no memory is in it now.
        """
        head, since = known.head, known.token
        if near.key is not None:
            return (
                await self._connection.query(
                    owner, queries.of_key(owner, near.key, near), since=since
                )
            ).rows
        mates: Sequence[Item] = ()
        if near.slot is not None and (head.slots is None or marked(head.slots, near.slot)):
            mates = (
                await self._connection.query(
                    owner, queries.in_slot(owner, near.slot, near), since=since
                )
            ).rows
        if near.vector is None or any(item["epoch"] == head.epoch for item in mates):
            return mates
        return await self._nearest(owner, near, near.vector, known)

    async def _nearest(
        self, owner: Owner, near: Near, vector: Vector, known: Known
    ) -> Sequence[Item]:
        """The nearest memories: those of several truths that are asked for at once are chosen here
        from all, where the service would send each of them no fewer times.
        """
        name = _Compared(owner, known.etag, near.types, near.statuses)
        limits, asking = self._about_to_ask.get(name) or self._begun(name, near, known)
        limits.append(near.limit)
        rows = await asyncio.shield(asking)
        if rows is not None:
            return _best(rows, vector, near.limit)
        query = queries.nearest(owner, near, vector, self._embedder.only)
        return (await self._connection.query(owner, query, since=known.token)).rows

    def _begun(self, name: _Compared, near: Near, known: Known) -> _Asking:
        limits = list[int]()
        asking = asyncio.create_task(self._all(name, limits, near, known))
        asking.add_done_callback(_heard)
        self._about_to_ask[name] = limits, asking
        return limits, asking

    async def _all(
        self, name: _Compared, limits: Sequence[int], near: Near, known: Known
    ) -> Sequence[Item] | None:
        """All memories to compare with; None where each truth had better ask for its own."""
        del self._about_to_ask[name]
        if len(limits) == 1 or sum(known.head.counts.values()) > sum(limits):
            return None
        query = queries.comparable(name.owner, near, self._embedder.only)
        return (await self._connection.query(name.owner, query, since=known.token)).rows

    async def nearest(
        self, owner: Owner, nears: Sequence[Near], known: Known
    ) -> list[dict[str, float]]:
        """By id how near memories are to each of several vectors: of a user with few memories by
        queries over all, else by one for each vector.
        """
        few = sum(known.head.counts.values()) <= COMPARED_AT_ONCE * min(len(nears), VECTORS_A_QUERY)
        size, only = VECTORS_A_QUERY if few else 1, self._embedder.only
        parts = [nears[start : start + size] for start in range(0, len(nears), size)]
        answers = await together(
            *(
                self._connection.query(
                    owner, queries.closest(owner, part, only, of_all=few), since=known.token
                )
                for part in parts
            )
        )
        return [
            _over_the_floor(near, answer.rows, f"similarity_{place}", known.head.epoch)
            for part, answer in zip(parts, answers, strict=True)
            for place, near in enumerate(part)
        ]


def _over_the_floor(near: Near, rows: Sequence[Item], column: str, epoch: str) -> dict[str, float]:
    similar = {
        row["id"]: float(row[column])
        for row in rows
        if row["epoch"] == epoch and row.get(column, -1.0) >= near.floor
    }
    best = sorted(similar, key=lambda name: -similar[name])[: near.limit]
    return {name: similar[name] for name in best}


_Asking = tuple[list[int], asyncio.Task[Sequence[Item] | None]]
"""How many memories each of several truths is compared with, and what asks for them all."""


def _heard(asking: asyncio.Task[Any]) -> None:
    """Take note of a failure, also where no caller waits for it any more."""
    if not asking.cancelled():
        asking.exception()


class _Compared(NamedTuple):
    """What several truths are compared with."""

    owner: Owner
    etag: str
    types: frozenset[str]
    statuses: frozenset[str]


def _best(rows: Sequence[Item], vector: Vector, most: int) -> Sequence[Item]:
    """The nearest of these memories."""
    if len(rows) <= most:
        return rows
    similarity = np.array([row["embedding"] for row in rows], dtype=np.float32) @ vector
    return [rows[place] for place in np.argsort(-similarity, kind="stable")[:most]]


def neighbours(
    near: Near, items: Sequence[Mapping[str, Any]], epoch: str, kind: VectorKind
) -> tuple[Neighbour, ...]:
    """The memories over the floor, in the slot or of the key, nearest first.

    A member of the slot or the key without a vector has similarity 0.
    """
    made: dict[str, Neighbour] = {}
    for item in items:
        if item["epoch"] != epoch or item["id"] in made:
            continue
        mate = (
            near.slot is not None
            and (item.get("slot_subject"), item.get("slot_attribute")) == near.slot
        )
        mate = mate or (near.key is not None and item.get("key") == near.key)
        try:
            memory = memory_of(item, kind)
        except Damaged as error:
            if mate:  # what it says in its slot must not be ignored
                raise
            log.error("a neighbour is left out: %s", error.detail)
            continue
        known = near.vector is not None and memory.embedding is not None
        similarity = float(np.dot(memory.embedding, near.vector)) if known else 0.0  # type: ignore[arg-type]
        if mate or (known and similarity >= near.floor):
            made[memory.id] = Neighbour(memory, similarity)
    return tuple(sorted(made.values(), key=lambda neighbour: -neighbour.similarity))


# Two lists of items as one candidate set, with the statistics that relevance needs.
#
# Note: the service's order of the lexical list picks candidates and does nothing else. What a
# memory is worth is computed from its own tokens, by the same function as for every other store.


Rows = Sequence[Mapping[str, Any]]


def readable(head: Head | None, rows: Iterable[Item]) -> dict[str, Memory]:
    """The memories of the head's epoch by id, but for those that can't be read,
    which must not hide the others.
    """
    ours = {
        row["id"]: row
        for row in belonging(rows, head)
        if head is not None and row["epoch"] == head.epoch
    }
    return {name: memory for name, row in ours.items() if (memory := _readable(row)) is not None}


def lending_turns(search: Search, memories: Iterable[Memory]) -> frozenset[tuple[str, int]]:
    """Session and turn of what may have lent one of these memories a term that it does
    not say itself.
    """
    return frozenset(
        (memory.session_id, turn)
        for memory in memories
        if memory.session_id is not None
        and any(_is_lent(memory.lexical, term) for term in search.terms)
        for turn in _turns_before(memory)
    )


def search_answer(
    head: Head | None,
    search: Search,
    near: Sequence[Rows],
    worded: Rows,
    memories: Mapping[str, Memory],
    charge: float,
    kind: VectorKind,
    deleted: Rows = (),
) -> Found:
    """The answer to a search.

    near: by sentence. memories: those of the rows that can be read. kind: of the query's vectors;
    what the service made of a vector of another kind says nothing. deleted: session and turn of
    deleted turns, which lend no words.
    """
    nearest = [row for of_rank in zip_longest(*near) for row in of_rank if row is not None]
    rows = {row["id"]: row for row in (*nearest, *worded) if row["id"] in memories}
    comparable = {
        name for name, row in rows.items() if row.get("embedding_model") in (None, kind.model)
    }
    asked = listed(search.terms, search.related)
    hidden = {(row["session_id"], turn) for row in deleted if (turn := row.get("turn")) is not None}
    alone = {
        name
        for name, memory in memories.items()
        if any((memory.session_id, turn) in hidden for turn in _turns_before(memory))
    }
    lists = {
        "vector": list(dict.fromkeys(row["id"] for row in nearest if row["id"] in comparable)),
        # The service's analyser may take two words for one that ours tells apart ("c++" and "c").
        "lexical": [
            row["id"]
            for row in worded
            if row["id"] in memories
            and _holds_any(memories[row["id"]].lexical, asked, row["id"] in alone)
        ],
    }
    chosen = {
        identity: memories[identity]
        for identity in dict.fromkeys(lists["vector"] + lists["lexical"])
    }
    cosines = {
        identity: similarities
        for identity in chosen
        if identity in comparable and (similarities := _similarities(rows[identity], search))
    }
    apart = [
        _apart(memory) if is_version(identity) else memory for identity, memory in chosen.items()
    ]
    candidates = from_memories(
        apart, search.terms, search.compared, cosines, search.related, search.where.has_faded
    )
    if alone:
        candidates = without_lent_words(candidates, alone)
    candidates.memories, candidates.lists = chosen, lists
    return Found(head, candidates, _statistics(candidates, search.terms, apart), charge)


def lists_of(rows: Rows, search: Search) -> tuple[list[Rows], Rows]:
    """Everything of a small user as the lists that the service would make: by each vector,
    and by words.
    """
    near: list[Rows] = [
        sorted((row for row in rows if name in row), key=lambda row, name=name: -row[name])[  # type: ignore[misc]
            : search.limit
        ]
        for name in SIMILARITIES[: len(search.vectors)]
    ]
    asked = set(listed(search.terms, search.related))
    mentions = {row["id"]: asked & _words_of(row) for row in rows}
    holders = Counter(term for terms in mentions.values() for term in terms)
    worth = {term: log1p(len(rows) / count) for term, count in holders.items()}
    worded = [row for row in rows if mentions[row["id"]]]
    return near, sorted(worded, key=lambda row: -sum(worth[term] for term in mentions[row["id"]]))[
        : search.limit
    ]


def _words_of(row: Mapping[str, Any]) -> set[str]:
    lexical = row.get("lexical")
    parts = (
        [lexical.get(name) for name in ("own", "date", "previous", "before_previous")]
        if isinstance(lexical, dict)
        else []
    )
    return {word for part in parts if isinstance(part, dict) for word in part}


def with_similarities(rows: Rows, known: Rows) -> Rows:
    """The rows, each with the similarities that another row of the same memory has."""
    numbered = {
        row["id"]: {name: row[name] for name in SIMILARITIES if name in row} for row in known
    }
    return [{**row, **numbered.get(row["id"], {})} for row in rows]


def _similarities(row: Mapping[str, Any], search: Search) -> list[float]:
    """One for each vector of the search; none of a memory without a vector."""
    names = SIMILARITIES[: len(search.vectors)]
    return [float(row[name]) for name in names] if all(name in row for name in names) else []


def _readable(row: Mapping[str, Any]) -> Memory | None:
    """The memory in a row; None for one that can't be read, which must not hide the others."""
    try:
        return memory_of(row)
    except Damaged as error:
        log.error("a search leaves it out: %s", error.detail)
        return None


def _turns_before(memory: Memory) -> list[int]:
    """The turns of its session that lent a memory words; none for an old version,
    which has only kept them.
    """
    turn = None if is_version(memory.id) else memory.lexical.turn
    return [] if turn is None else [turn - step for step in range(1, TURNS_THAT_LEND + 1)]


def _is_lent(lexical: Lexical, term: str) -> bool:
    is_own = term in lexical.own or term in lexical.date
    return not is_own and (term in lexical.previous or term in lexical.before_previous)


def _holds_any(lexical: Lexical, terms: Sequence[str], alone: bool) -> bool:
    """alone: whether its own words count and no others."""
    parts = (
        lexical.own,
        lexical.date,
        *(() if alone else (lexical.previous, lexical.before_previous)),
    )
    return any(term in part for part in parts for term in terms)


def _apart(version: Memory) -> Memory:
    """An old version without its turn: the memory itself has that place among the neighbours."""
    return version.changed(lexical=version.lexical.changed(turn=None))


def _statistics(
    candidates: CandidateSet, terms: Sequence[str], memories: Sequence[Memory]
) -> Statistics:
    """What is counted over the candidates alone: how many there are, how long,
    and how many hold a term.

    How often a term occurs among all of a user's memories would take a table of terms. Over the two
    lists of 50 it costs no recall (.81 either way), as long as all counts are of the same set:
    against the number of all memories, what is frequent among the candidates would look rare.
    """
    documents = len(candidates)
    turns = [
        own_length(memory.lexical)
        for memory in memories
        if memory.session_id is not None and memory.lexical.turn is not None
    ]
    return Statistics(
        documents=documents,
        mean_length=float(candidates.length.mean()) if documents else 0.0,
        document_frequency=dict(zip(terms, candidates.own.sum(axis=0).tolist(), strict=True)),
        actors=frozenset(actor for actor in candidates.actor if actor is not None),
        turn_log_length=mean_log_length(turns),
    )


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
