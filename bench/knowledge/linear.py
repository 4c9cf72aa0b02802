"""Learning of linear models over named features, and how well they separate."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_core.domain.statements.linear_models import BIAS

L2, L1, SEEN, STEPS = 0.2, 0.3, 2, 300
NORM_STEPS = 30
LEAST_WEIGHT = 0.05
Matrix = NDArray[np.float64] | NDArray[np.float32]


def learnt(
    seen: Sequence[frozenset[str]],
    labels: Sequence[int],
    classes: int,
    *,
    l1: float = L1,
    l2: float = L2,
) -> dict[str, list[float]]:
    """Multinomial logistic regression with both penalties, by accelerated proximal steps;
    weights less those of class 0.

    Args:
        seen: the features of each example.
        labels: the class of each, 0 for the rest.
        classes: how many there are, the rest included.
        l1: penalty that leaves features out.
        l2: penalty that keeps weights small.

    """
    counted = Counter(name for row in seen for name in row)
    names = {
        name: place
        for place, name in enumerate(
            sorted(name for name, count in counted.items() if count >= SEEN)
        )
    }
    given = np.zeros((len(seen), len(names) + 1), dtype=np.float32)
    for place, row in enumerate(seen):
        given[place, [names[name] for name in row if name in names]] = 1
    given[:, -1] = 1
    weights = _descended(given, np.eye(classes, dtype=np.float32)[list(labels)], l1, l2)
    relative = weights[:, 1:] - weights[:, :1]
    by_name = {
        name: relative[place]
        for name, place in names.items()
        if np.abs(relative[place]).max() >= LEAST_WEIGHT
    }
    return {
        name: [round(float(weight), 2) for weight in row]
        for name, row in sorted((by_name | {BIAS: relative[-1]}).items())
    }


def write(file: Path, weights: Mapping[str, Sequence[float]]) -> None:
    """Write the weights as a data file, one feature a line."""
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}: {list(of_classes)}"
        for name, of_classes in weights.items()
    ]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} features in {file.name}")


def _descended(given: Matrix, wanted: Matrix, l1: float, l2: float) -> Matrix:
    count = len(given)
    step = 1 / (0.5 * _largest_square(given) / count + l2 / count)
    weights = np.zeros((given.shape[1], wanted.shape[1]), dtype=np.float32)
    ahead, pace = weights, 1.0
    for _ in range(STEPS):
        scores = given @ ahead
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        slope = given.T @ (shares - wanted) / count + l2 / count * ahead
        slope[-1] -= l2 / count * ahead[-1]
        moved = ahead - step * slope
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - l1 / count * step, 0)
        shrunk[-1] = moved[-1]
        next_pace = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead, weights, pace = (
            shrunk + (pace - 1) / next_pace * (shrunk - weights),
            shrunk,
            next_pace,
        )
    return weights


def _largest_square(given: Matrix) -> float:
    """The square of the matrix's largest singular value, a little more than power
    iteration finds.
    """
    vector: Matrix = np.ones(given.shape[1], dtype=np.float32)
    for _ in range(NORM_STEPS):
        vector = given.T @ (given @ (vector / np.linalg.norm(vector)))
    return 1.1 * float(np.linalg.norm(vector))
