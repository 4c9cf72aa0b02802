"""A reranker's say: it orders what passed, before anything is cut off, and only when it
answers in time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Retrieved
from memory_core.domain.scope import Owner
from memory_core.ports import Health
from tests.agents import ScriptedAgents
from tests.builders import ALICE
from tests.telling import tell
from tests.world import WordsEmbedder, World, listed, turn

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
TEXTS = [f"the red boat {n} sank {'again and ' * n}" for n in range(10, 24)]


@dataclass
class LongestFirst:
    """A reranker that likes long texts; `fails` instead of answering, or never answers."""

    fails: Exception | None = None
    silent: bool = False
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def pool(self) -> tuple[int, int]:
        return 1, 0

    async def check(self) -> Health:
        return Health("scripted", "ok")

    async def rerank(self, owner: Owner, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, list(texts)))
        if self.silent:
            await asyncio.Event().wait()
        if self.fails is not None:
            raise self.fails
        return [float(len(text)) for text in texts]


async def answered(world: World, reranker: LongestFirst | None, **fields: object) -> Retrieved:
    """What a core with this reranker answers about boats."""
    core = await world.core(embedder=WordsEmbedder(), reranker=reranker, rerank_deadline_s=0.05)
    if not await listed(core):
        await core.bulk(ALICE, [turn(text, None) for text in TEXTS])
    return await core.retrieve(
        ALICE, RetrieveInput.model_validate({"query": "red boat", "limit": 3, **fields})
    )


def contents(answer: Retrieved) -> list[str]:
    return [hit.memory.content for hit in answer.results]


@pytest.mark.parametrize("mode", ["fast", "reconstruct"])
async def test_what_was_behind_the_limit_may_come_first(world: World, mode: str) -> None:
    reranker = LongestFirst()
    answer = await answered(world, reranker, mode=mode, explain=True)
    assert contents(answer) == TEXTS[:-4:-1]
    assert reranker.asked[0][0] == "red boat"
    assert sorted(reranker.asked[0][1]) == sorted(TEXTS)
    explanations = [hit.explain or {} for hit in answer.results]
    assert [explanation["reranked"] for explanation in explanations] == [
        float(len(text)) for text in TEXTS[:-4:-1]
    ]
    assert answer.degraded == ()


@pytest.mark.parametrize(
    "reranker",
    [
        LongestFirst(fails=Unavailable("reranker", "down")),
        LongestFirst(fails=AgentFailed("refused")),
        LongestFirst(silent=True),
    ],
)
async def test_one_that_fails_or_is_late_changes_nothing_and_is_named(
    world: World, reranker: LongestFirst
) -> None:
    without = await answered(world, None)
    answer = await answered(world, reranker)
    assert contents(answer) == contents(without)
    assert (answer.degraded, without.degraded) == (("reranker",), ())


async def test_further_rounds_do_not_wait_for_one_that_was_late(world: World) -> None:
    late = LongestFirst(silent=True)
    agents = ScriptedAgents(rewritten=["again and boat", "red sank"])
    core = await world.core(
        embedder=WordsEmbedder(), agents=agents, reranker=late, rerank_deadline_s=0.05
    )
    await core.bulk(ALICE, [turn(text, None) for text in TEXTS])
    answer = await core.retrieve(ALICE, RetrieveInput(query="red boat", mode="reconstruct"))
    assert (answer.rounds, len(late.asked), answer.degraded) == (3, 1, ("reranker",))


async def test_what_it_puts_last_is_not_brought_back_by_another_memory_of_the_same_episode(
    world: World,
) -> None:
    """It reads one memory of each episode; those that it has not read do not speak against it."""
    reranker = LongestFirst()
    agents = OfflineAgents()
    core = await world.core(
        embedder=WordsEmbedder(), agents=agents, rules=agents, reranker=reranker
    )
    await tell(
        core,
        "I bought a red boat in Porto.",
        "I live in Porto now.",
        "I like the red boat very much.",
    )
    lunches = [f"lunch {n} beside the red boat {'was long ' * n}" for n in range(50, 53)]
    await core.bulk(ALICE, [turn(text, None) for text in lunches])
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="red boat Porto", similarity_threshold=0.1, explain=True)
    )
    assert contents(answer)[:3] == lunches[::-1]
    assert [hit.memory.content in reranker.asked[0][1] for hit in answer.results] == [True] * 4


async def test_its_order_holds_over_several_rounds(world: World) -> None:
    agents = ScriptedAgents(rewritten=["boat sank", "red sank"])
    core = await world.core(embedder=WordsEmbedder(), agents=agents, reranker=LongestFirst())
    await core.bulk(ALICE, [turn(text, None) for text in TEXTS])
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="red boat", mode="reconstruct", limit=3)
    )
    assert answer.rounds == 3
    assert contents(answer) == TEXTS[:-4:-1]


async def test_nobody_is_asked_about_nothing(world: World) -> None:
    reranker = LongestFirst()
    assert (await answered(world, reranker, query="who painted the ceiling?")).results == ()
    assert reranker.asked == []
