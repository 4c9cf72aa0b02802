"""Views of memories and results: brief, full, or the requested fields.

A brief view shows all that a caller needs to go on. A brief memory leaves out fields that are null,
empty or a default, and fields that only tell how it is stored and found. Ten results of formed
episodes with three passages each take 6 KB beside their texts. In full they took 32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import orjson
from pydantic import AfterValidator, WithJsonSchema

from memory_core.domain.memory import INTERNAL_FIELDS, Memory

if TYPE_CHECKING:
    from memory_core.domain.results import Hit

View = Literal["brief", "full"]
Shape = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Turns a memory as `Memory.public` shows it into the shown fields."""
SHOWN_FIELDS: Final = tuple(name for name in Memory.model_fields if name not in INTERNAL_FIELDS)
_KEPT_AND_FOUND_BY: Final = frozenset({
    "app_id", "user_id", "conversation_id", "episode", "value_text", "atomic_facts", "keywords",
    "semantic_queries", "embedding_model", "embedding_dimensions", "importance_base",
    "importance_basis", "interaction_quality", "conversation_complexity", "follow_up_potential",
    "access_count", "last_accessed_at", "reinforcement_count", "last_used_at", "worth",
    "created_at", "updated_at", "links", "source_ids", "consolidated_into_ids", "consolidation_run",
    "pattern_detected", "scene_id", "prompt_id", "prompt_version", "model", "correlation_id",
    "archival_location",
})  # fmt: skip
_DEFAULTS: Final[Mapping[str, Any]] = {
    "source": "api", "confidence": 1.0, "pinned": False, "status_reason": "created", "version": 1,
    "conflict_state": "none",
}  # fmt: skip
_SHOWN_BRIEFLY: Final = tuple(name for name in SHOWN_FIELDS if name not in _KEPT_AND_FOUND_BY)
"""Fields that a brief view may show.

It reads only these of a memory: ten results have six hundred fields, and most are not shown.
"""
_OF_A_MESSAGE: Final = "msg_"
"""Prefix of the id of a message.

It is `domain.messages.PREFIX`, whose import would load its expressions at every cold start.
"""
LONG_BYTES: Final = 300
"""Bytes as JSON above which the answer to a save omits the text or value."""
_USUAL_TIERS: Final = frozenset({"short", "long"})


def brief(memory: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a memory in a brief view."""
    fields = {
        name: value
        for name in _SHOWN_BRIEFLY
        if (value := memory.get(name)) or (value is not None and value != [] and value != {})
    }
    for name, usual in _DEFAULTS.items():
        if fields.get(name) == usual:
            del fields[name]
    if memory.get("type") == "episodic" or memory.get("valid_from") == memory.get(
        "event_timestamp"
    ):
        fields.pop("valid_from", None)
    if memory.get("source") == "conversation":
        # what it was formed of says it in its own words
        for name in ("source", "tags", "entities"):
            fields.pop(name, None)
    if memory.get("cell_id") == memory.get("id"):
        fields.pop("cell_id", None)
    if str(memory.get("id")).startswith(_OF_A_MESSAGE):
        # the item as it was sent, which the messages of its session show
        fields.pop("value", None)
    return fields


def brief_of_saved(memory: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in a brief view of a memory that its caller has just sent.

    A long text or value is not sent back.
    """
    return {
        name: value
        for name, value in brief(memory).items()
        if name not in _SENT or len(orjson.dumps(value)) <= LONG_BYTES
    }


_SENT: Final = frozenset({"content", "value"})


def full(memory: Mapping[str, Any]) -> dict[str, Any]:
    """All fields."""
    return dict(memory)


def only(fields: tuple[str, ...]) -> Shape:
    """The shape that shows a memory's id and these fields."""
    return lambda memory: {name: memory[name] for name in ("id", *fields) if name in memory}


def shape_of(view: View, fields: tuple[str, ...] | None = None) -> Shape:
    """The shape in which a call wants memories to be shown.

    Args:
        view: Whether memories are shown briefly or fully.
        fields: The only fields to show; None for those of the view.

    """
    if fields is not None:
        return only(fields)
    return brief if view == "brief" else full


def brief_hit(hit: Hit) -> dict[str, Any]:
    """The fields of a result in a brief view.

    Fields that tell that a memory has faded or is superseded are shown only where that is so.
    """
    memory = brief(hit.serialized.fields)
    # a context tells what is ahead; of ten results it takes 0.5 KB beside its texts
    memory.pop("foresight", None)
    fields: dict[str, Any] = {
        "rank": hit.rank,
        "memory": memory,
        "score": hit.score,
        "relevance_score": hit.relevance_score,
        "passages": [
            {
                "text": passage.text,
                "actor": passage.actor,
                "at": passage.at,
                "message": passage.message,
            }
            for passage in hit.passages
        ],
    }
    if hit.tier not in _USUAL_TIERS:
        fields["tier"] = hit.tier
    if hit.age_days is not None:
        fields["age_days"] = hit.age_days
    against = {
        "stale_facts": hit.stale_facts,
        "replaced_by": hit.replaced_by,
        "disputed_by": hit.disputed_by,
    }
    fields |= {name: statements for name, statements in against.items() if statements}
    return fields


def _names(text: str) -> str:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in SHOWN_FIELDS]:
        named = (
            f"; {unknown[0]} is none" if unknown[0].isidentifier() and len(unknown[0]) <= 64 else ""
        )
        raise ValueError(f"should be fields of a memory with commas between them{named}")
    return ",".join(dict.fromkeys(names))


Fields = Annotated[
    str,
    AfterValidator(_names),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^(" + "|".join(SHOWN_FIELDS) + ")(,(" + "|".join(SHOWN_FIELDS) + "))*$",
        }
    ),
]
"""Names of a memory's fields with commas between them, as a query string has them."""
