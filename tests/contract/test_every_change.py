"""Every change by every path has its event in the same commit: after each operation there is, the
log tells what the store holds.

A new operation joins by a function of its own in `OPERATIONS`. It finds a user with a past,
and may use whatever is there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Decision
from memory_core.domain.errors import AgentFailed, Conflict
from memory_core.domain.memory import Memory, MemoryType, OnConflict, Status
from memory_core.domain.requests.maintenance import (
    AgentMemoryInput,
    BatchInput,
    ConflictsInput,
    SummaryInput,
)
from memory_core.domain.requests.memories import (
    ClearInput,
    CopyInput,
    SaveInput,
    StatusInput,
    UpdateInput,
)
from tests.builders import ALICE, NOW
from tests.conflicts import DECISIONS, asking
from tests.past import check_that_the_log_tells_it
from tests.tasks import Hand
from tests.telling import Items, Tellers, on_all, talk, tell
from tests.world import WordsEmbedder, World, fact, listed, rule, turn

LATER, EARLIER = NOW + timedelta(days=9), NOW - timedelta(days=9)
CITY = {"subject": "Ana", "attribute": "city", "category": "fact"}
GARDEN = "We spoke about the old garden with its apple trees and the stone wall"


@dataclass
class Scene:
    """A user with a past, and what operations are done with. changed: the ids whose events an
    operation wrote.
    """

    world: World
    core: MemoryCore
    agents: Tellers

    async def any(self, **query: object) -> Memory:
        """Some active memory."""
        return (await listed(self.core, **query))[0]

    async def saved(self, item: SaveInput) -> Memory:
        return (await self.core.save(ALICE, item)).memory


Operation = Callable[[Scene], Awaitable[object]]


async def save_again(scene: Scene) -> None:
    for item in (turn("we met at noon"), fact("Ana plays the violin"), rule("tone", "kind")):
        await scene.saved(item)
        await scene.saved(item)


async def contradict(scene: Scene) -> None:
    for days, on_conflict in enumerate(OnConflict):
        await scene.saved(
            fact(
                f"Ana lives in town {days}",
                event_timestamp=NOW + timedelta(days=days),
                on_conflict=on_conflict,
                **CITY,
            )
        )


async def contradict_by_a_number(scene: Scene) -> None:
    for text, on_conflict in (
        ("the gate code is 1234", OnConflict.AUTO),
        ("the gate code is 5678", OnConflict.AUTO),
    ):
        await scene.saved(fact(text, on_conflict=on_conflict))


async def tell_late(scene: Scene) -> None:
    for days in (9, 3, 6):
        await scene.saved(
            fact(
                f"Ana's boss is number {days}",
                subject="Ana",
                attribute="boss",
                event_timestamp=NOW + timedelta(days=days),
            )
        )
        await scene.saved(rule("greeting", days, event_timestamp=NOW + timedelta(days=days)))


async def bulk(scene: Scene) -> None:
    same = [fact("the sky is blue"), fact("the sky is blue")]
    await scene.core.bulk(
        ALICE,
        [
            *same,
            *(rule("mode", n) for n in range(4)),
            turn("one"),
            fact("Ana lives in Faro", **CITY),
        ],
    )


async def update(scene: Scene) -> None:
    for fields in (
        {"content": "Ana plays the cello"},
        {"tags": ["music"]},
        {"valid_from": EARLIER},
        {"valid_until": NOW},
    ):
        memory = await scene.any(type="semantic")
        await scene.core.update(ALICE, memory.id, UpdateInput.model_validate(fields), memory.etag)


async def correct_the_past_of_many_versions(scene: Scene) -> None:
    memory = await scene.saved(fact("the bridge is open", valid_from=EARLIER))
    for days in (1, 2, 3):
        change = UpdateInput(
            content=f"the bridge is closed for {days} days", valid_from=NOW + timedelta(days=days)
        )
        memory = await scene.core.update(ALICE, memory.id, change, memory.etag)
    await scene.core.update(
        ALICE,
        memory.id,
        UpdateInput(content="it never opened", valid_from=EARLIER + timedelta(days=1)),
        memory.etag,
    )
    for n, begins in enumerate((None, None, EARLIER)):
        await scene.saved(rule("bridge", n, valid_from=begins))


async def delete_and_restore(scene: Scene) -> None:
    memory = await scene.any()
    await scene.core.delete(ALICE, memory.id)
    await scene.core.set_status(ALICE, memory.id, StatusInput(status="active", reason="a mistake"))
    await scene.core.set_status(
        ALICE, memory.id, StatusInput(status="deleted", reason="no longer true")
    )


async def tell_anew_what_was_deleted(scene: Scene) -> None:
    for item in (turn("we parted"), rule("colour", "red")):
        memory = await scene.saved(item)
        await scene.core.delete(ALICE, memory.id)
        await scene.saved(item)


async def copy(scene: Scene) -> None:
    memory = await scene.saved(fact("the well is deep"))
    made = await scene.core.copy(ALICE, memory.id, CopyInput(to_agent_id="a2"))
    await scene.core.update(ALICE, made.id, UpdateInput(content="the well is dry"), made.etag)
    await scene.core.delete(ALICE, made.id)
    await scene.core.copy(ALICE, memory.id, CopyInput(to_agent_id="a2"))


async def clear(scene: Scene) -> None:
    await scene.core.bulk(ALICE, [turn(f"word {n}", "long") for n in range(90)])
    await scene.core.clear(ALICE, ClearInput(session_id="long", type=MemoryType.EPISODIC))


async def converse(scene: Scene) -> None:
    await tell(scene.core, "Ana's dog is Rex", "Ana's car is red", GARDEN)
    await tell(scene.core, "Ana's dog is Bo", at=LATER)
    await tell(scene.core, "Ana's dog is Max", at=NOW + timedelta(days=4))
    await tell(scene.core, "Ana's dog is Rex", "Ana's car is red", GARDEN)


async def converse_with_rulings(scene: Scene) -> None:
    for days, operation in enumerate(("UPDATE", "SKIP", "DELETE")):
        scene.agents.rulings = on_all(operation)
        await tell(
            scene.core,
            f"{GARDEN}, then gate {days}",
            f"Ana's dog is Max{days}",
            at=LATER + timedelta(days=days),
        )


async def converse_where_all_was_said_before(scene: Scene) -> None:
    walk, gulls = (
        "Harbour walk: fishing boats, lighthouse, salty wind, quiet evening",
        "Harbour walk: fishing boats, lighthouse, hungry gulls",
    )
    skip, nothing = on_all("SKIP", category="note"), lambda new, older: []
    for days, (text, ruling) in enumerate(
        ((walk, nothing), (walk, skip), (gulls, nothing), (walk, skip))
    ):
        scene.agents.rulings = ruling
        await tell(scene.core, text, at=LATER + timedelta(days=days))


async def converse_where_agents_fail(scene: Scene) -> None:
    def nonsense(new: Items, older: Items) -> list[Decision]:
        raise AgentFailed("no answer")

    scene.agents.rulings = nonsense
    await tell(scene.core, f"{GARDEN} and a swing", at=LATER + timedelta(days=8))


async def cells_that_were_deleted_told_again(scene: Scene) -> None:
    scene.agents.rulings = lambda new, older: []
    await tell(scene.core, "Ana's cat is Tom", at=LATER)
    for memory in await listed(scene.core, session_id="s1"):
        await scene.core.delete(ALICE, memory.id)
    await tell(scene.core, "Ana's cat is Tom", at=LATER)


async def batch_words_and_summary(scene: Scene) -> None:
    messages = talk("Ana's boat is blue").model_dump(mode="json")["messages"]
    await scene.core.batch(
        ALICE, BatchInput.model_validate({"session_id": "b1", "messages": messages})
    )
    await scene.core.batch_flush(ALICE, "b1")
    await scene.core.agent_memory(
        ALICE,
        AgentMemoryInput.model_validate(
            {"messages": "Booked the 9:40 to Porto", "agent_id": "planner"}
        ),
    )
    await scene.core.summary(
        "app", SummaryInput.model_validate({"messages": ["Ana has a boat."], "mode": "fast"})
    )
    await Hand(scene.core).work_all()


async def decide_and_take_back(scene: Scene) -> None:
    for number in range(8):
        await scene.saved(
            fact(
                f"code {number}",
                subject="the shed",
                attribute=f"code {number // 4}",
                event_timestamp=NOW - timedelta(days=number),
            )
        )
    for status, place in (("resolved", 0), ("pending", 0), ("resolved", 1)):
        page = await scene.core.conflicts(
            ALICE, ConflictsInput.model_validate({"status": status, "limit": 100})
        )
        for number, record in enumerate(page.conflicts[place::2]):
            try:
                if record.open:
                    await scene.core.resolve_conflict(
                        ALICE, record.id, asking(DECISIONS[number % len(DECISIONS)])
                    )
                else:
                    await scene.core.undo_conflict(ALICE, record.id)
            except Conflict:
                continue  # what was decided before prevents it


async def keep_snapshots(scene: Scene) -> None:
    assert await scene.core.write_snapshots(ALICE) == 0


OPERATIONS: tuple[Operation, ...] = (
    save_again,
    contradict,
    contradict_by_a_number,
    tell_late,
    bulk,
    update,
    correct_the_past_of_many_versions,
    delete_and_restore,
    tell_anew_what_was_deleted,
    copy,
    clear,
    converse_where_all_was_said_before,
    converse,
    converse_with_rulings,
    converse_where_agents_fail,
    cells_that_were_deleted_told_again,
    batch_words_and_summary,
    decide_and_take_back,
    keep_snapshots,
)


@pytest.fixture
async def scene(world: World, embedder: WordsEmbedder) -> Scene:
    agents = Tellers()
    core = await world.core(agents=agents, rules=Tellers(), embedder=embedder, link_threshold=0.3)
    return Scene(world, core, agents)


async def test_after_every_operation_the_log_tells_what_the_store_holds(scene: Scene) -> None:
    for operation in OPERATIONS:
        scene.world.clock.forward(60)
        await operation(scene)
        try:
            await check_that_the_log_tells_it(scene.world)
        except AssertionError as error:
            error.add_note(f"after {operation.__name__}")
            raise
    kinds = {event.event_type for event in await scene.world.log()}
    assert kinds >= {
        "created",
        "reinforced",
        "superseded",
        "preceded",
        "rejected",
        "conflict_marked",
        "merged",
        "upserted",
        "updated",
    }
    assert kinds >= {"conflict_resolved", "conflict_settled", "conflict_undone"}
    assert kinds >= {
        "deleted",
        "restored",
        "copied",
        "cleared",
        "fact_superseded",
        "joined",
        "touched",
    }
    assert {memory.status for memory in await listed(scene.core, status="all")} >= {
        Status.UPDATED,
        Status.SUPERSEDED,
        Status.DELETED,
    }
