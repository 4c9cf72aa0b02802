"""Means with intervals, and the rows that they are made of.

The questions of one conversation stand or fall together, so whole conversations are drawn again,
with repetition. Note: of fewer than four conversations that would say nothing; there questions are
drawn, and the interval is too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

DRAWS = 4_000
SEED = 7
FEWEST_CONVERSATIONS = 4
ADVERSARIAL = "adversarial"
"""The kind of questions that nothing answers; never in a headline."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean and the middle 95 % of the means of drawn samples. over: what was drawn,
    `conversations` or `questions`.
    """

    mean: float
    low: float
    high: float
    count: int
    over: str

    def shown(self, digits: int = 3) -> str:
        """The mean as text; `–` of nothing."""
        return f"{self.mean:.{digits}f}" if self.count else "–"

    def interval(self) -> str:
        """The interval as text."""
        return f"{self.low:.3f}–{self.high:.3f}" if self.count else "–"

    def percent(self) -> str:
        """The mean as a share; `–` of nothing."""
        return f"{100 * self.mean:.1f} %" if self.count else "–"

    def percent_interval(self) -> str:
        """The interval of a share."""
        return f"{100 * self.low:.1f}–{100 * self.high:.1f} %" if self.count else "–"

    def points(self) -> str:
        """A difference of shares in points, with its interval."""
        return (
            f"{100 * self.mean:+.1f} ({100 * self.low:+.1f} to {100 * self.high:+.1f})"
            if self.count
            else "–"
        )

    def difference(self) -> str:
        """A difference with its interval."""
        return f"{self.mean:+.3f} ({self.low:+.3f} to {self.high:+.3f})" if self.count else "–"


@dataclass(frozen=True, slots=True)
class Row:
    """What one question came to. values: by the name of what was measured."""

    conversation: int
    kind: str
    values: dict[str, float]

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def figure(values: Sequence[float], conversations: Sequence[int]) -> Figure:
    """The mean with its interval.

    Args:
        values: One of each question.
        conversations: Which conversation each question is of.

    """
    if not values:
        return Figure(float("nan"), float("nan"), float("nan"), 0, "questions")
    table, places = np.array(values, dtype=float), np.array(conversations)
    names = np.unique(places)
    over = "conversations" if len(names) >= FEWEST_CONVERSATIONS else "questions"
    groups = (
        [table[places == name] for name in names]
        if over == "conversations"
        else [table[row : row + 1] for row in range(len(table))]
    )
    sums, sizes = (
        np.array([group.sum() for group in groups]),
        np.array([len(group) for group in groups]),
    )
    generator = np.random.default_rng(SEED)
    means = np.empty(DRAWS)
    for draw in range(DRAWS):
        drawn = generator.integers(0, len(groups), len(groups))
        means[draw] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.percentile(means, (2.5, 97.5))
    return Figure(float(table.mean()), float(low), float(high), len(values), over)


def answerable(rows: Sequence[Row]) -> list[Row]:
    """All but the adversarial ones."""
    return [row for row in rows if row.kind != ADVERSARIAL]


def adversarial(rows: Sequence[Row]) -> list[Row]:
    """The adversarial ones alone."""
    return [row for row in rows if row.kind == ADVERSARIAL]


def of(rows: Sequence[Row], name: str) -> Figure:
    """The figure of one measured thing. Rows without it are left out."""
    return by(rows, lambda row: row.values.get(name))


def between(rows: Sequence[Row], name: str, other: str) -> Figure:
    """The figure of the difference, question by question."""
    return by(
        rows,
        lambda row: (
            row.values[name] - row.values[other]
            if name in row.values and other in row.values
            else None
        ),
    )


def by(rows: Sequence[Row], value: Callable[[Row], float | None]) -> Figure:
    """The figure of a value of each row; rows where it is None are left out."""
    values = [(made, row.conversation) for row in rows if (made := value(row)) is not None]
    return figure([made for made, _ in values], [place for _, place in values])


def by_kind(rows: Sequence[Row], name: str) -> dict[str, float]:
    """The mean of each kind of question."""
    kinds = sorted({row.kind for row in rows if name in row.values})
    return {kind: of([row for row in rows if row.kind == kind], name).mean for kind in kinds}
