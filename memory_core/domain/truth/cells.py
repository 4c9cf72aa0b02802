"""Cells of time, and the statements that lie on top of each other in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memory_core.domain.truth.entries import Place, Statement
from memory_core.domain.truth.timeline import NEVER


class Layer(NamedTuple):
    """A statement where it has overwritten the time.

    Attributes:
        value: The value that it shows. None for a retraction, which shows where no value does, and
            for a gap after a stated end, which never shows.
        begins: Where the statement began to overwrite, which may be before the cell.
        until: The stated end: its own, or that of the statement that it repeats.
        wording: The version that it is an edit of, however often edited; its own version if it is
            no edit.
        hidden_at: The deletion that hides it.

    """

    statement: Statement
    value: str | None
    begins: datetime
    until: datetime
    wording: int
    hidden_at: Place | None
    is_gap: bool = False

    def was_saved_before(self, limit: Place | None) -> bool:
        """Whether it was saved before a deletion; True where there is none."""
        return limit is None or self.statement.place < limit

    def counts_for(self, statement: Statement) -> bool:
        """Whether a statement meets it as a layer that holds.

        A deletion before the statement was saved has ended the layer.
        """
        return not self.is_gap and (self.hidden_at is None or statement.place < self.hidden_at)

    def gap_from(self, moment: datetime) -> Layer:
        """The gap that it leaves from a moment on."""
        return self._replace(value=None, begins=moment, is_gap=True)


Cell = tuple[Layer, ...]


@dataclass(slots=True)
class Cells:
    """Cells in the order of time.

    Each lasts from its start to the next start, and the last cell for ever.
    """

    starts: list[datetime]
    cells: list[Cell]

    def at(self, moment: datetime) -> Cell:
        """The cell of a moment; an empty cell before the first start."""
        number = bisect_right(self.starts, moment) - 1
        return self.cells[number] if number >= 0 else ()

    def spans(self) -> Iterable[tuple[Cell, datetime, datetime]]:
        """Each cell with its start and end."""
        return zip(self.cells, self.starts, [*self.starts[1:], NEVER], strict=True)

    def _split(self, moment: datetime) -> int:
        """Let a cell start at a moment, and return its number."""
        number = bisect_right(self.starts, moment) - 1
        if self.starts[number] == moment:
            return number
        self.starts.insert(number + 1, moment)
        self.cells.insert(number + 1, self.cells[number])
        return number + 1

    def change(self, begin: datetime, end: datetime, changed: Callable[[Cell], Cell]) -> None:
        """Change the cells of an interval.

        Neighbouring cells that become equal are joined.

        Args:
            begin: Start of the interval.
            end: End of the interval. An empty interval changes no cell.
            changed: Gives the new cell for an old cell.

        """
        if end is not NEVER and end <= begin:  # comparing with NEVER takes long
            return
        first = self._split(begin)
        after = len(self.starts) if end is NEVER else self._split(end)
        starts, cells = list[datetime](), list[Cell]()
        for number in range(first, after):
            cell = changed(self.cells[number])
            if not cells or cell != cells[-1]:
                starts.append(self.starts[number])
                cells.append(cell)
        self.starts[first:after], self.cells[first:after] = starts, cells

    def _end(self, number: int) -> datetime:
        return self.starts[number + 1] if number + 1 < len(self.starts) else NEVER

    def run_end(self, moment: datetime, belongs: Callable[[Cell], bool]) -> datetime:
        """The end of the run of belonging cells that begins at a moment.

        Args:
            moment: The moment.
            belongs: Whether a cell belongs to the run.

        Returns:
            The start of the first cell that does not belong; the moment itself if its own cell does
                not.

        """
        first = number = bisect_right(self.starts, moment) - 1
        while number < len(self.cells) and belongs(self.cells[number]):
            number += 1
        return moment if number == first else self._end(number - 1)

    def last_run(self, belongs: Callable[[Cell], bool]) -> tuple[datetime, datetime] | None:
        """The last interval whose cells belong, or None."""
        numbers = [number for number, cell in enumerate(self.cells) if belongs(cell)]
        if not numbers:
            return None
        first = last = numbers.pop()
        while numbers and numbers[-1] == first - 1:
            first = numbers.pop()
        return self.starts[first], self._end(last)
