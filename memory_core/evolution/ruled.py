"""What agents made of exactly what they were shown, on its way from asking to the commit that executes it."""

from __future__ import annotations

from dataclasses import dataclass

from memory_core.domain.models import Vector
from memory_core.evolution.shown import Rulings


class LookedElsewhere(Exception):
    """What the store shows now is not what the agents were shown, or a cell is needed that was not read: look again."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A note that stands for others: its text and vector. None for a text: the synthesis failed, and `complaint` says how."""

    source_ids: tuple[str, ...]
    text: str | None
    vector: Vector | None = None
    complaint: str = ""


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the agents said about exactly `shown_key`."""

    shown_key: str | None
    rulings: Rulings
    merged: Merged | None = None
