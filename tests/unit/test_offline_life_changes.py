"""What changes in a life, by rule: the facts that a sentence tells of the user,
whether it is alone or within a talk.
"""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.truth.slots import NO_LONGER
from tests.life_changes import CHANGES, KNOWN, NO_CHANGES, OVER
from tests.talk import talk

AROUND = "a: Good morning, what is new?", "a: I see.", "Thanks for asking."


def told(*lines: str) -> dict[str, str]:
    """What the lines say of the user's slots, as far as it is not known already or about something
    that is not known.
    """
    values = {
        fact.attribute: fact.value
        for fact in said_facts(talk(*lines))
        if fact.attribute and fact.value and fact.subject == "user"
    }
    return {
        attribute: OVER if ends(attribute, value) else value
        for attribute, value in values.items()
        if bears(attribute, value)
    }


def ends(attribute: str, value: str) -> bool:
    return value in (NO_LONGER, f"{NO_LONGER} {KNOWN.get(attribute)}")


def bears(attribute: str, value: str) -> bool:
    if value.startswith(NO_LONGER):
        return ends(attribute, value)
    return attribute in KNOWN and KNOWN[attribute] != value


@pytest.mark.parametrize(
    ("sentence", "changed"), CHANGES, ids=[sentence for sentence, _ in CHANGES]
)
def test_a_change_is_told_of_its_slot_alone_and_within_a_talk(
    sentence: str, changed: dict[str, str]
) -> None:
    assert told(sentence) == changed
    assert told(AROUND[0], sentence, *AROUND[1:]) == changed


@pytest.mark.parametrize("sentence", NO_CHANGES)
def test_what_only_looks_like_a_change_is_none(sentence: str) -> None:
    assert told(sentence) == {}
    assert told(AROUND[0], sentence, *AROUND[1:]) == {}
