"""The call that a wrong path or method probably meant.

A path is compared with those of the API segment by segment, without `/api/v1` and in the words of other memory services. Note: no caller
is led to a DELETE that was not asked for.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

_SAVE, _LIST, _ONE = "POST /api/v1/memories/save with type", "GET /api/v1/memories with type", "/api/v1/memories/{memory_id}"
_RETRIEVE, _CONVERSE, _CONTEXT = "POST /api/v1/memories/retrieve", "POST /api/v1/memories", "POST /api/v1/context"
_TYPES = ("episodic", "semantic", "procedural")
CALLS_OF_OTHERS: Mapping[str, str] = {
    # method and path, as `_segments` leaves it (* is any one segment) → the call that does the same here
    **{f"POST memories/{kind}": _SAVE for kind in _TYPES},
    **{f"GET memories/{kind}": _LIST for kind in _TYPES},
    **{f"{method} memories/{kind}/*": f"{method} {_ONE}" for kind in _TYPES for method in ("GET", "PUT", "DELETE")},
    "GET memories/procedural/key/*": "GET /api/v1/procedures/{key}",
    "GET memories/temporal/evolution/*": "GET /api/v1/memories/{memory_id}/evolution",
    "POST memories/prompt": _CONTEXT,
    "POST retrieve": _RETRIEVE,
    "GET retrieve": "GET /api/v1/memories/query",
    "GET memories/retrieve": "GET /api/v1/memories/query",
    "POST graph/retrieve": _RETRIEVE,
    "POST long-term-memory": "POST /api/v1/memories/save",
    "POST long-term-memory/retrieve": _RETRIEVE,
    "PUT working-memory/*": "POST /api/v1/memories/batch",
    "GET sessions/*/context": _CONTEXT,
    "GET sessions/*/memories": _CONTEXT,
    "POST sessions/*/messages": _CONVERSE,
    "POST sessions/*/memories": _CONVERSE,
}
_SYNONYMS = {
    "memory": "memories",
    **dict.fromkeys(("search", "find", "recall", "query_memory"), "retrieve"),
    **dict.fromkeys(("add", "create", "store", "remember"), "save"),
    **dict.fromkeys(("thread", "threads", "conversations"), "sessions"),
    **dict.fromkeys(("history", "revisions"), "versions"),
    **dict.fromkeys(("events", "log"), "timeline"),
    **dict.fromkeys(("jobs", "job"), "tasks"),
}
_VERSION = re.compile(r"v[0-9]{1,2}")
_MAX_SEGMENTS, _MAX_CHARACTERS = 7, 40
_CLOSE = 0.7
"""Least ratio of `difflib` between two segments that may be misspellings of each other: `helth` and `health` have .91."""
_ID, _OTHER_METHOD = 0.1, 0.2
"""What it costs that a segment is taken for an id, and that a path has another method than was asked for; a wrong segment: up to 0.3."""


class Calls:
    """The calls of an API."""

    def __init__(self, calls: Iterable[tuple[str, str]]) -> None:
        """calls: the method and the path of each, with names in braces for its parameters."""
        self._methods: dict[str, list[str]] = {}
        for method, path in calls:
            self._methods.setdefault(path, []).append(method)
        self._templates = {path: _segments(path) or [] for path in self._methods}

    def suggest(self, method: str, path: str) -> str | None:
        """The call that was probably meant.

        Args:
            method: Of the request.
            path: Of the request, as it came over the wire; any text.

        Returns:
            Method and path, such as "POST /api/v1/memories/save"; None where nothing comes near.

        """
        segments = _segments(path)
        if segments is None:
            return None
        segments = [_SYNONYMS.get(segment, segment) for segment in segments]
        for pattern, call in CALLS_OF_OTHERS.items():
            its_method, _, its_path = pattern.partition(" ")
            if method == its_method and _matches(its_path.split("/"), segments):
                return call
        candidates = [candidate for variant in _variants(segments) for candidate in self._candidates(method, variant)]
        return min(candidates)[1] if candidates else None

    def suggest_other_method(self, method: str, path: str) -> str | None:
        """The call that has this very path and another method.

        Its last word was taken for an id then: GET /api/v1/memories/retrieve.

        Args:
            method: Of the request.
            path: Of the request.

        Returns:
            Method and path; None where there is no such call.

        """
        path = path.rstrip("/").lower()
        return None if method in self._methods.get(path, []) else self._call_name(method, path)

    def _candidates(self, method: str, segments: list[str]) -> list[tuple[float, str]]:
        """The calls that the segments may be a misspelling of, with what it costs to take them for it."""
        candidates: list[tuple[float, str]] = []
        for path, template in self._templates.items():
            cost, call = _distance(template, segments), self._call_name(method, path)
            if cost is not None and call is not None:
                candidates.append((cost + (0 if method in self._methods[path] else _OTHER_METHOD), call))
        return candidates

    def _call_name(self, method: str, path: str) -> str | None:
        methods = self._methods.get(path, [])
        suggested = [method] if method in methods else [other for other in sorted(methods) if other != "DELETE"]
        return f"{' or '.join(suggested)} {path}" if suggested else None


@functools.cache
def known_calls() -> Calls:
    """The calls of this API."""
    from memory_core.functions.blueprints import http_functions  # the blueprints import what asks for this

    return Calls((function.method, function.path) for function in http_functions())


def _segments(path: str) -> list[str] | None:
    """The path's segments, decoded and in lower case, without `/api/v1`; None for a path that is too long to be compared."""
    segments = unquote(path).strip().lower().removeprefix("/").removesuffix("/").split("/")
    if segments[0] == "api":
        segments = segments[1:]
    if segments and _VERSION.fullmatch(segments[0]):
        segments = segments[1:]
    if len(segments) > _MAX_SEGMENTS or any(len(segment) > _MAX_CHARACTERS for segment in segments):
        return None
    return [] if segments == [""] else segments


def _variants(segments: list[str]) -> list[list[str]]:
    """The segments; and without a `memory` before what stands for itself here, such as `memory/timeline`."""
    return [segments, segments[1:]] if len(segments) > 1 and segments[0] == "memories" else [segments]


def _matches(pattern: list[str], segments: list[str]) -> bool:
    return len(pattern) == len(segments) and all(want in ("*", segment) for want, segment in zip(pattern, segments, strict=True))


def _distance(template: list[str], segments: list[str]) -> float | None:
    """What it costs to take the segments for the template; None where a segment is neither its word, nor like it, nor an id."""
    if len(template) != len(segments):
        return None
    cost = 0.0
    for want, segment in zip(template, segments, strict=True):
        if want.startswith("{"):
            if not segment:
                return None
            cost += _ID
        elif want != segment:
            likeness = difflib.SequenceMatcher(None, want, segment).ratio()
            if likeness < _CLOSE:
                return None
            cost += 1 - likeness
    return cost
