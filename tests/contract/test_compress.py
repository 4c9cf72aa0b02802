"""Long texts that are never asked for become short ones, their originals safe in the archive first;
and they come back whole.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.errors import AgentFailed, Damaged
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import DecayInput, ForgetInput
from memory_core.domain.requests.memories import SaveInput, UpdateInput
from memory_core.domain.results import Accepted, Call, Saved
from memory_core.domain.text.sameness import names_in
from memory_core.domain.text.shortening import shortened
from memory_core.domain.text.spelling import numbers_in
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.read_set import ReadSet
from tests.builders import ALICE
from tests.cold import blobs, done
from tests.contract.test_decay import DAY, decayed, foreseen
from tests.mortal import Moment, Mortal
from tests.past import told_by_the_log
from tests.tasks import Hand, task_of
from tests.world import Killed, Meanwhile, World, fact, find, listed, turn

SAID = "The contract with Soares ends on 3 March 2027 and costs 1,250.50 EUR per month."
LONG = " ".join(
    ["We talked for a long while about nothing in particular, as one does."] * 20
    + [SAID]
    + ["Then we had tea and looked at the rain outside the window."] * 15
)


@pytest.fixture
def world(cold_world: World) -> World:
    return cold_world


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(rules=OfflineAgents())


async def formed(core: MemoryCore, item: SaveInput) -> Memory:
    """A memory as a run makes them: what was told stays word for word, so only such a one
    is shortened.
    """
    saved = (await core.save(ALICE, item)).memory

    def decide(look: ReadSet) -> Changes[None]:
        memory = look.memory(saved.id)
        assert memory is not None
        return Changes(
            None,
            (Change("updated", memory.model_copy(update={"consolidation_run": "run_1"}), memory),),
        )

    await core._services.ledger.commit(ALICE, decide, ids=[saved.id], call=Call())
    return next(memory for memory in await listed(core) if memory.id == saved.id)


async def shortened_one(core: MemoryCore, world: World) -> Memory:
    saved = await formed(core, turn(LONG, importance=0.5))
    world.clock.forward(95 * DAY)
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 1},
        "capped": False,
    }
    return await core.get(ALICE, saved.id)


async def test_a_long_text_becomes_short_once_and_keeps_what_it_told(
    core: MemoryCore, world: World
) -> None:
    memory = await shortened_one(core, world)
    assert (memory.status, memory.status_reason) == (Status.COMPRESSED, "compressed")
    assert len(memory.content) < 0.7 * len(LONG)
    assert numbers_in(LONG).keys() <= numbers_in(memory.content).keys()
    assert names_in(LONG) <= names_in(memory.content)
    assert await find(core, "contract with Soares") == [memory.content]
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    await told_by_the_log(core, world)


async def test_what_was_told_stays_word_for_word_however_long_and_old(
    core: MemoryCore, world: World
) -> None:
    turn_, note = (
        await core.bulk(ALICE, [turn(LONG, importance=0.5), fact(f"note {LONG}", importance=0.5)])
    )[:2]
    assert isinstance(turn_, Saved)
    assert isinstance(note, Saved)
    world.clock.forward(95 * DAY)
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    world.clock.forward(1_000 * DAY)
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 2, "compressed": 0},
        "capped": False,
    }
    assert set(await find(core, "tea and rain outside the window")) == {LONG, f"note {LONG}"}


async def test_it_comes_back_whole(core: MemoryCore, world: World) -> None:
    memory = await shortened_one(core, world)
    back = await core.restore(ALICE, memory.id)
    assert (back.status, back.content, back.archival_location) == (Status.ACTIVE, LONG, None)
    assert back.last_accessed_at == world.clock.now()
    assert back.embedding is not None
    assert memory.embedding is not None
    assert await find(core, "tea and rain outside the window") == [LONG]
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    await told_by_the_log(core, world)


async def test_a_young_a_short_and_a_spared_one_stay(core: MemoryCore, world: World) -> None:
    for item in (
        turn(f"short {LONG[:1500]}", importance=0.5),
        turn(f"pinned {LONG}", importance=0.5, pinned=True),
        turn(f"important {LONG}", importance=1.0),
        fact(f"true {LONG}", importance=0.5, subject="Ana", attribute="story"),
    ):
        await formed(core, item)
    world.clock.forward(69 * DAY)  # 0.5 is under 0.2 after 40 days, 1.0 after 70
    await formed(core, turn(f"young {LONG}", importance=0.3))
    assert (await foreseen(core)).counts == {"recalled": 0, "decayed": 0, "compressed": 0}
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }


# the other's clock does not go with this world's, and keeps old answers
@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_text_that_does_not_get_shorter_fades_like_others(
    core: MemoryCore, world: World
) -> None:
    await formed(core, turn(" ".join(f"Ana{n} {n * 7919}" for n in range(160)), importance=0.5))
    world.clock.forward(95 * DAY)
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    world.clock.forward(10 * DAY)
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 1, "compressed": 0},
        "capped": False,
    }


async def test_whatever_an_agent_answers_nothing_is_lost() -> None:
    for summary in ("Somebody had tea.", "User said: We talked.", "", LONG):
        text = shortened(LONG, summary)
        if text is not None:
            assert len(text) <= 0.7 * len(LONG)
            assert numbers_in(LONG).keys() <= numbers_in(text).keys()
            assert names_in(LONG) <= names_in(text)


async def test_rules_answer_where_the_model_gives_nothing(world: World) -> None:
    from tests.agents import ScriptedAgents

    class Silent(ScriptedAgents):
        async def summarise(self, *args: Any, **options: Any) -> Any:
            raise AgentFailed("nothing usable")

    core = await world.core(agents=Silent(), rules=OfflineAgents())
    assert (await shortened_one(core, world)).status is Status.COMPRESSED


async def test_what_is_edited_between_archive_and_cut_stays_long(world: World) -> None:
    first = await world.core()
    saved = await formed(first, fact(LONG, importance=0.5))
    world.clock.forward(95 * DAY)

    async def edit() -> None:
        await first.update(ALICE, saved.id, UpdateInput(content=f"edited {LONG}"), saved.etag)

    meddled = Meanwhile(None, "snapshot")  # type: ignore[arg-type]

    class Watching:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def put(self, name: str, data: bytes) -> bool:
            if name != "names-key" and not meddled.then:
                await edit()
                meddled.then = lambda: asyncio.sleep(0)
            return bool(await self._inner.put(name, data))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    core = await world.core(archive=Watching(world.archive()), rules=OfflineAgents())  # type: ignore[arg-type]
    task = await decayed(core)
    assert task.result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    memory = await first.get(ALICE, saved.id)
    assert (memory.status, memory.content) == (Status.ACTIVE, f"edited {LONG}")


async def lived(world: World, moment: Moment) -> Memory:
    """What is long is shortened by a process that dies at `moment`, or does it whole, in however
    many tries: the memory as it was.
    """
    archive: Any = Mortal(world.archive(), moment)
    core = await world.core(
        wrap=lambda store: Mortal(store, moment), archive=archive, rules=OfflineAgents()
    )
    moment.asleep = True
    saved = await formed(core, turn(LONG, importance=0.5))
    world.clock.forward(95 * DAY)
    moment.asleep = False
    with suppress(Killed):
        accepted = await core.decay(ALICE, DecayInput())
        assert isinstance(accepted, Accepted)
        assert (await done(world, core, accepted)).status == "succeeded"
    moment.asleep = True
    return saved


async def test_killed_at_any_write_the_text_is_long_or_its_original_is_safe(
    cold_worlds: Any, adapter: str
) -> None:
    """In a storm some writes are sent twice, so a life may have fewer of them than the whole one,
    and end in peace.
    """
    whole, world = Moment(), cold_worlds()
    await lived(world, whole)
    await world.close()
    assert len(whole.names) > 5, whole.names
    for at, name in enumerate(whole.names, 1):
        for after in (False, True):
            world, moment = cold_worlds(), Moment(at, after)
            saved = await lived(world, moment)
            assert moment.dead or adapter == "storm", (at, after, name)
            moment.dead = True
            rescuer = await world.core(rules=OfflineAgents())
            restored = await rescuer.get(ALICE, saved.id)
            if restored.status is Status.COMPRESSED:
                assert (await rescuer.restore(ALICE, saved.id)).content == LONG
            else:
                assert restored.content == LONG
            moment.dead = False
            await world.close()


async def test_an_original_that_is_gone_is_said_and_the_short_text_stays(
    core: MemoryCore, world: World
) -> None:
    memory = await shortened_one(core, world)
    for name in await blobs(world):
        await core._services.adapters.archive.remove(name)
    with pytest.raises(Damaged):
        await core.restore(ALICE, memory.id)
    assert (await core.get(ALICE, memory.id)).status is Status.COMPRESSED


# what happens is between store and archive, in any store
@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_somebody_else_brings_it_back_first_and_the_original_is_not_missed(
    core: MemoryCore, world: World
) -> None:
    """Between the look at the memory and the reading of its original the other one is done,
    and the copy is swept.
    """
    memory = await shortened_one(core, world)

    class Overtaken:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def get(self, name: str) -> bytes | None:
            if name == memory.archival_location:
                await core.restore(ALICE, memory.id)
                await self._inner.remove(name)
            data: bytes | None = await self._inner.get(name)
            return data

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    late = await world.core(archive=Overtaken(world.archive()))  # type: ignore[arg-type]
    back = await late.restore(ALICE, memory.id)
    assert (back.status, back.content) == (Status.ACTIVE, LONG)


async def test_forgotten_for_good_the_original_goes_too(core: MemoryCore, world: World) -> None:
    memory = await shortened_one(core, world)
    assert len(await blobs(world)) == 1
    accepted = await core.forget(
        ALICE, ForgetInput.model_validate({"mode": "hard", "filter": {"ids": [memory.id]}})
    )
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted)  # type: ignore[arg-type]
    assert task.status == "succeeded", task.error
    assert await blobs(world) == []
    assert await listed(core, status="all") == []


async def test_who_writes_over_a_short_text_has_said_something_new(
    core: MemoryCore, world: World
) -> None:
    saved = await formed(core, fact(LONG, importance=0.5))
    world.clock.forward(95 * DAY)
    await decayed(core)
    memory = await core.get(ALICE, saved.id)
    tagged = await core.update(ALICE, saved.id, UpdateInput(tags=["x"]), memory.etag)
    assert (tagged.status, tagged.archival_location) == (
        Status.COMPRESSED,
        memory.archival_location,
    )
    edited = await core.update(
        ALICE, saved.id, UpdateInput(content="the contract is over"), tagged.etag
    )
    assert (edited.status, edited.archival_location, edited.content) == (
        Status.ACTIVE,
        None,
        "the contract is over",
    )
