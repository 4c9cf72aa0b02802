"""The truth: how a long-term store is asked, and the one way in which it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from memory_core.domain.archival import NextDue
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Event, Head
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ports.access import KeyStore
from memory_core.ports.infrastructure import Health, Pooled
from memory_core.ports.records import (
    AgentCount,
    Batch,
    Document,
    Due,
    EventFilter,
    Filter,
    Found,
    Kind,
    Near,
    Place,
    Search,
    Snapshot,
    Touch,
)


class LongTermStore(Pooled, Protocol):
    """The truth. `commit` is the only writer of memories, events and heads.

    A document's body may name its owner's epoch. Searches, neighbours, pages and events show none
    of another epoch than the head's; only `snapshot` does, by id, and the caller compares.
    """

    async def open(self) -> None:
        """Connect and check; raises Unavailable or EmbeddingMismatch."""

    async def close(self) -> None:
        """Release everything; what was acknowledged stays."""

    def key_store(self) -> KeyStore:
        """The keys and audit logs of apps, which lie in the same place and are open while
        this store is.
        """

    async def snapshot(
        self, owner: Owner, ids: Sequence[str] = (), near: Near | None = None
    ) -> Snapshot:
        """Head, documents by id (of any kind) and neighbours, in one logical read."""

    async def nearest(self, owner: Owner, nears: Sequence[Near]) -> list[dict[str, float]]:
        """Ids and similarities of what is nearest to each of several vectors, over its floor and up
        to its limit, the nearest first.

        For all of them the same types and statuses, and neither slot nor key. As of the head that
        was seen last, or later.
        """

    async def commit(self, owner: Owner, batch: Batch) -> None:
        """All of the batch or none. Raises HeadMoved, AlreadyExists, TooLarge, Unavailable (then it
        may have been applied).
        """

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """Write one document of bookkeeping beside the log (a task, a step, a buffer, a delivery):
        never a memory, event or head.

        Created when its tag is None, else replaced when what is stored still has that tag: the
        document with its new tag. None when another writer was faster, unless what it left is
        equal: so it may be sent again after Unavailable, when it may have been written.
        The owner's head is not moved.
        None too when the document names another epoch than the head has: its writer worked for a
        user who was erased since.
        """

    async def fold(
        self, owner: Owner, accesses: Document, touches: Mapping[str, Touch]
    ) -> Document | None:
        """Add accesses to at most 90 memories, and put `accesses` in the place of the document in
        which they waited, in one commit.

        `access_count` grows, `last_accessed_at` becomes the later moment; a memory that is gone is
        left out. Returns `accesses` with its new tag; None, and nothing is done, when what is
        stored has not its tag any more. Beside the log: no head, no event, no ETag moves, and a
        commit under way of a memory that was read before may take its accesses with it.
        Raises Unavailable.
        """

    async def waiting(self, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
        """A page of the owners, of all apps, whose head has `pending_tasks` > 0,
        in order of their ids: for the sweep only.

        Heads whose `expires_at` is past may go when the first page is asked for,
        with all that is left beside them.
        """

    async def owners(
        self, after: Owner | None, limit: int, app_id: str | None = None
    ) -> list[tuple[Owner, Head]]:
        """A page of the owners, in order of their ids: of all apps, for a look over a store that
        was restored only, or of one app.

        after: an owner of that app, where one is named.
        """

    async def poisoned(
        self, app_id: str, after: Place | None, limit: int
    ) -> list[tuple[Owner, Document]]:
        """A page of the poisoned tasks of an app's users, newest first, with their owners.
        From an index.

        Of any epoch: the caller compares with the owners' heads.
        """

    async def agents(self, owner: Owner, after: str | None, limit: int) -> list[AgentCount]:
        """A page of the agents that an owner has memories of, in order of their ids.
        From an index: no memory is read.

        Of any epoch: a user who is being erased has agents until their documents are gone, one into
        whom a file is being brought already.
        """

    async def tags(self, owner: Owner, prefix: str, after: str | None, limit: int) -> list[str]:
        """The next tags of an owner's active and compressed memories that begin with a prefix,
        in order of their code points.
        """

    async def ranges(self) -> list[str]:
        """Names of the parts that the users of all apps lie in, each user in one.
        A name stays good when its part is divided.
        """

    async def due(self, within: str, now: datetime, after: Due | None, limit: int) -> list[Due]:
        """A page of the owners in a range who are due by now, in order of (moment, owner).
        From an index; no head is read.

        Those whose head has a `due_at`, and those whose accesses wait with a `due_s`:
        who has both may come twice.
        """

    async def search(self, owner: Owner, search: Search) -> Found:
        """The candidate set of a query, with the head it was read at."""

    async def prepare(self, owner: Owner, search: Search) -> None:
        """Do what of a search needs no vectors, while these are made; a store may do nothing.

        The same search follows, with vectors. Raises as it does.
        """

    async def memories(
        self,
        owner: Owner,
        ids: Sequence[str],
        where: Filter | None = None,
        *,
        seen: Head | None = None,
    ) -> Mapping[str, SerializedMemory]:
        """Memories and versions of the head's epoch by id, those that `where` lets through now:
        to be shown, so without vectors.

        seen: the head that the same call has read before, and that will do; they are not
        older than it.
        """

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
        """One page of documents of a kind by (sequence, id), without vectors. `where` is for
        memories, its statuses for conflicts too.

        A memory that can't be parsed comes as a document that is `damaged`; `snapshot` raises
        Damaged for it.
        """

    async def faded(
        self,
        owner: Owner,
        rules: Fading,
        now: datetime,
        session_id: str | None,
        after: Place | None,
        limit: int,
    ) -> list[Place]:
        """One page, in order, of the places of active memories for which something is due at `now`
        (`domain.fading.due`).

        Read from what is indexed: no body of the many for which nothing is due.
        Rounding may name one a second too early.
        """

    async def recalled(self, owner: Owner, after: Place | None, limit: int) -> list[Place]:
        """One page, in order, of the places of decayed memories that were shown since they decayed.
        From an index.
        """

    async def coming(
        self, owner: Owner, rules: Fading, archive_after: timedelta, after: datetime
    ) -> NextDue:
        """What time alone brings next after a moment. archive_after: for how long nothing may have
        changed a memory.

        Told by indexes, without a body.
        """

    async def foresight_ended(self, owner: Owner, since: datetime, until: datetime) -> int:
        """How many memories' last foresight ended in (since, until]."""

    async def events(
        self, owner: Owner, after_sequence: int, limit: int, where: EventFilter | None = None
    ) -> list[Event]:
        """Events with sequence > after_sequence that the filter lets through, in order."""

    async def strays(self, owner: Owner, limit: int, *, epoch: str | None = None) -> list[Document]:
        """Documents of the owner that are not of the head's epoch: of `epoch` when given, which
        never is the head's. Without bodies.

        Those that have expired and are still there are among them. What is deleted by a commit
        comes no more.
        """

    async def scrub(self) -> bool:
        """See to it that what commits have deleted is in no file any more. False: a reader still
        sees an older state; ask again.
        """

    async def check(self) -> Health:
        """A cheap round trip, for readiness."""
