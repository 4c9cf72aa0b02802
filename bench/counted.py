"""A long-term store and a queue that count what they are asked, and reckon what that would cost on Cosmos DB.

The work is done by the real store behind. Request units are a model by operation and size (`Rates`), of which `make test-live` measures the
true values against an account; what a reader would get wrong is to take them for a price.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from memory_core.ports import Batch, Document, LongTermStore, Snapshot, TaskQueue

KB = 1024
_ASIDE = frozenset({"open", "close", "pool", "check", "provision"})


class CountedStore:
    """Counts calls by their name; what they cost is left to whoever asks."""

    def __init__(self, inner: LongTermStore, counts: Counter[str]) -> None:
        self._inner, self._counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in _ASIDE or not inspect.iscoroutinefunction(found):
            return found

        async def counted(*given: Any, **options: Any) -> Any:
            self._counts[name] += 1
            return await found(*given, **options)

        return counted
