"""Batches to send, and what became of every message of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.requests.maintenance import BatchInput
from memory_core.domain.requests.memories import TasksInput
from memory_core.domain.results import Buffered, Call
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.tasks import Hand
from tests.world import World

IDLE_S = 60


def told(*contents: str, session: str = "s1") -> BatchInput:
    """Messages to be gathered, a second apart."""
    messages = [
        {
            "role": "user",
            "content": content,
            "timestamp": (NOW + timedelta(seconds=place)).isoformat(),
        }
        for place, content in enumerate(contents)
    ]
    return BatchInput.model_validate({"session_id": session, "messages": messages})


async def gather(
    core: MemoryCore,
    *contents: str,
    session: str = "s1",
    owner: Owner = ALICE,
    key: str | None = None,
) -> Buffered:
    """Append messages."""
    return await core.batch(owner, told(*contents, session=session), Call(idempotency_key=key))


async def _bodies(world: World, kind: Any, owner: Owner) -> list[dict[str, Any]]:
    store = await world.look_on()
    return [
        document.body
        for document in await store.page(owner, kind, None, None, 500, newest_first=False)
    ]


async def handed_over(world: World, owner: Owner = ALICE) -> list[list[str]]:
    """The contents of each conversation that there is, those without an order among them sorted by
    their first.
    """
    return sorted(
        [message["content"] for message in body["messages"]]
        for body in await _bodies(world, "messages", owner)
    )


async def waiting(world: World, owner: Owner = ALICE) -> list[list[str]]:
    """The contents of each buffer."""
    return [
        [message["content"] for message in body["messages"]]
        for body in await _bodies(world, "buffer", owner)
    ]


async def everything(world: World, owner: Owner = ALICE) -> list[str]:
    """Every message that is kept anywhere, sorted: one that was lost is missing here,
    one that was doubled is here twice.
    """
    return sorted(
        content
        for contents in (*await handed_over(world, owner), *await waiting(world, owner))
        for content in contents
    )


async def settled(world: World, core: MemoryCore, owner: Owner = ALICE) -> Sequence[Task]:
    """Work, and let time go by, until all tasks of batches are done: these tasks."""
    # half an hour: five attempts, each after a longer pause, take ten minutes or so
    for _ in range(180):
        await Hand(core).work_all()
        tasks = (await core.tasks(owner, TasksInput(kind="flush", limit=100))).tasks
        if all(task.finished for task in tasks):
            return tasks
        world.clock.forward(10)
    raise AssertionError(f"they never end: {tasks}")
