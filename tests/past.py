"""The log beside what it should tell: the documents as they are stored, and as folding every
event gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.event_log import cells_of_messages, fold
from memory_core.domain.memory import UNLOGGED_FIELDS, Head, Memory
from memory_core.domain.messages import is_message
from memory_core.domain.requests.maintenance import ReplayInput
from memory_core.domain.requests.memories import ListInput
from memory_core.domain.scope import Owner
from memory_core.ports import LongTermStore
from tests.builders import ALICE
from tests.world import World, listed

Logged = dict[str, Any]
OUTSIDE = {
    "links",
    "scene_id",
    "access_count",
    "last_accessed_at",
    "embedding_model",
    "embedding_dimensions",
}
"""What readers see of a memory and no event tells."""


def logged(memory: Memory) -> Logged:
    """What the log records of a memory, and its place in the log. To which cell a message
    belongs is a mark, which no event tells.
    """
    unlogged = set(UNLOGGED_FIELDS) | ({"cell_id"} if is_message(memory.id) else set())
    return {
        **memory.model_dump(mode="json", exclude=unlogged),
        "epoch": memory.epoch,
        "etag": memory.etag,
    }


def shown(memory: Memory) -> Logged:
    """What readers see of a memory, as far as the log tells it."""
    return {name: value for name, value in memory.public().items() if name not in OUTSIDE}


async def memories_of(world: World, owner: Owner = ALICE) -> dict[str, Memory]:
    """Every memory and every old version, by id, as a process of its own reads them."""
    store = await world.look_on()
    documents = [
        document
        for kind in ("memory", "version")
        for document in await store.page(owner, kind, None, None, 100_000)
    ]  # type: ignore[arg-type]
    memories = (Memory.model_validate(document.body) for document in documents)
    return {memory.id: memory for memory in memories}


async def stored(world: World, owner: Owner = ALICE) -> dict[str, Logged]:
    """The same as the log records it."""
    return {name: logged(memory) for name, memory in (await memories_of(world, owner)).items()}


async def told(world: World, owner: Owner = ALICE) -> dict[str, Logged]:
    """The same from the log alone; which cell a message belongs to is told by that cell."""
    head = await world.head(owner)
    if head is None:
        return {}
    states = fold({}, await world.log(owner))
    cells = cells_of_messages(states)
    memories = {name: state.memory(head.epoch) for name, state in states.items()}
    turns = {
        name: memory.model_copy(update={"cell_id": cells.get(name)})
        for name, memory in memories.items()
        if is_message(name)
    }
    return {name: logged(memory) for name, memory in {**memories, **turns}.items()}


async def check_that_the_log_tells_it(world: World, owner: Owner = ALICE) -> None:
    """What is stored is what the log tells, its sequences have no gap and its clock never goes
    back, and the head's counts are right.
    """
    events, head, memories = (
        await world.log(owner),
        await world.head(owner),
        await memories_of(world, owner),
    )
    rows = {name: logged(memory) for name, memory in memories.items()}
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    times = [event.occurred_at for event in events]
    assert times == sorted(set(times))
    assert await told(world, owner) == rows
    check_that_messages_know_their_cells(memories)
    if head is not None:
        assert head.sequence == len(events)
        statuses = [row["status"] for name, row in rows.items() if "." not in name]
        assert {name: count for name, count in head.counts.items() if count} == {
            name: statuses.count(name) for name in set(statuses)
        }


def check_that_messages_know_their_cells(memories: Mapping[str, Memory]) -> None:
    """A message that is marked with a cell is one of those that this cell, or an equal one told
    before, was made of.
    """
    for message in memories.values():
        cell = memories.get(message.cell_id or "") if is_message(message.id) else None
        assert cell is None or cell.category in ("cell", "agent")


async def full_read(core: MemoryCore, owner: Owner = ALICE, **query: Any) -> list[Logged]:
    """What a list of all statuses answers, page by page, without what no event records."""
    return [logged(memory) for memory in await listed(core, owner, status="all", **query)]


async def replayed(
    core: MemoryCore, owner: Owner = ALICE, *, limit: int = 100, **query: Any
) -> list[Logged]:
    """What a replay answers, page by page."""
    rows: list[Logged] = []
    cursor = None
    while True:
        page = await core.replay(owner, ReplayInput(limit=limit, cursor=cursor, **query))
        rows += [logged(memory) for memory in page.memories]
        cursor = page.next_cursor
        if cursor is None:
            return rows


async def as_of(core: MemoryCore, owner: Owner = ALICE, **query: Any) -> int | None:
    """The sequence that a list says it is the state of."""
    return (await core.list(owner, ListInput(limit=1, **query))).as_of_sequence


async def head_of(store: LongTermStore, owner: Owner = ALICE) -> Head:
    """The owner's head."""
    head = (await store.snapshot(owner)).head
    assert head is not None
    return head


async def told_by_the_log(core: MemoryCore, world: World) -> None:
    """What the log tells is what a list shows: every memory that stays, with its fields."""
    head = await world.head()
    assert head is not None
    page = await core.replay(ALICE, ReplayInput(sequence=head.sequence, limit=100))
    told_memories = {memory.id: shown(memory) for memory in page.memories}
    memories = await listed(core, status="all")
    assert told_memories == {memory.id: shown(memory) for memory in memories}
