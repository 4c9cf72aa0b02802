"""Client of Memory Core: `AsyncMemoryCore` and `MemoryCore`, the models that they answer with,
and their errors.
"""

from memory_core_client.async_client import AsyncMemoryCore, AsyncUser
from memory_core_client.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    MemoryCoreError,
    NotFound,
    PreconditionFailed,
    TaskFailed,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from memory_core_client.models import (
    Accepted,
    Appended,
    BulkResult,
    Context,
    Fetched,
    Memory,
    Message,
    Passage,
    Result,
    Retrieved,
    Saved,
    Task,
)
from memory_core_client.retries import Retries
from memory_core_client.sync_client import MemoryCore, User

__all__ = [
    "Accepted",
    "Appended",
    "AsyncMemoryCore",
    "AsyncUser",
    "BadRequest",
    "BulkResult",
    "Conflict",
    "Context",
    "Fetched",
    "Forbidden",
    "Invalid",
    "Memory",
    "MemoryCore",
    "MemoryCoreError",
    "Message",
    "NotFound",
    "Passage",
    "PreconditionFailed",
    "Result",
    "Retries",
    "Retrieved",
    "Saved",
    "Task",
    "TaskFailed",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "User",
]
