"""Drawn lives leave nothing undone: `tests.quiet_lives` says what that is, and is the command for
more of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quiet_lives import check

FOUND_UNDONE_ONCE = (3017,)
"""The archive run of a fact that held before and after another."""


def test_lives_that_left_something_undone_once_leave_nothing(tmp_path: Path) -> None:
    check(tmp_path, FOUND_UNDONE_ONCE)


@pytest.mark.parametrize(
    "seeds", [range(5), pytest.param(range(5, 500), marks=pytest.mark.long)], ids=["few", "many"]
)
def test_drawn_lives_leave_nothing_undone(tmp_path: Path, seeds: range) -> None:
    check(tmp_path, seeds)
