"""Requests about memories: save, retrieve, list, update, and the context of an agent.

The owner is not part of these models. `app_id` comes from the key, and the entry point checks
`user_id`. Rules across fields are in these models, so that the library and HTTP refuse the same
requests.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema, model_validator

from memory_core.domain.conversation import TaskKind, TaskStatus
from memory_core.domain.errors import is_plain_name
from memory_core.domain.fields import (
    DEFAULT_MAX_TOKENS,
    Ahead,
    CallbackUrl,
    Content,
    Cursor,
    Fraction,
    Input,
    Label,
    Labels,
    Limit,
    Metadata,
    Name,
    Query,
    SlotName,
    TimeZone,
    Tokens,
    Value,
    check_period,
    check_value_size,
    no_nul,
    require_fields,
    without_doubles,
)
from memory_core.domain.memory import MAX_METADATA_BYTES, MemoryType, OnConflict, Status
from memory_core.domain.metadata_filter import MetadataFilter
from memory_core.domain.requests.chat_input import ChatMessages, Items, ShownMessages
from memory_core.domain.text.timestamps import EventTimestamp, Timestamp
from memory_core.domain.transitions import BY_HAND

RECIPE_WEIGHTS: dict[str, frozenset[str]] = {
    "composite": frozenset({"recency", "importance"}),
    "balanced": frozenset({"relevance", "importance"}),
    "weighted": frozenset({"relevance", "recency", "frequency", "confidence"}),
    "linear": frozenset({"relevance", "recency", "importance"}),
}


NEVER_CLEARED = (
    "content",
    "tags",
    "entities",
    "foresight",
    "metadata",
    "confidence",
    "pinned",
    "valid_from",
)
"""Fields that a memory always has: an edit may change them, but not to null."""
_SAVE_RULES: list[Any] = [
    {
        "if": {"required": ["type"], "properties": {"type": {"const": "procedural"}}},
        "then": require_fields("key"),
    },
    {"anyOf": [require_fields("content"), require_fields("key", "value")]},
    {
        "if": {"not": {"required": ["type"], "properties": {"type": {"const": "procedural"}}}},
        "then": {"properties": {"value": {"maxLength": MAX_METADATA_BYTES - 2}}},
    },
    {"if": require_fields("subject"), "then": require_fields("attribute")},
    {"if": require_fields("attribute"), "then": require_fields("subject")},
]
"""The checks of `SaveInput` across its fields, as JSON Schema.

The rules below are those of other inputs.
"""
_RETRIEVE_RULES: list[Any] = [
    {"if": require_fields("cursor"), "then": {"properties": {"mode": {"const": "fast"}}}},
    {
        "if": require_fields("max_tokens"),
        "then": {"required": ["mode"], "properties": {"mode": {"const": "reconstruct"}}},
    },
    *(
        {
            "if": {
                "properties": {"recipe": {"const": recipe}},
                **({} if recipe == "composite" else {"required": ["recipe"]}),
            },
            "then": {"properties": {"weights": {"propertyNames": {"enum": sorted(weights)}}}},
        }
        for recipe, weights in RECIPE_WEIGHTS.items()
    ),
]


def _update_rules(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [
        {"required": [name]} for name in schema["properties"] if name != "change_reason"
    ]
    for name in NEVER_CLEARED:
        field = schema["properties"][name]
        (kind,) = (branch for branch in field.pop("anyOf") if branch != {"type": "null"})
        schema["properties"][name] = {**kind, "title": field["title"]}


class SaveInput(Input):
    """A memory to save. Procedural needs `key`; the other types need `content`.

    A procedural memory may have a `value` in place of `content`.
    """

    model_config = ConfigDict(json_schema_extra={"allOf": _SAVE_RULES})

    type: MemoryType = MemoryType.EPISODIC
    content: Content | None = None
    session_id: Name | None = None
    agent_id: Name | None = None
    category: Label | None = None
    subject: SlotName | None = None
    attribute: SlotName | None = None
    key: Label | None = None
    value: Value = None
    actor: Label | None = None
    action_type: Label | None = None
    source: Label = "api"
    entities: Labels = Field(default_factory=list)
    foresight: Annotated[list[Ahead], Field(max_length=20)] = Field(default_factory=list)
    event_timestamp: EventTimestamp | None = None
    valid_from: Timestamp | None = None
    valid_until: Timestamp | None = None
    tags: Labels = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    importance: Fraction | None = None
    confidence: Fraction = 1.0
    pinned: bool = False
    searchable: bool = True
    on_conflict: OnConflict = OnConflict.AUTO

    @model_validator(mode="after")
    def _value_fits_its_type(self) -> SaveInput:
        if self.type is not MemoryType.PROCEDURAL:
            check_value_size(self.value)
        return self

    @model_validator(mode="after")
    def _fits_its_type(self) -> SaveInput:
        if self.type is MemoryType.PROCEDURAL and self.key is None:
            raise ValueError("key: a procedural memory needs one")
        if self.content is None and not (self.key is not None and self.value is not None):
            raise ValueError("content: is required, unless key and value are given")
        if (self.subject is None) != (self.attribute is None):
            missing = "attribute" if self.attribute is None else "subject"
            raise ValueError(
                f"{missing}: subject and attribute name a slot together; give both or neither"
            )
        if self.valid_from and self.valid_until and self.valid_until <= self.valid_from:
            raise ValueError("valid_until: must be later than valid_from")
        return self


class RetrieveInput(Input):
    """A query, and which memories may answer it.

    Attributes:
        limit: Number of results; 10 unless the settings say otherwise.
        similarity_threshold: Relevance that each result must reach, before boosts.
        answer_threshold: Relevance that the best result must reach, before boosts.
        score_threshold: Least score of the recipe.
        time_zone: Zone of the days that the query means and the answer shows; None: the user's.
        include_decayed: Whether faded memories are found; None: as the settings say.

    """

    model_config = ConfigDict(json_schema_extra={"allOf": _RETRIEVE_RULES})

    query: Query
    limit: Limit | None = None
    session_id: Name | None = None
    exclude_session_id: Name | None = None
    agent_id: Name | None = None
    types: Annotated[list[MemoryType], Field(max_length=3)] | None = None
    categories: Labels | None = None
    tags: Labels | None = None
    metadata: MetadataFilter | None = None
    mode: Literal["fast", "reconstruct"] = "fast"
    max_tokens: Tokens | None = None
    recipe: Literal["composite", "balanced", "weighted", "linear"] = "composite"
    weights: dict[str, Fraction] | None = None
    similarity_threshold: Fraction | None = None
    answer_threshold: Fraction | None = None
    score_threshold: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    at: Timestamp | None = None
    time_zone: TimeZone | None = None
    include_archived: bool = False
    include_decayed: bool | None = None
    explain: bool = False
    cursor: Annotated[Cursor, Field(max_length=4000)] | None = None

    def asking(self, query: str) -> RetrieveInput:
        """The same request with another query; it is not validated."""
        return self.model_copy(update={"query": query})

    def limited(self, limit: int) -> RetrieveInput:
        """The same request for so many results; the limit is not validated."""
        return self.model_copy(update={"limit": limit})

    @model_validator(mode="after")
    def _weights_of_the_recipe(self) -> RetrieveInput:
        known = RECIPE_WEIGHTS[self.recipe]
        for name in self.weights or {}:
            if name not in known:
                field = f"weights.{name}" if is_plain_name(name) else "weights"
                raise ValueError(
                    f"{field}: the recipe {self.recipe} has the weights {', '.join(sorted(known))}"
                )
        return self

    @model_validator(mode="after")
    def _a_context_has_no_pages(self) -> RetrieveInput:
        if self.cursor is not None and self.mode == "reconstruct":
            raise ValueError("cursor: is for the mode fast; a context is one whole")
        return self

    @model_validator(mode="after")
    def _only_a_context_has_a_length(self) -> RetrieveInput:
        if self.max_tokens is not None and self.mode != "reconstruct":
            raise ValueError(
                "max_tokens: is for the mode reconstruct, which answers with a context"
            )
        return self


class ListInput(Input):
    """Which memories to list, newest first unless `order` is asc.

    `status` is a single status or `all`. Without it, active and compressed memories are listed.
    """

    status: Status | Literal["all"] | None = None
    type: MemoryType | None = None
    category: Label | None = None
    session_id: Name | None = None
    agent_id: Name | None = None
    tag: Label | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    at: Timestamp | None = None
    known_at: Timestamp | None = None
    metadata: MetadataFilter | None = None
    order: Literal["asc", "desc"] = "desc"
    cursor: Cursor | None = None
    limit: Limit = 20

    @model_validator(mode="after")
    def _period_in_order(self) -> ListInput:
        check_period(self.since, self.until)
        return self


class UpdateInput(Input):
    """A new version of a semantic or procedural memory.

    It has the content fields to change. All other fields stay.
    """

    model_config = ConfigDict(json_schema_extra=_update_rules)

    content: Content | None = None
    category: Label | None = None
    subject: SlotName | None = None
    attribute: SlotName | None = None
    value: Value = None
    entities: Labels | None = None
    foresight: Annotated[list[Ahead], Field(max_length=20)] | None = None
    valid_from: Timestamp | None = None
    valid_until: Timestamp | None = None
    tags: Labels | None = None
    metadata: Metadata | None = None
    importance: Fraction | None = None
    confidence: Fraction | None = None
    pinned: bool | None = None
    change_reason: Label | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateInput:
        if not self.model_fields_set - {"change_reason"}:
            raise ValueError("content: nothing to change was given")
        return self


class StatusInput(Input):
    """A status set by hand: `deleted`, or `active`, which restores a memory.

    `active` restores a memory from any status. Any other status is a Conflict.
    """

    status: Annotated[
        Status, WithJsonSchema({"type": "string", "enum": [status.value for status in BY_HAND]})
    ]
    reason: Label = "manual_update"


class ClearInput(Input):
    """Clear a session, or only its memories of a type."""

    session_id: Name
    type: MemoryType | None = None


class ConverseInput(Input):
    """A conversation to be remembered.

    Attributes:
        session_title: The session's name, such as the title of a chat; the latest title counts.
        time_zone: The speakers' time zone; None: the user's.
        callback_url: Where to report the end of the task.

    """

    session_id: Name | None = None
    session_title: Label | None = None
    agent_id: Name | None = None
    messages: ChatMessages
    time_zone: TimeZone | None = None
    callback_url: CallbackUrl | None = None

    @model_validator(mode="after")
    def _names_the_session(self) -> ConverseInput:
        if self.session_title is not None and self.session_id is None:
            raise ValueError("session_title: needs a session_id, whose title it is")
        return self


MOST_IDS = 100
_SOME_NAMED: list[Any] = [
    {
        "anyOf": [
            {"required": [name], "properties": {name: {"minItems": 1}}} for name in ("ids", "keys")
        ]
    }
]


class NamedInput(Input):
    """Up to 100 memories by their ids, and procedures by their keys too, each once."""

    model_config = ConfigDict(json_schema_extra={"allOf": _SOME_NAMED})

    ids: Annotated[list[Name], Field(max_length=MOST_IDS), AfterValidator(without_doubles)] = Field(
        default_factory=list
    )
    keys: Annotated[list[Label], Field(max_length=MOST_IDS), AfterValidator(without_doubles)] = (
        Field(default_factory=list)
    )

    @model_validator(mode="after")
    def _names_some(self) -> NamedInput:
        if not self.ids and not self.keys:
            raise ValueError("ids: which memories? give ids, keys or both")
        if len(self.ids) + len(self.keys) > MOST_IDS:
            raise ValueError(f"ids: may be at most {MOST_IDS} together with keys")
        return self


class TagsInput(Input):
    """Which tags to list, in order of their characters.

    They are the tags that begin with `prefix`, or all tags without it.
    """

    prefix: Annotated[str, Field(max_length=200), AfterValidator(no_nul)] = ""
    cursor: Annotated[Cursor, Field(max_length=2000)] | None = None
    limit: Limit = 100


class AppendInput(Input):
    """Items to append to a session.

    Attributes:
        time_zone: The speakers' time zone, for forming.
        form: Whether memories are formed of the items too.

    """

    messages: Items
    agent_id: Name | None = None
    time_zone: TimeZone | None = None
    form: bool = False


class TasksInput(Input):
    """Which tasks to list, newest first."""

    status: TaskStatus | None = None
    kind: TaskKind | None = None
    cursor: Cursor | None = None
    limit: Limit = 20


class AcrossInput(Input):
    """Where to continue a list over all users of an app, and how many.

    A cursor may hold two names in any script.
    """

    cursor: Annotated[Cursor, Field(max_length=2000)] | None = None
    limit: Limit = 20


class CopyInput(Input):
    """Copy a memory to another agent of the same user."""

    to_agent_id: Name


# The context for an agent's next turn: the request and its parts.


PartKind = Literal["instructions", "profile", "foresight", "memories", "turns"]


class ContextInput(Input):
    """The topic of an agent's turn, and the session that it is in.

    The thresholds, types, tags and include_decayed are those of a retrieve.

    Attributes:
        messages: The last few messages, which the model is shown anyway; the query is taken from
            them where none is given.
        exclude_session_id: The session whose messages the model has itself.
        parts: Parts of the context; all where none is named.
        at: The context as it was true at this moment.
        time_zone: Zone of the days that are shown; None: the user's.

    """

    query: Query | None = None
    messages: ShownMessages | None = None
    session_id: Name | None = None
    exclude_session_id: Name | None = None
    parts: Annotated[list[PartKind], Field(min_length=1, max_length=5)] | None = None
    max_tokens: Tokens = DEFAULT_MAX_TOKENS
    similarity_threshold: Fraction | None = None
    answer_threshold: Fraction | None = None
    types: Annotated[list[MemoryType], Field(max_length=3)] | None = None
    tags: Labels | None = None
    at: Timestamp | None = None
    time_zone: TimeZone | None = None
    include_decayed: bool | None = None

    def wants(self, kind: PartKind) -> bool:
        """Whether the caller wants this part."""
        return self.parts is None or kind in self.parts


@dataclass(frozen=True, slots=True)
class Part:
    """Memories of a part of a context, in the order of their numbers.

    `tokens` is the number of tokens that they take.
    """

    kind: PartKind
    ids: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """The context for an agent's turn.

    Attributes:
        context: The text; empty when no memory fits. Its numbers count through the parts' ids.
        left_out: Memories that did not fit.

    """

    context: str
    parts: tuple[Part, ...]
    left_out: tuple[Part, ...]
    degraded: tuple[str, ...] = ()

    def public(self) -> dict[str, Any]:
        """The context as the API shows it."""
        return asdict(self)
