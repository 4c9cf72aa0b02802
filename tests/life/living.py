"""A life lived hour by hour: what is told in an hour is formed in it, and at its end comes what the
hourly timer does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.memory import UNLOGGED_FIELDS
from memory_core.domain.scope import Owner
from memory_core.ports import Kind
from tests.life.script import HOUR, Talk, within
from tests.tasks import Hand
from tests.telling import talk
from tests.world import World

NORA = Owner("app", "nora")
KINDS: tuple[Kind, ...] = (
    "memory",
    "version",
    "conversation",
    "session",
    "conflict",
    "scene",
    "profile",
)
"""What of a user's documents is state; the others are work, reports and the log."""


async def live(
    core: MemoryCore, world: World, talks: Sequence[Talk], begins: datetime, ends: datetime
) -> int:
    """Live the hours from `begins` until before `ends`; how many messages of work they took."""
    formation, consolidation = Hand(core), Hand(core, "consolidation")
    world.clock.moment = begins
    while world.clock.moment < ends:
        for chat in within(list(talks), world.clock.moment):
            await core.converse(NORA, talk(*chat.lines, at=chat.at, session=chat.session))
            await formation.work_all()
        world.clock.moment += HOUR
        await hour(core, [formation, consolidation])
    return formation.received + consolidation.received


async def hour(core: MemoryCore, hands: Sequence[Hand]) -> None:
    """What the timer does, and all work that follows from it."""
    await core.fan_out()
    await core.sweep()
    await core.flush_accesses()
    while sum([await hand.work_all() for hand in hands]):
        pass


async def state_of(world: World) -> Mapping[str, Any]:
    """All that is held of Nora, as a process of its own reads it, without what only
    counts writes.
    """
    store = await world.look_on()
    truths: dict[str, Any] = {}
    for kind in KINDS:
        for document in await store.page(NORA, kind, None, None, 100_000):
            body = {
                name: value
                for name, value in document.body.items()
                if name not in {"revision", "sequence", "epoch", *UNLOGGED_FIELDS}
            }
            truths[f"{kind} {document.id}"] = body
    return truths


async def named(world: World, *kinds: Kind) -> set[str]:
    """The ids of all documents of these kinds."""
    store = await world.look_on()
    return {
        document.id
        for kind in kinds
        for document in await store.page(NORA, kind, None, None, 100_000)
    }
