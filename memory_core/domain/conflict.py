"""A conflict record: two memories that could not both be true, and its decision.

The record also holds the data that undoes the decision. Note: `old_id` and `new_id` say which
memory was stored and which came later; without a slot, which tells of the earlier time and which of
the later. They do not say which is in force.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypedDict, Unpack

from pydantic import Field

from memory_core.domain.deferred_model import DeferredModel

Decision = Literal["supersede", "keep_both", "reject_new", "merge"]
ConflictStatus = Literal["pending", "resolved"]
MAX_OPEN = 20
"""Conflicts that may be open about a memory.

Further contradicting memories coexist with it without an open conflict.
"""

RULE: Final = "rule"
"""The decider of a conflict where neither a caller nor an agent decides."""


class Move(DeferredModel):
    """The fields of a memory that a decision changed, as JSON.

    Attributes:
        before: The fields without the decision. None means that the decision made this memory.
        after: The fields as the decision left them. None means that the decision kept the memory
            from being stored, and that `before` is the whole memory.

    """

    memory_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class Earlier(DeferredModel):
    """A decision that was taken back."""

    strategy: str
    reason: str
    by: str
    at: datetime


class ConflictFields(TypedDict, total=False):
    """Fields of a conflict record that a change replaces."""

    id: str
    status: ConflictStatus
    strategy: str
    reason: str
    old_id: str
    new_id: str | None
    by: str
    at: datetime
    previous: Earlier | None
    grounds: str | None
    moves: list[Move]
    looked_at: datetime | None


class ConflictRecord(DeferredModel):
    """Two memories that could not both be true, and the decision about them.

    Attributes:
        strategy: The decision; while the conflict is pending, the treatment in the meantime.
        reason: Why it was decided so.
        new_id: None where the new memory was not stored.
        by: `rule`, the name of the model that decided, or the caller's name.
        previous: The decision that was undone last.
        grounds: Why the memories contradict each other, where `reason` says why it was decided.
        moves: The data that takes the decision back.
        looked_at: When a run of consolidation last left the conflict open.

    """

    id: str
    status: ConflictStatus
    similarity: float | None = None
    confidence: float
    strategy: str
    reason: str
    old_id: str
    new_id: str | None = None
    by: str = RULE
    at: datetime
    previous: Earlier | None = None
    grounds: str | None = None
    moves: list[Move] = Field(default_factory=list)
    looked_at: datetime | None = None

    @property
    def open(self) -> bool:
        """Whether it waits for a decision."""
        return self.status == "pending"

    @property
    def sides(self) -> tuple[str, ...]:
        """The ids of both memories, or the id of the old memory alone."""
        return (self.old_id,) if self.new_id is None else (self.old_id, self.new_id)

    @property
    def memory_ids(self) -> list[str]:
        """The ids of both sides, and of other memories that the decision moved."""
        return list(dict.fromkeys([*self.sides, *(move.memory_id for move in self.moves)]))

    @property
    def rejected_sessions(self) -> list[str]:
        """The session of the memory that was not stored, if that was the decision."""
        rejected = [move.before or {} for move in self.moves if move.after is None]
        return [before["session_id"] for before in rejected if before.get("session_id")]

    @property
    def rejected_content(self) -> str | None:
        """The text that was not stored, if that was the decision."""
        return next(
            (
                str(move.before["content"])
                for move in self.moves
                if move.after is None and move.before is not None
            ),
            None,
        )

    def beside(self, memory_id: str) -> str | None:
        """The id of the other side; None where that was not stored."""
        return self.new_id if self.old_id == memory_id else self.old_id

    def changed(self, **fields: Unpack[ConflictFields]) -> ConflictRecord:
        """The record with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    def settled(self, by: str, at: datetime, reason: str) -> ConflictRecord:
        """The question, open no longer.

        Args:
            by: The rule, model or caller that settled it.
            at: The moment of the decision.
            reason: Why it was settled in this way.

        """
        return self.changed(status="resolved", by=by, at=at, reason=reason)

    def asked_again(self, by: str, at: datetime, reason: str | None = None) -> ConflictRecord:
        """The conflict, open again, with the last decision as `previous`.

        Args:
            by: The caller, model or rule that opens it again.
            at: When that is.
            reason: Why it is open; None for the grounds that it had before.

        """
        return self.changed(
            status="pending",
            strategy="keep_both",
            reason=reason or self.grounds or self.reason,
            grounds=None,
            by=by,
            at=at,
            previous=Earlier(strategy=self.strategy, reason=self.reason, by=self.by, at=self.at),
            moves=[],
        )

    def public(self) -> dict[str, Any]:
        """The record as the API shows it."""
        fields = self.model_dump(mode="json", exclude={"grounds", "moves", "looked_at"})
        return {**fields, "rejected_content": self.rejected_content}


OF_THE_STORE: Final = ("epoch", "sequence")
"""Fields of a stored record that belong to the store."""


def record_in(body: dict[str, Any]) -> ConflictRecord:
    """The record in a document's body."""
    return ConflictRecord.model_validate(
        {name: value for name, value in body.items() if name not in OF_THE_STORE}
    )


@dataclass(frozen=True, slots=True)
class ConflictPage:
    """A page of records, newest first; `next_cursor` is None on the last page."""

    conflicts: tuple[ConflictRecord, ...]
    next_cursor: str | None
