"""A procedural value as text: what is shown and what is searched."""

from __future__ import annotations

from typing import Any

import orjson


def text_of_value(value: Any) -> str | None:
    """Text as it is, anything else as JSON; None for no value."""
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
