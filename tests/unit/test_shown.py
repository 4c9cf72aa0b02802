from collections.abc import Sequence

import pytest

from memory_core.domain.agent_schemas import Decisions
from memory_core.domain.memory import Memory, MemoryType
from memory_core.evolution.agent_rulings import MAX_HELD, ConflictPrompt, Rulings
from memory_core.evolution.links import LinkRules, find_compared
from memory_core.ports import Neighbour
from tests.builders import NOW, memory

RULES = LinkRules(duplicate_threshold=0.98, link_threshold=0.5)


def fact(content: str, cell: str | None = "mem_old_cell", **fields: object) -> Memory:
    given = {"type": MemoryType.SEMANTIC, "category": "fact", "cell_id": cell} | fields
    return memory(content, **given)


def shown(new: Memory, older: Sequence[Memory]) -> ConflictPrompt:
    return ConflictPrompt.of(
        [(new, find_compared(new, [Neighbour(memory, 0.8) for memory in older], RULES, NOW))]
    )


def ruled(seen: ConflictPrompt, **decision: object) -> Rulings:
    given = {"new": 0, "memory": 0, "operation": "DELETE", "confidence_score": 0.9} | decision
    return Rulings.of(seen, Decisions.model_validate({"decisions": [given]}), "a model")


NEW = fact("Ana lives in Lisbon", cell="mem_new_cell")
OLD = fact("Ana lives in Berlin")


def test_a_decision_is_about_what_was_shown_under_its_number() -> None:
    seen = shown(NEW, [OLD])
    assert seen.items()[1][0].text == OLD.content
    decision = ruled(seen).on(NEW, OLD)
    assert decision is not None
    assert decision.operation == "DELETE"


@pytest.mark.parametrize("numbers", [{"memory": 1}, {"new": 1}, {"memory": 4096}])
def test_a_memory_that_was_not_shown_is_dropped_and_counted(numbers: dict[str, int]) -> None:
    rulings = ruled(shown(NEW, [OLD]), **numbers)
    assert rulings.invented == 1
    assert rulings.on(NEW, OLD) is None


@pytest.mark.parametrize(
    ("older", "decision"),
    [
        (fact("Ana lives in Berlin", pinned=True), {"operation": "UPDATE"}),
        (OLD, {"confidence_score": 0.5}),
        (fact("Bruno likes chess"), {}),
        (memory("Ana lives in Berlin", category="fact"), {}),
        (fact("Ana lives in Berlin", category="note"), {}),
        (fact("Ana lives in Lisbon since 2019"), {"operation": "SKIP"}),
        (fact("Ana lives in Lisbon"), {"operation": "SKIP", "confidence_score": 0.6}),
    ],
    ids=[
        "pinned",
        "unsure",
        "about something else",
        "episodic",
        "another category",
        "a number would be lost",
        "an unsure skip",
    ],
)
def test_an_agents_word_alone_retires_nothing(older: Memory, decision: dict[str, object]) -> None:
    assert ruled(shown(NEW, [older]), **decision).on(NEW, older) is None


def test_memories_of_the_same_cell_are_not_shown_to_each_other() -> None:
    assert shown(NEW, [fact("Ana lives in Porto", cell="mem_new_cell")]).older == ()


def test_the_key_names_exactly_what_was_shown() -> None:
    assert shown(NEW, [OLD]).key == shown(NEW, [OLD]).key
    assert (
        shown(NEW, [OLD]).key
        != shown(NEW, [OLD.model_copy(update={"content": "Ana lives in Bonn"})]).key
    )
    assert shown(NEW, [OLD]).key != shown(NEW, []).key


def test_no_more_than_twenty_memories_are_shown() -> None:
    news = [fact(f"Ana has {number} cats", cell="mem_new_cell") for number in range(6)]
    linked = [
        (
            new,
            find_compared(
                new,
                [Neighbour(fact(f"cats {number} {place}"), 0.8) for place in range(15)],
                RULES,
                NOW,
            ),
        )
        for number, new in enumerate(news)
    ]
    assert len(ConflictPrompt.of(linked).older) == MAX_HELD


def test_an_ending_is_a_doubt_about_what_has_no_word_of_it() -> None:
    mother = {"subject": "user's mother"}
    home = fact("User's mother lives in York", attribute="home city", value="York", **mother)
    died = fact(
        "User's mother died",
        cell="mem_new_cell",
        attribute="status",
        value={"no_longer": "alive"},
        **mother,
    )
    seen = shown(died, [home])
    assert ruled(seen).doubt(died, home) == "but a model says: they can't both be true"
    assert ruled(seen, confidence_score=0.4).doubt(died, home) is None
