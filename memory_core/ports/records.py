"""What a long-term store keeps, what it is asked and what it answers: `LongTermStore`'s records."""

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
"""Kinds that only a commit writes; all others are bookkeeping."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a store keeps: an id unique within its owner, a kind, a JSON-ready body,
    and a vector beside it.

    expires_at: when the store may drop it (receipts, steps, finished tasks). tag: the store's own
    mark of the state in which bookkeeping was read; None for what was not read from a store, and
    for memories and versions. These travel as `Memory` bodies: `Document(memory.id, "memory",
    memory.model_dump(mode="json"), memory.embedding)`. damaged: what is stored of this memory or
    version is no JSON. Its body then has no more than `sequence` and `next_id`.
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
    """One document of a batch. `create` fails with AlreadyExists when the id is taken;
    `put` overwrites or creates.

    A `put` whose document has a tag overwrites that very state only: AlreadyExists when another one
    is there, or nothing.
    """

    mode: Literal["create", "put", "delete"]
    document: Document


@dataclass(frozen=True, slots=True)
class Mark:
    """Fields of a stored memory that are set beside the log: no event tells of them,
    and its revision and ETag stay.

    Args:
        scene_id: the scene that the memory is in from now on; None leaves it as it is,
            unless `leaves_scene`.
        cell_id: the cell that the memory belongs to from now on; None leaves it as it is.
        embedding: the memory's vector from now on; None leaves the old vector,
            and the two fields beside it.
        embedding_model: who made `embedding`. Its length becomes the memory's
            `embedding_dimensions`.
        states: of the text's tokens, of the pass that made `embedding`, with which they are set;
            empty for an embedder without.
        leaves_scene: the memory is in no scene any more.
        leaves_cell: the memory, a message, belongs to no cell any more.
        is_expected: the head named the cell as the one that the message will belong to
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
        """The mark that puts a memory into a scene, or takes it out of its scene (None)."""
        return Mark(scene_id=scene_id, leaves_scene=scene_id is None)

    @property
    def fields(self) -> MemoryFields:
        """What the mark sets in the memory's body, JSON-ready; the vector itself is
        beside the body.
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
        """Whether it sets something that searches look at."""
        return self.cell_id is not None or self.leaves_cell or self.embedding is not None


@dataclass(frozen=True, slots=True)
class Batch:
    """One commit: all or nothing, ≤ 100 documents and ≤ 1.8 MB with its events and its head.

    expected: the head that it was built on (None: there was none). The store compares epoch and
    sequence, or its own tag of that head, and raises HeadMoved when they differ. Events are
    create-only; the first is the commit's marker. A batch may have none: it keeps bookkeeping
    alone, and leaves the log as it is. Each memory that a batch writes or deletes is named by an
    event, or a store that holds memories would not know. marks: by the id of a memory or version
    that is there, the fields of it that are set beside the log; the rest of it stays as it is. Each
    is a document, and is set after the writes. AlreadyExists for one that is not there. The head's
    `marks` grows with such a batch. A message that the head names as unformed is read as one that
    belongs to no cell.
    """

    commit_id: str
    expected: Head | None
    head: Head
    events: tuple[Event, ...]
    writes: tuple[Write, ...]
    marks: Mapping[str, Mark] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Near:
    """The neighbours that a decision needs: active or compressed memories of `types` with
    similarity ≥ floor, or in the same slot, or of the same key. With `faded`,
    decayed memories are among the similar ones.

    slot: (subject, attribute), both case-folded. key: of procedural memories, as it is. At most
    `limit`, nearest first; those of the slot, or of the key, come in any case. past: with them all
    others of the slot or key, whatever became of them. While a truth is in the slot a store may
    leave out all other memories: the slot alone decides then. A key is asked for alone: without a
    slot or a vector. A message as it was said is no neighbour.
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
        """The statuses of the nearest."""
        return frozenset({"active", "compressed", *(("decayed",) if self.faded else ())})


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One memory (with its embedding) and how near it is."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent look: the head, the documents that were asked for and exist,
    the neighbours at least as new as the head.
    """

    head: Head | None
    documents: Mapping[str, Document]
    near: tuple[Neighbour, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a list or a retrieve may show. Empty = no restriction, but `statuses`,
    which is always given.

    at: valid at that moment (valid_from ≤ at < valid_until), and then a memory whose reason is
    contradicted, consolidated or new_version counts whatever its status, versions included, and one
    that is deleted for another reason does not. Without it only `now` is compared with valid_until,
    and only when `now` is given. since, until: on event_timestamp, since ≤ t < until. tags,
    next_ids: any of them. without_session_id: not of that session. hide_formed_messages: leave out
    messages (memories of the category "message") that belong to a cell. fading: what has faded by
    `now` under these rules counts as decayed, whether or not a run has marked it since; candidates
    say so of themselves even where it may be shown. ended_by: only what ended by then; for pages of
    a run alone, which has just read the head. metadata: conditions on its fields, all of which
    hold. unformed: messages that belong to no cell, whatever is stored of them; later_than: the
    sequence of a head, after which messages may belong to none. A store sets both by the head that
    it knows.
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
        """Whether a memory counts as faded here."""
        if self.fading is None or self.now is None:
            return memory.status is Status.DECAYED
        return has_faded(memory, self.now, self.fading)

    @property
    def hides_faded(self) -> tuple[Fading, datetime] | None:
        """By which rules and as of when active memories that have faded are left out;
        None where they are not.
        """
        hides = self.fading is not None and self.now is not None and "decayed" not in self.statuses
        return (
            (self.fading, self.now)
            if hides and self.fading is not None and self.now is not None
            else None
        )

    @property
    def standing(self) -> frozenset[str]:
        """The statuses that count by themselves: looking back in time, what was deleted never does,
        even where it is asked for.
        """
        return self.statuses if self.at is None else self.statuses - {"deleted"}


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to read. Empty = all. types: of the memories; event_types: of the events.
    since ≤ occurred_at < until.

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
class QuerySentence:
    """One sentence of a query: its vector, and which of the search's terms it has."""

    vector: Vector | None
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """One query for candidates: `limit` nearest by vector and `limit` best by the terms,
    both within `where`.

    terms: analysed query tokens, no duplicates, most informative first when over the store's limit
    (30). related: words near them in meaning, which count for less, in the list by words and in the
    candidates' column `near`. sentences: of a query of several, most telling first, each with lists
    of its own as far as the store's limits allow; `vector` is None.
    """

    vector: Vector | None
    terms: tuple[str, ...]
    limit: int
    where: Filter
    related: tuple[Related, ...] = ()
    sentences: tuple[QuerySentence, ...] = ()

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """All vectors that it asks for; none where there is no embedder."""
        several = tuple(
            sentence.vector for sentence in self.sentences if sentence.vector is not None
        )
        return several if self.vector is None else (self.vector,)

    @property
    def compared(self) -> Vector | None:
        """What `from_memories` compares with: the vector, or a row for each sentence."""
        return np.stack(self.vectors) if self.sentences and self.vectors else self.vector


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a Search. `charge` is what the store says it cost (request units),
    None where it has no such thing.
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
class Touch:
    """How often a memory was shown since this was last written down, and when last. faded:
    it counted as faded then.
    """

    count: int
    at: datetime
    faded: bool = False


class Due(NamedTuple):
    """An owner whose run is due, and since when: a keyset position too."""

    owner: Owner
    at: datetime


@dataclass(frozen=True, slots=True)
class AgentCount:
    """An agent of one user. memories: how many of its memories are active or compressed,
    messages aside.

    last_active_at: when one of all its memories, whatever their status, was last made or changed.
    """

    agent_id: str
    memories: int
    last_active_at: datetime
