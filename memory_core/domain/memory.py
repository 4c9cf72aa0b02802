"""The memory: its model, event and head.

This module is pure: it reads no clock and makes no ids. `lexical`, `search_text`, `embedding` and
the bookkeeping fields never leave the product (`Memory.public`). They are outside the event log as
well, except for `told_at`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt
import orjson
from pydantic import ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.scope import Owner
from memory_core.domain.text.timestamps import Timestamp

Vector = npt.NDArray[np.float32]
MAX_CONTENT_BYTES = 32 * 1024
MAX_METADATA_BYTES = 8 * 1024
MAX_VALUE_BYTES = 256 * 1024
EVENTS_A_SNAPSHOT = 1000
"""Events after which the log is folded and kept as a snapshot, at the earliest."""


class MemoryType(StrEnum):
    """The kind of a memory: episodic, semantic or procedural.

    Episodic memories hold events. Semantic memories hold statements that are believed to be true.
    Procedural memories hold preferences and how-tos, each under a key.
    """

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    """The stage of a memory's life; `transitions.allowed` gives the statuses that may follow."""

    ACTIVE = "active"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    DECAYED = "decayed"
    COMPRESSED = "compressed"
    ARCHIVED = "archived"
    DELETED = "deleted"


Worth = Literal[
    "asked_to_keep",
    "identity",
    "vital",
    "health",
    "agreement",
    "standing_wish",
    "secret_place",
    "small_talk",
]
"""The reason to keep a memory for a longer or a shorter time than usual.

`worth.HALF_LIFE_FACTORS` has the factor of each reason.
"""

GivenWorth = Literal[
    "asked_to_keep", "identity", "vital", "health", "agreement", "standing_wish", "secret_place",
    "small_talk", "none"
]  # fmt: skip
"""The same reasons as a model answers them; `none` where no reason applies."""


class Outcome(StrEnum):
    """The effect of a save."""

    CREATED = "created"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    KEPT_BOTH = "kept_both"
    REINFORCED = "reinforced"
    UPSERTED = "upserted"
    REJECTED = "rejected"


class OnConflict(StrEnum):
    """How a save treats a memory that contradicts it."""

    AUTO = "auto"
    SUPERSEDE = "supersede"
    KEEP_BOTH = "keep_both"
    REJECT_NEW = "reject_new"
    MERGE = "merge"


class Foresight(DeferredModel):
    """Something expected to hold for a while: "on a keto diet until November"."""

    model_config = ConfigDict(extra="forbid")

    description: str = Field(
        min_length=1,
        max_length=2000,
        json_schema_extra={"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"},
    )
    start_time: Timestamp
    end_time: Timestamp | None = None
    confidence: float = Field(1.0, ge=0, le=1)


class AtomicFact(DeferredModel):
    """A fact that was said in a cell, and where.

    Attributes:
        text: The statement.
        message: Number of the message that says it.
        quote: Words of that message that prove it.
        fact_id: Id of the memory that was made of the fact.
        superseded_by: Id of the memory that has replaced the fact.
        lasting: Whether the fact has a memory although it fills no slot.

    """

    model_config = ConfigDict(extra="forbid")

    text: str
    message: int | None = None
    quote: str | None = None
    fact_id: str | None = None
    superseded_by: str | None = None
    lasting: bool = Field(default=False, exclude_if=lambda value: not value)

    def held_by(self, fact_id: str | None, superseded_by: str | None) -> AtomicFact:
        """The fact with the memory that holds it, and the successor of that memory.

        Args:
            fact_id: The id of the memory that holds the fact; None without such a memory.
            superseded_by: The id of its successor; None while the fact is true.

        """
        return self.model_copy(update={"fact_id": fact_id, "superseded_by": superseded_by})


class Link(DeferredModel):
    """An edge to an older memory; kept on the newer memory only."""

    model_config = ConfigDict(extra="forbid")

    memory_id: str
    similarity_score: float
    composite_score: float
    link_strength: float
    relationship_type: Literal["duplicate", "strong", "related", "contradicts", "same_scene"]


class LexicalFields(TypedDict, total=False):
    """Fields of an analysed text that a change replaces."""

    previous: dict[str, int]
    before_previous: dict[str, int]
    previous_asks: bool
    states: str
    turn: int | None


class Lexical(DeferredModel):
    """The analysed text that relevance weighs, as a count for each token.

    The text of the memory itself is counted apart from the text that surrounds it.

    Attributes:
        order: Where in a long text the terms of `own` are (`index_terms`). Empty for a text of a
            single passage.
        says_i: Whether the speaker says something of themselves; None where that was not examined.
        states: The states of the text's tokens (`vectors`); empty where they are not kept.
        turn: Ordinal among the episodic memories of the session; None for any other memory.

    """

    own: dict[str, int] = Field(default_factory=dict)
    order: str = ""
    date: dict[str, int] = Field(default_factory=dict)
    previous: dict[str, int] = Field(default_factory=dict)
    before_previous: dict[str, int] = Field(default_factory=dict)
    asks: bool = False
    previous_asks: bool = False
    tells_time: bool = False
    says_i: bool | None = Field(default=None, exclude_if=lambda value: value is None)
    states: str = Field(default="", exclude_if=lambda value: not value)
    turn: int | None = None

    def changed(self, **fields: Unpack[LexicalFields]) -> Lexical:
        """The analysed text with these fields replaced, without validation."""
        return self.model_copy(update=fields)


class MemoryFields(TypedDict, total=False):
    """Fields of a memory that a change replaces, each with its type."""

    id: str
    app_id: str
    user_id: str
    session_id: str | None
    agent_id: str | None
    cell_id: str | None
    conversation_id: str | None
    type: MemoryType
    category: str | None
    content: str
    episode: str | None
    subject: str | None
    attribute: str | None
    key: str | None
    value: Any
    value_text: str | None
    atomic_facts: list[AtomicFact]
    foresight: list[Foresight]
    entities: list[str]
    actor: str | None
    action_type: str | None
    source: str
    metadata: dict[str, Any]
    tags: list[str]
    keywords: list[str]
    semantic_queries: list[str]
    lexical: Lexical
    search_text: str
    embedding: Vector | None
    embedding_model: str | None
    embedding_dimensions: int | None
    importance_base: float
    importance_basis: Literal["given", "type", "secmsa", "consolidation"]
    confidence: float
    interaction_quality: Literal["high", "medium", "low"] | None
    conversation_complexity: int | None
    follow_up_potential: list[str]
    access_count: int
    last_accessed_at: datetime | None
    reinforcement_count: int
    last_used_at: datetime | None
    pinned: bool
    worth: Worth | None
    searchable: bool
    created_at: datetime
    updated_at: datetime
    event_timestamp: datetime
    valid_from: datetime
    valid_until: datetime | None
    status: Status
    status_reason: str
    version: int
    change_reason: str | None
    supersedes_id: str | None
    next_id: str | None
    links: list[Link]
    source_ids: list[str]
    consolidated_into_ids: list[str]
    consolidation_run: str | None
    pattern_detected: str | None
    copied_from: str | None
    scene_id: str | None
    conflict_state: Literal["none", "pending", "resolved"]
    conflict_ids: list[str]
    prompt_id: str | None
    prompt_version: str | None
    model: str | None
    correlation_id: str | None
    archived_at: datetime | None
    archival_location: str | None
    told_at: list[datetime]
    epoch: str
    sequence: int
    revision: int


class Memory(DeferredModel):
    """A memory. Field groups and meanings: docs/model.md."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    # identity
    id: str
    app_id: str
    user_id: str
    session_id: str | None = None
    agent_id: str | None = None
    cell_id: str | None = None
    conversation_id: str | None = None
    type: MemoryType
    category: str | None = None
    # content
    content: str
    episode: str | None = None
    subject: str | None = None
    attribute: str | None = None
    key: str | None = None
    value: Any = None
    value_text: str | None = None
    atomic_facts: list[AtomicFact] = Field(default_factory=list)
    foresight: list[Foresight] = Field(default_factory=list)
    entities: list[str] = Field(default_factory=list)
    actor: str | None = None
    action_type: str | None = None
    source: str = "api"
    metadata: dict[str, Any] = Field(default_factory=dict)
    # finding
    tags: list[str] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)
    semantic_queries: list[str] = Field(default_factory=list)
    lexical: Lexical = Field(default_factory=Lexical)
    search_text: str = ""
    embedding: Vector | None = Field(default=None, exclude=True, repr=False)
    embedding_model: str | None = None
    embedding_dimensions: int | None = None
    # weight
    importance_base: float = 0.5
    importance_basis: Literal["given", "type", "secmsa", "consolidation"] = "type"
    confidence: float = 1.0
    interaction_quality: Literal["high", "medium", "low"] | None = None
    conversation_complexity: int | None = None
    follow_up_potential: list[str] = Field(default_factory=list)
    access_count: int = 0
    last_accessed_at: datetime | None = None
    reinforcement_count: int = 0
    last_used_at: datetime | None = None
    pinned: bool = False
    worth: Worth | None = None
    searchable: bool = Field(default=True, exclude_if=lambda value: value)
    # time
    created_at: datetime
    updated_at: datetime
    event_timestamp: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    # evolution
    status: Status = Status.ACTIVE
    status_reason: str = "created"
    version: int = 1
    change_reason: str | None = None
    supersedes_id: str | None = None
    next_id: str | None = None
    links: list[Link] = Field(default_factory=list)
    source_ids: list[str] = Field(default_factory=list)
    consolidated_into_ids: list[str] = Field(default_factory=list)
    consolidation_run: str | None = None
    pattern_detected: str | None = None
    copied_from: str | None = None
    scene_id: str | None = None
    conflict_state: Literal["none", "pending", "resolved"] = "none"
    conflict_ids: list[str] = Field(default_factory=list)
    # provenance
    prompt_id: str | None = None
    prompt_version: str | None = None
    model: str | None = None
    correlation_id: str | None = None
    # archive
    archived_at: datetime | None = None
    archival_location: str | None = None
    # bookkeeping: when it was told, where that was more than once; the owner's epoch, the sequence
    # of its first and of its last event
    told_at: list[datetime] = Field(default_factory=list)
    epoch: str = ""
    sequence: int = 0
    revision: int = 0

    @property
    def owner(self) -> Owner:
        """The app and the user whose memory it is."""
        return Owner(self.app_id, self.user_id)

    @property
    def etag(self) -> str:
        """The HTTP ETag `"<epoch>.<revision>"`.

        It changes with events only, so that internal patches never surprise a client.
        """
        return f'"{self.epoch}.{self.revision}"'

    def changed(self, **fields: Unpack[MemoryFields]) -> Memory:
        """The memory with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    def shown_as(self, name: str) -> Memory:
        """An old version of a memory, under the id of the memory itself."""
        return self.changed(id=name)

    def with_fields_of(self, other: Memory, names: Iterable[str]) -> Memory:
        """The memory with the fields of these names as another memory has them.

        Args:
            other: The memory to take the fields from.
            names: Names of fields.

        """
        return self.changed(**fields_of(other, names))

    def public(self, *, include_embedding: bool = False) -> dict[str, Any]:
        """The memory as the API shows it: JSON-ready and without internal fields.

        With `include_embedding`, the vector is added, rounded to 9 decimals.
        """
        fields = self.model_dump(mode="json", exclude=set(INTERNAL_FIELDS))
        if include_embedding:
            vector = self.embedding
            fields["embedding"] = None if vector is None else [round(float(x), 9) for x in vector]
        return fields


INTERNAL_FIELDS = frozenset(
    {"lexical", "search_text", "embedding", "told_at", "epoch", "sequence", "revision"}
)
UNLOGGED_FIELDS = INTERNAL_FIELDS - {"told_at"} | {
    "links", "scene_id", "access_count", "last_accessed_at", "embedding_model",
    "embedding_dimensions"
}  # fmt: skip
"""Fields that no event records: recomputed, or changed outside the log."""

BYTES_EACH: Final = 1_024
"""Bytes that a memory, or an old version of it, counts beside its texts.

They are for its ids and times, its vector, the index and its event.
"""
_COUNTED_FIELDS: Final = {
    "content", "episode", "value", "value_text", "atomic_facts", "foresight", "entities",
    "metadata", "tags", "keywords", "semantic_queries"
}  # fmt: skip


def stored_bytes(memory: Memory) -> int:
    """The bytes that a memory, or an old version of it, counts as stored.

    These are its texts as JSON in UTF-8, and `BYTES_EACH`. Fields that no event records do not
    count, so that the counts of all commits add up to the count over the whole store.
    """
    return stored_bytes_of(memory.model_dump(mode="json", include=_COUNTED_FIELDS))


def stored_bytes_of(body: Mapping[str, Any]) -> int:
    """`stored_bytes` of a memory by its whole body, JSON-ready."""
    return BYTES_EACH + len(orjson.dumps({name: body[name] for name in _COUNTED_FIELDS}))


def fields_of(memory: Memory, names: Iterable[str]) -> MemoryFields:
    """The fields of these names, as the memory has them.

    Args:
        memory: The memory to read.
        names: Names of fields.

    """
    return cast(MemoryFields, {name: getattr(memory, name) for name in names})


def public_part(body: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a memory's document that `Memory.public` shows."""
    public = dict(body)
    for name in INTERNAL_FIELDS:
        public.pop(name, None)
    return public


class EventFields(TypedDict, total=False):
    """Fields of an event that a redaction replaces."""

    agent_id: str | None
    session_id: str | None
    before: dict[str, Any]
    after: dict[str, Any]
    metadata: dict[str, Any]
    redacted: bool


EventType = Literal[
    "archived", "cleared", "compressed", "conflict_marked", "conflict_resolved",
    "conflict_settled", "conflict_undone", "consolidated", "contradicted", "copied", "created",
    "decayed", "deleted", "fact_superseded", "forgotten", "joined", "led_anew", "linked", "merged",
    "messages_linked", "moved", "preceded", "recalled", "redacted", "reinforced", "rejected",
    "restored", "split", "superseded", "touched", "updated", "upserted",
]  # fmt: skip
"""What a change of a memory is called in the log. The log of an older version may have others."""


class Event(DeferredModel):
    """A change of a memory.

    Attributes:
        before: Earlier values of the fields that changed, never embeddings.
        after: New values of the fields that changed, never embeddings.
        redacted: Whether the memory was deleted for good. The event's content is gone, and its
            place in the log stays.
        epoch: The owner's epoch when the event was written. Bookkeeping, never shown.

    """

    id: str
    sequence: int
    event_type: str
    memory_id: str
    memory_type: MemoryType
    agent_id: str | None = None
    session_id: str | None = None
    occurred_at: datetime
    actor: str = "system"
    correlation_id: str | None = None
    before: dict[str, Any] = Field(default_factory=dict)
    after: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    redacted: bool = False
    epoch: str = ""

    def changed(self, **fields: Unpack[EventFields]) -> Event:
        """The event with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    def public(self) -> dict[str, Any]:
        """The event as the API shows it."""
        return self.model_dump(mode="json", exclude={"epoch"})


class HeadFields(TypedDict, total=False):
    """Fields of a head that a commit replaces, each with its type."""

    state: Literal["live", "erasing"]
    sequence: int
    last_occurred_at: datetime | None
    last_removal_sequence: int
    last_formed_sequence: int
    consolidated_sequence: int
    due_at: datetime | None
    settled_at: datetime | None
    run_task_id: str | None
    fresh_count: int
    pending_count: int
    pending_tasks: int
    pending_operations: list[str]
    counts: dict[str, int]
    lexical_documents: int
    lexical_length: float
    slots: str | None
    redactions: int
    messages_backfilled: bool
    backfill_position: tuple[int, str] | None
    marks: int
    snapshot_due: int
    expires_at: datetime | None
    commit_id: str | None
    kept_bytes: int | None
    unformed: dict[str, list[str]]


class Head(DeferredModel):
    """A document of each owner: the log's end, and facts that save reading the log.

    A missing head means an unknown user.

    Attributes:
        consolidated_sequence: The last event that consolidation has handled.
        due_at: When the next run is due; None means not before the next write.
        settled_at: The moment up to which consolidation has handled the memories.
        run_task_id: Task of the run that was begun last, until that run ends well.
        fresh_count: Memories made since the last run was begun.
        pending_count: Open conflicts.
        pending_tasks: Tasks that are not finished, so that the sweep finds them without a scan.
        slots: Which slots were ever filled (`domain/truth/slots.py`). None means unknown: any slot
            may have been filled.
        redactions: Grows with each commit that redacts events. So a snapshot that was folded before
            such a commit is never written after it.
        messages_backfilled: Whether the messages of all the owner's conversations are memories, or
            never will be. Conversations of earlier versions had no such memories.
        backfill_position: Sequence and id of the conversation up to which the backfill is done.
        marks: Grows with each commit that sets fields of memories beside the log, since no event
            records these.
        snapshot_due: The sequence at which the next snapshot is due.
        expires_at: When the rest of an erased user may be removed. Any commit makes the head an
            ordinary head again.
        commit_id: The commit that wrote this head. A commit without events leaves no marker, so
            this id proves that it was applied.
        kept_bytes: Bytes that all memories and their old versions count (`stored_bytes`), whatever
            their status. None means not counted, as in heads of earlier versions.
        unformed: For the id of each expected cell, the messages that it will be formed of. They
            belong to no cell until then, whatever is stored of them.

    """

    epoch: str
    state: Literal["live", "erasing"] = "live"
    sequence: int = 0
    last_occurred_at: datetime | None = None
    last_removal_sequence: int = 0
    last_formed_sequence: int = 0
    consolidated_sequence: int = 0
    due_at: datetime | None = None
    settled_at: datetime | None = None
    run_task_id: str | None = None
    fresh_count: int = 0
    pending_count: int = 0
    pending_tasks: int = 0
    pending_operations: list[str] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)
    lexical_documents: int = 0
    lexical_length: float = 0.0
    slots: str | None = None
    redactions: int = 0
    messages_backfilled: bool = False
    backfill_position: tuple[int, str] | None = None
    marks: int = 0
    snapshot_due: int = EVENTS_A_SNAPSHOT
    expires_at: datetime | None = None
    commit_id: str | None = None
    kept_bytes: int | None = None
    unformed: dict[str, list[str]] = Field(default_factory=dict)

    def changed(self, **fields: Unpack[HeadFields]) -> Head:
        """The head with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    @property
    def unformed_messages(self) -> dict[str, str]:
        """The ids of unformed messages, each with its expected cell."""
        return {name: cell_id for cell_id, names in self.unformed.items() for name in names}


def text_of_value(value: Any) -> str | None:
    """A value as text: a text as it is, any other value as JSON.

    The text is cut at `MAX_CONTENT_BYTES`. No value gives None.
    """
    if value is None:
        return None
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text_within(text, MAX_CONTENT_BYTES)


def text_within(text: str, most: int) -> str:
    """The text, or as much of its beginning as the limit allows.

    Args:
        text: Any text.
        most: Limit in bytes of UTF-8.

    """
    return text.encode()[:most].decode(errors="ignore")
