"""Sources of candidates: vectors, dates, the session's cache, the archive; and time zones.

Note: the embedder decides when a vector is too late. An embedder behind a network has a deadline,
and after several passed deadlines it refuses at once. An embedder in this process can't hang. Its
first call loads the model, which may take longer on a busy machine; an answer without vectors
would help no caller.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import zip_longest

from memory_core.domain.archival import ColdCopy, as_found, is_cold
from memory_core.domain.errors import EmbeddingMismatch, NotFound, Unavailable
from memory_core.domain.fields import midnight, zone_of
from memory_core.domain.memory import Head, Memory, Status, Vector
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.anchors import Anchor, dated, tellers
from memory_core.domain.ranking.candidates import CandidateSet, from_memories, joined
from memory_core.domain.ranking.passages import idf
from memory_core.domain.ranking.query import QueryAnalysis
from memory_core.domain.ranking.query_parts import QueryParts, ToldTime
from memory_core.domain.ranking.vectors import TokenStates
from memory_core.domain.requests.maintenance import SETTINGS_ID
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.documents import settings_in
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory
from memory_core.ports import Embedder, Filter, Found, LongTermStore, Search, ShortTermStore, Stamp

log = logging.getLogger(__name__)
EMBEDDER = "embedder"
"""The name of the embedder in an answer that did without it."""


async def query_vectors(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[tuple[Vector, ...], tuple[str, ...]]:
    """Embed the texts of a query, or do without.

    Args:
        embedder: The embedder.
        texts: The query's sentences.

    Returns:
        A vector for each text, or none at all; and the names of the parts that the query did
        without: empty, or the embedder.

    Raises:
        EmbeddingMismatch: The embedder does not fit the stored vectors.

    """
    try:
        return tuple(await embedder.embed_queries(texts)), ()
    except EmbeddingMismatch:
        raise
    except Unavailable as error:
        log.warning("going on without a query's vector: %s", error.detail)
    return (), (EMBEDDER,)


async def asked_tokens(embedder: Embedder, texts: Sequence[str]) -> tuple[TokenStates, ...]:
    """Return the token states of each text, or none at all.

    They only improve the order. So a failure neither fails the query nor is named in its answer.

    Args:
        embedder: The embedder.
        texts: The query's sentences.

    """
    try:
        states = await embedder.token_states(texts)
    except Unavailable as error:
        log.warning("going on without a query's tokens: %s", error.detail)
        return ()
    tokens = [token_states for token_states in states if token_states is not None]
    return tuple(tokens) if len(tokens) == len(texts) else ()


async def no_vectors() -> tuple[tuple[Vector, ...], tuple[str, ...]]:
    """Return the answer of `query_vectors` without the embedder.

    A round uses it if an earlier round waited for the embedder in vain.
    """
    return (), (EMBEDDER,)


# The dates that only memories know, and the memories of a time that the query's words don't name.
#
# What happened "yesterday", or "two weeks before her birthday", says neither: such memories are on
# no list by words, and by vector only by chance. So where a query tells a time that way, a second
# search looks into that time alone; and before it, the memories that tell of the event are read for
# its day. Note: a query with a plain date ("on 8 May") needs none of this, its words are among
# those of each memory of that day.


DATE_LIST = "date"
"""The name of the list of candidates that were found by their time."""


class Dates:
    """Searches the times that a query names, for any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def search(
        self, owner: Owner, query_parts: QueryParts, search: Search, moment: datetime
    ) -> tuple[QueryParts, Found]:
        """Search, and search once more within the times alone that the query names.

        The query's anchors are events such as "her birthday". Their dates are read from the
        memories that tell of them, which costs a read of at most a few memories and another search.

        Args:
            owner: Whose memories are searched.
            query_parts: The query.
            search: The search for the whole query.
            moment: The time that relative dates count from.

        Returns:
            The query with the dates of its anchors, and the joined results.

        Raises:
            Unavailable: The long-term store is down.

        """
        where = _told_times(query_parts, search)
        if where is None:
            result, within = await self._store.search(owner, search), None
        else:
            result, within = await asyncio.gather(
                self._store.search(owner, search), self._store.search(owner, where)
            )
        if query_parts.whole.anchors and len(result.candidates):
            query_parts = query_parts.with_times(
                await self._resolved(owner, query_parts.whole, result, search, moment)
            )
            further = _told_times(query_parts, search)
            if further is not None and further != where:
                within = await self._store.search(owner, further)
        if within is None or result.head is None:
            return query_parts, result
        within.candidates.lists = {DATE_LIST: within.candidates.ids}
        return query_parts, replace(result, candidates=joined(result.candidates, within.candidates))

    async def _resolved(
        self, owner: Owner, analysis: QueryAnalysis, result: Found, search: Search, moment: datetime
    ) -> list[ToldTime]:
        """Return the dates of the query's anchors, as far as candidates tell them."""
        frequencies = result.statistics.document_frequency
        worth = idf(
            [frequencies.get(term, 0) for term in analysis.terms], result.statistics.documents
        )
        rows_by_anchor = {
            anchor: tellers(anchor, analysis.terms, result.candidates, worth)
            for anchor in analysis.anchors
        }
        read = await self._read(
            owner,
            result.candidates,
            sorted({row for rows in rows_by_anchor.values() for row in rows}),
            search,
        )
        tellings = {
            anchor: [read[row] for row in rows if row in read]
            for anchor, rows in rows_by_anchor.items()
        }
        # to read long texts for dates takes 10 ms each
        return await asyncio.to_thread(_days, tellings, moment)

    async def _read(
        self, owner: Owner, candidates: CandidateSet, rows: Sequence[int], search: Search
    ) -> dict[int, Memory]:
        missing = [
            candidates.ids[row] for row in rows if candidates.ids[row] not in candidates.memories
        ]
        documents = await self._store.memories(owner, missing, search.where) if missing else {}
        memories = candidates.memories | {
            name: document.memory for name, document in documents.items()
        }
        return {
            row: memories[candidates.ids[row]] for row in rows if candidates.ids[row] in memories
        }


def _told_times(query_parts: QueryParts, search: Search) -> Search | None:
    """Restrict the search to the times that the query names.

    None if it names no time.
    """
    windows = [
        dated_window.window
        for analysis in (query_parts.whole, *(part.analysis for part in query_parts.parts))
        for dated_window in analysis.dated
        if not dated_window.window.yearly
    ]
    if not windows:
        return None
    zone = query_parts.whole.zone
    since, until = (
        midnight(min(window.start for window in windows), zone),
        midnight(max(window.end for window in windows), zone),
    )
    return replace(search, where=replace(search.where, since=since, until=until))


def _days(tellings: Mapping[Anchor, Sequence[Memory]], moment: datetime) -> list[ToldTime]:
    dates = [(anchor, dated(anchor, memories, moment)) for anchor, memories in tellings.items()]
    return [(known[0], anchor.words, known[1]) for anchor, known in dates if known is not None]


# When a session's working set may be served, and how a void one is made again.
#
# It is good only when its epoch is the head's and nothing was removed or changed since its stamp;
# the head is read anyway, so the check costs nothing. A void set is rebuilt beside the answer, not
# in its way. Note: messages as they were said are in no set, since nothing would tell a set to
# which cell they belong by now; the long term finds them.


REBUILT_ENTRIES = 50


class WorkingSet:
    """Guards and rebuilds working sets."""

    def __init__(self, store: LongTermStore, short_term: ShortTermStore) -> None:
        self._store, self._short_term = store, short_term
        self._tasks: dict[tuple[Owner, str], asyncio.Task[None]] = {}

    @staticmethod
    def good(stamp: Stamp | None, head: Head) -> bool:
        """Whether a working set is free of memories that were removed or changed since.

        Args:
            stamp: The stamp of the set; None if there is no set.
            head: The owner's head.

        """
        return (
            stamp is not None
            and stamp.epoch == head.epoch
            and stamp.sequence >= head.last_removal_sequence
        )

    def rebuild_later(self, owner: Owner, session_id: str, *, stale: bool) -> None:
        """Rebuild a stale working set once, in the background.

        A set that does not exist grows by itself with the next saves.

        Args:
            owner: Whose set it is.
            session_id: The session of the set.
            stale: Whether the set exists and is void.

        """
        name = (owner, session_id)
        if not stale or self._short_term.degraded or name in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._rebuild(owner, session_id))
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name, None))

    async def _rebuild(self, owner: Owner, session_id: str) -> None:
        try:
            head = (await self._store.snapshot(owner)).head
            if head is None:
                return
            statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
            where = Filter(statuses, session_id=session_id, hide_formed_messages=True)
            documents = await self._store.page(owner, "memory", where, None, REBUILT_ENTRIES)
            snapshot = await self._store.snapshot(owner, [document.id for document in documents])
        except Unavailable:
            # the next retrieve finds it void again and tries again; nothing is served from
            # it until then
            return
        stored = (as_memory(document, snapshot.head) for document in snapshot.documents.values())
        known = (
            memory
            for memory in stored
            if memory is not None and memory.searchable and not is_message(memory.id)
        )
        memories = [memory for memory in known if memory.status in FOUND_BY_DEFAULT]
        await self._short_term.rebuild(
            owner,
            session_id,
            memories,
            Stamp(head.epoch, head.sequence, head.last_removal_sequence),
        )

    async def close(self) -> None:
        """Wait for the rebuilds that are under way."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


# Candidates from the archive: stubs found by words and vector, their whole fetched from cold
# storage, to be scored with all the others.
#
# Asked for only by `include_archived`; nothing is written. Note: the archive may be slow or down
# while the stubs are there. What can't be fetched in time is scored and shown as the stub says, and
# the answer names the archive among what it did without.


MOST = 20
"""The most stubs that a query fetches, each from its blob.

They are the nearest by vector and the best by words, in turns.
"""
AT_ONCE = 8
DEADLINE_S = 5.0
"""The seconds that fetching may take in all; some 50 ms for each blob are usual."""
ARCHIVE_LIST = "archive"
"""The name of the list of candidates from the archive."""


@dataclass(frozen=True, slots=True)
class ColdFound:
    """The archive's candidates for a query.

    Attributes:
        candidates: The archived memories with their scores.
        degraded: `("archive",)` if some could only be shown as their stubs.

    """

    candidates: CandidateSet
    degraded: tuple[str, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the candidates."""
        return frozenset(self.candidates.ids)


class ColdSearch:
    """Searches the archive of any owner."""

    def __init__(self, store: LongTermStore, copies: ColdCopies, embedder: Embedder) -> None:
        self._store, self._copies, self._embedder = store, copies, embedder

    async def find(self, owner: Owner, search: Search) -> ColdFound:
        """Search the archive's stubs, and fetch the whole memories of the best.

        A stub is found by its vector, or by any term or a near word.

        Args:
            owner: Whose archive is searched.
            search: The query's search; its filter applies except for the status.

        Raises:
            Unavailable: The long-term store is down.

        """
        where = replace(search.where, statuses=frozenset({Status.ARCHIVED.value}))
        hits = await self._store.search(owner, replace(search, limit=MOST, where=where))
        lists = zip_longest(
            *(hits.candidates.lists.get(name, []) for name in ("vector", "lexical"))
        )
        named = list(
            dict.fromkeys(name for of_rank in lists for name in of_rank if name is not None)
        )[:MOST]
        documents = await self._store.memories(owner, named, where) if named else {}
        stubs = [
            documents[name].memory
            for name in named
            if name in documents and is_cold(documents[name].memory)
        ]
        return await self.fetch(owner, stubs, search)

    async def fetch(self, owner: Owner, stubs: Sequence[Memory], search: Search) -> ColdFound:
        """Fetch the whole memories of stubs, as candidates of a search.

        Args:
            owner: Whose archive is read.
            stubs: The archived memories.
            search: The query's search, by which they are scored.

        Raises:
            Unavailable: The long-term store is down.

        """
        terms, vector = search.terms, search.compared
        if not stubs:
            return ColdFound(from_memories([], terms, vector))
        wholes, gone, degraded = await self._wholes(owner, stubs)
        scored: list[Memory] = []
        memories: dict[str, Memory] = {}
        for stub in (archived for archived in stubs if archived.id not in gone):
            whole = wholes.get(stub.id)
            # Its age is that of the whole: that it was moved is no news of it.
            memory = as_found(stub, whole or stub, self._vector(whole or stub))
            memories[stub.id] = memory
            scored.append(memory if whole is None else memory.changed(updated_at=whole.updated_at))
        candidates = from_memories(scored, terms, vector, related=search.related)
        candidates.memories, candidates.lists = memories, {ARCHIVE_LIST: candidates.ids}
        return ColdFound(candidates, degraded)

    def _vector(self, whole: Memory) -> Vector | None:
        """Return a memory's vector if it can be compared with the query's.

        For a vector of another embedder, words alone decide.
        """
        vector = whole.embedding
        known = vector is not None and vector.shape == (self._embedder.dimensions,)
        return vector if known and whole.embedding_model in (None, self._embedder.model) else None

    async def _wholes(
        self, owner: Owner, stubs: Sequence[Memory]
    ) -> tuple[dict[str, Memory], set[str], tuple[str, ...]]:
        """Fetch the whole memories of the stubs.

        Returns them by id, the ids that have left the archive meanwhile, and the names of the parts
        that the query did without.
        """
        locations = list(
            dict.fromkeys(
                stub.archival_location for stub in stubs if stub.archival_location is not None
            )
        )
        copies = dict(zip(locations, await self._fetched(owner, locations), strict=True))
        wholes: dict[str, Memory] = {}
        for stub in stubs:
            copy = copies.get(stub.archival_location or "")
            whole = None if copy is None else copy.memory(stub.id)
            if whole is not None:
                wholes[stub.id] = whole
        lacking = [stub for stub in stubs if stub.id not in wholes]
        standing = (
            await self._store.memories(owner, [stub.id for stub in lacking]) if lacking else {}
        )
        gone = {
            stub.id
            for stub in lacking
            if stub.id not in standing
            or standing[stub.id].memory.archival_location != stub.archival_location
        }
        return wholes, gone, ("archive",) if len(gone) < len(lacking) else ()

    async def _fetched(self, owner: Owner, locations: Sequence[str]) -> list[ColdCopy | None]:
        """Read the copies at these locations, several at once.

        None for a copy that can't be read, or not in time.
        """
        room = asyncio.Semaphore(AT_ONCE)

        async def fetch(location: str) -> ColdCopy:
            async with room:
                return await self._copies.read(owner, location)

        tasks = [asyncio.create_task(fetch(location)) for location in locations]
        try:
            done, late = await asyncio.wait(tasks, timeout=DEADLINE_S)
        finally:
            for task in tasks:
                task.cancel()
        if late:
            log.warning(
                "%d of %d cold copies were not there within %g s", len(late), len(tasks), DEADLINE_S
            )
        return [_result(task) if task in done else None for task in tasks]


def _result(task: asyncio.Task[ColdCopy]) -> ColdCopy | None:
    try:
        return task.result()
    except (Unavailable, NotFound) as error:
        log.warning("an archived memory is shown by its stub: %s", error.detail)
        return None


class Zones:
    """Finds the time zone of any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def of(self, owner: Owner, named: str | None = None) -> tzinfo:
        """Return the named time zone, or the user's.

        Args:
            owner: Whose settings are read.
            named: The name of a zone; None for the user's.

        Raises:
            Unavailable: The long-term store is down.

        """
        return zone_of(named) if named is not None else (await self.with_head(owner))[0]

    async def with_head(self, owner: Owner, named: str | None = None) -> tuple[tzinfo, Head | None]:
        """Return the time zone as `of` does, with the user's head.

        Both come from a single read, which happens even if the zone is named.

        Args:
            owner: Whose settings and head are read.
            named: The name of a zone; None for the user's.

        Raises:
            Unavailable: The long-term store is down.

        """
        snapshot = await self._store.snapshot(owner, [SETTINGS_ID])
        return zone_of(
            named or settings_in(ReadSet(snapshot.head, dict(snapshot.documents))).time_zone
        ), snapshot.head
