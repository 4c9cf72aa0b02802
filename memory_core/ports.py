"""The few protocols that the phases need from the world; adapters fulfil them, `core` chooses.

Every call names an `Owner`; none can reach across owners. Vectors are float32, length d, L2-normalised. Errors: a
dependency that is down raises `Unavailable`; never an empty result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Protocol

from memory_core.domain.agent_answers import (
    Answered,
    Boundaries,
    ConversationSummary,
    Decisions,
    EpisodeAnalysis,
    ExtractedFacts,
    Synthesis,
)
from memory_core.domain.candidates import CandidateSet, Statistics
from memory_core.domain.conversation import Message
from memory_core.domain.models import Event, Head, Memory, Vector
from memory_core.domain.scope import Owner
from memory_core.domain.shown import Shown

Kind = Literal[
    "memory", "version", "event", "head", "snapshot", "session", "conversation", "messages", "buffer", "step", "receipt", "marker",
    "operation", "run", "task", "delivery", "scene", "profile", "conflict",
]  # fmt: skip
LOGGED: Final[frozenset[Kind]] = frozenset({"memory", "version", "event", "head"})
"""Kinds that only a commit writes; all others are bookkeeping."""


Charged = Callable[[float], None]
"""Told what each answer of a store that charges has cost, in request units: refusals and each page of a query by itself."""


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
    or new_version counts whatever its status, versions included. Without it only `now` is compared with valid_until, and only
    when `now` is given. since, until: on event_timestamp, since ≤ t < until. tags, next_ids: any of them.
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

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        """Write one document of bookkeeping beside the log (a task, a step, a buffer, a delivery): never a memory, event or head.

        Created when its tag is None, else replaced when what is stored still has that tag: the document with its new tag. None
        when somebody else was faster, unless what they left is equal: so it may be sent again after Unavailable, when it may
        have been written. The owner's head is neither read nor moved.
        """

    async def waiting(self, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
        """A page of the owners, of all apps, whose head has `pending_tasks` > 0, in order of their ids: for the sweep only."""

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

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """The same of all that one commit saved, in as few round trips as there are sessions. False when one was not kept."""

    async def drop(self, owner: Owner, session_ids: Sequence[str], memory_ids: Sequence[str], stamp: Stamp, previous_removal: int) -> None:
        """A commit removed or changed these memories: take them out of their sessions' sets and restamp, or void the sets."""

    async def rebuild(self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Replace a void set by what the truth says as of `stamp`; refused when a newer set stands."""

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings by key, None where missing."""

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings, with the store's own TTL."""

    async def count(self, app_id: str, name: str, amount: int, life: timedelta) -> int | None:
        """Add to a counter of an app that all processes share; what it holds then, None when it can't be asked. 0 only reads.

        Forgotten `life` after its last change, and when the store loses its memory.
        """

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


QueueName = Literal["formation", "consolidation", "webhooks"]
POISON = "-poison"
"""Ends the name of the queue that takes what a queue's function failed at too often."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as a receiver holds it, until its visibility runs out. `receipt` is good for this delivery only.

    dequeue_count: how often it has been received, this time included.
    """

    id: str
    body: str
    dequeue_count: int
    inserted_at: datetime
    expires_at: datetime
    next_visible_at: datetime
    receipt: str


class TaskQueue(Pooled, Protocol):
    """Work that waits, named by ids only. At least once, in no promised order; whoever receives must bear a repetition.

    On Azure the Functions host receives, and the app only sends; the development host receives by the same adapter. `queue`
    is a `QueueName` or its poison queue, `<name>-poison`. All calls raise Unavailable when the service is down.
    """

    async def open(self) -> None:
        """Connect; the queues are there, or are made where the adapter is an embedded or an emulated one."""

    async def close(self) -> None:
        """Release everything."""

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message, to be seen after `delay` (at most 7 days, whole seconds) and for 7 days from then. Durable when it returns.

        body: 1 byte to 48 KiB of UTF-8, else TooLarge. After Unavailable it may be there or not.
        """

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Up to `limit` (1-32) visible messages, which nobody else sees for `visibility` (1 s to 7 days)."""

    async def extend(self, queue: str, delivery: Delivery, visibility: timedelta) -> Delivery | None:
        """Keep it, or hand it back after `visibility` (0: at once); None when it is no longer this receiver's."""

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove a message that is done; False when it is no longer this receiver's."""

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait for this process's next `send` without delay, at most `within`. Other processes' messages end no wait."""

    async def length(self, queue: str) -> int:
        """About how many messages there are, those not visible now included."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness; with the lengths of the poison queues among its facts."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What came of one POST: the status of its answer, or why there was none. refused: we don't call that address, now or later."""

    status: int | None
    error: str | None = None
    refused: bool = False


class Courier(Protocol):
    """Takes webhooks to addresses that callers chose: to public ones and those that the operator allows, never into our own network."""

    def refusal(self, url: str) -> str | None:
        """Why this address will never be called, as far as can be told without looking up who has its name; None when it may be."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        """One POST, once, in bounded time; redirects are answers like others. Never raises for what the receiver does."""

    async def close(self) -> None:
        """Release everything."""


class Archive(Pooled, Protocol):
    """The cold: named blobs that are written once, read and removed, never changed. All calls raise Unavailable when it is down.

    Names are made of `[A-Za-z0-9._-]` parts joined by `/`, none ending with a dot; ValueError for others (`domain.blob_names`).
    """

    async def open(self) -> None:
        """Connect; the container is there, or is made where the adapter is an embedded or an emulated one.

        After Unavailable it may be used all the same: once it is back, the calls work.
        """

    async def close(self) -> None:
        """Release everything."""

    async def put(self, name: str, data: bytes) -> bool:
        """Write once; durable when it returns. False when the name is taken, whatever it holds, be it by a first try of this very
        call whose answer was lost; the caller reads back to see what.
        """

    async def get(self, name: str) -> bytes | None:
        """What is there, whole and with its checksum verified; None when nothing is. Raises Unavailable when it is not what was written."""

    async def remove(self, name: str) -> bool:
        """Remove it for good; False when it was not there, or when a first try had removed it and its answer was lost."""

    async def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """A page of names that start with `prefix`, in order, those later than `after`."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness."""


class Meter(Protocol):
    """Where agents say what they took and how it ended."""

    def tokens(self, app_id: str, model: str, prompt: int, completion: int) -> None:
        """Tokens that one call of a model took, for whom."""

    def agent_call(self, call: str, outcome: str) -> None:
        """How one call ended: ok, repaired, failed, unavailable or over_budget."""


@dataclass(frozen=True, slots=True)
class DecisionItem:
    """A memory as the conflict and synthesis agents are shown it: its number, its text, its time. Never its id."""

    number: int
    text: str
    category: str | None
    said_at: datetime
    slot: tuple[str, str] | None = None


class Agents(Pooled, Protocol):
    """The typed calls that a model, or rules, answer. What is passed in is data, never an instruction.

    app_id: whose tokens are counted. Raise Unavailable when the model is down, slow or throttled (worth asking again later),
    AgentFailed when it answers nothing usable (asking again gives the same). Messages are numbered from 0 in what is passed.
    """

    @property
    def model(self) -> str:
        """Who answers, for provenance."""

    async def open(self) -> None:
        """Load or connect."""

    async def close(self) -> None:
        """Release everything."""

    async def detect_boundary(self, app_id: str, messages: Sequence[Message], previous: str | None) -> Answered[Boundaries]:
        """Where at most 50 messages change their topic. `previous`: the episode before them, if any."""

    async def analyse_episode(self, app_id: str, messages: Sequence[Message]) -> Answered[EpisodeAnalysis]:
        """The patterns of behaviour in one cell."""

    async def summarise(self, app_id: str, messages: Sequence[Message], *, fast: bool = False) -> Answered[ConversationSummary]:
        """The story of some messages. fast: the narrative only, for the agent path and quick summaries."""

    async def extract_facts(self, app_id: str, messages: Sequence[Message]) -> Answered[ExtractedFacts]:
        """The facts of one cell with their quotes, and its foresight, dated against each message's own time."""

    async def decide_conflicts(self, app_id: str, new: Sequence[DecisionItem], held: Sequence[DecisionItem]) -> Answered[Decisions]:
        """What each of the held memories becomes beside the new ones.

        DELETE says that the two exclude each other; which of them falls, the one said earlier, is the executor's to see.
        """

    async def synthesise(self, app_id: str, notes: Sequence[DecisionItem], complaint: str | None = None) -> Answered[Synthesis]:
        """One note out of several, the oldest first, losing nothing. complaint: what was wrong with an earlier try."""

    async def check(self) -> Health:
        """Whether they answer, for readiness; costs no tokens."""
