"""Intervals of time, each with a stack of statements on top of each other."""

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
        begins: Where the statement began to overwrite, which may be before the stack.
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


Stack = tuple[Layer, ...]


@dataclass(slots=True)
class Stacks:
    """Stacks in the order of time.

    Each lasts from its start to the next start, and the last stack for ever.
    """

    starts: list[datetime]
    stacks: list[Stack]

    def at(self, moment: datetime) -> Stack:
        """The stack of a moment; an empty stack before the first start."""
        number = bisect_right(self.starts, moment) - 1
        return self.stacks[number] if number >= 0 else ()

    def spans(self) -> Iterable[tuple[Stack, datetime, datetime]]:
        """Each stack with its start and end."""
        return zip(self.stacks, self.starts, [*self.starts[1:], NEVER], strict=True)

    def _split(self, moment: datetime) -> int:
        """Let a stack start at a moment, and return its number."""
        number = bisect_right(self.starts, moment) - 1
        if self.starts[number] == moment:
            return number
        self.starts.insert(number + 1, moment)
        self.stacks.insert(number + 1, self.stacks[number])
        return number + 1

    def change(self, begin: datetime, end: datetime, changed: Callable[[Stack], Stack]) -> None:
        """Change the stacks of an interval.

        Neighbouring stacks that become equal are joined.

        Args:
            begin: Start of the interval.
            end: End of the interval. An empty interval changes no stack.
            changed: Gives the new stack for an old stack.

        """
        if end is not NEVER and end <= begin:  # comparing with NEVER takes long
            return
        first = self._split(begin)
        after = len(self.starts) if end is NEVER else self._split(end)
        starts, stacks = list[datetime](), list[Stack]()
        for number in range(first, after):
            stack = changed(self.stacks[number])
            if not stacks or stack != stacks[-1]:
                starts.append(self.starts[number])
                stacks.append(stack)
        self.starts[first:after], self.stacks[first:after] = starts, stacks

    def _end(self, number: int) -> datetime:
        return self.starts[number + 1] if number + 1 < len(self.starts) else NEVER

    def run_end(self, moment: datetime, belongs: Callable[[Stack], bool]) -> datetime:
        """The end of the run of belonging stacks that begins at a moment.

        Args:
            moment: The moment.
            belongs: Whether a stack belongs to the run.

        Returns:
            The start of the first stack that does not belong; the moment itself if its own stack
                does not.

        """
        first = number = bisect_right(self.starts, moment) - 1
        while number < len(self.stacks) and belongs(self.stacks[number]):
            number += 1
        return moment if number == first else self._end(number - 1)

    def last_run(self, belongs: Callable[[Stack], bool]) -> tuple[datetime, datetime] | None:
        """The last interval whose stacks belong, or None."""
        numbers = [number for number, stack in enumerate(self.stacks) if belongs(stack)]
        if not numbers:
            return None
        first = last = numbers.pop()
        while numbers and numbers[-1] == first - 1:
            first = numbers.pop()
        return self.starts[first], self._end(last)
