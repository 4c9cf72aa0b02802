"""What tests about conflicts ask: the records, whether everything that counts open questions
agrees, and what state a memory is in.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord, record_in
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ResolveInput
from memory_core.domain.requests.memories import ListInput
from memory_core.domain.results import Saved
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import slot_of
from memory_core.evolution.commit_rules import ASKED_ABOUT
from tests.builders import ALICE, NOW
from tests.world import WordsEmbedder, World, fact

DECISIONS = ("supersede", "keep_both", "reject_new", "merge")
OSLO = {"subject": "Ana", "attribute": "city"}
STANDING = (
    "content",
    "status",
    "status_reason",
    "version",
    "next_id",
    "supersedes_id",
    "valid_from",
    "valid_until",
    "source_ids",
    "tags",
)


def asking(decision: str, reason: str | None = None) -> ResolveInput:
    """A decision."""
    return ResolveInput.model_validate({"decision": decision, "reason": reason})


async def records_of(world: World, owner: Owner = ALICE) -> list[ConflictRecord]:
    """All records, newest first, as a process of its own reads them."""
    documents = await (await world.look_on()).page(owner, "conflict", None, None, 1000)
    return [record_in(document.body) for document in documents]


async def open_ids(world: World, owner: Owner = ALICE) -> set[str]:
    """The ids of the records that are pending."""
    return {record.id for record in await records_of(world, owner) if record.open}


def standing(memory: Memory) -> dict[str, Any]:
    """The state of a memory: what an undo has to restore."""
    return {name: getattr(memory, name) for name in STANDING}


async def all_of(core: MemoryCore, owner: Owner = ALICE) -> dict[str, Memory]:
    """Every memory by id, whatever became of it."""
    memories, cursor, more = dict[str, Memory](), None, True
    while more:
        page = await core.list(
            owner, ListInput.model_validate({"status": "all", "limit": 100, "cursor": cursor})
        )
        memories |= {memory.id: memory for memory in page.memories}
        cursor, more = page.next_cursor, page.next_cursor is not None
    return memories


async def check_questions(world: World, core: MemoryCore, owner: Owner = ALICE) -> None:
    """Records, memories and head agree on what is open; only memories that stand, or may come
    back by being found, are asked about; chains end.
    """
    pending = {record.id: record for record in await records_of(world, owner) if record.open}
    memories = await all_of(core, owner)
    named = {
        name: {memory.id for memory in memories.values() if name in memory.conflict_ids}
        for memory in memories.values()
        for name in memory.conflict_ids
    }
    assert named == {name: set(record.sides) for name, record in pending.items()}
    for memory in memories.values():
        assert not memory.conflict_ids or memory.status in ASKED_ABOUT
        assert (memory.conflict_state == "pending") is bool(memory.conflict_ids)
        seen, step = {memory.id}, memory
        while step.next_id is not None and step.next_id in memories:
            step = memories[step.next_id]
            assert step.id not in seen, "a chain has an end"
            seen.add(step.id)
    head = await world.head(owner)
    assert (0 if head is None else head.pending_count) == len(pending)


def one_truth_a_slot(memories: dict[str, Memory]) -> None:
    """Of those that stand in one slot all but one are asked about: they are joined by
    open questions.
    """
    slots: dict[Any, list[Memory]] = {}
    for memory in memories.values():
        if slot_of(memory) is not None and memory.status in FOUND_BY_DEFAULT:
            slots.setdefault(slot_of(memory), []).append(memory)
    for mates in slots.values():
        joined, left = {*mates[0].conflict_ids}, mates[1:]
        while near := [memory for memory in left if joined & {*memory.conflict_ids}]:
            joined |= {name for memory in near for name in memory.conflict_ids}
            left = [memory for memory in left if memory not in near]
        assert not left, (
            f"{[memory.content for memory in left]} coexist with {mates[0].content} and "
            "no conflict is pending"
        )


async def warring(world: World) -> MemoryCore:
    """A core that calls texts near which share most of their words."""
    return await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)


async def port(
    core: MemoryCore, number: int, days: int = 0, server: str = "big", **fields: Any
) -> Saved:
    """A statement that contradicts others with another number, uncertainly."""
    when = NOW + timedelta(days=days)
    return await core.save(
        ALICE,
        fact(f"the {server} old server listens on port {number}", event_timestamp=when, **fields),
    )


async def lives(core: MemoryCore, where: str, days: int = 0, **fields: Any) -> Saved:
    """A truth of a slot, which replaces others with certainty."""
    return await core.save(
        ALICE,
        fact(
            f"Ana lives in {where}",
            event_timestamp=NOW + timedelta(days=days),
            **{**OSLO, **fields},
        ),
    )


async def open_conflict(core: MemoryCore, **fields: Any) -> tuple[Saved, Saved, str]:
    """Two statements in a pending conflict, and the id of its record."""
    old, new = await port(core, 8080, **fields), await port(core, 8081, days=1, **fields)
    assert new.conflict is not None
    assert new.conflict.open
    return old, new, new.conflict.id


async def now(core: MemoryCore, *saved: Saved) -> list[Memory]:
    """The memories that were saved, as they are now."""
    return [await core.get(ALICE, result.memory.id) for result in saved]
