"""A year of conversations in one file: told once each, in the file's order, whatever
happens in between.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.data_rights.import_conversations import PAUSE, TURN, UNFORMED
from memory_core.domain.errors import NotFound, TooLarge
from memory_core.domain.messages import MESSAGE
from memory_core.domain.requests.maintenance import ImportInput
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput, TasksInput
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.exports import Before, gathered, worked
from tests.mortal import killed_at_each_write
from tests.tasks import Hand, pending
from tests.world import BOB, WordsEmbedder, World, listed, turn

CONVERSATIONS = ImportInput(of="conversations")
PLACES = ("Lisbon", "Oslo", "Graz", "Lyon", "Turin", "Ghent", "Porto", "Krakow", "Madrid")


def line(*contents: str, session: str | None = None, day: int = 0, **fields: Any) -> dict[str, Any]:
    """A conversation of a day, its messages a minute apart."""
    began = NOW - timedelta(days=400 - day)
    messages = [
        {
            "role": ("user", "assistant")[place % 2],
            "content": content,
            "timestamp": (began + timedelta(minutes=place)).isoformat(),
        }
        for place, content in enumerate(contents)
    ]
    return {**({} if session is None else {"session_id": session}), "messages": messages, **fields}


def year(count: int = 9) -> list[dict[str, Any]]:
    """Conversations about a place each, of days in no order."""
    return [
        line(f"I am in {place}", f"How is {place}?", session=f"s{number}", day=(number * 5) % count)
        for number, place in enumerate(PLACES[:count])
    ]


def file_of(lines: Sequence[Any]) -> bytes:
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


async def imported(
    core: MemoryCore, lines: Sequence[Any], owner: Owner = BOB, size: int = 2**20
) -> str:
    """The task of an import of these lines, committed."""
    return await gathered(core, file_of(lines), owner, size, CONVERSATIONS)


async def said(core: MemoryCore, owner: Owner = BOB) -> list[str]:
    """The messages that are kept, in the order in which they were told."""
    return [memory.content for memory in reversed(await listed(core, owner, category=MESSAGE))]


def messages_of(lines: Sequence[dict[str, Any]]) -> list[str]:
    return [message["content"] for line in lines for message in line["messages"]]


async def test_what_is_told_is_found_at_once_and_formed_by_tasks_of_its_own(world: World) -> None:
    core = await world.core()
    task = await worked(world, core, await imported(core, year(), size=300), BOB)
    assert (task.status, task.progress, task.step, task.error) == ("succeeded", 1.0, None, None)
    assert task.result == {
        "conversations": 9,
        "of": 9,
        "messages": {"new": 18, "known": 0},
        "ignored": [],
        "forming": 9,
    }
    assert sorted(await said(core)) == sorted(messages_of(year()))
    answer = await core.retrieve(BOB, RetrieveInput(query="I am in Turin"))
    assert answer.results[0].memory.content == "I am in Turin"
    await Hand(core).work_all()
    tasks = (await core.tasks(BOB, TasksInput(kind="converse", limit=100))).tasks
    assert [task.status for task in tasks] == ["succeeded"] * 9
    assert await pending(world, BOB) == 0


async def test_what_an_import_tells_becomes_the_same_as_what_is_sent(world: World) -> None:
    core = await world.core()
    for conversation in year():
        await core.converse(ALICE, conversation_of(conversation))
    await Hand(core).work_all()
    await worked(world, core, await imported(core, year()), BOB)
    await Hand(core).work_all()
    fields = (
        "content",
        "type",
        "category",
        "session_id",
        "event_timestamp",
        "subject",
        "attribute",
        "status",
    )
    sent, brought = [
        sorted(
            str(memory.model_dump(include=set(fields)))
            for memory in await listed(core, owner, status="all")
        )
        for owner in (ALICE, BOB)
    ]
    assert sent == brought


def conversation_of(conversation: dict[str, Any]) -> ConverseInput:
    return ConverseInput.model_validate(conversation)


BAD: dict[str, tuple[Any, str]] = {
    "no JSON": (b'{"messages": [secret', "line 7: is not JSON"),
    "no object": (["secret"], "line 7: is no JSON object"),
    "no messages": ({"session_id": "s1"}, "line 7: messages: "),
    "empty messages": ({"messages": []}, "line 7: messages: "),
    "a role that is none": (
        line("secret") | {"messages": [{"role": "secret", "content": "secret"}]},
        "line 7: messages.0.role: ",
    ),
    "a time that is none": (
        {
            "messages": [
                {"role": "user", "content": "fine"},
                {"role": "user", "content": "secret", "timestamp": "secret"},
            ]
        },
        "line 7: messages.1.timestamp: ",
    ),
    "a field that is not known": (line("secret", secret="secret"), "line 7: secret: "),
    "a field whose name is words": (
        line("secret") | {"our secret": 1},
        "line 7: (a name that is not shown): ",
    ),
    "a session that is none": (line("secret", session="a/b"), "line 7: session_id: "),
    "a callback": (line("secret", callback_url="https://secret.example"), "line 7: callback_url: "),
    "another user": (line("secret", user_id="bob"), "line 7: user_id: "),
    "nested too deeply": (b'{"messages": ' + b"[" * 400 + b"]" * 400 + b"}", "line 7: "),
}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("fault", BAD)
async def test_a_line_that_cant_be_read_is_named_by_its_number_and_field_before_anything_is_told(
    world: World, fault: str, adapter: str
) -> None:
    bad, reason = BAD[fault]
    lines = [file_of([conversation]) for conversation in year()]
    lines[6] = bad + b"\n" if isinstance(bad, bytes) else file_of([bad])
    core = await world.core()
    task = await worked(
        world, core, await gathered(core, b"".join(lines), BOB, 500, CONVERSATIONS), BOB
    )
    assert task.status == "failed"
    assert task.error is not None
    assert task.error.startswith(reason), task.error
    assert "secret" not in task.error.removeprefix(reason)
    assert await said(core) == []


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_file_that_begins_with_a_byte_order_mark_is_told(
    world: World, adapter: str
) -> None:
    core = await world.core()
    task = await worked(
        world,
        core,
        await gathered(core, codecs.BOM_UTF8 + file_of(year()), BOB, 500, CONVERSATIONS),
        BOB,
    )
    assert (task.status, task.error) == ("succeeded", None)
    assert sorted(await said(core)) == sorted(messages_of(year()))


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_file_without_lines_and_one_with_another_checksum_are_refused(
    world: World, adapter: str
) -> None:
    core = await world.core()
    task_id = await gathered(core, b"\n", BOB, 500, CONVERSATIONS)
    error = (await worked(world, core, task_id, BOB)).error
    assert error is not None
    assert error.startswith("line 1: is not JSON: ")
    task_id = await gathered(core, file_of(year()), BOB, 500, CONVERSATIONS, sha256="0" * 64)
    error = (await worked(world, core, task_id, BOB)).error
    assert error is not None
    assert "not the one that was committed" in error
    assert await said(core) == []


async def test_the_same_file_imported_again_is_known_where_it_names_sessions(world: World) -> None:
    core = await world.core()
    await worked(world, core, await imported(core, year()), BOB)
    task = await worked(world, core, await imported(core, year()), BOB)
    assert task.result is not None
    assert task.result["messages"] == {"new": 0, "known": 18}
    assert sorted(await said(core)) == sorted(messages_of(year()))


async def test_messages_with_ids_are_known_again_wherever_they_stand_in_a_session_of_many_conversations(  # noqa: E501
    world: World,
) -> None:
    core = await world.core()
    lines = year()
    for number, body in enumerate(lines):
        body["session_id"] = "all"
        for place, message in enumerate(body["messages"]):
            message["id"] = f"m{number}-{place}"
    await worked(world, core, await imported(core, lines), BOB)
    task = await worked(world, core, await imported(core, lines), BOB)
    assert task.result is not None
    assert task.result["messages"] == {"new": 0, "known": 18}
    assert await said(core) == messages_of(lines)


async def test_a_user_who_has_memories_goes_on_where_the_session_was(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, turn("I keep bees"))
    words = ("I am in Lisbon", "How is Lisbon?", "It is warm")
    await core.converse(ALICE, conversation_of(line(*words[:2], session="s1")))
    task = await worked(
        world,
        core,
        await imported(
            core, [line(*words, session="s1"), line("I am in Oslo", "How is Oslo?")], ALICE
        ),
    )
    assert task.result is not None
    assert task.result["messages"] == {"new": 3, "known": 2}
    assert sorted(await said(core, ALICE)) == sorted([*words, "I am in Oslo", "How is Oslo?"])


async def test_lines_of_a_session_are_told_one_after_another_as_histories(world: World) -> None:
    core = await world.core()
    words = ("I keep bees", "How many?", "Three hives", "Since when?")
    lines = [line(*words[:count], session="bees") for count in (2, 3, 4)]
    task = await worked(world, core, await imported(core, lines), BOB)
    assert task.result is not None
    assert task.result["messages"] == {"new": 4, "known": 5}
    assert await said(core) == [*words]


async def test_fields_of_messages_that_are_not_known_are_named_in_the_result(world: World) -> None:
    core = await world.core()
    lines = [line("I keep bees"), line("They make honey")]
    for body, name in zip(lines, ("mood", "colour"), strict=True):
        body["messages"][0][name] = "secret"
    task = await worked(world, core, await imported(core, lines), BOB)
    assert task.result is not None
    assert task.result["ignored"] == ["messages.*.colour", "messages.*.mood"]


@pytest.mark.parametrize("after", [False, True])
async def test_a_worker_that_is_killed_at_any_write_is_followed_by_one_that_ends_it(
    world: World, after: bool
) -> None:
    """Nothing doubled, nothing lost, and counted once; also of conversations without a session,
    which nothing but the receipt knows.
    """
    other = await world.core()
    lines = [
        *year(3),
        line("I keep bees", "How many?"),
        line("I am in Graz"),
        line("I am in Graz", day=1),
    ]
    killed = 0
    async for owner, task_id in killed_at_each_write(
        world, after, lambda mortal, owner: imported(mortal, lines, owner)
    ):
        task = await worked(world, other, task_id, owner)
        assert task.status == "succeeded", (owner.user_id, task.error)
        assert task.result is not None
        assert (task.result["conversations"], task.result["messages"]) == (
            6,
            {"new": 10, "known": 0},
        ), owner.user_id
        assert sorted(await said(other, owner)) == sorted(messages_of(lines)), owner.user_id
        killed += 1
    assert killed > 13


async def test_a_queue_message_tells_for_some_minutes_and_another_one_goes_on(world: World) -> None:
    async def time_goes_by() -> None:
        world.clock.forward(TURN.total_seconds() / 3)
        store[0].left = 1

    store: list[Before] = []
    core = await world.core(
        wrap=lambda inner: store.append(Before(inner, "commit", time_goes_by)) or store[0]
    )
    task_id = await imported(core, year())
    store[0].left = 1
    hand, steps = Hand(core, "consolidation"), list[str | None]()
    while taken := await hand.take(1):
        await hand.work(taken[0])
        steps.append((await core.task(BOB, task_id)).step)
    task = await core.task(BOB, task_id)
    assert task.status == "succeeded", task
    assert len(steps) > 3
    assert all(
        step == f"conversation {step.split()[1]} of 9" for step in steps[:-1] if step is not None
    )
    assert sorted(await said(core)) == sorted(messages_of(year()))


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_more_is_told_when_what_was_told_is_formed(world: World, adapter: str) -> None:
    core = await world.core()
    lines = [line(f"I am in place {number}") for number in range(UNFORMED + 40)]
    task_id = await imported(core, lines)
    importing = Hand(core, "consolidation")
    for _ in range(3):
        await importing.work_all()
        world.clock.forward(PAUSE.total_seconds() + 1)
    waiting = await core.task(BOB, task_id)
    assert waiting.result is not None
    assert UNFORMED < waiting.result["conversations"] < UNFORMED + 10
    assert waiting.step == f"conversation {waiting.result['conversations']} of {len(lines)}"
    await Hand(core).work_all()
    task = await worked(world, core, task_id, BOB)
    assert task.result is not None
    assert task.result["conversations"] == len(lines)
    assert len(await said(core)) == len(lines)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_line_that_the_store_refuses_is_named_and_what_was_told_before_it_stays(
    world: World, adapter: str
) -> None:
    async def refuse() -> None:
        raise TooLarge("this commit is too large")

    store: list[Before] = []
    core = await world.core(
        wrap=lambda inner: store.append(Before(inner, "commit", refuse)) or store[0]
    )
    task_id = await imported(core, year())
    store[0].left = 6  # the file is looked through in one commit, each line is told in two
    task = await worked(world, core, task_id, BOB)
    assert (task.status, task.error) == ("failed", "line 3: this commit is too large")
    assert task.result is not None
    assert (task.result["conversations"], task.result["messages"]) == (2, {"new": 4, "known": 0})
    assert sorted(await said(core)) == sorted(messages_of(year()[:2]))


async def test_while_the_embedder_is_down_all_is_told_and_found_by_its_words(world: World) -> None:
    embedder = WordsEmbedder()
    core = await world.core(embedder=embedder)
    embedder.down = True
    task = await worked(world, core, await imported(core, year()), BOB)
    assert task.status == "succeeded"
    assert "I am in Turin" in [
        hit.memory.content
        for hit in (await core.retrieve(BOB, RetrieveInput(query="Turin"))).results
    ]


@pytest.mark.parametrize("at", range(2, 10))
async def test_cancelled_it_says_how_far_it_came_and_what_was_told_stays(
    world: World, at: int
) -> None:
    """Before the `at`-th commit of the work: of a conversation, or of the operation that is moved
    on after it.
    """
    other = await world.core()

    async def cancel() -> None:
        await other.cancel(BOB, task_id)

    store: list[Before] = []
    core = await world.core(
        wrap=lambda inner: store.append(Before(inner, "commit", cancel)) or store[0]
    )
    task_id = await imported(core, year())
    store[0].left = at
    task = await worked(world, core, task_id, BOB)
    assert task.status == "cancelled"
    contents = await said(core)
    assert sorted(contents) == sorted(messages_of(year()[: len(contents) // 2]))
    assert len(contents) < 18
    if contents:
        assert task.result is not None
        assert (task.result["conversations"], task.result["of"]) == (len(contents) // 2, 9)
        assert task.result["messages"] == {"new": len(contents), "known": 0}
    again = await worked(world, core, await imported(core, year()), BOB)
    assert again.status == "succeeded"
    assert sorted(await said(core)) == sorted(messages_of(year()))


@pytest.mark.parametrize("at", range(2, 8))
async def test_a_user_who_is_erased_meanwhile_is_told_nothing_more(world: World, at: int) -> None:
    """Also when the erasure is over, and the user has begun again, before the worker goes on."""
    other = await world.core(erase_settle_s=0)

    async def erase() -> None:
        await worked(world, other, (await other.erase(BOB)).task_id, BOB)
        await other.save(BOB, turn("I begin anew"))

    store: list[Before] = []
    core = await world.core(
        wrap=lambda inner: store.append(Before(inner, "commit", erase)) or store[0]
    )
    task_id = await imported(core, year())
    store[0].left = at
    await Hand(core, "consolidation").work_all()
    assert store[0].left <= 0
    with pytest.raises(NotFound):
        await other.task(BOB, task_id)
    assert [memory.content for memory in await listed(other, BOB, status="all")] == ["I begin anew"]
    assert await said(other) == []
    assert await (await world.look_on()).strays(BOB, 100) == []
