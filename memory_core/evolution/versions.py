"""New versions: the id stays, the old content is kept as `<id>.v<n>` and stays findable for the time it was valid."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.models import Memory
from memory_core.domain.versions import cut_short, kept_version, version_id
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.ledger.commit import Look, as_memory
from memory_core.ports import Document

MAX_CUT_SHORT = 40
"""Versions that one correction of the past may end; each is a document of the commit's hundred, with its vector."""


def new_version(old: Memory, changed: Mapping[str, Any], now: datetime, older: Versions) -> tuple[Memory, tuple[Document, ...]]:
    """The memory with `changed` fields as its next version, and the documents of the old one and of those that it ends besides.

    The new version is valid from `changed["valid_from"]`, else from now; the old one until then. A `valid_until` that is past
    corrects when the truth ended, so that version is valid from where the old one was.
    """
    ended = changed.get("valid_until")
    begins = changed.get("valid_from") or (old.valid_from if ended is not None and ended <= now else max(now, old.valid_from))
    updated = old.model_copy(
        update={**changed, "version": old.version + 1, "valid_from": begins, "updated_at": now, "last_accessed_at": now}
    )
    if updated.valid_until is not None and updated.valid_until <= begins and "valid_until" not in changed:
        updated = updated.model_copy(update={"valid_until": None})
    kept = [kept_version(old, begins)]
    if begins < old.valid_from:
        kept += [shorter for one in older.before(old) if (shorter := cut_short(one, begins)) is not None]
    if len(kept) > MAX_CUT_SHORT:
        message = f"lies before more than {MAX_CUT_SHORT} versions, which it would end"
        raise Invalid("too many versions change", errors=(FieldError("valid_from", message),))
    return updated, tuple(Document(one.id, "version", one.model_dump(mode="json"), one.embedding) for one in kept)


class Versions:
    """The old versions that a decision may see: those of a look, and over them those that its own commit is about to write.

    asked: ids that the look was asked for, whether it found them or not.
    """

    def __init__(self, look: Look, asked: Collection[str], pending: Mapping[str, Document] | None = None) -> None:
        self._look, self._asked, self._pending = look, asked, pending or {}

    def before(self, memory: Memory) -> list[Memory]:
        """All versions before this one, as far as there are any. Raises LookedElsewhere when some were not asked for."""
        names = [version_id(memory.id, number) for number in range(1, memory.version)]
        if missing := [name for name in names if name not in self._pending and name not in self._asked]:
            raise LookedElsewhere(missing)
        return [version for name in names if (version := self._version(name)) is not None]

    def _version(self, name: str) -> Memory | None:
        if name in self._pending:
            return Memory.model_validate({**self._pending[name].body, "embedding": self._pending[name].vector})
        found = self._look.documents.get(name)
        return None if found is None else as_memory(found, self._look.head)
