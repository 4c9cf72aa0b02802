"""Heads with the ETag each was read with, so that a commit need not read its head again.

One would get wrong: what is remembered here is never shown to anybody. It only saves requests, and whoever relies on it is found out
by the service, which compares the ETag.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from memory_core.domain.models import Head
from memory_core.domain.scope import Owner

REMEMBERED = 4096


class Known(NamedTuple):
    """A head and the ETag of the item that held it."""

    head: Head
    etag: str


class Heads:
    """The last known head of each user that was lately seen."""

    def __init__(self) -> None:
        self._known: OrderedDict[Owner, Known] = OrderedDict()

    def get(self, owner: Owner) -> Known | None:
        """What is remembered of the user."""
        return self._known.get(owner)

    def keep(self, owner: Owner, known: Known | None) -> Known | None:
        """Remember it, or forget what was known; the same back."""
        self._known.pop(owner, None)
        if known is not None:
            self._known[owner] = known
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return known


def known_of(item: dict[str, Any]) -> Known:
    """The head in its item."""
    return Known(Head.model_validate(item["body"]), item["_etag"])
