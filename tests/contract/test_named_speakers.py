"""Messages of a named speaker are forgotten, ended and put right like those of a user without one.

With an `actor`, facts and expectations tell of the speaker in the third person.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.memories import ContextInput, ConverseInput
from tests.builders import ALICE, NOW
from tests.loaded_minilm import LoadedMiniLM
from tests.telling import facts_of, formed
from tests.world import World

DAY = timedelta(days=1)
SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
ACTORS = pytest.mark.parametrize("actor", [None, "Ben"])


@pytest.fixture
async def rules(world: World) -> MemoryCore:
    """A core without a language model, with the vectors of the local embedder."""
    return await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")


async def told_by(
    core: MemoryCore, actor: str | None, text: str, *, session: str = "s1", after: timedelta = DAY
) -> None:
    """Tell a single message, so long after `NOW`."""
    message = {"role": "user", "content": text, "timestamp": (NOW + after).isoformat()}
    if actor is not None:
        message["actor"] = actor
    conversation = ConverseInput.model_validate({"session_id": session, "messages": [message]})
    await formed(core, await core.converse(ALICE, conversation))


async def expected_line(core: MemoryCore, words: str) -> str:
    context = await core.context(ALICE, ContextInput(session_id="s9", at=NOW + 4 * DAY))
    of_part = context.context.partition("Expected:")[2].partition("Last turns:")[0]
    return next(line for line in of_part.split("\n") if words in line)


@SQLITE
@ACTORS
@pytest.mark.parametrize(
    ("statement", "request_to_forget", "goes", "stays"),
    [
        (
            "Gerd is my landlord. I live in Oslo.",
            "Please forget what I told you about Gerd.",
            "Gerd",
            "Oslo",
        ),
        (
            "I am allergic to penicillin. I live in Kassel.",
            "Please forget that I am allergic to penicillin.",
            "penicillin",
            "Kassel",
        ),
        ("My cat is called Miso. I live in Oslo.", "Please forget my cat.", "Miso", "Oslo"),
        (
            "My cat is called Miso. I work at Bosch.",
            "Please forget that my cat is called Miso.",
            "Miso",
            "Bosch",
        ),
        (
            "Ich bin gegen Penicillin allergisch. Ich wohne in Kassel.",
            "Bitte vergiss, dass ich gegen Penicillin allergisch bin.",
            "Penicillin",
            "Kassel",
        ),
    ],
)
async def test_a_request_to_forget_leaves_the_facts_of_other_sentences_of_its_message(
    rules: MemoryCore,
    actor: str | None,
    statement: str,
    request_to_forget: str,
    goes: str,
    stays: str,
) -> None:
    await told_by(rules, actor, statement, after=0 * DAY)
    await told_by(rules, actor, request_to_forget, session="s2")
    facts = await facts_of(rules)
    living = [text for text, fact in facts.items() if fact.status is Status.ACTIVE]
    assert any(stays in text for text in living)
    assert not any(goes in text for text in living)


@SQLITE
async def test_a_sentence_with_a_pronoun_goes_with_what_it_may_be_about(rules: MemoryCore) -> None:
    await told_by(rules, "Ben", "Gerd is my landlord. I live in his flat in Oslo.", after=0 * DAY)
    await told_by(rules, "Ben", "Please forget what I told you about Gerd.", session="s2")
    facts = await facts_of(rules)
    assert not any("Oslo" in text and fact.status is Status.ACTIVE for text, fact in facts.items())


@SQLITE
@ACTORS
@pytest.mark.parametrize(
    ("statement", "over", "words"),
    [
        (
            "I have a dentist appointment on June 1st 2026.",
            "The dentist appointment is cancelled.",
            "dentist",
        ),
        ("I'm flying to Lisbon on June 2nd 2026.", "I cancelled the flight to Lisbon.", "Lisbon"),
        (
            "Ich habe am 1. Juni 2026 einen Zahnarzttermin.",
            "Der Zahnarzttermin ist abgesagt.",
            "Zahnarzt",
        ),
        ("6月1日に歯医者の予約があります。", "歯医者の予約はキャンセルしました。", "歯医者"),
    ],
)
async def test_what_is_called_off_is_marked_where_it_is_expected(
    rules: MemoryCore, actor: str | None, statement: str, over: str, words: str
) -> None:
    await told_by(rules, actor, statement)
    await told_by(rules, actor, over, session="s2", after=3 * DAY)
    day = (NOW + 3 * DAY).date().isoformat()
    assert f"(called off on {day}: {over})" in await expected_line(rules, words)


@SQLITE
@pytest.mark.parametrize(
    ("actor", "over"),
    [("Ben", "I cancelled the flight to Porto."), ("Eva", "I cancelled the flight to Lisbon.")],
)
async def test_what_is_called_off_elsewhere_or_by_another_person_marks_nothing(
    rules: MemoryCore, actor: str, over: str
) -> None:
    await told_by(rules, "Ben", "I'm flying to Lisbon on June 2nd 2026.")
    await told_by(rules, actor, over, session="s2", after=3 * DAY)
    line = await expected_line(rules, "Lisbon")
    assert line.rstrip(".").endswith("is flying to Lisbon on June 2nd 2026")


@SQLITE
@ACTORS
@pytest.mark.parametrize(
    ("statement", "correction"),
    [
        ("I work at Siemens.", "Sorry, I meant Bosch, not Siemens."),
        ("My dog is called Rex.", "Sorry, his name is Max, not Rex."),
        ("I drink coffee.", "Sorry, I meant tea, not coffee."),
        ("Mein Hund heißt Rex.", "Entschuldigung, er heißt Max, nicht Rex."),
        ("Ich arbeite bei Siemens.", "Ich meinte Bosch, nicht Siemens."),
        ("犬の名前はレックスです。", "すみません、レックスじゃなくてマックスです。"),
    ],
)
async def test_a_correction_of_a_name_leaves_a_record(
    rules: MemoryCore, actor: str | None, statement: str, correction: str
) -> None:
    await told_by(rules, actor, statement)
    await told_by(rules, actor, correction, after=DAY + timedelta(minutes=1))
    facts = await facts_of(rules)
    fell = [text for text, fact in facts.items() if fact.status is Status.SUPERSEDED]
    assert fell or (await rules.conflicts(ALICE)).conflicts


@SQLITE
@ACTORS
@pytest.mark.parametrize(
    "correction", ["Sorry, I meant Bonn, not Berlin.", "No, Anna works at Bosch, not Siemens."]
)
async def test_a_correction_of_another_name_or_person_leaves_no_mark(
    rules: MemoryCore, actor: str | None, correction: str
) -> None:
    await told_by(rules, actor, "I work at Siemens.")
    await told_by(rules, actor, correction, after=DAY + timedelta(minutes=1))
    context = await rules.context(ALICE, ContextInput(query="Where do I work?", session_id="s9"))
    assert "replaced on" not in context.context
