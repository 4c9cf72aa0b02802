"""What people say of their work fills no private slot."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from tests.talk import talk


def _slots(text: str) -> dict[str, str | None]:
    return {fact.attribute: fact.value for fact in said_facts(talk(text)) if fact.attribute}


@pytest.mark.parametrize(
    "text",
    [
        "I drive the Globex account.",
        "I'm engaged in the Helios project.",
        "I'm engaged with customers all day.",
        "I'm divorced from Java now.",
        "We have two children processes.",
        "We have two cats videos.",
        "My partner API is called Stripe.",
        "I work at the API layer.",
        "I'm from support.",
    ],
)
def test_an_idiom_of_work_fills_no_slot(text: str) -> None:
    assert _slots(text) == {}


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I drive the Tesla.", "car", "the Tesla"),
        ("I drive the old Golf.", "car", "the old Golf"),
        ("We got engaged in May.", "marital status", "engaged"),
        ("We got engaged in Paris.", "marital status", "engaged"),
        ("We are engaged with two kids.", "marital status", "engaged"),
        ("I'm divorced from Tom.", "marital status", "divorced"),
        ("We have two kids now.", "number of children", "2"),
        ("I have two dogs these days.", "number of dogs", "2"),
        ("My partner Lou is called Louise.", "name", "Louise"),
        ("i'm from lisbon", "origin", "Lisbon"),
        ("I work at the CIA.", "employer", "the CIA"),
        ("I work at the BBC as an editor.", "employer", "the BBC"),
        ("I work at the local library.", "employer", "the local library"),
    ],
)
def test_a_private_fact_fills_its_slot(text: str, attribute: str, value: str) -> None:
    assert _slots(text)[attribute] == value
