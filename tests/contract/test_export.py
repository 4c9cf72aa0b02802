"""What is exported is everything, as of one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from memory_core.data_rights.export_format import MAX_PART_BYTES
from memory_core.domain.conversation import TaskMessage
from memory_core.domain.errors import Conflict, Gone, NotFound
from memory_core.domain.messages import MESSAGE
from memory_core.domain.requests.maintenance import ForgetFilter, ForgetInput
from memory_core.ports import LongTermStore
from memory_core.tasks.lifecycle import message_for
from tests.builders import ALICE
from tests.exports import Before, Lines, brought, exported, fetched, filled, of_kind, parsed, worked
from tests.tasks import Hand
from tests.world import BOB, World, fact, listed, rule, turn


async def test_an_unknown_user_has_nothing_to_export(world: World) -> None:
    core = await world.core()
    with pytest.raises(NotFound):
        await core.export(ALICE)
    assert await world.head() is None, "asking makes nobody known"


async def test_parts_can_be_fetched_once_the_export_is_done_and_for_seven_days(
    world: World,
) -> None:
    core = await world.core()
    await core.save(ALICE, turn("I keep bees"))
    accepted = await core.export(ALICE)
    with pytest.raises(Conflict):
        await core.export_part(ALICE, accepted.task_id, 1)
    task = await worked(world, core, accepted.task_id)
    assert task.result is not None
    for wrong in (0, task.result["parts"] + 1):
        with pytest.raises(NotFound):
            await core.export_part(ALICE, task.task_id, wrong)
    with pytest.raises(NotFound):
        await core.export_part(BOB, task.task_id, 1)
    world.clock.forward(9 * 24 * 3600)
    assert await core.sweep_files() >= task.result["parts"]
    with pytest.raises(NotFound):
        await core.export_part(ALICE, task.task_id, 1)
    assert await core.sweep_files() == 0


async def test_parts_are_filled_with_documents_of_all_kinds(world: World) -> None:
    core = await world.core()
    await core.bulk(ALICE, [turn(f"bee {number} {'hums ' * 4_000}") for number in range(60)])
    task = await worked(world, core, (await core.export(ALICE)).task_id)
    assert task.result is not None
    await fetched(core, task)
    sizes = [
        len(await core.export_part(ALICE, task.task_id, number + 1))
        for number in range(task.result["parts"])
    ]
    assert len(sizes) > 1
    assert all(sum(pair) > MAX_PART_BYTES for pair in pairwise(sizes))


async def test_what_is_written_while_the_file_is_made_is_in_it_whole_or_not_at_all(
    world: World,
) -> None:
    """Between any two reads of the export a caller saves, edits, supersedes, deletes.
    The file is what one moment held.
    """
    writer = await world.core()
    await filled(writer)
    turns = iter(range(1000))

    async def write() -> None:
        number = next(turns)
        if number > 24:
            return
        match number % 4:
            case 0:
                await writer.save(
                    ALICE,
                    fact(
                        f"Ana lives in city {number}",
                        subject="Ana",
                        attribute="city",
                        session_id=f"s{number}",
                    ),
                )
            case 1:
                await writer.save(ALICE, rule("language", f"l{number}"))
            case 2:
                await writer.save(ALICE, turn(f"And then {number}"))
            case _:
                await writer.delete(ALICE, (await listed(writer))[-1].id)

    core = await world.core(wrap=lambda store: Between(store, write))
    first, lines = parsed(await exported(world, core))
    assert next(turns) > 24, "it was interrupted all the time"
    assert_consistent(first, lines)


@pytest.mark.parametrize("poisoned", [False, True])
async def test_one_that_is_being_cancelled_is_cancelled_though_it_is_retried(
    world: World, poisoned: bool
) -> None:
    core = await world.core()
    await core.save(ALICE, turn("I keep bees"))
    accepted = await core.export(ALICE)
    task = await core.cancel(ALICE, accepted.task_id)
    if poisoned:
        await core.give_up(message_for(ALICE, task).model_dump_json(), "consolidation")
        assert (await core.task(ALICE, accepted.task_id)).status == "poisoned"
    await core.retry(ALICE, accepted.task_id)
    assert (await worked(world, core, accepted.task_id)).status == "cancelled"


async def test_a_part_that_a_hard_forget_removed_is_gone_and_a_new_export_is_the_remedy(
    world: World,
) -> None:
    core = await world.core()
    await filled(core)
    task = await worked(world, core, (await core.export(ALICE)).task_id)
    (bees,) = [memory for memory in await listed(core) if "bees" in memory.content]
    await core.forget(ALICE, ForgetInput(filter=ForgetFilter(ids=[bees.id]), mode="hard"))
    await Hand(core, "consolidation").work_all()
    with pytest.raises(Gone, match="export again") as refused:
        await core.export_part(ALICE, task.task_id, 1)
    assert (refused.value.status, refused.value.retry_after_s) == (410, None)
    assert b"bees" not in await exported(world, core)


@pytest.mark.parametrize("at", [2, 6, 10])
async def test_what_is_forgotten_for_good_while_the_file_is_made_is_not_in_it(
    world: World, at: int
) -> None:
    """Before the `at`-th page that is read: some of the log is in the file by then, some is not."""
    writer = await world.core()
    await filled(writer)
    (bees,) = [memory for memory in await listed(writer) if "bees" in memory.content]

    async def forget() -> None:
        asked = ForgetInput(filter=ForgetFilter(ids=[bees.id]), mode="hard")
        await writer.forget(ALICE, asked)
        await Hand(writer, "consolidation").work_all()

    store: list[Before] = []
    core = await world.core(
        wrap=lambda inner: store.append(Before(inner, "page", forget)) or store[0]
    )
    accepted = await core.export(ALICE)
    store[0].left = at
    message = TaskMessage(
        app_id=ALICE.app_id, user_id=ALICE.user_id, task_id=accepted.task_id, generation=0
    )
    await core.work(message.model_dump_json(), "consolidation")
    file = await fetched(core, await worked(world, core, accepted.task_id))
    assert b"bees" not in file
    assert (await brought(world, core, file)).status == "succeeded", "what is left of it is a whole"
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]


def assert_consistent(first: dict[str, Any], lines: Lines) -> None:
    """Every memory is as its last event left it; sessions count what is there; nothing is there
    that the log does not tell of.
    """
    events = [line["body"] for line in of_kind(lines, "event")]
    assert [event["sequence"] for event in events] == list(range(1, first["sequence"] + 1))
    last: dict[str, dict[str, Any]] = {}
    for event in events:
        last[event["memory_id"]] = event
    memories = {line["id"]: line["body"] for line in of_kind(lines, "memory")}
    assert memories.keys() == last.keys()
    for identity, event in last.items():
        assert memories[identity]["revision"] == event["sequence"], identity
        # in events without what is not set
        fields = {name: value for name, value in event["after"].items() if name != "atomic_facts"}
        assert {name: memories[identity][name] for name in fields} == fields
    for line in of_kind(lines, "session"):
        here = [
            memory
            for memory in memories.values()
            if memory["session_id"] == line["id"] and memory["status"] != "deleted"
        ]
        kinds = ["messages" if record["category"] == MESSAGE else record["type"] for record in here]
        assert {kind: count for kind, count in line["body"]["counts"].items() if count} == Counter(
            kinds
        )
    for identity, body in memories.items():
        versions = [
            line["id"]
            for line in of_kind(lines, "version")
            if line["id"].startswith(f"{identity}.v")
        ]
        assert len(versions) == body["version"] - 1


@dataclass
class Between:
    """A store before each of whose reads something else happens."""

    inner: LongTermStore
    then: Callable[[], Awaitable[None]]
    busy: bool = False

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name not in ("page", "snapshot", "events"):
            return attribute

        async def late(*args: Any, **options: Any) -> Any:
            if not self.busy:
                self.busy = True
                await self.then()
                self.busy = False
            return await attribute(*args, **options)

        return late
