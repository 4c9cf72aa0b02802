"""Results read of texts, kept within bounds for the next time.

Of most texts only numbers are kept (`CachedNumbers`), under a hash of the text. Results that
contain words are forgotten by `forget_texts` when a person's data are erased.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache
from threading import Lock
from typing import Generic, ParamSpec, TypeVar

Given = ParamSpec("Given")
Value = TypeVar("Value")
_forgets: list[Callable[[], None]] = []


class CachedNumbers(Generic[Value]):
    """Values by the text that they were read of.

    The least recently used values are removed first. A value has only numbers, so no text is kept.
    """

    def __init__(self, most: int) -> None:
        """Make an empty store. most: the sum of the sizes that `put` is given."""
        self._most, self._size = most, 0
        self._held: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str, *more: int) -> Value | None:
        """The value that was put for this text and these numbers; None without a value.

        Args:
            text: The text.
            more: Numbers on which the value depends.

        """
        key = (hash(text), len(text), *more)
        with self._lock:
            entry = self._held.get(key)
            if entry is None:
                return None
            self._held.move_to_end(key)
            return entry[0]

    def put(self, text: str, *more: int, value: Value, size: int = 1) -> None:
        """Keep a value of a text.

        The least recently used values beyond the limit are removed.

        Args:
            text: The text.
            more: Numbers on which the value depends.
            value: Has only numbers.
            size: Counts towards the limit.

        """
        key = (hash(text), len(text), *more)
        with self._lock:
            before = self._held.pop(key, None)
            self._size += size - (before[1] if before is not None else 0)
            self._held[key] = (value, size)
            while self._size > self._most:
                self._size -= self._held.popitem(last=False)[1][1]

    def forget(self) -> None:
        """Remove all values."""
        with self._lock:
            self._held.clear()
            self._size = 0

    @property
    def size(self) -> int:
        """The sum of the sizes of all values."""
        return self._size


def keep_texts(most: int) -> Callable[[Callable[Given, Value]], Callable[Given, Value]]:
    """Keep the results of a function's last `most` calls, until `forget_texts`."""

    def kept(function: Callable[Given, Value]) -> Callable[Given, Value]:
        known = lru_cache(maxsize=most)(function)
        _forgets.append(known.cache_clear)
        return known  # type: ignore[return-value]

    return kept


def forget_texts() -> None:
    """Forget all results of texts in this process that contain words."""
    for forget in _forgets:
        forget()
