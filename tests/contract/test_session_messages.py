"""What was told in a session is read back message by message, and a history that is sent again adds
only what is new.
"""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import NotFound
from memory_core.domain.requests.maintenance import BatchInput
from memory_core.domain.requests.memories import ClearInput, ConverseInput
from memory_core.domain.results import Accepted, Told
from memory_core.domain.text.fence import fenced
from tests.builders import ALICE, NOW, RunningClock
from tests.tasks import Hand
from tests.world import World, turn

SAID = [
    ("user", "My parrot Coco bites the postman"),
    ("assistant", "Oh dear, keep the cage closed"),
    ("user", "The postman brought a parcel of walnuts"),
    ("assistant", "Coco will like them"),
    ("user", "She does, she does"),
    ("assistant", "Good bird"),
]


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(clock=RunningClock())


async def tell(
    core: MemoryCore, contents: list[tuple[str, str]], session_id: str | None = "s1", **fields: Any
) -> Accepted:
    messages = [{"role": role, "content": content, **fields} for role, content in contents]
    return await core.converse(
        ALICE, ConverseInput.model_validate({"session_id": session_id, "messages": messages})
    )


async def read_back(core: MemoryCore, **query: Any) -> list[tuple[str, str]]:
    """All pages of the session's messages."""
    messages, cursor = [], None
    while True:
        page = await core.session_messages(ALICE, "s1", cursor, **{"limit": 4, **query})
        messages += [(message.role, message.content) for message in page.messages]
        cursor = page.next_cursor
        if cursor is None:
            return messages


async def test_a_session_is_read_back_in_the_order_of_telling(core: MemoryCore) -> None:
    await tell(core, SAID[:2])
    await tell(core, SAID[2:])
    assert await read_back(core) == SAID
    assert await read_back(core, newest_first=True) == SAID[::-1]
    await Hand(core).work_all()
    assert await read_back(core) == SAID, "forming changes nothing in it"


async def test_messages_of_an_unknown_session_are_not_found(core: MemoryCore) -> None:
    with pytest.raises(NotFound):
        await core.session_messages(ALICE, "nowhere")


@pytest.mark.parametrize("formed", [False, True])
async def test_a_growing_history_adds_what_is_new(core: MemoryCore, formed: bool) -> None:
    answers = []
    for end in range(1, len(SAID) + 1):
        answers.append((await tell(core, SAID[:end])).messages)
        if formed:
            await Hand(core).work_all()
    assert answers == [Told(1, known) for known in range(len(SAID))]
    assert await read_back(core) == SAID


@pytest.mark.parametrize(("window", "step"), [(3, 1), (2, 1), (4, 2), (3, 2)])
@pytest.mark.parametrize("front", [[], [("system", "You are a postman.")]])
async def test_a_sliding_window_adds_what_is_new(
    core: MemoryCore, window: int, step: int, front: list[tuple[str, str]]
) -> None:
    for end in range(step, len(SAID) + step, step):
        await tell(core, [*front, *SAID[max(0, end - window) : end]])
    assert await read_back(core) == [*front, *SAID]


async def test_a_context_that_is_told_back_is_no_memory(core: MemoryCore) -> None:
    """A prompt with what is remembered in it is the same prompt, whatever that is; and what is
    remembered is not what was said.
    """
    for number in range(1, 4):
        context = fenced(f"2026-05-08\n[1] Ana: My locker code is 551{number}.")
        front = [("system", f"You are a postman.\n{context}"), ("developer", context)]
        accepted = await tell(core, [*front, *SAID[:number]])
        assert accepted.messages == Told(1 + (number == 1), 0 if number == 1 else number)
    assert await read_back(core) == [("system", "You are a postman."), *SAID[:3]]


async def test_a_repeated_turn_is_new_on_another_day(core: MemoryCore) -> None:
    for day in range(1, 4):
        messages = [
            {"role": "user", "content": "Took my pill."},
            {"role": "assistant", "content": "Well done!"},
        ]
        timed = [
            {**message, "timestamp": f"2026-05-0{day}T08:00:0{place}Z"}
            for place, message in enumerate(messages)
        ]
        conversation = ConverseInput.model_validate({"session_id": "s1", "messages": timed})
        assert (await core.converse(ALICE, conversation)).messages == Told(2, 0)
        assert (await core.converse(ALICE, conversation)).messages == Told(0, 2)
    assert len(await read_back(core)) == 6


async def test_a_tools_result_is_known_again_without_its_call(core: MemoryCore) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'},
    }
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "What is the weather in Porto?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "18 degrees"},
        {"role": "assistant", "content": "It is 18 degrees."},
        {"role": "user", "content": "Thanks"},
    ]
    for end in range(1, len(messages) + 1):
        await core.converse(
            ALICE,
            ConverseInput.model_validate(
                {"session_id": "s1", "messages": messages[max(0, end - 2) : end]}
            ),
        )
    assert [content for _, content in await read_back(core)][1:4] == [
        'get_weather({"city": "Porto"})',
        "get_weather: 18 degrees",
        "It is 18 degrees.",
    ]
    assert len(await read_back(core)) == len(messages)


async def test_the_same_call_again_names_the_task_of_the_first(core: MemoryCore) -> None:
    first = await tell(core, SAID)
    again = await tell(core, SAID)
    assert (again.task_id, again.messages) == (first.task_id, Told(0, len(SAID)))
    assert await read_back(core) == SAID


async def test_a_message_of_a_known_id_is_known_wherever_it_stands(core: MemoryCore) -> None:
    def numbered(numbers: list[int]) -> ConverseInput:
        messages = [
            {"role": SAID[number][0], "content": SAID[number][1], "id": f"m{number}"}
            for number in numbers
        ]
        return ConverseInput.model_validate({"session_id": "s1", "messages": messages})

    await core.converse(ALICE, numbered([0, 1, 2]))
    again = await core.converse(ALICE, numbered([1, 3, 0]))
    assert again.messages == Told(1, 2)
    assert await read_back(core) == SAID[:4]
    page = await core.session_messages(ALICE, "s1")
    assert [message.id for message in page.messages] == ["m0", "m1", "m2", "m3"]


async def test_the_same_words_later_are_new(core: MemoryCore) -> None:
    await tell(core, [("user", "hi"), ("assistant", "Hello, how are you?")])
    assert (await tell(core, [("user", "hi")])).messages == Told(1, 0)


async def test_a_cleared_session_is_told_anew(core: MemoryCore) -> None:
    await tell(core, SAID)
    await core.clear(ALICE, ClearInput(session_id="s1"))
    assert (await tell(core, SAID)).messages == Told(len(SAID), 0)
    assert await read_back(core) == SAID


async def test_one_message_said_again_at_a_later_time_is_new(core: MemoryCore) -> None:
    messages = [("user", "I live in Oslo")]
    assert (await tell(core, messages, timestamp="2026-05-01T10:00:00Z")).messages == Told(1, 0)
    assert (await tell(core, messages, timestamp="2026-05-01T10:00:00Z")).messages == Told(0, 1)
    assert (await tell(core, messages)).messages == Told(0, 1)
    assert (await tell(core, messages, timestamp="2026-05-08T10:00:00Z")).messages == Told(1, 0)


async def test_gathered_messages_are_handed_over_though_another_turn_was_saved_meanwhile(
    core: MemoryCore,
) -> None:
    for number in range(29):
        messages = [{"role": "user", "content": f"line {number}", "timestamp": NOW.isoformat()}]
        await core.batch(
            ALICE, BatchInput.model_validate({"session_id": "s1", "messages": messages})
        )
    await core.save(ALICE, turn("between them"))
    last = [{"role": "user", "content": "line 29", "timestamp": NOW.isoformat()}]
    await core.batch(ALICE, BatchInput.model_validate({"session_id": "s1", "messages": last}))
    assert [content for _, content in await read_back(core)] == [
        f"line {number}" for number in range(30)
    ]


async def test_long_messages_that_were_gathered_are_known_again(core: MemoryCore) -> None:
    messages = [
        ("user", f"line {number}: " + "all work and no play " * 1_500) for number in range(29)
    ]
    gathered = [{"role": role, "content": content} for role, content in messages]
    await core.batch(ALICE, BatchInput.model_validate({"session_id": "s1", "messages": gathered}))
    assert (await tell(core, [*messages, ("user", "and one more")])).messages == Told(1, 29)
