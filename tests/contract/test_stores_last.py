"""Items of sessions and stores through exports, replays, forgetting for good and pages
of a search.
"""

from __future__ import annotations

import asyncio

from memory_core.core import MemoryCore
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.maintenance import ForgetInput, ReplayInput
from memory_core.domain.requests.memories import (
    AppendInput,
    ListInput,
    NamedInput,
    RetrieveInput,
    SaveInput,
    TagsInput,
)
from memory_core.domain.results import Accepted
from tests.builders import ALICE
from tests.contract.test_forget import no_trace
from tests.exports import brought, exported
from tests.past import told_by_the_log
from tests.tasks import Hand, task_of
from tests.world import BOB, WordsEmbedder, World

CALL_ITEM = {
    "type": "function_call",
    "call_id": "c1",
    "name": "open_vault",
    "arguments": '{"word": "swordfish"}',
}
SILENT = {"type": "reasoning", "id": "rs_1", "encrypted_content": "quicksilver", "summary": []}


async def filled(core: MemoryCore) -> None:
    await core.append(
        ALICE,
        "s1",
        AppendInput(messages=[{"role": "user", "content": "How is Oslo?"}, CALL_ITEM, SILENT]),
    )
    hidden = SaveInput(
        type=MemoryType.PROCEDURAL,
        key="k",
        value={"a": "x" * 50_000},
        searchable=False,
        tags=["ns:a"],
        metadata={"n": 1},
    )
    await core.save(ALICE, hidden)


async def test_an_import_brings_items_and_hidden_memories_as_they_were(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    await filled(core)
    task = await brought(world, core, await exported(world, core))
    assert task.status == "succeeded", task.error
    messages = [await core.session_messages(owner, "s1") for owner in (ALICE, BOB)]
    assert [message.sent for message in messages[1].messages] == [None, CALL_ITEM, SILENT]
    assert [message.memory_id for message in messages[0].messages] == [
        message.memory_id for message in messages[1].messages
    ]
    (hidden,) = (await core.get_many(BOB, NamedInput(keys=["k"]))).memories
    assert (hidden.value, hidden.searchable, hidden.embedding) == ({"a": "x" * 50_000}, False, None)
    assert (await core.tags(BOB, TagsInput())).tags == ("ns:a",)
    assert [
        memory.key for memory in (await core.list(BOB, ListInput(metadata={"n": 1}))).memories
    ] == ["k"]
    answer_hits = (
        await core.retrieve(
            BOB, RetrieveInput(query="k", answer_threshold=0, similarity_threshold=0, limit=50)
        )
    ).results
    assert "k" not in {hit.memory.key for hit in answer_hits}


async def test_a_replay_tells_of_them_what_a_list_does(world: World) -> None:
    core = await world.core()
    await filled(core)
    await told_by_the_log(core, world)
    head = await world.head()
    assert head is not None
    past = (await core.replay(ALICE, ReplayInput(sequence=head.sequence))).memories
    assert [memory.searchable for memory in past] == [False, False, True, True]


async def test_forgotten_for_good_an_item_leaves_no_trace_of_what_was_sent(world: World) -> None:
    core = await world.core()
    await filled(core)
    accepted = await core.forget(
        ALICE, ForgetInput.model_validate({"mode": "hard", "filter": {"session_id": "s1"}})
    )
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    await no_trace(world, "swordfish", "quicksilver", "open_vault")
    assert [memory.key for memory in (await core.list(ALICE, ListInput())).memories] == ["k"]


async def test_pages_of_a_search_show_each_result_once_though_others_save_meanwhile(
    world: World,
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    await core.bulk(
        ALICE, [SaveInput(content=f"the green parrot says {number}") for number in range(30)]
    )
    first = {
        hit.memory.id
        for hit in (
            await core.retrieve(ALICE, RetrieveInput(query="green parrot", limit=30))
        ).results
    }
    assert len(first) == 30
    seen, cursor = list[str](), None
    while True:
        asked = RetrieveInput(query="green parrot", limit=7, cursor=cursor)
        page = await core.retrieve(ALICE, asked)
        seen += [hit.memory.id for hit in page.results]
        cursor = page.next_cursor
        if cursor is None:
            break
        await core.save(
            ALICE, SaveInput(content=f"the green parrot says something new {len(seen)}")
        )
    assert len(seen) == len(set(seen))
    assert first <= {*seen}


async def test_many_append_to_one_session_in_commits_of_their_own_and_all_is_kept_in_order(
    world: World,
) -> None:
    cores = [await world.core(), await world.core()]
    contents = {number: [f"{number}-{place:03}" for place in range(60)] for number in range(4)}

    async def append(number: int) -> None:
        items = [{"role": "user", "content": text} for text in contents[number]]
        await cores[number % 2].append(ALICE, "s1", AppendInput(messages=items))

    await asyncio.gather(*map(append, contents))
    messages, cursor = list[str](), None
    while True:
        page = await cores[0].session_messages(ALICE, "s1", cursor, 100)
        messages += [message.content for message in page.messages]
        if (cursor := page.next_cursor) is None:
            break
    for number, texts in contents.items():
        assert [text for text in messages if text.startswith(f"{number}-")] == texts
    assert len(messages) == 240
