"""Conversations to send, and a hand that does what the Functions host does: receive a message,
call, end it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Conversation, Task
from memory_core.domain.memory import Memory
from memory_core.domain.messages import MESSAGE, is_message
from memory_core.domain.requests.memories import ConverseInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.documents import conversation_of, messages_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import POISON, Delivery, QueueName
from tests.agents import NEW_TOPIC
from tests.builders import ALICE, NOW
from tests.world import World, listed

VISIBILITY = timedelta(seconds=30)
MAX_DEQUEUE_COUNT = 5
TWO_TOPICS = (
    "I live in Lisbon",
    "It is warm here",
    f"{NEW_TOPIC} I like flamenco",
    "The guitar above all",
)
MADE = sorted([" ".join(TWO_TOPICS[:2]), " ".join(TWO_TOPICS[2:]), "The user lives in Lisbon"])
"""What the two topics become."""
ASKED = Counter(boundary=1, facts=2, episode=2, summary=2)
"""What that takes, when nothing goes wrong."""


def conversation(*contents: str, session: str | None = "s1", **fields: Any) -> ConverseInput:
    """A conversation of these messages, a minute apart."""
    messages = [
        {
            "role": "user",
            "content": content,
            "timestamp": (NOW + timedelta(minutes=place)).isoformat(),
        }
        for place, content in enumerate(contents or TWO_TOPICS)
    ]
    return ConverseInput.model_validate({"session_id": session, "messages": messages, **fields})


async def converse(
    core: MemoryCore,
    *contents: str,
    owner: Owner = ALICE,
    call: Call = Call(),  # noqa: B008
    **fields: Any,
) -> Accepted:
    """Send a conversation."""
    return await core.converse(owner, conversation(*contents, **fields), call)


@dataclass
class Hand:
    """Works the queues of one process as the Functions host does. received: how many messages it
    has taken in hand so far.
    """

    core: MemoryCore
    queue: str = "formation"
    received: int = 0

    @property
    def name(self) -> QueueName:
        """The queue, or the one whose poison queue it is."""
        return cast(QueueName, self.queue.removesuffix(POISON))

    async def take(self, limit: int = 32) -> list[Delivery]:
        """What is visible now."""
        taken = await self.core.queue.receive(self.queue, limit, VISIBILITY)
        self.received += len(taken)
        return taken

    async def work(self, delivery: Delivery) -> None:
        """Call the function; done, the message is removed, failed too often it goes to the poison
        queue, else it stays hidden for now.
        """
        call = self.core.give_up if self.queue.endswith(POISON) else self.core.work
        try:
            await call(delivery.body, self.name)
        except Exception:
            if self.queue.endswith(POISON) or delivery.dequeue_count < MAX_DEQUEUE_COUNT:
                return
            await self.core.queue.send(self.queue + POISON, delivery.body)
        await self.core.queue.complete(self.queue, delivery)

    async def work_all(self) -> int:
        """Work until nothing is visible; how many messages that were."""
        done = 0
        while taken := await self.take():
            for delivery in taken:
                await self.work(delivery)
            done += len(taken)
        return done


async def task_of(core: MemoryCore, accepted: Accepted, owner: Owner = ALICE) -> Task:
    """The task as it is now."""
    return await core.task(owner, accepted.task_id)


async def told(core: MemoryCore, owner: Owner = ALICE) -> Sequence[Memory]:
    """Everything that was ever made of conversations; their messages are not made,
    but kept as they were said.
    """
    everything = await listed(core, owner, status="all")
    return [
        memory
        for memory in everything
        if memory.conversation_id is not None and not is_message(memory.id)
    ]


async def formed_counts(world: World, core: MemoryCore, owner: Owner = ALICE) -> dict[str, int]:
    """By status, how many memories were made of conversations; the head counts them with their
    messages and all others.
    """
    everything = {
        memory.id: memory.status.value
        for kind in (None, MESSAGE)
        for memory in await listed(core, owner, status="all", category=kind)
    }
    head = await world.head(owner)
    assert head is not None
    assert {name: count for name, count in head.counts.items() if count} == Counter(
        everything.values()
    )
    return dict(Counter(memory.status.value for memory in await told(core, owner)))


async def texts(core: MemoryCore, owner: Owner = ALICE) -> list[str]:
    """The contents of what was made of conversations, in order."""
    return sorted(memory.content for memory in await told(core, owner))


async def ended(
    world: World,
    core: MemoryCore,
    task_id: str,
    owner: Owner = ALICE,
    queue: QueueName = "consolidation",
    apart_s: float = 31,
) -> Task:
    """Work on a queue, and let time go by between two looks, until the task is done."""
    hand = Hand(core, queue)
    for _ in range(60):
        await hand.work_all()
        task = await core.task(owner, task_id)
        if task.finished:
            return task
        world.clock.forward(apart_s)
    raise AssertionError(f"the task never ends: {task}")


async def finished(
    world: World, core: MemoryCore, accepted: Accepted, owner: Owner = ALICE
) -> Task:
    """The task of a conversation, done."""
    return await ended(world, core, accepted.task_id, owner, "formation")


async def stored(world: World, conversation_id: str, owner: Owner = ALICE) -> Conversation:
    """The conversation as it is kept."""
    seen = await (await world.look_on()).snapshot(
        owner, [conversation_id, messages_id(conversation_id)]
    )
    formed = conversation_of(ReadSet(seen.head, dict(seen.documents)), conversation_id)
    assert formed is not None
    return formed


async def pending(world: World, owner: Owner = ALICE) -> int:
    """How many conversations the head counts as not formed."""
    head = await world.head(owner)
    assert head is not None
    return head.pending_tasks


async def formed_once(
    world: World, core: MemoryCore, accepted: Accepted, owner: Owner = ALICE
) -> None:
    """One set of memories, each made by one event; the conversation formed, the task done,
    nothing waits.
    """
    assert [text.split(" (told")[0] for text in await texts(core, owner)] == MADE
    written = [event.memory_id for event in await world.log(owner) if event.event_type == "created"]
    created = [name for name in written if not is_message(name)]
    assert len(created) == len(set(created)) == 3
    assert len(written) == len(set(written)) == 3 + len(TWO_TOPICS), (
        "each message is a memory, written once"
    )
    task = await task_of(core, accepted, owner)
    assert (task.status, task.progress, task.error, task.leased_by) == (
        "succeeded",
        1.0,
        None,
        None,
    )
    assert task.result is not None
    formed = await stored(world, task.result["conversation_id"], owner)
    assert (formed.state, len(formed.formed_cells)) == ("formed", 2)
    assert sorted(name for cell in formed.formed_cells for name in cell.memory_ids) == sorted(
        created
    )
    assert task.result["counts"] == {"created": 3}, (
        "it counts what was done, whoever did it and in however many tries"
    )
    assert await pending(world, owner) == 0
