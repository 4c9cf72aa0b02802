"""A message that only says "forget that" means what the same user said just before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.memories import ListInput
from tests.builders import ALICE, NOW
from tests.telling import tell
from tests.world import World

PARROT = "I have a parrot named Coco."


async def facts(core: MemoryCore) -> list[str]:
    page = await core.list(ALICE, ListInput(type=MemoryType.SEMANTIC))
    return [memory.content for memory in page.memories if memory.category == "fact"]


@pytest.mark.parametrize(
    "request_to_forget",
    [
        "Forget that.",
        "please forget that",
        "Forget what I just said.",
        "Please forget what I just told you.",
        "Vergiss das bitte wieder.",
        "今のは忘れて。",
        "Actually, forget I said that.",
        "Please forget I ever mentioned this.",
        "Vergiss, dass ich das gesagt habe.",
        "さっき言ったことは忘れてください。",
    ],
)
async def test_what_was_said_in_the_call_before_is_forgotten(
    world: World, request_to_forget: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, "I live in Oslo.", session="s1", at=NOW)
    await tell(core, PARROT, session="s1", at=NOW + timedelta(minutes=1))
    assert any("Coco" in fact for fact in await facts(core))
    await tell(core, request_to_forget, session="s1", at=NOW + timedelta(minutes=2))
    assert not any("Coco" in fact for fact in await facts(core))
    assert any("Oslo" in fact for fact in await facts(core))


@pytest.mark.parametrize(
    ("session", "later"), [("s1", timedelta(hours=1)), ("s2", timedelta(minutes=1))]
)
async def test_what_was_said_long_before_or_elsewhere_is_asked_back(
    world: World, session: str, later: timedelta
) -> None:
    core = await world.core_by_rules()
    await tell(core, PARROT, session="s1", at=NOW)
    await tell(core, "Forget that.", session=session, at=NOW + later)
    assert any("Coco" in fact for fact in await facts(core))


@pytest.mark.parametrize(
    "figure_of_speech",
    [
        "Forget that, let's talk about dinner.",
        "Forget it.",
        "Forget it, never mind.",
        "I nearly forgot that.",
        "Did you forget that?",
        "Schwamm drüber, vergiss es.",
        "Did you forget I said that?",
        "Don't forget I said that!",
        "I want to forget all that.",
        "Forget about that.",
        "Let's forget that.",
        "Can we forget that?",
    ],
)
async def test_a_figure_of_speech_forgets_nothing(world: World, figure_of_speech: str) -> None:
    core = await world.core_by_rules()
    await tell(core, PARROT, session="s1", at=NOW)
    await tell(core, figure_of_speech, session="s1", at=NOW + timedelta(minutes=1))
    assert any("Coco" in fact for fact in await facts(core))


@pytest.mark.parametrize(
    "for_all",
    [
        "Forget everything you know about me.",
        "Please delete all my data.",
        "Forget me.",
        "Vergiss alles, was du über mich weißt.",
        "私について知っていることを全部忘れて。",
    ],
)
async def test_a_request_to_forget_all_is_asked_back(world: World, for_all: str) -> None:
    core = await world.core_by_rules()
    task = await tell(core, PARROT, "I live in Oslo.", for_all, session="s1", at=NOW)
    (request,) = task.result["forgetting"]
    assert request["status"] == "pending"
    assert len(request["memory_ids"]) == 2
    assert any("Coco" in fact for fact in await facts(core))


@pytest.mark.parametrize(
    "of_others",
    [
        "You always forget everything I tell you about me.",
        "Hast du alles vergessen, was ich dir erzählt habe?",
        "My phone deleted all my data.",
        "私のことを忘れないで。",
    ],
)
async def test_a_complaint_is_no_request_to_forget_all(world: World, of_others: str) -> None:
    core = await world.core_by_rules()
    task = await tell(core, PARROT, of_others, session="s1", at=NOW)
    assert "forgetting" not in task.result


@pytest.mark.parametrize(
    ("statement", "request_to_forget"),
    [
        ("Ben has a broken arm.", "Forget that Ben has a broken arm, he is well again."),
        ("Mia lives in Berlin.", "Forget that Mia lives in Berlin."),
        ("Ben ist krank.", "Vergiss, dass Ben krank ist, er ist wieder gesund."),
        ("I'm allergic to nuts.", "Forget that I'm allergic to nuts, that was wrong."),
        ("I like jazz.", "Forget that I like jazz."),
        ("Ich bin Veganer.", "Bitte lösche, dass ich Veganer bin."),
    ],
)
async def test_a_fact_that_is_named_is_forgotten(
    world: World, statement: str, request_to_forget: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, PARROT, statement, session="s1", at=NOW)
    task = await tell(core, request_to_forget, session="s1", at=NOW + timedelta(minutes=1))
    (request,) = task.result["forgetting"]
    assert request["status"] == "done"
    assert any("Coco" in fact for fact in await facts(core))


@pytest.mark.parametrize(
    "harmless",
    [
        "Forget that Ben is ill, let's talk about Coco.",
        "Don't forget that Coco is a parrot.",
        "People forget that Coco is a parrot.",
        "Vergiss nicht, dass Coco ein Papagei ist.",
    ],
)
async def test_other_words_about_a_fact_forget_nothing(world: World, harmless: str) -> None:
    core = await world.core_by_rules()
    await tell(core, PARROT, session="s1", at=NOW)
    await tell(core, harmless, session="s1", at=NOW + timedelta(minutes=1))
    assert any("Coco" in fact for fact in await facts(core))


@pytest.mark.parametrize(
    ("statement", "perhaps_a_request"),
    [
        ("We're moving to Tromsø.", "You needn't know about Tromsø any more."),
        ("I have a dog, Rex.", "Forget about my dog."),
        ("Ich habe mit Aktien viel verloren.", "ich hätte das mit den Aktien vergessen bei dir"),
    ],
)
async def test_a_likely_request_is_asked_back_only_if_a_memory_has_its_words(
    world: World, statement: str, perhaps_a_request: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, PARROT, session="s1", at=NOW)
    unknown = await tell(core, perhaps_a_request, session="s2", at=NOW + timedelta(hours=1))
    assert "forgetting" not in unknown.result
    await tell(core, statement, session="s3", at=NOW + timedelta(hours=2))
    task = await tell(core, perhaps_a_request, session="s4", at=NOW + timedelta(hours=3))
    (request,) = task.result["forgetting"]
    assert request["status"] in ("done", "pending")
    assert any("Coco" in fact for fact in await facts(core))


@pytest.mark.parametrize(
    "harmless",
    [
        "If I asked you to forget Coco, would you really do it?",
        "Please delete nothing that I told you about Coco.",
        "Bitte löschen Sie nichts von dem, was ich über Coco erzählt habe.",
        "もしココを忘れてと頼んだら、本当に忘れてくれるの?",
        "消しゴムを貸してくれた子が今の妻です。",
    ],
)
async def test_a_request_that_is_supposed_or_denied_is_not_asked_back(
    world: World, harmless: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, PARROT, session="s1", at=NOW)
    task = await tell(core, harmless, session="s1", at=NOW + timedelta(minutes=1))
    assert "forgetting" not in task.result


@pytest.mark.parametrize(
    "text",
    [
        "My address is Elm St 5. Oh no, delete the address again.",
        "My PIN is 4471. Please forget my PIN.",
    ],
)
async def test_what_only_the_message_of_the_request_tells_is_asked_back(
    world: World, text: str
) -> None:
    core = await world.core_by_rules()
    task = await tell(core, text, session="s1", at=NOW)
    (request,) = task.result["forgetting"]
    assert request["status"] == "pending"
    assert request["memory_ids"] == [request["message_id"]]


@pytest.mark.parametrize(
    ("told_before", "request_to_forget"),
    [
        ("My sister's address is 5 Oak Road.", "Please forget my address."),
        ("My boss has asthma.", "Please forget my asthma."),
    ],
)
async def test_what_only_another_person_has_is_asked_back(
    world: World, told_before: str, request_to_forget: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, told_before, session="s1", at=NOW)
    before = await facts(core)
    assert before
    await tell(core, request_to_forget, session="s2", at=NOW + timedelta(days=1))
    assert set(before) <= set(await facts(core))


async def test_a_fact_of_a_person_who_is_named_is_forgotten(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "My sister's address is 5 Oak Road.", session="s1", at=NOW)
    request = "Please forget my sister's address."
    await tell(core, request, session="s2", at=NOW + timedelta(days=1))
    assert not any("Oak" in fact for fact in await facts(core))
