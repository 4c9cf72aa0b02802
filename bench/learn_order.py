"""The order of results, learned of questions whose evidence is known: `python -m bench.learn_order
SET.json… --keep DIR [--write FILE]`.

Each SET is a file of conversations as `bench.locomo_data` reads it. Its turns are saved one by one
with the local embedder, in DIR, where another run finds them. Each question's candidates are those
of a retrieve. Note: what is said of left-out conversations is what to expect elsewhere; every fold
leaves conversations of all sets out. The weights that are written are learned of all of them.
`--tables` is the folder that `bench.learn_tokens` kept: each conversation's tokens are then reduced
by a table that was learned without it. Without it they are reduced by the shipped one,
which may have learned of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.learn_tokens import ADVERSARIAL, FOLDS, TOP, fold_size, table_name
from bench.locomo import asked, save
from bench.locomo_data import Question, read
from bench.tables import show
from memory_core.adapters.embedders.minilm import MiniLMEmbedder
from memory_core.adapters.embedders.minilm_model import Reducer
from memory_core.adapters.system import SystemClock
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.ranking.learned_order import TOKEN_FEATURES, WEIGHTS, table
from memory_core.domain.ranking.relevance import long_turns
from memory_core.recollection.query_round import QueryRound

Floats = npt.NDArray[np.float64]
NEGATIVES = 60
"""Of a question at most: the first half by the order that was, and of all others a sample that
counts for them.
"""
RIDGE, LONG_RIDGE = 0.1, 0.03
STEEPNESS = 0.1


@dataclass(frozen=True, slots=True)
class Example:
    """One question. of: the place of its set; conversation: its place there; features: U × F
    by `names`; answers: which candidates are evidence.

    long: how long turns are.
    """

    of: int
    conversation: int
    fold: int
    kind: str
    names: tuple[str, ...]
    features: Floats
    answers: npt.NDArray[np.bool_]
    evidence: int
    relevance: Floats
    order: Floats
    event_at: Floats
    long: float


def gather_sets(files: Sequence[Path], keep: Path, tables: Path | None) -> list[Example]:
    """The examples of all sets. keep, tables: as the options."""
    examples = list[Example]()
    for of, file in enumerate(files):
        (keep / file.stem).mkdir(parents=True, exist_ok=True)
        examples += asyncio.run(gather(file, of, keep / file.stem, tables))
    return examples


async def gather(file: Path, of: int, folder: Path, tables: Path | None) -> list[Example]:
    """The examples of a set. tables: as `--tables`."""
    turns_file, examples = folder / "turns.json", list[Example]()
    turns, conversations = _kept_turns(turns_file), read(file)
    in_fold = fold_size(len(conversations))
    for start in range(0, len(conversations), in_fold):
        fold = start // in_fold % FOLDS
        async with _core(folder, tables and tables / table_name(fold)) as core:
            await core.warm_up()
            for place, conversation in enumerate(conversations[start : start + in_fold], start):
                if conversation.name not in turns:
                    turns[conversation.name] = await save(core, conversation)
                    turns_file.write_text(json.dumps(turns))
                for question in conversation.questions:
                    look = await asked(core, conversation.name, question)
                    answered = turns[conversation.name]
                    examples.append(example(look, question, answered, of, place, fold))
                print(
                    f"{file.stem}: {conversation.name}, {len(conversation.questions)} questions",
                    file=sys.stderr,
                    flush=True,
                )
    return examples


def _core(folder: Path, table: Path | None) -> MemoryCore:
    """A memory over the folder whose tokens are reduced by a table, the shipped one where
    none is given.
    """
    settings = Settings(embedding_provider="minilm", data=folder, vector_cache_entries=20_000)
    if table is None:
        return MemoryCore(settings)
    adapters = Adapters.of(settings, SystemClock(), lambda _: None)
    return MemoryCore(
        settings, adapters=replace(adapters, embedder=MiniLMEmbedder(reducer=Reducer(table)))
    )


def _kept_turns(file: Path) -> dict[str, dict[str, str]]:
    """By conversation, memory id → turn."""
    turns: dict[str, dict[str, str]] = json.loads(file.read_text()) if file.exists() else {}
    return turns


def example(
    look: QueryRound,
    question: Question,
    turns: dict[str, str],
    of: int,
    conversation: int,
    fold: int,
) -> Example:
    """A question's candidates with their features, those of its best part."""
    features = look.judged.features_of(-1)  # the whole query's
    names, candidates = tuple(features), look.candidates
    return Example(
        of,
        conversation,
        fold,
        question.kind,
        names,
        table(features, names, (len(candidates),)).T,
        np.array(
            [turns[memory_id] in question.evidence for memory_id in candidates.ids], dtype=np.bool_
        ),
        len(question.evidence),
        features["relevance"],
        features["order"],
        candidates.event_at,
        long_turns(look.search_answer.statistics),
    )


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights of named features, and of the same times how long turns are."""

    names: tuple[str, ...]
    mean: Floats
    scale: Floats
    weight: Floats

    def logits(self, example: Example) -> Floats:
        """What orders the candidates of a question."""
        logits: Floats = self.design(example) @ self.weight
        return logits

    def design(self, example: Example) -> Floats:
        """U × 2 F."""
        values = np.nan_to_num(
            (example.features[:, [example.names.index(name) for name in self.names]] - self.mean)
            / self.scale
        )
        return np.concatenate([values, example.long * values], axis=1)

    def plain(self) -> dict[str, dict[str, float]]:
        """As it is written."""
        half = len(self.names)
        columns = zip(
            self.names, self.mean, self.scale, self.weight[:half], self.weight[half:], strict=True
        )
        return {
            name: {
                "mean": _short(mean),
                "scale": _short(scale),
                "weight": _short(weight),
                "long_weight": _short(long),
            }
            for name, mean, scale, weight, long in columns
        }


def learn(examples: Sequence[Example], names: tuple[str, ...]) -> Learned:
    """Weights by which each piece of evidence comes before what is none, as far as a
    linear order can.

    Sets count by the root of how many questions they have.
    """
    usable = [example for example in examples if example.answers.any()]
    every = np.concatenate(
        [example.features[:, [example.names.index(name) for name in names]] for example in usable]
    )
    blank = Learned(
        names, np.nanmean(every, axis=0), np.nanstd(every, axis=0) + 1e-6, np.zeros(2 * len(names))
    )
    counts = np.bincount([example.of for example in usable])
    worth = np.array([1 / np.sqrt(counts[example.of]) for example in usable])
    ridge = np.repeat([RIDGE, LONG_RIDGE], len(names))
    return Learned(
        names,
        blank.mean,
        blank.scale,
        _fitted([_sampled(blank, example) for example in usable], worth / worth.sum(), ridge),
    )


def _sampled(blank: Learned, example: Example) -> tuple[Floats, int, Floats]:
    """The design of the evidence and of a sample of the rest, how many are evidence, and the
    logarithm of how many each stands for.
    """
    by_order = np.argsort(-example.order, kind="stable")
    evidence, others = np.flatnonzero(example.answers), by_order[~example.answers[by_order]]
    stands_for = np.zeros(len(evidence) + min(len(others), NEGATIVES))
    if len(others) > NEGATIVES:
        first, rest = others[: NEGATIVES // 2], others[NEGATIVES // 2 :]
        drawn = np.random.default_rng(len(others)).choice(
            rest, NEGATIVES - len(first), replace=False
        )
        others = np.concatenate([first, drawn])
        stands_for[len(evidence) + len(first) :] = np.log(len(rest) / len(drawn))
    return blank.design(example)[np.concatenate([evidence, others])], len(evidence), stands_for


def _fitted(sampled: Sequence[tuple[Floats, int, Floats]], worth: Floats, ridge: Floats) -> Floats:
    """The weights with the least loss: of each piece of evidence, minus the logarithm of its share
    against all that is none.
    """
    widest = max(len(rows) for rows, _, _ in sampled)
    design = np.zeros((len(sampled), widest, len(ridge)), dtype=np.float32)
    offset, evidence = (
        np.full((len(sampled), widest), -np.inf),
        np.zeros((len(sampled), widest), dtype=np.bool_),
    )
    for place, (rows, count, stands_for) in enumerate(sampled):
        design[place, : len(rows)], offset[place, : len(rows)], evidence[place, :count] = (
            rows,
            stands_for,
            True,
        )
    flat = design.reshape(-1, len(ridge))
    others = np.isfinite(offset) & ~evidence
    each = (worth / evidence.sum(axis=1))[:, None]

    def loss(weight: Floats) -> tuple[float, Floats]:
        logits = (flat @ weight.astype(np.float32)).reshape(offset.shape).astype(
            np.float64
        ) + offset
        top = logits.max(axis=1, keepdims=True)
        of_others = np.where(others, np.exp(logits - top), 0.0)
        of_evidence = np.where(evidence, np.exp(logits - top), 0.0)
        total = of_evidence + of_others.sum(axis=1, keepdims=True)
        missed = np.where(evidence, np.log(total) - np.where(evidence, logits - top, 0.0), 0.0)
        slope = np.where(evidence, of_evidence / total - 1.0, 0.0) * each
        slope += of_others * np.where(evidence, 1.0 / total, 0.0).sum(axis=1, keepdims=True) * each
        value = float((missed * each).sum() + 0.5 * (ridge * weight**2).sum())
        return value, flat.T @ slope.reshape(-1).astype(np.float32) + ridge * weight

    return least(loss, np.zeros(len(ridge)))


def least(
    loss: Callable[[Floats], tuple[float, Floats]],
    at: Floats,
    *,
    steps: int = 120,
    memory: int = 10,
) -> Floats:
    """Where a convex function is least, by L-BFGS. loss: its value and its slope."""
    value, slope = loss(at)
    pairs: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        direction = -_curved(slope, pairs)
        steep = float(slope @ direction)
        size = 1.0
        while (further := loss(at + size * direction))[
            0
        ] > value + 1e-4 * size * steep and size > 1e-6:
            size /= 2
        step, change = size * direction, further[1] - slope
        if float(step @ change) > 1e-12:
            pairs = [*pairs, (step, change)][-memory:]
        at, gain, value, slope = at + step, value - further[0], *further
        if gain < 1e-8 * abs(value):
            break
    return at


def _curved(slope: Floats, pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The slope times what the last steps tell of the inverse of the curvature."""
    if not pairs:
        return slope / max(float(np.linalg.norm(slope)), 1e-9)
    turned, passed = slope.copy(), list[float]()
    for step, change in reversed(pairs):
        passed.append(float(step @ turned) / float(step @ change))
        turned -= passed[-1] * change
    turned *= float(pairs[-1][0] @ pairs[-1][1]) / float(pairs[-1][1] @ pairs[-1][1])
    for (step, change), share in zip(pairs, reversed(passed), strict=True):
        turned += step * (share - float(change @ turned) / float(step @ change))
    return turned


def recall(example: Example, logits: Floats) -> float:
    """The share of the evidence among the first ten."""
    order = np.lexsort((-example.event_at, -example.relevance, -logits))[:TOP]
    return float(example.answers[order].sum()) / example.evidence


def left_out(examples: Sequence[Example], names: tuple[str, ...]) -> list[float]:
    """The recall of each question by weights that were learned without its conversation."""
    learned = {
        fold: learn([example for example in examples if example.fold != fold], names)
        for fold in {example.fold for example in examples}
    }
    return [recall(example, learned[example.fold].logits(example)) for example in examples]


def _short(number: float) -> float:
    return float(f"{number:.5g}")


def summary(
    examples: Sequence[Example], recalls: Sequence[float], sets: Sequence[str]
) -> dict[str, float]:
    """By set the mean recall over questions that have an answer; of the first set two
    kinds apart.
    """
    answered = [
        (example, share)
        for example, share in zip(examples, recalls, strict=True)
        if example.kind != ADVERSARIAL
    ]
    by_set = {
        name: [share for example, share in answered if example.of == of]
        for of, name in enumerate(sets)
    }
    first = [
        (example, share)
        for example, share in zip(examples, recalls, strict=True)
        if example.of == 0
    ]
    apart = {
        f"{sets[0]}, {kind}": [share for example, share in first if example.kind == kind]
        for kind in ("multi-hop", ADVERSARIAL)
    }
    return {
        name: round(float(np.mean(shares)), 4)
        for name, shares in (by_set | apart).items()
        if shares
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Gather, learn, print and write."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.learn_order", description="Learns the order of results."
    )
    parser.add_argument(
        "data", type=Path, nargs="+", help="conversations in a form that bench.locomo_data reads"
    )
    parser.add_argument("--keep", type=Path, required=True, help="a folder for the saved turns")
    parser.add_argument("--tables", type=Path, help="the folder that bench.learn_tokens kept")
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=WEIGHTS,
        help="write the weights (default where the product reads them)",
    )
    options = parser.parse_args(arguments)
    examples = gather_sets(options.data, options.keep, options.tables)
    record = learn_and_report(examples, [file.stem for file in options.data])
    if options.write:
        options.write.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def learn_and_report(examples: Sequence[Example], sets: Sequence[str]) -> dict[str, Any]:
    """Print what each order finds, and return what is written."""
    with_tokens = max((example.names for example in examples), key=len)
    without = tuple(name for name in with_tokens if name not in TOKEN_FEATURES)
    weights = {
        "with_tokens": learn(examples, with_tokens),
        "without_tokens": learn(examples, without),
    }
    figures = {
        "the order before": summary(
            examples, [recall(example, example.order) for example in examples], sets
        ),
        "without tokens, left out": summary(examples, left_out(examples, without), sets),
        "with tokens, left out": summary(examples, left_out(examples, with_tokens), sets),
        "with tokens, in sample": summary(
            examples,
            [recall(example, weights["with_tokens"].logits(example)) for example in examples],
            sets,
        ),
    }
    heads = list(figures["the order before"])
    show(
        "recall@10",
        ("", *heads),
        [[name, *(f"{figure[head]:.3f}" for head in heads)] for name, figure in figures.items()],
    )
    record = {
        "learned of": (
            "the parts for tuning of LoCoMo (CC BY-NC 4.0), REALTALK and BEAM-100K; these numbers "
            "hold none of their text"
        ),
        "questions": {
            name: sum(example.of == of for example in examples) for of, name in enumerate(sets)
        },
        "split": (
            f"{FOLDS} folds, each leaves whole conversations of every set out; the weights are "
            "learned of all"
        ),
        "date": date.today().isoformat(),  # noqa: DTZ011 - the day where it was learned
        "recall@10": figures,
    }
    return {
        "record": record,
        "steepness": STEEPNESS,
        **{name: learned.plain() for name, learned in weights.items()},
    }


if __name__ == "__main__":
    raise SystemExit(main())
