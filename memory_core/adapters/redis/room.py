"""A bound on what the in-process Redis holds: the least recently written keys go first.

A real server has `maxmemory` and evicts by itself; the in-process one would grow until its entries expire a day later. Sizes
are estimates from what was written, with the measured overhead of the in-process server.
"""

from __future__ import annotations

from collections import OrderedDict

OVERHEAD = 250
"""Bytes that one value costs beside its own length: its key, its place in a dictionary and in an order."""


class Room:
    """Counts what was written under each group of keys that live and go together."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[tuple[str, ...], int] = OrderedDict()
        self._total = 0

    def took(self, keys: tuple[str, ...], size: int, *, of_at_most: int = 1) -> list[str]:
        """A value of `size` bytes was written under `keys`, which hold at most `of_at_most` values. Answers the keys to delete.

        What was just written stays, whatever its size.
        """
        cost = size + OVERHEAD
        before = self._held.pop(keys, 0)
        after = min(before + cost, cost * of_at_most)
        self._held[keys] = after
        self._total += after - before
        victims: list[str] = []
        while self._total > self._max_bytes and len(self._held) > 1:
            oldest, freed = self._held.popitem(last=False)
            self._total -= freed
            victims.extend(oldest)
        return victims
