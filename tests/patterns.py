"""Episodes that say the same again and again, and what a run makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Answered, FoundPattern, FoundPatterns
from memory_core.domain.conversation import Task
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Accepted
from memory_core.ports import DecisionItem
from tests.agents import WHO, ScriptedAgents
from tests.builders import ALICE, NOW
from tests.tasks import Hand, task_of
from tests.world import listed, turn

RUNS = (
    "I went running in the park this morning",
    "We painted the kitchen wall",
    "I went running in the park again today",
    "Yesterday morning I went running in the park",
)
HABIT = "User went running in the park again and again"


class Finding(ScriptedAgents):
    """Agents that find what they are told to, in whatever they are shown."""

    def __init__(
        self, *answers: dict[str, Any] | Callable[[Sequence[DecisionItem]], dict[str, Any]]
    ) -> None:
        super().__init__()
        self.found, self.shown = list(answers), list[Sequence[DecisionItem]]()

    async def find_patterns(
        self, app_id: str, episodes: Sequence[DecisionItem]
    ) -> Answered[FoundPatterns]:
        await self._asked("patterns")
        self.shown.append(episodes)
        given = [answer(episodes) if callable(answer) else answer for answer in self.found]
        return Answered(
            FoundPatterns(
                patterns=[FoundPattern(**{"pattern": "habit", **pattern}) for pattern in given]
            ),
            WHO,
        )


async def consolidated(core: MemoryCore, owner: Any = ALICE, **asked: Any) -> Task:
    """Ask for a run, work, and what came of it."""
    accepted = await core.consolidate(owner, ConsolidateInput(**asked))
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted, owner)
    assert task.status == "succeeded", (task.status, task.step, task.error)
    return task


async def told(
    core: MemoryCore, *contents: str, session: str | None = "s1", day: int = 0, owner: Any = ALICE
) -> list[Memory]:
    """Turns of a session, one a day."""
    saved = [
        await core.save(
            owner,
            turn(
                content,
                session,
                event_timestamp=NOW + timedelta(days=day + place),
                metadata={"page": day + place},
            ),
        )
        for place, content in enumerate(contents)
    ]
    return [result.memory for result in saved]


async def patterns(core: MemoryCore, owner: Any = ALICE) -> list[Memory]:
    return [memory for memory in await listed(core, owner) if memory.category == "pattern"]


def counts(task: Task) -> dict[str, int]:
    return {
        name: number
        for name, number in (task.result or {})["counts"].items()
        if name.startswith("patterns") and number
    }


async def deleted_one_by_one(core: MemoryCore, episodes: Sequence[Memory]) -> None:
    for episode in episodes:
        await core.delete(ALICE, episode.id)


ANIMALS = ("heron", "otter", "fox", "toad")
SEEN = [f"In the park I saw {', '.join(ANIMALS)} on walk {number}" for number in range(20)]
"""What each of four patterns rests on: two commits' worth."""


def walks() -> Finding:
    return Finding(
        *(
            {"summary": f"User sees a {animal} in the park", "sources": list(range(20))}
            for animal in ANIMALS
        )
    )


async def walked(core: MemoryCore) -> Accepted:
    """The walks, and a run that is asked for."""
    await core.bulk(
        ALICE,
        [
            turn(content, "s1", event_timestamp=NOW + timedelta(minutes=place))
            for place, content in enumerate(SEEN)
        ],
    )
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    return accepted
