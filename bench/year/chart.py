"""The picture of a year: recall, words, documents, bytes and the cost of the runs,
by month (needs matplotlib).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.year.lives import MONTHS
from bench.year.report import Told, recall, stored

ACCENT, INK, SOFT, FAINT = "#c8472f", "#1d1d21", "#63636e", "#b9b9c3"
TITLE = "A year of memories"
NUMBERS = range(1, MONTHS + 1)
Values = Sequence[float | None]


def draw(lives: Sequence[Told], file: Path) -> None:
    """Draw all lives together; a silent one only where its growth is shown. file: a PNG."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": SOFT})
    speaking, silent = (
        [one for one in lives if one.silent_after is None],
        [one for one in lives if one.silent_after is not None],
    )
    figure = plt.figure(figsize=(11, 7.4), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=(1.35, 1))
    _draw_recall(figure.add_subplot(grid[0, :2]), speaking)
    found = [recall(speaking, month) for month in range(MONTHS)]
    _draw_lines(
        figure.add_subplot(grid[0, 2]), "Words of a context", "", {"": [one.words for one in found]}
    )
    there, quiet = [[stored(some, month) for month in range(MONTHS)] for some in (speaking, silent)]
    told, still = "told all year", "told for a month, then silent"
    documents = {
        told: [float(one.documents) for one in there],
        still: [float(one.documents) for one in quiet],
    }
    _draw_lines(figure.add_subplot(grid[1, 0]), "Documents stored", "", documents)
    sizes = {
        told: [one.stored / 2**20 for one in there],
        still: [one.stored / 2**20 for one in quiet],
    }
    _draw_lines(figure.add_subplot(grid[1, 1]), "Stored", " (MB)", sizes)
    axes = figure.add_subplot(grid[1, 2])
    axes.bar(NUMBERS, [one.run_units for one in there], color=FAINT, width=0.7)
    _dress(axes, "Cost of the runs", " (request units a month)")
    names = ", ".join(one.lived.name for one in speaking)
    turns = f"{there[-1].turns:,} turns told"
    figure.suptitle(f"{TITLE}: {names}; {turns}", x=0.01, ha="left", fontsize=13, fontweight="bold")
    figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    plt.close(figure)


def _draw_recall(axes: Any, lives: Sequence[Told]) -> None:
    found = [recall(lives, month) for month in range(MONTHS)]
    lines: list[tuple[str, Values, str, float, str]] = [
        ("the beginning, BM25", [one.peer_beginning for one in found], FAINT, 1.6, "--"),
        ("the beginning, where nothing fades", [one.unfading for one in found], SOFT, 1.6, ":"),
        ("three months ago", [one.earlier for one in found], FAINT, 2.2, "-"),
        ("this month", [one.now for one in found], INK, 2.2, "-"),
        ("the beginning", [one.beginning for one in found], ACCENT, 3.0, "-"),
    ]
    for name, values, colour, width, style in lines:
        if any(value is not None for value in values):
            axes.plot(
                NUMBERS, _gaps(values), color=colour, linewidth=width, linestyle=style, label=name
            )
    axes.set_ylim(0, 1.04)
    axes.set_xlabel("asked at the end of month", fontsize=9)
    _dress(
        axes,
        "Found again",
        " (share of the evidence in a context of 2,000 tokens), by when it was told",
    )
    axes.legend(frameon=False, fontsize=9, loc="lower left", reverse=True)


def _draw_lines(axes: Any, title: str, unit: str, lines: Mapping[str, Values]) -> None:
    """Lines in grey; of several, the last one in the accent colour."""
    for place, (name, values) in enumerate(lines.items()):
        if not any(values):
            continue
        last = 0 < place == len(lines) - 1
        axes.plot(
            NUMBERS,
            _gaps(values),
            color=ACCENT if last else SOFT,
            linewidth=2.6 if last else 2.0,
            label=name,
        )
    axes.set_ylim(bottom=0)
    _dress(axes, title, unit)
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=8.5, loc="upper left")


def _gaps(values: Values) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _dress(axes: Any, title: str, unit: str) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.set_title(f"{title}{unit}", loc="left", fontsize=10, color=INK)
    axes.set_xlim(0.4, MONTHS + 0.6)
    axes.set_xticks(list(NUMBERS))
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#c9c9d2")
    axes.tick_params(length=0, labelsize=8.5, colors=SOFT)
    axes.grid(axis="y", color="#ececf0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.1f}".rstrip("0").rstrip("."))
    )
