"""How likely a sentence is a wish, of which kind.

The weights stand in `wish_weights.json`; `python -m bench.knowledge.wish_training` makes it from sentences in three languages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memory_core.domain.linear_model import linear_model

WEIGHTS = Path(__file__).with_name("wish_weights.json")
"""By feature what it weighs for each kind: to forget, to instruct, to lift an instruction."""


@dataclass(frozen=True, slots=True)
class Likely:
    """Probabilities: to forget something, to instruct, to lift an instruction."""

    forget: float
    instruct: float
    lift: float


def likely(features: Iterable[str]) -> Likely:
    """How likely a sentence with these features is a wish of each kind."""
    return Likely(*linear_model(WEIGHTS).chances(features))
