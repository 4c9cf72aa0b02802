"""Read a request's body: a JSON object, or an error with the reason.

It is stricter than a JSON library on purpose: a repeated name, NaN and 65 nested levels are
refused. Two readers may read such a text differently, and one of them may be the reader that
checks the scope.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import orjson

from memory_core.domain.errors import (
    FieldError,
    Invalid,
    Malformed,
    MemoryCoreError,
    TooLarge,
    UnsupportedMediaType,
    shown_name,
)

MAX_DEPTH = 64
# A string of a JSON text without escapes, and the colon after it when it is a name.
_STRING = re.compile(rb'"[^"]*+"(\s*+:)?')
# What the names of an object end with. A string may hold it too, so there are at least as many of
# these as there are names.
_END_OF_NAME = re.compile(rb'"\s*+:')
# The parser reads a whole number beyond 64 bits as a fraction near it, and says nothing.
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_LONGEST = 20


def read_object(body: bytes, content_type: str | None, limit_bytes: int) -> dict[str, Any]:
    """Parse the JSON object in a body.

    Args:
        body: The bytes.
        content_type: The header `Content-Type`.
        limit_bytes: The most bytes.

    Raises:
        TooLarge: The body is over the limit.
        UnsupportedMediaType: The body is not `application/json` in UTF-8.
        Malformed: The body is not JSON, is nested too deeply, or gives a name twice.
        Invalid: The body is JSON, but no object.

    """
    if len(body) > limit_bytes:
        raise too_large(limit_bytes)
    _check_media_type(content_type)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        _refuse_numbers(body)
        raise _refused(Malformed, f"is not JSON as RFC 8259 has it: {error}") from None
    if not isinstance(value, dict):
        raise _refused(Invalid, "must be a JSON object")
    _check_shape(value, body)
    if _LONG_NUMBER.search(body):
        _refuse_numbers(body)
    return value


def check_raw(body: bytes, content_type: str | None, media: str, limit_bytes: int) -> None:
    """Check a body that is no JSON object.

    Args:
        body: The bytes.
        content_type: The header `Content-Type`.
        media: The media type of the call.
        limit_bytes: The most bytes.

    Raises:
        TooLarge: The body is over the limit.
        UnsupportedMediaType: The body is of another type.
        Malformed: The body is empty.

    """
    if len(body) > limit_bytes:
        raise too_large(limit_bytes)
    _check_media_type(content_type, media)
    if not body:
        raise _refused(Malformed, "must not be empty")


def too_large(limit_bytes: int) -> TooLarge:
    """Error for a body over the limit.

    The development host raises it before it has read the body.
    """
    return TooLarge(
        f"body: is over {limit_bytes} bytes",
        errors=(FieldError("body", f"may have at most {limit_bytes} bytes"),),
    )


def _check_media_type(content_type: str | None, media: str = "application/json") -> None:
    kind, _, parameters = (content_type or "").partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if kind.strip().lower() != media or charset not in ("", "utf-8"):
        message = f"must be {media}, in UTF-8"
        raise UnsupportedMediaType(
            f"Content-Type: {message}", errors=(FieldError("Content-Type", message),)
        )


def _check_shape(value: dict[str, Any], body: bytes) -> None:
    """Refuse depth over MAX_DEPTH and names given twice.

    The parser keeps the last of two equal names, so the text then has more names than the value.
    """
    names, depth = 0, 0
    level: list[Any] = [value]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _refused(Malformed, f"is nested deeper than {MAX_DEPTH} levels")
        inside: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                names += len(item)
                inside.extend(item.values())
            else:
                inside.extend(item)
        level = [item for item in inside if isinstance(item, (dict, list))]
    if len(_END_OF_NAME.findall(body)) == names:
        return
    without_escapes = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if sum(map(bool, _STRING.findall(without_escapes))) != names:
        json.loads(body, object_pairs_hook=_refuse_doubles)


def _refuse_numbers(body: bytes) -> None:
    """Raise Malformed for a number that no reader takes as it is written.

    The error names the field. The rest of the text is JSON.
    """
    try:
        left: list[tuple[str, Any]] = [
            (
                "",
                json.loads(
                    body, parse_constant=_no_number, parse_float=_fraction, parse_int=_whole
                ),
            )
        ]
    except (ValueError, RecursionError):
        return
    while left:
        path, value = left.pop()
        if isinstance(value, _NoNumber):
            raise Malformed(
                f"{path or 'body'}: {value.why}", errors=(FieldError(path or "body", value.why),)
            )
        if isinstance(value, (dict, list)):
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            left += [
                (f"{path}.{shown_name(name)}" if path else shown_name(name), item)
                for name, item in inside
            ]


@dataclass(frozen=True, slots=True)
class _NoNumber:
    """Stand-in for a value that is no number, with the reason."""

    why: str


def _no_number(_: str) -> _NoNumber:
    return _NoNumber("must be a finite number, which JSON has no NaN and no Infinity for")


def _fraction(text: str) -> float | _NoNumber:
    value = float(text)
    return value if math.isfinite(value) else _NoNumber("is too large for a number of 64 bits")


def _whole(text: str) -> int | _NoNumber:
    value = int(text) if len(text) <= _LONGEST else None
    return (
        value
        if value is not None and -(2**63) <= value < 2**64
        else _NoNumber("is too large for a whole number of 64 bits; say it as a text")
    )


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise _refused(
                Malformed, f"has the name {json.dumps(shown_name(name))} twice in one object"
            )
        seen.add(name)


def _refused(kind: type[MemoryCoreError], message: str) -> MemoryCoreError:
    return kind(f"body: {message}", errors=(FieldError("body", message),))
