"""Failures of the service, and of the way to it, in the product's words.

Note: a failure says nothing about whether a write was applied. Only refusals (409, 412, 413) say
that it was not, and even those may be the echo of a first try whose answer was lost on the way:
the SDK sends a cut batch again by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from memory_core.adapters.cosmos.items import DEPENDENCY
from memory_core.domain.errors import MemoryCoreError, TooLarge, Unavailable

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError


PASSING = frozenset({408, 410, 429, 449, 500, 502, 503, 504})
"""Statuses after which the same read may succeed."""
RETRY_AFTER_S = 2
BEHIND = 1002
"""Sub-status of a 404: the replica is behind the state that this process has seen.

It occurs under Session consistency only.
"""


def passes(error: AzureError) -> bool:
    """Whether a failed read is worth a retry."""
    from azure.core.exceptions import ClientAuthenticationError, HttpResponseError

    if isinstance(error, HttpResponseError) and error.status_code is not None:
        return error.status_code in PASSING or is_behind(error)
    return not isinstance(error, ClientAuthenticationError)


def is_missing(error: AzureError) -> bool:
    """Whether the error says that the document does not exist.

    That is an answer. A container that does not exist is a failure.
    """
    from azure.core.exceptions import HttpResponseError

    return (
        isinstance(error, HttpResponseError)
        and error.status_code == 404
        and getattr(error, "sub_status", 0) in (None, 0)
    )


def translated(error: AzureError) -> MemoryCoreError | None:
    """The project's error for an error of the SDK.

    None for a mistake of this project (400), which must be seen as it is.
    """
    from azure.core.exceptions import ClientAuthenticationError, HttpResponseError

    status = error.status_code if isinstance(error, HttpResponseError) else None
    if status == 413:
        return TooLarge("the store refused the commit as too large")
    if status in (401, 403) or isinstance(error, ClientAuthenticationError):
        return Unavailable(
            DEPENDENCY,
            f"Cosmos DB refused us: identity, key, rights or a full partition ({status})",
            retry_after_s=30,
        )
    if is_behind(error):
        return Unavailable(
            DEPENDENCY,
            "no replica of Cosmos DB has yet what this process has seen",
            retry_after_s=RETRY_AFTER_S,
        )
    if status == 404:
        return Unavailable(
            DEPENDENCY, "the database or container of Cosmos DB does not exist", retry_after_s=30
        )
    if status is None:
        return Unavailable(DEPENDENCY, "Cosmos DB can not be reached", retry_after_s=RETRY_AFTER_S)
    if status in PASSING:
        return retry_later_error(status, wait_in(getattr(error, "headers", None) or {}))
    return None


def is_behind(error: AzureError) -> bool:
    """Whether a replica has not seen the state that was asked for."""
    return (
        getattr(error, "status_code", None) == 404 and getattr(error, "sub_status", None) == BEHIND
    )


def wait_in(headers: Mapping[str, Any]) -> float | None:
    """Seconds that the service asks to wait; None when it does not say."""
    asked = str(headers.get("x-ms-retry-after-ms", ""))
    return int(asked) / 1000 if asked.isdecimal() else None


def retry_later_error(status: int, wait_s: float | None) -> Unavailable:
    """The error for a status that may pass.

    Args:
        status: The status of the answer.
        wait_s: The wait that the service asks for, which is rounded up; None for the usual wait.

    """
    return Unavailable(
        DEPENDENCY,
        f"Cosmos DB answered {status}",
        retry_after_s=RETRY_AFTER_S if wait_s is None else max(1, ceil(wait_s)),
    )
