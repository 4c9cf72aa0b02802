"""What all ways of measuring share: what they are given, what they hand back,
and their progress.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.locomo_data import Conversation, Question
from bench.tables import percentile, show
from bench.yardstick.figures import ADVERSARIAL, Figure, Row
from bench.yardstick.peers import Embedder, Peers
from bench.yardstick.service import Service, Users

TEN = 10
"""Results that count."""


@dataclass(slots=True)
class Given:
    """What a way measures.

    all: every conversation of the set, of which `most` are measured; the others still lend their
    questions. calls: how sessions are sent. frames: by name, what is written before and after a
    question. has_told: whether the way `told` runs, too. folder: of this run alone,
    for peers' files.
    """

    name: str
    all: Sequence[Conversation]
    most: int | None
    profile: str
    service: Service
    users: Users
    embedder: Embedder
    calls: Sequence[str]
    frames: Mapping[str, Sequence[tuple[str, str]]]
    has_told: bool
    folder: Path
    _peers: dict[str, Peers] = field(default_factory=dict)

    @property
    def conversations(self) -> Sequence[Conversation]:
        """Those that are measured."""
        return self.all[: self.most]

    def each(self, way: str) -> Iterator[tuple[int, Conversation]]:
        """The measured conversations with their places, each said on stderr."""
        for place, conversation in enumerate(self.conversations):
            progress(
                f"{self.name}, {way}: conversation {place + 1} of {len(self.conversations)} "
                f"({conversation.name})"
            )
            yield place, conversation

    def following(self, place: int) -> Conversation | None:
        """The conversation after this one, whose questions are unrelated here; None where there
        is only one.
        """
        return self.all[(place + 1) % len(self.all)] if len(self.all) > 1 else None

    def peers(self, conversation: Conversation) -> Peers:
        """Other search over the conversation, made once."""
        if conversation.name not in self._peers:
            self._peers[conversation.name] = Peers(
                self.embedder, conversation.turns, self.folder / conversation.name
            )
        return self._peers[conversation.name]

    def close(self) -> None:
        """Let go of the peers' files."""
        for peers in self._peers.values():
            peers.close()


@dataclass(slots=True)
class Measured:
    """What a way came to. figures: for JSON, beside the tables; rows: what they were made of."""

    figures: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def table(
        self, title: str, headings: Sequence[str], lines: Sequence[Sequence[str]], note: str = ""
    ) -> None:
        """Print a table, the note under it, and keep both."""
        show(title, headings, lines)
        if note:
            print(f"\n{note}", flush=True)
        table = {
            "title": title,
            "headings": list(headings),
            "lines": [list(line) for line in lines],
            "note": note,
        }
        self.figures.setdefault("tables", []).append(table)


def progress(text: str) -> None:
    """Say on stderr how far it is."""
    print(text, file=sys.stderr, flush=True)


def without_adversarial(questions: Sequence[Question]) -> list[Question]:
    """The questions that have an answer."""
    return [question for question in questions if question.kind != ADVERSARIAL]


def recall(ids: Sequence[str], evidence: frozenset[str]) -> float:
    """The share of the evidence among the first ten."""
    return len(evidence & set(ids[:TEN])) / len(evidence)


def drawn(figure: Figure) -> str:
    """The heading of a column of intervals."""
    return f"95 % over {figure.over}"


def milliseconds(seconds: Sequence[float], part: float) -> float:
    """A percentile of times in ms."""
    return round(1000 * percentile(sorted(seconds), part), 2)
