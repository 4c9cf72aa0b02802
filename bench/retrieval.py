"""`python -m bench.retrieval DATA`: how much of what a question needs is found,
and what the two thresholds cost and save.

DATA is a conversation data set, a JSON list of conversations:

    {"conv_id": text,
     "turns":     [{"id": text, "session": number, "speaker": text, "text": text, "caption": text, "at": ISO time}, …],
     "questions": [{"q": text, "cat": number, "evidence": [turn id, …], "answer": text}, …]}

`caption` describes an image sent with the turn ("" when none was), `cat` is the question's
category, `evidence` the turns that hold the answer; `answer`, which may be left out, is for
`bench.answers`. Every turn is saved as one episodic memory, every question is one retrieve with the
default recipe, no language model anywhere. Questions of the categories in --apart, and those
without evidence, are left out of every number. An unrelated query is a question of the next
conversation, asked of this one's user. Note: the table of thresholds is computed from the relevance
of each hit of one unfiltered run; the line "as shipped" below it really asked with the host's
own thresholds.
"""  # noqa: E501

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

import orjson

from bench.host import Host
from bench.load import Ask, ask, drive
from bench.tables import show

CUTS = (5, 10, 20)
ANSWER = (0.30, 0.35, 0.40, 0.45, 0.50)
FLOOR = (0.0, 0.3, 0.4)
RESULTS = 10


@dataclass(frozen=True, slots=True)
class Hits:
    """An answer: the turns found, best first, and their relevance."""

    turns: list[str]
    relevance: list[float]

    def cut(self, answer: float, floor: float) -> list[str]:
        """The turns that these thresholds leave."""
        if max(self.relevance, default=0.0) < answer:
            return []
        return [
            turn for turn, score in zip(self.turns, self.relevance, strict=True) if score >= floor
        ][:RESULTS]


@dataclass(slots=True)
class Asked:
    """Everything that was asked: by question its evidence, its hits without thresholds and as
    shipped; and the unrelated ones' hits.
    """

    evidence: list[frozenset[str]] = field(default_factory=list)
    open: list[Hits] = field(default_factory=list)
    shipped: list[Hits] = field(default_factory=list)
    unrelated_open: list[Hits] = field(default_factory=list)
    unrelated_shipped: list[Hits] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval",
        description="Measures retrieval over a conversation data set.",
    )
    parser.add_argument(
        "data", type=Path, help="a conversation data set; its form is in this module's docstring"
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
    options = parser.parse_args(arguments)
    conversations = json.loads(options.data.read_text())
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        host = None if options.port else Host(Path(folder), options.embedder)
        try:
            asked = asyncio.run(_ask_all(options.port or host.port, conversations, options.apart))  # type: ignore[union-attr]
        finally:
            if host is not None:
                host.stop()
    _report(asked)
    return 0


async def _ask_all(port: int, conversations: Sequence[dict[str, Any]], apart: set[int]) -> Asked:
    asked = Asked()
    questions = [
        [
            question
            for question in each["questions"]
            if question["cat"] not in apart and question["evidence"]
        ]
        for each in conversations
    ]
    users = [f"{each['conv_id']}-{uuid.uuid4().hex[:8]}" for each in conversations]
    for user, conversation, mine in zip(users, conversations, questions, strict=True):
        await send(port, saves(user, conversation["turns"]))
        hits, times = await _retrieve(port, user, mine, limit=max(CUTS), similarity_threshold=0.0)
        asked.evidence += [frozenset(question["evidence"]) for question in mine]
        asked.open += hits
        # only these: when a question comes again, the host still knows its vector
        asked.times += times
    for place, user in enumerate(users):
        asked.shipped += (await _retrieve(port, user, questions[place], limit=RESULTS))[0]
        if len(users) > 1:
            others = questions[(place + 1) % len(users)]
            asked.unrelated_open += (
                await _retrieve(port, user, others, limit=max(CUTS), similarity_threshold=0.0)
            )[0]
            asked.unrelated_shipped += (await _retrieve(port, user, others, limit=RESULTS))[0]
    return asked


def saves(user: str, turns: Sequence[dict[str, Any]]) -> list[Ask]:
    """Bulk saves of a hundred turns each."""
    items = [
        {
            "session_id": f"session-{turn['session']}",
            "content": turn["text"] + (f" [image: {turn['caption']}]" if turn["caption"] else ""),
            "actor": turn["speaker"],
            "event_timestamp": turn["at"],
            "metadata": {"turn": turn["id"]},
        }
        for turn in turns
    ]
    return [
        ask(
            "bulk",
            "POST",
            "/api/v1/memories/bulk",
            {"user_id": user, "memories": items[start : start + 100]},
        )
        for start in range(0, len(items), 100)
    ]


async def _retrieve(
    port: int, user: str, questions: Sequence[dict[str, Any]], **more: Any
) -> tuple[list[Hits], list[float]]:
    bodies = [{"user_id": user, "query": question["q"], **more} for question in questions]
    answers, times = await send(
        port, [ask("retrieve", "POST", "/api/v1/memories/retrieve", body) for body in bodies]
    )
    results = [answer["results"] for answer in answers]
    return [
        Hits(
            [hit["memory"]["metadata"]["turn"] for hit in hits],
            [hit["relevance_score"] for hit in hits],
        )
        for hits in results
    ], times


async def send(port: int, asks: list[Ask]) -> tuple[list[Any], list[float]]:
    """Answers and times, in order. Raises RuntimeError when one is an error: a number from a part
    of the questions would be wrong.
    """
    measured = await drive(port, [asks], 3600.0)
    if measured.errors:
        raise RuntimeError(f"the host refused or failed: {measured.errors}")
    answers = [orjson.loads(body) for bodies in measured.bodies.values() for body in bodies]
    for answer in answers:
        if refused := [result for result in answer["results"] if result.get("status", 201) >= 300]:
            raise RuntimeError(f"a turn was refused: {refused[0]}")
    return answers, [time for times in measured.times.values() for time in times]


def _report(asked: Asked) -> None:
    recall = [_recall(asked, [hits.turns[:cut] for hits in asked.open]) for cut in CUTS]
    ordered = sorted(asked.times)
    middle, high = (f"{1000 * ordered[int(share * len(ordered))]:.1f}" for share in (0.5, 0.95))
    counts = [f"{len(asked.evidence):,}", *(f"{value:.4f}" for value in recall), middle, high]
    show(
        "Recall without thresholds",
        ("", "questions", *(f"recall@{cut}" for cut in CUTS), "p50 ms", "p95 ms"),
        [["default recipe", *counts]],
    )
    lines = [
        _line(
            f"{answer:.2f}, {floor:.2f}",
            asked,
            [hits.cut(answer, floor) for hits in asked.open],
            [hits.cut(answer, floor) for hits in asked.unrelated_open],
        )
        for answer in ANSWER
        for floor in FLOOR
        if floor <= answer
    ]
    lines.append(
        _line(
            "as shipped",
            asked,
            [hits.turns for hits in asked.shipped],
            [hits.turns for hits in asked.unrelated_shipped],
        )
    )
    headings = (
        "answer, similarity threshold",
        "answerable that pass",
        "best hit lost",
        "recall@10",
        "recall kept",
        "unrelated that find nothing",
    )
    show("What the thresholds cost and save", headings, lines)


def _line(
    name: str, asked: Asked, rankings: Sequence[list[str]], unrelated: Sequence[list[str]]
) -> list[str]:
    """A best hit is the best-ranked evidence among the first ten; it is lost when the thresholds
    leave it out.
    """
    best = [
        next((turn for turn in hits.turns[:RESULTS] if turn in evidence), None)
        for hits, evidence in zip(asked.open, asked.evidence, strict=True)
    ]
    lost = [
        turn not in turns for turn, turns in zip(best, rankings, strict=True) if turn is not None
    ]
    recall = _recall(asked, rankings)
    whole = _recall(asked, [hits.turns[:RESULTS] for hits in asked.open])
    quiet = _share([not hits for hits in unrelated])
    return [
        name,
        _share([bool(hits) for hits in rankings]),
        _share(lost),
        f"{recall:.4f}",
        f"{100 * recall / whole:.1f} %",
        quiet,
    ]


def _recall(asked: Asked, rankings: Sequence[list[str]]) -> float:
    """Mean share of a question's evidence that was found."""
    return sum(
        len(evidence & set(turns)) / len(evidence)
        for evidence, turns in zip(asked.evidence, rankings, strict=True)
    ) / len(rankings)


def _share(flags: Sequence[bool]) -> str:
    return f"{100 * sum(flags) / len(flags):.1f} %" if flags else "–"


if __name__ == "__main__":
    raise SystemExit(main())
