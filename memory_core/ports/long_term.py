"""Port of the long-term store: its reads, and the single way to write it."""

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
    AccessCount,
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
)


class LongTermStore(Pooled, Protocol):
    """The long-term store. `commit` is the only writer of memories, events and heads.

    A document's body may name its owner's epoch. Searches, neighbours, pages and events return only
    documents of the head's epoch. `snapshot` returns documents of any epoch by id, and the caller
    compares.
    """

    async def open(self) -> None:
        """Connect and check the store. Raises Unavailable or EmbeddingMismatch."""

    async def close(self) -> None:
        """Release all resources. Acknowledged writes are kept."""

    def key_store(self) -> KeyStore:
        """The keys and audit logs of apps.

        They are stored in the same place and are open while this store is open.
        """

    async def snapshot(
        self, owner: Owner, ids: Sequence[str] = (), near: Near | None = None
    ) -> Snapshot:
        """Head, documents by id (of any kind) and neighbours, in a single logical read.

        Args:
            owner: The owner to read.
            ids: The ids of the documents.
            near: The neighbours to find; None for none.

        Raises:
            Damaged: A memory that was read cannot be parsed.
            Unavailable: The store is down.

        """

    async def nearest(self, owner: Owner, nears: Sequence[Near]) -> list[dict[str, float]]:
        """Ids and similarities of the memories that are nearest to each of several vectors.

        The result is as of the head that was seen last, or later.

        Args:
            owner: The owner of the memories.
            nears: A query for each vector, with its floor and limit. All have the same types and
                statuses, and neither slot nor key.

        Returns:
            For each query the similarities by memory id, the nearest first.

        """

    async def commit(self, owner: Owner, batch: Batch) -> None:
        """Write all of the batch, or none of it.

        Args:
            owner: The owner of the batch.
            batch: The events, documents, marks and the new head.

        Raises:
            HeadMoved: Another commit was faster.
            AlreadyExists: An id that the batch creates is taken, or a tag no longer matches.
            TooLarge: The batch is over the store's limits.
            Unavailable: The store is down; the batch may have been applied.

        """

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """Write a bookkeeping document beside the log.

        It is a task, a step, a buffer or a delivery. Memories, events and heads are never written
        here, and the owner's head does not move. A document without a tag is created. A document
        with a tag replaces exactly the state that the tag marks. A repetition after Unavailable is
        safe, although the first try may have been written: a stored document that is equal counts
        as a success.

        Args:
            owner: The owner of the document.
            document: The document to write.

        Returns:
            The document with its new tag. None when another writer was faster. None too when the
            document names another epoch than the head: its writer worked for a user that was erased
            since.

        """

    async def fold(
        self, owner: Owner, accesses: Document, counts: Mapping[str, AccessCount]
    ) -> Document | None:
        """Add accesses to at most 90 memories, and replace the document in which they waited.

        Both are a single commit. `access_count` grows, and `last_accessed_at` becomes the later
        moment. A memory that no longer exists is left out. The accesses are beside the log: no
        head, event or ETag moves. A commit under way that read the memory earlier may overwrite its
        accesses.

        Args:
            owner: The owner of the memories.
            accesses: The new state of the document in which the accesses waited.
            counts: The accesses by memory id.

        Returns:
            `accesses` with its new tag. None, without a write, when the stored document no longer
            has the tag of `accesses`.

        Raises:
            Unavailable: The store is down.

        """

    async def waiting(self, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
        """A page of the owners whose head has `pending_tasks` > 0, for the sweep only.

        The owners are of all apps, in order of their ids. The read of the first page may delete
        heads whose `expires_at` is past, with all documents that are left beside them.

        Args:
            after: The last owner of the previous page; None for the first page.
            limit: The most owners to return.

        """

    async def owners(
        self, after: Owner | None, limit: int, app_id: str | None = None
    ) -> list[tuple[Owner, Head]]:
        """A page of owners with their heads, in order of their ids.

        A listing over all apps is only for the check of a store that was restored.

        Args:
            after: The last owner of the previous page; None for the first page. It is of the app
                `app_id` where an app is named.
            limit: The most owners to return.
            app_id: The app of the owners; None for all apps.

        """

    async def poisoned(
        self, app_id: str, after: Place | None, limit: int
    ) -> list[tuple[Owner, Document]]:
        """A page of the poisoned tasks of an app's users, newest first, with their owners.

        The tasks are read from an index. They may be of any epoch: the caller compares with the
        owners' heads.

        Args:
            app_id: The app of the users.
            after: The last place of the previous page; None for the first page.
            limit: The most tasks to return.

        """

    async def agents(self, owner: Owner, after: str | None, limit: int) -> list[AgentCount]:
        """A page of the agents that an owner has memories of.

        The agents are in order of their ids. They are read from an index, and no memory is read.
        They may be of any epoch. A user that is being erased has agents until their documents are
        gone. A user into which a file is being imported has agents already.

        Args:
            owner: The owner of the memories.
            after: The last agent of the previous page; None for the first page.
            limit: The most agents to return.

        """

    async def tags(self, owner: Owner, prefix: str, after: str | None, limit: int) -> list[str]:
        """Tags of an owner's active and compressed memories, in order of their code points.

        Args:
            owner: The owner of the memories.
            prefix: The beginning of the tags.
            after: The last tag of the previous page; None for the first page.
            limit: The most tags to return.

        """

    async def ranges(self) -> list[str]:
        """Names of the parts in which the users of all apps are stored.

        Each user is in a single part. A name stays valid when its part is divided.
        """

    async def due(self, within: str, now: datetime, after: Due | None, limit: int) -> list[Due]:
        """A page of the owners in a range whose run is due by now.

        The owners are in order of (moment, owner). They are read from an index; no head is read. An
        owner is due by the `due_at` of its head, or by the `due_s` of its waiting accesses. An
        owner with both may be returned twice.

        Args:
            within: The range, by a name of `ranges`.
            now: The present moment.
            after: The last entry of the previous page; None for the first page.
            limit: The most entries to return.

        """

    async def search(self, owner: Owner, search: Search) -> Found:
        """The candidate set of a query, with the head that it was read at.

        Args:
            owner: The owner to search.
            search: The query.

        """

    async def prepare(self, owner: Owner, search: Search) -> None:
        """Prepare the part of a search that needs no vectors, while these are computed.

        A store may skip this. The same search follows, with vectors. The errors are those of
        `search`.

        Args:
            owner: The owner to search.
            search: The query without its vectors.

        """

    async def memories(
        self,
        owner: Owner,
        ids: Sequence[str],
        where: Filter | None = None,
        *,
        seen: Head | None = None,
    ) -> Mapping[str, SerializedMemory]:
        """Memories and versions of the head's epoch by id, without vectors, to be shown.

        Args:
            owner: The owner of the memories.
            ids: The ids of memories and versions.
            where: Restricts the memories by their present state; None for no restriction.
            seen: The head that the same call has read before, if that is enough. The memories are
                not older than this head.

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
        """A page of documents of a kind by (sequence, id), without vectors.

        A memory that cannot be parsed is returned as a document that is `damaged`; `snapshot`
        raises Damaged for it.

        Args:
            owner: The owner of the documents.
            kind: The kind of the documents.
            where: Restricts memories. Its statuses restrict conflicts too.
            after: The last place of the previous page; None for the first page.
            limit: The most documents to return.
            newest_first: Whether the order is descending.

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
        """A page of the places of active memories with a due step of fading.

        `domain.fading.due` says which steps are due. The places are in order and read from an
        index, without the bodies of the many memories for which no step is due. Rounding may name a
        memory a second too early.

        Args:
            owner: The owner of the memories.
            rules: The rules of fading.
            now: The moment at which the step is due.
            session_id: The only session to read; None for all memories.
            after: The last place of the previous page; None for the first page.
            limit: The most places to return.

        """

    async def recalled(self, owner: Owner, after: Place | None, limit: int) -> list[Place]:
        """A page of the places of decayed memories that were read after they decayed.

        The places are in order and read from an index.

        Args:
            owner: The owner of the memories.
            after: The last place of the previous page; None for the first page.
            limit: The most places to return.

        """

    async def coming(
        self, owner: Owner, rules: Fading, archive_after: timedelta, after: datetime
    ) -> NextDue:
        """The next moments at which the passing of time alone makes work due.

        They are read from indexes, without a body.

        Args:
            owner: The owner of the memories.
            rules: The rules of fading.
            archive_after: How long a memory must be unchanged before it is archived.
            after: The moment after which work is due.

        """

    async def foresight_ended(self, owner: Owner, since: datetime, until: datetime) -> int:
        """The number of memories whose last foresight ended in (since, until].

        Args:
            owner: The owner of the memories.
            since: The earlier bound, excluded.
            until: The later bound, included.

        """

    async def events(
        self, owner: Owner, after_sequence: int, limit: int, where: EventFilter | None = None
    ) -> list[Event]:
        """A page of events in order of their sequence.

        Args:
            owner: The owner of the events.
            after_sequence: The events have a higher sequence.
            limit: The most events to return.
            where: Restricts the events; None for no restriction.

        """

    async def strays(self, owner: Owner, limit: int, *, epoch: str | None = None) -> list[Document]:
        """Documents of the owner that are not of the head's epoch, without bodies.

        Expired documents that still exist are among them. A document that a commit deleted is not
        returned again.

        Args:
            owner: The owner of the documents.
            limit: The most documents to return.
            epoch: The only epoch to read, which is never the head's; None for all other epochs.

        """

    async def scrub(self) -> bool:
        """Ensure that the data that commits have deleted is in no file any more.

        Returns False while a reader still sees an older state; the caller must then try again.
        """

    async def check(self) -> Health:
        """Check readiness by a cheap round trip."""
