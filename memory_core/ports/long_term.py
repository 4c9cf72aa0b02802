"""The truth: what a long-term store keeps, how it is asked, and the one way in which it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, Protocol

from memory_core.domain.candidates import CandidateSet, Statistics
from memory_core.domain.coming import Coming
from memory_core.domain.fading import Fading
from memory_core.domain.models import Event, Head, Memory, Vector
from memory_core.domain.related import Related
from memory_core.domain.scope import Owner
from memory_core.domain.shown import Shown
from memory_core.ports.common import Health, Pooled

Kind = Literal[
    "memory", "version", "event", "head", "snapshot", "session", "conversation", "messages", "buffer", "step", "receipt", "marker",
    "operation", "run", "task", "delivery", "scene", "profile", "conflict",
]  # fmt: skip
LOGGED: Final[frozenset[Kind]] = frozenset({"memory", "version", "event", "head"})
"""Kinds that only a commit writes; all others are bookkeeping."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a store keeps: an id unique within its owner, a kind, a JSON-ready body, and a vector beside it.

    expires_at: when the store may drop it (receipts, steps, finished tasks). tag: the store's own mark of the state in which
    bookkeeping was read; None for what was not read from a store, and for memories and versions. These travel as `Memory`
    bodies: `Document(memory.id, "memory", memory.model_dump(mode="json"), memory.embedding)`.
    """

    id: str
    kind: Kind
    body: dict[str, Any]
    vector: Vector | None = None
    expires_at: datetime | None = None
    tag: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Write:
    """One document of a batch. `create` fails with AlreadyExists when the id is taken; `put` overwrites or creates.

    A `put` whose document has a tag overwrites that very state only: AlreadyExists when another one stands there, or nothing.
    """

    mode: Literal["create", "put", "delete"]
    document: Document


@dataclass(frozen=True, slots=True)
class Batch:
    """One commit: all or nothing, ≤ 100 documents and ≤ 1.8 MB with its events and its head.

    expected: the head that it was built on (None: there was none). The store compares epoch and sequence, or its own tag
    of that head, and raises HeadMoved when they differ. Events are create-only; the first is the commit's marker. A batch may
    have none: it keeps bookkeeping alone, and leaves the log as it is. Each memory that a batch writes or deletes is named by
    an event, or a store that holds memories would not know.
    scenes: by the id of a memory that is there, the `scene_id` that it has from now on; the rest of it stays as it is. Each is a document.
    """

    commit_id: str
    expected: Head | None
    head: Head
    events: tuple[Event, ...]
    writes: tuple[Write, ...]
    scenes: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Near:
    """The neighbours that a decision needs: active or compressed memories of `types` with similarity ≥ floor, or in the same slot.

    slot: (subject, attribute), both case-folded. At most `limit`, nearest first; those of the slot come in any case, and with
    them the truths that a contradiction superseded there, because a fact that arrives late has its place among them. While
    somebody stands in the slot a store may leave out everybody else: the slot alone decides then.
    """

    vector: Vector | None
    types: frozenset[str]
    floor: float
    slot: tuple[str, str] | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One memory (with its embedding) and how near it is."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent look: the head, the documents that were asked for and exist, the neighbours at least as new as the head."""

    head: Head | None
    documents: Mapping[str, Document]
    near: tuple[Neighbour, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a list or a retrieve may show. Empty = no restriction, but `statuses`, which is always given.

    at: valid at that moment (valid_from ≤ at < valid_until), and then a memory whose reason is contradicted, consolidated
    or new_version counts whatever its status, versions included, and one that is deleted for another reason does not. Without
    it only `now` is compared with valid_until, and only when `now` is given. since, until: on event_timestamp,
    since ≤ t < until. tags, next_ids: any of them.
    """

    statuses: frozenset[str]
    types: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    next_ids: frozenset[str] = frozenset()
    session_id: str | None = None
    agent_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    at: datetime | None = None
    now: datetime | None = None

    @property
    def standing(self) -> frozenset[str]:
        """The statuses that count by themselves: looking back in time, what was deleted never does, even where it is asked for."""
        return self.statuses if self.at is None else self.statuses - {"deleted"}


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to read. Empty = all. types: of the memories; event_types: of the events. since ≤ occurred_at < until.

    up_to: only those with sequence ≤ up_to.
    """

    memory_id: str | None = None
    types: frozenset[str] = frozenset()
    event_types: frozenset[str] = frozenset()
    correlation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    up_to: int | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """One query for candidates: `limit` nearest by vector and `limit` best by the terms, both within `where`.

    terms: analysed query tokens, no duplicates, most informative first when over the store's limit (30). related: words near them
    in meaning, which count for less, in the list by words and in the candidates' column `near`.
    """

    vector: Vector | None
    terms: tuple[str, ...]
    limit: int
    where: Filter
    related: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a Search. `charge` is what the store says it cost (request units), None where it has no such thing."""

    head: Head | None
    candidates: CandidateSet
    statistics: Statistics
    charge: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A keyset position: the last row's immutable (sequence, id)."""

    sequence: int
    id: str


@dataclass(frozen=True, slots=True)
class Touch:
    """How often a memory was shown to somebody since this was last written down, and when last."""

    count: int
    at: datetime


class Due(NamedTuple):
    """An owner whose run is due, and since when: a keyset position too."""

    owner: Owner
    at: datetime


@dataclass(frozen=True, slots=True)
class AgentCount:
    """An agent of one user. memories: how many of its memories are active or compressed.

    last_active_at: when one of all its memories, whatever their status, was last made or changed.
    """

    agent_id: str
    memories: int
    last_active_at: datetime


class LongTermStore(Pooled, Protocol):
    """The truth. `commit` is the only writer of memories, events and heads.

    A document's body may name its owner's epoch. Searches, neighbours, pages and events show none of another epoch than the head's;
    only `snapshot` does, by id, and whoever asks compares.
    """

    async def open(self) -> None:
        """Connect and check; raises Unavailable or EmbeddingMismatch."""

    async def close(self) -> None:
        """Release everything; what was acknowledged stays."""

    async def snapshot(self, owner: Owner, ids: Sequence[str] = (), near: Near | None = None) -> Snapshot:
        """Head, documents by id (of any kind) and neighbours, in one logical read."""

    async def commit(self, owner: Owner, batch: Batch) -> None:
        """All of the batch or none. Raises HeadMoved, AlreadyExists, TooLarge, Unavailable (then it may have been applied)."""

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """Write one document of bookkeeping beside the log (a task, a step, a buffer, a delivery): never a memory, event or head.

        Created when its tag is None, else replaced when what is stored still has that tag: the document with its new tag. None
        when somebody else was faster, unless what they left is equal: so it may be sent again after Unavailable, when it may
        have been written. The owner's head is not moved.
        None too when the document names another epoch than the head has: whoever wrote it worked for a user who was erased since.
        """

    async def touch(self, owner: Owner, marker: str, touches: Mapping[str, Touch]) -> int:
        """Write down accesses, of at most 90 memories: `access_count` grows, `last_accessed_at` is set. How many memories there were.

        Once a marker (an id `mrk_…`, kept for a day): a second call does nothing and answers 0. Beside the log: no head, no event, no
        ETag moves, and a commit under way of a memory that was read before may take its touches with it. Raises Unavailable.
        """

    async def waiting(self, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
        """A page of the owners, of all apps, whose head has `pending_tasks` > 0, in order of their ids: for the sweep only.

        Heads whose `expires_at` is past may go when the first page is asked for, with all that is left beside them.
        """

    async def owners(self, after: Owner | None, limit: int, app_id: str | None = None) -> list[tuple[Owner, Head]]:
        """A page of the owners, in order of their ids: of all apps, for a look over a store that was restored only, or of one app.

        after: an owner of that app, where one is named.
        """

    async def poisoned(self, app_id: str, after: Place | None, limit: int) -> list[tuple[Owner, Document]]:
        """A page of the poisoned tasks of an app's users, newest first, with their owners. From an index.

        Of any epoch: whoever asks compares with the owners' heads.
        """

    async def agents(self, owner: Owner, after: str | None, limit: int) -> list[AgentCount]:
        """A page of the agents that an owner has memories of, in order of their ids. From an index: no memory is read.

        Of any epoch: a user who is being erased has agents until their documents are gone, one into whom a file is being brought already.
        """

    async def ranges(self) -> list[str]:
        """Names of the parts that the users of all apps lie in, each user in one. A name stays good when its part is divided."""

    async def due(self, within: str, now: datetime, after: Due | None, limit: int) -> list[Due]:
        """A page of the owners in a range whose head has `due_at` ≤ now, in order of (due_at, owner). From an index; no head is read."""

    async def search(self, owner: Owner, search: Search) -> Found:
        """The candidate set of a query, with the head it was read at."""

    async def memories(self, owner: Owner, ids: Sequence[str], where: Filter | None = None) -> Mapping[str, Shown]:
        """Memories and versions of the head's epoch by id, those that `where` lets through now: to be shown, so without vectors."""

    async def page(
        self, owner: Owner, kind: Kind, where: Filter | None, after: Place | None, limit: int, *, newest_first: bool = True
    ) -> list[Document]:
        """One page of documents of a kind by (sequence, id), without vectors. `where` is for memories, its statuses for conflicts too."""

    async def faded(
        self, owner: Owner, rules: Fading, now: datetime, session_id: str | None, after: Place | None, limit: int
    ) -> list[Place]:
        """One page, in order, of the places of active memories for which something is due at `now` (`domain.fading.due`).

        Read from what is indexed: no body of the many for which nothing is due. Rounding may name one a second too early.
        """

    async def coming(self, owner: Owner, rules: Fading, archive_after: timedelta, after: datetime) -> Coming:
        """What time alone brings next after a moment (`domain.coming`). archive_after: for how long nothing may have changed a memory.

        Told by indexes, without a body.
        """

    async def foresight_ended(self, owner: Owner, since: datetime, until: datetime) -> int:
        """How many memories' last foresight ended in (since, until]."""

    async def events(self, owner: Owner, after_sequence: int, limit: int, where: EventFilter | None = None) -> list[Event]:
        """Events with sequence > after_sequence that the filter lets through, in order."""

    async def strays(self, owner: Owner, limit: int, *, epoch: str | None = None) -> list[Document]:
        """Documents of the owner that are not of the head's epoch: of `epoch` when given, which never is the head's. Without bodies.

        Those that have expired and are still there are among them. What is deleted by a commit comes no more.
        """

    async def scrub(self) -> bool:
        """See to it that what commits have deleted stands in no file any more. False: somebody still reads an older state; ask again."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness."""
