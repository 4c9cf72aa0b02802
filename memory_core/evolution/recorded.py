"""The record of what a strategy did: who decided it, and what it moved; every event of it names the record."""

from __future__ import annotations

from dataclasses import replace

from memory_core.domain.conflict import RULE
from memory_core.domain.models import Memory, OnConflict
from memory_core.evolution.moves import moves_of
from memory_core.evolution.strategies import Resolution


def recorded(resolution: Resolution, draft: Memory, by: str = RULE) -> Resolution:
    """The resolution with its records complete. draft: the new memory as it would be if it contradicted nothing."""
    record = resolution.conflict
    if record is None:
        return resolution
    changes = tuple(replace(one, metadata={"conflict_id": record.id, **one.metadata}) for one in resolution.changes)
    done = record.model_copy(update={"by": by, "moves": [] if record.open else moves_of(changes, draft)})
    return replace(resolution, changes=changes, conflict=done)


def chosen_by(on_conflict: OnConflict, actor: str) -> str:
    """Who decides at a save: the rules, unless the caller named a strategy."""
    return RULE if on_conflict is OnConflict.AUTO else actor
