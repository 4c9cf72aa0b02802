"""`python -m bench.knowledge.wish_training`: learns the weights of `wish_weights.json`,
and says how well they do.

By the thresholds that the product has. Without `--write` it learns from the train part and measures
on the check part; with it, it learns from both and writes the weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.knowledge.linear import learnt, write
from memory_core.domain.statements.linear_models import WEIGHTS, LinearModel
from memory_core.domain.statements.sentence_wishes import ASKS, INSTRUCTS, PERHAPS
from memory_core.domain.statements.wish_rules import is_no_instruction, is_no_request
from memory_core.domain.statements.wish_signs import features, read

SENTENCES = Path(__file__).parent / "wish_sentences.tsv"
LABELS = "NFIW"


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
    parser = argparse.ArgumentParser(
        prog="python -m bench.knowledge.wish_training", description=__doc__
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    rows = _rows()
    taught = rows if options.write else [row for row in rows if row.part == "train"]
    weights = learnt(
        [row.features for row in taught], [LABELS.index(row.label) for row in taught], len(LABELS)
    )
    model = LinearModel(weights, len(LABELS) - 1)
    measured = rows if options.write else [row for row in rows if row.part == "check"]
    for lang in ("en", "de", "ja", ""):
        print(lang or "all", _shares([row for row in measured if lang in ("", row.lang)], model))
    if options.write:
        write(WEIGHTS, weights)
    return 0


def _rows() -> list[Row]:
    rows = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            label, lang, part, text = line.split("\t")
            before, _, last = text.rpartition(" || ")
            rows.append(Row(label, lang, part, before.strip(), last.strip()))
    return rows


def _shares(rows: Sequence[Row], model: LinearModel) -> str:
    """By each threshold of `wishes`, the wishes heard and the other sentences taken for one."""
    forgets, instructs = [], []
    for row in rows:
        forget, instruct, lift = model.chances(row.features)
        reading = read(row.text)
        forgets.append(0.0 if is_no_request(reading) else forget)
        instructs.append(0.0 if is_no_instruction(reading) else instruct + lift)
    return " | ".join(
        f"{name} at {least}: {_heard(rows, scores, labels, least)}"
        for name, scores, labels, least in (
            ("forget, asked back if known", forgets, "F", PERHAPS),
            ("forget, asked back", forgets, "F", ASKS),
            ("instruct", instructs, "IW", INSTRUCTS),
        )
    )


def _heard(rows: Sequence[Row], scores: Sequence[float], labels: str, least: float) -> str:
    of_kind = [
        score >= least for row, score in zip(rows, scores, strict=True) if row.label in labels
    ]
    others = [
        score >= least for row, score in zip(rows, scores, strict=True) if row.label not in labels
    ]
    return f"{sum(of_kind)}/{len(of_kind)}, wrongly {sum(others)}/{len(others)}"


if __name__ == "__main__":
    sys.exit(main())
