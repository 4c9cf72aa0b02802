"""A message states what is durable of its speaker, and beside its facts what these do not tell."""

from __future__ import annotations

import pytest

from memory_core.domain.memory import AtomicFact, Memory
from memory_core.domain.ranking.index_terms import analyse
from memory_core.domain.statements.beside_facts import stated_beside_facts, states_something_durable
from tests.builders import NOW, memory


def message(content: str, **fields: object) -> Memory:
    lexical = analyse(content, actor="user", event_timestamp=NOW)
    return memory(content, lexical=lexical, metadata={"message": 0}, **fields)


def beside(content: str, *facts: str) -> list[str]:
    """What a message states beside these facts of it."""
    formed = [
        AtomicFact(text=text, message=0, fact_id=f"mem_{number}")
        for number, text in enumerate(facts)
    ]
    cell = memory("a cell", id="cell", atomic_facts=formed)
    stated = stated_beside_facts([message(content, cell_id="cell")], {"cell": cell})
    return [memory.content for memory in stated]


@pytest.mark.parametrize(
    "content",
    [
        "Seit dem Hörsturz hör ich rechts fast nichts mehr.",
        "Im Keller baue ich Modellflugzeuge, schon seit zwanzig Jahren.",
        "My husband is deaf in one ear.",
        "I teach chemistry at a school in Hull.",
    ],
)
def test_a_durable_statement_of_its_speaker_is_one(content: str) -> None:
    assert states_something_durable(message(content))


@pytest.mark.parametrize(
    "content",
    [
        "ok danke",
        "Wie wird Leim hart?",
        "Bitte antworte immer kurz.",
        "Er wohnt in Kiel und hat zwei Hunde, so beginnt der Roman.",
        "Translate to German: I live in Rome and I teach chemistry",
        "I teach chemistry at a school in Hull. " * 8,
    ],
)
def test_a_question_a_wish_a_text_to_work_on_and_a_long_message_are_none(content: str) -> None:
    assert not states_something_durable(message(content))


def test_a_message_without_a_fact_is_kept_whole() -> None:
    assert beside("We live in Bath, so ok.") == ["We live in Bath, so ok."]


@pytest.mark.parametrize(
    ("content", "fact", "rest"),
    [
        (
            "I'm Nora, I teach chemistry at a school in Hull.",
            "User is called Nora",
            ["I teach chemistry at a school in Hull."],
        ),
        (
            "We live in Bath and my husband is deaf in one ear.",
            "User lives in Bath",
            ["My husband is deaf in one ear."],
        ),
        ("I live in Leeds with two cats.", "User lives in Leeds with two cats", []),
    ],
)
def test_a_clause_that_tells_a_fact_is_left_out(content: str, fact: str, rest: list[str]) -> None:
    assert beside(content, fact) == rest


def test_facts_of_other_messages_and_facts_without_a_memory_count_not() -> None:
    content = "My husband is deaf in one ear."
    facts = [
        AtomicFact(text="User's husband is deaf and called Tim", message=1, fact_id="mem_1"),
        AtomicFact(text="User's husband is deaf in one ear", message=0),
    ]
    cell = memory("a cell", id="cell", atomic_facts=facts)
    (stated,) = stated_beside_facts([message(content, cell_id="cell")], {"cell": cell})
    assert stated.content == content


def test_what_another_message_of_the_cell_said_in_the_same_words_is_told_by_its_fact() -> None:
    facts = [AtomicFact(text="User's husband is deaf in one ear", message=1, fact_id="mem_1")]
    cell = memory("a cell", id="cell", atomic_facts=facts)
    again = message("My husband is deaf in one ear.", cell_id="cell")
    assert stated_beside_facts([again], {"cell": cell}) == []
