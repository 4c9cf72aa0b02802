"""What host.json and app settings say about triggers, with the defaults of Azure's host.

App settings are used as Azure's host uses them: `%NAME%` in a trigger's binding, and values that
stand before those of host.json.

Note: `visibilityTimeout` is how long a message rests after its function FAILED. How long it is
hidden while the function runs is not in host.json: ten minutes on Azure,
`MEMORY_QUEUE_VISIBILITY_S` here, renewed in both places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from memory_core.domain.errors import PlainError

_SPAN = re.compile(
    r"\A(?:(?P<days>\d+)\.)?(?P<hours>\d\d?):(?P<minutes>\d\d?)(?::(?P<seconds>\d\d?(?:\.\d{1,7})?))?"
)


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Options of queue functions; docs/queues.md explains each.

    Attributes:
        function_timeout: Of every function that is not triggered by HTTP; None for unlimited.

    """

    batch_size: int = 16
    new_batch_threshold: int = 8
    max_dequeue_count: int = 5
    visibility_timeout: timedelta = timedelta(0)
    max_polling_interval: timedelta = timedelta(minutes=1)
    function_timeout: timedelta | None = timedelta(minutes=30)

    @classmethod
    def read(cls, host_json: Mapping[str, Any], settings: Mapping[str, str]) -> QueueOptions:
        """Read the options from a host.json and the app settings that override it.

        Args:
            host_json: Content of host.json.
            settings: App settings.

        Raises:
            ValueError: Azure's host or this host refuses a value.

        """

        def given(name: str) -> Any:
            return host_value(host_json, settings, "extensions", "queues", name)

        if given("messageEncoding") not in (None, "base64"):
            raise PlainError(
                "host.json: messageEncoding should be base64, which is how messages are sent"
            )
        default = cls()
        batch_size = _number("batchSize", given("batchSize"), default.batch_size, 1, 32)
        timeout = host_value(host_json, settings, "functionTimeout")
        return cls(
            batch_size=batch_size,
            new_batch_threshold=_number(
                "newBatchThreshold", given("newBatchThreshold"), batch_size // 2, 0, 1000
            ),
            max_dequeue_count=_number(
                "maxDequeueCount", given("maxDequeueCount"), default.max_dequeue_count, 1, 1000
            ),
            visibility_timeout=_span(
                "visibilityTimeout",
                given("visibilityTimeout"),
                default.visibility_timeout,
                timedelta(0),
            ),
            max_polling_interval=_span(
                "maxPollingInterval",
                given("maxPollingInterval"),
                default.max_polling_interval,
                timedelta(milliseconds=100),
            ),
            function_timeout=None
            if timeout == "-1"
            else _span("functionTimeout", timeout, timedelta(minutes=30), timedelta(seconds=1)),
        )


def _number(name: str, value: Any, default: int, least: int, most: int) -> int:
    if value is None:
        return default
    if not str(value).isdecimal() or not least <= int(value) <= most:
        raise PlainError(
            f"host.json: {name} should be a number from {least} to {most}, not {value!r}"
        )
    return int(value)


def _span(name: str, value: Any, default: timedelta, least: timedelta) -> timedelta:
    if value is None:
        return default
    match = _SPAN.fullmatch(str(value))
    span = match and timedelta(
        **{unit: float(part) for unit, part in match.groupdict(default="0").items()}
    )
    if span is None or not least <= span <= timedelta(days=7):
        raise PlainError(
            f"host.json: {name} should be a time like 00:00:30, from {least} to 7 days, "
            f"not {value!r}"
        )
    return span


_SETTING = re.compile(r"%([^%]+)%")


def resolved(text: str, settings: Mapping[str, str]) -> str:
    """Replace `%NAME%` in a text by the app setting of that name.

    Args:
        text: The text.
        settings: App settings.

    Raises:
        ValueError: There is no such setting.

    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in settings:
            raise PlainError(f"{text} names the setting {match[1]}, which is not there")
        return settings[match[1]]

    return _SETTING.sub(value, text)


def host_value(host_json: Mapping[str, Any], settings: Mapping[str, str], *path: str) -> Any:
    """Read a value of host.json by its path.

    Args:
        host_json: Content of host.json.
        settings: App settings; `AzureFunctionsJobHost__a__b` overrides the value at this path.
        *path: Names from the outermost to the innermost.

    Returns:
        None if neither has the value.

    """
    override = settings.get("__".join(("AzureFunctionsJobHost", *path)))
    if override is not None:
        return override
    value: Any = host_json
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
