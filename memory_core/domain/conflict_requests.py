"""What a caller may ask about conflicts: which to list, and how to decide one."""

from __future__ import annotations

from memory_core.domain.conflict import ConflictStatus, Decision
from memory_core.domain.fields import Cursor, Input, Label, Limit


class ConflictsInput(Input):
    """Which conflicts to list, newest first."""

    status: ConflictStatus | None = None
    cursor: Cursor | None = None
    limit: Limit = 20


class ResolveInput(Input):
    """How to decide a conflict, and why; the record keeps its own reason where none is given.

    supersede: the new one holds. reject_new: the old one holds. keep_both: both do. merge: one memory with both texts holds.
    """

    decision: Decision
    reason: Label | None = None
