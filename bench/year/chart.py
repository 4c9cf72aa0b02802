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
        [life for life in lives if life.silent_after is None],
        [life for life in lives if life.silent_after is not None],
    )
    figure = plt.figure(figsize=(11, 7.4), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=(1.35, 1))
    _draw_recall(figure.add_subplot(grid[0, :2]), speaking)
    recalls = [recall(speaking, month) for month in range(MONTHS)]
    _draw_lines(
        figure.add_subplot(grid[0, 2]),
        "Words of a context",
        "",
        {"": [month.words for month in recalls]},
    )
    there, quiet = [[stored(some, month) for month in range(MONTHS)] for some in (speaking, silent)]
    speaking_label, still = "told all year", "told for a month, then silent"
    documents = {
        speaking_label: [float(month.documents) for month in there],
        still: [float(month.documents) for month in quiet],
    }
    _draw_lines(figure.add_subplot(grid[1, 0]), "Documents stored", "", documents)
    sizes = {
        speaking_label: [month.stored / 2**20 for month in there],
        still: [month.stored / 2**20 for month in quiet],
    }
    _draw_lines(figure.add_subplot(grid[1, 1]), "Stored", " (MB)", sizes)
    axes = figure.add_subplot(grid[1, 2])
    axes.bar(NUMBERS, [month.run_units for month in there], color=FAINT, width=0.7)
    _dress(axes, "Cost of the runs", " (request units a month)")
    names = ", ".join(life.lived.name for life in speaking)
    turns = f"{there[-1].turns:,} turns told"
    figure.suptitle(f"{TITLE}: {names}; {turns}", x=0.01, ha="left", fontsize=13, fontweight="bold")
    figure.savefig(file, dpi=110, facecolor="white", metadata={"Software": None})
    plt.close(figure)


def _draw_recall(axes: Any, lives: Sequence[Told]) -> None:
    recalls = [recall(lives, month) for month in range(MONTHS)]
    lines: list[tuple[str, Values, str, float, str]] = [
        ("the beginning, BM25", [month.peer_beginning for month in recalls], FAINT, 1.6, "--"),
        (
            "the beginning, where nothing fades",
            [month.unfading for month in recalls],
            SOFT,
            1.6,
            ":",
        ),
        ("three months ago", [month.earlier for month in recalls], FAINT, 2.2, "-"),
        ("this month", [month.now for month in recalls], INK, 2.2, "-"),
        ("the beginning", [month.beginning for month in recalls], ACCENT, 3.0, "-"),
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
