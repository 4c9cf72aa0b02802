"""How much of the evidence is found: LoCoMo's questions, what each ingredient of relevance earns,
and other ways on the same turns.

`python -m bench.locomo FILE [--apart 5] [--without-peers]`. FILE: the data set as published, or
conversations in the form of `bench.retrieval`; its licence forbids commercial use, so it is never
part of this project, and nothing is downloaded: fetch `locomo10.json` from the repository of its
authors (Maharana et al., 2024). The learned order is left out. Note: the intervals are over
conversations (4 or 10 of them), not over questions, because the questions of one conversation stand
or fall together. They are wide. A difference between two lines is narrower:
its own interval is beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench import locomo_peers
from bench.locomo_data import Conversation, Question, read
from bench.tables import percentile, show
from memory_core.bootstrap.rules import retrieve_rules
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.ranking.query_parts import parts_relevance
from memory_core.domain.ranking.recipes import score
from memory_core.domain.ranking.relevance import RelevanceParameters
from memory_core.domain.ranking.repeats import Telling, repeats
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.recollection.query_round import QueryRound

CUTS = (5, 10, 20)
DRAWS = 4_000
NAMES = {1: "several turns", 2: "time", 3: "open-ended", 4: "one turn", 5: "adversarial"}
Row = tuple[int, int, float, float, float]
"""Conversation, category, recall at each of CUTS."""
Change = Callable[[RelevanceParameters], RelevanceParameters]

ABLATIONS: dict[str, Change] = {
    "as it is": lambda p: p,
    "no vectors": lambda p: replace(p, fusion=replace(p.fusion, vector_weight=0.0)),
    "no words": lambda p: replace(p, fusion=replace(p.fusion, vector_weight=1.0)),
    "no related words": lambda p: replace(p, near_weight=0.0),
    "nothing of the next turn": lambda p: replace(p, next_weight=0.0),
    "no neighbour's cosine": lambda p: replace(p, cosine_smoothing=0.0),
    "no actor": lambda p: replace(p, actor_boost=0.0),
    "no question penalty": lambda p: replace(p, question_penalty=0.0),
    "the penalty for long ones, too": lambda p: replace(p, question_length=float("inf")),
    "the mean length as it is": lambda p: replace(
        p, least_mean_length=0.0, most_mean_length=float("inf")
    ),
    "near words whatever the length": lambda p: replace(p, near_by_length=False),
    "nothing of the turns around in the order": lambda p: replace(p, around_weight=0.0),
    "no cosine beside where turns are long": lambda p: replace(p, long_text_weight=0.0),
    "long texts as a whole": lambda p: replace(p, passage_terms=()),
    "no time boost": lambda p: replace(p, time_boost=0.0),
    "no date windows": lambda p: replace(p, window_boost=0.0),
    "times told in words only": lambda p: replace(p, excuse_words=False),
    "the textbook's k1 and b": lambda p: replace(p, k1=1.2, b=0.75),
    "shares not raised": lambda p: replace(p, fusion=replace(p.fusion, gamma=1.0)),
}
REPEATS = "repeats stay where they are"
"""The one line that is no number of relevance: results that only repeat a better one are not
pushed behind.
"""
MOST_RESULTS = 60


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.locomo", description="Measures retrieval on LoCoMo's conversations."
    )
    parser.add_argument(
        "data",
        type=Path,
        help=(
            "locomo10.json as its authors publish it, or conversations as bench.retrieval "
            "reads them"
        ),
    )
    parser.add_argument(
        "--apart",
        type=lambda text: {int(category) for category in text.split(",")},
        default={5},
        help="categories not in the head",
    )
    parser.add_argument("--without-peers", action="store_true", help="only Memory Core")
    options = parser.parse_args(arguments)
    asyncio.run(_measure(read(options.data), options.apart, peers=not options.without_peers))
    return 0


async def _measure(conversations: Sequence[Conversation], apart: set[int], *, peers: bool) -> None:
    lines: dict[str, list[Row]] = {name: [] for name in (*ABLATIONS, REPEATS)}
    others: dict[str, list[Row]] = {}
    times: list[float] = []
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        settings = Settings(
            embedding_provider="minilm", data=Path(folder), vector_cache_entries=20_000
        )
        async with MemoryCore(settings) as core:
            await core.warm_up()
            for place, conversation in enumerate(conversations):
                turns = await save(core, conversation)
                tellings = {
                    turn.id: Telling(turn.text, turn.actor, turn.at[:10])
                    for turn in conversation.turns
                }
                for question in conversation.questions:
                    began = time.perf_counter()
                    look = await asked(core, conversation.name, question)
                    times.append(time.perf_counter() - began)
                    for name, change in ABLATIONS.items():
                        best = [turns[memory_id] for memory_id in ranked(core, look, change)][
                            :MOST_RESULTS
                        ]
                        lines[name].append(
                            (place, question.category, *recalls(question, _varied(best, tellings)))
                        )
                    best = [
                        turns[memory_id] for memory_id in ranked(core, look, ABLATIONS["as it is"])
                    ]
                    lines[REPEATS].append((place, question.category, *recalls(question, best)))
                if peers:
                    for name, ranking in (
                        await locomo_peers.rankings(core, conversation, Path(folder))
                    ).items():
                        rows = [
                            (place, question.category, *recalls(question, best))
                            for question, best in zip(conversation.questions, ranking, strict=True)
                        ]
                        others.setdefault(name, []).extend(rows)
                print(
                    f"{conversation.name}: {len(conversation.turns)} turns, "
                    f"{len(conversation.questions)} questions",
                    flush=True,
                )
    _report(lines, others, apart)
    ordered = sorted(times)
    print(
        f"\nembedding a question and searching: p50 {1000 * percentile(ordered, 0.5):.1f} ms, p95 "
        f"{1000 * percentile(ordered, 0.95):.1f} ms"
    )


async def save(core: MemoryCore, conversation: Conversation) -> dict[str, str]:
    """Every turn one episodic memory; memory id → turn."""
    turns: dict[str, str] = {}
    for start in range(0, len(conversation.turns), 100):
        part = conversation.turns[start : start + 100]
        items = [SaveInput.model_validate(turn.saved()) for turn in part]
        for turn, saved in zip(
            part, await core.bulk(Owner("local", conversation.name), items), strict=True
        ):
            if isinstance(saved, Exception):
                raise saved
            turns[saved.memory.id] = turn.id
    return turns


async def asked(core: MemoryCore, user: str, question: Question) -> QueryRound:
    """The candidates, as a retrieve of 20 gathers them."""
    return await core._services.retriever.candidates.look(
        Owner("local", user), RetrieveInput(query=question.text, limit=max(CUTS))
    )


def ranked(core: MemoryCore, look: QueryRound, change: Change) -> list[str]:
    """The candidates' ids, best first by the default recipe with changed numbers, in the order by
    relevance, not the learned one.
    """
    rules, candidates = retrieve_rules(core.settings), look.candidates
    parameters = change(replace(rules.relevance, learned=False))
    judged = parts_relevance(
        look.query_parts, look.vectors, candidates, look.search_answer.statistics, parameters
    )
    scores = score(
        "composite", None, judged.order, candidates, look.moment.timestamp(), rules.scoring
    )
    order = np.lexsort((-candidates.event_at, -judged.best.score, -scores.score))
    return [candidates.ids[row] for row in order.tolist()]


def _varied(turns: Sequence[str], tellings: Mapping[str, Telling]) -> list[str]:
    """The turns with those behind that only repeat a better one."""
    behind = repeats([tellings[turn] for turn in turns])
    return [turn for place, turn in enumerate(turns) if place not in behind] + [
        turns[place] for place in behind
    ]


def recalls(question: Question, turns: Sequence[str]) -> tuple[float, float, float]:
    """The share of the evidence among the first 5, 10 and 20 turns."""
    five, ten, twenty = (
        len(question.evidence & set(turns[:cut])) / len(question.evidence) for cut in CUTS
    )
    return five, ten, twenty


def _report(lines: dict[str, list[Row]], others: dict[str, list[Row]], apart: set[int]) -> None:
    base = np.array(lines["as it is"])
    head = ~np.isin(base[:, 1], sorted(apart))
    kinds = sorted({int(category) for category in base[:, 1]})
    headings = (
        "",
        *(f"recall@{cut}" for cut in CUTS),
        "95 %",
        *(NAMES.get(kind, str(kind)) for kind in kinds),
        "10, against the first",
    )

    def line(name: str, rows: Sequence[Row]) -> list[str]:
        table = np.array(rows)
        cuts = [f"{table[head][:, 2 + place].mean():.3f}" for place in range(len(CUTS))]
        each = [f"{table[table[:, 1] == kind][:, 3].mean():.3f}" for kind in kinds]
        against = (
            ""
            if table is base or np.array_equal(table, base)
            else _between(table[head][:, 3] - base[head][:, 3], base[head][:, 0])
        )
        return [
            name,
            *cuts,
            _between(table[head][:, 3], base[head][:, 0], signed=False),
            *each,
            against,
        ]

    show(
        "Evidence found, default recipe, one ingredient at a time taken away",
        headings,
        [line(*arguments) for arguments in lines.items()],
    )
    if others:
        ours = line("Memory Core", lines["as it is"])
        show(
            "Other ways on the same turns and questions",
            headings,
            [ours, *(line(*arguments) for arguments in others.items())],
        )


def _between(
    values: npt.NDArray[np.float64], conversations: npt.NDArray[np.float64], *, signed: bool = True
) -> str:
    """The middle 95 % of the mean when whole conversations are drawn again, with repetition."""
    groups = [values[conversations == name] for name in np.unique(conversations)]
    sums, sizes = (
        np.array([group.sum() for group in groups]),
        np.array([len(group) for group in groups]),
    )
    drawn = np.random.default_rng(7).integers(0, len(groups), (DRAWS, len(groups)))
    low, high = np.percentile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), (2.5, 97.5))
    return f"{low:+.3f} to {high:+.3f}" if signed else f"{low:.3f}–{high:.3f}"


if __name__ == "__main__":
    raise SystemExit(main())
