"""What Storage and the way to it can answer instead of an answer, in the product's words.

One would get wrong: 404 has two meanings. A queue that is not there is a failure; a message that is not there is an answer.
"""

from __future__ import annotations

from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

from memory_core.adapters.queue.messages import DEPENDENCY
from memory_core.domain.errors import Unavailable

PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which the same call may well succeed."""
NOT_OURS = frozenset({"MessageNotFound", "PopReceiptMismatch"})
RETRY_AFTER_S = 2


def passes(error: AzureError) -> bool:
    """Whether a call that failed so is worth repeating."""
    status = _status_of(error)
    return not isinstance(error, ClientAuthenticationError) if status is None else status in PASSING


def is_missing(error: AzureError) -> bool:
    """Whether the queue itself is not there."""
    return _code_of(error) == "QueueNotFound"


def is_no_longer_ours(error: AzureError) -> bool:
    """Whether the message is gone, or somebody else holds it."""
    return _code_of(error) in NOT_OURS


def translated(error: AzureError) -> Unavailable | None:
    """The error to raise instead; None for one that is a mistake of ours (400) and must be seen as it is."""
    status = _status_of(error)
    if status in (401, 403) or isinstance(error, ClientAuthenticationError):
        return Unavailable(DEPENDENCY, f"Storage refused us: identity, key or rights ({status})", retry_after_s=30)
    if is_missing(error):
        return Unavailable(DEPENDENCY, "the queue does not exist in the storage account", retry_after_s=30)
    if status is None:
        return Unavailable(DEPENDENCY, "Storage can not be reached", retry_after_s=RETRY_AFTER_S)
    if status in PASSING:
        return Unavailable(DEPENDENCY, f"Storage answered {status}", retry_after_s=RETRY_AFTER_S)
    return None


def _status_of(error: AzureError) -> int | None:
    return error.status_code if isinstance(error, HttpResponseError) else None


def _code_of(error: AzureError) -> str | None:
    code = getattr(error, "error_code", None)
    return None if code is None else str(getattr(code, "value", code))
