"""How many workers are asked for, and what each is told of its place."""

from __future__ import annotations

import os

import pytest

from memory_core.config import Settings
from memory_core.localhost.__main__ import counts_alone, environment_of_workers
from memory_core.localhost.workers import MOST, MOST_BY_DEFAULT, WorkerPlace, number_of


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("2", 2), (str(MOST), MOST)])
def test_as_many_as_are_named(text: str, number: int) -> None:
    assert number_of(text) == number


def test_by_default_there_are_no_more_than_cores() -> None:
    assert 1 <= number_of("auto") <= min(MOST_BY_DEFAULT, os.cpu_count() or 1)


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "1.5", str(MOST + 1)])
def test_another_number_is_refused_by_the_name_of_the_option(text: str) -> None:
    with pytest.raises(ValueError, match="--workers"):
        number_of(text)


def test_a_place_is_read_as_it_was_written() -> None:
    place = WorkerPlace(1, 4, 9, "http://127.0.0.1:7071")
    assert WorkerPlace.parse(str(place)) == place


@pytest.mark.parametrize(
    ("settings", "short_term"),
    [
        ({}, "none"),
        ({"short_term": "none"}, "none"),
        ({"short_term": "redis", "redis_url": "redis://127.0.0.1"}, None),
    ],
)
def test_workers_have_no_short_term_of_their_own(
    settings: dict[str, str], short_term: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORY_SHORT_TERM", raising=False)
    if settings.get("short_term") == "none":
        monkeypatch.setenv("MEMORY_SHORT_TERM", "none")
    environment = environment_of_workers(Settings.model_validate(settings))
    assert environment.get("MEMORY_SHORT_TERM") == short_term


@pytest.mark.parametrize(
    ("settings", "alone"),
    [
        ({}, False),
        ({"rate_per_key": "9/minute"}, True),
        ({"rate_per_app": "9/minute"}, True),
        (
            {"rate_per_app": "9/minute", "short_term": "redis", "redis_url": "redis://127.0.0.1"},
            False,
        ),
    ],
)
def test_rates_hold_for_all_workers_with_redis_only(settings: dict[str, str], alone: bool) -> None:
    assert counts_alone(Settings.model_validate(settings)) is alone
