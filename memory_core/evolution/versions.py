"""New versions: the id stays, the old content is kept as `<id>.v<n>` and stays findable for the time it was valid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.models import Memory
from memory_core.domain.versions import VERSIONS_END, cut_short, kept_version, version_id
from memory_core.evolution.page import Page
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.ledger.changes import Change
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
    return updated, tuple(map(_document, kept))


def end_versions(page: Page, asked: Collection[str]) -> None:
    """Let old versions end with what this commit does to their memories, and say so in its events.

    A truth that falls, or turns out to begin earlier, takes its old versions with it from there on; one that another is told to have come
    before gives that its stretch, between two versions where need be. Raises LookedElsewhere for versions that were not read.
    """
    older = Versions(page.look, asked, page.puts)
    for number, change in enumerate([*page.changes]):
        if change.before is None:
            _make_room(page, number, older)
        elif change.after.version == change.before.version and (moment := _taken_from(page, change)) is not None:
            _end(page, number, [one for one in (cut_short(one, moment) for one in older.before(change.after)) if one is not None])


def _taken_from(page: Page, change: Change) -> datetime | None:
    """From when on a change takes the time from old versions; None when it takes none from them."""
    assert change.before is not None
    if change.after.version == 1:
        return None
    if change.after.valid_from < change.before.valid_from:
        return change.after.valid_from
    successor = None if change.after.next_id in (None, change.before.next_id) else page.memory(change.after.next_id or "")
    return successor.valid_from if successor is not None and successor.valid_from < change.after.valid_from else None


def _make_room(page: Page, number: int, older: Versions) -> None:
    """For a memory that is history on arrival, among the versions of the one that follows it."""
    late = page.changes[number].after
    successor = None if late.next_id is None else page.memory(late.next_id)
    if successor is None or successor.version == 1 or late.valid_from >= successor.valid_from:
        return
    versions = older.before(successor)
    begin = [one.valid_from for one in versions if late.valid_from < one.valid_from and one.valid_from != one.valid_until]
    if begin and late.valid_until is not None and min(begin) < late.valid_until:
        late = page.states[late.id] = late.model_copy(update={"valid_until": min(begin)})
        page.changes[number] = replace(page.changes[number], after=late)
    cut = [cut_short(one, late.valid_from) for one in versions if one.valid_from <= late.valid_from]
    told = [place for place, change in enumerate(page.changes) if change.after.id == successor.id and change.before is not None]
    if told:
        _end(page, told[0], [one for one in cut if one is not None])


def _end(page: Page, number: int, shorter: Sequence[Memory]) -> None:
    if not shorter:
        return
    change, latest = page.changes[number], sorted(shorter, key=lambda one: -one.version)[:MAX_CUT_SHORT]
    page.puts |= {one.id: _document(one) for one in latest}
    ends = {str(one.version): one.valid_until.isoformat() for one in latest if one.valid_until is not None}
    page.changes[number] = replace(change, metadata={**change.metadata, VERSIONS_END: {**change.metadata.get(VERSIONS_END, {}), **ends}})


def _document(version: Memory) -> Document:
    return Document(version.id, "version", version.model_dump(mode="json"), version.embedding)


class Versions:
    """The old versions that a decision may see: those of a look, and over them those that its own commit is about to write.

    asked: ids that the look was asked for, whether it found them or not.
    """

    def __init__(self, look: Look, asked: Collection[str], pending: Mapping[str, Document] | None = None) -> None:
        self._look, self._asked, self._pending = look, asked, {} if pending is None else pending

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
