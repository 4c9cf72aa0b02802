"""What agents answered about a memory goes with it when it is forgotten for good, whatever asked
them and whenever they answered.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Decision
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Accepted
from memory_core.ports import DecisionItem
from tests.agents import ScriptedAgents
from tests.builders import ALICE
from tests.contract.test_forget import forgotten, no_trace
from tests.tasks import Hand, task_of
from tests.telling import Tellers, decision, tell
from tests.world import WordsEmbedder, World, fact, turn

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


def quoting(new: Sequence[DecisionItem], older: Sequence[DecisionItem]) -> list[Decision]:
    """Decisions that change nothing and give what was held as their reason."""
    pairs = [(item, old) for item in new for old in older]
    return [
        decision(item.number, old.number, "SKIP").model_copy(update={"reasoning": old.text[:500]})
        for item, old in pairs
    ]


async def core_of(world: World, agents: ScriptedAgents) -> MemoryCore:
    return await world.core(
        embedder=WordsEmbedder(), duplicate_threshold=0.7, agents=agents, rules=OfflineAgents()
    )


async def consolidated(core: MemoryCore) -> Accepted:
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    return accepted


async def steps_of(world: World) -> str:
    return " ".join(
        str(document.body)
        for document in await (await world.look_on()).page(ALICE, "step", None, None, 1_000)
    )


async def test_what_a_run_was_told_of_an_open_question(world: World) -> None:
    core = await core_of(world, Tellers(rulings=quoting))
    old = await core.save(ALICE, fact("the big old swordfish server listens on port 8080"))
    new = await core.save(ALICE, fact("the big old swordfish server listens on port 8081"))
    assert new.conflict is not None
    await consolidated(core)
    assert "swordfish" in await steps_of(world)
    await forgotten(core, "hard", ids=[old.memory.id, new.memory.id])
    await no_trace(world, "swordfish")


async def test_what_another_conversation_was_told_of_it(world: World) -> None:
    core = await core_of(world, Tellers(rulings=quoting))
    await tell(core, "The vault of the old swordfish museum opens at nine", session="s1")
    await tell(core, "The vault of the old museum opens at nine", session="s2")
    assert "swordfish" in await steps_of(world)
    await forgotten(core, "hard", session_id="s1")
    await no_trace(world, "swordfish")


async def test_what_is_answered_only_after_it_was_forgotten(world: World) -> None:
    agents = ScriptedAgents()
    core = await core_of(world, agents)
    saved = await core.save(ALICE, turn("My knee hurts and the swordfish doctor prescribed pills"))
    await core.save(ALICE, turn("The physio says the knee injury needs surgery"))

    async def forget(name: str) -> None:
        if name == "summary":
            agents.before = None
            await forgotten(await core_of(world, ScriptedAgents()), "hard", ids=[saved.memory.id])

    agents.before = forget
    accepted = await consolidated(core)
    world.clock.forward(300)
    await Hand(core, "consolidation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    await no_trace(world, "swordfish")
    (scene,) = (await core.scenes(ALICE)).scenes
    assert scene.summary == "The physio says the knee injury needs surgery"
