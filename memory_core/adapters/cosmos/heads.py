"""Heads with the ETags that they were read with.

A commit need not read its head again, since the service compares the ETag.
"""

from __future__ import annotations

from typing import NamedTuple

from memory_core.adapters.cosmos.client import Answer, Remembered
from memory_core.domain.memory import Head


class Known(NamedTuple):
    """A head and the ETag of its item.

    Attributes:
        head: The head.
        etag: The ETag of its item.
        written_at: When the item was written, by the service's clock; 0 where only a commit told of
            it.
        token: Names the state in which it was seen. A read with this token sees all documents that
            this head vouches for.

    """

    head: Head
    etag: str
    written_at: int = 0
    token: str | None = None


Heads = Remembered[Known]
"""The last known head of each user.

The service compares the ETag, so an old head does no harm.
"""


def known_of(read: Answer) -> Known | None:
    """The head in the answer of its point read; None without a row."""
    if not read.rows:
        return None
    item = read.rows[0]
    return Known(Head.model_validate(item["body"]), item["_etag"], item.get("_ts", 0), read.token)
