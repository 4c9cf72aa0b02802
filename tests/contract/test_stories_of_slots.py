"""The everyday stories of slots, told to the product on the days on which they happen."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ReplayInput, ResolveInput
from memory_core.domain.requests.memories import ListInput, UpdateInput
from tests.builders import ALICE
from tests.truth_stories import STORIES, day, expectations
from tests.world import World, fact

CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}
LEFT_OUT = frozenset({"merge", "withdraw", "forget", "archive"})
"""Steps that no call of a person is; `test_truth_stories` plays them in the log alone."""


class Player:
    """A story on its way: the memories and conflicts that its steps made, by the story's names."""

    def __init__(self, core: MemoryCore, world: World, *, is_pinned: bool) -> None:
        self.core, self.world, self.is_pinned = core, world, is_pinned
        self.memories: dict[str, str] = {}
        self.conflicts: list[str] = []
        self.decided: list[str] = []

    async def play(self, step: dict[str, Any]) -> None:
        moment = day(step.get("arrives", step.get("said", step.get("on"))))
        self.world.clock.moment = max(moment, self.world.clock.moment)
        do = str(step["do"])
        if do in ("save", "retract"):
            await self.say(step)
            return
        name = self.memories[step["memory"]] if step.get("memory") in self.memories else None
        match do:
            case "edit" | "correct times":
                assert name is not None
                await self.edit(name, step)
            case "delete":
                assert name is not None
                await self.core.delete(ALICE, name)
            case "restore" | "undo":
                assert name is not None
                await self.core.restore(ALICE, name)
            case "undo decision":
                await self.core.undo_conflict(ALICE, self.decided[-1])
            case _:
                await self.decide(do.removeprefix("decide "), step)

    async def say(self, step: dict[str, Any]) -> None:
        value: Any = {"no_longer": step["value"]} if step["do"] == "retract" else step["value"]
        fields: dict[str, Any] = {"event_timestamp": day(step["said"]), "value": value, **CITY}
        fields |= {"valid_from": day(step["from"])} if "from" in step else {}
        fields |= {"valid_until": day(step["until"])} if "until" in step else {}
        fields |= {"on_conflict": "keep_both"} if step.get("beside") and not self.is_pinned else {}
        fields |= {"pinned": True} if self.is_pinned and not self.memories else {}
        text = (
            f"Ana no longer lives in {step['value']}"
            if step["do"] == "retract"
            else f"Ana lives in {step['value']}"
        )
        saved = await self.core.save(ALICE, fact(text, **fields))
        self.memories[step["memory"]] = saved.memory.id
        if saved.conflict is not None:
            self.conflicts.append(saved.conflict.id)

    async def edit(self, name: str, step: dict[str, Any]) -> None:
        memory = await self.core.get(ALICE, name)
        fields: dict[str, Any] = {"valid_from": day(step["from"])} if "from" in step else {}
        fields |= {"valid_until": day(step["until"])} if "until" in step else {}
        fields |= (
            {"valid_until": None} if step["do"] == "correct times" and "until" not in step else {}
        )
        fields |= (
            {"value": step["value"], "content": f"Ana lives in {step['value']}"}
            if "value" in step
            else {}
        )
        await self.core.update(ALICE, name, UpdateInput(**fields), memory.etag)

    async def decide(self, decision: str, step: dict[str, Any]) -> None:
        old = (
            self.memories[step.get("old") or (step.get("sources") or [""])[0]]
            if ("old" in step or "sources" in step)
            else None
        )
        pending = [conflict for conflict in self.conflicts if old is None or conflict]
        record = await self.core.conflict(ALICE, pending[-1])
        if not record.open:
            await self.core.undo_conflict(ALICE, record.id)
        await self.core.resolve_conflict(
            ALICE, record.id, ResolveInput.model_validate({"decision": decision})
        )
        self.decided.append(record.id)


async def values(core: MemoryCore, moment: datetime) -> list[str]:
    """What a list shows at a moment, the retractions left out."""
    page = await core.list(ALICE, ListInput(at=moment, limit=100))
    return sorted(_value(memory) for memory in page.memories if not isinstance(memory.value, dict))


def _value(memory: Memory) -> str:
    return str(
        memory.value
        if memory.value is not None
        else memory.content.replace("Ana lives in ", "").replace("\n", " and ")
    )


def is_played(story: dict[str, Any]) -> bool:
    return LEFT_OUT.isdisjoint(step["do"] for step in story["steps"])


@pytest.mark.parametrize(
    "story",
    [story for story in STORIES if is_played(story)],
    ids=lambda case: str(case["story"])[:60],
)
async def test_what_holds_is_what_the_story_says(
    story: dict[str, Any], core: MemoryCore, world: World
) -> None:
    player, known = Player(core, world, is_pinned="Pinned" in story["story"]), list[datetime]()
    world.clock.moment = day("2000-01-01")
    for step in story["steps"]:
        await player.play(step)
        known.append(world.clock.moment + timedelta(seconds=1))
    answers = {}
    for written, sequence, moment, _ in expectations(story):
        if sequence is None:
            answers[written] = await values(core, moment)
        else:
            page = await core.replay(ALICE, ReplayInput(known_at=known[sequence - 1], at=moment))
            answers[written] = sorted(
                _value(memory) for memory in page.memories if not isinstance(memory.value, dict)
            )
    await world.check_slots()
    assert answers == {written: sorted(expected) for written, _, _, expected in expectations(story)}
