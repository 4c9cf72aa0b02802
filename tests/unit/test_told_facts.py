"""What of an agent's facts and foresight becomes memories: what people assert, in their words,
their language and by their names.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.agent_schemas import (
    ExtractedFacts,
    SaidFact,
    SaidForesight,
    SaidInstruction,
)
from memory_core.domain.conversation import Message
from memory_core.domain.statements.fact_checks import AssertedFacts, asserted_facts
from memory_core.domain.statements.slot_facts import add_rule_facts, last_word_wins

NOON = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)


def says(content: str, actor: str | None = "Ana", role: str = "user") -> Message:
    return Message.model_validate(
        {"role": role, "content": content, "timestamp": NOON, "actor": actor}
    )


def fact(text: str, quote: str, **fields: Any) -> SaidFact:
    return SaidFact.model_validate({"text": text, "message": 0, "quote": quote} | fields)


def told(facts: SaidFact | list[SaidFact], *messages: Message) -> AssertedFacts:
    return asserted_facts(
        ExtractedFacts(facts=facts if isinstance(facts, list) else [facts]), messages
    )


def home(value: str, subject: str | None = "Ana") -> dict[str, Any]:
    return {"subject": subject, "attribute": "home city", "value": value}


LISBON = says("I moved to Lisbon, and I have two cats.")


def test_a_fact_that_a_person_tells_stays_as_it_is() -> None:
    stored_fact = fact("Ana lives in Lisbon", "I moved to Lisbon", **home("Lisbon"))
    assert told(stored_fact, LISBON).facts == [stored_fact]


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        (
            "She wrote to me: 'I live in Oslo with my two dogs and a cat'.",
            "I live in Oslo with my two dogs and a cat",
        ),
        ("Please look at this:\n```\nI live in Oslo\n```\nIs it right?", "I live in Oslo"),
        ("Translate to German: I live in Oslo", "I live in Oslo"),
        ("Should I move to Oslo?", "Should I move to Oslo?"),
        ("Kann ich in Oslo wohnen?", "ich in Oslo wohnen"),
        ("If I lived in Oslo, skiing would be easy.", "If I lived in Oslo"),
        ("It would be nice, and if I lived in Oslo I would ski.", "I lived in Oslo"),
        ("Wenn ich in Oslo wohne, fahre ich Ski.", "ich in Oslo wohne"),
        ("もし私がオスロに住んでいたら、スキーをします。", "私がオスロに住んでいたら"),
        ("> I live in Oslo\nI don't agree with that.", "I live in Oslo"),
    ],
)
def test_what_is_quoted_pasted_asked_or_supposed_is_no_fact(message: str, quote: str) -> None:
    done = told(fact("Ana lives in Oslo", quote, **home("Oslo")), says(message))
    assert (done.facts, done.dropped) == ([], 1)


def test_a_statement_beside_a_question_is_one() -> None:
    message = says("I live in Oslo, do you know a dentist there?")
    assert told(fact("Ana lives in Oslo", "I live in Oslo", **home("Oslo")), message).dropped == 0


@pytest.mark.parametrize(
    "text",
    [
        "Ana lives in Lisbon with Petra",
        "Ana moved to Lisbon in the 1990s with 3 cats",
        "Ana works at Contoso in Lisbon",
    ],
)
def test_a_fact_with_a_name_or_a_number_that_nobody_said_is_left_out(text: str) -> None:
    assert told(fact(text, "I moved to Lisbon", **home("Lisbon")), LISBON).facts == []


def test_a_value_that_nobody_said_leaves_the_fact_out() -> None:
    assert (
        told(
            fact("Ana lives in Lisbon", "I moved to Lisbon", **home("the city of Porto")), LISBON
        ).facts
        == []
    )


def test_numbers_in_words_and_reckoned_dates_are_no_inventions() -> None:
    assert told(fact("Ana has 2 cats", "I have two cats", lasting=True), LISBON).dropped == 0
    message = says("I start at the lighthouse next Monday")
    assert (
        told(
            fact(
                "Ana starts at the lighthouse on Monday 9 March 2026",
                "I start at the lighthouse next Monday",
            ),
            message,
        ).dropped
        == 0
    )


@pytest.mark.parametrize(
    ("message", "text", "quote"),
    [
        (
            "Ich bin bei der Sparkasse, die Gebühren sind ok.",
            "Ana hat ein Konto dort",
            "die Gebühren sind ok",
        ),
        (
            "Meine Tochter darf fahren.",
            "Anas Tochter darf Auto fahren",
            "Meine Tochter darf fahren",
        ),
        (
            "Papa hat seit Weihnachten nicht geraucht.",
            "Papa hat seit Weihnachten 2025 nicht geraucht",
            "Papa hat seit Weihnachten nicht geraucht",
        ),
        (
            "Ich bin vor drei Jahren nach Jena gezogen.",
            "Ana ist 2023 nach Jena gezogen",
            "vor drei Jahren nach Jena gezogen",
        ),
        (
            "Der Vermieter will ab Mai 840 sehen.",
            "Anas Miete beträgt ab Mai 840 Euro",
            "Der Vermieter will ab Mai 840 sehen",
        ),
        ("母は七十九歳ですが元気です。", "母は79歳で元気である", "母は七十九歳ですが元気です"),
        (
            "Which boots are good? I moved here to Oslo last month.",
            "Ana moved to Oslo",
            "Which boots are good? I moved here to Oslo",
        ),
    ],
)
def test_german_nouns_calculated_years_and_a_quote_that_opens_with_a_question_invent_nothing(
    message: str, text: str, quote: str
) -> None:
    (stored_fact,) = told(fact(text, quote, lasting=True), says(message)).facts
    assert stored_fact.text in (text, f"Ana: {quote}")


def test_a_year_that_nobody_could_calculate_is_an_invention() -> None:
    message = says("I have not smoked since Christmas")
    assert (
        told(fact("Ana has not smoked since Christmas 2019", message.content), message).facts == []
    )


def test_a_number_that_nobody_said_fills_no_slot() -> None:
    message = says("All her hives died this winter")
    hives = {"subject": "user's friend", "attribute": "number of hives", "value": "0 of 7"}
    (stored_fact,) = told(fact("All her hives died", message.content, **hives), message).facts
    assert stored_fact.value is None


def test_what_an_assistant_says_and_a_person_only_confirms_is_no_fact() -> None:
    messages = (
        says("So you live in Oslo and work as a nurse?", actor=None, role="assistant"),
        says("Yes, exactly."),
    )
    done = told(fact("Ana lives in Oslo", "Yes, exactly", message=1, **home("Oslo")), *messages)
    assert done.facts == []


def test_a_text_in_words_that_nobody_used_is_told_in_those_that_prove_it() -> None:
    message = says("I'm expecting a baby in May")
    (stored_fact,) = told(
        fact(
            "Ana is pregnant",
            "I'm expecting a baby in May",
            subject="Ana",
            attribute="condition",
            value="pregnant",
        ),
        message,
    ).facts
    assert (stored_fact.text, stored_fact.subject, stored_fact.value, stored_fact.lasting) == (
        "Ana: I'm expecting a baby in May",
        None,
        None,
        True,
    )


@pytest.mark.parametrize(
    ("message", "text", "value"),
    [
        (
            "Ich wohne seit dem Sommer in München",
            "Ana has lived in Munich since the summer",
            "Munich",
        ),
        ("私は去年から大阪に住んでいます", "Ana has lived in Osaka since last year", "Osaka"),
        (
            "I have lived in the old town since the summer",
            "Ana wohnt seit dem Sommer in der Altstadt",
            "Altstadt",
        ),
    ],
)
def test_a_fact_keeps_the_language_in_which_it_was_told(
    message: str, text: str, value: str
) -> None:
    done = told(fact(text, message, **home(value)), says(message))
    assert [(fact.text, fact.value) for fact in done.facts] in ([(f"Ana: {message}", None)], [])


def test_a_translation_without_a_name_of_its_own_keeps_the_told_words() -> None:
    message = says("Ich bin seit dem Sommer mit meiner Ausbildung fertig")
    (stored_fact,) = told(
        fact("Ana has finished the training", message.content, lasting=True), message
    ).facts
    assert (stored_fact.text, stored_fact.lasting) == (f"Ana: {message.content}", True)


@pytest.mark.parametrize(
    ("text", "subject", "wanted", "slot"),
    [
        ("The user lives in Lisbon", "the user", "Ana lives in Lisbon", "Ana"),
        ("User lives in Lisbon", "user", "Ana lives in Lisbon", "Ana"),
        (
            "User's sister lives in Lisbon",
            "user's sister",
            "Ana's sister lives in Lisbon",
            "Ana's sister",
        ),
        ("I live in Lisbon", "I", "Ana: I live in Lisbon", "Ana"),
        ("Maria lives in Lisbon", "Maria", "Ana lives in Lisbon", "Ana"),
    ],
)
def test_a_speaker_with_a_name_is_told_by_it(
    text: str, subject: str, wanted: str, slot: str
) -> None:
    (stored_fact,) = told(
        fact(text, "My sister and I moved to Lisbon", **home("Lisbon", subject)),
        says("My sister and I moved to Lisbon"),
    ).facts
    assert (stored_fact.text, stored_fact.subject) == (wanted, slot)


def test_a_speaker_without_a_name_is_the_user_whatever_a_model_calls_them() -> None:
    (stored_fact,) = told(
        fact("Maria lives in Lisbon", "I moved to Lisbon", **home("Lisbon", "Maria")),
        says("I moved to Lisbon", None),
    ).facts
    assert (stored_fact.text, stored_fact.subject) == ("User lives in Lisbon", "user")


@pytest.mark.parametrize(
    "slot", [{"value": None}, {"attribute": None}, {"subject": None}, {"subject": "she"}]
)
def test_half_a_slot_is_none(slot: dict[str, Any]) -> None:
    (stored_fact,) = told(
        fact("Ana lives in Lisbon", "I moved to Lisbon", **(home("Lisbon") | slot)), LISBON
    ).facts
    assert (stored_fact.subject, stored_fact.attribute, stored_fact.value) == (None, None, None)


@pytest.mark.parametrize(
    "text",
    ["Ana is very tired", "Ana ate soup today", "Ana ist heute in Lissabon", "Ana: 今日は雨です"],
)
def test_what_passes_with_the_day_is_no_lasting_fact(text: str) -> None:
    sentence = text.removeprefix("Ana: ").replace("Ana", "I")
    (stored_fact,) = told(fact(text, sentence, lasting=True), says(sentence)).facts
    assert not stored_fact.lasting


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_values_in_one_breath_the_last_fills_the_slot(order: int) -> None:
    facts = [
        fact("Ana lives in Berlin", "I live in Berlin", **home("Berlin")),
        fact("Ana lives in Lisbon", "I mean Lisbon now", message=1, **home("Lisbon")),
    ][::order]
    assert {(fact_left.text, fact_left.value) for fact_left in last_word_wins(facts)} == {
        ("Ana lives in Berlin", None),
        ("Ana lives in Lisbon", "Lisbon"),
    }


@pytest.mark.parametrize(
    "message",
    [
        "Always answer in metric units, please.",
        "Antworte mir immer auf Deutsch.",
        "Please forget what I told you about my salary.",
    ],
)
def test_what_is_asked_of_the_memory_or_its_answers_is_no_fact_besides(message: str) -> None:
    assert told(fact(f"Ana: {message}", message, lasting=True), says(message)).facts == []


def test_a_preference_is_a_fact_although_it_is_an_instruction_too() -> None:
    message = says("I live in Lisbon and I prefer metric units")
    assert (
        told(
            fact("Ana prefers metric units", "I prefer metric units", lasting=True), message
        ).dropped
        == 0
    )


def ahead(description: str, **fields: Any) -> SaidForesight:
    given = {
        "description": description,
        "message": 0,
        "quote": "I moved to Lisbon",
        "start_time": NOON,
        "end_time": NOON + timedelta(days=3),
    }
    return SaidForesight.model_validate(given | fields)


@pytest.mark.parametrize(
    "foresight",
    [
        ahead("Ana lives in Lisbon with Petra"),
        ahead("Ana is in Lisbon", end_time=NOON - timedelta(days=1)),
        ahead("Ana is in Lisbon", start_time=NOON + timedelta(days=60_000), end_time=None),
        ahead("Ana is in Lisbon", quote="I moved to Porto"),
    ],
    ids=["a name", "ends before it begins", "in another age", "not said"],
)
def test_foresight_goes_through_the_same_checks(foresight: SaidForesight) -> None:
    done = asserted_facts(ExtractedFacts(foresight=[foresight]), [LISBON])
    assert (done.foresight, done.dropped) == ([], 1)


def test_foresight_is_of_the_speaker_by_name() -> None:
    done = asserted_facts(
        ExtractedFacts(foresight=[ahead("The user is in Lisbon until 5 March 2026")]), [LISBON]
    )
    assert [foresight.description for foresight in done.foresight] == [
        "Ana is in Lisbon until 5 March 2026"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I'm a nurse at St Gemma's and my daughter Mia is seven.",
        (
            "Big news, I've handed in my notice and from August I'm at St Gemma's Hospice, still "
            "as a physio."
        ),
        "Can you help me word a birthday card for my father-in-law, Gordon?",
        "Ich wohne in Köln, arbeite als Lehrerin und mag keinen Kaffee.",
        "Bin Jahrgang 1971, wann kann ich frühestens ohne Abzüge in Rente?",
        "来年の春に結婚します!顔合わせの服装ってどこまできちんとするもの?",
        "弟がバンクーバーに留学中で、荷物送りたいんだけど一番安いのは?",
    ],
)
def test_what_the_rules_read_passes(text: str) -> None:
    messages = [says(text, None)]
    facts = said_facts(messages)
    assert asserted_facts(ExtractedFacts(facts=facts), messages) == AssertedFacts(facts, [], 0)


NORA = says("I'm Nora and I live in Leeds. My husband is called Ali.", actor=None)


def completed(
    *facts: SaidFact, message: Message = NORA
) -> list[tuple[str | None, str | None, str | None]]:
    """The slots after what rules read in the message is added to a model's facts."""
    read = asserted_facts(ExtractedFacts(facts=said_facts([message])), [message])
    return [
        (fact.subject, fact.attribute, fact.value)
        for fact in add_rule_facts(told(list(facts), message), read).facts
    ]


def test_what_rules_are_certain_of_completes_a_model_that_leaves_it_out() -> None:
    assert {("user", "name", "Nora"), ("user", "home city", "Leeds")} <= set(completed())


def test_a_slot_that_a_model_fills_is_not_filled_by_rules_as_well() -> None:
    slots = completed(fact("User lives in Leeds", "I live in Leeds", **home("Leeds", "user")))
    assert [slot for slot in slots if slot[1] == "home city"] == [("user", "home city", "Leeds")]


def test_words_that_fill_a_slot_of_a_model_fill_none_of_rules() -> None:
    assert any(value == "Ali" for _, _, value in completed())
    slots = completed(
        fact(
            "User's partner is Ali",
            "My husband is called Ali",
            subject="user",
            attribute="partner",
            value="Ali",
        )
    )
    assert [slot for slot in slots if slot[2] == "Ali"] == [("user", "partner", "Ali")]


def test_a_message_that_a_model_copies_hides_no_fact_of_rules() -> None:
    slots = completed(fact(NORA.content, NORA.content, lasting=True))
    assert {("user", "name", "Nora"), ("user", "home city", "Leeds")} <= set(slots)


def test_a_user_whom_a_model_names_fills_the_slots_of_the_user() -> None:
    slots = completed(fact("Nora lives in Leeds", "I live in Leeds", **home("Leeds", "Nora")))
    assert [slot for slot in slots if slot[1] == "home city"] == [("user", "home city", "Leeds")]


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("I'm Nora. My sister Nora lives in York.", "My sister Nora lives in York"),
        ("I'm Nora. My boss is also called Nora. Nora lives in York.", "Nora lives in York"),
        ("Ich heiße Nora. Meine Freundin Nora wohnt in York.", "Meine Freundin Nora wohnt in York"),
    ],
)
def test_a_friend_of_the_user_s_name_is_not_the_user(content: str, quote: str) -> None:
    told_fact = fact("Nora lives in York", quote, **home("York", "Nora"))
    slots = completed(told_fact, message=says(content, actor=None))
    assert [slot for slot in slots if slot[1] == "home city"] == [("Nora", "home city", "York")]


@pytest.mark.parametrize(
    ("message", "instruction"),
    [
        ("Hi! I'm Nora, I teach chemistry in Leeds.", None),
        ("We have two kids, so it has to be at the weekend.", None),
        ("I am a doctor, so explain medical terms.", "I am a doctor, so explain medical terms."),
        (
            "Thanks, I like it. Answer my questions with riddles.",
            "Answer my questions with riddles.",
        ),
        ("Mein Hund heißt Balu.", None),
        ("Ich bin Arzt, also erklär nur das Neue.", "Ich bin Arzt, also erklär nur das Neue."),
        ("猫を二匹飼っています。", None),
    ],
)
def test_of_a_model_s_instructions_the_sentences_stay_that_may_instruct(
    message: str, instruction: str | None
) -> None:
    done = asserted_facts(
        ExtractedFacts(instructions=[SaidInstruction(message=0, quote=message)]),
        [says(message, actor=None)],
    )
    assert [given.quote for given in done.instructions] == ([instruction] if instruction else [])
