"""What agents made of exactly what they were shown, on its way from asking to the commit that executes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_core.domain.models import Vector
from memory_core.evolution.shown import Rulings


class LookedElsewhere(Exception):
    """What the store shows now is not what the agents were shown, or memories are needed (`wanted`), or all values of keys, that were not
    read: look again.
    """

    def __init__(self, wanted: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        super().__init__("what a decision needs was not read")
        self.wanted, self.keys = tuple(wanted), tuple(keys)


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
