"""Candidates from the archive: stubs found by words and vector, their whole fetched from cold storage, to be scored with all the others.

Asked for only by `include_archived`; nothing is written. Note: the archive may be slow or down while the stubs are there. What can't be
fetched in time is scored and shown as the stub says, and the answer names the archive among what it did without.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from memory_core.domain.archival import as_found, is_cold
from memory_core.domain.candidates import CandidateSet, from_memories
from memory_core.domain.cold_copy import ColdCopy
from memory_core.domain.errors import NotFound, Unavailable
from memory_core.domain.models import Memory, Status, Vector
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ports import Embedder, LongTermStore, Search

MOST = 20
"""Stubs that one query fetches: the nearest and the best by their words, in turns. Each is a blob."""
AT_ONCE = 8
DEADLINE_S = 5.0
"""What fetching may take in all; some 50 ms a blob are usual."""
LIST = "archive"
"""The name of the list that they come by."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ColdFound:
    """What the archive has for a query; degraded: `("archive",)` when some could only be shown as their stubs."""

    candidates: CandidateSet
    degraded: tuple[str, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        """Of the candidates."""
        return frozenset(self.candidates.ids)


class ColdSearch:
    """Looks into the archive of any owner."""

    def __init__(self, store: LongTermStore, copies: ColdCopies, embedder: Embedder) -> None:
        self._store, self._copies, self._embedder = store, copies, embedder

    async def find(self, owner: Owner, search: Search) -> ColdFound:
        """The nearest stubs, and those that hold any term or a word near one, within the filter but for its status, with their whole.

        Raises Unavailable.
        """
        terms, vector = search.terms, search.compared
        where = replace(search.where, statuses=frozenset({Status.ARCHIVED.value}))
        hits = await self._store.search(owner, replace(search, limit=MOST, where=where))
        lists = zip_longest(*(hits.candidates.lists.get(name, []) for name in ("vector", "lexical")))
        named = list(dict.fromkeys(name for of_rank in lists for name in of_rank if name is not None))[:MOST]
        documents = await self._store.memories(owner, named, where) if named else {}
        stubs = [documents[name].memory for name in named if name in documents and is_cold(documents[name].memory)]
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
            scored.append(memory if whole is None else memory.model_copy(update={"updated_at": whole.updated_at}))
        candidates = from_memories(scored, terms, vector, related=search.related)
        candidates.memories, candidates.lists = memories, {LIST: candidates.ids}
        return ColdFound(candidates, degraded)

    def _vector(self, whole: Memory) -> Vector | None:
        """The vector of a whole or of a stub, where it can be compared with the query's; of another embedder's, words alone decide."""
        vector = whole.embedding
        known = vector is not None and vector.shape == (self._embedder.dimensions,)
        return vector if known and whole.embedding_model in (None, self._embedder.model) else None

    async def _wholes(self, owner: Owner, stubs: Sequence[Memory]) -> tuple[dict[str, Memory], set[str], tuple[str, ...]]:
        """What the stubs are the beginnings of, by their ids; those that have left the archive meanwhile; what was done without."""
        locations = list(dict.fromkeys(stub.archival_location for stub in stubs if stub.archival_location is not None))
        copies = dict(zip(locations, await self._fetched(owner, locations), strict=True))
        wholes: dict[str, Memory] = {}
        for stub in stubs:
            copy = copies.get(stub.archival_location or "")
            whole = None if copy is None else copy.memory(stub.id)
            if whole is not None:
                wholes[stub.id] = whole
        lacking = [stub for stub in stubs if stub.id not in wholes]
        standing = await self._store.memories(owner, [stub.id for stub in lacking]) if lacking else {}
        gone = {
            stub.id for stub in lacking if stub.id not in standing or standing[stub.id].memory.archival_location != stub.archival_location
        }
        return wholes, gone, ("archive",) if len(gone) < len(lacking) else ()

    async def _fetched(self, owner: Owner, locations: Sequence[str]) -> list[ColdCopy | None]:
        """The copies at these locations, several at once; None for what can't be read, or not in time."""
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
            log.warning("%d of %d cold copies were not there within %g s", len(late), len(tasks), DEADLINE_S)
        return [_result(task) if task in done else None for task in tasks]


def _result(task: asyncio.Task[ColdCopy]) -> ColdCopy | None:
    try:
        return task.result()
    except (Unavailable, NotFound) as error:
        log.warning("an archived memory is shown by its stub: %s", error.detail)
        return None
