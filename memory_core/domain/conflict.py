"""A conflict record: two memories that could not both be true, what was done about it,
and what it takes to undo that.

Note: `old_id` and `new_id` say who was held and who came, not who is in force.
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
"""Questions that may be open about one memory; what contradicts it besides is kept beside it
without one.
"""

RULE: Final = "rule"
"""The decider of a conflict where neither a caller nor an agent decides."""


class Move(DeferredModel):
    """What a decision did to one memory, as JSON: the fields that it changed, as they were without
    it, and as it left them.

    before None: the decision made this memory. after None: the decision kept it from being stored;
    `before` is all of it then.
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
    """Two memories that could not both be true, and what was done about it.

    strategy: what was done; while it is pending, what is done in the meantime. by: `rule`, the name
    of the model that decided, or who called. new_id: None where the new one was not stored.
    previous: the decision that was undone last. grounds: why they contradict, where `reason` says
    why it was decided. moves: how to take it back. looked_at: when a run of consolidation last
    left it open.
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
        """The ids of both memories; of one where the other was not stored."""
        return (self.old_id,) if self.new_id is None else (self.old_id, self.new_id)

    @property
    def memory_ids(self) -> list[str]:
        """The ids of all memories that it says something of: of both sides, and of others that the
        decision moved.
        """
        return list(dict.fromkeys([*self.sides, *(move.memory_id for move in self.moves)]))

    @property
    def rejected_content(self) -> str | None:
        """The text that was not stored, where that was the decision."""
        return next(
            (
                str(move.before["content"])
                for move in self.moves
                if move.after is None and move.before is not None
            ),
            None,
        )

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
        """The question, open again; what was decided is `previous`. reason: why it is asked, where
        that is not why it was asked before.
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
"""Fields of a stored record that are not its own."""


def record_in(body: dict[str, Any]) -> ConflictRecord:
    """The record in a document's body."""
    return ConflictRecord.model_validate(
        {name: value for name, value in body.items() if name not in OF_THE_STORE}
    )


@dataclass(frozen=True, slots=True)
class ConflictPage:
    """One page of records, newest first; `next_cursor` is None on the last."""

    conflicts: tuple[ConflictRecord, ...]
    next_cursor: str | None
