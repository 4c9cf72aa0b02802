"""The life of a memory: which status may follow which, and for which reasons.

A move that the table does not list is a 409 that names the moves it does list. `active` may follow `active` (a caller
confirms what already is so); no other status follows itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from memory_core.domain.errors import Conflict
from memory_core.domain.models import Status

_MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.ACTIVE: frozenset(Status),
        Status.UPDATED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.SUPERSEDED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.DECAYED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.COMPRESSED: frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED, Status.DELETED}),
        # Back as it was: a superseded truth that came back as an active one would be a second truth.
        Status.ARCHIVED: frozenset(Status) - {Status.ARCHIVED},
        Status.DELETED: frozenset({Status.ACTIVE}),
    }
)

REASONS: Mapping[Status, frozenset[str]] = MappingProxyType(
    {
        Status.ACTIVE: frozenset({"created", "consolidated", "restored", "recalled", "manual_update"}),
        Status.UPDATED: frozenset({"consolidated"}),
        Status.SUPERSEDED: frozenset({"new_version", "contradicted"}),
        Status.DECAYED: frozenset({"importance_decay"}),
        Status.COMPRESSED: frozenset({"compressed"}),
        Status.ARCHIVED: frozenset({"age_decay"}),
        Status.DELETED: frozenset({"contradicted", "consolidated", "cleared", "forgotten", "manual_delete", "cell_deleted"}),
    }
)
"""Why a memory has its status: the `status_reason` values that the product itself writes."""

FOUND_BY_DEFAULT = frozenset({Status.ACTIVE, Status.COMPRESSED})
"""What a read shows when it asks for no status."""

BY_HAND = (Status.ACTIVE, Status.DELETED)
"""What a caller may set; every other status is the product's own doing."""

TRUE_ONCE = frozenset({"contradicted", "consolidated", "new_version"})
"""Reasons that end a truth without taking it back: a read at a moment inside its validity still finds such a memory."""


def back_in_use(now: datetime) -> dict[str, Any]:
    """The fields of a memory that had faded and was found, or told again."""
    return {"status": Status.ACTIVE, "status_reason": "recalled", "updated_at": now}


def allowed(current: Status) -> frozenset[Status]:
    """The statuses that may follow `current`."""
    return _MOVES[current]


def check_move(current: Status, wanted: Status) -> None:
    """Nothing when `wanted` may follow `current`; otherwise Conflict, whose detail names the statuses that may."""
    if wanted in _MOVES[current]:
        return
    choices = ", ".join(status.value for status in Status if status in _MOVES[current])
    raise Conflict(f"a memory that is {current.value} can't become {wanted.value}; allowed: {choices}")
