"""The tables of a run: by kind of question, the share of right answers from each context."""

from __future__ import annotations

from collections.abc import Sequence

from bench.answers.plan import Item
from bench.answers.state import State
from bench.tables import show
from bench.yardstick import figures
from bench.yardstick.figures import Row
from bench.yardstick.turns import OURS
from bench.yardstick.ways import drawn

ALL, APART = "all that have an answer", "adversarial, which nothing answers"


def rows_of(items: Sequence[Item], state: State, ways: Sequence[str]) -> list[Row]:
    """The questions of which every way is judged: so all ways are compared by the same ones."""
    rows = []
    for item in items:
        keys = [(item.key, way) for way in ways]
        if all(key in state.verdicts for key in keys):
            values = {way: float(state.verdicts[item.key, way]) for way in ways}
            rows.append(Row(item.conversation, item.question.kind, values))
    return rows


def report(title: str, rows: Sequence[Row], ways: Sequence[str]) -> None:
    """Print a line for each kind, and one for all that have an answer."""
    head, apart = figures.answerable(rows), figures.adversarial(rows)
    kinds = sorted({row.kind for row in head})
    groups = [(kind, [row for row in head if row.kind == kind]) for kind in kinds]
    groups += [(ALL, head)] + ([(APART, apart)] if apart else [])
    others = [way for way in ways if way != OURS]
    over = drawn(figures.of(head, ways[0]))
    headings = [
        "",
        "questions",
        *(cell for way in ways for cell in (f"{way}, right", over)),
        *(f"{OURS} less {way}" for way in others),
    ]
    show(title, headings, [_line(name, group, ways, others) for name, group in groups])


def _line(name: str, rows: Sequence[Row], ways: Sequence[str], others: Sequence[str]) -> list[str]:
    cells = [name, str(len(rows))]
    for way in ways:
        share = figures.of(rows, way)
        cells += [share.percent(), share.percent_interval()]
    return cells + [
        figures.between(rows, OURS, way).points() if OURS in ways else "–" for way in others
    ]
