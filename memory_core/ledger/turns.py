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
    """One piece of work's turn: taken when it is needed, kept until the work ends."""

    def __init__(self, lock: asyncio.Lock, stack: AsyncExitStack) -> None:
        self._lock, self._kept = lock, stack
        self._taken = False

    async def take(self) -> None:
        """Wait for those of the same user who asked before; nothing when it is this work's
        turn already.
        """
        if not self._taken:
            await self._kept.enter_async_context(self._lock)
            self._taken = True


class WriteTurns:
    """Turns of all users."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, owner: Owner) -> AsyncIterator[WriteTurn]:
        """A turn that ends with the block, should it be taken in it."""
        lock = self._locks.setdefault(owner, asyncio.Lock())
        async with AsyncExitStack() as stack:
            yield WriteTurn(lock, stack)
