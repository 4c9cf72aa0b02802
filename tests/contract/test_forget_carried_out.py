"""What a request to forget takes along when it is carried out or confirmed, and what stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, ListInput, RetrieveInput
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.telling import tell
from tests.world import World

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
DAY = timedelta(days=1)
PREGNANT = "I live in Leeds. I'm pregnant, three months along."
SCHWANGER = "Ich wohne in Essen. Ich bin schwanger, im dritten Monat."
NINSHIN = "名古屋に住んでいます。今妊娠3ヶ月です。"
MARCUS = "I went for dinner with Marcus, we've been dating since August. He is a paramedic."
OLU = "And my friend Olu got a new job at the museum."
WHITBY = "Marcus and I are going to Whitby next month."


async def told_of(core: MemoryCore, *queries: str) -> str:
    """All that lists, retrieves and contexts tell."""
    page = await core.list(ALICE, ListInput(limit=100))
    texts = [memory.content for memory in page.memories]
    for query in queries:
        answer = await core.retrieve(ALICE, RetrieveInput(query=query, limit=10))
        texts += [result.memory.content for result in answer.results]
        for session in ("s2", "s9"):
            context = await core.context(ALICE, ContextInput(query=query, session_id=session))
            texts.append(context.context)
    return "\n".join(texts)


async def after_request(
    world: World, messages: Sequence[str], request: str
) -> tuple[MemoryCore, str]:
    """The core and the status of a request on the day after these messages."""
    core = await world.core_by_rules()
    await tell(core, *messages, session="s1", at=NOW)
    task = await tell(core, request, session="s2", at=NOW + DAY)
    requests = (task.result or {}).get("forgetting", [])
    return core, requests[0]["status"] if requests else "none"


@pytest.mark.parametrize(
    ("messages", "request_to_forget", "gone", "stays"),
    [
        (
            "Ich bin Chemikerin bei Bayer, wohne in Leverkusen und hab mich gerade bei Merck "
            "beworben.",
            "Vergiss bitte, dass ich mich bei Merck beworben habe, das soll nirgends stehen.",
            "Merck",
            "Bayer",
        ),
        (
            "Ich arbeite bei Lidl und habe mich bei Aldi beworben.",
            "Vergiss bitte, dass ich mich bei Aldi beworben habe.",
            "Aldi",
            "Lidl",
        ),
        (
            "I work at Siemens as an engineer, and I just applied at Arup.",
            "Please forget that I applied at Arup.",
            "Arup",
            "Siemens",
        ),
        (
            "トヨタで働いています。ホンダに応募しました。",
            "ホンダに応募したことは忘れてください。",
            "ホンダ",
            "トヨタ",
        ),
        (
            "My sister Nora lives in Oslo. My brother Ivar lives in Bergen.",
            "Forget everything about Nora.",
            "Nora",
            "Bergen",
        ),
    ],
)
async def test_a_fact_that_shares_only_little_words_stays(
    world: World, messages: str, request_to_forget: str, gone: str, stays: str
) -> None:
    core, status = await after_request(world, [messages], request_to_forget)
    assert status == "done"
    known = await told_of(core, "What do you know about me?")
    assert stays in known
    assert gone not in known


@pytest.mark.parametrize(
    ("messages", "request_to_forget", "gone"),
    [
        (PREGNANT, "Please forget that I'm pregnant. I haven't told anyone yet.", "pregnan"),
        (PREGNANT, "I haven't told anyone yet. Please forget that I'm pregnant.", "pregnan"),
        (
            SCHWANGER,
            "Vergiss bitte, dass ich schwanger bin. Ich hab es noch niemandem erzählt.",
            "schwanger",
        ),
        (NINSHIN, "妊娠のことは忘れてください。まだ誰にも言っていないので。", "妊娠"),
    ],
)
async def test_a_request_with_a_second_sentence_tells_nothing_of_what_it_forgot(
    world: World, messages: str, request_to_forget: str, gone: str
) -> None:
    core, status = await after_request(world, [messages], request_to_forget)
    assert status == "done"
    assert gone not in await told_of(
        core, "What do you know about me?", messages, request_to_forget
    )


@pytest.mark.parametrize(
    ("messages", "request_to_forget", "gone", "stays"),
    [
        (
            PREGNANT,
            "Please forget that I'm pregnant. I adopted a dog called Biscuit.",
            "pregnan",
            "Biscuit",
        ),
        (
            SCHWANGER,
            "Vergiss bitte, dass ich schwanger bin. Mein Hund heißt Fips.",
            "schwanger",
            "Fips",
        ),
        (NINSHIN, "妊娠のことは忘れてください。来週から大学院に通います。", "妊娠", "大学院"),
    ],
)
async def test_what_else_a_request_says_is_remembered(
    world: World, messages: str, request_to_forget: str, gone: str, stays: str
) -> None:
    core, status = await after_request(world, [messages], request_to_forget)
    assert status == "done"
    known = await told_of(core, "What do you know about me?", stays)
    assert stays in known
    assert gone not in known


@pytest.mark.parametrize(
    ("messages", "no_request"),
    [
        (PREGNANT, "Don't forget that I'm pregnant. No wine for me."),
        (PREGNANT, "I keep forgetting that I'm pregnant. So tired."),
        (PREGNANT, "Did you forget that I'm pregnant? I told you."),
        (PREGNANT, "My mother forgot that I'm pregnant. She is old."),
        (PREGNANT, "I can't forget that I'm pregnant. It hurts."),
        (SCHWANGER, "Vergiss nicht, dass ich schwanger bin. Also kein Wein."),
        (SCHWANGER, "Ich vergesse oft, dass ich schwanger bin. Lustig, oder?"),
        (SCHWANGER, "Hast du vergessen, dass ich schwanger bin? Kein Wein."),
        (NINSHIN, "妊娠のことは忘れないでください。お酒は飲めません。"),
        (NINSHIN, "妊娠のことを忘れていました。薬を飲んでしまいました。"),
    ],
)
async def test_what_only_speaks_of_forgetting_is_not_hidden(
    world: World, messages: str, no_request: str
) -> None:
    core, status = await after_request(world, [messages], no_request)
    assert status == "none"
    context = await core.context(ALICE, ContextInput(query="Hi!", session_id="s2"))
    assert no_request in context.context


async def with_marcus(world: World) -> MemoryCore:
    core = await world.core_by_rules()
    await tell(core, MARCUS, OLU, session="s0", at=NOW)
    await tell(core, WHITBY, session="s1", at=NOW + DAY)
    return core


async def test_a_pronoun_means_the_only_person_that_is_named_before_it(world: World) -> None:
    core = await with_marcus(world)
    request = "It's over with Marcus. Please forget everything about him."
    task = await tell(core, request, session="s2", at=NOW + 2 * DAY)
    assert task.result is not None
    assert task.result["forgetting"][0]["status"] == "done"
    known = await told_of(core, "Who is Marcus?", "What are my plans?", "What's new with Olu?")
    assert "Marcus" not in known
    assert "Whitby" not in known
    assert "Olu got a new job" in known


@pytest.mark.parametrize(
    "unclear",
    [
        "It's over with Marcus. I told Olu. Please forget everything about him.",
        "Olu called. It's over with Marcus. Please forget everything about him.",
        "I met him in Whitby. Please forget everything about him.",
        "The museum closed. Please forget everything about him.",
        "I was with Marcus and with Olu. Please forget everything about him.",
        "Please forget everything about him.",
        "Marcus. Please forget everything about him.",
        "Mit Marcus ist Schluss. Vergiss bitte alles über ihn.",
        "Olu und ich waren mit Marcus essen. Vergiss bitte alles über ihn.",
        "彼のことは全部忘れてください。",
    ],
)
async def test_a_pronoun_that_may_mean_another_person_is_asked_back(
    world: World, unclear: str
) -> None:
    core = await with_marcus(world)
    task = await tell(core, unclear, session="s2", at=NOW + 2 * DAY)
    requests = (task.result or {}).get("forgetting", [])
    assert all(request["status"] == "pending" for request in requests)
    known = await told_of(core, "Who is Marcus?", "What's new with Olu?")
    assert "paramedic" in known
    assert "Olu got a new job" in known


async def test_confirming_deletes_what_names_the_person_and_nothing_else(world: World) -> None:
    core = await with_marcus(world)
    request = "Mit Marcus ist Schluss. Vergiss bitte alles über ihn."
    task = await tell(core, request, session="s2", at=NOW + 2 * DAY)
    assert task.result is not None
    (pending,) = task.result["forgetting"]
    assert pending["status"] == "pending"
    await forgotten(core, ids=pending["memory_ids"])
    known = await told_of(core, "Who is Marcus?", "What are my plans?", "What's new with Olu?")
    assert "paramedic" not in known
    assert "Whitby" not in known
    assert "Olu got a new job" in known


@pytest.mark.parametrize(
    ("messages", "request_to_forget", "gone", "stays"),
    [
        (
            ["my bike is a green trek, lock code is 4471", "need to service it before winter"],
            "delete the lock code from your memory pls",
            "4471",
            "winter",
        ),
        (
            ["My salary is 4,200 a month.", "I like tea."],
            "delete my salary from your memory pls",
            "4,200",
            "tea",
        ),
        (
            ["Der Code für die Haustür ist 9274.", "Der Müll wird dienstags geholt."],
            "Lösch den Code für die Haustür bitte aus deinem Gedächtnis.",
            "9274",
            "dienstags",
        ),
        (
            ["暗証番号は5512です。", "ピアノを習っています。"],
            "暗証番号は記憶から消してください。",
            "5512",
            "ピアノ",
        ),
    ],
)
async def test_a_thing_to_delete_from_the_memory_is_forgotten_at_once(
    world: World, messages: Sequence[str], request_to_forget: str, gone: str, stays: str
) -> None:
    core, status = await after_request(world, messages, request_to_forget)
    assert status == "done"
    known = await told_of(core, *messages)
    assert gone not in known
    assert stays in known


@pytest.mark.parametrize(
    "about_a_thing",
    [
        "delete the lock code from the document pls",
        "delete the code pls",
        "Please delete the lock code from my file.",
        "How do I delete the lock code from my memory card?",
        "Don't delete the lock code from your memory.",
        "I deleted the lock code from my phone.",
        "Lösch den Code bitte aus der Datei.",
        "Vergiss den Code fürs Schloss nicht.",
        "コードをファイルから消してください。",
        "ロックのコードは消さないでください。",
    ],
)
async def test_a_thing_of_another_place_is_not_forgotten(world: World, about_a_thing: str) -> None:
    messages = ["my bike lock code is 4471, der Code fürs Schloss"]
    core, status = await after_request(world, messages, about_a_thing)
    assert status in ("none", "pending")
    assert "4471" in await told_of(core, *messages)


async def test_a_request_that_is_repeated_in_its_message_is_a_single_one(world: World) -> None:
    core, status = await after_request(
        world,
        ["My salary is 52,000 a year at Acme.", "I like tea."],
        "Could you please forget my salary? I don't want it stored.",
    )
    assert status == "done"
    known = await told_of(core, "What is my salary?", "What do I like?")
    assert "52,000" not in known
    assert "tea" in known


@pytest.mark.parametrize(
    ("statement", "request_to_forget"),
    [
        ("I'm vegan.", "Forget that I'm vegan."),
        ("Ich bin Veganerin.", "Vergiss bitte, dass ich Veganerin bin."),
        ("I have diabetes.", "Please forget that I have diabetes."),
    ],
)
async def test_a_fact_that_was_told_twice_is_a_single_thing(
    world: World, statement: str, request_to_forget: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, statement, session="s0", at=NOW)
    await tell(core, statement, "My cat is called Miso.", session="s1", at=NOW + DAY)
    task = await tell(core, request_to_forget, session="s2", at=NOW + 2 * DAY)
    assert task.result is not None
    assert task.result["forgetting"][0]["status"] == "done"
    known = await told_of(core, statement)
    assert statement not in known
    assert "Miso" in known


@pytest.mark.parametrize(
    ("first", "second", "request_to_forget"),
    [
        (
            "My dentist appointment is on Monday.",
            "My vet appointment is on Friday.",
            "the appointment",
        ),
        ("My red bike is in the shed.", "My blue bike is stolen.", "the bike"),
        ("My sister has a dog.", "My neighbour has a dog.", "the dog"),
        ("My first code is 11.", "My second code is 22.", "the code"),
        ("I paid the rent in May.", "The rent rises in June.", "the rent"),
        ("Ben is my cousin.", "Ben is a plumber in Hull.", "Ben"),
        ("My job is boring.", "My sister answer a job.", "the job"),
        ("I sold the car in May.", "My dad bought a car.", "the car"),
        ("The exam is on Monday.", "I passed the maths exam.", "the exam"),
        ("I moved house in May.", "My aunt sold her house.", "the house"),
    ],
)
async def test_two_statements_with_the_named_word_are_asked_back(
    world: World, first: str, second: str, request_to_forget: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, first, session="s0", at=NOW)
    await tell(core, second, session="s1", at=NOW + DAY)
    task = await tell(
        core, f"Please delete {request_to_forget} from your memory.", session="s2", at=NOW + 2 * DAY
    )
    requests = (task.result or {}).get("forgetting", [])
    assert all(request["status"] != "done" for request in requests)
    known = await told_of(core, first, second)
    assert first.rstrip(".") in known
    assert second.rstrip(".") in known
