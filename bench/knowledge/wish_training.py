"""`python -m bench.knowledge.wish_training`: learns the weights of `memory_core.domain.wish_model`, and says how well they do.

Without `--write` it learns from the train part and measures on the check part; with it, it learns from both and writes the weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_core.domain.wish_model import WEIGHTS
from memory_core.domain.wish_signs import features, is_no_instruction, is_no_request, read

SENTENCES = Path(__file__).parent / "wish_sentences.tsv"
LABELS = "NFIW"
L2, L1, SEEN, STEPS = 0.2, 0.3, 2, 300
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A labelled sentence."""

    label: str
    lang: str
    part: str
    before: str
    text: str

    @property
    def features(self) -> frozenset[str]:
        """What the model sees of it."""
        return features(read(self.text), read(self.before) if self.before else None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn, measure, and write when asked to."""
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge.wish_training", description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    rows = _rows()
    learnt = _learn(rows if options.write else [row for row in rows if row.part == "train"])
    measured = rows if options.write else [row for row in rows if row.part == "check"]
    for lang in ("en", "de", "ja", ""):
        print(lang or "all", _shares([row for row in measured if lang in ("", row.lang)], learnt))
    if options.write:
        lines = [f"{json.dumps(name)}: {[round(weight, 2) for weight in weights]}" for name, weights in sorted(learnt.items())]
        WEIGHTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(f"{len(lines)} features in {WEIGHTS.name}")
    return 0


def _rows() -> list[Row]:
    rows = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            label, lang, part, text = line.split("\t")
            before, _, last = text.rpartition(" || ")
            rows.append(Row(label, lang, part, before.strip(), last.strip()))
    return rows


def _learn(rows: Sequence[Row]) -> dict[str, tuple[float, float, float]]:
    """Multinomial logistic regression with both penalties, by accelerated proximal steps; weights less those of no wish."""
    seen = [row.features for row in rows]
    counted = Counter(name for found in seen for name in found)
    names = {name: place for place, name in enumerate(sorted(name for name, count in counted.items() if count >= SEEN))}
    given = np.zeros((len(rows), len(names) + 1))
    for place, found in enumerate(seen):
        given[place, [names[name] for name in found if name in names]] = 1
    given[:, -1] = 1
    wanted = np.eye(len(LABELS))[[LABELS.index(row.label) for row in rows]]
    weights = _descended(given, wanted)
    relative = weights[:, 1:] - weights[:, :1]
    kept = {name: relative[place] for name, place in names.items() if np.abs(relative[place]).max() >= 0.05}
    return {name: tuple(map(float, row)) for name, row in (kept | {"bias": relative[-1]}).items()}  # type: ignore[misc]


def _descended(given: Matrix, wanted: Matrix) -> Matrix:
    count = len(given)
    step = 1 / (0.5 * float(np.linalg.norm(given, 2)) ** 2 / count + L2 / count)
    weights = np.zeros((given.shape[1], wanted.shape[1]))
    ahead, pace = weights, 1.0
    for _ in range(STEPS):
        scores = given @ ahead
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        slope = given.T @ (shares - wanted) / count + L2 / count * ahead
        slope[-1] -= L2 / count * ahead[-1]
        moved = ahead - step * slope
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - L1 / count * step, 0)
        shrunk[-1] = moved[-1]
        next_pace = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead, weights, pace = shrunk + (pace - 1) / next_pace * (shrunk - weights), shrunk, next_pace
    return weights


def _shares(rows: Sequence[Row], learnt: dict[str, tuple[float, float, float]]) -> str:
    """By threshold, the share of wishes heard and how many other sentences were taken for one."""
    forgets, instructs = [], []
    for row in rows:
        sums = np.array([learnt.get(name, (0, 0, 0)) for name in ("bias", *row.features)]).sum(axis=0)
        shares = np.exp(np.array([0.0, *sums]) - max(0.0, *sums))
        shares /= shares.sum()
        reading = read(row.text)
        forgets.append(0.0 if is_no_request(reading) else float(shares[1]))
        instructs.append(0.0 if is_no_instruction(reading) else float(shares[2] + shares[3]))
    return " | ".join(
        f"{name} at {least}: {_heard(rows, scores, labels, least)}"
        for name, scores, labels in (("forget", forgets, "F"), ("instruct", instructs, "IW"))
        for least in (0.3, 0.4, 0.7)
    )


def _heard(rows: Sequence[Row], scores: Sequence[float], labels: str, least: float) -> str:
    of_kind = [score >= least for row, score in zip(rows, scores, strict=True) if row.label in labels]
    others = [score >= least for row, score in zip(rows, scores, strict=True) if row.label not in labels]
    return f"{sum(of_kind)}/{len(of_kind)}, wrongly {sum(others)}/{len(others)}"


if __name__ == "__main__":
    sys.exit(main())
