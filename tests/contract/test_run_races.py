"""A run and its user at once: whatever the user has written stays, whatever the run does is done
once, and the log tells it all.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, PreconditionFailed
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Accepted
from memory_core.ports import LongTermStore
from tests.builders import ALICE, NOW, CountedIds
from tests.conflicts import all_of, asking, check_questions, lives, open_ids, port, records_of
from tests.life.meeting import Meets
from tests.past import check_that_the_log_tells_it
from tests.tasks import Hand
from tests.telling import Tellers, on_all, tell
from tests.world import DiesAfter, Killed, WordsEmbedder, World, turn

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
Check = Callable[[], Awaitable[None]]
Act = Callable[[MemoryCore, World], Awaitable[Check]]


async def core_of(world: World, **options: Any) -> MemoryCore:
    agents = Tellers(rulings=on_all("DELETE"), notes=False)
    return await world.core(
        embedder=WordsEmbedder(), duplicate_threshold=0.7, agents=agents, **options
    )


async def lived(world: World) -> Accepted:
    """A user with episodes, truths, a conflict in a chain and one beside it;
    and a run that waits.
    """
    core = await core_of(world, ids=CountedIds())
    await tell(core, "Ana's city is Oslo, we ran along the river", "Ana's job is baker", at=NOW)
    await tell(
        core,
        "We ran along the river again, as on every Tuesday",
        at=NOW + timedelta(days=1),
        session="s2",
    )
    for number in range(3):
        await port(core, 8000 + number, days=number)
    for number in range(2):
        await port(core, 9000 + number, days=number, server="small")
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await world.end(core)
    return accepted


async def side(world: World) -> Memory:
    """One side of an open conflict: the one that is held."""
    store = await world.look_on(WordsEmbedder())
    documents = (
        await store.snapshot(ALICE, [record.old_id for record in await records_of(world)])
    ).documents
    return min(
        (Memory.model_validate(document.body) for document in documents.values()),
        key=lambda memory: memory.content,
    )


async def saves(core: MemoryCore, world: World) -> Check:
    """One more in the chain of contradictions."""
    saved = await port(core, 8007, days=7)

    async def check() -> None:
        assert (await core.get(ALICE, saved.memory.id)).status is Status.ACTIVE, "it was told last"

    return check


async def tells(core: MemoryCore, world: World) -> Check:
    """A turn and a truth that replaces one."""
    result, saved = (
        await core.save(ALICE, turn("I moved, and unpacked the last box")),
        await lives(core, "Lisbon", days=9),
    )

    async def check() -> None:
        memories = [
            await core.get(ALICE, saved_result.memory.id) for saved_result in (result, saved)
        ]
        assert [memory.status for memory in memories] == [Status.ACTIVE, Status.ACTIVE]
        assert [memory.content for memory in memories] == [
            result.memory.content,
            "Ana lives in Lisbon",
        ]

    return check


async def updates(core: MemoryCore, world: World) -> Check:
    """Another text for a side of a conflict."""
    memory, text = await side(world), "the big old server moved to the cellar"
    with suppress(PreconditionFailed, Conflict):
        await core.update(ALICE, memory.id, UpdateInput(content=text), memory.etag)

        async def check() -> None:
            now = await core.get(ALICE, memory.id)
            assert (now.content, now.version) == (text, 2)

        return check

    async def refused() -> None:
        assert (await core.get(ALICE, memory.id)).version == 1

    return refused


async def deletes(core: MemoryCore, world: World) -> Check:
    """A side of a conflict goes away."""
    memory = await side(world)
    await core.delete(ALICE, memory.id)

    async def check() -> None:
        assert (await core.get(ALICE, memory.id)).status is Status.DELETED

    return check


async def decides(core: MemoryCore, world: World) -> Check:
    """Both sides of a conflict shall stand; or, when that is decided otherwise already,
    the user hears of it.
    """
    record = (await records_of(world))[0]
    try:
        await core.resolve_conflict(ALICE, record.id, asking("keep_both", "both are right"))
    except Conflict:
        return partial(_decided, core, record.id, "supersede")
    return partial(_decided, core, record.id, "keep_both")


async def _decided(core: MemoryCore, name: str, strategy: str) -> None:
    record = await core.conflict(ALICE, name)
    assert (record.open, record.strategy) == (False, strategy)


ACTS: tuple[Act, ...] = (saves, tells, updates, deletes, decides)


async def settled(world: World, core: MemoryCore, accepted: Accepted, check: Check) -> None:
    """The run ends, the next one too; what the user wrote stays, and everything agrees."""
    for _ in range(3):
        await Hand(core, "consolidation").work_all()
        world.clock.forward(3600)
        await core.sweep()
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"
    await check()
    await next_run(core)
    await check()
    await check_questions(world, core)
    await check_that_the_log_tells_it(world)
    assert await open_ids(world) == set()
    made = [event.memory_id for event in await world.log() if event.event_type == "created"]
    assert len(made) == len(set(made)), "nothing was made twice"


async def next_run(core: MemoryCore) -> None:
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"


@pytest.fixture
async def start(world: World) -> tuple[Path, Accepted]:
    """A folder to copy, with a user in it whose run waits."""
    accepted = await lived(world)
    await world.close()
    return world.folder, accepted


def copied(start: Path, name: object) -> World:
    return World(Path(shutil.copytree(start, start.parent / f"{start.name}-{name}")))


async def calls_of_a_run(start: Path) -> int:
    """How many calls of its store an undisturbed run makes."""
    here, seen = copied(start, "alone"), list[Meets]()

    def watched(store: LongTermStore) -> Meets:
        seen.append(Meets(store, at=-1))
        return seen[0]

    await Hand(await core_of(here, wrap=watched), "consolidation").work_all()
    await here.close()
    return len(seen[0].called)


@pytest.mark.parametrize("lot", range(5))
async def test_what_a_user_writes_while_a_run_is_under_way_stands(
    start: tuple[Path, Accepted], lot: int
) -> None:
    calls = await calls_of_a_run(start[0])
    for seed in range(lot, 25, 5):
        here, random = copied(start[0], seed), Random(seed)
        act, user, checks = (
            random.choice(ACTS),
            await core_of(here, ids=CountedIds("user")),
            list[Check](),
        )
        then = partial(acts, act, user, here, checks)
        meets = partial(Meets, at=random.randrange(calls), then=then, after=random.random() < 0.5)
        running = await core_of(here, ids=CountedIds("run"), wrap=meets)
        await Hand(running, "consolidation").work_all()
        (check,) = checks
        await settled(here, running, start[1], check)
        await here.close()


async def acts(act: Act, user: MemoryCore, world: World, checks: list[Check]) -> None:
    checks.append(await act(user, world))


@pytest.mark.parametrize("lot", range(5))
async def test_what_a_user_writes_stands_although_a_run_or_a_part_of_one_comes_between_his_reading_and_his_writing(  # noqa: E501
    start: tuple[Path, Accepted], lot: int
) -> None:
    for seed in range(25 + lot, 50, 5):
        here, random, met = copied(start[0], seed), Random(seed), list[Meets]()
        ending = partial(DiesAfter, commits=random.randrange(1, 12), applied=random.random() < 0.5)
        running = await core_of(here, ids=CountedIds("run"), wrap=ending)
        meeting = partial(meets_after_reading, met, partial(works_until_it_dies, running))
        user = await core_of(here, ids=CountedIds("user"), wrap=meeting)
        check = await ACTS[seed % len(ACTS)](user, here)
        assert met[0].then is None, "they met"
        await settled(here, await core_of(here, ids=CountedIds("further")), start[1], check)
        await here.close()


def meets_after_reading(
    met: list[Meets], then: Callable[[], Awaitable[None]], store: LongTermStore
) -> Meets:
    met.append(Meets(store, at=0, then=then, after=True))
    return met[0]


async def works_until_it_dies(core: MemoryCore) -> None:
    with suppress(Killed):
        await works(core)


async def works(core: MemoryCore) -> None:
    await Hand(core, "consolidation").work_all()


@pytest.mark.parametrize("seed", range(6))
async def test_two_workers_and_two_runs_at_once_make_what_one_makes(
    start: tuple[Path, Accepted], seed: int
) -> None:
    alone = copied(start[0], "alone")
    core = await core_of(alone)
    await works(core)
    await next_run(core)
    here, random = copied(start[0], "both"), Random(seed)
    other = await core_of(here, ids=CountedIds("other"))
    second = await other.consolidate(ALICE, ConsolidateInput())
    assert isinstance(second, Accepted)
    meets = partial(
        Meets, at=random.randrange(25), then=partial(works, other), after=random.random() < 0.5
    )
    running = await core_of(here, ids=CountedIds("run"), wrap=meets)
    await works(running)
    here.clock.forward(3600)
    await other.sweep()
    await works(other)
    assert {(await other.task(ALICE, answer.task_id)).status for answer in (start[1], second)} == {
        "succeeded"
    }
    assert made(await all_of(other)) == made(await all_of(core))
    await check_questions(here, other)
    await check_that_the_log_tells_it(here)
    await alone.close()
    await here.close()


@pytest.mark.parametrize("applied", [False, True])
async def test_a_run_that_dies_between_any_two_writes_ends_as_one_that_does_not(
    start: tuple[Path, Accepted], *, applied: bool
) -> None:
    alone = copied(start[0], "alone")
    core = await core_of(alone)
    await works(core)
    expected, died = made(await all_of(core)), 0
    await alone.close()
    for commits in range(40):
        here = copied(start[0], commits)
        dying = await core_of(here, wrap=partial(DiesAfter, commits=commits, applied=applied))
        try:
            await works(dying)
        except Killed:
            died += 1
        else:
            await here.close()
            break
        here.clock.forward(3600)
        again = await core_of(here)
        await again.sweep()
        await works(again)
        assert (await again.task(ALICE, start[1].task_id)).status == "succeeded"
        assert made(await all_of(again)) == expected
        await check_that_the_log_tells_it(here)
        await here.close()
    assert died, "it never died"


def made(memories: dict[str, Memory]) -> dict[str, tuple[Any, ...]]:
    """What each memory says and its state, whenever and in however many commits it
    came to that.
    """
    return {
        name: (
            memory.content,
            memory.status,
            memory.next_id,
            memory.supersedes_id,
            memory.version,
            memory.source_ids,
            memory.scene_id,
            memory.conflict_ids,
        )
        for name, memory in memories.items()
    }
