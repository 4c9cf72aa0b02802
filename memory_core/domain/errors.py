"""The errors that Memory Core raises, and their descriptions without values of users.

Each class has its HTTP status and a stable `type`. `functions.responses.problem` makes the members
of `application/problem+json` (RFC 9457) from an error.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel, ValidationError

from memory_core.domain.rate_limits import Spent


@dataclass(frozen=True, slots=True)
class FieldError:
    """A refused field of a request.

    Attributes:
        field: Path of the field in the request ("memories.3.user_id").
        message: The reason for the refusal.
        did_you_mean: The field that the caller probably meant by an unknown field.

    """

    field: str
    message: str
    did_you_mean: str | None = None


class MemoryCoreError(Exception):
    """The base of all errors that Memory Core raises for callers.

    `detail` is written for the caller and never holds another caller's data.
    """

    status = 500
    type = "internal"
    title = "Internal error"

    def __init__(
        self,
        detail: str,
        *,
        errors: tuple[FieldError, ...] = (),
        retry_after_s: int | None = None,
        did_you_mean: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors
        self.retry_after_s = retry_after_s
        self.did_you_mean = did_you_mean


class PlainError(ValueError):
    """A ValueError whose text may be logged and shown.

    The text names settings, fields, ids and numbers, and holds no words of a user.
    """


class Resembling(PlainError):
    """A value that is not among the allowed values.

    Attributes:
        did_you_mean: The allowed value that it resembles most; None where no value is similar.

    """

    def __init__(self, message: str, did_you_mean: str | None) -> None:
        super().__init__(f"{message}; did you mean {did_you_mean}?" if did_you_mean else message)
        self.did_you_mean = did_you_mean


class Malformed(MemoryCoreError):
    """The request can't be read at all: broken JSON, invalid UTF-8, a void cursor."""

    status, type, title = 400, "malformed", "Malformed request"


class Unauthenticated(MemoryCoreError):
    """The key is missing or unknown."""

    status, type, title = 401, "unauthenticated", "Authentication required"


class Forbidden(MemoryCoreError):
    """A good key without the right, the app or the user that the request names."""

    status, type, title = 403, "forbidden", "Not allowed"


class NotFound(MemoryCoreError):
    """The owner has no such object. Another owner's object gives the same answer."""

    status, type, title = 404, "not_found", "Not found"


class MethodNotAllowed(MemoryCoreError):
    """The path allows a single other method.

    It is raised where a protocol requires this status. `allowed` is the method that the path
    allows.
    """

    status, type, title = 405, "method_not_allowed", "Method not allowed"

    def __init__(self, detail: str, *, allowed: str) -> None:
        super().__init__(detail)
        self.allowed = allowed


class TooSlow(MemoryCoreError):
    """The request did not arrive in time. The development host only."""

    status, type, title = 408, "too_slow", "Request timeout"


class Conflict(MemoryCoreError):
    """The state of an object forbids the request.

    Examples are a forbidden transition, an idempotency key used twice, or an edit of an episode.
    """

    status, type, title = 409, "conflict", "Conflict"


class KeyReused(Conflict):
    """An idempotency key was used for another request before."""


class EpochEnded(Conflict):
    """The user is being erased, or was erased or imported during the call.

    What was told before an erasure may not be kept after it, so no caller is asked to wait and to
    send the same again. Nothing of the call is kept.
    """


class Gone(MemoryCoreError):
    """Removed for good: the same request never succeeds again.

    `detail` names the alternative.
    """

    status, type, title = 410, "gone", "Gone"


class PreconditionFailed(MemoryCoreError):
    """If-Match is missing or names a revision that is no longer current."""

    status, type, title = 412, "precondition_failed", "Precondition failed"


class TooLarge(MemoryCoreError):
    """The body, or a memory in it, is over its limit."""

    status, type, title = 413, "too_large", "Too large"


class AddressTooLong(MemoryCoreError):
    """The request's address is over its limit. The development host only."""

    status, type, title = 414, "address_too_long", "Address too long"


class UnsupportedMediaType(MemoryCoreError):
    """The body is not `application/json`."""

    status, type, title = 415, "unsupported_media_type", "Unsupported media type"


class Invalid(MemoryCoreError):
    """A field is missing, unknown or wrong; `errors` names each."""

    status, type, title = 422, "invalid", "Invalid request"


class TooManyRequests(MemoryCoreError):
    """A rate limit of the key or of its app is used up.

    `spent` says which limit, and when there is room again.
    """

    status, type, title = 429, "too_many_requests", "Too many requests"

    def __init__(self, detail: str, spent: Spent) -> None:
        super().__init__(detail, retry_after_s=spent.retry_after_s)
        self.spent = spent


class HeadTooLarge(MemoryCoreError):
    """The request's head, or the number of its headers, is over its limit.

    Only the development host raises it.
    """

    status, type, title = 431, "head_too_large", "Request header fields too large"


class Unavailable(MemoryCoreError):
    """A dependency that this request needs is down.

    The error names the dependency. An outage is never hidden as an empty answer.
    """

    status, type, title = 503, "unavailable", "Temporarily unavailable"

    def __init__(self, dependency: str, detail: str, *, retry_after_s: int = 2) -> None:
        super().__init__(f"{dependency}: {detail}", retry_after_s=retry_after_s)
        self.dependency = dependency


class Overloaded(MemoryCoreError):
    """More requests at once than this process handles or keeps waiting."""

    status, type, title = 503, "busy", "Too many requests at once"


class QuotaExceeded(MemoryCoreError):
    """A limit of stored bytes has no room for this write.

    Stored memories can still be read, and forgotten to make room.
    """

    status, type, title = 507, "quota_exceeded", "Storage limit reached"


class EmbeddingMismatch(Unavailable):
    """The configured embedder did not make the stored vectors. The error names both embedders."""

    type = "embedding_mismatch"


class Damaged(Unavailable):
    """The stored content differs from the written content.

    A retry gives the same error until the content is repaired.
    """

    type = "damaged"


def damaged_memory(memory_id: str) -> Damaged:
    """The error for a stored memory whose document can't be read."""
    return Damaged(
        "long_term",
        f"the memory {memory_id} is damaged: what is stored of it can't be read",
        retry_after_s=30,
    )


class AgentFailed(MemoryCoreError):
    """A model answered, but its answer can't be used.

    The answer is garbage even after its repair, a refusal or a filtered text, or the budget is
    used up. A retry gives the same error. Where that is allowed, the caller continues with rules
    and never reports the model's answer as a success.
    """

    status, type, title = 502, "agent_failed", "The model gave no usable answer"


class HeadMoved(MemoryCoreError):
    """A batch's If-Match on the head failed.

    Another commit came first, or the failure is the echo of this commit. Only the ledger sees it.
    """

    status, type, title = 503, "busy", "Too many concurrent writes for this user"


class AlreadyExists(MemoryCoreError):
    """A create-only document of a batch exists already.

    A rival wrote it, or the failure is the echo of this commit. Only the ledger sees it.
    """

    status, type, title = 503, "busy", "Too many concurrent writes for this user"


# Describe an error without any value that a caller sent or stored.
#
# The message of an exception often quotes its input: pydantic's `input_value`, a missing key, or
# the body of a service's answer. So only our own errors are quoted. Of other errors the text has
# the class and a fixed list of attributes.


MAX_DETAILS = 5
"""Refused fields of a ValidationError that are named, and members of a group."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
NOT_SHOWN = "(a name that is not shown)"
_SQLITE = {
    "SQLITE_BUSY": "the database is locked",
    "SQLITE_CANTOPEN": "the file can't be opened",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk does not answer as it should",
    "SQLITE_NOTADB": "the file is not a database",
    "SQLITE_READONLY": "the file is read-only",
}
"""Description of the problem for the name of SQLite's primary result code."""


def described(error: BaseException) -> str:
    """Describe an error as it may be logged, stored and shown.

    The `detail` of a Memory Core error is written for callers and is returned as it is.

    Returns:
        A single line: the detail, or the class with a status, an errno or the places of the refused
            values.

    """
    if isinstance(error, MemoryCoreError):
        return error.detail
    if isinstance(error, PlainError):
        return str(error)
    name = type(error).__name__
    detail = _detail_of(error)
    return f"{name}: {detail}" if detail else name


def is_plain_name(name: str) -> bool:
    """Whether a caller's name may be repeated in logs and answers.

    A short identifier holds none of a user's words.
    """
    return _IDENTIFIER.fullmatch(name) is not None


def shown_name(name: object) -> str:
    """A caller's name of a field or a document, if it may be shown.

    Numbers are shown as well. Any other name gives `NOT_SHOWN`.
    """
    text = str(name)
    return text if isinstance(name, int) or is_plain_name(text) else NOT_SHOWN


def _detail_of(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        return _refused_places(error)
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(described(member) for member in error.exceptions[:MAX_DETAILS])
    # read so, since who only needs Cosmos DB does not import sqlite3
    sqlite_name = getattr(error, "sqlite_errorname", None)
    if sqlite_name is not None:
        return _sqlite_problem(sqlite_name)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return f"HTTP {status}"
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return os.strerror(error.errno)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return described(cause) if isinstance(cause, OSError) and cause is not error else ""


def _refused_places(error: ValidationError) -> str:
    """Where and how each value was wrong.

    A part of a path that is no field of a model is a name that the caller chose. It is written as a
    star.
    """
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    places = (
        ".".join(
            str(part) if isinstance(part, int) or part in _field_names() else "*"
            for part in problem["loc"]
        )
        for problem in problems
    )
    faults = [
        f"{place or 'all'} {problem['type']}"
        for place, problem in zip(places, problems, strict=True)
    ]
    more = f" and {len(faults) - MAX_DETAILS} more" if len(faults) > MAX_DETAILS else ""
    return f"{', '.join(faults[:MAX_DETAILS])}{more}"


@cache
def _field_names() -> frozenset[str]:
    """The names of all fields of all models that are defined in this process."""
    names: set[str] = set()
    models: list[type[BaseModel]] = [BaseModel]
    while models:
        model = models.pop()
        names.update(model.model_fields)
        models.extend(model.__subclasses__())
    return frozenset(names)


def _sqlite_problem(name: str) -> str:
    problem = _SQLITE.get("_".join(name.split("_")[:2]))
    return f"{problem} ({name})" if problem else name
