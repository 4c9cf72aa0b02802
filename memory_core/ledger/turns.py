"""Turns: of the writers of a user in this process, each decides and commits alone.

Note: nothing depends on it. A commit still looks whether others came first, in this process or
another; but thirty who form conversations of one user, and compare each with what all know, would
mostly decide in vain, and in the end wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from memory_core.domain.scope import Owner


class WriteTurn:
    """The turn of a piece of work: taken when needed, kept until its end."""

    def __init__(self, lock: asyncio.Lock, stack: AsyncExitStack) -> None:
        self._lock, self._kept = lock, stack
        self._taken = False

    async def take(self) -> None:
        """Wait for earlier work of the same user, unless the turn is taken."""
        if not self._taken:
            await self._kept.enter_async_context(self._lock)
            self._taken = True


class WriteTurns:
    """Turns of all users."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, owner: Owner) -> AsyncIterator[WriteTurn]:
        """A turn that ends with the block, if it is taken in it."""
        lock = self._locks.setdefault(owner, asyncio.Lock())
        async with AsyncExitStack() as stack:
            yield WriteTurn(lock, stack)
