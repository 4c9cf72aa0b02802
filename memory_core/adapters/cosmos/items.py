"""Documents as Cosmos items: writing, reading back, and the size limit of a batch.

Note: the fields of memories and versions are at the top of the item, so that queries can filter by
them. The body of every other kind is kept whole under `body`, so that no name in it can clash with
a name of the item's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime, timezone
from typing import Any, Final

import numpy as np
import orjson
from pydantic import ValidationError

from memory_core.domain.archival import due_columns
from memory_core.domain.errors import EmbeddingMismatch, TooLarge, damaged_memory
from memory_core.domain.fading import fades, halvings, shrinkable_length
from memory_core.domain.memory import INTERNAL_FIELDS, Head, Lexical, Memory, Vector
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.statements.worth import worth_factor
from memory_core.domain.truth.slots import folded
from memory_core.ports import Batch, Document, Mark, Write

DEPENDENCY: Final = "long_term"
HEAD_ID: Final = "head"
MEMORY_KINDS: Final = frozenset({"memory", "version"})
MEMORY_FIELDS: Final = tuple(name for name in Memory.model_fields if name != "embedding")
_NONE: Final = (
    "episode", "key", "value", "value_text", "action_type", "interaction_quality",
    "conversation_complexity", "last_used_at", "change_reason", "supersedes_id",
    "consolidation_run", "pattern_detected", "copied_from", "scene_id", "prompt_id",
    "prompt_version", "model", "archived_at", "archival_location", "worth", "last_accessed_at",
    "valid_until", "subject", "attribute", "actor", "correlation_id", "agent_id", "session_id",
    "cell_id", "next_id",
)  # fmt: skip
_EMPTY: Final = (
    "atomic_facts", "foresight", "entities", "keywords", "semantic_queries", "follow_up_potential",
    "links", "source_ids", "consolidated_into_ids", "conflict_ids", "told_at",
)  # fmt: skip
OMITTED: Final[Mapping[str, Any]] = (
    dict.fromkeys(_NONE)
    | {name: [] for name in _EMPTY}
    | {
        "metadata": {},
        "conflict_state": "none",
        "pinned": False,
        "confidence": 1.0,
        "version": 1,
        "source": "conversation",
    }
)
"""Default values that an item leaves out.

No query distinguishes them from a missing field. A message has 38 of them, most of its text.
"""
_LEXICAL = {name: value for name, value in Lexical().model_dump(mode="json").items() if not value}
"""Empty values of the analysed text that an item leaves out."""
MAX_DOCUMENTS = 100
MAX_BATCH_BYTES = 1_800_000
"""The most bytes of bodies and vectors in a batch.

The service's limit is 2 MiB a request; the rest is for keys and for the envelope of each operation.
"""
BYTES_PER_NUMBER = 13
"""The longest number of a vector as JSON text.

It has 5 significant digits, a sign, a point, leading zeros or an exponent, and a comma.
"""

Item = dict[str, Any]


def partition_of(owner: Owner) -> str:
    """The partition key of an owner, from which both ids can be read."""
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in owner)


def addressed(owner: Owner, identity: str, kind: str) -> Item:
    """A new item with the common fields: id, partition key, both ids and kind.

    Args:
        owner: The owner of the item.
        identity: The id of the item.
        kind: The kind of the document.

    """
    return {
        "id": identity,
        "owner": partition_of(owner),
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "kind": kind,
    }


def items_of(
    owner: Owner, batch: Batch, now: datetime, dimensions: int
) -> list[tuple[Write, Item]]:
    """The batch's writes with their items, events first.

    Args:
        owner: The owner of the batch.
        batch: The batch.
        now: The present moment.
        dimensions: The length of the container's vectors.

    Raises:
        TooLarge: The batch is over the limits, before any request is sent.
        EmbeddingMismatch: A vector has another length.

    """
    writes = [
        Write("create", Document(event.id, "event", event.model_dump(mode="json")))
        for event in batch.events
    ]
    writes += batch.writes
    if (documents := len(writes) + len(patches_of(batch)) + 1) > MAX_DOCUMENTS:
        raise TooLarge(
            f"one commit holds at most {MAX_DOCUMENTS} documents; this one has {documents}"
        )
    size = len(batch.head.model_dump_json())
    for write in writes:
        check_vector(write.document.vector, dimensions)
        if write.mode != "delete":
            size += len(orjson.dumps(write.document.body))
            size += (
                0
                if write.document.vector is None
                else write.document.vector.size * BYTES_PER_NUMBER
            )
    for mark in patches_of(batch).values():
        check_vector(mark.embedding, dimensions)
        size += len(orjson.dumps(mark.fields))
        size += (
            0
            if mark.embedding is None
            else mark.embedding.size * BYTES_PER_NUMBER + len(mark.states)
        )
    if size > MAX_BATCH_BYTES:
        raise TooLarge(f"one commit holds at most {MAX_BATCH_BYTES} bytes; this one has {size}")
    unformed = batch.head.unformed_messages
    return [
        (
            write,
            {}
            if write.mode == "delete"
            else _expecting(item_of(owner, write.document, now), unformed),
        )
        for write in writes
    ]


def patches_of(batch: Batch) -> dict[str, Mark]:
    """The marks that must be written.

    Marks of a cell that the message was already written with are left out.
    """
    return {name: mark for name, mark in batch.marks.items() if not mark.is_expected}


def _expecting(item: Item, unformed: Mapping[str, str]) -> Item:
    """An item with the cell that it is expected to belong to.

    Once the head no longer names it as unformed, it belongs to that cell without another write.
    """
    cell_id = unformed.get(item["id"]) if item["kind"] == "memory" else None
    return item if cell_id is None else item | {"cell_id": cell_id}


def belonging(items: Iterable[Item], head: Head | None) -> list[Item]:
    """Items as a head describes them: without a cell for unformed messages.

    Args:
        items: The items as they are stored.
        head: The head; None changes no item.

    """
    unformed = {} if head is None else head.unformed_messages
    return [
        {name: value for name, value in item.items() if name != "cell_id"}
        if item["id"] in unformed
        else item
        for item in items
    ]


def check_vector(vector: Vector | None, dimensions: int) -> None:
    """Check that a vector has the container's length.

    Args:
        vector: The vector; None passes.
        dimensions: The length of the container's vectors.

    Raises:
        EmbeddingMismatch: The length differs; the message has both numbers.

    """
    if vector is not None and vector.shape != (dimensions,):
        raise EmbeddingMismatch(
            DEPENDENCY,
            f"a vector of shape {vector.shape} came to a store that was opened for {dimensions} "
            "dimensions",
        )


def item_of(owner: Owner, document: Document, now: datetime) -> Item:
    """A document as an item.

    Args:
        owner: The owner of the document.
        document: The document.
        now: The present moment, from which the time to live is counted.

    Raises:
        ValueError: A memory has an expiry; its end is a status, not a moment.

    """
    body = document.body
    item = addressed(owner, document.id, document.kind)
    item["sequence"] = body.get("sequence", 0)
    if document.kind not in MEMORY_KINDS:
        item["body"] = body
        if document.kind == "conflict":
            item["status"] = body["status"]
        if document.kind == "audit":
            # Two paths that every container indexes already, so that one of an earlier version
            # serves as it is.
            item["type"] = body["action"]
            if "user_id" in body["target"]:
                item["key"] = body["target"]["user_id"]
        if document.kind == "accesses" and body["due_s"] is not None:
            item["due_s"] = body["due_s"]
        if body.get("epoch"):
            item["epoch"] = body["epoch"]
        if document.kind == "event":
            item.update(type=body["memory_type"], memory_id=body["memory_id"])
            item["event_at"] = datetime.fromisoformat(body["occurred_at"]).timestamp()
        if document.expires_at is not None:
            # Rounded down: the service may drop it a moment before our clock says so, but never
            # keeps its id taken after that.
            item["ttl"] = max(1, int((document.expires_at - now).total_seconds()))
            item["expires_at"] = document.expires_at.timestamp()
        if document.vector is not None:
            item["embedding"] = numbers(document.vector)
        return item
    if document.expires_at is not None:
        raise ValueError(f"{document.id}: a memory does not expire")
    item.update(
        {
            name: body[name]
            for name in MEMORY_FIELDS
            if name in body and name not in item and not _is_omitted(name, body[name])
        }
    )
    if isinstance(lexical := body.get("lexical"), dict):
        item["lexical"] = {
            name: value
            for name, value in lexical.items()
            if name not in _LEXICAL or value != _LEXICAL[name]
        }
    item.update(_compared(body))
    if document.kind == "memory":
        item.update(due_columns(body))
    if document.vector is not None:
        item["embedding"] = numbers(document.vector)
    return item


def document_of(item: Mapping[str, Any], ours: VectorKind | None = None) -> Document:
    """The document in an item, with its vector where it was read.

    Args:
        item: The item.
        ours: Leaves out a vector of another kind; None keeps every vector.

    """
    kind, vector = item["kind"], vector_of(item, ours)
    if kind in MEMORY_KINDS:
        return Document(item["id"], kind, memory_body(item), vector)
    expires_at = item.get("expires_at")
    moment = None if expires_at is None else datetime.fromtimestamp(expires_at, timezone.utc)
    return Document(item["id"], kind, item["body"], vector, expires_at=moment, tag=item["_etag"])


def epoch_of(item: Mapping[str, Any]) -> str | None:
    """The epoch that an item names, whole or as pages show it."""
    epoch: str | None = item["epoch"] if item["kind"] in MEMORY_KINDS else item["body"].get("epoch")
    return epoch or None


def memory_of(item: Mapping[str, Any], ours: VectorKind | None = None) -> Memory:
    """The memory in an item, with its vector where it was read.

    Args:
        item: The item.
        ours: Leaves out a vector of another kind; None keeps every vector.

    Raises:
        Damaged: The memory cannot be parsed.

    """
    try:
        memory = Memory.model_validate(memory_body(item))
    except ValidationError as error:
        raise damaged_memory(item["id"]) from error
    memory.embedding = vector_of(item, ours)
    return memory


def vector_of(item: Mapping[str, Any], ours: VectorKind | None) -> Vector | None:
    """The vector in an item.

    Args:
        item: The item.
        ours: The kind of vector that it must be; None allows every vector.

    Returns:
        None where no vector was read, or where it cannot be compared with `ours`.

    """
    numbered = item.get("embedding")
    if numbered is None or (ours is not None and not ours.fits(item, len(numbered))):
        return None
    return np.array(numbered, dtype=np.float32)


def memory_body(item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a memory or version in an item, without the vector."""
    body: dict[str, Any] = {}
    for name in MEMORY_FIELDS:
        if name == "lexical" and isinstance(item.get(name), dict):
            body[name] = {**_LEXICAL, **item[name]}
        elif name in item:
            body[name] = item[name]
        elif name in OMITTED:
            value = OMITTED[name]
            body[name] = copy(value) if isinstance(value, list | dict) else value
    return body


def _is_omitted(name: str, value: Any) -> bool:
    return name in OMITTED and bool(value == OMITTED[name])


def serialized_memory_of(item: Mapping[str, Any]) -> SerializedMemory:
    """A memory to be shown, straight from the item's fields without parsing them."""
    body = memory_body(item)
    public = {name: value for name, value in body.items() if name not in INTERNAL_FIELDS}
    rest = {name: value for name, value in body.items() if name in INTERNAL_FIELDS}
    return SerializedMemory(orjson.dumps(public), orjson.dumps(rest), memory_id=item["id"])


def is_expired(item: Mapping[str, Any], now: datetime) -> bool:
    """Whether an item has expired by this process's clock, although the service still has it.

    Args:
        item: The item.
        now: The present moment.

    """
    expires_at = item.get("expires_at")
    return expires_at is not None and bool(expires_at <= now.timestamp())


def numbers(vector: Vector) -> Sequence[float]:
    """A vector as numbers of 5 significant digits.

    Its direction is off by 1e-5, and its JSON is two thirds as long as with 9 digits.
    """
    return [float(f"{value:.5g}") for value in vector.tolist()]


def _compared(body: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by which ranges and slots are compared.

    Unknown values are left out: an item without a time is neither before nor after another. The
    fields for fading are left out for memories that do not fade.
    """
    made: dict[str, Any] = {}
    for name, field in (
        ("event_at", "event_timestamp"),
        ("valid_from_s", "valid_from"),
        ("valid_until_s", "valid_until"),
    ):
        if body.get(field) is not None:
            made[name] = datetime.fromisoformat(body[field]).timestamp()
    if body.get("subject") is not None and body.get("attribute") is not None:
        made["slot_subject"], made["slot_attribute"] = (
            folded(body["subject"]),
            folded(body["attribute"]),
        )
    accessed_at = body["last_accessed_at"]
    if body["status"] != "decayed" or (
        accessed_at
        and datetime.fromisoformat(accessed_at) >= datetime.fromisoformat(body["updated_at"])
    ):
        # Of a decayed memory only an access since: `recalled` finds it by that.
        made["idle_since_s"] = datetime.fromisoformat(accessed_at or body["created_at"]).timestamp()
    if body["status"] == "active" and fades(
        body["type"], pinned=body["pinned"], in_slot="slot_subject" in made, worth=body.get("worth")
    ):
        made["fades"] = True
        made["created_s"] = datetime.fromisoformat(body["created_at"]).timestamp()
        made["halvings"], made["characters"] = (
            halvings(body["importance_base"]),
            shrinkable_length(body),
        )
        if (factor := worth_factor(body.get("worth"))) != 1.0:
            made["worth_factor"] = factor
    return made
