"""A linear model that says how likely a sentence is a wish, of which kind: weights of features, and a softmax.

The weights are made by `python -m bench.knowledge.wish_training` from sentences in three languages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from memory_core.domain.wish_weights import WEIGHTS


@dataclass(frozen=True, slots=True)
class Likely:
    """Probabilities: to forget something, to instruct, to lift an instruction."""

    forget: float
    instruct: float
    lift: float


def likely(features: Iterable[str]) -> Likely:
    """How likely a sentence with these features is a wish of each kind."""
    totals = [0.0, 0.0, 0.0]
    for feature in ("bias", *sorted(features)):
        weights = _TABLE.get(feature)
        if weights is not None:
            totals = [total + weight for total, weight in zip(totals, weights, strict=True)]
    most = max(0.0, *totals)
    shares = [math.exp(total - most) for total in totals]
    whole = sum(shares) + math.exp(-most)
    return Likely(*(share / whole for share in shares))


def _table(text: str) -> dict[str, tuple[float, float, float]]:
    rows = (line.split() for line in text.strip().splitlines())
    return {name: (float(forget), float(instruct), float(lift)) for name, forget, instruct, lift in rows}


_TABLE = _table(WEIGHTS)
