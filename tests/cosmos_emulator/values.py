"""Which documents of one partition hold which text at a property: what the service's ordinary
index is for.

Note: it never decides. It names the documents that an equality leaves to
be looked at, and the whole filter is then asked of each; so a filter that passes few of 10,000
documents costs what those few cost.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.cosmos_emulator.items import Item, step_into
from tests.cosmos_emulator.policies import Path

Equality = tuple[Path, frozenset[str]]
"""A property, and the texts that it must be one of."""


class ValueIndex:
    """Text → ids of the documents that hold it at one property."""

    def __init__(self, path: Path, items: Iterable[Item]) -> None:
        self._path = path
        self._holders: dict[str, set[str]] = {}
        for item in items:
            self.add(item)

    def add(self, item: Item) -> None:
        """Note a document."""
        value = step_into(item.body, self._path)
        if isinstance(value, str):
            self._holders.setdefault(value, set()).add(item.id)

    def remove(self, item: Item) -> None:
        """Forget a document as it was noted."""
        value = step_into(item.body, self._path)
        if isinstance(value, str):
            self._holders[value].discard(item.id)

    def count(self, values: frozenset[str]) -> int:
        """How many documents hold one of the values."""
        return sum(len(self._holders.get(value, ())) for value in values)

    def holding(self, values: frozenset[str]) -> set[str]:
        """Their ids."""
        return set().union(*(self._holders.get(value, ()) for value in values))
