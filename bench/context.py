"""`python -m bench.context DATA`: how much of what a question needs is in the context that the
mode `reconstruct` answers with.

DATA is a conversation data set as `bench.retrieval` takes it. Every turn is saved as one episodic
memory, every question is asked once for each budget, without a language model. A turn counts as
there when the context cites it and holds its whole text: what was cut is not there.

Note: the first budget's times are the ones to compare. At the others the host has the questions'
vectors already.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.host import Host
from bench.load import ask
from bench.retrieval import saves, send
from bench.tables import show

BUDGETS = (2000, 500, 1000, 4000)


@dataclass(slots=True)
class Asked:
    """What one budget gave: by question its category, the share of its evidence, rounds,
    whether it was enough, and the length.
    """

    categories: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    sufficient: list[bool] = field(default_factory=list)
    memories: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.context",
        description="Measures contexts over a conversation data set.",
    )
    parser.add_argument(
        "data",
        type=Path,
        help="a conversation data set; its form is in the docstring of bench.retrieval",
    )
    parser.add_argument(
        "--port",
        type=int,
        help=(
            "of a host that runs on this machine with authentication off; without it one is started"
        ),
    )
    parser.add_argument(
        "--embedder", default="minilm", help="of the host that is started (default minilm)"
    )
    parser.add_argument(
        "--apart",
        type=lambda text: {int(category) for category in text.split(",")},
        default={5},
        help="categories to leave out",
    )
    parser.add_argument(
        "--budgets",
        type=lambda text: [int(budget) for budget in text.split(",")],
        default=list(BUDGETS),
        help="in tokens",
    )
    options = parser.parse_args(arguments)
    conversations = json.loads(options.data.read_text())
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        host = None if options.port else Host(Path(folder), options.embedder)
        try:
            port = options.port or host.port  # type: ignore[union-attr]
            asked = asyncio.run(_ask_all(port, conversations, options.apart, options.budgets))
        finally:
            if host is not None:
                host.stop()
    _report(asked)
    return 0


async def _ask_all(
    port: int, conversations: Sequence[dict[str, Any]], apart: set[int], budgets: Sequence[int]
) -> dict[int, Asked]:
    asked = {budget: Asked() for budget in budgets}
    for conversation in conversations:
        user = f"{conversation['conv_id']}-{uuid.uuid4().hex[:8]}"
        saved, _ = await send(port, saves(user, conversation["turns"]))
        memories = [result["memory"] for answer in saved for result in answer["results"]]
        turns = {
            memory["id"]: (memory["metadata"]["turn"], " ".join(memory["content"].split()))
            for memory in memories
        }
        questions = [
            question
            for question in conversation["questions"]
            if question["cat"] not in apart and question["evidence"]
        ]
        for budget in budgets:
            await _ask(port, user, questions, turns, budget, asked[budget])
    return asked


async def _ask(
    port: int,
    user: str,
    questions: Sequence[dict[str, Any]],
    turns: dict[str, tuple[str, str]],
    budget: int,
    into: Asked,
) -> None:
    bodies = [
        {"user_id": user, "query": question["q"], "mode": "reconstruct", "max_tokens": budget}
        for question in questions
    ]
    answers, times = await send(
        port, [ask("reconstruct", "POST", "/api/v1/memories/retrieve", body) for body in bodies]
    )
    into.times += times
    for question, answer in zip(questions, answers, strict=True):
        there = {
            turn
            for turn, text in (turns[citation] for citation in answer["citations"])
            if text in answer["context"]
        }
        evidence = set(question["evidence"])
        into.categories.append(question["cat"])
        into.shares.append(len(evidence & there) / len(evidence))
        into.rounds.append(answer["rounds"])
        into.sufficient.append(answer["sufficient"])
        into.memories.append(len(answer["citations"]))


def _report(asked: dict[int, Asked]) -> None:
    categories = sorted({category for each in asked.values() for category in each.categories})
    headings = (
        "tokens",
        "questions",
        "evidence in context",
        *(f"category {category}" for category in categories),
    )
    show(
        "Evidence whose text stands in the context",
        headings,
        [_line(budget, answers, categories) for budget, answers in sorted(asked.items())],
    )
    more = [
        [
            f"{budget:,}",
            f"{_mean(answers.memories):.1f}",
            f"{_mean(answers.rounds):.2f}",
            f"{100 * _mean(answers.sufficient):.0f} %",
            *_times(answers.times),
        ]
        for budget, answers in sorted(asked.items())
    ]
    show(
        "What it took",
        ("tokens", "memories cited", "rounds", "sufficient", "p50 ms", "p95 ms"),
        more,
    )


def _line(budget: int, asked: Asked, categories: Sequence[int]) -> list[str]:
    by_category = [
        _mean(
            [
                share
                for share, of in zip(asked.shares, asked.categories, strict=True)
                if of == category
            ]
        )
        for category in categories
    ]
    return [
        f"{budget:,}",
        f"{len(asked.shares):,}",
        f"{_mean(asked.shares):.4f}",
        *(f"{share:.3f}" for share in by_category),
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _times(times: Sequence[float]) -> list[str]:
    ordered = sorted(times)
    return [f"{1000 * ordered[int(share * len(ordered))]:.1f}" for share in (0.5, 0.95)]


if __name__ == "__main__":
    raise SystemExit(main())
