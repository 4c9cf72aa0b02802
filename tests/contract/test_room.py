"""Limits of stored bytes hold for many calls at once, for imports and for what is formed later;
nothing acknowledged is lost by them.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import QuotaExceeded
from memory_core.domain.requests.maintenance import (
    BatchInput,
    ConsolidateInput,
    ForgetInput,
    ImportInput,
)
from memory_core.domain.requests.memories import AppendInput, UpdateInput
from memory_core.domain.results import Accepted, Saved
from memory_core.domain.scope import Owner
from tests.builders import ALICE
from tests.cold import archived, years_go_by
from tests.exports import brought, exported, gathered, worked
from tests.tasks import Hand, converse, ended, finished
from tests.world import BOB, World, fact, listed, recounted_bytes

LIMIT = 100_000
LONG = "tea " * 3_000
"""About an eighth of the limit as a memory."""
CONVERSATIONS = ImportInput(of="conversations")


async def used(core: MemoryCore, owner: Owner = ALICE) -> int:
    return int((await core.usage(owner))["stored_bytes"]["used"])


async def used_by_app(core: MemoryCore) -> int:
    return int((await core.app_usage("app"))["stored_bytes"]["used"])


async def forget_all(core: MemoryCore, owner: Owner = ALICE) -> None:
    for kind in ("semantic", "episodic"):
        await core.forget(
            owner, ForgetInput.model_validate({"filter": {"types": [kind]}, "mode": "hard"})
        )
        await Hand(core, "consolidation").work_all()


async def at_once(
    cores: list[MemoryCore], count: int = 16, owners: tuple[Owner, ...] = (ALICE,)
) -> int:
    """Save so many long memories at once, by the processes in turn; how many were saved.
    All others met the limit.
    """
    saving = [
        cores[n % len(cores)].save(owners[n % len(owners)], fact(f"Note {n}: {LONG}"))
        for n in range(count)
    ]
    outcomes = await asyncio.gather(*saving, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} <= {Saved, QuotaExceeded}, outcomes
    return sum(isinstance(outcome, Saved) for outcome in outcomes)


async def test_calls_at_once_do_not_pass_the_limit_of_a_user_together(world: World) -> None:
    cores = [await world.core(stored_bytes_per_user=LIMIT, commit_deadline_s=60) for _ in range(2)]
    assert 6 <= await at_once(cores) <= 8
    assert LIMIT * 0.8 < await used(cores[0]) == await recounted_bytes(world) <= LIMIT


async def test_processes_at_once_pass_the_limit_of_an_app_by_a_thousandth_each_at_most(
    world: World,
) -> None:
    cores = [await world.core(stored_bytes_per_app=LIMIT) for _ in range(3)]
    users = tuple(Owner("app", f"user-{number}") for number in range(16))
    assert 6 <= await at_once(cores, owners=users) <= 8
    stored = sum([await recounted_bytes(world, owner) for owner in users])
    assert LIMIT * 0.8 < stored <= LIMIT * (1 + 3 / 1_000)
    world.clock.forward(6)
    assert await used_by_app(cores[0]) == stored, "what was refused counts for nothing"


async def test_what_makes_nothing_more_is_let_in_at_the_limit(world: World) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    await at_once([core])
    memories = await listed(core)
    with pytest.raises(QuotaExceeded, match="MEMORY_STORED_BYTES_PER_USER"):
        await core.update(ALICE, memories[0].id, UpdateInput(content=f"{LONG} and milk"), "*")
    await core.delete(ALICE, memories[0].id)
    begun = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(begun, Accepted)
    assert (await ended(world, core, begun.task_id)).status == "succeeded"
    await forget_all(core)
    assert await used(core) == 0


async def test_of_a_bulk_that_takes_several_commits_the_items_without_room_say_so(
    world: World,
) -> None:
    core = await world.core(stored_bytes_per_user=200_000, commit_deadline_s=60)
    answers = await core.bulk(
        ALICE, [fact(f"Note {number}: {'milk ' * 200}") for number in range(100)]
    )
    saved = [isinstance(answer, Saved) for answer in answers]
    assert saved == sorted(saved, reverse=True)
    assert 30 < sum(saved) < 100
    assert {type(answer) for answer in answers} == {Saved, QuotaExceeded}
    assert await used(core) <= 200_000


async def test_a_conversation_whose_messages_have_no_room_is_refused_whole(world: World) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    with pytest.raises(QuotaExceeded):
        await converse(core, *(f"It rains on day {number}" for number in range(90)))
    assert await world.head() is None
    with pytest.raises(QuotaExceeded):
        await core.append(
            ALICE,
            "s1",
            AppendInput.model_validate(
                {"messages": [{"role": "user", "content": "It rains"}] * 90}
            ),
        )
    with pytest.raises(QuotaExceeded):
        await core.batch(
            ALICE,
            BatchInput.model_validate(
                {"session_id": "s1", "messages": [{"role": "user", "content": LONG}] * 9}
            ),
        )
    assert await world.head() is None


async def test_a_conversation_that_was_accepted_waits_for_room_to_be_formed(world: World) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    accepted = await converse(core, "I live in Lisbon", "It is warm here")
    while await used(core) < LIMIT - 2_500:
        await core.save(ALICE, fact(f"Note {await used(core)}: {'tea ' * 100}"))
    task = await finished(world, core, accepted)
    assert (task.status, task.attempts) == ("poisoned", 0)
    assert "stored bytes of the user" in (task.error or "")
    assert "Lisbon" in " ".join(
        memory.content for memory in await listed(core, category="message")
    ), "it is found as it was said"
    assert await used(core) <= LIMIT
    await core.forget(
        ALICE, ForgetInput.model_validate({"filter": {"types": ["semantic"]}, "mode": "hard"})
    )
    await Hand(core, "consolidation").work_all()
    await core.retry(ALICE, accepted.task_id)
    assert (await finished(world, core, accepted)).status == "succeeded"
    assert "The user lives in Lisbon" in [memory.content for memory in await listed(core)]


async def test_a_restore_without_room_leaves_the_cold_copy_for_later(world: World) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    first = (await core.save(ALICE, fact(f"An old note: {LONG}"))).memory
    years_go_by(world)
    assert (await archived(world, core))["archived"] == 1
    await at_once([core])
    with pytest.raises(QuotaExceeded):
        await core.restore(ALICE, first.id)
    await core.forget(
        ALICE,
        ForgetInput.model_validate(
            {"filter": {"ids": [(await listed(core))[0].id]}, "mode": "hard"}
        ),
    )
    await Hand(core, "consolidation").work_all()
    assert (await core.restore(ALICE, first.id)).content == first.content


async def test_an_import_without_room_stores_nothing(world: World) -> None:
    core = await world.core()
    await at_once([core], 9)
    file = await exported(world, core)
    limited = await world.core(stored_bytes_per_user=LIMIT)
    task = await brought(world, limited, file)
    assert task.status == "failed"
    assert "stored bytes of the user: 0 of 100000 are used" in (task.error or "")
    assert await recounted_bytes(world, BOB) == 0
    roomy = await world.core(stored_bytes_per_user=2 * LIMIT)
    assert (await brought(world, roomy, file)).status == "succeeded"


async def test_of_imports_at_once_those_are_published_that_the_app_has_room_for(
    world: World,
) -> None:
    core = await world.core()
    await at_once([core], 2)
    file = await exported(world, core)
    limited = await world.core(stored_bytes_per_app=LIMIT)
    owners = [Owner("app", name) for name in ("ben", "cleo", "dora")]
    tasks = [await gathered(limited, file, owner) for owner in owners]
    await asyncio.gather(
        *(
            limited.work(message.body, "consolidation")
            for message in await Hand(limited, "consolidation").take()
        )
    )
    ends = [
        await worked(world, limited, task, owner) for task, owner in zip(tasks, owners, strict=True)
    ]
    assert sorted(task.status for task in ends) == ["failed", "succeeded", "succeeded"]
    assert ["stored bytes of the app" in (task.error or "") for task in ends] == [
        task.status == "failed" for task in ends
    ]
    assert sorted([await recounted_bytes(world, owner) for owner in owners])[0] == 0
    await limited.erase(ALICE)
    world.clock.forward(6)
    assert (await brought(world, limited, file)).status == "succeeded"


def lines_of(*sessions: str) -> bytes:
    """A line for each session, of an eighth of the limit."""
    lines: list[Any] = [
        {
            "session_id": name,
            "messages": [
                {"role": "user", "content": f"{name}: {LONG}"[:11_000], "id": f"{name}-1"}
            ],
        }
        for name in sessions
    ]
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


async def test_conversations_of_a_file_have_to_have_room_before_the_first_is_told(
    world: World,
) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    task_id = await gathered(core, lines_of(*"abcdefghijkl"), ALICE, import_input=CONVERSATIONS)
    task = await worked(world, core, task_id)
    assert task.status == "failed"
    assert "stored bytes of the user" in (task.error or "")
    assert await recounted_bytes(world) == 0


async def test_conversations_that_are_known_need_no_room_when_their_file_is_brought_again(
    world: World,
) -> None:
    core = await world.core(stored_bytes_per_user=LIMIT)
    for _ in range(2):
        task = await worked(
            world, core, await gathered(core, lines_of(*"abcd"), ALICE, import_input=CONVERSATIONS)
        )
        assert task.status == "succeeded", task.error
    assert await used(core) <= LIMIT


async def test_an_import_is_not_committed_where_there_is_no_room_for_one_memory(
    world: World,
) -> None:
    core = await world.core()
    await at_once([core], 9)
    full = await world.core(stored_bytes_per_user=LIMIT)
    with pytest.raises(QuotaExceeded):
        await gathered(full, lines_of("a"), ALICE, import_input=CONVERSATIONS)
