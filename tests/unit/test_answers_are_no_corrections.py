"""A short denial right after a question answers it, and corrects nothing that was told before."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from tests.builders import NOW


def values_of(*texts: tuple[str, str]) -> dict[str | None, str | None]:
    messages = [Message(role=role, content=content, timestamp=NOW) for role, content in texts]
    return {fact.attribute: fact.value for fact in said_facts(messages) if fact.attribute}


@pytest.mark.parametrize(
    ("asked", "answered", "exam"),
    [
        ("Do you want to study on Monday?", "no, sunday", "Wednesday"),
        ("Shall I remind you on Monday?", "sorry, sunday", "Wednesday"),
        ("Shall I remind you?", "oh wait no, friday", "friday"),
        ("Wednesday, then?", "sorry, I meant friday", "friday"),
        ("Noted.", "no, friday", "friday"),
    ],
)
def test_a_denial_after_a_question_corrects_only_if_it_names_a_mistake(
    asked: str, answered: str, exam: str
) -> None:
    values = values_of(
        ("user", "My exam is on Wednesday."), ("assistant", asked), ("user", answered)
    )
    assert values == {"exam": exam}


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("weight is 81 now!", "81"),
        ("Vet visit with the rabbit today. Weight is 12 now", None),
        ("weight is 81 now, for the suitcase", None),
    ],
)
def test_a_weight_without_an_owner_is_the_speakers_only_if_it_opens_a_message(
    text: str, weight: str | None
) -> None:
    assert values_of(("user", text)).get("weight") == weight


@pytest.mark.parametrize(
    "text", ["The thesis is stressful, deadline is 18 December.", "Age is 140, rent is 70 now."]
)
def test_what_is_told_of_no_owner_fills_no_slot(text: str) -> None:
    assert values_of(("user", text)) == {}
