"""Documents as rows: writing, reading, and the size limit of a batch.

Note: the columns beside `body` and `inner` are copies for WHERE and ORDER BY. These two are the
document. For memories, `body` is exactly the part that the API shows, and `inner` the rest. For all
other kinds, `body` is the whole document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final

import orjson

from memory_core.adapters.memory_index.stored_values import as_blob, as_vector, seconds
from memory_core.domain.archival import due_columns
from memory_core.domain.errors import Damaged, TooLarge, damaged_memory
from memory_core.domain.fading import fades, halvings, lengthened_by_use, shrinkable_length
from memory_core.domain.memory import INTERNAL_FIELDS, Event, public_part
from memory_core.domain.statements.worth import worth_factor
from memory_core.domain.truth.slots import folded
from memory_core.ports import Batch, Document, Mark, Write

MEMORY_KINDS: Final = frozenset({"memory", "version"})
MAX_DOCUMENTS = 100
MAX_BATCH_BYTES = 1_800_000
BYTES_PER_NUMBER = 13
"""Bytes of a number of a vector in the size of a batch.

A vector is counted as JSON text with 9 significant digits, so that every adapter has the same
limit.
"""

_MEMORY_COLUMNS = (
    "type", "status", "status_reason", "category", "session_id", "agent_id", "event_at",
    "valid_from", "valid_until", "tags", "subject", "attribute", "next_id", "epoch", "inner",
    "idle_since", "halvings", "lasts", "characters", "created_at", "ages_from", "foresees_until",
)  # fmt: skip
_EVENT_COLUMNS = ("memory_id", "event_type", "correlation_id")
_COLUMNS = (
    "app_id",
    "user_id",
    "id",
    "kind",
    "sequence",
    "change",
    "expires_at",
    *_MEMORY_COLUMNS,
    *_EVENT_COLUMNS,
    "vector",
    "body",
)
_EMPTY: Final[dict[str, Any]] = dict.fromkeys((*_MEMORY_COLUMNS, *_EVENT_COLUMNS))
READ_COLUMNS = "id, kind, body, inner, expires_at, vector"

_PARAMETERS = (*_COLUMNS, "overwrite", "now")
values_of: Final = itemgetter(*_PARAMETERS)
"""The values of `WRITE` for a row, in the order of its places.

SQLite takes values by place in a fifth less time than by name.
"""
WRITE = (
    f"INSERT INTO documents ({', '.join(_COLUMNS)}) "  # noqa: S608 - our own names
    f"VALUES ({', '.join(f'?{place}' for place in range(1, len(_COLUMNS) + 1))}) "
    "ON CONFLICT (app_id, user_id, id) DO UPDATE SET "
    + ", ".join(
        f"{name} = excluded.{name}" for name in _COLUMNS if name not in ("app_id", "user_id", "id")
    )
    + f" WHERE ?{len(_COLUMNS) + 1} OR documents.expires_at <= ?{len(_COLUMNS) + 2}"
)
"""Write a row: `overwrite` is 1 for a put and 0 for a create.

A create replaces only an expired row.
"""


def encoded(batch: Batch) -> tuple[list[tuple[Write, dict[str, Any]]], bytes]:
    """The batch's writes with their row parameters, events first, and the head's JSON.

    Raises TooLarge.
    """
    writes = [Write("create", event_document(event)) for event in batch.events]
    writes += batch.writes
    if (documents := len(writes) + len(batch.marks) + 1) > MAX_DOCUMENTS:
        raise TooLarge(
            f"one commit holds at most {MAX_DOCUMENTS} documents; this one has {documents}"
        )
    pairs = [
        (write, {} if write.mode == "delete" else parameters(write.document)) for write in writes
    ]
    head = batch.head.model_dump_json().encode()
    check_size(
        len(head)
        + sum(size_of(row) for _, row in pairs)
        + sum(map(size_of_mark, batch.marks.values()))
    )
    return pairs, head


def check_size(size: int) -> None:
    """Refuse a write that is too large for some adapter. Raises TooLarge."""
    if size > MAX_BATCH_BYTES:
        raise TooLarge(f"one commit holds at most {MAX_BATCH_BYTES} bytes; this one has {size}")


def event_document(event: Event) -> Document:
    """An event as the document that stores it."""
    return Document(event.id, "event", event.model_dump(mode="json"))


def parameters(document: Document) -> dict[str, Any]:
    """The values of `WRITE` by name for a document, without owner, change and mode.

    `sequence` is the body's, or 0 where the body has none; kinds that are paged have a sequence.
    Raises ValueError for a memory with an expiry, since its end is a status, not a moment.
    """
    body, row = document.body, _EMPTY.copy()
    if document.kind in MEMORY_KINDS:
        if document.expires_at is not None:
            raise ValueError(f"{document.id}: a memory does not expire")
        row.update(_memory_columns(body))
        if document.kind == "memory":
            row.update(due_columns(body))
        body = public_part(body)
    elif document.kind == "conflict":
        row["status"] = body["status"]
    elif document.kind == "event":
        row.update(type=body["memory_type"], event_at=seconds(body["occurred_at"]))
        row.update({name: body[name] for name in _EVENT_COLUMNS})
    row.update(
        id=document.id,
        kind=document.kind,
        sequence=document.body.get("sequence", 0),
        epoch=document.body.get("epoch") or None,
        expires_at=None if document.expires_at is None else document.expires_at.timestamp(),
        vector=as_blob(document.vector),
        body=orjson.dumps(body),
    )
    return row


def decoded(row: Sequence[Any]) -> Document:
    """A document from the values of `READ_COLUMNS`. Raises Damaged for an unreadable memory."""
    identity, kind, body, _, expires_at, blob = row
    until = None if expires_at is None else moment(expires_at)
    tag = None if kind in MEMORY_KINDS else tag_of(body, expires_at)
    try:
        return Document(identity, kind, whole(row), as_vector(blob), until, tag)
    except ValueError as error:
        if kind not in MEMORY_KINDS:
            raise
        raise damaged_memory(identity) from error


def decoded_or_damaged(row: Sequence[Any], sequence: int, next_id: str | None) -> Document:
    """A document from a row, where a memory that cannot be parsed is `damaged`.

    So it does not hide the documents beside it.

    Args:
        row: The values of `READ_COLUMNS`.
        sequence: The sequence of the document.
        next_id: The `next_id` of the memory.

    """
    try:
        return decoded(row)
    except Damaged:
        return Document(row[0], row[1], {"sequence": sequence, "next_id": next_id}, damaged=True)


def tag_of(body: bytes, expires_at: float | None) -> str:
    """The tag of a state of a document: a digest of the stored content.

    Two equal states need not be distinguished.

    Args:
        body: The stored body.
        expires_at: The expiry in epoch seconds, if any.

    """
    return blake2b(
        body, digest_size=16, salt=b"" if expires_at is None else int(expires_at).to_bytes(8)
    ).hexdigest()


def whole(row: Sequence[Any]) -> dict[str, Any]:
    """A document's body from its two parts.

    `row` begins with the id, the kind, the public part of a memory or the whole body, and the rest
    of a memory, which is None for all other kinds. Raises ValueError where a part can't be parsed,
    or the row of a memory has another id than the memory, as a damaged row may.
    """
    identity, kind, body, inner = row[:4]
    parsed: dict[str, Any] = orjson.loads(body)
    if kind == "memory" and not (isinstance(parsed, dict) and parsed.get("id") == identity):
        raise ValueError("the row of a memory has another id")
    return parsed if inner is None else parsed | orjson.loads(inner)


def moment(epoch_seconds: float) -> datetime:
    """The moment of epoch seconds, aware and in UTC."""
    return datetime.fromtimestamp(epoch_seconds, timezone.utc)


def listed(values: Iterable[str]) -> str:
    """Values as JSON text, a single parameter for `IN (SELECT value FROM json_each(?))`."""
    return orjson.dumps(sorted(values)).decode()


def _memory_columns(body: dict[str, Any]) -> dict[str, Any]:
    subject, attribute = body.get("subject"), body.get("attribute")
    return {
        "type": body["type"],
        "status": body["status"],
        "status_reason": body["status_reason"],
        "category": body["category"],
        "session_id": body["session_id"],
        "agent_id": body["agent_id"],
        "event_at": seconds(body["event_timestamp"]),
        "valid_from": seconds(body["valid_from"]),
        "valid_until": seconds(body["valid_until"]),
        "tags": orjson.dumps(body["tags"]).decode(),
        "subject": None if subject is None else folded(subject),
        "attribute": None if attribute is None else folded(attribute),
        "next_id": body["next_id"],
        "inner": orjson.dumps({name: body[name] for name in INTERNAL_FIELDS if name in body}),
        **_fading_columns(body),
    }


def _fading_columns(body: dict[str, Any]) -> dict[str, Any]:
    """Columns by which due steps of fading are found.

    They are empty for a memory that does not fade, so that no index has it. A decayed memory has a
    column only when it was accessed after it decayed, by which `recalled` finds it.
    """
    if body["status"] == "decayed":
        accessed, changed = seconds(body["last_accessed_at"]), seconds(body["updated_at"])
        return (
            {"idle_since": accessed}
            if accessed is not None and changed is not None and accessed >= changed
            else {}
        )
    in_slot = body.get("subject") is not None and body.get("attribute") is not None
    if body["status"] != "active" or not fades(
        body["type"], pinned=body["pinned"], in_slot=in_slot, worth=body.get("worth")
    ):
        return {}
    return {
        "idle_since": seconds(body["last_accessed_at"] or body["created_at"]),
        "halvings": halvings(body["importance_base"]),
        "lasts": lasts(body),
        "characters": shrinkable_length(body),
        "created_at": seconds(body["created_at"]),
    }


def lasts(body: dict[str, Any]) -> float:
    """The factor of a memory's half-life, as `fading.half_life_multiplier` of its document."""
    return worth_factor(body.get("worth")) * lengthened_by_use(
        body["access_count"], body["reinforcement_count"]
    )


def size_of(row: dict[str, Any]) -> int:
    """Bytes of a row's document, as every adapter counts them; 0 for a deletion."""
    if not row:
        return 0
    return (
        len(row["body"])
        + len(row["inner"] or b"")
        + (0 if row["vector"] is None else len(row["vector"]) // 4 * BYTES_PER_NUMBER)
    )


def size_of_mark(mark: Mark) -> int:
    """Bytes of the fields of a mark, as every adapter counts them."""
    return len(orjson.dumps(mark.fields)) + (
        0 if mark.embedding is None else mark.embedding.size * BYTES_PER_NUMBER + len(mark.states)
    )
