"""Conversations formed by rules alone: what is stored of their answers, and what a death in
between leaves.
"""

from __future__ import annotations

import pytest

from tests.builders import ALICE
from tests.tasks import TWO_TOPICS, Hand, converse, task_of, texts
from tests.world import BOB, DiesAfter, Killed, World


async def test_of_what_rules_answer_only_the_cuts_are_stored_with_the_conversation(
    world: World,
) -> None:
    core = await world.core_by_rules()
    accepted = await converse(core, *TWO_TOPICS)
    store = await world.look_on()
    (conversation,) = await store.page(ALICE, "conversation", None, None, 100)
    assert isinstance(conversation.body["cuts"], list)
    await Hand(core, "formation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    assert await store.page(ALICE, "step", None, None, 100) == []


@pytest.mark.parametrize("applied", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("commits", range(1, 5))
async def test_killed_at_any_commit_the_rules_form_the_same_once(
    world: World, commits: int, applied: bool
) -> None:
    undisturbed = await world.core_by_rules()
    await converse(undisturbed, *TWO_TOPICS, owner=BOB)
    await Hand(undisturbed, "formation").work_all()
    dying = await world.core_by_rules(wrap=lambda store: DiesAfter(store, commits, applied))
    accepted = await converse(dying, *TWO_TOPICS)
    try:
        await Hand(dying, "formation").work_all()
    except Killed:
        world.clock.forward(100)
        await Hand(undisturbed, "formation").work_all()
    assert (await task_of(undisturbed, accepted)).status == "succeeded"
    assert await texts(undisturbed) == await texts(undisturbed, BOB) != []
    written = [event.memory_id for event in await world.log() if event.event_type == "created"]
    assert len(written) == len(set(written))
