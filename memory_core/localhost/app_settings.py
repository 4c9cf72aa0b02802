"""App settings as Azure's host uses them: `%NAME%` in a trigger's binding, and values that stand before those of host.json."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memory_core.domain.errors import PlainError

_SETTING = re.compile(r"%([^%]+)%")


def resolved(text: str, settings: Mapping[str, str]) -> str:
    """The text with `%NAME%` replaced by the app setting of that name. Raises ValueError when there is none."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in settings:
            raise PlainError(f"{text} names the setting {match[1]}, which is not there")
        return settings[match[1]]

    return _SETTING.sub(value, text)


def host_value(host_json: Mapping[str, Any], settings: Mapping[str, str], *path: str) -> Any:
    """A value of host.json by its path, or what the setting `AzureFunctionsJobHost__a__b` says instead; None when neither does."""
    override = settings.get("__".join(("AzureFunctionsJobHost", *path)))
    if override is not None:
        return override
    value: Any = host_json
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
