"""A framework's session: items are appended as they are, read back in order, popped once, and
formed only where that is asked for.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound, Unavailable
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import (
    AppendInput,
    ClearInput,
    ContextInput,
    ListInput,
    RetrieveInput,
    TasksInput,
)
from memory_core.domain.results import Appended, Call, SessionMessage
from tests.builders import ALICE
from tests.tasks import Hand
from tests.telling import Tellers
from tests.world import BOB, WordsEmbedder, World

CALL_ITEM = {
    "type": "function_call",
    "call_id": "c1",
    "name": "weather",
    "arguments": '{"city": "Oslo"}',
    "id": "__fake_id__",
}
OUTPUT_ITEM = {"type": "function_call_output", "call_id": "c1", "output": "cold and clear"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
PARTS = {
    "role": "assistant",
    "type": "message",
    "id": "__fake_id__",
    "content": [{"type": "output_text", "text": "It is cold."}],
}


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(embedder=WordsEmbedder())


async def append(
    core: MemoryCore, *items: Any, session: str = "s1", call: Call | None = None, form: bool = False
) -> Appended:
    messages = [
        {"role": "user", "content": item} if isinstance(item, str) else item for item in items
    ]
    return await core.append(
        ALICE, session, AppendInput(messages=messages, form=form), call or Call()
    )


async def all_of(core: MemoryCore, session: str = "s1") -> list[SessionMessage]:
    messages, cursor = list[SessionMessage](), None
    while True:
        page = await core.session_messages(ALICE, session, cursor, limit=100)
        messages += page.messages
        if (cursor := page.next_cursor) is None:
            return messages


async def texts(core: MemoryCore, session: str = "s1") -> list[str]:
    return [message.content for message in await all_of(core, session)]


async def left(core: MemoryCore) -> list[Memory]:
    return [*(await core.list(ALICE, ListInput(limit=100))).memories]


async def test_items_come_back_in_order_as_they_were_sent(core: MemoryCore) -> None:
    items = [{"role": "user", "content": "How is Oslo?"}, REASONING, CALL_ITEM, OUTPUT_ITEM, PARTS]
    appended = await append(core, *items)
    messages = await all_of(core)
    assert [message.memory_id for message in messages] == [*appended.memory_ids]
    assert [
        message.sent or {"role": message.role, "content": message.content} for message in messages
    ] == items
    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert messages[0].sent is None, "role and text say it all"


async def test_equal_items_and_equal_ids_are_items_of_their_own(core: MemoryCore) -> None:
    await append(core, "hi", "hi", CALL_ITEM, CALL_ITEM)
    await append(core, "hi", CALL_ITEM)
    assert len(await all_of(core)) == 6


async def test_two_hundred_items_keep_their_order(core: MemoryCore) -> None:
    contents = [f"number {place}" for place in range(200)]
    await append(core, *contents)
    assert await texts(core) == contents
    newest = await core.session_messages(ALICE, "s1", limit=3, newest_first=True)
    assert [message.content for message in newest.messages] == contents[:-4:-1]


async def test_what_is_appended_is_found_and_nothing_is_formed_of_it(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder(), agents=Tellers())
    hand = Hand(core)
    await append(core, "The birch shelf holds forty books", REASONING)
    await hand.work_all()
    answer_hits = (await core.retrieve(ALICE, RetrieveInput(query="birch shelf books"))).results
    assert [hit.serialized.memory.content for hit in answer_hits] == [
        "The birch shelf holds forty books"
    ]
    assert {memory.category for memory in await left(core)} == {"message"}
    assert (await core.tasks(ALICE, TasksInput())).tasks == ()


async def test_an_item_that_says_nothing_is_in_no_context(core: MemoryCore) -> None:
    await append(core, "The birch shelf holds forty books", REASONING)
    context = await core.context(ALICE, ContextInput(query="birch shelf", session_id="s1"))
    assert "forty books" in context.context
    assert "gAAAA" not in context.context


async def test_with_form_memories_are_formed_and_take_back_takes_them_along(world: World) -> None:
    core = await world.core(agents=Tellers())
    hand = Hand(core)
    appended = await append(
        core,
        "Ana's city is Oslo",
        REASONING,
        {"role": "assistant", "content": "A fine city"},
        form=True,
    )
    assert appended.task_id is not None
    await hand.work_all()
    assert (await core.task(ALICE, appended.task_id)).status == "succeeded"
    assert "Ana's city is Oslo" in {
        memory.content for memory in await left(core) if memory.category == "fact"
    }
    assert len(await all_of(core)) == 3
    taken = await core.take_back(ALICE, "s1")
    assert [message.content for message in taken.messages] == [
        "Ana's city is Oslo",
        "",
        "A fine city",
    ]
    assert await left(core) == []


async def test_taken_back_before_it_is_formed_nothing_is_formed(world: World) -> None:
    core = await world.core(agents=Tellers())
    hand = Hand(core)
    appended = await append(core, "Ana's city is Oslo", form=True)
    await core.take_back(ALICE, "s1")
    await hand.work_all()
    assert appended.task_id is not None
    assert (await core.task(ALICE, appended.task_id)).status == "cancelled"
    assert await left(core) == []


async def test_the_same_call_appends_once(core: MemoryCore) -> None:
    contents = [f"number {place}" for place in range(60)]
    call = Call(idempotency_key="once")
    first = await append(core, *contents, call=call)
    assert await append(core, *contents, call=call) == first
    assert await texts(core) == contents
    with pytest.raises(Conflict):
        await append(core, "another", call=call)


async def test_a_day_later_a_key_is_of_another_call(world: World) -> None:
    core = await world.core(agents=Tellers())
    keyed = Call(idempotency_key="k1")
    first = await append(core, "Ana's city is Oslo", call=keyed, form=True)
    await Hand(core).work_all()
    world.clock.forward(86_401)
    second = await append(core, "Ben's city is Rome", call=keyed, form=True)
    await Hand(core).work_all()
    assert await append(core, "Ben's city is Rome", call=keyed, form=True) == second
    assert await texts(core) == ["Ana's city is Oslo", "Ben's city is Rome"]
    assert first.task_id != second.task_id
    assert {"Ana's city is Oslo", "Ben's city is Rome"} <= {
        memory.content for memory in await left(core) if memory.category == "fact"
    }


async def test_a_popped_item_is_not_brought_back_by_the_same_call(core: MemoryCore) -> None:
    call = Call(idempotency_key="once")
    await append(core, "first", "second", call=call)
    await core.take_back(ALICE, "s1", 1)
    await append(core, "first", "second", call=call)
    assert await texts(core) == ["first"]


async def test_a_cleared_session_is_empty_and_begins_anew(core: MemoryCore) -> None:
    await append(core, "first", REASONING, "second")
    await core.clear(ALICE, ClearInput(session_id="s1"))
    assert await texts(core) == []
    await append(core, "third")
    assert await texts(core) == ["third"]


async def test_without_an_embedder_items_are_kept_and_the_answer_says_so(world: World) -> None:
    embedder = WordsEmbedder()
    core = await world.core(embedder=embedder)
    embedder.down = True
    assert (await append(core, "The birch shelf")).degraded == ("search",)
    assert await texts(core) == ["The birch shelf"]
    with pytest.raises(Unavailable):
        await embedder.embed(["x"])


async def test_another_user_sees_nothing_of_it(core: MemoryCore) -> None:
    await append(core, "first")
    with pytest.raises(NotFound):
        await core.session_messages(BOB, "s1")


async def test_clients_who_pop_and_append_at_once_lose_and_double_nothing(world: World) -> None:
    """Eight clients, half of them in another process: each item is popped once or left, and those
    left are in the order of appending.
    """
    cores = [await world.core(), await world.core()]
    appended, popped = dict[str, int](), list[str]()

    async def client(number: int) -> None:
        core = cores[number % 2]
        for turn in range(6):
            name = f"{number}-{turn}"
            await core.append(
                ALICE, "s1", AppendInput(messages=[{"role": "user", "content": name}])
            )
            appended[name] = turn
            if turn % 2:
                popped.extend(
                    message.content for message in (await core.take_back(ALICE, "s1", 1)).messages
                )

    await asyncio.gather(*(client(number) for number in range(8)))
    stay = await texts(cores[0])
    assert len(popped) == len(set(popped)) == 24
    assert sorted([*popped, *stay]) == sorted(appended)
    for number in range(8):
        own = [name for name in stay if name.startswith(f"{number}-")]
        assert own == sorted(own, key=appended.__getitem__)
