"""Settings and the environment: a setting's variable, what a wrong or misspelt one is told, and what is never shown.

About names and texts only; what the settings are is in `config`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from pydantic_core import ErrorDetails

SECRETS = frozenset({
    "llm_api_key", "embedding_api_key", "cosmos_key", "redis_url", "redis_password", "queue_connection", "archive_connection",
    "api_keys", "secret", "webhook_secret", "rerank_api_key",
})  # fmt: skip
"""Settings whose values are never shown, logged or put into an error."""

LIVE = "MEMORY_LIVE_"
"""Begins the variables of the tests against a live account. They stand beside settings, and are nearly named like some."""


_OMNIMEMORY = "OMNIMEMORY_"
FOREIGN_PREFIXES = (_OMNIMEMORY, "QDRANT_", "MEM0_", "ZEP_", "GRAPHITI_", "LETTA_", "COGNEE_")
"""Begin the variables of other memory services and of their databases."""
_RENAMED = {"OMNIMEMORY_DEFAULT_MAX_MESSAGES": "BATCH_MESSAGES"}


def variable(name: str) -> str:
    """The environment variable of a setting."""
    kept = name.startswith(("llm_", "embedding_")) or name == "log_level"
    return name.upper() if kept else f"MEMORY_{name.upper()}"


def shown(name: str, value: Any) -> str:
    """A value for the table; a secret's is masked."""
    if value is None or value == ():
        return "-"
    return "********" if name in SECRETS else str(value)


def unknown(environ: Mapping[str, str], known: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """The MEMORY_ variables that name no setting, each with the setting that it nearly names."""
    strange = (name for name in environ if name.startswith("MEMORY_") and name not in known)
    names = sorted(name for name in strange if not name.startswith(LIVE))
    return [(name, next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.85)), None)) for name in names]


def foreign_variables(environ: Mapping[str, str], known: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """The variables of other memory services, each with our setting that means the same, if there is one.

    Only names of OmniMemory are compared with ours: the host of another service's database is no address of this one.
    """
    variables: list[tuple[str, str | None]] = []
    for name in sorted(name for name in environ if name.startswith(FOREIGN_PREFIXES)):
        setting = f"MEMORY_{_RENAMED.get(name) or name.removeprefix(_OMNIMEMORY)}"
        variables.append((name, setting if name.startswith(_OMNIMEMORY) and setting in known else None))
    return variables


def said(problem: ErrorDetails, values: Mapping[str, str]) -> str:
    """One validation error in the words of the operator who set the variable; a secret's value is left out."""
    message = problem["msg"].removeprefix("Value error, ").replace("Input should", "should")
    if not problem["loc"]:
        return str(message)
    name, *inside = (str(part) for part in problem["loc"])
    given = values[name]
    value = "" if name in SECRETS else f"={given if given.isprintable() else repr(given)}"
    return f"{variable(name)}{value}: {''.join(f'{part}: ' for part in inside)}{message}"


def listed(value: Any) -> Any:
    """A text with commas or spaces between its parts as these parts; anything else as it is."""
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def host_or_network(value: str) -> str:
    """The value, if it is a host name, an address or a network. Raises ValueError."""
    try:
        ip_network(value, strict=False)
    except ValueError:
        if not re.fullmatch(r"(?![0-9.]+$)[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", value):
            raise ValueError(f"{value!r} is neither a host name, an address nor a network") from None
    return value
