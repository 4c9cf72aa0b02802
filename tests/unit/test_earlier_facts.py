"""The stretch of days before a moment that a question names."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from memory_core.domain.text.dates import Window
from memory_core.recollection.earlier_facts import asked_window

DECEMBER = datetime(2025, 12, 15, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("window", "asked"),
    [
        (Window(date(2000, 5, 1), date(2000, 6, 1), yearly=True), date(2025, 5, 1)),
        (Window(date(2000, 12, 20), date(2000, 12, 27), yearly=True), date(2024, 12, 20)),
        (Window(date(2000, 2, 29), date(2000, 3, 1), yearly=True), date(2025, 2, 28)),
        (Window(date(2026, 1, 1), date(2026, 2, 1)), None),
    ],
)
def test_a_time_of_every_year_is_the_latest_that_has_begun(
    window: Window, asked: date | None
) -> None:
    stretch = asked_window([window], DECEMBER)
    assert (None if stretch is None else stretch.start) == asked
