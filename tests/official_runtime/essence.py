"""What of an answer must be the same on both hosts, with a name in place of each id and each
moment of now.

Left out, and why: `date`, `content-length` (and `server`, `transfer-encoding`) belong to the server
that carries the answer, not to the function; durations and sizes are measured. Correlation ids are
sent by the tests, so they are compared like the rest.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx

_OF_THE_SERVER = frozenset({"date", "content-length", "server", "transfer-encoding"})
_MEASURED = frozenset({"latency_ms", "last_ok", "facts", "active"})
_ID = re.compile(
    r"\b(?:mem|msg|ep|evt|cft|tsk|cnv)_[0-9a-f]{16,}|(?<![0-9a-z])key[0-9a-f]{16,}"
    r"|(?<![0-9a-z])[0-9a-f]{64}\b"
)
"""The last two are the id of an API key and its secret."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_NOW = timedelta(hours=1)


def essence(response: httpx.Response) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body. The same id has the same name everywhere in one answer;
    numbers have three decimals.
    """
    names: dict[str, str] = {}

    def named(text: str) -> str:
        text = _ID.sub(lambda match: names.setdefault(match[0], f"<id {len(names) + 1}>"), text)
        return _MOMENT.sub(_unless_now, text)

    body = named(response.content.decode())
    headers = {
        name: named(value)
        for name, value in sorted(response.headers.items())
        if name not in _OF_THE_SERVER
    }
    return response.status_code, headers, _read(response.headers.get("content-type", ""), body)


def _read(media_type: str, body: str) -> Any:
    if media_type.endswith("json"):
        return json.loads(
            body, parse_float=lambda text: round(float(text), 3), object_hook=_without_measures
        )
    # Prometheus' text: the metrics and their labels are the same. What the labels say and what was
    # counted tells what the process has done so far, and of the two only the development host has
    # queues to work on.
    return sorted({re.sub(r'="[^"]*"', "", line.rsplit(" ", 1)[0]) for line in body.splitlines()})


def _without_measures(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: "<measured>" if name in _MEASURED else value for name, value in fields.items()}


def _unless_now(match: re.Match[str]) -> str:
    """A fixed moment as it is; one that is reckoned from now, as when a memory fades,
    by how far it lies ahead.
    """
    ahead = datetime.fromisoformat(match[0]) - datetime.now(timezone.utc)
    if abs(ahead) < _NOW:
        return "<now>"
    return match[0] if ahead < _NOW else f"<in {round(ahead / timedelta(days=1))} days>"
