"""A process that dies at a chosen moment: between any two of its writes, or while it waits
for an agent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from memory_core.core import MemoryCore
from memory_core.domain.scope import Owner
from tests.tasks import Hand
from tests.world import Killed, World


@dataclass
class Moment:
    """When to die: at the write or call number `at`, before it is done or right after.
    No number: never; then it only counts.

    asleep: nothing counts yet. overdue: the write to die after failed by itself,
    so it is the next one that is done.
    """

    at: int | None = None
    after: bool = False
    dead: bool = False
    asleep: bool = False
    overdue: bool = False
    names: list[str] = field(default_factory=list)

    def comes(self, name: str) -> bool:
        """Count one more; whether it is the last."""
        if not self.asleep:
            self.names.append(name)
        return not self.asleep and len(self.names) == self.at

    def check(self) -> None:
        """A dead process does nothing more."""
        if self.dead:
            raise Killed

    def die(self) -> None:
        """Die here."""
        self.dead = True
        raise Killed

    async def on_agent(self, name: str) -> None:
        """Agents' calls count as writes do: a process may die while it waits for an answer."""
        self.check()
        if self.comes(name):
            self.die()


@dataclass
class Mortal:
    """A store, a queue or an archive that belongs to a process that may die."""

    inner: Any
    moment: Moment

    WRITES: ClassVar = ("commit", "keep", "send", "put", "remove", "write")

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name in ("open", "close", "pool", "check", "receive", "complete", "length"):
            return attribute

        async def call(*args: Any, **options: Any) -> Any:
            self.moment.check()
            if name not in self.WRITES:
                return await attribute(*args, **options)
            mine = self.moment.comes(name)
            if mine and not self.moment.after:
                self.moment.die()
            self.moment.overdue |= mine
            answer = await attribute(*args, **options)
            if self.moment.overdue:
                self.moment.die()
            return answer

        return call


async def killed_at_each_write(
    world: World, after: bool, begin: Callable[[MemoryCore, Owner], Awaitable[str]]
) -> AsyncIterator[tuple[Owner, str]]:
    """Begin a task for a user of its own and kill its worker at a write, before or after it,
    until each write had its turn.
    """
    written = number = 0
    while number <= written:
        owner = Owner("app", f"user-{number}-{after}")
        # the first worker lives, and says how many writes there are
        moment = Moment(number, after, asleep=True)
        mortal = await world.core(
            wrap=lambda inner, m=moment: Mortal(inner, m),
            wrap_keys=lambda inner, m=moment: Mortal(inner, m),
        )
        task_id = await begin(mortal, owner)
        moment.asleep = False
        with suppress(Killed):
            await Hand(mortal, "consolidation").work_all()
        written = max(written, len(moment.names))
        yield owner, task_id
        number += 1
