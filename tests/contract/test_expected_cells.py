"""Messages that a head names as unformed: what becomes of them when a conversation ends."""

from __future__ import annotations

from typing import Any

from memory_core.domain.messages import MESSAGE, is_message
from memory_core.ports import LongTermStore
from tests.builders import ALICE, where
from tests.tasks import finished
from tests.telling import Tellers, talk
from tests.world import World


async def test_a_conversation_that_ends_leaves_no_message_to_be_expected(world: World) -> None:
    """Formed or cancelled, its messages are named by the head no more; cancelled, they belong to
    no cell.
    """
    core = await world.core(agents=Tellers(), rules=Tellers())
    store = await world.look_on()
    accepted = await core.converse(ALICE, talk("Ana's city is Oslo", "Ana's dog is Bo"))
    head = await world.head()
    assert head is not None
    (names,) = head.unformed.values()
    assert len(names) == 2
    await finished(world, core, accepted, ALICE)
    formed = await store.memories(ALICE, names)
    assert all(message.memory.cell_id for message in formed.values())
    later = await core.converse(ALICE, talk("Ana's cat is Mia", "Ana's car is red"))
    head = await world.head()
    assert head is not None
    (names,) = head.unformed.values()
    await core.cancel(ALICE, later.task_id)
    head = await world.head()
    assert head is not None
    assert head.unformed == {}
    left = await store.memories(ALICE, names)
    assert [message.memory.cell_id for message in left.values()] == [None, None]


async def listed(store: LongTermStore, **fields: Any) -> dict[str, str | None]:
    """The cells of the messages on a user's first page, by their ids."""
    page = await store.page(ALICE, "memory", where(**fields), None, 100)
    messages = (document for document in page if is_message(document.id))
    return {message.id: message.body.get("cell_id") for message in messages}


async def test_a_process_that_knows_an_older_head_pages_messages_by_the_head_of_now(
    world: World,
) -> None:
    core = await world.core(agents=Tellers(), rules=Tellers())
    other = await world.look_on()
    await finished(world, core, await core.converse(ALICE, talk("Ana's bike is blue")), ALICE)
    assert (await other.snapshot(ALICE)).head is not None
    accepted = await core.converse(ALICE, talk("Ana's city is Oslo", "Ana's dog is Bo"))
    fresh = await listed(other, hide_formed_messages=True)
    assert list(fresh.values()) == [None, None]
    answers = await listed(other)
    assert {name: answers[name] for name in fresh} == fresh
    await finished(world, core, accepted, ALICE)
    assert all((await listed(other, categories=frozenset({MESSAGE}))).values())
    assert await listed(other, hide_formed_messages=True) == {}
