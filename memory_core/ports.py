"""The few protocols that the phases need from the world; adapters fulfil them, `core` chooses.

Every call names an `Owner`; none can reach across owners. Vectors are float32, length d, L2-normalised. Errors: a
dependency that is down raises `Unavailable`; never an empty result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from memory_core.domain.candidates import CandidateSet, Statistics
from memory_core.domain.models import Event, Head, Memory, Vector
from memory_core.domain.scope import Owner
from memory_core.domain.shown import Shown

Kind = Literal[
    "memory", "version", "event", "head", "snapshot", "session", "conversation", "buffer", "step", "receipt", "marker",
    "operation", "run", "task", "delivery", "scene", "profile", "conflict",
]  # fmt: skip


class Clock(Protocol):
    """Where "now" comes from; tests move it."""

    def now(self) -> datetime:
        """The present moment, aware UTC."""


class IdSource(Protocol):
    """Where fresh ids come from. Whatever is derived gets a deterministic id instead."""

    def new(self, prefix: str) -> str:
        """A new id `<prefix>_<random>`."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a store keeps: an id unique within its owner, a kind, a JSON-ready body, and a vector beside it.

    expires_at: when the store may drop it (receipts, steps, finished tasks). Memories and versions travel as `Memory`
    bodies: `Document(memory.id, "memory", memory.model_dump(mode="json"), memory.embedding)`.
    """

    id: str
    kind: Kind
    body: dict[str, Any]
    vector: Vector | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """One document of a batch. `create` fails with AlreadyExists when the id is taken; `put` overwrites or creates."""

    mode: Literal["create", "put", "delete"]
    document: Document


@dataclass(frozen=True, slots=True)
class Batch:
    """One commit: all or nothing, ≤ 100 documents and ≤ 1.8 MB with its events and its head.

    expected: the head that it was built on (None: there was none). The store compares epoch and sequence, or its own tag
    of that head, and raises HeadMoved when they differ. Events are create-only; the first is the commit's marker. A batch may
    have none: it keeps bookkeeping alone, and leaves the log as it is.
    """

    commit_id: str
    expected: Head | None
    head: Head
    events: tuple[Event, ...]
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Near:
    """The neighbours that a decision needs: active or compressed memories of `types` with similarity ≥ floor, or in the same slot.

    slot: (subject, attribute), both case-folded. At most `limit`, nearest first; those of the slot come in any case, and with
    them the truths that a contradiction superseded there, because a fact that arrives late has its place among them.
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
    or new_version counts whatever its status, versions included. Without it only `now` is compared with valid_until, and only
    when `now` is given. since, until: on event_timestamp, since ≤ t < until. tags: any of them.
    """

    statuses: frozenset[str]
    types: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    session_id: str | None = None
    agent_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    at: datetime | None = None
    now: datetime | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """One query for candidates: `limit` nearest by vector and `limit` best by the terms, both within `where`.

    terms: analysed query tokens, no duplicates, most informative first when over the store's limit (30).
    """

    vector: Vector | None
    terms: tuple[str, ...]
    limit: int
    where: Filter


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
class Health:
    """What a readiness check saw. `detail` says what is wrong, in words for an operator."""

    adapter: str
    status: Literal["ok", "degraded", "unavailable", "off"]
    latency_ms: float | None = None
    last_ok: datetime | None = None
    detail: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class Pooled(Protocol):
    """Something that holds connections or threads."""

    def pool(self) -> tuple[int, int]:
        """How many it may hold, and how many of these are in use now."""


class LongTermStore(Pooled, Protocol):
    """The truth. `commit` is the only writer of memories, events and heads."""

    async def open(self) -> None:
        """Connect and check; raises Unavailable or EmbeddingMismatch."""

    async def close(self) -> None:
        """Release everything; what was acknowledged stays."""

    async def snapshot(self, owner: Owner, ids: Sequence[str] = (), near: Near | None = None) -> Snapshot:
        """Head, documents by id (of any kind) and neighbours, in one logical read."""

    async def commit(self, owner: Owner, batch: Batch) -> None:
        """All of the batch or none. Raises HeadMoved, AlreadyExists, TooLarge, Unavailable (then it may have been applied)."""

    async def search(self, owner: Owner, search: Search) -> Found:
        """The candidate set of a query, with the head it was read at."""

    async def memories(self, owner: Owner, ids: Sequence[str], where: Filter | None = None) -> Mapping[str, Shown]:
        """Memories and versions of the head's epoch by id, those that `where` lets through now: to be shown, so without vectors."""

    async def page(
        self, owner: Owner, kind: Kind, where: Filter | None, after: Place | None, limit: int, *, newest_first: bool = True
    ) -> list[Document]:
        """One page of documents of a kind by (sequence, id). `where` applies to memories; vectors are not read."""

    async def events(self, owner: Owner, after_sequence: int, limit: int) -> list[Event]:
        """Events with sequence > after_sequence, in order."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a head says about caches: its epoch, its sequence, and the last sequence that removed or changed something."""

    epoch: str
    sequence: int
    last_removal_sequence: int


class ShortTermStore(Pooled, Protocol):
    """The recent past of each session, a cache of the truth. No call raises: a failure is reported by `degraded`."""

    async def open(self) -> None:
        """Prepare the connection; never fails the start."""

    async def close(self) -> None:
        """Close the connection."""

    @property
    def degraded(self) -> bool:
        """True while calls fail or the circuit is open."""

    async def recall(self, owner: Owner, session_id: str, limit: int) -> tuple[Stamp | None, list[Memory]]:
        """The newest entries of a session with the stamp they are good for; `None` when nothing is held.

        The caller serves them only when `stamp.epoch` is the head's and `stamp.sequence` ≥ the head's last_removal_sequence.
        """

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Write back one saved memory, as of the commit `stamp`. False when refused as older than the set, or when down."""

    async def drop(self, owner: Owner, session_ids: Sequence[str], memory_ids: Sequence[str], stamp: Stamp, previous_removal: int) -> None:
        """A commit removed or changed these memories: take them out of their sessions' sets and restamp, or void the sets."""

    async def rebuild(self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Replace a void set by what the truth says as of `stamp`; refused when a newer set stands."""

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings by key, None where missing."""

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings, with the store's own TTL."""

    async def check(self) -> Health:
        """A round trip, for readiness; says what is wrong instead of raising."""


class Embedder(Protocol):
    """Text to vector. `model` and `dimensions` are stored with every vector and compared on every start."""

    @property
    def model(self) -> str:
        """Name and version of what makes the vectors."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    async def open(self) -> None:
        """Load or connect; raises Unavailable."""

    async def close(self) -> None:
        """Release it."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One normalised float32 vector a text, in order. Raises Unavailable."""

    async def check(self) -> Health:
        """Whether it answers."""
