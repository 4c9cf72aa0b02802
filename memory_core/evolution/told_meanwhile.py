"""A truth that comes back after others were told in its slot: which of them holds is decided as if it had been told late.

One would get wrong: what stood in the slot before it went away is no rival. Both stood then, because somebody wanted it so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, allowed
from memory_core.domain.models import Memory, OnConflict, Status
from memory_core.domain.slots import slot_of
from memory_core.evolution.decide import Verdict, judge
from memory_core.evolution.recorded import recorded
from memory_core.evolution.strategies import resolve
from memory_core.ledger.changes import Change
from memory_core.ports import Neighbour

NEVER_ALIKE = 2.0
"""A similarity that nothing reaches: of two truths in one slot, the slot alone decides."""


def settled(change: Change, told_since: Sequence[Memory], now: datetime) -> tuple[list[Change], list[ConflictRecord]]:
    """The change, so that one truth stands in its slot where others were told while this one was away, as if it had been told late."""
    back = change.after
    rivals = [one for one in told_since if slot_of(one) == slot_of(back)]
    if back.status not in FOUND_BY_DEFAULT or not rivals:
        return [change], []
    judgement = judge(back, [Neighbour(one, 1.0) for one in rivals], NEVER_ALIKE)
    if judgement.verdict is Verdict.SAME and judgement.old is not None:
        return _followed_by(change, Change("merged", _merged_into(judgement.old, back), back)), []
    if judgement.verdict is not Verdict.CONTRADICTS:
        return [change], []
    resolution = recorded(resolve(back, judgement, OnConflict.AUTO, now), back)
    changes = [step for one in resolution.changes for step in (_followed_by(change, one) if one.after.id == back.id else [one])]
    return changes, list(resolution.records)


def _followed_by(change: Change, settled: Change) -> list[Change]:
    """The change that ends as `settled` does: in two steps where the memory has to be active in between, as a deleted one has to."""
    if change.before is None or settled.after.status in allowed(change.before.status):
        return [replace(change, after=settled.after)]
    event = "superseded" if settled.event_type == "created" else settled.event_type
    return [change, replace(settled, event_type=event, before=change.after)]


def _merged_into(held: Memory, back: Memory) -> Memory:
    """The same truth, told again meanwhile, has taken this one's place."""
    joined: dict[str, Any] = {"status": Status.UPDATED, "status_reason": "consolidated", "next_id": held.id}
    joined |= {"valid_until": max(back.valid_from, held.valid_from), "consolidated_into_ids": [*back.consolidated_into_ids, held.id]}
    return back.model_copy(update=joined)
