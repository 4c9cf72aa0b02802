"""A stored memory that can't be read hides nothing but itself, and is named wherever
it is missed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Damaged
from memory_core.domain.event_log import version_id
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.requests.memories import ContextInput, ListInput, RetrieveInput, UpdateInput
from memory_core.domain.results import Accepted
from memory_core.ports import Document, Kind, Write
from tests.builders import ALICE, commit
from tests.cold import archived, years_go_by
from tests.exports import brought, exported, fetched, of_kind, parsed, worked
from tests.world import WordsEmbedder, World, fact, turn

WORDS = "Quillfeather marmalade"


async def damage(core: MemoryCore, memory: Memory, **wrong: Any) -> None:
    """Store something else in the place of a memory's fields."""
    store = core._services.adapters.long_term
    document = (await store.snapshot(ALICE, [memory.id])).documents[memory.id]
    await commit(
        store,
        ALICE,
        Write("put", Document(memory.id, "memory", {**document.body, **wrong}, document.vector)),
    )


async def damage_text(world: World, memory_id: str) -> None:
    """Leave the beginning of a memory's JSON in its place, as a broken disk or a
    wrong hand would.
    """
    with closing(sqlite3.connect(world.folder / "memory.db")) as file, file:
        assert (
            file.execute(
                "UPDATE documents SET body = ? WHERE id = ?", (b'{"broken": ', memory_id)
            ).rowcount
            == 1
        )


Damaging = Callable[[World, str], Awaitable[None]]


@pytest.fixture(params=["a field", "no JSON"])
def damaging(request: pytest.FixtureRequest, adapter: str) -> Damaging:
    """Damages a memory, or an old version of one: a field of it, or where the store keeps text,
    all of it.
    """
    if request.param == "no JSON":
        if adapter != "sqlite":
            pytest.skip("Cosmos DB keeps nothing but JSON")
        return damage_text

    async def a_field(world: World, memory_id: str) -> None:
        store = await world.look_on()
        document = (await store.snapshot(ALICE, [memory_id])).documents[memory_id]
        kind: Kind = "version" if "." in memory_id else "memory"
        await commit(
            store,
            ALICE,
            Write(
                "put",
                Document(memory_id, kind, {**document.body, "confidence": WORDS}, document.vector),
            ),
        )

    return a_field


async def hard_forgotten(
    world: World, core: MemoryCore, session_id: str | None = None, **chosen: Any
) -> Task:
    asked = ForgetInput.model_validate({"mode": "hard", "session_id": session_id, "filter": chosen})
    accepted = await core.forget(ALICE, asked)
    assert isinstance(accepted, Accepted)
    task = await worked(world, core, accepted.task_id)
    assert (task.status, task.error) == ("succeeded", None)
    return task


async def three(core: MemoryCore) -> list[Memory]:
    texts = ["The bees fly at noon", "The bees sleep at night", "The bees drink at dawn"]
    return [
        (await core.save(ALICE, fact(text, subject="Hive", attribute=f"habit {at}"))).memory
        for at, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    "wrong", [{"confidence": WORDS}, {"version": WORDS}], ids=["a number", "a count"]
)
async def test_a_damaged_memory_is_left_out_of_a_list_which_names_it(
    world: World, wrong: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    core = await world.core()
    first, second, third = await three(core)
    await damage(core, second, **wrong)
    page = await core.list(ALICE, ListInput())
    assert [memory.id for memory in page.memories] == [third.id, first.id]
    assert page.damaged == (second.id,)
    assert second.id in caplog.text
    assert WORDS not in str(caplog.messages)


async def test_pages_go_on_behind_a_damaged_memory(world: World) -> None:
    core = await world.core()
    first, second, third = await three(core)
    await damage(core, second, confidence=WORDS)
    ids, damaged, cursor = [], [], None
    while True:
        page = await core.list(ALICE, ListInput(limit=1, cursor=cursor))
        ids += [memory.id for memory in page.memories]
        damaged += page.damaged
        cursor = page.next_cursor
        if cursor is None:
            break
    assert (ids, damaged) == ([third.id, first.id], [second.id])


async def test_a_damaged_memory_asked_for_by_its_id_is_an_error_that_names_it(world: World) -> None:
    core = await world.core()
    _, second, _ = await three(core)
    await damage(core, second, confidence=WORDS)
    with pytest.raises(
        Damaged, match=f"the memory {second.id} is damaged: what is stored of it can't be read"
    ) as caught:
        await core.get(ALICE, second.id)
    assert WORDS not in caught.value.detail


async def test_a_search_finds_what_stands_beside_a_damaged_memory(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    core = await world.core()
    first, second, third = await three(core)
    await damage(core, second, confidence=WORDS)
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="when do the bees fly, sleep, drink?", similarity_threshold=0.0)
    )
    assert {hit.memory.id for hit in answer.results} == {first.id, third.id}
    assert second.id in caplog.text
    assert WORDS not in str(caplog.messages)


async def test_a_turn_whose_words_are_damaged_hides_none_beside_it_after_a_deletion(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """What turns lend each other is looked up then."""
    core = await world.core()
    first, second, third = [
        (await core.save(ALICE, turn(f"The bees {verb}"))).memory
        for verb in ("fly", "sleep", "drink")
    ]
    await core.delete(ALICE, first.id)
    await damage(core, second, lexical=WORDS)
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="when do the bees fly, sleep, drink?", similarity_threshold=0.0)
    )
    assert {hit.memory.id for hit in answer.results} == {third.id}
    assert second.id in caplog.text
    assert WORDS not in str(caplog.messages)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("column", ["id", "next_id", "kind"])
async def test_a_text_that_is_no_utf_8_in_the_row_of_a_memory_hides_no_other_memory(
    world: World, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Every list, search and context of the user was a 503."""
    core = await world.core()
    memories = await three(core)
    with closing(sqlite3.connect(world.folder / "memory.db")) as file, file:
        file.execute(
            f"UPDATE documents SET {column} = CAST(x'6d656dff' AS TEXT) WHERE id = ?",
            (memories[1].id,),
        )
    core = await world.core()
    page = await core.list(ALICE, ListInput())
    readable = memories if column == "next_id" else memories[::2]
    assert {memory.id for memory in page.memories} == {memory.id for memory in readable}
    assert page.damaged == ((r"mem\xff",) if column == "id" else ())
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="when do the bees fly, sleep, drink?", similarity_threshold=0.0)
    )
    assert {memories[0].id, memories[2].id} <= {hit.memory.id for hit in answer.results}
    context = await core.context(ALICE, ContextInput(query="when do the bees fly?"))
    assert memories[0].content in context.context
    await core.save(ALICE, fact("The bees dance at dusk", subject="Hive", attribute="habit 9"))
    assert "memory.db is damaged: a text in it is no UTF-8" in caplog.messages
    assert (await core.ready())["dependencies"]["long_term"]["status"] == "degraded"


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_search_that_knew_a_memory_leaves_it_out_once_its_text_is_damaged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """The index in the process still has it."""
    core = await world.core()
    first, second, third = await three(core)
    asked = RetrieveInput(query="when do the bees fly, sleep, drink?", similarity_threshold=0.0)
    assert len((await core.retrieve(ALICE, asked)).results) == 3
    await damage_text(world, second.id)
    assert {hit.memory.id for hit in (await core.retrieve(ALICE, asked)).results} == {
        first.id,
        third.id,
    }
    assert second.id in caplog.text


async def test_a_slot_whose_holder_is_damaged_takes_no_other_truth(world: World) -> None:
    """What it says there must be known before anything is decided; other slots take what comes."""
    core = await world.core()
    _, second, _ = await three(core)
    await damage(core, second, confidence=WORDS)
    with pytest.raises(Damaged, match=second.id):
        await core.save(
            ALICE, fact("The bees sleep in winter", subject="Hive", attribute="habit 1")
        )
    await core.save(ALICE, fact("The bees sing in spring", subject="Hive", attribute="habit 7"))


@pytest.mark.parametrize(
    "asked",
    [{}, {"session_id": "s1"}, {"query": "when do the bees fly, sleep, drink?"}],
    ids=lambda letters: "".join(letters),
)
async def test_a_context_leaves_out_a_damaged_memory(
    world: World, damaging: Damaging, asked: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    core = await world.core()
    first, second, third = [
        (await core.save(ALICE, turn(f"The bees {verb}"))).memory
        for verb in ("fly", "sleep", "drink")
    ]
    await core.delete(ALICE, first.id)
    await damaging(world, second.id)
    context = await core.context(ALICE, ContextInput(**asked))
    assert third.content in context.context
    assert second.content not in context.context
    assert second.id in caplog.text
    assert WORDS not in str(caplog.messages)


async def test_a_memory_is_forgotten_for_good_beside_a_damaged_one_which_is_named(
    world: World, damaging: Damaging
) -> None:
    """The mentions of it are struck; what the damaged memory mentions can't be known,
    so the result says that it stays.
    """
    core = await world.core()
    city = [
        fact(f"Ana lives in {name}", subject="Ana", attribute="city")
        for name in ("Lisbon", "Porto")
    ]
    damaged = (await core.save(ALICE, fact("The bees fly at noon"))).memory
    old, new = [(await core.save(ALICE, item)).memory for item in city]
    assert (await core.get(ALICE, old.id)).next_id == new.id
    await damaging(world, damaged.id)
    task = await hard_forgotten(world, core, ids=[new.id])
    assert task.result is not None
    assert task.result["counts"]["struck"] == 1
    assert task.result["damaged"] == [damaged.id]
    assert (await core.get(ALICE, old.id)).next_id is None
    assert "Porto" not in str([event.model_dump() for event in await world.log()])


async def test_a_session_is_forgotten_for_good_but_for_its_damaged_memory_which_is_named(
    world: World, damaging: Damaging
) -> None:
    core = await world.core()
    _, second, _ = [
        (await core.save(ALICE, turn(f"The bees {verb}"))).memory
        for verb in ("fly", "sleep", "drink")
    ]
    await damaging(world, second.id)
    foreseen = await core.forget(
        ALICE,
        ForgetInput.model_validate(
            {"mode": "hard", "session_id": "s1", "filter": {}, "dry_run": True}
        ),
    )
    assert not isinstance(foreseen, Accepted)
    task = await hard_forgotten(world, core, session_id="s1")
    assert task.result is not None
    assert (task.result["counts"]["forgotten"], task.result["damaged"]) == (2, [second.id])
    page = await core.list(ALICE, ListInput())
    assert (page.memories, page.damaged) == ((), (second.id,))


async def test_a_damaged_old_version_goes_with_its_memory(world: World, damaging: Damaging) -> None:
    core = await world.core()
    memory = (await core.save(ALICE, fact("The hive is blue"))).memory
    await core.update(ALICE, memory.id, UpdateInput(content="The hive is green"), memory.etag)
    await damaging(world, version_id(memory.id, 1))
    task = await hard_forgotten(world, core, ids=[memory.id])
    assert task.result is not None
    assert "damaged" not in task.result
    store = await world.look_on()
    assert await store.page(ALICE, "version", None, None, 10) == []


async def test_an_export_leaves_out_what_is_damaged_and_names_it(
    world: World, damaging: Damaging
) -> None:
    core = await world.core()
    first, second, third = await three(core)
    edited = await core.update(
        ALICE, third.id, UpdateInput(content="The bees drink at dusk"), third.etag
    )
    await damaging(world, second.id)
    await damaging(world, version_id(third.id, 1))
    task = await worked(world, core, (await core.export(ALICE)).task_id)
    assert (task.status, task.error) == ("succeeded", None)
    assert task.result is not None
    assert task.result["damaged"] == sorted([second.id, version_id(third.id, 1)])
    _, lines = parsed(await fetched(core, task))
    assert {line["id"] for line in of_kind(lines, "memory")} == {first.id, edited.id}
    assert of_kind(lines, "version") == []


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_file_without_a_damaged_memory_is_refused_by_an_import_which_names_it(
    world: World,
) -> None:
    """Its log tells of a memory that is not there."""
    core = await world.core()
    _, second, _ = await three(core)
    await damage_text(world, second.id)
    back = await brought(world, core, await exported(world, core))
    assert back.status == "failed"
    assert back.error is not None
    assert f"refers to {second.id}, which is not in this file" in back.error


async def test_an_undamaged_export_names_nothing(world: World) -> None:
    core = await world.core()
    await three(core)
    task = await worked(world, core, (await core.export(ALICE)).task_id)
    assert task.result is not None
    assert "damaged" not in task.result


async def test_an_export_of_nothing_but_a_damaged_memory_is_whole(
    world: World, damaging: Damaging
) -> None:
    core = await world.core()
    only = (await core.save(ALICE, fact("The bees fly at noon"))).memory
    await damaging(world, only.id)
    task = await worked(world, core, (await core.export(ALICE)).task_id)
    assert (task.status, task.error) == ("succeeded", None)
    assert task.result is not None
    assert task.result["damaged"] == [only.id]
    assert of_kind(parsed(await fetched(core, task))[1], "memory") == []


async def test_an_archive_run_passes_over_a_damaged_memory(
    world: World, damaging: Damaging
) -> None:
    core = await world.core()
    _, second, _ = await three(core)
    await damaging(world, second.id)
    years_go_by(world)
    assert await archived(world, core) == {"archived": 2, "chains": 2}
    assert (await core.list(ALICE, ListInput(status="active"))).damaged == (second.id,)


async def test_a_chain_with_a_damaged_memory_stays_out_of_the_archive(
    world: World, damaging: Damaging
) -> None:
    """Chains move whole; what coexists with one moves without it."""
    core = await world.core()
    city = [
        fact(f"Ana lives in {name}", subject="Ana", attribute="city")
        for name in ("Lisbon", "Porto")
    ]
    old, new = [(await core.save(ALICE, item)).memory for item in city]
    other = (await core.save(ALICE, fact("The bees fly at noon"))).memory
    await damaging(world, old.id)
    years_go_by(world)
    assert await archived(world, core) == {"archived": 1, "chains": 1, "damaged": 1}
    assert (await core.get(ALICE, new.id)).status == "active"
    assert (await core.get(ALICE, other.id)).status == "archived"


@pytest.mark.parametrize("which", [0, 1])
async def test_an_evolution_ends_at_a_damaged_memory_and_says_so(
    world: World, damaging: Damaging, which: int, caplog: pytest.LogCaptureFixture
) -> None:
    core = await world.core()
    city = [
        fact(f"Ana lives in {name}", subject="Ana", attribute="city")
        for name in ("Lisbon", "Porto")
    ]
    both = [(await core.save(ALICE, item)).memory for item in city]
    damaged, asked = both[which], both[1 - which]
    await damaging(world, damaged.id)
    evolution = await core.evolution(ALICE, asked.id, "both")
    assert ([memory.id for memory in evolution.memories], evolution.complete) == ([asked.id], False)
    assert damaged.id in caplog.text


async def test_erasing_the_user_removes_a_damaged_memory(world: World, damaging: Damaging) -> None:
    core = await world.core()
    _, second, _ = await three(core)
    await damaging(world, second.id)
    task = await worked(world, core, (await core.erase(ALICE)).task_id)
    assert (task.status, task.error) == ("succeeded", None)
    assert await (await world.look_on()).page(ALICE, "memory", None, None, 10) == []


async def test_a_memory_is_forgotten_for_good_though_a_damaged_one_contradicts_it(
    world: World, damaging: Damaging
) -> None:
    core = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)
    memory = (await core.save(ALICE, fact("the big server listens on port 8080"))).memory
    other = await core.save(ALICE, fact("the big server listens on port 8081"))
    assert other.conflict is not None
    assert other.conflict.status == "pending"
    await damaging(world, memory.id)
    task = await hard_forgotten(world, core, ids=[other.memory.id])
    assert task.result is not None
    assert task.result["damaged"] == [memory.id]
    assert await (await world.look_on()).page(ALICE, "conflict", None, None, 10) == []
