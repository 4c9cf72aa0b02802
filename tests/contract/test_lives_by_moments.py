"""Drawn lives of one slot are as the tables say: `tests.slot_lives` says what is compared, and is
the command for more of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import StillClock
from tests.cosmos_server import Steered
from tests.slot_lives import check

FOUND_WRONG_ONCE = (1108, 1186, 1242, 2227, 3279, 4747, 5199, 7021, 60243)
"""Merged texts that never held or ended early, a version alone that holds, a vanished time,
a past version, the words of a merge in an earlier time after its undo, a deleted ending, an earlier
time that led to what is forgotten for good, an earlier time of a past version that was made by its
deletion.
"""


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
def test_lives_that_were_wrong_once_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: Steered | None
) -> None:
    check(tmp_path, clock, server, FOUND_WRONG_ONCE)


@pytest.mark.parametrize(
    ("adapter", "seeds"),
    [
        ("sqlite", range(15)),
        pytest.param("sqlite", range(15, 30), marks=pytest.mark.long),
        ("cosmos", range(3)),
    ],
    indirect=["adapter"],
)
def test_drawn_lives_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: Steered | None, seeds: range
) -> None:
    check(tmp_path, clock, server, seeds)


@pytest.mark.parametrize(
    ("adapter", "seeds"), [("sqlite", range(6)), ("cosmos", range(2))], indirect=["adapter"]
)
def test_drawn_lives_of_two_writers_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: Steered | None, seeds: range
) -> None:
    check(tmp_path, clock, server, seeds, writers=2)


@pytest.mark.long
@pytest.mark.parametrize("part", range(50))
@pytest.mark.parametrize(
    ("adapter", "each", "writers"),
    [("sqlite", 100, 1), ("sqlite", 10, 2), ("cosmos", 6, 1), ("cosmos", 2, 2)],
    indirect=["adapter"],
)
def test_thousands_of_drawn_lives_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: Steered | None, each: int, writers: int, part: int
) -> None:
    first = 1000 + part * each
    check(tmp_path, clock, server, range(first, first + each), writers)
