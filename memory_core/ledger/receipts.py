"""Receipts: the same call with the same Idempotency-Key has one effect and one answer.

A receipt is created in the effect's own batch and read before anything is decided, so there is no moment at which the effect
is there and its receipt is not. It is the same for every outcome, and it does not need the short-term store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
from pydantic import BaseModel

from memory_core.domain.errors import Conflict
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.ids import derived
from memory_core.ports import Document

LIFETIME = timedelta(hours=24)


def keyed(call: Call, name: str, *asked: str | BaseModel) -> Call:
    """The call, telling what it asks for, so that another one with its idempotency key is known as another. A door may have told."""
    if call.idempotency_key is None or call.body_hash:
        return call
    fields = [part if isinstance(part, str) else part.model_dump(mode="json") for part in asked]
    body_hash = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return replace(call, route=call.route or name, body_hash=body_hash)


def receipt_id(owner: Owner, call: Call, part: int = 0) -> str | None:
    """The id of a call's receipt; None for a call without an idempotency key. Large calls have one receipt a part."""
    if call.idempotency_key is None:
        return None
    return derived("rcp", *owner, call.route, call.idempotency_key, str(part))


def receipt(owner: Owner, call: Call, now: datetime, result: Mapping[str, Any], part: int = 0) -> tuple[Document, ...]:
    """The receipt to create in the effect's batch: empty without an idempotency key. `result` names ids, not contents."""
    identity = receipt_id(owner, call, part)
    if identity is None:
        return ()
    body = {"body_hash": call.body_hash, "result": dict(result), "created_at": now.isoformat()}
    return (Document(identity, "receipt", body, expires_at=now + LIFETIME),)


def earlier_result(documents: Mapping[str, Document], owner: Owner, call: Call, part: int = 0) -> dict[str, Any] | None:
    """What this very call did before, or None. Raises Conflict when the key was used for another body."""
    identity = receipt_id(owner, call, part)
    document = None if identity is None else documents.get(identity)
    if document is None:
        return None
    if document.body["body_hash"] != call.body_hash:
        raise Conflict("this Idempotency-Key was used within the last 24 hours for a request with another body")
    result: dict[str, Any] = document.body["result"]
    return result
