"""`python -m bench.knowledge.durable_training`: learns which sentences tell something durable,
and says how well.

The sentences were written and labelled for this, by several authors. Without `--write` each
author's part is judged by weights that were learned of the others' (of a language that one author
wrote, by five folds), and everyday sentences that other people labelled by the weights in use;
with it, the weights are learned of all and written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench.knowledge.linear import learnt, write
from memory_core.adapters.offline.lasting_facts import LEAST_DURABLE
from memory_core.domain.statements.durability import WEIGHTS, durability, durable_features
from memory_core.domain.statements.linear_models import LinearModel

FOLDER = Path(__file__).parent
SENTENCES = FOLDER / "durable_sentences.tsv"
EVERYDAY = FOLDER / "everyday_sentences.tsv"
PASSING, DURABLE, CHANGE = "P", "D", "C"
L1, L2 = 1.0, 0.3
FOLDS = 5


@dataclass(frozen=True)
class Row:
    """A labelled sentence. author: who wrote it."""

    label: str
    lang: str
    author: str
    text: str

    @cached_property
    def features(self) -> frozenset[str]:
        """What the model sees of it."""
        return durable_features(self.text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn and measure, or learn and write when asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.knowledge.durable_training", description=__doc__
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    rows = _rows(SENTENCES)
    if options.write:
        write(WEIGHTS, _weights(rows))
        return 0
    for author in dict.fromkeys(row.author for row in rows):
        _report(author, [row for row in rows if row.author == author], _left_out(rows, author))
    everyday = [row for row in _rows(EVERYDAY) if row.label != CHANGE]
    for author in dict.fromkeys(row.author for row in everyday):
        of_author = [row for row in everyday if row.author == author]
        _report(author, of_author, [durability(row.text) for row in of_author])
    return 0


def _rows(file: Path) -> list[Row]:
    return [
        Row(*line.split("\t"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]


def _weights(rows: Sequence[Row]) -> dict[str, list[float]]:
    return learnt(
        [row.features for row in rows], [int(row.label == DURABLE) for row in rows], 2, l1=L1, l2=L2
    )


def _left_out(rows: Sequence[Row], author: str) -> list[float]:
    """The durability of an author's sentences by weights that saw none of them."""
    theirs, others = (
        [row for row in rows if row.author == author],
        [row for row in rows if row.author != author],
    )
    if any(row.lang == theirs[0].lang for row in others):
        model = LinearModel(_weights(others), 1)
        return [model.chances(row.features)[0] for row in theirs]
    chances = [0.0] * len(theirs)
    for fold in range(FOLDS):
        model = LinearModel(
            _weights(
                [*others, *(row for place, row in enumerate(theirs) if place % FOLDS != fold)]
            ),
            1,
        )
        for place in range(fold, len(theirs), FOLDS):
            chances[place] = model.chances(theirs[place].features)[0]
    return chances


def _report(author: str, rows: Sequence[Row], durable: Sequence[float]) -> None:
    """By threshold, the share of durable sentences that reach it and how many of those that do
    are durable.
    """
    lines = []
    for least in (LEAST_DURABLE, 0.5, 0.8):
        reached = [
            row.label == DURABLE
            for row, chance in zip(rows, durable, strict=True)
            if chance >= least
        ]
        wanted = sum(row.label == DURABLE for row in rows)
        lines.append(
            f"at {least}: {sum(reached)}/{wanted} reached, "
            f"{sum(reached) / max(1, len(reached)):.0%} of them durable"
        )
    print(f"{author}: {'; '.join(lines)}")


if __name__ == "__main__":
    sys.exit(main())
