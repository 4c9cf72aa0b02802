"""The commit loop over any store: what is decided gets in once, whatever else is written,
whatever answer is lost.
"""

from __future__ import annotations

import asyncio

import pytest

from memory_core.adapters.system import RandomIds
from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.memory import Memory
from memory_core.domain.results import Call
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.commit_hooks import Committed
from memory_core.ledger.read_set import Reads, ReadSet, SealedEntries
from memory_core.ports import Document, LongTermStore
from tests.builders import ALICE, AnswerLost, StillClock, memory, unit
from tests.contract.conftest import StoreFactory
from tests.world import count_up


def ledger(store: LongTermStore, clock: StillClock) -> Ledger:
    return Ledger(store, clock, RandomIds(), deadline_s=30)


async def save(book: Ledger, stored_memory: Memory) -> Committed[str]:
    def decide(look: ReadSet) -> Changes[str]:
        return Changes(
            stored_memory.id,
            (Change("created", stored_memory),),
            reads=frozenset({stored_memory.id}),
        )

    return await book.commit(ALICE, decide, ids=[stored_memory.id], call=Call())


async def test_two_processes_race_200_commits_without_a_lost_update_or_a_gap(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    books = [ledger(await store_factory(), clock), ledger(await store_factory(), clock)]
    stored_memory = memory(embedding=unit(1))
    await save(books[0], stored_memory)

    async def writer(book: Ledger) -> None:
        for _ in range(100):
            await count_up(book, stored_memory.id)

    await asyncio.gather(*(writer(book) for book in books))
    store = await store_factory()
    look = await ledger(store, clock).look(ALICE, [stored_memory.id])
    current = look.memory(stored_memory.id)
    assert current is not None
    assert current.reinforcement_count == 200
    assert look.head is not None
    assert look.head.sequence == 201
    events = await store.events(ALICE, 0, 500)
    assert [event.sequence for event in events] == list(range(1, 202))
    times = [event.occurred_at for event in events]
    assert times == sorted(set(times))


async def test_a_commit_applied_whose_answer_was_lost_is_recognised_as_ours(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    inner = await store_factory()
    losing = AnswerLost(inner)
    stored_memory = memory(embedding=unit(1))
    done = await save(ledger(losing, clock), stored_memory)
    assert losing.lost == 0
    assert done.memories[stored_memory.id].revision == 1
    assert [event.memory_id for event in await inner.events(ALICE, 0, 10)] == [stored_memory.id]


async def test_a_commit_without_events_whose_answer_was_lost_is_recognised_as_ours(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    losing = AnswerLost(await store_factory())

    def decide(look: ReadSet) -> Changes[str]:
        if "ses_s" in look.documents:
            return Changes("somebody else's")
        return Changes("ours", creates=(Document("ses_s", "session", {}),))

    done = await ledger(losing, clock).commit(ALICE, decide, ids=["ses_s"], call=Call())
    assert (done.result, losing.lost) == ("ours", 0)
    assert done.changes is not None, (
        "else whoever follows it up, with a message or an answer, would not"
    )


async def test_an_answer_lost_while_another_process_commits_is_still_recognised_as_ours(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    inner, other = await store_factory(), await store_factory()
    first, rival, ours = memory("first"), memory("rival"), memory("ours")
    await save(ledger(inner, clock), first)

    async def meanwhile() -> None:
        await save(ledger(other, clock), rival)

    done = await save(ledger(AnswerLost(inner, meanwhile=meanwhile), clock), ours)
    assert done.memories[ours.id].revision == 2
    assert [event.memory_id for event in await inner.events(ALICE, 0, 10)] == [
        first.id,
        ours.id,
        rival.id,
    ]


async def test_a_batch_that_never_arrived_is_sent_again(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    inner = await store_factory()
    losing = AnswerLost(inner, apply=False)
    stored_memory = memory()
    await save(ledger(losing, clock), stored_memory)
    assert losing.lost == 0
    assert [event.memory_id for event in await inner.events(ALICE, 0, 10)] == [stored_memory.id]


async def test_a_store_that_stays_down_is_said(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    losing = AnswerLost(await store_factory(), apply=False, lost=100)
    with pytest.raises(Unavailable):
        await save(ledger(losing, clock), memory())


async def test_what_is_refused_for_good_ends_with_the_deadline_and_keeps_nobody_else_waiting(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    """A document that is created is there, and no look shows it."""
    stored_memory = memory(embedding=unit(1))
    store = await store_factory()
    await save(ledger(store, clock), stored_memory)

    def decide(look: ReadSet) -> Changes[None]:
        return Changes(None, (), (), (Document(stored_memory.id, "receipt", {}),))

    with pytest.raises(HeadMoved):
        await Ledger(store, clock, RandomIds(), deadline_s=0.2).commit(
            ALICE, decide, ids=[], call=Call()
        )


async def test_a_head_moved_by_something_unrelated_costs_no_second_decision(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    here, there = await store_factory(), await store_factory()
    book, rival = ledger(here, clock), ledger(there, clock)
    await save(book, memory("first"))
    decided = 0
    look = await book.look(ALICE, [])
    await save(rival, memory("unrelated"))

    def decide(_: ReadSet) -> Changes[None]:
        nonlocal decided
        decided += 1
        return Changes(None, (Change("created", memory("ours")),))

    done = await book.commit(ALICE, decide, ids=[], basis=look, call=Call())
    assert decided == 1
    assert next(iter(done.memories.values())).revision == 3


async def test_a_head_moved_by_what_was_read_is_decided_again(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    here, there = await store_factory(), await store_factory()
    book, rival = ledger(here, clock), ledger(there, clock)
    stored_memory = memory("first")
    await save(book, stored_memory)
    look = await book.look(ALICE, [stored_memory.id])
    await count_up(rival, stored_memory.id)
    seen: list[int] = []

    def decide(read_set: ReadSet) -> Changes[None]:
        current = read_set.memory(stored_memory.id)
        assert current is not None
        seen.append(current.reinforcement_count)
        more = current.model_copy(update={"reinforcement_count": current.reinforcement_count + 1})
        return Changes(
            None, (Change("reinforced", more, current),), reads=frozenset({stored_memory.id})
        )

    await book.commit(ALICE, decide, ids=[stored_memory.id], basis=look, call=Call())
    assert seen == [0, 1]
    stored_now = (await book.look(ALICE, [stored_memory.id])).memory(stored_memory.id)
    assert stored_now is not None
    assert stored_now.reinforcement_count == 2


async def test_a_clock_that_goes_back_does_not_turn_the_log_around(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    store = await store_factory()
    book = ledger(store, clock)
    await save(book, memory("first"))
    clock.forward(-3600)
    await save(book, memory("second"))
    first, second = await store.events(ALICE, 0, 10)
    assert second.occurred_at > first.occurred_at


async def test_events_hold_what_changed_and_never_a_vector(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    store = await store_factory()
    book = ledger(store, clock)
    stored_memory = memory("green tea", embedding=unit(1), tags=["drink"])
    await save(book, stored_memory)
    await count_up(book, stored_memory.id)
    created, reinforced = await store.events(ALICE, 0, 10)
    assert created.after["content"] == "green tea"
    assert "embedding" not in created.after
    assert (reinforced.before, reinforced.after) == (
        {"reinforcement_count": 0},
        {"reinforcement_count": 1},
    )


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_is_refused_again_and_again_ends_with_the_deadline_and_holds_up_nobody(
    store: LongTermStore, clock: StillClock
) -> None:
    book, asked = Ledger(store, clock, RandomIds(), deadline_s=0.2), 0

    def decide(look: ReadSet) -> Changes[None]:
        nonlocal asked
        asked += 1
        assert asked < 5_000, "it would never have ended"
        return Changes(None, creates=(Document("ses_there", "session", {}),))

    await book.commit(ALICE, decide, ids=[], call=Call())
    with pytest.raises(HeadMoved, match="did not get through in time"):
        await book.commit(ALICE, decide, ids=[], call=Call())


def following(memory_id: str) -> Reads:
    """The successors of a memory, as far as they are known."""

    def reads(look: ReadSet) -> list[str]:
        names = [memory_id]
        while (step := look.memory(names[-1])) is not None and step.next_id is not None:
            names.append(step.next_id)
        return names

    return reads


async def chain(book: Ledger, *names: str) -> None:
    """Memories of which each has the next as its successor; the last has one that is missing."""
    for number, name in enumerate(names):
        made = memory(id=name, content=f"{name} says so", embedding=unit(number))
        after = names[number + 1] if number + 1 < len(names) else "mem_gone"
        await save(book, made.changed(next_id=after))


async def test_a_decision_gets_what_its_reads_name_by_what_was_read_before(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    book = ledger(await store_factory(), clock)
    await chain(book, "mem_a", "mem_b", "mem_c")
    seen = list[ReadSet]()

    def decide(look: ReadSet) -> Changes[None]:
        seen.append(look)
        return Changes(None)

    await book.commit(ALICE, decide, ids=["mem_a"], reads=following("mem_a"), call=Call())
    assert {*seen[0].documents} == {"mem_a", "mem_b", "mem_c"}
    assert seen[0].asked == {"mem_a", "mem_b", "mem_c", "mem_gone"}
    assert seen[0].now == clock.now()


async def test_what_is_read_besides_is_of_one_head(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    store = await store_factory()
    book, other = ledger(store, clock), ledger(store, clock)
    await chain(book, "mem_a", "mem_b", "mem_c")
    looks = list[ReadSet]()
    before = await book.look(ALICE, ["mem_a"])
    await count_up(other, "mem_a")

    def decide(look: ReadSet) -> Changes[None]:
        looks.append(look)
        return Changes(None)

    await book.commit(
        ALICE, decide, ids=["mem_a"], reads=following("mem_a"), basis=before, call=Call()
    )
    assert [look.head for look in looks] == [(await book.look(ALICE, [])).head]
    counted = looks[0].memory("mem_a")
    assert counted is not None
    assert counted.reinforcement_count == 1


async def test_sealed_entries_are_read_when_a_decision_reaches_back_to_them(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    book = ledger(await store_factory(), clock)
    await chain(book, "mem_a", "mem_b")

    def decide(look: ReadSet) -> Changes[int]:
        if look.unread(["mem_b"]):
            raise SealedEntries(["mem_b"])
        return Changes(len(look.documents))

    done = await book.commit(ALICE, decide, ids=["mem_a"], call=Call())
    assert done.result == 2
