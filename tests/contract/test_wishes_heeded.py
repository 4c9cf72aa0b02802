"""What people ask of the memory in a conversation: standing instructions, their end,
and requests to forget.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.requests.memories import (
    ContextInput,
    ConverseInput,
    ListInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
)
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.telling import formed, tell
from tests.world import BOB, World

DAY = timedelta(days=1)


async def instructions(core: MemoryCore, owner: Owner = ALICE) -> list[str]:
    page = await core.list(owner, ListInput(type=MemoryType.PROCEDURAL))
    return sorted(memory.content for memory in page.memories)


async def living(core: MemoryCore, owner: Owner = ALICE) -> dict[str, Memory]:
    return {memory.id: memory for memory in (await core.list(owner, ListInput(limit=100))).memories}


def texts(memories: dict[str, Memory]) -> str:
    return "\n".join(
        f"{memory.content} {memory.episode} {[fact.text for fact in memory.atomic_facts]}"
        for memory in memories.values()
    )


async def test_an_instruction_stands_in_every_context_until_it_is_lifted(core: MemoryCore) -> None:
    task = await tell(core, "Always use metric units, please. How far is Rome?", session="s1")
    assert task.result is not None
    (instruction,) = task.result["instructions"]["instructed"]
    assert (await core.get(ALICE, instruction)).category == "instruction"
    context = await core.context(
        ALICE, ContextInput(query="Which film shall I watch?", session_id="s9")
    )
    assert context.context.split("\n")[1] == "Standing instructions of the user:"
    assert context.parts[0].kind == "instructions"
    assert context.parts[0].ids == (instruction,)
    assert await instructions(core, BOB) == []
    task = await tell(core, "You can use imperial units again.", session="s2", at=NOW + DAY)
    assert task.result is not None
    assert task.result["instructions"] == {"withdrawn": [instruction]}
    context = await core.context(
        ALICE, ContextInput(query="Which film shall I watch?", session_id="s9")
    )
    assert "Standing instructions" not in context.context


@pytest.mark.parametrize(
    ("lines", "request_text", "stays"),
    [
        (
            [("Brown", "My phone number is 555-0101."), ("Clark", "My phone number is 555-0202.")],
            "Forget what I said about my phone number.",
            "555-0101",
        ),
        ([("Brown", "My salary is 9,000 EUR.")], "Please forget my salary.", "9,000"),
        ([("Brown", "My salary is 9,000 EUR.")], "Please forget the salary.", "9,000"),
    ],
)
async def test_a_request_forgets_nothing_that_another_person_of_the_account_told(
    core: MemoryCore, lines: list[tuple[str, str]], request_text: str, stays: str
) -> None:
    for number, (actor, text) in enumerate(lines):
        await tell_as(core, actor, text, f"s{number}", NOW)
    before = await living(core)
    await tell_as(core, "Clark", request_text, "s9", NOW + DAY)
    after = await living(core)
    gone = [memory.content for name, memory in before.items() if name not in after]
    assert [text for text in gone if stays in text] == []
    assert bool(gone) == (len(lines) > 1)


@pytest.mark.parametrize(
    "request_text", ["Forget everything about Ana.", "Forget that Ana lives in Leeds."]
)
async def test_what_a_person_told_of_herself_is_asked_back_of_another(
    core: MemoryCore, request_text: str
) -> None:
    await tell_as(core, "Ana", "I live in Leeds.", "s1", NOW)
    await tell_as(core, "Ben", "I live in Rome.", "s2", NOW)
    before = await living(core)
    task = await tell_as(core, "Ben", request_text, "s9", NOW + DAY)
    assert before.keys() <= (await living(core)).keys()
    assert task.result is not None
    assert [each["status"] for each in task.result["forgetting"]] == ["pending"]
    await tell_as(core, "Ana", "Forget that I live in Leeds.", "s10", NOW + 2 * DAY)
    contents = {memory.content for memory in (await living(core)).values()}
    assert contents.isdisjoint({"I live in Leeds.", "Ana lives in Leeds"})


async def test_what_a_person_told_of_herself_beside_another_is_asked_back(core: MemoryCore) -> None:
    messages = [
        {"role": "user", "content": "I live in Leeds.", "actor": "Ana"},
        {"role": "user", "content": "I live in Rome.", "actor": "Ben"},
        {"role": "assistant", "content": "Noted."},
    ]
    dated = [{**message, "timestamp": NOW.isoformat()} for message in messages]
    asked = ConverseInput.model_validate({"session_id": "s1", "messages": dated})
    await formed(core, await core.converse(ALICE, asked))
    before = await living(core)
    await tell_as(core, "Ben", "Forget that Ana lives in Leeds.", "s9", NOW + DAY)
    assert before.keys() <= (await living(core)).keys()


async def test_a_request_without_a_name_forgets_nothing_of_a_person_with_one(
    core: MemoryCore,
) -> None:
    await tell_as(core, "Ana", "My salary is 9,000 EUR.", "s1", NOW)
    before = await living(core)
    await tell(core, "Please forget my salary.", session="s2", at=NOW + DAY)
    assert before.keys() <= (await living(core)).keys()


async def tell_as(core: MemoryCore, actor: str, text: str, session: str, at: datetime) -> Task:
    """Tell one message of a person who shares the account."""
    message = {"role": "user", "content": text, "actor": actor, "timestamp": at.isoformat()}
    asked = ConverseInput.model_validate({"session_id": session, "messages": [message]})
    return await formed(core, await core.converse(ALICE, asked))


async def test_a_context_with_room_tells_every_rule(core: MemoryCore) -> None:
    things = ("tabs", "pnpm", "lint", "tests", "types", "names", "dates", "async", "hooks", "tags")
    rules = [
        f"Never commit without a look at the {thing} of the {step}."
        for thing in things
        for step in ("old code", "new code", "docs")
    ]
    for rule in rules:
        key = rule.replace(" ", "-")
        await core.save(
            ALICE,
            SaveInput(type=MemoryType.PROCEDURAL, key=key, content=rule, category="instruction"),
        )
    context = (await core.context(ALICE, ContextInput(query="Hello"))).context
    assert [rule for rule in rules if rule not in context] == []
    small = await core.context(ALICE, ContextInput(query="Hello", max_tokens=400))
    assert sum(rule in small.context for rule in rules) < len(rules)
    assert small.left_out


async def test_the_same_instruction_told_again_is_one_and_its_opposite_takes_its_place(
    core: MemoryCore, world: World
) -> None:
    await tell(core, "Always use metric units.", session="s1")
    world.clock.forward(DAY.total_seconds())
    await tell(core, "always use metric units", session="s2", at=NOW + DAY)
    assert len(await instructions(core)) == 1
    world.clock.forward(DAY.total_seconds())
    await tell(core, "Never use metric units.", session="s3", at=NOW + 2 * DAY)
    assert await instructions(core) == ["Never use metric units."]


async def test_an_instruction_that_names_its_end_is_over_then(
    core: MemoryCore, world: World
) -> None:
    await tell(core, "Until Sunday please answer only in French, I'm practicing.", session="s1")
    await tell(core, "Always use metric units.", session="s2")
    query = ContextInput(query="Which film shall I watch?", session_id="s9")
    assert "French" in (await core.context(ALICE, query)).context
    world.clock.forward(4 * DAY.total_seconds())
    later = (await core.context(ALICE, query)).context
    assert "French" not in later
    assert "metric" in later


@pytest.mark.parametrize(
    ("wish", "end"),
    [
        ("could you always end with a one line summary?", "drop the summary, it got repetitive"),
        ("Always answer with a joke at the end.", "you can skip the jokes from now on"),
        ("Always start with a joke.", "no more jokes please"),
        ("Bitte nutze immer Emojis.", "bitte keine emojis mehr"),
        ("Immer mit Beispiel antworten, bitte.", "die beispiele kannst du dir sparen"),
    ],
)
async def test_an_end_in_passing_is_heard_by_the_words_of_what_stands(
    core: MemoryCore, wish: str, end: str
) -> None:
    await tell(core, wish, session="s1")
    await tell(core, "Never mention my ex.", session="s2", at=NOW + DAY)
    assert len(await instructions(core)) == 2
    await tell(core, end, session="s3", at=NOW + 2 * DAY)
    assert await instructions(core) == ["Never mention my ex."]
    await tell(core, "I can skip the soup, thanks.", session="s4", at=NOW + 3 * DAY)
    assert await instructions(core) == ["Never mention my ex."]


async def test_what_stops_nothing_that_stands_is_an_instruction(core: MemoryCore) -> None:
    await tell(core, "Stop using emojis.")
    assert await instructions(core) == ["Stop using emojis."]


async def test_a_context_can_do_without_instructions(core: MemoryCore) -> None:
    await tell(core, "Always use metric units.")
    context = await core.context(ALICE, ContextInput(query="Rome", parts=["turns"]))
    assert "Standing instructions" not in context.context


async def test_a_request_about_what_was_told_before_finds_it_in_the_earlier_messages(
    world: World,
) -> None:
    core = await world.core_by_rules()
    await tell(core, "Ich hatte im Mai eine Fehlgeburt.", "Ich habe einen Hund.", session="s1")
    asked = "Ich habe dir was erzählt, das mit der Fehlgeburt. Vergiss das bitte wieder."
    task = await tell(core, asked, session="s2", at=NOW + DAY)
    assert task.result is not None
    (request,) = task.result["forgetting"]
    assert request["status"] == "done"
    assert request["memory_ids"]
    assert "Fehlgeburt" not in texts(await living(core))


async def test_what_is_to_be_forgotten_goes_with_all_that_was_formed_of_it(
    core: MemoryCore,
) -> None:
    await tell(core, "My salary is 4,200 euros a month.", "I have a dog called Rex.", session="s1")
    await tell(core, "I live in Bonn.", session="s2", at=NOW + DAY)
    task = await tell(
        core, "Please forget what I told you about my salary.", session="s3", at=NOW + 2 * DAY
    )
    assert task.result is not None
    (request,) = task.result["forgetting"]
    assert request["status"] == "done"
    text = texts(await living(core))
    assert "4,200" not in text
    assert "salary" not in text
    assert "Rex" in text
    assert "Bonn" in text
    answer = await core.retrieve(ALICE, RetrieveInput(query="What is my salary?"))
    assert not [result for result in answer.results if "salary" in result.memory.content]
    gone = [await core.get(ALICE, name) for name in request["memory_ids"]]
    assert {(memory.status, memory.status_reason) for memory in gone} == {
        (Status.DELETED, "forgotten")
    }
    for name in request["memory_ids"]:
        await core.set_status(ALICE, name, StatusInput(status=Status.ACTIVE))
    assert "4,200" in texts(await living(core))


async def test_a_request_forgets_what_its_own_conversation_told_before(core: MemoryCore) -> None:
    await tell(
        core,
        "Gerd is my landlord.",
        "My sister Lena plays the violin.",
        "Delete everything about Gerd.",
    )
    text = texts(await living(core))
    assert "Gerd" not in text
    assert "Lena" in text


@pytest.mark.parametrize(
    ("told_before", "stays", "goes"),
    [
        ("Gerd is my landlord. I live in Oslo.", "User lives in Oslo", "Gerd"),
        ("Gerd is my landlord. He lives in Oslo and I live there too.", None, "Oslo"),
        ("Gerd is my landlord and I live in Oslo with Gerd.", None, "Oslo"),
        ("Gerd is my landlord and I live in his flat in Oslo.", None, "Oslo"),
        ("Gerd is my landlord, also I live in Oslo.", "User lives in Oslo", "Gerd"),
        ("Gerd is my landlord and I like tea.", "User likes tea", "Gerd"),
        ("Gerd is my landlord. My sister Edith has a bakery.", "User's sister Edith has", "Gerd"),
        ("Gerd is my landlord. Edith has a bakery.", None, "Edith"),
    ],
)
async def test_a_fact_of_another_sentence_stays_when_its_message_goes(
    world: World, told_before: str, stays: str | None, goes: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, told_before, session="s1")
    task = await tell(core, "Delete everything about Gerd.", session="s2", at=NOW + DAY)
    assert task.result is not None
    (request,) = task.result["forgetting"]
    left = await living(core)
    assert goes not in texts(left)
    if stays is None:
        assert not left
    else:
        assert any(stays in memory.content for memory in left.values())
    (message,) = [name for name in request["memory_ids"] if name.startswith("msg_")]
    assert (await core.get(ALICE, message)).status is Status.DELETED
    for name in request["memory_ids"]:
        await core.set_status(ALICE, name, StatusInput(status=Status.ACTIVE))
    assert "Gerd" in texts(await living(core))


async def test_somebody_of_the_speaker_stays_when_another_sentence_is_forgotten(
    world: World,
) -> None:
    core = await world.core_by_rules()
    await tell(core, "My husband is called Arne. My locker code is 4471.", session="s1")
    await tell(core, "Please forget my locker code.", session="s2", at=NOW + DAY)
    left = texts(await living(core))
    assert "Arne" in left
    assert "4471" not in left


@pytest.mark.parametrize(
    "before", [[], ["Always use metric units.", "My boss is called Kim."]], ids=["alone", "more"]
)
async def test_what_the_same_call_told_is_listed_and_restored(
    core: MemoryCore, before: list[str]
) -> None:
    task = await tell(core, *before, "I live in Oslo.", "Forget where I live.")
    assert task.status == "succeeded"
    assert task.result is not None
    assert ("instructions" in task.result) is bool(before)
    (request,) = task.result["forgetting"]
    assert request["status"] == "done"
    assert "Oslo" not in texts(await living(core))
    for name in request["memory_ids"]:
        await core.set_status(ALICE, name, StatusInput(status=Status.ACTIVE))
    assert "Oslo" in texts(await living(core))


async def test_what_only_an_assistant_calls_by_its_name_is_asked_back(core: MemoryCore) -> None:
    line = "i earn 61k at Brightwater, negotiating next week. tips?"
    await tell(core, line, ("assistant", "Prepare comparable salaries."), session="s1")
    task = await tell(core, "can you wipe the bit about my salary?", session="s2", at=NOW + DAY)
    assert task.result is not None
    (request,) = task.result["forgetting"]
    assert request["status"] == "pending"
    assert line in texts(await living(core))
    named = [(await core.get(ALICE, name)).content for name in request["memory_ids"]]
    assert any("61k" in content for content in named)


async def test_a_fact_that_another_episode_told_too_stays(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "I live in Oslo.", session="s1")
    await tell(core, "Gerd is my landlord. I live in Oslo.", session="s2", at=NOW + DAY)
    await tell(core, "Delete everything about Gerd.", session="s3", at=NOW + 2 * DAY)
    text = texts(await living(core))
    assert "User lives in Oslo" in text
    assert "Gerd" not in text


async def test_a_request_that_was_carried_out_leaves_nothing_about_the_asking(
    core: MemoryCore,
) -> None:
    await tell(core, "Gerd is my landlord.", session="s1")
    alone = await tell(
        core,
        "Please forget everything about Gerd.",
        ("assistant", "Done."),
        session="s2",
        at=NOW + DAY,
    )
    assert alone.result is not None
    assert [cell["memory_ids"] for cell in alone.result["cells"]] == [[]]
    await tell(core, "I have a horse called Rex.", session="s3", at=NOW + 2 * DAY)
    await tell(
        core,
        "My sister Lena plays the violin. Please delete everything about Rex.",
        session="s4",
        at=NOW + 3 * DAY,
    )
    memories = await living(core)
    assert "Lena" in texts(memories)
    retrieved_answer = "\n".join(
        memory.model_dump_json(exclude={"metadata"}) for memory in memories.values()
    )
    assert "asked to forget" not in retrieved_answer
    answer = await core.retrieve(
        ALICE,
        RetrieveInput(
            query="What was the memory asked to forget about Gerd?", similarity_threshold=0.0
        ),
    )
    assert not [
        result
        for result in answer.results
        if "asked to forget" in result.memory.content or "Gerd" in result.memory.content
    ]


async def test_what_a_request_also_told_is_quoted_beside_the_turns_of_its_cell(
    core: MemoryCore,
) -> None:
    await tell(core, "I have a horse called Rex.", session="s1")
    await tell(
        core,
        "On Sundays we cook lasagne with lots of spinach. Please delete everything about Rex.",
        ("assistant", "Done. How is the lasagne made?"),
        "The lasagne takes three hours in the old oven.",
        session="s2",
        at=NOW + DAY,
    )
    query = ContextInput(query="What goes into the lasagne?", session_id="s9")
    context = (await core.context(ALICE, query)).context
    assert "user: On Sundays we cook lasagne with lots of spinach." in context
    assert "Rex" not in context
    assert context.count("three hours") == 1


async def test_a_rule_for_a_coding_agent_ends_when_the_work_is_fine_again(core: MemoryCore) -> None:
    await tell(core, "Never push to main. Always use metric units.", session="s1")
    await tell(
        core,
        "I'm solo on this project now, so pushing to main is fine from now on.",
        session="s2",
        at=NOW + DAY,
    )
    assert await instructions(core) == ["Always use metric units."]


@pytest.mark.parametrize(
    ("wish", "permission"),
    [
        ("From now on write commit messages in the imperative.", "You may push to main again."),
        ("From now on write commit messages in the imperative.", "You can deploy again."),
        ("From now on write commit messages in the imperative.", "You may use the cache again."),
        ("Always answer in bullet points.", "You can use default exports again."),
        ("Never mention my ex.", "It's fine to restart the worker now."),
        ("Antworte immer auf Deutsch.", "Du darfst wieder auf main pushen."),
        ("Never push to main.", "The docs say you can push to main again."),
        ("Never push to main.", "In der Doku steht, dass du wieder auf main pushen darfst."),
        ("いつも英語で返事してください", "この文を日本語に戻してください。"),
        ("いつも短く答えてください", "また本番にデプロイしていいですよ"),
        ("Please always address me as Dr. Okafor.", "Do not call me by phone, email only please."),
        ("Call me Max.", "Never call me before 9."),
    ],
)
async def test_a_permission_for_another_thing_ends_no_instruction(
    core: MemoryCore, wish: str, permission: str
) -> None:
    await tell(core, wish, session="s1")
    (instruction,) = await instructions(core)
    await tell(core, permission, session="s2", at=NOW + DAY)
    assert instruction in await instructions(core)


@pytest.mark.parametrize(
    ("wish", "permission"),
    [
        ("Never push to main.", "You may push to main again."),
        ("Never mention my ex.", "It's fine to mention my ex now."),
        ("Always use metric units.", "You can use imperial units again."),
        ("Bitte nutze nie Emojis.", "Du darfst wieder Emojis benutzen."),
        ("いつも短く答えてください", "もう短くなくていいです"),
    ],
)
async def test_a_permission_ends_the_instruction_about_the_same(
    core: MemoryCore, wish: str, permission: str
) -> None:
    await tell(core, wish, session="s1")
    assert await instructions(core) == [wish]
    await tell(core, permission, session="s2", at=NOW + DAY)
    assert await instructions(core) == []


async def test_a_quoted_instruction_that_was_withdrawn_is_marked(core: MemoryCore) -> None:
    await tell(core, "Always answer in German.", session="s1")
    await tell(core, "I live in Linz and please never use emojis.", session="s2")
    await tell(core, "You can answer in English again.", session="s3", at=NOW + DAY)
    asked = ContextInput.model_validate({"query": "Do I want answers in German? Emojis in Linz?"})
    text = (await core.context(ALICE, asked)).context
    assert "Always answer in German. (withdrawn)" in text
    assert text.count("withdrawn") == 1


async def test_a_request_that_is_denied_forgets_nothing(core: MemoryCore) -> None:
    await tell(core, "Mein Gehalt ist 4000 Euro.", session="s1")
    task = await tell(
        core, "Lösch mein Gehalt nicht aus deinem Gedächtnis.", session="s2", at=NOW + DAY
    )
    assert task.result is not None
    assert "forgetting" not in task.result
    assert "4000" in texts(await living(core))


async def test_what_is_told_after_a_request_stays(core: MemoryCore) -> None:
    await tell(core, "Gerd is my landlord.", session="s1")
    await tell(
        core, "Delete everything about Gerd.", "Gerd is my new dentist.", session="s2", at=NOW + DAY
    )
    text = texts(await living(core))
    assert "landlord" not in text
    assert "dentist" in text


async def test_words_of_an_assistant_forget_nothing(core: MemoryCore) -> None:
    await tell(core, "Gerd is my landlord.", session="s1")
    task = await tell(
        core, ("assistant", "Delete everything about Gerd."), session="s2", at=NOW + DAY
    )
    assert task.result is not None
    assert "forgetting" not in task.result
    assert "Gerd is my landlord" in texts(await living(core))


async def test_nobody_else_is_forgotten(core: MemoryCore) -> None:
    await tell(core, "Gerd is my landlord.", session="s1", owner=BOB)
    await tell(core, "Gerd is my landlord.", session="s1")
    await tell(core, "Delete everything about Gerd.", session="s2", at=NOW + DAY)
    assert "Gerd" in texts(await living(core, BOB))
    assert "Gerd" not in texts(await living(core))


async def test_a_request_that_names_nothing_that_is_known_asks_back_with_what_was_told_last(
    core: MemoryCore,
) -> None:
    await tell(core, "I have a dog called Rex.", session="s1")
    task = await tell(core, "Delete everything about Wilhelmine.", session="s2", at=NOW + DAY)
    assert task.result is not None
    (request,) = task.result["forgetting"]
    assert request["status"] == "pending"
    contents = [(await core.get(ALICE, name)).content for name in request["memory_ids"]]
    assert any("Rex" in content for content in contents)
    assert not [content for content in contents if "Wilhelmine" in content]
    assert "Rex" in texts(await living(core))


async def test_a_request_in_other_words_than_those_of_what_was_told_asks_back(
    core: MemoryCore,
) -> None:
    await tell(core, "I make 67,500 a year before tax.", session="s1")
    task = await tell(
        core,
        "My exact pay is nobody's business, so please lose that one.",
        session="s2",
        at=NOW + DAY,
    )
    assert task.result is not None
    (request,) = task.result["forgetting"]
    assert request["status"] == "pending"
    assert "67,500" in "".join(
        [(await core.get(ALICE, name)).content for name in request["memory_ids"]]
    )
    assert "67,500" in texts(await living(core))


SALARY = ("My salary is 4,200 euros a month.", ("assistant", "Noted: 4,200 euros a month."))
REX = ("I have a dog called Rex.", ("assistant", "Rex is a lovely name for a dog."))


async def test_what_an_assistant_repeated_of_it_goes_along(core: MemoryCore) -> None:
    await tell(core, *SALARY, *REX, session="s1")
    await tell(core, "Please forget what I told you about my salary.", session="s2", at=NOW + DAY)
    text = texts(await living(core))
    assert "4,200" not in text
    assert "I have a dog called Rex" in text
    assert "lovely name" in text


@pytest.mark.parametrize("same_call", [True, False])
async def test_what_an_assistant_answered_goes_along_in_whatever_words(
    core: MemoryCore, same_call: bool
) -> None:
    answer = ("assistant", "Congratulations on the pregnancy!")
    talk = ("My sister Ida is pregnant.", answer, *REX)
    request = "Please forget that Ida is pregnant."
    if same_call:
        await tell(core, *talk, request)
    else:
        await tell(core, *talk, session="s1")
        await tell(core, request, session="s2", at=NOW + DAY)
    text = texts(await living(core))
    assert "regnan" not in text
    assert "lovely name" in text


async def test_what_an_assistant_repeated_in_the_conversation_of_the_request_goes_along(
    core: MemoryCore,
) -> None:
    await tell(core, *SALARY, *REX, "Please forget what I told you about my salary.")
    text = texts(await living(core))
    assert "4,200" not in text
    assert "I have a dog called Rex" in text
    assert "lovely name" in text


async def test_restoring_what_was_forgotten_brings_all_of_it_back(core: MemoryCore) -> None:
    await tell(core, *SALARY, *REX, session="s1")
    before = {
        name: (memory.content, memory.episode, memory.cell_id)
        for name, memory in (await living(core)).items()
    }
    task = await tell(
        core, "Please forget what I told you about my salary.", session="s2", at=NOW + DAY
    )
    assert task.result is not None
    (request,) = task.result["forgetting"]
    for name in request["memory_ids"]:
        await core.set_status(ALICE, name, StatusInput(status=Status.ACTIVE))
    after = {
        name: (memory.content, memory.episode) for name, memory in (await living(core)).items()
    }
    assert {name: text_and_episode[:2] for name, text_and_episode in before.items()} == {
        name: text_and_episode for name, text_and_episode in after.items() if name in before
    }
    answer = await core.retrieve(ALICE, RetrieveInput(query="What is my salary?"))
    assert "4,200" in str(answer.results[0].memory)


async def test_what_was_answered_to_a_forgotten_message_is_not_found_by_its_words(
    core: MemoryCore,
) -> None:
    await tell(
        core,
        "My salary is 4,200 euros a month, is that a lot?",
        ("assistant", "Yes, quite."),
        session="s1",
    )

    async def found() -> str:
        hits = (
            await core.retrieve(
                ALICE, RetrieveInput(query="What is my salary?", similarity_threshold=0.1)
            )
        ).results
        return "\n".join(
            text
            for hit in hits
            for text in (hit.memory.content, *(passage.text for passage in hit.passages))
        )

    assert "Yes, quite." in await found()
    task = await tell(
        core, "Please forget what I told you about my salary.", session="s3", at=NOW + 2 * DAY
    )
    assert task.result is not None
    assert "Yes, quite." not in await found()
    for name in task.result["forgetting"][0]["memory_ids"]:
        await core.restore(ALICE, name)
    assert "Yes, quite." in await found()


async def test_a_request_that_is_asked_back_stays_as_it_was_said(core: MemoryCore) -> None:
    await tell(core, "My appointment with the dentist is on Monday.", session="s1")
    await tell(core, "My appointment with the bank is on Friday.", session="s2", at=NOW + DAY)
    asked = "Please forget my appointment."
    task = await tell(core, asked, session="s3", at=NOW + 2 * DAY)
    assert task.result is not None
    (request,) = task.result["forgetting"]
    assert request["status"] == "pending"
    assert len(request["memory_ids"]) >= 2
    text = texts(await living(core))
    assert "dentist" in text
    assert "bank" in text
    assert asked in text


async def test_a_request_that_names_nothing_stays_as_it_was_said(core: MemoryCore) -> None:
    task = await tell(core, "Delete everything about Wilhelmine.")
    assert task.result is not None
    assert [request["status"] for request in task.result["forgetting"]] == ["nothing_found"]
    assert "Wilhelmine" in texts(await living(core))


async def test_to_forget_what_was_said_of_an_instruction_lifts_it(core: MemoryCore) -> None:
    await tell(core, "Always use metric units.", session="s1")
    task = await tell(
        core, "Please forget what I said about metric units.", session="s2", at=NOW + DAY
    )
    assert task.result is not None
    assert "forgetting" not in task.result
    assert await instructions(core) == []


async def test_a_year_later_an_instruction_stands_and_what_was_forgotten_is_hidden_and_comes_back(
    core: MemoryCore, world: World
) -> None:
    await tell(core, "Always use metric units.", *SALARY, session="s1")
    world.clock.forward(86400)
    task = await tell(
        core, "Please forget what I told you about my salary.", session="s2", at=world.clock.now()
    )
    assert task.result is not None
    (request,) = task.result["forgetting"]
    world.clock.forward(365 * 86400)
    context = await core.context(ALICE, ContextInput(query="What is my salary?", session_id="s9"))
    assert "Always use metric units." in context.context
    assert "4,200" not in context.context
    for name in request["memory_ids"]:
        await core.set_status(ALICE, name, StatusInput(status=Status.ACTIVE))
    assert "4,200" in texts(await living(core))
    await tell(core, "You can use imperial units again.", session="s3", at=world.clock.now())
    assert await instructions(core) == []


@pytest.mark.parametrize("mode", ["soft", "hard"])
async def test_an_instruction_goes_with_the_message_that_gave_it(
    core: MemoryCore, mode: str
) -> None:
    await tell(core, "Please never mention Sabine to me again.", session="s1")
    await tell(core, "Always use metric units.", session="s2", at=NOW + DAY)
    page = await core.list(ALICE, ListInput(type=MemoryType.PROCEDURAL))
    given = {memory.content: memory for memory in page.memories}
    sabine = given["Please never mention Sabine to me again."]
    task = await forgotten(core, mode, ids=[sabine.metadata["message_id"]])
    assert task.result is not None
    assert task.result["counts"]["forgotten"] == 2
    assert await instructions(core) == ["Always use metric units."]
    context = await core.context(ALICE, ContextInput(query="hi", session_id="s9"))
    assert "Sabine" not in context.context


async def test_an_instruction_is_taken_back_with_its_turn(core: MemoryCore) -> None:
    await tell(core, "I have a parrot.", session="s1")
    await tell(core, "From now on always answer in Latin.", session="s1", at=NOW + DAY)
    taken = await core.take_back(ALICE, "s1")
    assert [message.content for message in taken.messages] == [
        "From now on always answer in Latin."
    ]
    assert await instructions(core) == []


async def test_a_request_that_was_carried_out_is_a_turn_of_its_own(core: MemoryCore) -> None:
    bike = "My bike is locked at the station, code 7731."
    await tell(core, bike, session="s1")
    await tell(core, "My salary is 5200 euros.", session="s2", at=NOW + DAY)
    request = "Please forget what I told you about my salary."
    await tell(core, request, session="s1", at=NOW + 2 * DAY)
    assert (await core.take_back(ALICE, "s1")).messages == ()
    await tell(core, "My salary is 5300 euros now.", session="s2", at=NOW + 3 * DAY)
    await tell(core, request, ("assistant", "Done."), session="s1", at=NOW + 4 * DAY)
    assert [message.content for message in (await core.take_back(ALICE, "s1")).messages] == [
        "Done."
    ]
    assert [message.content for message in (await core.session_messages(ALICE, "s1")).messages] == [
        bike
    ]
