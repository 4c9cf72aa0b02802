"""What a process remembers of the users it has lately seen.

Note: nothing here is ever shown to a caller. It saves requests or makes them stricter, and the service detects a request
that relies on it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from memory_core.domain.scope import Owner

USERS = 4096
Known = TypeVar("Known")


class Remembered(Generic[Known]):
    """One thing a user, of the 4,096 users seen last."""

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
            if len(self._known) > USERS:
                self._known.popitem(last=False)
        return known
