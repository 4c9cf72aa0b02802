"""Messages that a head names as unformed: what becomes of them when a conversation ends."""

from __future__ import annotations

from tests.builders import ALICE
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
