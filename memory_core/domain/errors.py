"""The errors that Memory Core raises, and their descriptions without values of users.

Each class carries the HTTP status it becomes and a stable `type`; `functions.responses.problem`
makes the members of `application/problem+json` (RFC 9457) of it.
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
    """One refused field: `field` is its path in the request ("memories.3.user_id"),
    `message` what is wrong with it.

    did_you_mean: what the caller probably meant by an unknown field.
    """

    field: str
    message: str
    did_you_mean: str | None = None


class MemoryCoreError(Exception):
    """The base. `detail` is written for the caller and never holds another caller's data."""

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
    """A ValueError whose text may be logged and shown: it names settings, fields, ids and numbers,
    and nothing that a user wrote.
    """


class Resembling(PlainError):
    """A value that is none of those that there are. did_you_mean: the one that it resembles most,
    None where nothing comes near.
    """

    def __init__(self, message: str, did_you_mean: str | None) -> None:
        super().__init__(f"{message}; did you mean {did_you_mean}?" if did_you_mean else message)
        self.did_you_mean = did_you_mean


class Malformed(MemoryCoreError):
    """The request can't be read at all: broken JSON, invalid UTF-8, a void cursor."""

    status, type, title = 400, "malformed", "Malformed request"


class Unauthenticated(MemoryCoreError):
    """No key, or one that is not known."""

    status, type, title = 401, "unauthenticated", "Authentication required"


class Forbidden(MemoryCoreError):
    """A good key without the right, the app or the user that the request names."""

    status, type, title = 403, "forbidden", "Not allowed"


class NotFound(MemoryCoreError):
    """No such thing for this owner. Another owner's is not told apart from none."""

    status, type, title = 404, "not_found", "Not found"


class MethodNotAllowed(MemoryCoreError):
    """A path that is asked by another method than its only one, where a protocol wants
    to be told so.
    """

    status, type, title = 405, "method_not_allowed", "Method not allowed"

    def __init__(self, detail: str, *, allowed: str) -> None:
        super().__init__(detail)
        self.allowed = allowed


class TooSlow(MemoryCoreError):
    """The request did not arrive in time. The development host only."""

    status, type, title = 408, "too_slow", "Request timeout"


class Conflict(MemoryCoreError):
    """The state of the thing forbids the request: a transition, an idempotency key used twice,
    an episodic edit.
    """

    status, type, title = 409, "conflict", "Conflict"


class KeyReused(Conflict):
    """An idempotency key was used for another request before."""


class Gone(MemoryCoreError):
    """Removed for good; the same request never succeeds again. `detail` says what to do instead."""

    status, type, title = 410, "gone", "Gone"


class PreconditionFailed(MemoryCoreError):
    """If-Match is missing or names a revision that is no longer the current one."""

    status, type, title = 412, "precondition_failed", "Precondition failed"


class TooLarge(MemoryCoreError):
    """The body, or one memory in it, is over its limit."""

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
    """A rate is used up: of the key, or of its app. `spent` says which, and when there
    is room again.
    """

    status, type, title = 429, "too_many_requests", "Too many requests"

    def __init__(self, detail: str, spent: Spent) -> None:
        super().__init__(detail, retry_after_s=spent.retry_after_s)
        self.spent = spent


class HeadTooLarge(MemoryCoreError):
    """The request's head, or the number of its headers, is over its limit. The
    development host only.
    """

    status, type, title = 431, "head_too_large", "Request header fields too large"


class Unavailable(MemoryCoreError):
    """A dependency that this request needs is down. Says which; never hidden as an empty answer."""

    status, type, title = 503, "unavailable", "Temporarily unavailable"

    def __init__(self, dependency: str, detail: str, *, retry_after_s: int = 2) -> None:
        super().__init__(f"{dependency}: {detail}", retry_after_s=retry_after_s)
        self.dependency = dependency


class Overloaded(MemoryCoreError):
    """More requests at once than this process works on and lets wait."""

    status, type, title = 503, "busy", "Too many requests at once"


class QuotaExceeded(MemoryCoreError):
    """A limit of stored bytes has no room for this. What is stored can be read,
    and forgotten, which makes room.
    """

    status, type, title = 507, "quota_exceeded", "Storage limit reached"


class EmbeddingMismatch(Unavailable):
    """The configured embedder is not the one whose vectors are stored. Both are named."""

    type = "embedding_mismatch"


class Damaged(Unavailable):
    """What is kept is not what was written.

    Asking again gives the same, until it is repaired.
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
    """A model answered, but nothing that can be used.

    That is: garbage after its repair, a refusal, a filtered text, no budget left. Asking again
    gives the same; the caller goes on by rule where that is allowed, and never calls it a success.
    """

    status, type, title = 502, "agent_failed", "The model gave no usable answer"


class HeadMoved(MemoryCoreError):
    """A batch's If-Match on the head failed: another commit came first, or this is the echo of our
    own. Ledger only.
    """

    status, type, title = 503, "busy", "Too many concurrent writes for this user"


class AlreadyExists(MemoryCoreError):
    """A create-only document of a batch is there already: a rival's, or the echo of our own.
    Ledger only.
    """

    status, type, title = 503, "busy", "Too many concurrent writes for this user"


# What an error says of itself without any value that a caller sent or stored.
#
# The message of an exception often quotes its input: pydantic's `input_value`, a missing key, the
# body that a service sent back. So only errors of our own tree speak for themselves. Of all others
# the class is named, and what a fixed list of attributes tells.


MAX_DETAILS = 5
"""Refused fields that are named of one ValidationError, and members of one group."""
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
"""What is wrong, by the name of SQLite's primary result code."""


def described(error: BaseException) -> str:
    """An error as it may be logged, stored and shown.

    Args:
        error: of any kind. The `detail` of our own errors is written for callers and
            returned as it is.

    Returns:
        One line: the detail, or the class with a status, an errno or the places of what
            was refused.

    """
    if isinstance(error, MemoryCoreError):
        return error.detail
    if isinstance(error, PlainError):
        return str(error)
    name = type(error).__name__
    detail = _detail_of(error)
    return f"{name}: {detail}" if detail else name


def is_plain_name(name: str) -> bool:
    """Whether a name that a caller gave may be repeated: a short identifier holds none of a
    user's words.
    """
    return _IDENTIFIER.fullmatch(name) is not None


def shown_name(name: object) -> str:
    """A name that a caller gave, of a field or a document, if it is a plain one. Numbers stay."""
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

    A part of a path that is no field of ours is a name that the caller chose:
    a star is written for it.
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
