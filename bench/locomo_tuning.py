"""What the weights of relevance are worth elsewhere: each conversation left out in turn, the others
choose, the one left out is asked.

`python -m bench.locomo_tuning FILE [--draws 120]`; FILE as `bench.locomo` takes it. The weights
that every store counts at query time are searched: random draws, then from the best of them one
weight after the other, until nothing gets better. Gamma stays as shipped: it was chosen for the
thresholds.

Note: the last line is the recall to expect of conversations that were not tuned for. The first is
what the shipped weights find, which were chosen on all four.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.locomo import NAMES, asked, ranked, recalls, save
from bench.locomo_data import Conversation, Question, read
from bench.tables import show
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.ranking.relevance import RelevanceParameters
from memory_core.recollection.query_round import QueryRound

GRID: Mapping[str, tuple[float, ...]] = {
    "vector_weight": (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    "k1": (0.4, 0.55, 0.7, 0.85, 1.0, 1.2),
    "b": (0.2, 0.3, 0.4, 0.5, 0.6, 0.75),
    "near_weight": (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8),
    "next_weight": (0.0, 0.1, 0.2, 0.25, 0.3, 0.4),
    "cosine_smoothing": (0.0, 0.25, 0.5, 0.75, 1.0, 1.25),
    "actor_boost": (0.0, 0.1, 0.15, 0.175, 0.2, 0.25, 0.3),
    "question_penalty": (0.0, 0.05, 0.1, 0.15, 0.2),
    "time_boost": (0.0, 0.1, 0.2, 0.3),
    "window_boost": (0.0, 0.1, 0.2, 0.3),
}
Weights = tuple[float, ...]
"""One number for each name of GRID, in its order."""
Table = npt.NDArray[np.float64]
"""A line for each question: conversation, category, recall at 5, 10 and 20."""
PASSES = 3


@dataclass(slots=True)
class Bench:
    """The questions with their candidates. One look each; what a choice of weights finds in
    them is kept.
    """

    core: MemoryCore
    places: list[int] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    looks: list[QueryRound] = field(default_factory=list)
    turns: list[Mapping[str, str]] = field(default_factory=list)
    known: dict[Weights, Table] = field(default_factory=dict)

    def found(self, weights: Weights) -> Table:
        """What these weights find, over all conversations."""
        if weights not in self.known:
            rows = zip(self.places, self.questions, self.looks, self.turns, strict=True)
            table = [
                (
                    place,
                    question.category,
                    *recalls(
                        question,
                        [
                            turns[memory_id]
                            for memory_id in ranked(self.core, look, lambda p: put(p, weights))
                        ],
                    ),
                )
                for place, question, look, turns in rows
            ]
            self.known[weights] = np.array(table)
        return self.known[weights]


def put(parameters: RelevanceParameters, weights: Weights) -> RelevanceParameters:
    """The parameters with these weights."""
    named: dict[str, Any] = dict(zip(GRID, weights, strict=True))
    return replace(
        parameters,
        fusion=replace(parameters.fusion, vector_weight=named.pop("vector_weight")),
        **named,
    )


def objective(table: Table) -> float:
    """The mean of recall at 5, 10 and 20 over the kinds of question, each kind as
    much as another.
    """
    kinds = np.unique(table[:, 1])
    return float(np.mean([table[table[:, 1] == kind][:, 2:].mean() for kind in kinds]))


def searched(bench: Bench, draws: Sequence[Weights], among: npt.NDArray[np.bool_]) -> Weights:
    """The best weights for the kept questions: the best draw, then one weight after the other."""

    def worth(weights: Weights) -> float:
        return objective(bench.found(weights)[among])

    best = max(draws, key=worth)
    for _ in range(PASSES):
        before = best
        for place, values in enumerate(GRID.values()):
            best = max(
                (best, *((*best[:place], value, *best[place + 1 :]) for value in values)), key=worth
            )
        if best == before:
            break
    return best


async def measure(conversations: Sequence[Conversation], count: int) -> None:
    """Ask everything once, search, and print."""
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        settings = Settings(
            embedding_provider="minilm", data=Path(folder), vector_cache_entries=20_000
        )
        async with MemoryCore(settings) as core:
            await core.warm_up()
            bench = Bench(core)
            for place, conversation in enumerate(conversations):
                turns = await save(core, conversation)
                for question in conversation.questions:
                    bench.places.append(place)
                    bench.questions.append(question)
                    bench.looks.append(await asked(core, conversation.name, question))
                    bench.turns.append(turns)
            random = np.random.default_rng(7)
            draws = [
                tuple(float(random.choice(values)) for values in GRID.values())
                for _ in range(count)
            ]
            _report(bench, draws, conversations)


def _report(bench: Bench, draws: Sequence[Weights], conversations: Sequence[Conversation]) -> None:
    default = RelevanceParameters()
    shipped = tuple(
        float(getattr(default.fusion if name == "vector_weight" else default, name))
        for name in GRID
    )
    everything = bench.found(shipped)
    of = everything[:, 0]
    left, chosen = np.zeros_like(everything), []
    for place, conversation in enumerate(conversations):
        weights = searched(bench, draws, of != place)
        left[of == place] = bench.found(weights)[of == place]
        chosen.append([f"without {conversation.name}", *(f"{weight:g}" for weight in weights)])
        print(
            f"{conversation.name} left out: {len(bench.known)} choices of weights tried so far",
            flush=True,
        )
    weights = searched(bench, draws, of >= 0)
    show(
        "Chosen",
        ("", *GRID),
        [
            ["shipped", *(f"{weight:g}" for weight in shipped)],
            *chosen,
            ["by all", *(f"{weight:g}" for weight in weights)],
        ],
    )
    lines = [
        _line("shipped", everything),
        _line("chosen by all", bench.found(weights)),
        _line("each left out of its own choice", left),
    ]
    show(
        "Evidence found",
        ("", "recall@5", "recall@10", "recall@20", *NAMES.values(), "objective"),
        lines,
    )


def _line(name: str, table: Table) -> list[str]:
    head = table[table[:, 1] != 5]
    each = [f"{table[table[:, 1] == kind][:, 3].mean():.3f}" for kind in NAMES]
    return [
        name,
        *(f"{head[:, 2 + place].mean():.3f}" for place in range(3)),
        *each,
        f"{objective(table):.4f}",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.locomo_tuning",
        description="Searches weights, leaving each conversation out.",
    )
    parser.add_argument("data", type=Path, help="as bench.locomo takes it")
    parser.add_argument(
        "--draws", type=int, default=120, help="random choices of weights that a search begins with"
    )
    options = parser.parse_args(arguments)
    asyncio.run(measure(read(options.data), options.draws))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
