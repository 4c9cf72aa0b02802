"""The profile as its users see it: what a person said of themselves, what shows,
and nothing that was superseded or is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Answered, ProfileUpdate, SeenTrait
from memory_core.domain.errors import AgentFailed
from memory_core.domain.requests.maintenance import ConsolidateInput, ForgetInput
from memory_core.domain.requests.memories import ContextInput, UpdateInput
from memory_core.domain.results import Accepted, Foreseen
from memory_core.domain.scenes import Profile
from memory_core.ports import SceneItem
from tests.agents import WHO, ScriptedAgents
from tests.builders import ALICE, NOW
from tests.contract.test_scenes import FLIGHT, KNEE, PHYSIO, consolidated, saved, scenes_of
from tests.exports import exported, gathered, worked
from tests.tasks import Hand, converse, finished, task_of
from tests.world import BOB, DiesAfter, Killed, World, fact, listed, turn

DAY = timedelta(days=1)


def user_fact(attribute: str, value: Any, at: datetime = NOW, **fields: Any) -> Any:
    """A fact of the person; `value` None: an ending of whatever held."""
    return fact(
        f"The user's {attribute} is {value}",
        subject="user",
        attribute=attribute,
        value=value,
        event_timestamp=at,
        valid_from=at,
        **fields,
    )


def told(profile: Profile) -> dict[str, Any]:
    return {fact.name: fact.value for fact in profile.explicit}


def before(profile: Profile, name: str) -> list[tuple[Any, datetime, datetime | None]]:
    (stored_fact,) = [line for line in profile.explicit if line.name == name]
    return [(previous.value, previous.since, previous.until) for previous in stored_fact.previous]


async def test_facts_of_the_person_and_of_nobody_else(core: MemoryCore) -> None:
    await core.bulk(
        ALICE, [user_fact("home city", "Oslo"), user_fact("name", "Ana", confidence=0.8)]
    )
    await core.bulk(ALICE, [fact("Ana's cat is Mia", subject="Ana", attribute="cat", value="Mia")])
    await core.bulk(
        ALICE,
        [fact("Bo's cat is Kim", subject="Bo", attribute="cat", value="Kim"), fact("tea is nice")],
    )
    await consolidated(core)
    profile = await core.profile(ALICE)
    assert told(profile) == {"home city": "Oslo", "name": "Ana", "cat": "Mia"}
    (name,) = [line for line in profile.explicit if line.name == "name"]
    assert (name.confidence, name.since, name.previous, name.source_scene_ids) == (0.8, NOW, [], [])
    assert await core.profile(BOB) == Profile()


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_replaced_a_fact_is_shown_and_the_old_value_once_it_was_so(
    core: MemoryCore,
) -> None:
    await core.save(ALICE, user_fact("home city", "Oslo"))
    await consolidated(core)
    await core.save(ALICE, user_fact("home city", "Porto", NOW + 5 * DAY))
    await consolidated(core)
    assert told(await core.profile(ALICE, NOW + 6 * DAY)) == {"home city": "Porto"}
    assert before(await core.profile(ALICE, NOW + 6 * DAY), "home city") == [
        ("Oslo", NOW, NOW + 5 * DAY)
    ]
    assert told(await core.profile(ALICE, NOW + DAY)) == {"home city": "Oslo"}
    assert before(await core.profile(ALICE, NOW + DAY), "home city") == []
    assert told(await core.profile(ALICE, NOW - DAY)) == {}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_fell_since_the_last_run_is_not_shown_any_more(
    core: MemoryCore, world: World
) -> None:
    first = (await core.save(ALICE, user_fact("home city", "Oslo"))).memory
    job = (await core.save(ALICE, user_fact("occupation", "teacher"))).memory
    await consolidated(core)
    await core.save(ALICE, user_fact("home city", "Porto", NOW + timedelta(seconds=1)))
    await core.delete(ALICE, job.id)
    world.clock.forward(60)
    profile = await core.profile(ALICE)
    assert told(profile) == {"home city": "Porto"}
    assert [value for value, *_ in before(profile, "home city")] == ["Oslo"]
    await consolidated(core)
    assert await core.profile(ALICE) == profile
    assert (await core.get(ALICE, first.id)).status == "superseded"


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_an_ended_fact_leaves_and_is_there_at_its_time(core: MemoryCore) -> None:
    await core.save(ALICE, user_fact("diet", "keto"))
    await consolidated(core)
    ending = fact(
        "No longer keto",
        subject="user",
        attribute="diet",
        value={"no_longer": "keto"},
        event_timestamp=NOW + 3 * DAY,
    )
    await core.save(ALICE, ending)
    await consolidated(core)
    assert told(await core.profile(ALICE, NOW + 10 * DAY)) == {}
    assert told(await core.profile(ALICE, NOW + DAY)) == {"diet": "keto"}
    await core.save(ALICE, user_fact("diet", "vegan", NOW + 20 * DAY))
    await consolidated(core)
    later = await core.profile(ALICE, NOW + 21 * DAY)
    assert told(later) == {"diet": "vegan"}
    assert [value for value, *_ in before(later, "diet")] == ["keto"]


async def test_an_edit_shows_at_once_and_what_stood_there_before_it_too(
    core: MemoryCore, world: World
) -> None:
    memory = (await core.save(ALICE, user_fact("employer", "Simens"))).memory
    await consolidated(core)
    world.clock.forward(DAY.total_seconds())
    await core.update(
        ALICE,
        memory.id,
        UpdateInput(content="The user's employer is Siemens", value="Siemens"),
        memory.etag,
    )
    assert told(await core.profile(ALICE)) == {"employer": "Siemens"}
    await consolidated(core)
    assert [value for value, *_ in before(await core.profile(ALICE), "employer")] == ["Simens"]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_fact_names_the_scenes_that_told_it(world: World) -> None:
    core = await world.core()
    await finished(world, core, await converse(core, KNEE, "I live in Lisbon"))
    await consolidated(core)
    (scene,) = await scenes_of(core)
    (city,) = (await core.profile(ALICE, NOW + DAY)).explicit
    assert (city.value, city.source_scene_ids) == ("Lisbon", [scene.id])


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_came_up_three_times_shows_as_a_trait_with_its_scenes_while_three_stand(
    world: World,
) -> None:
    core = await world.core_by_rules()
    ids = await saved(core, KNEE, PHYSIO, FLIGHT)
    await consolidated(core)
    assert (await core.profile(ALICE, NOW + DAY)).implicit == []
    await core.save(ALICE, turn("The clinic took my blood pressure", event_timestamp=NOW + DAY))
    await consolidated(core)
    (trait,) = (await core.profile(ALICE, NOW + 2 * DAY)).implicit
    (health,) = [scene for scene in await scenes_of(core) if scene.theme == "health"]
    assert (trait.trait, trait.confidence, trait.source_scene_ids) == (
        "Often talks about health.",
        0.6,
        [health.id],
    )
    assert (await core.profile(ALICE, NOW)).implicit == []
    assert set((await core.profile(ALICE)).public()) == {"explicit", "implicit"}
    await core.delete(ALICE, ids[0])
    assert (await core.profile(ALICE, NOW + 2 * DAY)).implicit == []


class Seeing(ScriptedAgents):
    """An agent that sees one trait in the scenes of these numbers."""

    scenes: Sequence[int] = (0,)
    trait = "Takes care of the knee."
    fails = False

    async def update_profile(
        self, app_id: str, scenes: Sequence[SceneItem]
    ) -> Answered[ProfileUpdate]:
        await self._asked("profile")
        if self.fails:
            raise AgentFailed("nothing usable")
        return Answered(
            ProfileUpdate(
                traits=[SeenTrait(trait=self.trait, scenes=[*self.scenes], confidence=0.7)]
            ),
            WHO,
        )


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("trait", ["Takes care of the knee with Petra.", "Takes care of 3 knees."])
async def test_a_trait_with_a_name_or_a_number_that_no_scene_has_is_dropped_and_counted(
    world: World, trait: str
) -> None:
    agents = Seeing()
    agents.trait = trait
    core = await world.core(agents=agents)
    await saved(core, KNEE, PHYSIO, "The clinic called about the knee")
    await core.save(ALICE, user_fact("diet", "keto"))
    task = await consolidated(core)
    assert task.result is not None
    assert task.result["counts"]["traits_dropped"] == 1
    assert (await core.profile(ALICE, NOW + DAY)).implicit == []


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_trait_that_cites_no_scene_that_was_shown_is_dropped_and_counted(
    world: World,
) -> None:
    agents = Seeing()
    agents.scenes = (7,)
    core = await world.core(agents=agents)
    await saved(core, KNEE, PHYSIO, "The clinic called about the knee")
    await core.save(ALICE, user_fact("diet", "keto"))
    task = await consolidated(core)
    assert task.result is not None
    assert task.result["counts"]["traits_dropped"] == 1
    assert (await core.profile(ALICE, NOW + DAY)).implicit == []
    agents.scenes = (0,)
    await core.save(
        ALICE, turn("The doctor looked at the knee again", event_timestamp=NOW + timedelta(hours=5))
    )
    await consolidated(core)
    assert [trait.trait for trait in (await core.profile(ALICE, NOW + DAY)).implicit] == [
        "Takes care of the knee."
    ]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_where_the_model_fails_rules_see_the_traits(world: World) -> None:
    agents = Seeing()
    agents.fails = True
    core = await world.core(agents=agents, rules=OfflineAgents())  # type: ignore[arg-type]
    await saved(core, KNEE, PHYSIO, "The clinic called about the knee")
    await consolidated(core)
    assert [trait.trait for trait in (await core.profile(ALICE, NOW + DAY)).implicit] == [
        "Often talks about health."
    ]


async def test_forgotten_for_good_what_only_that_supported_is_withdrawn(
    core: MemoryCore, world: World
) -> None:
    city = (await core.save(ALICE, user_fact("home city", "Xanadu"))).memory
    diet = (await core.save(ALICE, user_fact("diet", "keto"))).memory
    await consolidated(core)
    await core.forget(
        ALICE, ForgetInput.model_validate({"mode": "hard", "filter": {"ids": [city.id]}})
    )
    await Hand(core, "consolidation").work_all()
    assert told(await core.profile(ALICE)) == {"diet": "keto"}
    (document,) = await (await world.look_on()).page(ALICE, "profile", None, None, 10)
    assert city.id not in str(document.body)
    assert diet.id in str(document.body)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_run_says_how_many_facts_changed_in_it_those_that_went_too_as_a_dry_run_foresaw(
    core: MemoryCore,
) -> None:
    async def run() -> int:
        foreseen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
        task = await consolidated(core)
        assert isinstance(foreseen, Foreseen)
        assert task.result is not None
        assert (task.attempts, task.result["counts"].get("profile_facts", 0)) == (
            0,
            foreseen.counts["profile_facts"],
        )
        return foreseen.counts["profile_facts"]

    city = (await core.save(ALICE, user_fact("home city", "Oslo"))).memory
    await core.save(ALICE, user_fact("diet", "keto"))
    assert await run() == 2
    await core.save(ALICE, user_fact("diet", "vegan", NOW + DAY))
    assert await run() == 1
    await core.delete(ALICE, city.id)
    assert await run() == 1
    assert await run() == 0
    assert told(await core.profile(ALICE, NOW + DAY)) == {"diet": "vegan"}
    text = core.metrics().decode()
    for kind, count in (("runs", 4), ("profile_facts", 4)):
        assert f'memory_core_consolidation_total{{what="{kind}"}} {float(count)}' in text


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_killed_at_any_commit_the_profile_is_the_same_in_the_end(world: World) -> None:
    core = await world.core()
    await core.bulk(ALICE, [user_fact("home city", "Oslo"), turn(KNEE, event_timestamp=NOW)])
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    for commits in range(8):
        mortal = await world.core(
            wrap=lambda store, n=commits: DiesAfter(store, n, applied=n % 2 == 0)
        )  # type: ignore[misc]
        with suppress(Killed):
            await Hand(mortal, "consolidation").work_all()
        await world.end(mortal)
        world.clock.forward(61)
    await Hand(core, "consolidation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    assert told(await core.profile(ALICE)) == {"home city": "Oslo"}
    assert len(await scenes_of(core)) == 1


async def test_scenes_and_profile_move_house_and_go_with_the_user(world: World) -> None:
    core = await world.core_by_rules(scene_threshold=0.5, erase_settle_s=0)
    await saved(core, KNEE, PHYSIO, "The clinic called about the knee")
    await core.save(ALICE, user_fact("home city", "Oslo"))
    await consolidated(core)
    world.clock.forward(DAY.total_seconds())
    there = await core.profile(ALICE), await scenes_of(core)
    task_id = await gathered(core, await exported(world, core))
    assert (await worked(world, core, task_id, BOB)).status == "succeeded"
    profile, page = await core.profile(BOB), await core.scenes(BOB)
    assert (profile, [*page.scenes]) == there
    await core.save(
        BOB, turn("The surgery of the knee went well", event_timestamp=NOW + timedelta(hours=9))
    )
    accepted = await core.consolidate(BOB, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    (scene,) = (await core.scenes(BOB)).scenes
    assert scene.count == 4
    document = (await (await world.look_on()).snapshot(BOB, [scene.id])).documents[scene.id]
    assert document.vector is not None
    await core.erase(BOB)
    assert await core.profile(BOB) == Profile()
    for _ in range(3):
        await Hand(core, "consolidation").work_all()
        world.clock.forward(31)
    assert (await core.scenes(BOB)).scenes == ()
    assert await (await world.look_on()).page(BOB, "scene", None, None, 10) == []
    assert await listed(core, BOB, status="all") == []
    assert (await scenes_of(core)) == there[1]


async def test_facts_are_in_the_profile_before_the_first_run(core: MemoryCore) -> None:
    await core.bulk(ALICE, [user_fact("home city", "Oslo"), user_fact("name", "Ana")])
    await core.save(ALICE, user_fact("home city", "Porto", NOW + DAY))
    assert told(await core.profile(ALICE, NOW + 2 * DAY)) == {"home city": "Porto", "name": "Ana"}
    assert await core.profile(BOB) == Profile()


async def test_before_the_first_run_a_past_moment_has_the_facts_of_that_time(
    core: MemoryCore, world: World
) -> None:
    """What was superseded, edited or ended is there as after a run."""
    await core.save(ALICE, user_fact("home city", "Oslo"))
    await core.save(ALICE, user_fact("home city", "Porto", NOW + 5 * DAY))
    dog = (await core.save(ALICE, user_fact("dog", "Rex"))).memory
    world.clock.forward(6 * DAY.total_seconds())
    await core.update(
        ALICE, dog.id, UpdateInput(content="The user's dog is Max", value="Max"), dog.etag
    )
    then, now = await core.profile(ALICE, NOW + DAY), await core.profile(ALICE)
    assert told(then) == {"dog": "Rex", "home city": "Oslo"}
    assert told(now) == {"dog": "Max", "home city": "Porto"}
    assert before(now, "home city") == [("Oslo", NOW, NOW + 5 * DAY)]
    assert [value for value, *_ in before(now, "dog")] == ["Rex"]
    context = await core.context(ALICE, ContextInput(at=NOW + DAY, parts=["profile"]))
    assert "home city: Oslo" in context.context
    await consolidated(core)
    assert told(await core.profile(ALICE, NOW + DAY)) == told(then)
    assert (await core.profile(ALICE)) == now


@pytest.mark.parametrize("runs", [False, True])
async def test_a_pinned_fact_is_the_profiles_value_and_later_ones_dispute_it(
    core: MemoryCore, runs: bool
) -> None:
    await core.save(ALICE, user_fact("diet", "vegan", pinned=True))
    await core.save(ALICE, user_fact("diet", "fish", NOW + DAY))
    await core.save(ALICE, user_fact("diet", "chicken", NOW + 2 * DAY))
    if runs:
        await consolidated(core)
    profile = await core.profile(ALICE, NOW + 3 * DAY)
    assert told(profile) == {"diet": "vegan"}
    assert "chicken" in profile.explicit[0].disputed_by[0].text


@pytest.mark.parametrize("runs", [False, True])
async def test_facts_that_are_both_kept_are_both_in_the_profile_and_in_contexts(
    core: MemoryCore, runs: bool
) -> None:
    await core.save(ALICE, user_fact("home", "a flat in Rome"))
    await core.save(ALICE, user_fact("home", "a house in Bari", NOW + DAY, on_conflict="keep_both"))
    if runs:
        await consolidated(core)
    profile = await core.profile(ALICE, NOW + 2 * DAY)
    assert [(fact.name, fact.value) for fact in profile.explicit] == [
        ("home", "a house in Bari"),
        ("home", "a flat in Rome"),
    ]
    assert all(fact.disputed_by == [] for fact in profile.explicit)
    context = (await core.context(ALICE, ContextInput())).context
    assert "] home: a flat in Rome" in context
    assert "replaced" not in context
    await core.save(ALICE, user_fact("home", "a flat in Turin", NOW + 9 * DAY))
    later = await core.profile(ALICE, NOW + 10 * DAY)
    assert [(fact.name, fact.value) for fact in later.explicit] == [("home", "a flat in Turin")]
    assert {value for value, *_ in before(later, "home")} == {"a flat in Rome", "a house in Bari"}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_context_names_what_is_so_without_a_yes(core: MemoryCore) -> None:
    facts = {"allergy to nuts": "yes", "daughter mila": "yes", "smokes": "yes", "home city": "Oslo"}
    await core.bulk(ALICE, [user_fact(name, value) for name, value in facts.items()])
    context = (await core.context(ALICE, ContextInput(parts=["profile"]))).context
    lines = {line.partition("] ")[2] for line in context.split("\n") if line.startswith("[")}
    assert lines == {"allergy to nuts", "daughter mila", "smokes: yes", "home city: Oslo"}
    assert told(await core.profile(ALICE)) == facts
