"""Scenes as their users see them: what runs make of episodes, through deaths, rivals,
forgetting, erasure and moving house.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Malformed, NotFound
from memory_core.domain.requests.maintenance import ConsolidateInput, ForgetInput
from memory_core.domain.results import Accepted
from memory_core.domain.scenes import Scene, scene_in
from memory_core.domain.scope import Owner
from memory_core.ports import Batch, LongTermStore
from memory_core.recollection.scenes import Scenes
from tests.builders import ALICE, NOW
from tests.tasks import Hand, converse, finished, task_of
from tests.world import BOB, DiesAfter, Killed, Meanwhile, World, turn

DAY = timedelta(days=1)
KNEE = "My knee hurts and the doctor prescribed pills"
PHYSIO = "The physio says the knee injury needs surgery"
FLIGHT = "I booked a flight and a hotel for the trip"
OTHER = "Nothing much happened"


@dataclass
class Before:
    """A store that lets something else happen right before its first commit."""

    inner: LongTermStore
    then: Callable[[], Any] | None

    async def commit(self, owner: Owner, batch: Batch) -> None:
        then, self.then = self.then, None
        if then is not None:
            await then()
        await self.inner.commit(owner, batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def consolidated(core: MemoryCore, **asked: Any) -> Task:
    """Ask for a run, work, and what came of it."""
    accepted = await core.consolidate(ALICE, ConsolidateInput(**asked))
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted)
    assert task.status == "succeeded", (task.status, task.step, task.error)
    return task


async def scenes_of(core: MemoryCore) -> list[Scene]:
    return [*(await core.scenes(ALICE, limit=100)).scenes]


async def themes_of(core: MemoryCore) -> dict[str, int]:
    return {
        scene.theme: scene.count
        for scene in sorted(await scenes_of(core), key=lambda scene: scene.theme)
    }


async def saved(
    core: MemoryCore, *contents: str, apart: timedelta = timedelta(hours=1), **fields: Any
) -> list[str]:
    items = [
        turn(content, event_timestamp=NOW + place * apart, **fields)
        for place, content in enumerate(contents)
    ]
    return [error.memory.id for error in await core.bulk(ALICE, items)]  # type: ignore[union-attr]


async def test_episodes_become_scenes_of_one_theme_each(core: MemoryCore) -> None:
    ids = await saved(core, KNEE, FLIGHT, PHYSIO, OTHER)
    assert (await consolidated(core)).result["counts"]["cells_placed"] == 4
    assert await themes_of(core) == {"everyday": 1, "health": 2, "travel": 1}
    health = next(scene for scene in await scenes_of(core) if scene.theme == "health")
    assert health.cell_ids == [ids[0], ids[2]]
    assert (health.started_at, health.ended_at, health.session_ids) == (
        NOW,
        NOW + timedelta(hours=2),
        ["s1"],
    )
    assert (health.title, health.summary) == ("Health: knee, hurts, doctor", f"{KNEE} {PHYSIO}")
    assert await core.scene(ALICE, health.id) == health
    assert {(await core.get(ALICE, name)).scene_id for name in health.cell_ids} == {health.id}
    assert len((await core.get(ALICE, ids[0])).etag) > 0


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_run_again_makes_nothing_and_moves_no_etag(core: MemoryCore, world: World) -> None:
    (name, *_) = await saved(core, KNEE, PHYSIO)
    before = (await core.get(ALICE, name)).etag
    await consolidated(core)
    first, events = await scenes_of(core), await world.log()
    again = await consolidated(core)
    assert again.result["counts"] == {}
    assert await scenes_of(core) == first
    assert await world.log() == events
    assert (await core.get(ALICE, name)).etag == before


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_is_told_later_joins_its_scene_up_to_a_week_after_and_not_a_second_more(
    core: MemoryCore,
) -> None:
    await saved(core, KNEE)
    await consolidated(core)
    week = timedelta(days=7)
    await saved(core, "unused", PHYSIO, apart=week)
    await consolidated(core)
    assert (await themes_of(core))["health"] == 2
    late = NOW + week + week + timedelta(seconds=1)
    await core.save(ALICE, turn("The clinic sent a diagnosis", event_timestamp=late))
    await consolidated(core)
    assert sorted(scene.count for scene in await scenes_of(core) if scene.theme == "health") == [
        1,
        2,
    ]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_was_told_of_the_first_day_of_the_calendar_is_placed_too(
    core: MemoryCore,
) -> None:
    first = datetime(1, 1, 1, tzinfo=timezone.utc)
    await core.save(ALICE, turn(KNEE, event_timestamp=first))
    await core.save(ALICE, turn(PHYSIO, event_timestamp=first + 7 * DAY))
    await consolidated(core)
    (scene,) = await scenes_of(core)
    assert (scene.started_at, scene.ended_at) == (first, first + 7 * DAY)


async def test_a_deleted_episode_leaves_its_scene_at_once_and_for_good_with_the_next_run(
    core: MemoryCore,
) -> None:
    ids = await saved(core, KNEE, PHYSIO, FLIGHT)
    await consolidated(core)
    for name in ids[1:]:
        await core.delete(ALICE, name)
    (left,) = await scenes_of(core)
    assert (left.cell_ids, left.summary, left.count) == ([ids[0]], KNEE, 1)
    scene = left
    await consolidated(core)
    assert await scenes_of(core) == [scene]
    assert (await core.get(ALICE, ids[1])).scene_id is None
    await core.restore(ALICE, ids[1])
    await consolidated(core)
    assert (await themes_of(core)) == {"health": 2}


async def test_what_an_episode_told_until_a_day_stands_in_its_scene_until_then(
    world: World,
) -> None:
    core = await world.core()
    ends = NOW + DAY
    await core.save(ALICE, turn(PHYSIO, event_timestamp=NOW - DAY, valid_until=ends))
    await core.save(ALICE, turn(FLIGHT, event_timestamp=NOW - DAY, valid_until=ends))
    stays = (await core.save(ALICE, turn(KNEE, event_timestamp=NOW))).memory.id
    await consolidated(core)
    assert await themes_of(core) == {"health": 2, "travel": 1}
    world.clock.forward(DAY.total_seconds())
    (left,) = await scenes_of(core)
    assert (left.cell_ids, left.summary, "physio" in left.title) == ([stays], KNEE, False)
    assert await core.scene(ALICE, left.id) == left


async def test_an_oversized_scene_is_split_where_the_silence_was_widest(world: World) -> None:
    core = await world.core(scene_cells=4)
    times = [0, 1, 60, 61, 62]
    for hour in times:
        await core.save(ALICE, turn(f"{KNEE} {hour}", event_timestamp=NOW + timedelta(hours=hour)))
    await consolidated(core)
    scenes = sorted(await scenes_of(core), key=lambda each_scene: each_scene.started_at)
    assert [(scene.count, scene.theme) for scene in scenes] == [(2, "health"), (3, "health")]
    for scene in scenes:
        assert {(await core.get(ALICE, name)).scene_id for name in scene.cell_ids} == {scene.id}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("for_good", [False, True])
async def test_without_the_episode_between_them_two_that_are_too_far_apart_are_two_scenes(
    world: World, for_good: bool
) -> None:
    core = await world.core(scene_threshold=0.3, embedding_provider="hash", embedder=None)
    ids = await saved(core, KNEE, PHYSIO, f"{KNEE} again", apart=5 * DAY)
    await consolidated(core)
    assert [scene.count for scene in await scenes_of(core)] == [3]
    if for_good:
        await core.forget(
            ALICE, ForgetInput.model_validate({"mode": "hard", "filter": {"ids": [ids[1]]}})
        )
        await Hand(core, "consolidation").work_all()
    else:
        await core.delete(ALICE, ids[1])
        await consolidated(core)
    scenes = sorted(await scenes_of(core), key=lambda each_scene: each_scene.started_at)
    assert [(scene.cell_ids, scene.theme, scene.summary) for scene in scenes] == [
        ([ids[0]], "health", KNEE),
        ([ids[2]], "health", f"{KNEE} again"),
    ]
    memories = (
        await (await world.look_on()).snapshot(
            ALICE, [*(scene.id for scene in scenes), ids[0], ids[2]]
        )
    ).documents
    for scene, name in zip(scenes, (ids[0], ids[2]), strict=True):
        assert (await core.get(ALICE, name)).scene_id == scene.id
        assert np.allclose(memories[scene.id].vector, memories[name].vector, atol=1e-5)  # type: ignore[arg-type]


async def test_vectors_say_where_something_everyday_belongs_and_the_centroid_is_their_mean(
    world: World,
) -> None:
    core = await world.core(scene_threshold=0.3, embedding_provider="hash", embedder=None)
    ids = await saved(core, KNEE, PHYSIO)
    await consolidated(core)
    (scene,) = await scenes_of(core)
    store = await world.look_on()
    documents = (await store.snapshot(ALICE, [scene.id, *ids])).documents
    mean = np.mean([documents[name].vector for name in ids], axis=0)
    assert documents[scene.id].vector is not None
    assert np.allclose(documents[scene.id].vector, mean, atol=1e-5)
    await core.delete(ALICE, ids[1])
    await consolidated(core)
    left = (await store.snapshot(ALICE, [scene.id])).documents[scene.id].vector
    assert left is not None
    assert np.allclose(left, documents[ids[0]].vector, atol=1e-5)  # type: ignore[arg-type]


async def test_pages_and_another_user(core: MemoryCore) -> None:
    await saved(core, KNEE, FLIGHT, OTHER)
    await consolidated(core)
    first = await core.scenes(ALICE, limit=2)
    assert first.next_cursor is not None
    second = await core.scenes(ALICE, first.next_cursor, 2)
    assert second.next_cursor is None
    assert {scene.id for scene in (*first.scenes, *second.scenes)} == {
        scene.id for scene in await scenes_of(core)
    }
    with pytest.raises(NotFound):
        await core.scene(BOB, first.scenes[0].id)
    with pytest.raises(Malformed):
        await core.scenes(BOB, first.next_cursor)
    assert (await core.scenes(BOB)).scenes == ()


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_scenes_of_cells_are_found_by_id_alone_or_with_what_the_memories_say(
    core: MemoryCore, world: World
) -> None:
    ids = await saved(core, KNEE, FLIGHT)
    await consolidated(core)
    scenes = Scenes(await world.look_on(), core._services.reader._cursors, core._services.clock)
    scenes_by_cell = await scenes.of(ALICE, [*ids, "mem_nobody"], NOW)
    assert {name: scene.theme for name, scene in scenes_by_cell.items()} == {
        ids[0]: "health",
        ids[1]: "travel",
    }
    given = {name: scene.id for name, scene in scenes_by_cell.items()}
    assert await scenes.of(ALICE, given, NOW) == scenes_by_cell
    assert await scenes.of(ALICE, {ids[0]: scenes_by_cell[ids[1]].id}, NOW) == {}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_killed_at_any_commit_each_episode_is_in_one_scene(world: World) -> None:
    core = await world.core()
    await saved(core, KNEE, FLIGHT, PHYSIO)
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    for commits in range(8):
        for applied in (False, True):
            mortal = await world.core(
                wrap=lambda store, n=commits, a=applied: DiesAfter(store, n, a)
            )  # type: ignore[misc]
            with suppress(Killed):
                await Hand(mortal, "consolidation").work_all()
            await world.end(mortal)
            world.clock.forward(61)
    await Hand(core, "consolidation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    assert await themes_of(core) == {"health": 2, "travel": 1}


async def test_what_is_deleted_between_look_and_commit_is_in_no_scene(world: World) -> None:
    other = await world.core()
    ids = await saved(other, KNEE, PHYSIO)
    core = await world.core(
        wrap=lambda store: Meanwhile(store, "page", lambda: other.delete(ALICE, ids[1]))
    )
    await consolidated(core)
    (scene,) = await scenes_of(core)
    assert scene.cell_ids == [ids[0]]


async def test_what_is_placed_while_somebody_deletes_it_leaves_its_scene_with_the_next_run(
    world: World,
) -> None:
    other = await world.core()
    ids = await saved(other, KNEE, PHYSIO)
    core = await world.core(wrap=lambda store: Before(store, lambda: consolidated(other)))
    await core.delete(ALICE, ids[1])
    assert (await other.get(ALICE, ids[1])).scene_id is not None, (
        "the deletion was decided on anew, and keeps what it was marked with"
    )
    await consolidated(other)
    (scene,) = await scenes_of(other)
    assert (scene.cell_ids, scene.summary) == ([ids[0]], KNEE)


async def test_forgotten_for_good_nothing_of_it_stays_in_any_scene(
    core: MemoryCore, world: World
) -> None:
    ids = await saved(core, KNEE, "The wombat clinic gave me xylophone pills", FLIGHT)
    await consolidated(core)
    for names in ([ids[1]], [ids[2]]):
        await core.forget(
            ALICE, ForgetInput.model_validate({"mode": "hard", "filter": {"ids": names}})
        )
        await Hand(core, "consolidation").work_all()
    (scene,) = await scenes_of(core)
    assert scene.cell_ids == [ids[0]]
    bodies = [
        document.body
        for document in await (await world.look_on()).page(ALICE, "scene", None, None, 10)
    ]
    assert [scene_in(body).count for body in bodies] == [1]
    assert "xylophone" not in str(bodies)
    assert "flight" not in str(bodies)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_formed_cell_is_placed_and_a_session_can_be_named(world: World) -> None:
    core = await world.core()
    await finished(world, core, await converse(core, KNEE, session="s1"))
    await saved(core, FLIGHT, session="s2")
    await consolidated(core, session_id="s1")
    assert list(await themes_of(core)) == ["health"]
    await consolidated(core)
    assert list(await themes_of(core)) == ["health", "travel"]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_run_that_splits_scenes_and_begins_many_has_room_for_it_all(world: World) -> None:
    core = await world.core(scene_cells=50)
    for content in (KNEE, FLIGHT):
        await saved(core, *[f"{content} {number}" for number in range(50)])
        await consolidated(core)
    await saved(core, f"{KNEE} again", f"{FLIGHT} again", *[OTHER] * 28, apart=8 * DAY)
    task = await consolidated(core)
    assert task.result["counts"]["cells_placed"] == 30
    scenes = await scenes_of(core)
    assert sum(scene.count for scene in scenes) == 130
    assert max(scene.count for scene in scenes) <= 50
