"""New versions: the id stays, the old content is kept as `<id>.v<n>`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory_core.domain.models import Memory, Status
from memory_core.domain.versions import kept_version, version_id
from memory_core.ports import Document


def new_version(old: Memory, changed: Mapping[str, Any], now: datetime) -> tuple[Memory, Document]:
    """The memory with `changed` fields as its next version, and the document of the old one.

    The new version is valid from `changed["valid_from"]`, else from now; the old one until then. A `valid_until` that is past
    corrects when the truth ended, so that version is valid from where the old one was. In a slot its log says more of that.
    """
    ended = changed.get("valid_until")
    begins = changed.get("valid_from") or (old.valid_from if ended is not None and ended <= now else max(now, old.valid_from))
    updated = old.model_copy(
        update={**changed, "version": old.version + 1, "valid_from": begins, "updated_at": now, "last_accessed_at": now}
    )
    if updated.valid_until is not None and updated.valid_until <= begins and "valid_until" not in changed:
        updated = updated.model_copy(update={"valid_until": None})
    return updated, version_document(kept_version(old, begins))


def old_version(old: Memory) -> Memory:
    """What is kept of a member of a slot; when it holds is for the log of the slot to say."""
    return old.model_copy(update={"id": version_id(old.id, old.version), "status": Status.SUPERSEDED, "status_reason": "new_version"})


def version_document(version: Memory) -> Document:
    """An old version as it is stored."""
    return Document(version.id, "version", version.model_dump(mode="json"), version.embedding)
