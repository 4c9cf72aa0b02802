"""Where a repeated history is in step with its session's messages.

An alignment is a chain of runs, with a difference between each two of them and perhaps a difference
before the first run. Each recognised message counts 1. A difference costs 1, and it costs 2 where
the call has new messages and their number differs from the number of marks that it leaves out. The
best chain that ends well wins. Note: a run of a single message after a replacement gains no points,
so that the same short answer at the same places makes no history.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[Any]
"""A row for each message of the call, a column for each kept mark."""

LONG_RUN: Final = 3
"""Messages of a run that may continue an alignment after any difference."""
LAST_RUN: Final = 2
"""Messages of such a run if it ends the kept marks."""
SHORTEST_EDITED: Final = 2
"""Least count of a chain before an end that the call has edited."""
SHORTEST_REPEATED: Final = 8
"""Least count of a chain that is recognised anywhere among the kept marks.

It applies to a call that ends with the chain: long histories come in several calls.
"""
_ONE: Final = 1 << 14
"""The value of a recognised message."""
_DIFFERENCE: Final = _ONE + 8
"""The cost of a difference.

It is a little more than 1, so that the simpler of two chains with the same count wins.
"""
_NONE: Final = -(1 << 28)
_WAYS: Final = 7
"""The bits below a value that say how its chain came there."""


class RepeatedMessage(NamedTuple):
    """A message of the call, by its place, and the mark that it repeats."""

    call: int
    mark: int


class _Runs(NamedTuple):
    """The run that begins at each pair of a message and a mark.

    `length` is its number of messages. `is_last` says whether it ends the kept marks.
    """

    length: Table
    is_last: Table

    @property
    def may_follow(self) -> Table:
        """Whether the run is long enough to continue an alignment after any difference."""
        return (self.length >= LONG_RUN) | (self.is_last & (self.length >= LAST_RUN))


class _Chains(NamedTuple):
    """The best chain that ends at each pair.

    `value` is the chain's count. `best` is the count of the best chain before the pair, with the
    way there in its last bits.
    """

    value: Table
    best: Table


_GOES_ON, _REPLACED, _BEGINS, _LEFT_OUT, _OTHERWISE = range(5, 0, -1)
"""The ways to a pair; the first of equally good ways is taken."""


def aligned(repeats: Table, fills: Table, is_hole: Table) -> list[RepeatedMessage]:
    """The recognised messages of a call, each with the mark that it repeats.

    The mark may be a hole that the message fills.

    Args:
        repeats: Whether a message of the call may be the message of a mark.
        fills: Whether a message may fill a hole, which does not count and breaks no run.
        is_hole: Which marks are holes.

    """
    there = np.nonzero(repeats.any(axis=0))[0]
    if not len(there):
        return []
    left = np.cumsum(~is_hole[::-1])[::-1] - ~is_hole  # marks behind each
    first, some = int(there[0]), slice(there[0], there[-1] + 1)
    runs = _runs(repeats[:, some], fills[:, some], left[some])
    chains = _chains(repeats[:, some], fills[:, some], runs, _begins(runs, first, len(is_hole)))
    end = _end(chains, repeats[:, some], left[some])
    steps = [] if end is None else _chain_to(end, chains, repeats[:, some])
    return (
        _with_holes([RepeatedMessage(step.call, step.mark + first) for step in steps], fills)
        if steps
        else []
    )


def _runs(repeats: Table, fills: Table, left: Table) -> _Runs:
    length, is_last = np.zeros(repeats.shape, np.int16), np.zeros(repeats.shape, bool)
    for call in range(len(repeats) - 1, -1, -1):
        line, ends = np.zeros_like(length[call]), np.zeros_like(is_last[call])
        if call + 1 < len(repeats):
            line[:-1], ends[:-1] = length[call + 1, 1:], is_last[call + 1, 1:]
        steps = repeats[call] | fills[call]
        length[call] = (line + repeats[call]) * steps
        is_last[call] = (ends | (repeats[call] & (left == 0))) & steps
    return _Runs(length, is_last)


def _begins(runs: _Runs, first: int, marks: int) -> Table:
    """Where a chain may begin, and at which cost.

    It may begin with the call, or after messages of the call that are new.

    Args:
        runs: The runs of the pairs.
        first: The place of the pairs' first mark.
        marks: How many marks are kept.

    """
    lines, columns = runs.length.shape
    begins = runs.may_follow
    if lines > marks:  # a call of all that is kept but its beginning, and more
        places = range(min(columns, lines - first))
        begins[[first + place for place in places], places] |= runs.is_last[
            [first + place for place in places], places
        ]
    costs = np.where(begins, _BEGINS - _DIFFERENCE, _NONE).astype(np.int32)
    costs[0] = _BEGINS
    return costs


def _chains(repeats: Table, fills: Table, runs: _Runs, begins: Table) -> _Chains:
    """The best chain to each pair, row by row."""
    lines, columns = repeats.shape
    follows, known, filled, apart_from = (
        np.where(which, 0, _NONE).astype(np.int32)
        for which in (runs.may_follow, repeats, fills, ~repeats)
    )
    # two columns before the first mark
    value, ways = np.full((lines, columns + 2), _NONE, np.int32), np.empty(repeats.shape, np.int32)
    above = anywhere = earlier = np.full(columns + 2, _NONE, np.int32)
    apart = np.full((2, columns + 2), _NONE, np.int32)
    has_holes = fills.any()
    for call in range(lines):
        # What ended: in the line above; there and before this mark; before that line and this mark;
        # before, on the same diagonal.
        on, before, other, skipped = (
            above[1:-1],
            anywhere[:-2],
            earlier[1:-1],
            apart[call % 2, 1:-1],
        )
        best = np.maximum(on + _GOES_ON, skipped + (_REPLACED - _DIFFERENCE), out=ways[call])
        np.maximum(best, begins[call], out=best)
        may_end = np.where(runs.is_last[call] & (before > _ONE), 0, follows[call])
        np.maximum(best, before + (_LEFT_OUT - _DIFFERENCE) + may_end, out=best)
        np.maximum(best, other + (_OTHERWISE - _ONE - _DIFFERENCE) + follows[call], out=best)
        value[call, 2:] = (best & ~_WAYS) + known[call] + _ONE
        if has_holes:
            np.maximum(value[call, 2:], on + filled[call], out=value[call, 2:])
        apart[1 - call % 2, 2:] = np.maximum(on, skipped) + apart_from[call]
        earlier, above = np.maximum(earlier, anywhere), value[call]
        anywhere = np.maximum.accumulate(above)
    return _Chains(value[:, 2:], ways)


def _end(chains: _Chains, repeats: Table, left: Table) -> RepeatedMessage | None:
    """The end of the best chain that ends well.

    There are three good ends. A chain may end with the kept marks. It may end before an end that
    the call has edited, which is no longer than the chain counts. Or it may end with the call,
    where it counts more than the marks after it, or at least `SHORTEST_REPEATED`.
    """
    calls, marks = np.nonzero(repeats & (chains.value > _NONE // 2))
    values, behind, lines = chains.value[calls, marks], left[marks], len(repeats)
    counts = -(-values // _ONE)
    is_repeated = (calls == lines - 1) & ((counts > behind) | (counts >= SHORTEST_REPEATED))
    is_edited = (calls < lines - 1) & (counts >= np.maximum(SHORTEST_EDITED, behind))
    ends_well = np.nonzero((behind == 0) | is_repeated | is_edited)[0]
    if not len(ends_well):
        return None
    best = ends_well[np.lexsort((values[ends_well], -behind[ends_well], counts[ends_well]))[-1]]
    return RepeatedMessage(int(calls[best]), int(marks[best]))


def _chain_to(end: RepeatedMessage, chains: _Chains, repeats: Table) -> list[RepeatedMessage]:
    """The steps of the chain that ends there."""
    (call, mark), steps = end, list[RepeatedMessage]()
    while True:
        steps.append(RepeatedMessage(call, mark))
        way = int(chains.best[call, mark]) & _WAYS if repeats[call, mark] else _GOES_ON
        if way == _BEGINS:
            return steps[::-1]
        if way == _LEFT_OUT:
            call, mark = call - 1, int(chains.value[call - 1, : mark - 1].argmax())
        elif way == _OTHERWISE:
            before = chains.value[: call - 1, :mark]
            call, mark = (
                int(place) for place in np.unravel_index(int(before.argmax()), before.shape)
            )
        else:
            call, mark = call - 1, mark - 1
            while way == _REPLACED and chains.value[call, mark] < _NONE // 2:
                call, mark = call - 1, mark - 1


def _with_holes(steps: list[RepeatedMessage], fills: Table) -> list[RepeatedMessage]:
    """The steps, with the steps that fill the holes beside them."""
    lines, columns = fills.shape
    steps_found = [RepeatedMessage(-1, -1)]
    for after in [*steps, RepeatedMessage(lines, columns)]:
        before = steps_found[-1]
        room = range(1, min(after.call - before.call, after.mark - before.mark))
        is_replaced = after.call - before.call == after.mark - before.mark
        forth = (
            [RepeatedMessage(before.call + by, before.mark + by) for by in room]
            if before.call >= 0
            else []
        )
        steps_found += _filled(forth, fills, goes_on=is_replaced)
        room = range(1, min(after.call - steps_found[-1].call, after.mark - steps_found[-1].mark))
        back = (
            [RepeatedMessage(after.call - by, after.mark - by) for by in room]
            if after.call < lines
            else []
        )
        steps_found += [*_filled(back, fills, goes_on=is_replaced)[::-1], after]
    return steps_found[1:-1]


def _filled(
    steps: list[RepeatedMessage], fills: Table, *, goes_on: bool = False
) -> list[RepeatedMessage]:
    """The steps that fill holes.

    They end at the first step that does not, unless `goes_on` is set.
    """
    filled = list[RepeatedMessage]()
    for step in steps:
        if fills[step.call, step.mark]:
            filled.append(step)
        elif not goes_on:
            break
    return filled
