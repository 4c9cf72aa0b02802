"""The benchmark of consolidation wraps parts of a run by name, so it is run here."""

from __future__ import annotations

from pathlib import Path

from bench.consolidation import measure


async def test_each_part_of_a_run_is_measured_and_no_run_fails(tmp_path: Path) -> None:
    hours, steps, failed = await measure(tmp_path, 2)
    assert failed == 0
    assert [line[0] for line in hours] == ["hour 1", "hour 2"]
    names = [line[0] for line in steps]
    assert {"beginning", "merge", "profile", "end", "all"} <= set(names)
