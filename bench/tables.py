"""One line of a table for each thing measured, and the tables.

Note: `lost` is only known once every acknowledged save has been read back; until then it is shown
as "–".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one operation. Times in ms; rss_mb: resident memory of the process that
    served, after the run.
    """

    name: str
    memories: int
    clients: int
    operations: int
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    errors: int
    lost: int | None = None
    rss_mb: float | None = None

    @classmethod
    def of(
        cls,
        name: str,
        memories: int,
        clients: int,
        times: Sequence[float],
        took: float,
        errors: int,
        **more: Any,
    ) -> Row:
        """From the times of the operations that succeeded and the duration of the whole,
        both in seconds.
        """
        ordered = sorted(times)
        middle, high, highest = (1000 * percentile(ordered, share) for share in (0.5, 0.95, 0.99))
        return cls(
            name,
            memories,
            clients,
            len(ordered),
            len(ordered) / took,
            middle,
            high,
            highest,
            errors,
            **more,
        )

    def cells(self) -> list[str]:
        """The line's cells as text."""
        numbers = [f"{value:.2f}" for value in (self.p50_ms, self.p95_ms, self.p99_ms)]
        lost = "–" if self.lost is None else str(self.lost)
        rss = "–" if self.rss_mb is None else f"{self.rss_mb:.0f}"
        counts = [
            f"{self.memories:,}",
            str(self.clients),
            f"{self.operations:,}",
            f"{self.per_second:,.0f}",
        ]
        return [self.name, *counts, *numbers, str(self.errors), lost, rss]

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        fields = asdict(self)
        return {"what": fields.pop("name"), **fields}


HEADINGS = (
    "",
    "memories",
    "clients",
    "operations",
    "op/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "errors",
    "lost",
    "RSS MB",
)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of an ascending sequence does not exceed (nearest rank);
    NaN of nothing.
    """
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def show(title: str, headings: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown, which reads well in a terminal too: first column to the left,
    numbers to the right.
    """
    widths = [
        max(len(line[place]) for line in (headings, *lines)) for place in range(len(headings))
    ]

    def line(cells: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return f"| {' | '.join([cells[0].ljust(widths[0]), *padded])} |"

    rule = (
        "|"
        + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
        + "|"
    )
    print(f"\n### {title}\n", line(headings), rule, *map(line, lines), sep="\n", flush=True)


def show_rows(title: str, rows: Sequence[Row]) -> None:
    """Print rows under the usual headings."""
    show(title, HEADINGS, [row.cells() for row in rows])
