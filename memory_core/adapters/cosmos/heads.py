"""Heads with the ETags that they were read with.

A commit need not read its head again, since the service compares the ETag.
"""

from __future__ import annotations

from typing import NamedTuple

from memory_core.adapters.cosmos.client import Answer, Remembered
from memory_core.domain.memory import Head


class Known(NamedTuple):
    """A head and the ETag of the item that held it. written_at: when that was, by the service's
    clock; 0 where only a commit was told.

    token: of the state in which it was seen: a read that is given it sees all that this head
    vouches for.
    """

    head: Head
    etag: str
    written_at: int = 0
    token: str | None = None


Heads = Remembered[Known]
"""The last known head of each user; the service compares the ETag, so an old one does no harm."""


def known_of(read: Answer) -> Known | None:
    """The head in what a point read of it answered."""
    if not read.rows:
        return None
    item = read.rows[0]
    return Known(Head.model_validate(item["body"]), item["_etag"], item.get("_ts", 0), read.token)
