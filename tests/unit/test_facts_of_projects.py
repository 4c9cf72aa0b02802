"""Budgets and deadlines of clients and projects that have a name."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from tests.builders import NOW


@pytest.mark.parametrize("actor", [None, "Nina"])
@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("The Contoso budget is 80,000 EUR.", ("Contoso", "budget"), "80,000 EUR"),
        ("Our Contoso budget went up to 95,000 EUR.", ("Contoso", "budget"), "95,000 EUR"),
        ("Contoso cut its budget to 60,000 EUR.", ("Contoso", "budget"), "60,000 EUR"),
        ("Fabrikam moved its deadline to 24 May.", ("Fabrikam", "deadline"), "24 May"),
        (
            "The Helios deadline moved to 12 January 2027.",
            ("Helios", "deadline"),
            "12 January 2027",
        ),
        ("The deadline for Helios is 3 May.", ("Helios", "deadline"), "3 May"),
        ("The deadline for the Helios bid is 3 May.", ("Helios", "bid deadline"), "3 May"),
        ("The Helios launch date is 3 May.", ("Helios", "launch"), "3 May"),
    ],
)
def test_a_named_client_or_project_has_its_own_budget_and_deadline(
    text: str, slot: tuple[str, str], value: str, actor: str | None
) -> None:
    messages = [Message(role="user", content=text, timestamp=NOW, actor=actor)]
    slots = {
        (fact.subject, fact.attribute): fact.value
        for fact in said_facts(messages)
        if fact.attribute
    }
    assert slots == {slot: value}


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("The budget for marketing is 5,000 EUR.", "marketing budget", "5,000 EUR"),
        ("The kitchen budget is 900 EUR.", "kitchen budget", "900 EUR"),
        ("My Contoso deadline is 3 May.", "contoso deadline", "3 May"),
        ("The March budget is 900 EUR.", "march budget", "900 EUR"),
        ("The German class is on Tuesday.", "german class", "Tuesday"),
        ("The client raised the budget to 95,000 EUR.", "budget", "95,000 EUR"),
        ("Our landlord raised the rent to 900 EUR.", "rent", "900 EUR"),
        ("The launch was postponed to 10 May.", "launch", "10 May"),
        ("The launch date is 3 May.", "launch", "3 May"),
    ],
)
def test_a_budget_or_deadline_without_another_owner_is_the_speakers(
    text: str, attribute: str, value: str
) -> None:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    slots = {
        (fact.subject, fact.attribute): fact.value
        for fact in said_facts(messages)
        if fact.attribute
    }
    assert slots == {("user", attribute): value}


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("We moved to Phoenix for the web framework.", None),
        ("We moved to Phoenix for our backend.", None),
        ("We moved to Phoenix as our web framework.", None),
        ("I moved to Phoenix for the weather.", "Phoenix"),
        ("I moved to Phoenix for a job at a software company.", "Phoenix"),
        ("We moved to Phoenix for the university.", "Phoenix"),
        ("We moved to Phoenix in the summer.", "Phoenix"),
    ],
)
def test_a_move_of_software_is_no_home(text: str, home: str | None) -> None:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    slots = {fact.attribute: fact.value for fact in said_facts(messages)}
    assert slots.get("home city") == home


@pytest.mark.parametrize(
    ("text", "car"),
    [
        ("I drive the company van.", None),
        ("The company van is a Ford Transit.", None),
        ("I drive a company van.", None),
        ("I drive a Ford Transit.", "a Ford Transit"),
        ("I drive the old Golf.", "the old Golf"),
    ],
)
def test_a_vehicle_of_the_company_is_not_the_speakers_car(text: str, car: str | None) -> None:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    assert {fact.attribute: fact.value for fact in said_facts(messages)}.get("car") == car
