"""Receipts: a call with an idempotency key is answered again as it was answered first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from memory_core.domain.errors import KeyReused
from memory_core.domain.memory import Memory
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document

Result = TypeVar("Result")
LIFETIME = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Receipt(Generic[Result]):
    """How a decision is noted for a call with an idempotency key, and answered again.

    Attributes:
        fields: Makes the fields that are kept of a result: ids, not contents; None keeps none.
        repeat: Makes the result of a repeated call from these fields and a read set.
        part: Large calls have a receipt for each part, from 0.

    """

    fields: Callable[[Result], Mapping[str, Any] | None]
    repeat: Callable[[dict[str, Any], ReadSet], Result]
    part: int = 0


MEMORY_RECEIPT: Receipt[Memory] = Receipt(
    lambda memory: {"memory_id": memory.id},
    lambda earlier, read_set: read_set.existing_memory(earlier["memory_id"]),
)
"""Of a call that answers with one memory, as it is by then."""


def receipt_id(owner: Owner, call: Call, part: int = 0) -> str | None:
    """The id of a call's receipt; None for a call without an idempotency key.

    Args:
        owner: Owner for whom the call is.
        call: Call with its route.
        part: Large calls have a receipt for each part, from 0.

    """
    if call.idempotency_key is None:
        return None
    return derived("rcp", *owner, call.route, call.idempotency_key, str(part))


def receipt_ids(owner: Owner, call: Call, part: int = 0) -> list[str]:
    """The ids to read for a call's receipt: one, or none without a key.

    Args:
        owner: Owner for whom the call is.
        call: Call with its route.
        part: Large calls have a receipt for each part, from 0.

    """
    name = receipt_id(owner, call, part)
    return [] if name is None else [name]


def receipt_documents(
    owner: Owner, call: Call, now: datetime, result: Mapping[str, Any], part: int = 0
) -> tuple[Document, ...]:
    """The receipt to create in the effect's batch.

    Args:
        owner: Owner for whom the call is.
        call: Call with its route and body hash.
        now: When the effect is committed.
        result: Names ids, not contents.
        part: Large calls have a receipt for each part, from 0.

    Returns:
        Empty without an idempotency key.

    """
    identity = receipt_id(owner, call, part)
    if identity is None:
        return ()
    body = {"body_hash": call.body_hash, "result": dict(result), "created_at": now.isoformat()}
    return (Document(identity, "receipt", body, expires_at=now + LIFETIME),)


def earlier_result(
    documents: Mapping[str, Document], owner: Owner, call: Call, part: int = 0
) -> dict[str, Any] | None:
    """The result of the same call before; None for a new call.

    Args:
        documents: Among them the receipt, if there is one.
        owner: Owner for whom the call is.
        call: Call with its route and body hash.
        part: Large calls have a receipt for each part, from 0.

    Raises:
        KeyReused: The key was used for another body.

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
