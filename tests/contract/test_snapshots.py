"""Snapshots of the log: they make a replay cheap, change nothing in what it tells,
and hold nothing that was forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import orjson
import pytest

from memory_core.adapters.system import RandomIds
from memory_core.core import MemoryCore
from memory_core.domain.memory import EVENTS_A_SNAPSHOT, Event, Memory
from memory_core.domain.results import Call
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.history import MAX_PART_BYTES, Snapshots, redacting
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document, LongTermStore, Write
from tests.builders import ALICE, commit
from tests.contract.insistent import Insistent
from tests.past import full_read, head_of, replayed
from tests.world import DiesAfter, Killed, Meanwhile, World, fact, rule, turn

PHRASE = "swordfish"


async def say(core: MemoryCore, times: int) -> None:
    """So many events of some turns: each is saved, and then counted up, which nothing is decided
    about.
    """
    for start in range(0, times, 90):
        memory = (await core.save(ALICE, turn(f"said {uuid4()}", None))).memory
        count = min(90, times - start) - 1

        def decide(look: ReadSet, memory: Memory = memory, count: int = count) -> Changes[None]:
            before, changes = look.memory(memory.id), list[Change]()
            assert before is not None
            for number in range(1, count + 1):
                after = before.changed(reinforcement_count=number)
                changes.append(Change("reinforced", after, before))
                before = after
            return Changes(None, tuple(changes), reads=frozenset({memory.id}))

        await core._services.ledger.commit(ALICE, decide, ids=[memory.id], call=Call())


async def parts(store: LongTermStore) -> list[Document]:
    return await store.page(ALICE, "snapshot", None, None, 1000, newest_first=False)


def snapshots(world: World, store: LongTermStore) -> Snapshots:
    return Snapshots(store, Ledger(store, world.clock, RandomIds()))


async def grow_large(core: MemoryCore) -> None:
    """A thousand events that make 3 MB of memories."""
    for start in (0, 55):
        await core.bulk(
            ALICE, [turn(f"{n} {PHRASE * 3000}", None) for n in range(start, start + 55)]
        )
    await say(core, 890)


@dataclass
class Counting:
    """A store that counts the events which it hands out."""

    inner: LongTermStore
    events_read: int = 0
    commits: int = 0

    async def events(self, *args: Any) -> list[Event]:
        events = await self.inner.events(*args)
        self.events_read += len(events)
        return events

    async def commit(self, *args: Any) -> None:
        self.commits += 1
        await self.inner.commit(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def test_a_replay_reads_no_more_events_than_lie_between_two_snapshots(world: World) -> None:
    counting: list[Counting] = []
    core = await world.core(wrap=lambda store: counting.append(Counting(store)) or counting[-1])
    read = {}
    for n in range(5):
        await core.bulk(ALICE, [fact(f"fact {n}"), turn(f"turn {n}")])
        await say(core, 500)
        read[(await head_of(await world.look_on())).sequence] = await full_read(core)
    assert await core.write_snapshots(ALICE) == 2
    assert {part.body["sequence"] for part in await parts(await world.look_on())} == {1000, 2000}
    for sequence, answer in read.items():
        counting[0].events_read = 0
        assert await replayed(core, sequence=sequence) == answer
        assert counting[0].events_read < EVENTS_A_SNAPSHOT


async def test_nothing_is_written_and_little_read_when_none_is_due(world: World) -> None:
    counting: list[Counting] = []
    core = await world.core(wrap=lambda store: counting.append(Counting(store)) or counting[-1])
    assert await core.write_snapshots(ALICE) == 0
    await say(core, 999)
    for due in (0, 1, 0):
        counting[0].commits = counting[0].events_read = 0
        assert await core.write_snapshots(ALICE) == due
        assert (counting[0].commits, counting[0].events_read > 0) == (due, due == 1)
        await say(core, 1)


async def test_a_large_state_is_kept_in_parts_and_counts_only_with_all_of_them(
    world: World,
) -> None:
    core = await world.core()
    await grow_large(core)
    assert await core.write_snapshots(ALICE) == 1
    store = await world.look_on()
    documents = await parts(store)
    assert len(documents) == documents[0].body["parts"] == 4
    assert all(len(orjson.dumps(document.body)) < MAX_PART_BYTES + 1000 for document in documents)
    whole = await full_read(core)
    assert await replayed(core, sequence=1000) == whole
    await commit(Insistent(store), ALICE, Write("delete", documents[1]), events=0)
    assert await replayed(core, sequence=1000) == whole


async def test_who_is_killed_while_writing_leaves_a_replay_right_and_the_next_one_finishes(
    world: World,
) -> None:
    """Each begins without any snapshot of the same long log."""
    core, store = await world.core(), await world.look_on()
    await grow_large(core)
    answer = await full_read(core)
    for after, applied in product((0, 1, 3), (False, True)):
        assert await parts(store) == []
        assert (await head_of(store)).snapshot_due == 1000
        dying = await world.core(wrap=lambda inner, n=after, a=applied: DiesAfter(inner, n, a))
        with pytest.raises(Killed):
            await dying.write_snapshots(ALICE)
        await world.end(dying)
        assert await replayed(core, sequence=1000) == answer, (after, applied)
        await core.write_snapshots(ALICE)
        assert len(await parts(store)) == 4, (after, applied)
        assert (await head_of(store)).snapshot_due == 2000, (after, applied)
        assert await replayed(core, sequence=1000) == answer, (after, applied)
        await snapshots(world, store).drop(ALICE, 1000)


async def redact(store: LongTermStore, memory_id: str) -> None:
    """Empty every event of a memory, and remove it, as forgetting for good does."""
    events = [event for event in await store.events(ALICE, 0, 5000) if event.memory_id == memory_id]
    emptied = [
        event.model_copy(update={"before": {}, "after": {}, "metadata": {}, "redacted": True})
        for event in events
    ]
    writes = [
        Write("put", Document(event.id, "event", event.model_dump(mode="json")))
        for event in emptied
    ]
    gone = Write("delete", Document(memory_id, "memory", {}))
    await commit(
        Insistent(store), ALICE, *writes, gone, events=0, head=redacting(await head_of(store))
    )


async def test_what_was_forgotten_is_in_no_snapshot_and_in_no_replay(world: World) -> None:
    core = await world.core()
    memory, gone = (
        (await core.save(ALICE, fact("kept"))).memory,
        (await core.save(ALICE, fact(PHRASE))).memory,
    )
    await say(core, 2500)
    assert await core.write_snapshots(ALICE) == 2
    store = await world.look_on()
    await redact(store, gone.id)
    assert await snapshots(world, store).drop(ALICE, gone.sequence) == 2
    assert await parts(store) == []
    assert await core.write_snapshots(ALICE) == 2, "they are made anew"
    assert PHRASE not in str([part.body for part in await parts(store)])
    for sequence in (2, 500, 1000, 2300):
        ids = {
            memory["id"]
            for memory in await replayed(core, sequence=sequence)
            if not memory["content"].startswith("said")
        }
        assert ids == {memory.id}


async def test_older_snapshots_stay_when_something_later_is_forgotten(world: World) -> None:
    core = await world.core()
    await say(core, 1500)
    gone = (await core.save(ALICE, fact(PHRASE))).memory
    await say(core, 1000)
    assert await core.write_snapshots(ALICE) == 2
    store = await world.look_on()
    await redact(store, gone.id)
    assert await snapshots(world, store).drop(ALICE, gone.sequence) == 1
    assert [part.body["sequence"] for part in await parts(store)] == [1000]
    assert await core.write_snapshots(ALICE) == 1


async def test_what_is_forgotten_while_a_snapshot_is_made_does_not_come_back_with_it(
    world: World,
) -> None:
    core = await world.core()
    gone = (await core.save(ALICE, fact(PHRASE))).memory
    await say(core, 1100)
    store = await world.look_on()

    async def forget() -> None:
        await redact(store, gone.id)
        await snapshots(world, store).drop(ALICE, gone.sequence)

    late = await world.core(wrap=lambda inner: Meanwhile(inner, "events", forget))
    assert await late.write_snapshots(ALICE) == 0
    assert await parts(store) == []
    assert await late.write_snapshots(ALICE) == 1
    assert PHRASE not in str([part.body for part in await parts(store)])


async def test_others_may_write_while_a_snapshot_is_made(world: World) -> None:
    core = await world.core()
    await say(core, 1100)
    late = await world.core(
        wrap=lambda inner: Meanwhile(inner, "events", lambda: core.save(ALICE, turn("meanwhile")))
    )
    assert await late.write_snapshots(ALICE) == 1
    assert await replayed(core, sequence=1101) == await full_read(core)


async def test_a_snapshot_holds_old_versions_too(world: World) -> None:
    core = await world.core()
    memory = (await core.save(ALICE, rule("tabs", 2))).memory
    for n in (4, 8):
        world.clock.forward(3600)
        await core.save(ALICE, rule("tabs", n))
    await say(core, 1000)
    at = memory.valid_from + timedelta(minutes=90)
    then = await full_read(core, at=at)
    assert await core.write_snapshots(ALICE) == 1
    sequence = (await head_of(await world.look_on())).sequence
    assert await replayed(core, sequence=sequence, at=at) == then
    assert [memory["value"] for memory in then if memory["key"] == "tabs"] == [4]
