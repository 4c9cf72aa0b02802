"""Deterministic ids, and the receipts that use them.

Note: the id of a memory is made of what it holds, never of whose it is. It is unique among its
user's, and stays right when all of them are imported for another user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson
from pydantic import BaseModel

from memory_core.domain.errors import KeyReused
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ports import Document


def derived(prefix: str, *parts: str) -> str:
    """`<prefix>_<26 hex digits>` of the parts. Parts are length-prefixed, so ("a_b",
    "c") and ("a", "b_c") differ.
    """
    raw = [part.encode() for part in parts]
    digest = hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in raw))
    return f"{prefix}_{digest.hexdigest()[:26]}"


def note_id(cell_id: str) -> str:
    """The id of the note that was made together with a cell."""
    return derived("mem", cell_id, "note")


@lru_cache(maxsize=1024)
def session_document_id(owner: Owner, session_id: str) -> str:
    """The id of a session's own document; each save of a turn asks for it several times."""
    return derived("ses", *owner, session_id)


def procedure_id(key: str) -> str:
    """The id of the procedural memory of a key: one a key, so an upsert finds it
    without a query.
    """
    return derived("mem", "procedure", key)


def told_late_id(key: str, event: str, content: str) -> str:
    """The id of what a key held before its present value, told after that."""
    return derived("mem", "procedure told late", key, event, content)


def snapshot_id(epoch: str, sequence: int, part: int) -> str:
    """The id of one part of the snapshot at a sequence."""
    return derived("snp", epoch, str(sequence), str(part))


def marker_id(commit_id: str) -> str:
    """The id of a commit's first event, which proves that the commit was applied."""
    return event_id(commit_id, 0)


def event_id(commit_id: str, number: int) -> str:
    """The id of a commit's event; `number` counts from 0."""
    return f"evt_{commit_id.removeprefix('cmt_')}_{number}"


def slot_document_id(*names: str) -> str:
    """The id of the document of a slot: of its names, never of whose it is."""
    return derived("slt", *names)


def slot_part_id(slot_id: str, number: int) -> str:
    """The document of a sealed part of a slot's log."""
    return f"{slot_id}.{number}"


def slot_of_part(name: str) -> str:
    """The document of the slot to which a document of its log belongs: itself, or a sealed part."""
    return name.partition(".")[0]


def earlier_interval_id(memory_id: str, version: int, part: int) -> str:
    """The id of what a memory, or one of its versions, was in an earlier time;
    `part` counts its times from 1.
    """
    return derived("mem", "earlier interval", memory_id, str(version), str(part))


def conflict_record_ids(first: str, second: str) -> tuple[str, str]:
    """The ids under which the record about two memories may be: with the first as the older side,
    and the other way round.
    """
    return derived("cft", first, second), derived("cft", second, first)


# Receipts: the same call with the same Idempotency-Key has one effect and one answer.
#
# A receipt is created in the effect's own batch and read before anything is decided, so there is no
# moment at which the effect is there and its receipt is not. It is the same for every outcome, and
# it does not need the short-term store.


LIFETIME = timedelta(hours=24)


def keyed(call: Call, name: str, *asked: str | BaseModel) -> Call:
    """The call, telling what it asks for, so that another one with its idempotency key is known as
    another. A door may have told.
    """
    if call.idempotency_key is None or call.body_hash:
        return call
    fields = [part if isinstance(part, str) else part.model_dump(mode="json") for part in asked]
    body_hash = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return replace(call, route=call.route or name, body_hash=body_hash)


def receipt_id(owner: Owner, call: Call, part: int = 0) -> str | None:
    """The id of a call's receipt; None for a call without an idempotency key. Large calls have one
    receipt a part.
    """
    if call.idempotency_key is None:
        return None
    return derived("rcp", *owner, call.route, call.idempotency_key, str(part))


def receipt(
    owner: Owner, call: Call, now: datetime, result: Mapping[str, Any], part: int = 0
) -> tuple[Document, ...]:
    """The receipt to create in the effect's batch: empty without an idempotency key.
    `result` names ids, not contents.
    """
    identity = receipt_id(owner, call, part)
    if identity is None:
        return ()
    body = {"body_hash": call.body_hash, "result": dict(result), "created_at": now.isoformat()}
    return (Document(identity, "receipt", body, expires_at=now + LIFETIME),)


def earlier_result(
    documents: Mapping[str, Document], owner: Owner, call: Call, part: int = 0
) -> dict[str, Any] | None:
    """What this very call did before, or None. Raises Conflict when the key was used for
    another body.
    """
    identity = receipt_id(owner, call, part)
    document = None if identity is None else documents.get(identity)
    if document is None:
        return None
    if document.body["body_hash"] != call.body_hash:
        raise KeyReused(
            "this Idempotency-Key was used within the last 24 hours for a request with another body"
        )
    result: dict[str, Any] = document.body["result"]
    return result
