"""The long-term store on Cosmos DB: each method a logical read, or a batch.

Note: what is shown to callers may be a moment old, what a commit is built on must not be mixed of
two moments. The first is asked for beside the head, here and in `searches`; the second is looked
at, and if need be again, in `reads`.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson

from memory_core.adapters.cosmos import queries, reads, writes
from memory_core.adapters.cosmos import writes as committing
from memory_core.adapters.cosmos.client import CONNECTIONS, Answer, CosmosConnection, together
from memory_core.adapters.cosmos.container import (
    ENOUGH,
    Consistency,
    EmbedderRecord,
    VectorIndex,
    compare,
    provision,
)
from memory_core.adapters.cosmos.event_pages import PAGE, WIDTH, event_items, passes
from memory_core.adapters.cosmos.heads import Heads, Known
from memory_core.adapters.cosmos.items import (
    Item,
    belonging,
    check_vector,
    document_of,
    epoch_of,
    is_expired,
    serialized_memory_of,
)
from memory_core.adapters.cosmos.key_store import CosmosKeyStore
from memory_core.adapters.cosmos.neighbours import neighbours
from memory_core.adapters.cosmos.reads import IDS_A_QUERY, Looks
from memory_core.adapters.cosmos.searches import Searches, seen_by
from memory_core.adapters.cosmos.slice_cache import CachedSlices
from memory_core.adapters.cosmos.text_ranking import TextRanking
from memory_core.adapters.memory_index.stored_values import with_own_name
from memory_core.domain.archival import NextDue, moment_in
from memory_core.domain.errors import Unavailable
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Event, Head, Vector
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ports import (
    AccessCount,
    AgentCount,
    Batch,
    Charged,
    Clock,
    Document,
    Due,
    EventFilter,
    Filter,
    Found,
    Health,
    Kind,
    Near,
    Place,
    Search,
    Snapshot,
)

FEW_EVENTS = 50
"""Up to this number, each event is assumed to be an item of its own."""


def _paged(where: Filter | None, known: Known | None) -> Filter | None:
    """The filter of a page, which is read by a head that may have moved.

    Messages that were written since pass the filter, so that the page reveals the move.
    """
    if where is None or known is None:
        return where
    return replace(seen_by(where, known.head), later_than=known.head.sequence)


def _items_of_events(limit: int) -> int:
    """The number of items to read for so many events.

    In a long log most items are pages of several events; in a short log all events come at once.
    """
    return limit if limit <= FEW_EVENTS else FEW_EVENTS + (limit - FEW_EVENTS) // 4


def _each_event(item: Item) -> list[Item]:
    return event_items(item) if item["kind"] == PAGE else [item]


class CosmosStore:
    """`LongTermStore` in a container of Cosmos DB.

    The account's operator makes the containers; `provision` is for emulators.

    Args:
        endpoint: The address of the account.
        database: The name of the database.
        clock: The present time.
        embedding_model: The name of the configured embedder's model.
        dimensions: The length of its vectors.
        container: The name of the container.
        key: An account key; None for a managed identity.
        identity_client_id: The client id of a user-assigned identity; None for the system-assigned
            identity.
        vector_index: The type of the vector index that `provision` makes.
        consistency: The least that the account must have, see `ENOUGH`.
        deadline_s: The longest duration of a logical call in seconds, retries included.
        asks_account: Whether the account is asked for its consistency, by a private call of the
            SDK.
        slice_budget_bytes: The estimated memory of all cached users together; 0 sends every search
            to the service.
        charged: Called with the cost of each answer.

    """

    def __init__(
        self,
        endpoint: str,
        database: str,
        *,
        clock: Clock,
        embedding_model: str,
        dimensions: int,
        container: str = "memories",
        key: str | None = None,
        identity_client_id: str | None = None,
        vector_index: VectorIndex = "quantizedFlat",
        consistency: Consistency = "strong",
        deadline_s: float = 8.0,
        asks_account: bool = True,
        slice_budget_bytes: int = 0,
        charged: Charged = lambda units: None,
    ) -> None:
        self._connection = CosmosConnection(
            endpoint,
            database,
            container,
            key=key,
            identity_client_id=identity_client_id,
            deadline_s=deadline_s,
            charged=charged,
        )
        self._names = (database, container)
        self._clock = clock
        self._kind = VectorKind(embedding_model, dimensions)
        self._vector_index: VectorIndex = vector_index
        self._wanted_consistency: Consistency = consistency
        self._asks_account = asks_account
        self._embedder = EmbedderRecord(self._connection, self._kind)
        self._ranking = TextRanking(self._connection, dimensions)
        self._heads = Heads()
        self._looks = Looks(self._connection, self._heads, self._embedder)
        self._slice_budget_bytes = slice_budget_bytes
        self._hold(budget_bytes=0)
        self._last_ok: datetime | None = None

    async def open(self) -> None:
        """Connect, and compare container and account with the requirements.

        Raises Unavailable and EmbeddingMismatch.
        """
        self._connection.open()
        try:
            level = await self._compared()
        except BaseException as error:
            await self._connection.close(error if isinstance(error, Unavailable) else None)
            raise
        self._connection.reads_twice = level in ENOUGH["strong"]
        budget = self._slice_budget_bytes if level in ENOUGH["strong"] else 0
        self._hold(budget)

    def _hold(self, budget_bytes: int) -> None:
        """Hold users in memory within so many bytes, and search with them."""
        self._held = CachedSlices(self._connection, self._kind, budget_bytes, self._clock)
        self._searches = Searches(
            self._connection, self._looks, self._held, self._ranking, self._embedder, self._kind
        )

    async def _compared(self) -> str:
        """The account's consistency, after container and account were compared."""
        return await compare(
            self._connection,
            self._embedder,
            self._kind.dimensions,
            self._wanted_consistency,
            asks_account=self._asks_account,
        )

    async def provision(self) -> None:
        """Make the database and container if they are missing, before `open`.

        This is only for an emulator.
        """
        self._connection.open()
        await provision(
            await self._connection.client(), *self._names, self._kind.dimensions, self._vector_index
        )

    async def close(self) -> None:
        """Close all connections. Acknowledged writes are kept."""
        await self._held.close()
        await self._connection.close()

    def key_store(self) -> CosmosKeyStore:
        """The keys and audit logs of apps, in the same container.

        An existing installation therefore needs no new container.
        """
        return CosmosKeyStore(self._connection, self._clock)

    async def snapshot(
        self, owner: Owner, ids: Sequence[str] = (), near: Near | None = None
    ) -> Snapshot:
        """Head, documents and neighbours.

        They are read again while some of them show a commit that the head does not show yet.
        """
        await self._check(None if near is None else near.vector)
        known, beside = await self._looks.look(owner, ids, near)
        if known is None:
            return Snapshot(None, {})
        now = self._clock.now()
        documents = {
            item["id"]: document_of(item, self._kind)
            for item in belonging(beside.items, known.head)
            if not is_expired(item, now)
        }
        return Snapshot(
            known.head,
            documents,
            () if near is None else neighbours(near, beside.nearby, known.head.epoch, self._kind),
        )

    async def nearest(self, owner: Owner, nears: Sequence[Near]) -> list[dict[str, float]]:
        """Ids and similarities of the nearest memories, without the memories."""
        await self._check(*(near.vector for near in nears))
        known = await self._standing(owner)
        if known is None or not nears:
            return [{} for _ in nears]
        return await self._looks.nearest(owner, nears, known)

    async def commit(self, owner: Owner, batch: Batch) -> None:
        """Write all of the batch, or none of it, by sending it once.

        After Unavailable, the batch's first event tells whether it was applied.
        """
        batch = with_own_name(batch, self._kind)
        vectors = (
            *(write.document.vector for write in batch.writes),
            *(mark.embedding for mark in batch.marks.values()),
        )
        if any(vector is not None for vector in vectors):
            await self._embedder.keep()
        await committing.commit_batch(
            self._connection, self._heads, owner, batch, self._clock.now(), self._kind.dimensions
        )
        self._held.ended(owner, batch.head.epoch)

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """Write a bookkeeping document, by sending it once."""
        return await writes.keep(self._connection, owner, document, self._clock.now())

    async def fold(
        self, owner: Owner, accesses: Document, counts: Mapping[str, AccessCount]
    ) -> Document | None:
        """Add accesses to memories, and replace the document in which they waited."""
        left = await writes.fold(self._connection, owner, accesses, counts, self._clock.now())
        self._held.add_accesses(owner, None if left is None else counts)
        return left

    async def waiting(self, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
        """The next owners with pending tasks."""
        return await writes.waiting(self._connection, after, limit)

    async def owners(
        self, after: Owner | None, limit: int, app_id: str | None = None
    ) -> list[tuple[Owner, Head]]:
        """The next owners."""
        return await writes.owners(self._connection, after, limit, app_id)

    async def poisoned(
        self, app_id: str, after: Place | None, limit: int
    ) -> list[tuple[Owner, Document]]:
        """The next poisoned tasks of an app's users, newest first.

        Args:
            connection: The connection that reads.
            app_id: The app of the users.
            after: The last place of the previous page; None for the first page.
            limit: The most tasks to return.

        """
        return await reads.poisoned(self._connection, app_id, after, limit)

    async def agents(self, owner: Owner, after: str | None, limit: int) -> list[AgentCount]:
        """The next agents of a user."""
        return await reads.agents(self._connection, owner, after, limit)

    async def tags(self, owner: Owner, prefix: str, after: str | None, limit: int) -> list[str]:
        """The next tags of a user."""
        known = await self._standing(owner)
        if known is None:
            return []
        rows = (
            await self._connection.query(
                owner, queries.tags(owner, prefix, after, known.head.epoch)
            )
        ).rows
        # The service sorts by no member of an array, and may name a tag once a page.
        return sorted({str(tag) for tag in rows})[:limit]

    async def ranges(self) -> list[str]:
        """The container's feed ranges, as JSON."""
        return [orjson.dumps(feed_range).decode() for feed_range in await self._connection.ranges()]

    async def due(self, within: str, now: datetime, after: Due | None, limit: int) -> list[Due]:
        """The next owners in a feed range whose run is due."""
        return await writes.due(self._connection, within, now, after, limit)

    async def prepare(self, owner: Owner, search: Search) -> None:
        """Do not prepare: all lists of a search are read at once."""

    async def search(self, owner: Owner, search: Search) -> Found:
        """Search as `Searches.search` does."""
        await self._check(*search.vectors)
        return await self._searches.search(owner, search)

    async def memories(
        self,
        owner: Owner,
        ids: Sequence[str],
        where: Filter | None = None,
        *,
        seen: Head | None = None,
    ) -> dict[str, SerializedMemory]:
        """Memories and versions by id, as they are in their items, without vectors.

        The head is not read again where it is `seen`.
        """
        wanted = list(dict.fromkeys(ids))
        parts = [wanted[at : at + IDS_A_QUERY] for at in range(0, len(wanted), IDS_A_QUERY)]

        def asked(known: Known) -> list[Coroutine[Any, Any, Answer]]:
            head_filter = None if where is None else seen_by(where, known.head)
            return [
                self._connection.query(
                    owner, queries.to_show(owner, part, head_filter), since=known.token
                )
                for part in parts
            ]

        known = self._heads.get(owner)
        if seen is not None and known is not None and known.head == seen:
            answers = await together(*asked(known))
        else:
            known, answers, *_ = await self._looks.with_head(owner, asked)
        if known is None:
            return {}
        items = [
            item for part in answers for item in part.rows if item["epoch"] == known.head.epoch
        ]
        return {item["id"]: serialized_memory_of(item) for item in belonging(items, known.head)}

    async def page(
        self,
        owner: Owner,
        kind: Kind,
        where: Filter | None,
        after: Place | None,
        limit: int,
        *,
        newest_first: bool = True,
    ) -> list[Document]:
        """A page of documents by (sequence, id).

        Memories that are read with `where.at` include their versions.
        """
        if kind == "event":
            return await self._event_page(owner, after, limit, newest_first=newest_first)
        now = self._clock.now()

        async def asked(filter_: Filter | None) -> list[Item]:
            return await self._looks.of_the_head(
                owner,
                lambda epoch: queries.page(
                    owner, kind, filter_, after, limit, newest_first, now, epoch
                ),
                epoch_of,
                by_commits=kind == "scene" or (where is not None and where.ended_by is not None),
            )

        if kind != "memory":
            return [document_of(item) for item in await asked(where)]
        known = await self._standing(owner)
        if known is not None and known.head.unformed:  # these may be formed by now
            known = await self._looks.head(owner)
        rows = await asked(_paged(where, known))
        if known is not None and any(row["sequence"] > known.head.sequence for row in rows):
            known = await self._looks.head(owner)  # something was written since it was read
            rows = await asked(_paged(where, known))
        return [
            document_of(item) for item in belonging(rows, None if known is None else known.head)
        ]

    async def _event_page(
        self, owner: Owner, after: Place | None, limit: int, *, newest_first: bool
    ) -> list[Document]:
        if not newest_first:
            start = -1 if after is None else after.sequence
            return [document_of(item) for item in await self._log(owner, start, limit)]
        documents, place = list[Document](), after
        while len(documents) < limit:
            most = _items_of_events(limit - len(documents)) + WIDTH
            rows = await self._looks.of_the_head(
                owner,
                lambda epoch, place=place, most=most: queries.last_events(  # type: ignore[misc]
                    owner, place, most, epoch
                ),
                lambda row: row.get("epoch") or None,
            )
            events = [event for row in rows for event in reversed(_each_event(row))]
            further = [
                event for event in events if place is None or event["sequence"] < place.sequence
            ]
            documents += map(document_of, further)
            if len(rows) < most or not further:
                break
            place = Place(further[-1]["sequence"], further[-1]["id"])
        return documents[:limit]

    async def faded(
        self,
        owner: Owner,
        rules: Fading,
        now: datetime,
        session_id: str | None,
        after: Place | None,
        limit: int,
    ) -> list[Place]:
        """Places of memories for which a step of fading is due."""
        rows = await self._looks.of_the_head(
            owner,
            lambda epoch: queries.faded(owner, rules, now, session_id, after, limit, epoch),
            lambda row: row.get("epoch") or None,
        )
        return [Place(row["sequence"], row["id"]) for row in rows]

    async def recalled(self, owner: Owner, after: Place | None, limit: int) -> list[Place]:
        """Places of decayed memories that were read after they decayed."""
        rows = await self._looks.of_the_head(
            owner,
            lambda epoch: queries.recalled(owner, after, limit, epoch),
            lambda row: row.get("epoch") or None,
        )
        return [Place(row["sequence"], row["id"]) for row in rows]

    async def coming(
        self, owner: Owner, rules: Fading, archive_after: timedelta, after: datetime
    ) -> NextDue:
        """The next moments at which the passing of time makes work due.

        They are four aggregates, read concurrently, as of the head or later.
        """
        known = await self._standing(owner)
        if known is None:
            return NextDue()
        asked = queries.coming(owner, rules, archive_after, after, known.head.epoch)
        answers = await together(
            *(self._connection.query(owner, query, since=known.token) for query in asked)
        )
        fades, shrinks, ages, foresight = (
            next((row for row in answer.rows if isinstance(row, (int, float))), None)
            for answer in answers
        )
        fading = min((moment for moment in (fades, shrinks) if moment is not None), default=None)
        return NextDue(moment_in(fading), moment_in(ages, archive_after), moment_in(foresight))

    async def foresight_ended(self, owner: Owner, since: datetime, until: datetime) -> int:
        """The number of memories whose last foresight ended in the period."""
        known = await self._standing(owner)
        if known is None:
            return 0
        return int(
            (
                await self._connection.query(
                    owner, queries.foresight_ended(owner, since, until, known.head.epoch)
                )
            ).rows[0]
        )

    async def _standing(self, owner: Owner) -> Known | None:
        """The head that was seen last, or the present head.

        Callers have just read it, and the query is for memories of its epoch.
        """
        return self._heads.get(owner) or await self._looks.head(owner)

    async def events(
        self, owner: Owner, after_sequence: int, limit: int, where: EventFilter | None = None
    ) -> list[Event]:
        """Events with sequence > after_sequence that match the filter, in order."""
        items = await self._log(owner, after_sequence, limit, where)
        return [Event.model_validate(item["body"]) for item in items]

    async def _log(
        self, owner: Owner, after_sequence: int, limit: int, where: EventFilter | None = None
    ) -> list[Item]:
        """The next events as items of their own, in order."""
        items, after = list[Item](), after_sequence
        while (missing := limit - len(items)) > 0:
            until = None if where is not None else self._dense_until(owner, after + missing)
            most = missing + WIDTH if until is not None else _items_of_events(missing)
            rows = await self._looks.of_the_head(
                owner,
                lambda epoch, after=after, most=most, until=until: queries.events(  # type: ignore[misc]
                    owner, after, most, where, epoch, until
                ),
                lambda row: row.get("epoch") or None,
                by_commits=True,
            )
            items += (
                event
                for row in rows
                for event in _each_event(row)
                if event["sequence"] > after_sequence and passes(event["body"], where)
            )
            if until is None and len(rows) < most:
                break
            after = until if until is not None else rows[-1]["sequence"]
        return items[:limit]

    def _dense_until(self, owner: Owner, sequence: int) -> int | None:
        """A sequence by which a log certainly has all events up to another sequence.

        Items up to this bound include few further events. None near the end of the log, as far as
        its end is known.
        """
        known, until = self._heads.get(owner), sequence + WIDTH
        return until if known is not None and known.head.sequence > until else None

    async def strays(self, owner: Owner, limit: int, *, epoch: str | None = None) -> list[Document]:
        """Documents that are not of the head's epoch.

        The service no longer shows expired documents, and drops them in its own time.
        """
        known = await self._looks.head(owner)
        answer = await self._connection.query(
            owner, queries.strays(owner, known and known.head.epoch, limit, epoch)
        )
        return [
            Document(row["id"], "event" if row["kind"] == PAGE else row["kind"], {})
            for row in answer.rows
        ]

    async def scrub(self) -> bool:
        """Return True: the service cleans its own files."""
        return True

    async def check(self) -> Health:
        """Compare the container and the account's consistency with the settings.

        The result names the differences.
        """
        begun = time.perf_counter()
        try:
            level = await self._compared()
            way = await self._ranking.way()
        except Unavailable as error:
            return Health("cosmos", "unavailable", last_ok=self._last_ok, detail=error.detail)
        self._last_ok = self._clock.now()
        latency = (time.perf_counter() - begun) * 1000
        facts = {
            "consistency": level if self._asks_account else "not asked",
            "dimensions": self._kind.dimensions,
            "text_ranking": str(way),
            **self._held.facts(),
        }
        if self._embedder.only is not None:
            facts["embedders"] = ", ".join(self._embedder.models)
        return Health("cosmos", "ok", latency, self._last_ok, facts=facts)

    def pool(self) -> tuple[int, int]:
        """The most connections, and the calls under way."""
        return CONNECTIONS, min(self._connection.under_way, CONNECTIONS)

    async def _check(self, *asked: Vector | None) -> None:
        """Raise unless the vectors are of the store's kind."""
        vectors = [vector for vector in asked if vector is not None]
        for vector in vectors:
            check_vector(vector, self._kind.dimensions)
        if vectors:
            await self._embedder.compare()
