"""When a memory is old enough for the archive, what stays of it where memories are searched, and how it comes back.

What stays is a stub: it says what it is, whose session it belongs to, by which words and by which vector it is found, but has only the
beginning of its text. Note: a stub may change while its whole is cold (deleted, told again, touched). What changed since is kept when it
comes back; everything else comes back as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from memory_core.domain.cold_copy import Kept
from memory_core.domain.decay import HOUR_S
from memory_core.domain.models import Memory, MemoryType, Status, Vector
from memory_core.domain.worth import kept_for_good

LEAST_RECENCY = 0.01
"""SECMSA's recency without its floor of 0.01, which would hide that a memory is older than that: 5.75 years by default."""
HOURS_A_YEAR = 365.25 * 24
STUB_CHARACTERS = 200
NEVER = frozenset({Status.DELETED, Status.ARCHIVED})

_WHOLE_ONLY: dict[str, Any] = {"episode": None, "value": None, "value_text": None}
_VECTOR: dict[str, Any] = {"embedding": None, "embedding_model": None, "embedding_dimensions": None}
_WHOLE_ONLY_LISTS = ("atomic_facts", "foresight", "semantic_queries", "follow_up_potential")
"""What a stub is without; of these the lists, and of the metadata too, an empty one stays."""
_OF_THE_ARCHIVE = frozenset(
    {"status", "status_reason", "updated_at", "archived_at", "archival_location", "epoch", "sequence", "revision", "lexical", "search_text"}
    | _VECTOR.keys()
)
"""Fields that differ between a stub and its whole because it is a stub, or that only the stub has."""


def is_due(memory: Memory, now: datetime, *, age_years: float, recency_hours: float) -> bool:
    """Whether a memory may go: of any status but deleted and archived, untouched for `age_years`, its recency under 0.01.

    recency_hours: the age that leaves 37 % of SECMSA's recency. What is pinned stays, what is worth keeping for good, as an allergy,
    and what is asked for by its key: a rule has to be there whole whenever its key is named, however old it is. An access is a touch.
    """
    if memory.status in NEVER or memory.pinned or memory.type is MemoryType.PROCEDURAL or kept_for_good(memory.worth):
        return False
    hours = (now - max(memory.created_at, memory.updated_at, memory.last_accessed_at or memory.created_at)).total_seconds() / HOUR_S
    return hours >= age_years * HOURS_A_YEAR and math.exp(-max(hours, 0.0) / recency_hours) < LEAST_RECENCY


def least_age(age_years: float, recency_hours: float) -> timedelta:
    """The age from which `is_due` takes a memory."""
    return timedelta(hours=max(age_years * HOURS_A_YEAR, recency_hours * -math.log(LEAST_RECENCY)))


def is_cold(memory: Memory) -> bool:
    """Whether this is a stub, whatever its status: one that was deleted in the archive is one too."""
    return memory.archived_at is not None


def was_cold(before: Mapping[str, Any]) -> bool:
    """The same of a memory before an event, by the fields that the event changed."""
    return before.get("archived_at") is not None


def stub_of(memory: Memory, location: str, now: datetime) -> Memory:
    """What stays of a memory, or of an old version of one, whose whole is at `location`."""
    archived = {"status": Status.ARCHIVED, "status_reason": "age_decay", "archived_at": now, "archival_location": location}
    # An old version is history: that it has moved is no news of it, and no search asks for it by its vector.
    moved = _VECTOR if "." in memory.id else {"updated_at": now}
    emptied: dict[str, Any] = {**{name: [] for name in _WHOLE_ONLY_LISTS}, "metadata": {}}
    return memory.model_copy(update={**_WHOLE_ONLY, **emptied, **archived, **moved, "content": beginning(memory.content)})


def beginning(text: str) -> str:
    """The first characters of a text, with an ellipsis where that is not all."""
    return text if len(text) <= STUB_CHARACTERS else f"{text[: STUB_CHARACTERS - 1].rstrip()}…"


def as_found(stub: Memory, whole: Memory, vector: Vector | None) -> Memory:
    """A stub with the text and the vector of its whole, still archived: what a query is shown."""
    kept = {name: getattr(stub, name) for name in _OF_THE_ARCHIVE - _VECTOR.keys()}
    return whole.model_copy(update={**kept, **_changed_since(stub, whole), "id": stub.id, "embedding": vector})


def brought_back(stub: Memory, kept: Kept, now: datetime) -> Memory:
    """The memory as it was, with what changed of its stub since. One that was deleted in the archive comes back deleted.

    It comes back as of now, and what is active as if it had been shown, or the next run would take it away again. An original of a
    compressed one stays where it is.
    """
    whole = kept.memory
    fields = {name: getattr(stub, name) for name in ("epoch", "sequence", "revision", "lexical", "search_text")}
    fields |= {"archived_at": None, "archival_location": None if kept.original is None else stub.archival_location, "updated_at": now}
    if stub.status is not Status.ARCHIVED:
        fields |= {"status": stub.status, "status_reason": stub.status_reason, "updated_at": stub.updated_at}
    elif whole.status is Status.ACTIVE:
        fields |= {"status_reason": "restored", "last_accessed_at": now}
    return whole.model_copy(update={**fields, **_changed_since(stub, whole)})


def version_brought_back(stub: Memory, whole: Memory) -> Memory:
    """An old version as it was, but for when it ended: that may have changed since."""
    fields = {name: getattr(stub, name) for name in ("epoch", "sequence", "revision", "lexical", "search_text", "valid_until")}
    return whole.model_copy(update=fields)


def _changed_since(stub: Memory, whole: Memory) -> dict[str, Any]:
    """The fields of a stub that are not as the archive left them."""
    left = stub_of(whole, "", stub.archived_at or stub.updated_at)
    names = Memory.model_fields.keys() - _OF_THE_ARCHIVE
    return {name: getattr(stub, name) for name in names if getattr(stub, name) != getattr(left, name)}
