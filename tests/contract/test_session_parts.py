"""Each message of a session names the parts of its content: those that came, or the texts that it
was joined from.
"""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import BatchInput
from memory_core.domain.requests.memories import AppendInput, ConverseInput
from memory_core.domain.results import Accepted, Call, SessionMessage, Told
from tests.builders import ALICE, RunningClock
from tests.exports import brought, exported
from tests.tasks import Hand
from tests.world import BOB, World

TOLD = [
    {"type": "text", "text": "Which boat is this?"},
    {"type": "image_url", "image_url": {"url": "https://x.example/red.png"}},
]
SAID = "Which boat is this?\n[image: red.png]"
TEXTS = ["Which boat is this?", "[image: red.png]"]
CALL_ITEM = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(clock=RunningClock())


def text_parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


async def tell(
    core: MemoryCore, *contents: Any, session: str = "s1", call: Call | None = None
) -> Accepted:
    messages = [{"role": "user", "content": content} for content in contents]
    return await core.converse(
        ALICE,
        ConverseInput.model_validate({"session_id": session, "messages": messages}),
        call or Call(),
    )


async def read(core: MemoryCore, session: str = "s1", owner: Any = ALICE) -> list[SessionMessage]:
    return [*(await core.session_messages(owner, session, limit=100)).messages]


async def parts(core: MemoryCore, session: str = "s1", owner: Any = ALICE) -> list[Any]:
    return [message.parts for message in await read(core, session, owner)]


async def memory(core: MemoryCore, memory_id: str) -> Memory:
    return await core.get(ALICE, memory_id)


async def test_a_told_message_names_the_texts_that_it_was_joined_from(core: MemoryCore) -> None:
    await tell(core, TOLD, "a\nplain one", ["only one"])
    assert [message.content for message in await read(core)] == [SAID, "a\nplain one", "only one"]
    assert await parts(core) == [
        text_parts(*TEXTS),
        text_parts("a\nplain one"),
        text_parts("only one"),
    ]
    await Hand(core).work_all()
    assert (await parts(core))[0] == text_parts(*TEXTS), "forming changes nothing in it"


async def test_lengths_are_kept_only_of_several_parts(core: MemoryCore) -> None:
    await tell(core, TOLD, "plain")
    metadata = [(await memory(core, message.memory_id)).metadata for message in await read(core)]
    assert [fields.get("part_lengths") for fields in metadata] == [[19, 16], None]


async def test_an_appended_item_names_its_parts_as_they_came(core: MemoryCore) -> None:
    spoken = {
        "role": "assistant",
        "type": "message",
        "content": [{"type": "output_text", "text": "Cold.", "annotations": []}],
    }
    items = [
        {"role": "user", "content": TOLD},
        spoken,
        {"role": "user", "content": "plain"},
        CALL_ITEM,
        REASONING,
    ]
    await core.append(ALICE, "s1", AppendInput(messages=items))
    assert await parts(core) == [
        TOLD,
        spoken["content"],
        text_parts("plain"),
        text_parts("weather({})"),
        [],
    ]
    assert [message.sent for message in await read(core)] == [
        items[0],
        spoken,
        None,
        CALL_ITEM,
        REASONING,
    ]


async def test_messages_taken_back_name_their_parts(core: MemoryCore) -> None:
    await tell(core, "plain", TOLD)
    await core.append(ALICE, "s1", AppendInput(messages=[{"role": "assistant", "content": TOLD}]))
    taken = await core.take_back(ALICE, "s1", 2)
    assert [message.parts for message in taken.messages] == [text_parts(*TEXTS), TOLD]


async def test_a_history_with_parts_is_known_when_it_is_told_again(core: MemoryCore) -> None:
    await tell(core, TOLD, "and then?")
    again = await tell(core, TOLD, "and then?", "new")
    assert again.messages == Told(1, 2)
    assert (await tell(core, SAID, "and then?", "new")).messages == Told(0, 3), (
        "the same words in one text are the same message"
    )
    assert await parts(core) == [text_parts(*TEXTS), text_parts("and then?"), text_parts("new")]


async def test_the_same_call_is_answered_as_before(core: MemoryCore) -> None:
    call = Call(idempotency_key="once")
    first = await tell(core, TOLD, call=call)
    assert (await tell(core, TOLD, call=call)).task_id == first.task_id
    assert await parts(core) == [text_parts(*TEXTS)]


async def test_what_is_gathered_names_its_parts_before_and_after_it_is_formed(
    core: MemoryCore,
) -> None:
    batch = {"session_id": "s1", "messages": [{"role": "user", "content": TOLD}]}
    await core.batch(ALICE, BatchInput.model_validate(batch))
    assert await parts(core) == [text_parts(*TEXTS)]
    await core.batch_flush(ALICE, "s1")
    await Hand(core).work_all()
    assert await parts(core) == [text_parts(*TEXTS)]


async def test_more_messages_than_one_commit_holds_name_their_parts(core: MemoryCore) -> None:
    await tell(core, *([f"number {place}", "part"] for place in range(60)))
    await Hand(core).work_all()
    assert await parts(core) == [text_parts(f"number {place}", "part") for place in range(60)]


async def test_a_secret_leaves_no_part(core: MemoryCore) -> None:
    """Redacted parts are shown redacted; where the secret reached over a seam,
    the content is one part.
    """
    token = "ghp_" + "a1B2" * 9
    await tell(
        core,
        ["It is", f"token {token} ok"],
        ["Here", "-----BEGIN PRIVATE KEY-----\nMIIEvQ", "AbCd\n-----END PRIVATE KEY-----"],
    )
    await core.append(
        ALICE, "s2", AppendInput(messages=[{"role": "user", "content": text_parts("It is", token)}])
    )
    messages, appended = await read(core), await read(core, "s2")
    assert [part["text"] for part in messages[0].parts] == messages[0].content.split("\n")
    assert [part["text"] for part in appended[0].parts] == appended[0].content.split("\n")
    for message in (*messages, *appended):
        assert "\n".join(part["text"] for part in message.parts) == message.content
        assert token not in str(message.public())
        assert "MIIEvQ" not in str(message.public())


async def test_an_import_brings_the_parts(world: World, core: MemoryCore) -> None:
    await tell(core, TOLD)
    await core.append(ALICE, "s2", AppendInput(messages=[{"role": "user", "content": TOLD}]))
    await Hand(core).work_all()
    task = await brought(world, core, await exported(world, core))
    assert task.status == "succeeded", task.error
    assert await parts(core, owner=BOB) == [text_parts(*TEXTS)]
    assert await parts(core, "s2", BOB) == [TOLD]
