"""Linear models over named features, such as how likely a sentence is a wish.

A file maps each feature to a weight for each class. The feature `bias` always counts. There is
a further class, the rest, without weights.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BIAS = "bias"


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A linear model with softmax.

    Attributes:
        weights: By feature, a weight for each class.
        classes: The number of classes besides the rest.

    """

    weights: Mapping[str, Sequence[float]]
    classes: int

    def chances(self, features: Iterable[str]) -> tuple[float, ...]:
        """The probability of each class, by softmax with 0 for the rest."""
        totals = [0.0] * self.classes
        for feature in (BIAS, *sorted(features)):
            if (weights := self.weights.get(feature)) is not None:
                totals = [total + weight for total, weight in zip(totals, weights, strict=True)]
        most = max(0.0, *totals)
        shares = [math.exp(total - most) for total in totals]
        whole = sum(shares) + math.exp(-most)
        return tuple(share / whole for share in shares)


@lru_cache(maxsize=8)
def linear_model(file: Path) -> LinearModel:
    """The model of a data file, read once."""
    weights: dict[str, list[float]] = json.loads(file.read_text(encoding="utf-8"))
    return LinearModel(weights, len(weights[BIAS]))


# The probability that a sentence is a wish, for each kind of wish.
#
# `python -m bench.knowledge.wish_training` learns the weights in `wish_weights.json` from sentences
# in three languages.


WEIGHTS = Path(__file__).with_name("wish_weights.json")
"""By feature its weight for each kind: to forget, to instruct, to lift an instruction."""


@dataclass(frozen=True, slots=True)
class Likely:
    """Probabilities: to forget something, to instruct, to lift an instruction."""

    forget: float
    instruct: float
    lift: float


def likely(features: Iterable[str]) -> Likely:
    """How likely a sentence with these features is a wish of each kind."""
    return Likely(*linear_model(WEIGHTS).chances(features))
