"""New versions: the id stays, the old content is kept as `<id>.v<n>` and stays findable for the time it was valid."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory_core.domain.models import Memory, Status
from memory_core.ports import Document


def version_id(memory_id: str, version: int) -> str:
    """The document id of an old version."""
    return f"{memory_id}.v{version}"


def base_id(memory_id: str) -> str:
    """The memory's own id, of it or of one of its versions."""
    return memory_id.rsplit(".v", 1)[0]


def is_version(memory_id: str) -> bool:
    """Whether this is the id of an old version."""
    return memory_id != base_id(memory_id)


def kept_version(memory: Memory) -> Document:
    """The document that an old version is kept in."""
    return Document(memory.id, "version", memory.model_dump(mode="json"), memory.embedding)


def new_version(old: Memory, changed: Mapping[str, Any], now: datetime) -> tuple[Memory, Document]:
    """The memory with `changed` fields as its next version, and the document that keeps the old one.

    The new version is valid from `changed["valid_from"]`, else from now; the old one until then. A `valid_until` that is past
    corrects when the truth ended, so that version is valid from where the old one was. One that was deleted stays that: a look
    back in time must not bring it up again.
    """
    ended = changed.get("valid_until")
    begins = changed.get("valid_from") or (old.valid_from if ended is not None and ended <= now else max(now, old.valid_from))
    updated = old.model_copy(update={**changed, "version": old.version + 1, "valid_from": begins, "updated_at": now})
    if updated.valid_until is not None and updated.valid_until <= begins and "valid_until" not in changed:
        updated = updated.model_copy(update={"valid_until": None})
    kept = old.model_copy(
        update={
            "id": version_id(old.id, old.version),
            **({} if old.status is Status.DELETED else {"status": Status.SUPERSEDED, "status_reason": "new_version"}),
            "next_id": old.id,
            "valid_until": max(begins, old.valid_from) if old.valid_until is None else min(old.valid_until, max(begins, old.valid_from)),
        }
    )
    return updated, kept_version(kept)
