"""A linear model that says how likely a sentence is a wish, of which kind: weights of features, and a softmax.

The weights stand in `wish_weights.json`; `python -m bench.knowledge.wish_training` makes it from sentences in three languages.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

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
    table = _weights()
    totals = [0.0, 0.0, 0.0]
    for feature in ("bias", *sorted(features)):
        weights = table.get(feature)
        if weights is not None:
            totals = [total + weight for total, weight in zip(totals, weights, strict=True)]
    most = max(0.0, *totals)
    shares = [math.exp(total - most) for total in totals]
    whole = sum(shares) + math.exp(-most)
    return Likely(*(share / whole for share in shares))


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, Sequence[float]]:
    """What ships with the product, read once."""
    table: dict[str, list[float]] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return table
