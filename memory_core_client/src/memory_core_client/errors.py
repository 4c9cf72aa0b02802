"""Errors of the service as exceptions: one for each kind of problem, all with what the
service said.
"""

from __future__ import annotations

from typing import Any


class MemoryCoreError(Exception):
    """The service refused a call, or could not be reached.

    Attributes:
        status: The HTTP status; None where no answer came.
        detail: What is wrong, in a sentence.
        errors: `{"field": …, "message": …}` of each field that is refused.
        did_you_mean: What was probably meant, where the service says so.
        correlation_id: The name of the request in the service's log.

    """

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        errors: tuple[dict[str, Any], ...] = (),
        did_you_mean: str | None = None,
        correlation_id: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, errors
        self.did_you_mean, self.correlation_id = did_you_mean, correlation_id


class BadRequest(MemoryCoreError):
    """400: the request can't be read, or its cursor is void."""


class Unauthenticated(MemoryCoreError):
    """401: no key, or an unknown one."""


class Forbidden(MemoryCoreError):
    """403: the key's right, app or user does not fit."""


class NotFound(MemoryCoreError):
    """404: there is no such thing for this user."""


class Conflict(MemoryCoreError):
    """409: the state of the thing forbids it, or an idempotency key was used for something else."""


class PreconditionFailed(MemoryCoreError):
    """412: the memory has another ETag by now."""


class TooLarge(MemoryCoreError):
    """413: the body, or what is to be saved as a whole, is over its limit."""


class Invalid(MemoryCoreError):
    """422: fields are missing, unknown or wrong; `errors` names each."""


class Unavailable(MemoryCoreError):
    """429, 502, 503, 504 or no answer, after all retries."""


class TaskFailed(MemoryCoreError):
    """A task that was waited for ended otherwise than well."""


BY_STATUS: dict[int, type[MemoryCoreError]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    413: TooLarge,
    422: Invalid,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(status: int, body: Any, correlation_id: str | None) -> MemoryCoreError:
    """The exception for an answer that is no success."""
    problem = body if isinstance(body, dict) else {}
    kind = BY_STATUS.get(status, MemoryCoreError)
    return kind(
        str(problem.get("detail") or problem.get("title") or f"the service answered with {status}"),
        status=status,
        errors=tuple(problem.get("errors") or ()),
        did_you_mean=problem.get("did_you_mean"),
        correlation_id=problem.get("correlation_id") or correlation_id,
    )
