"""What replaced a fact and is not searchable is told by no search: that the fact holds no longer
is, its successor is not.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.functions.mcp.answers import scene_text, search_text
from memory_core.functions.responses import _hit
from tests.builders import ALICE, NOW
from tests.contract.test_profile import user_fact
from tests.contract.test_scenes import consolidated
from tests.telling import tell
from tests.world import World

DAY = timedelta(days=1)
QUERY = "Where do I live?"
FALLEN = "User lives in Berlin"


@pytest.fixture
async def core(world: World) -> MemoryCore:
    """A user who said where they live, ten days ago."""
    core = await world.core(agents=OfflineAgents(), rules=OfflineAgents())
    await tell(core, "I live in Berlin.")
    world.clock.forward((10 * DAY).total_seconds())
    return core


async def lives_in(core: MemoryCore, city: str, day: int, **fields: Any) -> Memory:
    return (await core.save(ALICE, user_fact("home city", city, NOW + day * DAY, **fields))).memory


async def stale(core: MemoryCore, **fields: Any) -> list[dict[str, Any]]:
    answer = await core.retrieve(ALICE, RetrieveInput(query=QUERY, **fields))
    return [fact for hit in answer.results for fact in hit.stale_facts]


async def told(core: MemoryCore) -> dict[str, str]:
    """What every search shows, by its name."""
    fast = await core.retrieve(ALICE, RetrieveInput(query=QUERY))
    deep = await core.retrieve(ALICE, RetrieveInput(query=QUERY, mode="reconstruct"))
    contexts = [
        await core.context(ALICE, request)
        for request in (ContextInput(query=QUERY), ContextInput(session_id="s1"))
    ]
    results = {"fast": fast.results, "reconstruct": deep.results}
    texts = {
        name: orjson.dumps([_hit(hit) for hit in hits], default=str).decode()
        for name, hits in results.items()
    }
    return {
        **texts,
        "reconstructed": deep.context or "",
        "mcp": search_text(fast, whole=True, moment=NOW),
        "contexts": "\n".join(context.context for context in contexts),
        "scenes": "\n".join(
            f"{scene.model_dump_json()} {scene_text(scene)}"
            for scene in (await core.scenes(ALICE)).scenes
        ),
        "profile": (await core.profile(ALICE)).model_dump_json(),
    }


@pytest.mark.parametrize("run", [False, True])
async def test_a_fact_is_told_to_hold_no_longer_without_its_hidden_successor(
    core: MemoryCore, run: bool
) -> None:
    await consolidated(core)
    hidden = await lives_in(core, "Quokka99ville", 10, searchable=False)
    if run:
        await consolidated(core)
    texts = await told(core)
    for where, text in texts.items():
        assert "quokka" not in text.casefold(), where
        assert hidden.id not in text, where
    for where in ("reconstructed", "mcp", "contexts", "scenes"):
        assert f"no longer true: {FALLEN}" in texts[where], where
    assert await stale(core) == [{"text": FALLEN, "superseded_by": None, "current": None}]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_searchable_truth_after_a_hidden_one_is_told(
    core: MemoryCore, world: World
) -> None:
    await lives_in(core, "Quokka99ville", 5, searchable=False)
    await lives_in(core, "Porto", 10)
    assert await stale(core) == [
        {"text": FALLEN, "superseded_by": None, "current": "The user's home city is Porto"}
    ]
    assert await stale(core, at=NOW + 7 * DAY) == [
        {"text": FALLEN, "superseded_by": None, "current": None}
    ]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_hidden_truth_after_a_searchable_one_is_not_told(core: MemoryCore) -> None:
    porto = await lives_in(core, "Porto", 5)
    await lives_in(core, "Quokka99ville", 10, searchable=False)
    assert await stale(core) == [{"text": FALLEN, "superseded_by": porto.id, "current": None}]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_the_hidden_id_is_not_told_before_it_holds_either(core: MemoryCore) -> None:
    hidden = await lives_in(core, "Quokka99ville", 10, searchable=False)
    answer = await core.retrieve(ALICE, RetrieveInput(query=QUERY, at=NOW + DAY))
    facts = [fact for hit in answer.results for fact in hit.memory.atomic_facts]
    assert facts
    assert hidden.id not in {fact.superseded_by for fact in facts}


async def test_the_hidden_side_of_an_open_conflict_is_told_by_no_context(core: MemoryCore) -> None:
    await lives_in(core, "Porto", 5, pinned=True)
    hidden = await lives_in(core, "Quokka99ville", 10, searchable=False)
    assert hidden.conflict_state == "pending"
    texts = await told(core)
    assert "Porto" in texts["contexts"]
    for where, text in texts.items():
        assert "quokka" not in text.casefold(), where
        assert hidden.id not in text, where
