"""The memory: its model, event and head, and which status may follow which.

Pure: no clock and no ids of its own. `lexical`, `search_text`, `embedding` and the bookkeeping
fields never leave the product (`Memory.public`); they are outside the event log as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Literal, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt
import orjson
from pydantic import ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import Conflict
from memory_core.domain.scope import Owner, Timestamp

Vector = npt.NDArray[np.float32]
MAX_CONTENT_BYTES = 32 * 1024
MAX_METADATA_BYTES = 8 * 1024
MAX_VALUE_BYTES = 256 * 1024
EVENTS_A_SNAPSHOT = 1000
"""After so many events the log is folded and kept, at the earliest."""


class MemoryType(StrEnum):
    """Episodic = what happened, semantic = what is held true, procedural = preferences and
    how-to by key.
    """

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    """The stage of a memory's life; `lifecycle` has the table of moves."""

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
"""For what a memory is worth keeping longer than others, or not as long; `worth.HALF_LIVES`
says how much.
"""

GivenWorth = Literal[
    "asked_to_keep", "identity", "vital", "health", "agreement", "standing_wish", "secret_place",
    "small_talk", "none"
]  # fmt: skip
"""The same as a model answers it, with a word for nothing special."""


class Outcome(StrEnum):
    """What a save did."""

    CREATED = "created"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    KEPT_BOTH = "kept_both"
    REINFORCED = "reinforced"
    UPSERTED = "upserted"
    REJECTED = "rejected"


class OnConflict(StrEnum):
    """What a save does with a memory that contradicts it."""

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

    superseded_by: what has replaced it. lasting: it has a memory, and fills no slot.
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
    """An edge to an older memory; kept on the newer one only."""

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
    """The analysed text that relevance weighs: token → count.

    What the memory says is counted apart from what surrounds it.
    `turn` is the memory's ordinal among the episodic memories of its session, `None` for any other
    memory. `order` says where in a long text the terms of `own` stand (`index_terms`), empty for a
    text of a single passage. `says_i` is whether the speaker says something of themselves, `None`
    where that was not examined; `states` those of its tokens (`vectors`), empty where they
    are not kept.
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
    """One memory. Field groups and meanings: docs/model.md."""

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
        """Whose it is."""
        return Owner(self.app_id, self.user_id)

    @property
    def etag(self) -> str:
        """The HTTP ETag `"<epoch>.<revision>"`: moves with events only, so internal patches never
        surprise a client.
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
        """The memory as the API shows it: JSON-ready, without internals, with its vector only
        when asked for.
        """
        fields = self.model_dump(mode="json", exclude=set(INTERNAL_FIELDS))
        if include_embedding:
            fields["embedding"] = (
                None if self.embedding is None else [round(float(x), 9) for x in self.embedding]
            )
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
"""What a memory, or an old version of one, counts beside its texts: for its ids and times, its
vector, the index and its event.
"""
_COUNTED_FIELDS: Final = {
    "content", "episode", "value", "value_text", "atomic_facts", "foresight", "entities",
    "metadata", "tags", "keywords", "semantic_queries"
}  # fmt: skip


def stored_bytes(memory: Memory) -> int:
    """How many bytes a memory, or an old version of one, counts as it is stored:
    its texts as JSON in UTF-8, and `BYTES_EACH`.

    Of fields that no event tells of, nothing counts, so that all commits together add up to what a
    count of the store gives.
    """
    return BYTES_EACH + len(memory.model_dump_json(include=_COUNTED_FIELDS).encode())


def fields_of(memory: Memory, names: Iterable[str]) -> MemoryFields:
    """The fields of these names, as the memory has them.

    Args:
        memory: The memory to read.
        names: Names of fields.

    """
    return cast(MemoryFields, {name: getattr(memory, name) for name in names})


def public_part(body: Mapping[str, Any]) -> dict[str, Any]:
    """Of a memory's document, what `Memory.public` shows."""
    return {name: value for name, value in body.items() if name not in INTERNAL_FIELDS}


class EventFields(TypedDict, total=False):
    """Fields of an event that a redaction replaces."""

    agent_id: str | None
    session_id: str | None
    before: dict[str, Any]
    after: dict[str, Any]
    metadata: dict[str, Any]
    redacted: bool


class Event(DeferredModel):
    """One change of one memory. `before` and `after` hold only the fields that changed,
    never embeddings.

    redacted: the memory was forgotten for good; what the event said is gone, its place in the log
    stays. epoch: the owner's, as it was when this was written; bookkeeping, never shown.
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
    """One per owner: the log's end, and what readers need without reading it.

    Missing = an unknown user. slots: which slots were ever filled (`domain/truth/slots.py`); None =
    not known, any may have been. pending_count: its open conflicts. pending_tasks: how many tasks
    are not finished, so that the sweep finds them without a scan. redactions: grows with each
    commit that redacts events, so that nothing which was folded before it is written after it.
    snapshot_due: the sequence at which the next snapshot is due. expires_at: when what is left of
    an erased user may go; any commit makes it a head like others. consolidated_sequence,
    settled_at: up to which event, and up to which moment, consolidation has been. due_at: when the
    next run is due; None = not before the next write. run_task_id: the task of the run that was
    begun last, until it ends well. fresh_count: memories made since the last was begun.
    messages_backfilled: whether the messages of all its conversations are memories, or never will
    be; those of earlier versions had none. backfill_position: sequence and id of the conversation
    up to which that is done. marks: grows with each commit that sets fields of memories beside the
    log, since no event tells of these. commit_id: the commit that wrote this head; it tells one
    without events, which leaves no marker, that it was applied. kept_bytes: what all its memories
    and their old versions count (`stored_bytes`), whatever their status; None = not counted, as in
    heads of earlier versions. unformed: by the id of a cell that is expected, the messages that it
    will be formed of; they belong to no cell until then, whatever is stored of them.
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
        """The ids of unformed messages, each with the cell that it is expected to belong to."""
        return {name: cell_id for cell_id, names in self.unformed.items() for name in names}


# The life of a memory: which status may follow which, and for which reasons.
#
# A move that the table does not list is a 409 that names the moves it does list. `active` may
# follow `active` (a caller confirms what already is so); no other status follows itself.


_MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.ACTIVE: frozenset(Status),
        Status.UPDATED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.SUPERSEDED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.DECAYED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.COMPRESSED: frozenset(
            {Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED, Status.DELETED}
        ),
        # Back as it was: a superseded truth that came back as an active one would be a
        # second truth.
        Status.ARCHIVED: frozenset(Status) - {Status.ARCHIVED},
        Status.DELETED: frozenset({Status.ACTIVE}),
    }
)

REASONS: Mapping[Status, frozenset[str]] = MappingProxyType(
    {
        Status.ACTIVE: frozenset(
            {"created", "consolidated", "restored", "recalled", "manual_update"}
        ),
        Status.UPDATED: frozenset({"consolidated"}),
        Status.SUPERSEDED: frozenset({"new_version", "contradicted"}),
        Status.DECAYED: frozenset({"importance_decay"}),
        Status.COMPRESSED: frozenset({"compressed"}),
        Status.ARCHIVED: frozenset({"age_decay"}),
        Status.DELETED: frozenset(
            {
                "contradicted",
                "consolidated",
                "cleared",
                "forgotten",
                "manual_delete",
                "cell_deleted",
            }
        ),
    }
)
"""Why a memory has its status: the `status_reason` values that the product itself writes."""

FOUND_BY_DEFAULT = frozenset({Status.ACTIVE, Status.COMPRESSED})
"""What a read shows when it asks for no status."""

BY_HAND = (Status.ACTIVE, Status.DELETED)
"""What a caller may set; every other status is the product's own doing."""

TRUE_ONCE = frozenset({"contradicted", "consolidated", "new_version"})
"""Reasons that end a truth without taking it back: a read at a moment inside its validity still
finds such a memory.
"""


def back_in_use(now: datetime) -> MemoryFields:
    """The fields of a memory that had faded and was found, or told again."""
    return {"status": Status.ACTIVE, "status_reason": "recalled", "updated_at": now}


def allowed(current: Status) -> frozenset[Status]:
    """The statuses that may follow `current`."""
    return _MOVES[current]


def check_move(current: Status, wanted: Status) -> None:
    """Nothing when `wanted` may follow `current`; otherwise Conflict, whose detail names the
    statuses that may.
    """
    if wanted in _MOVES[current]:
        return
    choices = ", ".join(status.value for status in Status if status in _MOVES[current])
    raise Conflict(
        f"a memory that is {current.value} can't become {wanted.value}; allowed: {choices}"
    )


def text_of_value(value: Any) -> str | None:
    """Text as it is, anything else as JSON; None for no value. Of a long one the beginning,
    as much as a content holds.
    """
    if value is None:
        return None
    return text_within(
        value if isinstance(value, str) else orjson.dumps(value).decode(), MAX_CONTENT_BYTES
    )


def text_within(text: str, most: int) -> str:
    """The text, or the beginning of it that takes at most so many bytes of UTF-8."""
    encoded = text.encode()
    return text if len(encoded) <= most else encoded[:most].decode(errors="ignore")
