"""Records that a long-term store keeps, queries that it is asked, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from memory_core.domain.fading import Fading, has_faded
from memory_core.domain.memory import Event, Head, Memory, MemoryFields, Status, Vector
from memory_core.domain.metadata_filter import Conditions
from memory_core.domain.ranking.candidates import CandidateSet, Related, Statistics
from memory_core.domain.scope import Owner

Kind = Literal[
    "memory", "version", "event", "head", "snapshot", "session", "conversation", "messages",
    "buffer", "step", "receipt", "marker", "operation", "run", "task", "delivery", "scene",
    "profile", "conflict", "slot", "settings", "accesses", "key", "audit",
]  # fmt: skip
LOGGED: Final[frozenset[Kind]] = frozenset({"memory", "version", "event", "head"})
"""Kinds that only a commit writes. All other kinds are bookkeeping."""


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document.

    Memories and versions are documents of their `Memory` bodies:
    `Document(memory.id, "memory", memory.model_dump(mode="json"), memory.embedding)`.

    Attributes:
        id: An id that is unique within the owner.
        kind: The kind of the document.
        body: The content, JSON-ready.
        vector: The vector beside the body, if any.
        expires_at: When the store may drop it (receipts, steps, finished tasks).
        tag: The store's own mark of the state in which bookkeeping was read. None for a document
            that was not read from a store, and for memories and versions.
        damaged: The stored memory or version is not valid JSON. Its body then has no more than
            `sequence` and `next_id`.

    """

    id: str
    kind: Kind
    body: dict[str, Any]
    vector: Vector | None = None
    expires_at: datetime | None = None
    tag: str | None = field(default=None, compare=False)
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """A write of a document in a batch.

    A `put` whose document has a tag overwrites exactly the state that the tag marks. It raises
    AlreadyExists when another state is stored, or no document.

    Attributes:
        mode: `create` raises AlreadyExists when the id is taken; `put` overwrites or creates.
        document: The document to write or delete.

    """

    mode: Literal["create", "put", "delete"]
    document: Document


@dataclass(frozen=True, slots=True)
class Mark:
    """Fields of a stored memory that are set beside the log.

    No event reports them, and the memory's revision and ETag stay.

    Attributes:
        scene_id: The scene that the memory is in from now on; None leaves it as it is, unless
            `leaves_scene`.
        cell_id: The cell that the memory belongs to from now on; None leaves it as it is, unless
            `leaves_cell`.
        embedding: The memory's vector from now on; None leaves the old vector, and the two fields
            beside it.
        embedding_model: The model that made `embedding`. The length of `embedding` becomes the
            memory's `embedding_dimensions`.
        states: The token states of the text from the pass that made `embedding`, with which they
            are set; empty for an embedder without token states.
        leaves_scene: The memory is in no scene any more.
        leaves_cell: The memory, a message, belongs to no cell any more.
        is_expected: The head named the cell as the cell that the message will belong to
            (`Head.unformed`), so a store may have written it with the message.

    """

    scene_id: str | None = None
    cell_id: str | None = None
    embedding: Vector | None = None
    embedding_model: str | None = None
    states: str = ""
    leaves_scene: bool = False
    leaves_cell: bool = False
    is_expected: bool = False

    @staticmethod
    def of_scene(scene_id: str | None) -> Mark:
        """The mark that puts a memory into a scene, or takes it out (None)."""
        return Mark(scene_id=scene_id, leaves_scene=scene_id is None)

    @property
    def fields(self) -> MemoryFields:
        """Fields that the mark sets in the memory's body, JSON-ready.

        The vector itself is stored beside the body.
        """
        named: MemoryFields = {}
        if self.scene_id is not None or self.leaves_scene:
            named["scene_id"] = self.scene_id
        if self.cell_id is not None or self.leaves_cell:
            named["cell_id"] = self.cell_id
        if self.embedding is not None:
            named |= {
                "embedding_model": self.embedding_model,
                "embedding_dimensions": len(self.embedding),
            }
        return named

    @property
    def is_searched(self) -> bool:
        """Whether the mark sets a field that searches read."""
        return self.cell_id is not None or self.leaves_cell or self.embedding is not None


@dataclass(frozen=True, slots=True)
class Batch:
    """A commit: at most 100 documents and 1.8 MB with its events and its head.

    It is written whole or not at all. The store compares the epoch and sequence of `expected`, or
    its own tag of that head, and raises HeadMoved when they differ. Each memory that a batch writes
    or deletes is named by an event, since a store that caches memories learns of changes by the
    events. The head's `marks` grows with a batch that has marks.

    Attributes:
        commit_id: The id of the commit.
        expected: The head that it was built on; None when there was no head.
        head: The new head.
        events: They are create-only, and the first event is the commit's marker. A batch without
            events writes bookkeeping alone and leaves the log as it is.
        writes: The documents to write or delete.
        marks: By the id of a stored memory or version, the fields that are set beside the log; its
            other fields stay as they are. Each counts as a document and is set after the writes. A
            memory that does not exist raises AlreadyExists. A message that the head names as
            unformed is read as a message that belongs to no cell.

    """

    commit_id: str
    expected: Head | None
    head: Head
    events: tuple[Event, ...]
    writes: tuple[Write, ...]
    marks: Mapping[str, Mark] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Near:
    """The neighbours that a decision needs.

    They are active or compressed memories of `types` that have similarity ≥ floor, or are in the
    same slot, or have the same key. A message as it was said is no neighbour. A key is asked for
    alone, without a slot or a vector.

    Attributes:
        vector: The vector to compare with; None compares no vectors.
        types: The types of the neighbours.
        floor: The lowest similarity.
        slot: (subject, attribute), both case-folded. While an active fact is in the slot, a store
            may leave out all other memories: the slot alone decides then.
        limit: The most neighbours, the nearest first. Those of the slot or key are always included.
        key: The key of procedural memories, as it is.
        faded: Whether decayed memories are among the similar memories.
        past: Whether all other memories of the slot or key are included, whatever their status.

    """

    vector: Vector | None
    types: frozenset[str]
    floor: float
    slot: tuple[str, str] | None = None
    limit: int = 20
    key: str | None = None
    faded: bool = False
    past: bool = False

    @property
    def statuses(self) -> frozenset[str]:
        """Statuses of the memories among which the nearest are searched."""
        return frozenset({"active", "compressed", *(("decayed",) if self.faded else ())})


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory (with its embedding) and its similarity."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A consistent read of an owner.

    Attributes:
        head: The head; None when the owner has no data.
        documents: The requested documents that exist, by id.
        near: The neighbours, at least as new as the head.

    """

    head: Head | None
    documents: Mapping[str, Document]
    near: tuple[Neighbour, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Restricts the memories that a list or a search may return.

    An empty field sets no restriction. Only `statuses` is always given.

    Attributes:
        statuses: The statuses that are returned.
        types: Any of these types.
        categories: Any of these categories.
        tags: Any of these tags.
        next_ids: Any of these `next_id` values.
        session_id: The only session.
        without_session_id: The session that is left out.
        agent_id: The only agent.
        since: The earliest event_timestamp, included.
        until: The latest event_timestamp, excluded.
        at: The moment at which memories are valid (valid_from ≤ at < valid_until). A memory whose
            reason is contradicted, consolidated or new_version then counts whatever its status,
            versions included. A memory that is deleted for another reason does not.
        now: Without `at`, the moment that is compared with valid_until, if given.
        hide_formed_messages: Leave out messages (memories of the category "message") that belong to
            a cell.
        fading: The rules of fading. A memory that has faded by `now` counts as decayed, whether or
            not a run has marked it since. Candidates carry this flag even where the memory may be
            shown.
        ended_by: Only memories whose validity ended by then. It is for pages of a run alone, which
            has just read the head.
        metadata: Conditions on the metadata, all of which must match.
        unformed: Ids of messages that belong to no cell, whatever their stored state. A store sets
            it by the head that it knows.
        later_than: The sequence of a head, after which messages may belong to no cell. A store sets
            it by the head that it knows.

    """

    statuses: frozenset[str]
    types: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    next_ids: frozenset[str] = frozenset()
    session_id: str | None = None
    without_session_id: str | None = None
    agent_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    at: datetime | None = None
    now: datetime | None = None
    hide_formed_messages: bool = False
    fading: Fading | None = None
    ended_by: datetime | None = None
    metadata: Conditions = ()
    unformed: frozenset[str] = frozenset()
    later_than: int | None = None

    def has_faded(self, memory: Memory) -> bool:
        """Whether a memory counts as faded under this filter."""
        if self.fading is None or self.now is None:
            return memory.status is Status.DECAYED
        return has_faded(memory, self.now, self.fading)

    @property
    def hides_faded(self) -> tuple[Fading, datetime] | None:
        """Rules and moment by which active memories that have faded are left out.

        None where they are not left out.
        """
        hides = self.fading is not None and self.now is not None and "decayed" not in self.statuses
        return (
            (self.fading, self.now)
            if hides and self.fading is not None and self.now is not None
            else None
        )

    @property
    def standing(self) -> frozenset[str]:
        """The statuses that are returned.

        At an earlier moment, the status `deleted` is never among them, even where it is requested.
        """
        return self.statuses if self.at is None else self.statuses - {"deleted"}


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Restricts the events to read. An empty field sets no restriction.

    Attributes:
        memory_id: The only memory.
        types: The types of the memories.
        event_types: The types of the events.
        correlation_id: The only correlation id.
        since: The earliest occurred_at, included.
        until: The latest occurred_at, excluded.
        up_to: The highest sequence, included.

    """

    memory_id: str | None = None
    types: frozenset[str] = frozenset()
    event_types: frozenset[str] = frozenset()
    correlation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    up_to: int | None = None


@dataclass(frozen=True, slots=True)
class QuerySentence:
    """A sentence of a query.

    Attributes:
        vector: The vector of the sentence; None without an embedder.
        places: The places of its terms among the search's terms.

    """

    vector: Vector | None
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """A query for candidates: the `limit` nearest by vector and the `limit` best by terms.

    Attributes:
        vector: The vector of the query; None where there are `sentences` or no embedder.
        terms: Analysed query tokens without duplicates, the most informative first when over the
            store's limit (30).
        limit: The most candidates of each list.
        where: Restricts both lists.
        related: Words near the terms in meaning, which count for less. They are used in the list by
            words and in the candidates' column `near`.
        sentences: The sentences of a query of several, the most informative first. Each has lists
            of its own as far as the store's limits allow.

    """

    vector: Vector | None
    terms: tuple[str, ...]
    limit: int
    where: Filter
    related: tuple[Related, ...] = ()
    sentences: tuple[QuerySentence, ...] = ()

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """All vectors of the query; empty without an embedder."""
        several = tuple(
            sentence.vector for sentence in self.sentences if sentence.vector is not None
        )
        return several if self.vector is None else (self.vector,)

    @property
    def compared(self) -> Vector | None:
        """The value that `from_memories` compares with: the vector, or a row for each sentence."""
        return np.stack(self.vectors) if self.sentences and self.vectors else self.vector


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a Search.

    Attributes:
        head: The head that it was read at.
        candidates: The candidates.
        statistics: The statistics of the terms.
        charge: The cost that the store reports, in request units; None where a store does not
            charge.

    """

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
class AccessCount:
    """Accesses of a memory since they were last written.

    Attributes:
        count: How often it was shown.
        at: When it was last shown.
        faded: Whether it counted as faded then.

    """

    count: int
    at: datetime
    faded: bool = False


class Due(NamedTuple):
    """An owner whose run is due, and since when; also a keyset position."""

    owner: Owner
    at: datetime


@dataclass(frozen=True, slots=True)
class AgentCount:
    """An agent of a user.

    Attributes:
        agent_id: The id of the agent.
        memories: How many of its memories are active or compressed, messages not counted.
        last_active_at: When a memory of this agent, of any status, was last made or changed.

    """

    agent_id: str
    memories: int
    last_active_at: datetime
