"""Heads with the ETag each was read with, so that a commit need not read its head again."""

from __future__ import annotations

from typing import Any, NamedTuple

from memory_core.adapters.cosmos.remembered import Remembered
from memory_core.domain.memory import Head


class Known(NamedTuple):
    """A head and the ETag of the item that held it. written_at: when that was, by the service's clock; 0 where only a commit was told."""

    head: Head
    etag: str
    written_at: int = 0


Heads = Remembered[Known]
"""The last known head of each user; the service compares the ETag, so an old one does no harm."""


def known_of(item: dict[str, Any]) -> Known:
    """The head in its item."""
    return Known(Head.model_validate(item["body"]), item["_etag"], item.get("_ts", 0))
