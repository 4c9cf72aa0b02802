"""What holds when, told in everyday stories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.domain.truth.resolve import resolve
from tests.truth_stories import STORIES, day, expectations, played, values_at


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["story"])
def test_what_holds_in_the_story(story: dict[str, Any]) -> None:
    log = played(story["steps"])
    for description, known_at, moment, values in expectations(story):
        assert values_at(resolve(log, known_at), moment) == values, description


def test_of_sixty_days_with_a_fact_each_one_told_later_since_the_first_day_holds_on_all() -> None:
    first = day("2024-01-01")
    days = [(first + timedelta(days=number)).date().isoformat() for number in range(60)]
    steps = [
        {"do": "save", "memory": f"m{number}", "value": f"city {number}", "said": day}
        for number, day in enumerate(days)
    ]
    steps.append(
        {"do": "save", "memory": "last", "value": "X", "said": "2024-04-10", "from": "2024-01-01"}
    )
    timeline = resolve(played(steps))
    for number in range(120):
        assert values_at(timeline, first + timedelta(days=number)) == ["X"]
