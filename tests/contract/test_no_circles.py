"""Chains end: no commit, by whatever path, leads a memory back to itself; and a circle that is in a
store all the same is survived.
"""

from __future__ import annotations

import pytest

from memory_core.adapters.system import RandomIds
from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, HeadMoved
from memory_core.domain.memory import Memory, Status
from memory_core.domain.results import Call
from memory_core.evolution.commit_rules import MemoryRules
from memory_core.ledger.batch import assemble
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import LongTermStore
from tests.builders import ALICE, StillClock, memory
from tests.contract.conftest import StoreFactory
from tests.contract.insistent import Insistent
from tests.world import World, fact, find


async def put(book: Ledger, *memories: Memory) -> None:
    """Write memories as they are, each as a change of what is there."""
    ids = [memory.id for memory in memories]

    def decide(look: ReadSet) -> Changes[None]:
        return Changes(
            None,
            tuple(Change("changed", memory, look.memory(memory.id)) for memory in memories),
            reads=frozenset(ids),
        )

    await book.commit(ALICE, decide, ids=ids, call=Call())


def after(stored_memory: Memory, other: Memory) -> Memory:
    return stored_memory.model_copy(
        update={"status": Status.SUPERSEDED, "status_reason": "contradicted", "next_id": other.id}
    )


def ledger(store: LongTermStore, clock: StillClock) -> Ledger:
    return Ledger(store, clock, RandomIds(), deadline_s=30, rules=MemoryRules(clock))


@pytest.fixture
async def book(store_factory: StoreFactory, clock: StillClock) -> Ledger:
    return Ledger(
        await store_factory(), clock, RandomIds(), deadline_s=30, rules=MemoryRules(clock)
    )


async def test_nobody_follows_themselves(book: Ledger) -> None:
    stored_memory = memory("one")
    await put(book, stored_memory)
    with pytest.raises(Conflict, match="back to itself"):
        await put(book, after(stored_memory, stored_memory))


async def test_a_circle_is_refused_also_through_what_the_decision_did_not_read(
    book: Ledger,
) -> None:
    a, b, c, d = (memory(name) for name in "abcd")
    await put(book, a, b, c, d)
    await put(book, after(a, b))
    await put(book, after(b, c))
    with pytest.raises(
        Conflict, match=f"{c.id} would lead, over {a.id} and {b.id}, back to itself"
    ):
        await put(book, after(c, a))
    await put(book, after(c, d))
    assert {name: memory.next_id for name, memory in (await read(book, a, b, c, d)).items()} == {
        a.id: b.id,
        b.id: c.id,
        c.id: d.id,
        d.id: None,
    }


async def test_a_circle_within_one_commit_is_refused(book: Ledger) -> None:
    a, b = memory("a"), memory("b")
    await put(book, a, b)
    with pytest.raises(Conflict, match="back to itself"):
        await put(book, after(a, b), after(b, a))
    assert {memory.next_id for memory in (await read(book, a, b)).values()} == {None}


async def test_a_chain_is_turned_round_in_one_commit(book: Ledger) -> None:
    a, b = memory("a"), memory("b")
    await put(book, a, b)
    await put(book, after(a, b))
    await put(book, a, after(b, a))
    assert {name: memory.next_id for name, memory in (await read(book, a, b)).items()} == {
        a.id: None,
        b.id: a.id,
    }


async def test_somebody_who_closes_it_between_look_and_commit_is_seen(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    """Two processes, each of which would be right alone."""
    books = [
        Ledger(await store_factory(), clock, RandomIds(), deadline_s=30, rules=MemoryRules(clock))
        for _ in range(2)
    ]
    a, b = memory("a"), memory("b")
    await put(books[0], a, b)
    stale = await books[1].look(ALICE, [b.id])
    await put(books[0], after(a, b))

    def decide(look: ReadSet) -> Changes[None]:
        return Changes(
            None, (Change("changed", after(b, a), look.memory(b.id)),), reads=frozenset({b.id})
        )

    with pytest.raises(HeadMoved):
        await books[1].commit(ALICE, decide, ids=[b.id], basis=stale, call=Call())
    with pytest.raises(Conflict, match="back to itself"):
        await books[1].commit(ALICE, decide, ids=[b.id], call=Call())


async def read(book: Ledger, *memories: Memory) -> dict[str, Memory]:
    look = await book.look(ALICE, [memory.id for memory in memories])
    return {
        memory.id: stored_memory
        for memory in memories
        if (stored_memory := look.memory(memory.id)) is not None
    }


async def forge(store: LongTermStore, clock: StillClock, *memories: Memory) -> None:
    """Write past the ledger, as an older version of this product might have."""
    head = (await store.snapshot(ALICE)).head
    changes = Changes(
        None,
        tuple(
            Change("superseded", after, before)
            for after, before in zip(memories[::2], memories[1::2], strict=True)
        ),
    )
    made = assemble(head, changes, commit_id="cmt_forged", epoch="ep", now=clock.now(), call=Call())
    await Insistent(store).commit(ALICE, made.batch)


async def test_a_circle_that_stands_in_a_store_is_survived(core: MemoryCore, world: World) -> None:
    a, b = [
        (await core.save(ALICE, fact(f"the {thing} is blue"))).memory
        for thing in ("door", "old roof of the house")
    ]
    await forge(await world.look_on(), world.clock, after(a, b), a, after(b, a), b)
    for direction in ("forward", "backward", "both"):
        memories = (await core.evolution(ALICE, a.id, direction)).memories  # type: ignore[arg-type]
        assert {memory.id for memory in memories} == {a.id, b.id}
    for form in ("mermaid", "dot", "html"):
        assert a.content in await core.evolution_graph(ALICE, a.id, form)  # type: ignore[arg-type]
    assert await find(core, "the door is blue") == []
    await core.delete(ALICE, b.id)
    assert (await core.restore(ALICE, a.id)).status is Status.ACTIVE
    assert await find(core, "the door is blue") == ["the door is blue"]
