"""What counts as stored: each memory and each old version as it is stored, whatever happens to it
in whatever order.
"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, Invalid, NotFound, Unavailable
from memory_core.domain.requests.maintenance import ConsolidateInput, ForgetInput
from memory_core.domain.requests.memories import CopyInput, StatusInput, UpdateInput
from memory_core.domain.results import Accepted
from tests.builders import ALICE
from tests.cold import archived, years_go_by
from tests.exports import brought, exported
from tests.tasks import Hand, converse
from tests.world import BOB, World, fact, listed, recounted_bytes, rule

SMALL, LARGE = "tea", "coffee " * 2_000


async def kept(world: World, owner: Any = ALICE) -> int:
    head = await world.head(owner)
    return 0 if head is None else head.kept_bytes or 0


async def work_all(core: MemoryCore) -> None:
    for queue in ("formation", "consolidation"):
        await Hand(core, queue).work_all()


@pytest.mark.parametrize(
    ("first", "then"),
    [(SMALL, LARGE), (LARGE, SMALL)],
    ids=["small, then large", "large, then small"],
)
async def test_each_version_counts_as_it_was_written_and_gives_back_just_that(
    world: World, first: str, then: str
) -> None:
    core = await world.core()
    await core.save(ALICE, fact("Ana sails"))
    before = await kept(world)
    saved = (await core.save(ALICE, fact(first))).memory
    first_size = await kept(world) - before
    await core.update(ALICE, saved.id, UpdateInput(content=then), "*")
    both = await kept(world) - before
    other = (await core.save(BOB, fact(then))).memory
    assert abs(both - first_size - await kept(world, BOB)) < 500, (
        "the versions differ in their texts and what is read out of them"
    )
    assert await kept(world) == await recounted_bytes(world)
    await core.delete(ALICE, saved.id)
    assert await kept(world) - before == both, "what is deleted softly is still kept"
    await core.forget(
        ALICE, ForgetInput.model_validate({"filter": {"ids": [saved.id]}, "mode": "hard"})
    )
    await work_all(core)
    assert await kept(world) == before
    assert (await core.get(BOB, other.id)).content == then


async def test_the_archive_gives_back_the_texts_of_all_versions_and_a_restore_takes_them_again(
    world: World,
) -> None:
    core = await world.core()
    saved = (await core.save(ALICE, fact(LARGE))).memory
    await core.update(ALICE, saved.id, UpdateInput(content=f"{LARGE} or two"), "*")
    hot = await kept(world)
    years_go_by(world)
    assert (await archived(world, core))["archived"] == 1
    assert await kept(world) == await recounted_bytes(world) < hot / 4
    await core.restore(ALICE, saved.id)
    assert await kept(world) == await recounted_bytes(world) == hot


async def test_an_export_brought_elsewhere_counts_what_it_did_here(world: World) -> None:
    core = await world.core()
    saved = (await core.save(ALICE, rule("language", LARGE))).memory
    await core.update(ALICE, saved.id, UpdateInput(value=SMALL), "*")
    assert (await brought(world, core, await exported(world, core))).status == "succeeded"
    assert await kept(world, BOB) == await kept(world) == await recounted_bytes(world)


TEXTS = st.sampled_from([SMALL, "the user lives in Lisbon", LARGE, "green tea " * 300])
STEPS = st.one_of(
    st.tuples(st.just("fact"), TEXTS),
    st.tuples(st.just("truth"), TEXTS),
    st.tuples(st.just("rule"), TEXTS),
    st.tuples(st.just("converse"), TEXTS),
    st.tuples(st.just("update"), st.integers(0, 9), TEXTS),
    st.tuples(
        st.sampled_from(["copy", "delete", "restore", "forget", "activate"]), st.integers(0, 9)
    ),
    st.tuples(st.sampled_from(["archive", "consolidate", "erase"])),
)


async def live(world: World, core: MemoryCore, step: tuple[Any, ...]) -> None:
    """One thing that happens; one that can't happen now does not."""
    kind, *asked = step
    if kind == "fact":
        await core.save(ALICE, fact(asked[0]))
    elif kind == "truth":
        await core.save(ALICE, fact(asked[0], subject="Ana", attribute="drink"))
    elif kind == "rule":
        await core.save(ALICE, rule("drink", asked[0]))
    elif kind == "converse":
        await converse(core, f"I like {asked[0][:300]}", "And it rains")
    elif kind == "archive":
        years_go_by(world)
        await archived(world, core)
    elif kind == "consolidate":
        world.clock.forward(7_200)
        begun = await core.consolidate(ALICE, ConsolidateInput())
        assert isinstance(begun, Accepted)
    elif kind == "erase":
        await core.erase(ALICE)
    elif there := sorted(memory.id for memory in await listed(core, status="all")):
        name = there[asked[0] % len(there)]
        if kind == "update":
            await core.update(ALICE, name, UpdateInput(content=asked[1]), "*")
        elif kind == "copy":
            await core.copy(ALICE, name, CopyInput(to_agent_id="another"))
        elif kind == "delete":
            await core.delete(ALICE, name)
        elif kind == "restore":
            await core.restore(ALICE, name)
        elif kind == "activate":
            await core.set_status(ALICE, name, StatusInput.model_validate({"status": "active"}))
        else:
            await core.forget(
                ALICE, ForgetInput.model_validate({"filter": {"ids": [name]}, "mode": "hard"})
            )


@given(steps=st.lists(STEPS, min_size=3, max_size=14))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_after_any_life_the_head_says_what_the_store_adds_up_to(
    steps: list[tuple[Any, ...]],
) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder))
            try:
                core = await world.core()
                for step in steps:
                    world.clock.forward(60)
                    with suppress(Conflict, NotFound, Invalid, Unavailable):
                        await live(world, core, step)
                    await work_all(core)
                    assert await kept(world) == await recounted_bytes(world), step
            finally:
                await world.close()

    asyncio.run(play())
