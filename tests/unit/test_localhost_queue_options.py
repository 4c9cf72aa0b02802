from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.localhost.host_settings import QueueOptions

ROOT = Path(__file__).parents[2]


def read(
    queues: dict[str, Any], settings: dict[str, str] | None = None, **others: Any
) -> QueueOptions:
    return QueueOptions.read({"extensions": {"queues": queues}, **others}, settings or {})


def test_the_products_own_host_json_can_be_served() -> None:
    host_json = json.loads((ROOT / "host.json").read_text(encoding="utf-8"))
    assert QueueOptions.read(host_json, {}) == QueueOptions(
        batch_size=16,
        new_batch_threshold=8,
        max_dequeue_count=5,
        visibility_timeout=timedelta(seconds=30),
        max_polling_interval=timedelta(seconds=5),
        function_timeout=timedelta(minutes=10),
    )


def test_what_is_not_given_is_as_on_azure() -> None:
    assert QueueOptions.read({"version": "2.0"}, {}) == QueueOptions()
    assert read({"batchSize": 5}).new_batch_threshold == 2
    assert read({}).max_polling_interval == timedelta(minutes=1)


def test_an_app_setting_stands_before_the_file() -> None:
    prefix = "AzureFunctionsJobHost__"
    given = {
        f"{prefix}extensions__queues__visibilityTimeout": "00:00:01",
        f"{prefix}functionTimeout": "-1",
    }
    options = read(
        {"visibilityTimeout": "00:05:00", "batchSize": 2}, given, functionTimeout="00:10:00"
    )
    assert (options.visibility_timeout, options.batch_size, options.function_timeout) == (
        timedelta(seconds=1),
        2,
        None,
    )


@given(st.timedeltas(timedelta(0), timedelta(days=6, hours=23)))
def test_a_time_is_read_as_dotnet_writes_it(span: timedelta) -> None:
    hours, minutes, seconds = span.seconds // 3600, span.seconds // 60 % 60, span.seconds % 60
    days = f"{span.days}." if span.days else ""
    fraction = f".{span.microseconds:06d}0" if span.microseconds else ""
    assert (
        read(
            {"visibilityTimeout": f"{days}{hours:02}:{minutes:02}:{seconds:02}{fraction}"}
        ).visibility_timeout
        == span
    )


@pytest.mark.parametrize(
    ("queues", "named"),
    [
        ({"batchSize": 33}, "batchSize"),
        ({"batchSize": 0}, "batchSize"),
        ({"batchSize": "many"}, "batchSize"),
        ({"newBatchThreshold": -1}, "newBatchThreshold"),
        ({"maxDequeueCount": 0}, "maxDequeueCount"),
        ({"visibilityTimeout": "30"}, "visibilityTimeout"),
        ({"visibilityTimeout": "8.00:00:00"}, "visibilityTimeout"),
        ({"maxPollingInterval": "00:00:00"}, "maxPollingInterval"),
        ({"messageEncoding": "none"}, "messageEncoding"),
    ],
)
def test_what_can_not_be_served_is_named(queues: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read(queues)
