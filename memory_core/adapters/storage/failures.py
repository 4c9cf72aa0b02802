"""What a storage account and the way to it can answer instead of an answer, in the product's words.

Note: 404 has two meanings. A queue or a container that is not there is a failure; a message or a blob is an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_core.domain.errors import Unavailable

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError

PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which the same call may well succeed."""
LACKING = {"QueueNotFound": "the queue", "ContainerNotFound": "the container"}
RETRY_AFTER_S = 2


def passes(error: AzureError) -> bool:
    """Whether a call that failed so is worth repeating."""
    from azure.core.exceptions import ClientAuthenticationError

    status = _status_of(error)
    return not isinstance(error, ClientAuthenticationError) if status is None else status in PASSING


def code_of(error: AzureError) -> str | None:
    """The service's name for what happened ("BlobNotFound")."""
    code = getattr(error, "error_code", None)
    return None if code is None else str(getattr(code, "value", code))


def translated(dependency: str, error: AzureError) -> Unavailable | None:
    """The error to raise instead; None for a refusal that only its caller understands."""
    from azure.core.exceptions import ClientAuthenticationError

    status, code = _status_of(error), code_of(error)
    if status in (401, 403) or isinstance(error, ClientAuthenticationError):
        return Unavailable(dependency, f"Storage refused us: identity, key or rights ({code or status})", retry_after_s=30)
    if code in LACKING:
        return Unavailable(dependency, f"{LACKING[code]} does not exist in the storage account", retry_after_s=30)
    if status is None:
        return Unavailable(dependency, "Storage can not be reached", retry_after_s=RETRY_AFTER_S)
    if status in PASSING:
        return Unavailable(dependency, f"Storage answered {status}", retry_after_s=RETRY_AFTER_S)
    return None


def refused(dependency: str, error: AzureError) -> Unavailable:
    """The error for a refusal of unknown meaning, by the service's name for it.

    Such as an account that is none, or a queue being deleted.
    """
    return Unavailable(dependency, f"Storage refused: {code_of(error) or type(error).__name__}", retry_after_s=30)


def is_our_mistake(error: AzureError) -> bool:
    """Whether the request itself was wrong, which no waiting mends and which must be seen."""
    return _status_of(error) == 400


def _status_of(error: AzureError) -> int | None:
    from azure.core.exceptions import HttpResponseError

    return error.status_code if isinstance(error, HttpResponseError) else None
