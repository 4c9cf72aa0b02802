"""Words of API keys and of the audit log.

Requests, answers and the OpenAPI document share them.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

Right = Literal["read", "write", "admin"]
RIGHTS: Final[tuple[Right, ...]] = get_args(Right)
KeyStatus = Literal["active", "expired", "withdrawn"]
Action = Literal[
    "key_made",
    "key_rotated",
    "key_withdrawn",
    "user_erased",
    "user_exported",
    "user_imported",
    "memories_forgotten",
]
