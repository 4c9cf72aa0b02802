"""Answers of the queue service that are not failures to the caller.

Note: 404 has two meanings. A queue that is not there is a failure; a message that is not there is an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_core.adapters.storage.failures import code_of

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError

NOT_OURS = frozenset({"MessageNotFound", "PopReceiptMismatch"})


def is_missing(error: AzureError) -> bool:
    """Whether the queue itself is not there."""
    return code_of(error) == "QueueNotFound"


def is_no_longer_ours(error: AzureError) -> bool:
    """Whether the message is gone, or another receiver holds it."""
    return code_of(error) in NOT_OURS
