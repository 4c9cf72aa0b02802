"""Deterministic ids: whatever is derived is named by what it was derived from, so doing it twice is doing it once.

Note: the id of a memory is made of what it holds, never of whose it is. It is unique among its user's, and stays right
when all of them are imported for another user.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from memory_core.domain.scope import Owner


def derived(prefix: str, *parts: str) -> str:
    """`<prefix>_<26 hex digits>` of the parts. Parts are length-prefixed, so ("a_b", "c") and ("a", "b_c") differ."""
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
    """The id of the procedural memory of a key: one a key, so an upsert finds it without a query."""
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
    """The id of what a memory, or one of its versions, was in an earlier time; `part` counts its times from 1."""
    return derived("mem", "earlier interval", memory_id, str(version), str(part))


def conflict_record_ids(first: str, second: str) -> tuple[str, str]:
    """The ids under which the record about two memories may be: with the first as the older side, and the other way round."""
    return derived("cft", first, second), derived("cft", second, first)
