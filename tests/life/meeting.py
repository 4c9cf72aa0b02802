"""Two who work on one user's memories at once, in an order that a number gives: a store that lets
the other one work at its n-th call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any

from memory_core.ports import LongTermStore

LEFT_ALONE = ("open", "close", "check")


@dataclass
class Meets:
    """A store that lets `then` happen once, at its n-th call (from 0): right before it,
    or with `after` right after it.

    called: the names of its calls so far.
    """

    inner: LongTermStore
    at: int
    then: Callable[[], Awaitable[None]] | None = None
    after: bool = False
    called: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name in LEFT_ALONE or not iscoroutinefunction(attribute):
            return attribute

        async def call(*args: Any, **options: Any) -> Any:
            number = len(self.called)
            self.called.append(name)
            if number == self.at and not self.after:
                await self._meet()
            answer = await attribute(*args, **options)
            if number == self.at and self.after:
                await self._meet()
            return answer

        return call

    async def _meet(self) -> None:
        then, self.then = self.then, None
        if then is not None:
            await then()
