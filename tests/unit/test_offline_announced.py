"""A job that is announced is read with its employer, and nothing else that begins."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memory_core.adapters.offline.announced_facts import announced_facts, without_announced
from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.foresight import said_foresight
from memory_core.domain.conversation import Message
from memory_core.domain.statements.announced import begins_at, is_announced
from memory_core.domain.statements.wishes import said_wishes

FRIDAY = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        (
            "On 1 October I'm starting at Airbus as a machine learning engineer",
            {"Airbus", "machine learning engineer"},
        ),
        ("I start at Airbus on Monday.", {"Airbus"}),
        (
            "I start work as a nurse at St. Mary's Hospital on Monday.",
            {"St. Mary's Hospital", "nurse"},
        ),
        ("From March I'll be working at Bosch.", {"Bosch"}),
        ("From March, I will be working for Bosch, and I'm thrilled.", {"Bosch"}),
        ("I'm joining Contoso in June as a data analyst.", {"Contoso", "data analyst"}),
        ("I'm joining Globex in January.", {"Globex"}),
        ("I'm joining Anna in January in Bali.", set()),
        ("I'll be working at Starbucks tomorrow.", set()),
        ("I'm joining Anna on Monday.", set()),
        ("I start at Stanford University in September.", set()),
        ("If all goes well, I start at Airbus on Monday.", set()),
        ("Should I start at Airbus on Monday?", set()),
        ("I started at Airbus on Monday.", set()),
        ("I start at nine on Monday.", set()),
        ("Anna said: I start at Airbus on Monday.", set()),
    ],
)
def test_an_announced_job_is_read_with_what_it_is_and_where(sentence: str, facts: set[str]) -> None:
    messages = [Message(role="user", content=sentence, timestamp=FRIDAY)]
    announced = announced_facts(messages, said_foresight(messages))
    assert {fact.value for fact in announced} == facts
    assert all(is_announced(fact) for fact in announced)


@pytest.mark.parametrize(
    ("sentence", "values", "day"),
    [
        ("From 1 January 2027 I live in Porto.", {"home city": "Porto"}, "2027-01-01"),
        (
            "From 1 January 2027 I'll live in Porto, not in Lisbon.",
            {"home city": "Porto"},
            "2027-01-01",
        ),
        ("I will be living in Porto from June.", {"home city": "Porto"}, "2026-06-01"),
        ("I'm moving to Porto on 1 June.", {"home city": "Porto"}, "2026-06-01"),
        (
            "We will move to Graz in June and get married in July.",
            {"home city": "Graz"},
            "2026-06-01",
        ),
        ("Ab dem 1. Januar 2027 wohne ich in Porto.", {"home city": "Porto"}, "2027-01-01"),
        ("Ab Juni werde ich in Porto wohnen.", {"home city": "Porto"}, "2026-06-01"),
        (
            "Ab 1. Juni arbeite ich bei Trumpf, bis dahin bin ich noch bei Bosch.",
            {"employer": "Trumpf"},
            "2026-06-01",
        ),
        (
            "Ab 1. Juni wohne ich in Bonn, bis dahin wohne ich noch in Ulm.",
            {"home city": "Bonn"},
            "2026-06-01",
        ),
        ("Ich ziehe am 1. Juni nach Porto.", {"home city": "Porto"}, "2026-06-01"),
        ("Ab nächstem Monat arbeite ich bei Siemens.", {"employer": "Siemens"}, "2026-06-01"),
        (
            "Ab 1. Juni ist meine Adresse Lindenstraße 5.",
            {"address": "Lindenstraße 5"},
            "2026-06-01",
        ),
        ("From June my rent is 950 euros.", {"rent": "950 euros"}, "2026-06-01"),
        ("From June I no longer work at Bosch.", {"employer": "no longer Bosch"}, "2026-06-01"),
        ("From Monday I'm vegan.", {"diet": "vegan", "eats meat": "no"}, "2026-05-04"),
        (
            "Handed in my notice today, I'm at Globex from August.",
            {"employer": "Globex"},
            "2026-08-01",
        ),
        ("Ich fange am 1. Juni bei Bosch an.", {"employer": "Bosch"}, "2026-06-01"),
        (
            "Im Juni fange ich bei Bosch als Koch an.",
            {"employer": "Bosch", "occupation": "Koch"},
            "2026-06-01",
        ),
        ("My rent goes up to 980 euros in June.", {"rent": "980 euros"}, "2026-06-01"),
        ("Meine Miete steigt im Juni auf 980 Euro.", {"rent": "980 Euro"}, "2026-06-01"),
        ("I'm moving to Porto on 1 May 2027.", {"home city": "Porto"}, "2027-05-01"),
    ],
)
def test_what_is_so_from_a_day_on_is_read_with_that_day(
    sentence: str, values: dict[str, str], day: str
) -> None:
    messages = [Message(role="user", content=sentence, timestamp=FRIDAY)]
    announced = announced_facts(messages, said_foresight(messages))
    assert {fact.attribute: fact.value for fact in announced} == values
    begins = {begins_at(fact.quote, FRIDAY) for fact in announced}
    assert begins == {datetime.fromisoformat(f"{day}T00:00:00+00:00")}
    assert {fact.quote for fact in announced} == {sentence}
    others = without_announced(said_facts(messages), announced)
    slotless = [
        fact.text
        for fact in others
        if fact.attribute is None and "moving" not in fact.text and "Lisbon" not in fact.text
    ]
    assert slotless == [], "the same sentence is no second fact"


@pytest.mark.parametrize(
    ("sentence", "day"),
    [
        ("Our move to Leipzig is on 1 June.", "2026-06-01"),
        ("The move to Leipzig got pushed back to 1 July.", "2026-07-01"),
        ("Our move to Leipzig has been moved to July.", "2026-07-01"),
        ("Der Umzug nach Leipzig ist am 1. Juni.", "2026-06-01"),
        ("Der Umzug nach Leipzig wurde auf den 1. Juli verschoben.", "2026-07-01"),
    ],
)
def test_a_move_begins_on_the_day_that_is_told_of_it(sentence: str, day: str) -> None:
    messages = [Message(role="user", content=sentence, timestamp=FRIDAY)]
    (fact,) = announced_facts(messages, said_foresight(messages))
    assert (fact.attribute, fact.value) == ("home city", "Leipzig")
    assert is_announced(fact)
    assert begins_at(fact.quote, FRIDAY) == datetime.fromisoformat(f"{day}T00:00:00+00:00")


def test_news_of_a_job_changes_nothing_before_its_day() -> None:
    text = "I got the job! I'll start at Globex on January 1st."
    messages = [Message(role="user", content=text, timestamp=FRIDAY)]
    announced = announced_facts(messages, said_foresight(messages))
    assert [(fact.attribute, fact.value) for fact in announced] == [("employer", "Globex")]
    assert without_announced(said_facts(messages), announced) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm at Disneyland from Monday.",
        "The move to Slack is on 1 June.",
        "My sister's move to Leipzig is on 1 June.",
        "The temperature goes up to 30 degrees in June.",
        "Ich fange im Juni mit dem Training an.",
        "I've been working at Bosch from January.",
        "I work at Bosch from Monday to Friday.",
        "I might move to Porto in June.",
        "I'm moving to a new flat in June.",
        "I'm moving my appointment to Friday.",
        "From Monday I always eat at home.",
        "Should I move to Porto in June?",
        "Anna said: from June I live in Porto.",
        "If I get the job, I'm moving to Porto in June.",
        "I moved to Porto in June.",
    ],
)
def test_habits_plans_and_the_past_announce_nothing(sentence: str) -> None:
    messages = [Message(role="user", content=sentence, timestamp=FRIDAY)]
    assert announced_facts(messages, said_foresight(messages)) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The move to Porto is cancelled, I stay in Lisbon.",
        "My move to Porto in January has been called off.",
        "I'm not moving to Porto after all.",
        "Der Umzug nach Porto ist abgesagt.",
        "Ich ziehe doch nicht nach Porto.",
    ],
)
def test_a_move_that_is_called_off_ends_what_was_announced(sentence: str) -> None:
    messages = [Message(role="user", content=sentence, timestamp=FRIDAY)]
    announced = announced_facts(messages, said_foresight(messages))
    assert [(fact.attribute, fact.value) for fact in announced] == [
        ("home city", "no longer Porto")
    ]
    assert not any(is_announced(fact) for fact in announced), "it is so at once"


@pytest.mark.parametrize(
    "sentence", ["Ich ziehe am 1. Januar 2027 nach Porto.", "Ich ziehe im Mai um."]
)
def test_a_move_in_german_is_no_preference(sentence: str) -> None:
    assert said_wishes([Message(role="user", content=sentence, timestamp=FRIDAY)]) == []


@pytest.mark.parametrize(
    ("sentence", "begins"),
    [
        ("I start at Aldi on Monday, I've left Tesco.", True),
        ("I've left Tesco, I start at Aldi on Monday.", True),
        ("I left Tesco on Monday, I like Aldi.", False),
        ("I worked at Tesco until Monday, I start at Aldi on Tuesday.", False),
    ],
)
def test_only_the_clause_that_names_the_day_may_not_tell_of_the_past(
    sentence: str, begins: bool
) -> None:
    assert (begins_at(sentence, FRIDAY) is not None) is begins


def test_what_one_prefers_in_german_is_a_standing_instruction() -> None:
    (wish,) = said_wishes(
        [Message(role="user", content="Ich ziehe kurze Antworten vor.", timestamp=FRIDAY)]
    )
    assert wish.kind == "instruction"


@pytest.mark.parametrize(
    ("sentence", "attribute", "value"),
    [
        ("Nein, ich wohne nicht in Köln, sondern in Bonn.", "home city", "Bonn"),
        ("Ich arbeite nicht bei Bosch, sondern bei Siemens.", "employer", "Siemens"),
    ],
)
def test_what_is_put_right_in_german_is_the_value(
    sentence: str, attribute: str, value: str
) -> None:
    facts = said_facts([Message(role="user", content=sentence, timestamp=FRIDAY)])
    assert [(fact.attribute, fact.value) for fact in facts if fact.attribute] == [
        (attribute, value)
    ]


@pytest.mark.parametrize("name", ["Assistant", "AI", "ChatGPT", "Claude", "KI", "アシスタント"])
def test_an_assistants_line_of_a_pasted_conversation_is_no_fact_of_the_user(name: str) -> None:
    text = f"Here is what it wrote:\n{name}: I live in Rome and my favourite colour is blue."
    assert said_facts([Message(role="user", content=text, timestamp=FRIDAY)]) == []
