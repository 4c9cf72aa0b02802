"""What an edit makes of a memory: its fields and its next version.

Pure; `edit` reads and commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import orjson

from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.event_log import cut_short
from memory_core.domain.memory import (
    MAX_METADATA_BYTES,
    MAX_VALUE_BYTES,
    Memory,
    MemoryFields,
    MemoryType,
    Status,
    text_of_value,
)
from memory_core.domain.requests.memories import NEVER_CLEARED, UpdateInput
from memory_core.domain.statements.worth import most_lasting, worth_of
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.transitions import back_in_use
from memory_core.domain.truth.slots import slot_name, text_of_key
from memory_core.evolution.slot_log import Act, old_version_ids
from memory_core.evolution.truth_commands import corrects_times, edits
from memory_core.evolution.versions import new_version, old_version, value_for, version_document
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory
from memory_core.ports import Document

_TIMES = ("valid_from", "valid_until")
_STATEMENT = ("content", "value")
"""Fields that make the statement. If any changes, or the slot, it is another statement, of now."""


MAX_CUT_SHORT = 40
"""Versions that a correction of the past may end. Each is a document of the commit's hundred, with
its vector.
"""


def with_status(old: Memory, wanted: MemoryFields, now: datetime) -> MemoryFields:
    """The fields to set, with the status of a memory that is edited.

    Args:
        old: The memory as it is. If it is faded, or its text is shortened, it becomes active.
        wanted: The fields to set.
        now: The present time.

    """
    fields: MemoryFields = {**wanted}
    if old.status is Status.COMPRESSED and "content" in wanted:
        fields |= {"status": Status.ACTIVE, "archival_location": None}
    if old.status is Status.DECAYED:
        fields |= back_in_use(now)
    if fields.get("status", old.status) is Status.ACTIVE:
        fields |= {"status_reason": "manual_update"}
    return fields


def check_validity(updated: Memory, wanted: MemoryFields) -> None:
    """Refuse an edit after which a memory would hold at no moment.

    A past truth of a slot may hold at no moment, unless the edit names its times.

    Args:
        updated: The edited memory.
        wanted: The fields that were set.

    Raises:
        Invalid: The validity is empty.

    """
    if slot_name(updated) is not None and wanted.keys().isdisjoint(_TIMES):
        return
    if updated.valid_until is not None and updated.valid_until <= updated.valid_from:
        message = (
            f"must be later than valid_from, which is {updated.valid_from.isoformat()} for the new "
            "version"
        )
        raise Invalid("the validity is empty", errors=(FieldError("valid_until", message),))


def edited(
    old: Memory, wanted: MemoryFields, now: datetime
) -> tuple[Memory, tuple[Document, ...], Act | None]:
    """The edited memory, its old version if any, and the entry for its slot's log.

    In a slot only another content or value makes another version. An edit of times alone corrects
    the times.

    Args:
        old: The memory as it is.
        wanted: The fields to set.
        now: The present time.

    """
    if slot_name(old) is None:
        updated, previous = new_version(old, wanted | _when_said(old, wanted, now), now)
        return updated, (previous,), None
    used: MemoryFields = {**wanted, "updated_at": now, "last_accessed_at": now}
    if not _says_something(old, wanted):
        updated = old.changed(**used)
        is_corrected = any(getattr(old, name) != getattr(updated, name) for name in _TIMES)
        return (
            updated,
            (),
            corrects_times(updated.id, updated.valid_from, updated.valid_until)
            if is_corrected
            else None,
        )
    start, end = wanted.get("valid_from"), wanted.get("valid_until")
    statement: MemoryFields = {"version": old.version + 1, "event_timestamp": now, "told_at": []}
    updated = old.changed(**(used | statement))
    if "valid_until" not in wanted:
        updated = updated.changed(valid_until=None)
    if start is None and end is not None and end > now:
        updated = updated.changed(valid_from=max(now, old.valid_from))
    return updated, (version_document(old_version(old)),), edits(updated, start, end)


def ended_versions(seen: ReadSet, old: Memory, begins: datetime) -> tuple[Document, ...]:
    """The earlier versions of a memory without a slot that end where an edit begins.

    Args:
        seen: The read set, with the versions.
        old: The memory as it is.
        begins: The start of the edited memory.

    Raises:
        Invalid: There are too many of them.

    """
    versions = [
        version
        for name in old_version_ids([old])
        if (document := seen.documents.get(name)) is not None
        and (version := as_memory(document, seen.head)) is not None
    ]
    ended = [shorter for version in versions if (shorter := cut_short(version, begins)) is not None]
    if len(ended) >= MAX_CUT_SHORT:
        message = f"lies before more than {MAX_CUT_SHORT} versions, which it would end"
        raise Invalid("too many versions change", errors=(FieldError("valid_from", message),))
    return tuple(map(version_document, ended))


def _says_something(old: Memory, wanted: Mapping[str, Any]) -> bool:
    return any(name in wanted and wanted[name] != getattr(old, name) for name in _STATEMENT)


def changed_fields(old: Memory, change: UpdateInput) -> MemoryFields:
    """The fields to set on the memory.

    A null clears a field that may be empty.

    Args:
        old: The memory as it is.
        change: The request.

    Raises:
        Invalid: A field can't be set so.

    """
    given = {name: getattr(change, name) for name in change.model_fields_set}
    importance = given.pop("importance", None)
    if importance is not None:
        given |= {"importance_base": importance, "importance_basis": "given"}
    for name in NEVER_CLEARED:
        if name in given and given[name] is None:
            raise Invalid(f"{name} can't be cleared", errors=(FieldError(name, "can't be null"),))
    _check_slot(old, given)
    if "value" in given:
        _check_value(old, given["value"])
        given["value_text"] = text_of_value(given["value"])
        if "content" not in given and old.key is not None:
            if given["value"] is None:
                raise Invalid(
                    "nothing would be left",
                    errors=(FieldError("value", "can't be null unless content is given too"),),
                )
            given["content"] = text_of_key(old.key, given["value_text"])
    elif "content" in given:
        given["value"] = value_for(given["content"], old)
        given["value_text"] = text_of_value(given["value"])
    if given.get("content") is not None:
        given["worth"] = most_lasting([old.worth, worth_of(given["content"])])
        given = {**_terms_left(old, given["content"]), **given}
    given.setdefault("change_reason", None)
    return cast(MemoryFields, given)


def _terms_left(old: Memory, content: str) -> MemoryFields:
    """The formed keywords, queries and tags without words that the text lost.

    A tag was formed where it is a keyword, too; a person's own tag stays. Words that the new text
    has for the first time need no keyword, since its text is searched.
    """
    lost = frozenset(tokens(old.content)).difference(tokens(content))
    if not lost or not (old.keywords or old.semantic_queries):
        return {}
    keywords, queries = (
        [text for text in texts if lost.isdisjoint(tokens(text))]
        for texts in (old.keywords, old.semantic_queries)
    )
    dropped = {word.casefold() for word in old.keywords} - {word.casefold() for word in keywords}
    tags = [tag for tag in old.tags if tag.casefold() not in dropped]
    return {"keywords": keywords, "semantic_queries": queries, "tags": tags}


def _check_value(old: Memory, value: Any) -> None:
    """Raise Invalid for a long value of a memory that is not procedural."""
    if (
        old.type is not MemoryType.PROCEDURAL
        and (size := len(orjson.dumps(value))) > MAX_METADATA_BYTES
    ):
        message = (
            f"is {size} bytes as JSON; at most {MAX_METADATA_BYTES} are kept, {MAX_VALUE_BYTES} in "
            "a procedural memory"
        )
        raise Invalid("the value is too long", errors=(FieldError("value", message),))


def _check_slot(old: Memory, given: Mapping[str, Any]) -> None:
    """Raise Invalid for another subject or attribute.

    A memory stays in the slot in which it was saved.
    """
    after = slot_name(
        old.changed(
            subject=given.get("subject", old.subject),
            attribute=given.get("attribute", old.attribute),
        )
    )
    moved = [
        name
        for name in ("subject", "attribute")
        if name in given and given[name] != getattr(old, name)
    ]
    if moved and (after != slot_name(old) or after is None):
        how = (
            "is fixed when a memory is saved; save the statement anew with it, and delete this one"
        )
        raise Invalid(
            "a memory stays in its slot", errors=tuple(FieldError(name, how) for name in moved)
        )


def _when_said(old: Memory, wanted: MemoryFields, now: datetime) -> MemoryFields:
    """The times of an edit that makes another statement.

    It is a statement of now, or of the time from which it is said to be true. The result is empty
    for an edit that only corrects when the statement ended, which is still about that time.
    """
    until, begins = wanted.get("valid_until"), wanted.get("valid_from")
    if not _says_something(old, wanted) or (begins is None and until is not None and until <= now):
        return {}
    return {"event_timestamp": begins or now, "told_at": []}
