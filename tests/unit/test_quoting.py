"""Which of several memories that tell the same are quoted: turns, or what was formed of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.domain.memory import MemoryType
from memory_core.domain.note import FIRST_AT
from memory_core.domain.text.analyzer import tokens
from memory_core.recollection.quotations import (
    QuotableMemory,
    choose_quotations,
    piece,
    superseded_facts_by_turn,
    text_for,
)
from memory_core.recollection.superseded_facts import SupersededFact
from tests.builders import NOW, memory

QUERY = tokens("where did the red boat sink")
LONG = (
    "Well, and then, as I said before, you know, the red boat did sink, and all of that near "
    "Porto, can you believe it?"
)


def found(
    identity: str,
    content: str,
    category: str | None,
    relevance: float,
    cell: str | None = "cell_1",
    **fields: Any,
) -> QuotableMemory:
    stored_memory = memory(
        id=identity,
        type=MemoryType.EPISODIC,
        content=content,
        category=category,
        cell_id=cell,
        **fields,
    )
    return QuotableMemory(stored_memory, relevance, relevance)


def ids(*given: QuotableMemory) -> list[str]:
    return [quotation.memory.id for quotation in choose_quotations(given)]


def test_turns_are_quoted_and_not_the_story_and_the_note_of_their_cell() -> None:
    story = found(
        "cell_1",
        "They spoke of a red boat and of much else that day, over lunch and long after it, by "
        "the sea.",
        "cell",
        0.7,
        None,
    )
    note = found("note_1", "## Summary\nA boat.", "note", 0.6)
    assert ids(
        found("t1", "the red boat did sink", "message", 0.8),
        story,
        note,
        found("t2", "near Porto", "message", 0.4),
    ) == ["t1", "t2"]


def test_what_no_turn_may_tell_is_quoted_in_the_place_of_the_story() -> None:
    story = found("cell_1", "A boat sank near Porto. We cook.", "cell", 0.7, None)
    turn, note = (
        found("t1", "the red boat did sink", "message", 0.8),
        found("note_1", "A boat.", "note", 0.6),
    )
    rest = memory(id="cell_1", type=MemoryType.EPISODIC, content="We cook.", category="message")
    chosen = choose_quotations([turn, story, note], {"cell_1": rest})
    assert [quotation.memory.content for quotation in chosen] == [
        "the red boat did sink",
        "We cook.",
    ]
    assert [quotation.priority for quotation in chosen] == [0.8, 0.7]


def test_a_story_that_says_it_shorter_does_not_stand_for_its_turns() -> None:
    story = found("cell_1", "The red boat did sink near Porto.", "cell", 0.8, None)
    assert ids(
        story, found("t1", LONG, "message", 0.7), found("t2", f"{LONG} Really.", "message", 0.5)
    ) == ["t1", "t2"]


def test_of_a_story_and_its_note_the_better_stands_and_facts_each_for_themselves() -> None:
    story, note = (
        found("cell_1", "The red boat sank.", "cell", 0.5, None),
        found("note_1", "The red boat.", "note", 0.6),
    )
    fact = found("fact_1", "Ana has a red boat", "fact", 0.4)
    assert ids(note, story, fact, found("other", "a red boat", None, 0.3, None)) == [
        "note_1",
        "fact_1",
        "other",
    ]


def test_a_fact_is_not_quoted_beside_a_short_turn_that_says_it() -> None:
    turn = found("t1", "Thanks! My red boat did sink near Porto.", "message", 0.8, actor="Ana")
    fact = found("fact_1", "Ana's red boat did sink near Porto", "fact", 0.7)
    assert ids(turn, fact) == ["t1"]
    assert ids(turn, found("fact_1", "Ana keeps bees behind the mill", "fact", 0.7)) == [
        "t1",
        "fact_1",
    ]
    assert ids(turn, found("fact_1", "Ana's boat is a ketch", "fact", 0.7)) == ["t1", "fact_1"]
    assert ids(turn, found("fact_1", "Ana's red boat did sink", "fact", 0.7, "cell_2")) == [
        "t1",
        "fact_1",
    ]
    assert ids(
        turn, found("fact_1", "Ana's red boat did sink", "fact", 0.7, conflict_state="pending")
    ) == ["t1", "fact_1"]


def test_a_fact_is_quoted_beside_a_long_turn_that_says_it() -> None:
    turn = found(
        "t1", f"My red boat did sink. {'And so it went on, word by word. ' * 20}", "message", 0.8
    )
    slot = {"subject": "ana", "attribute": "boat", "value": "red"}
    assert ids(turn, found("fact_1", "Ana's boat is red", "fact", 0.7, **slot)) == ["t1", "fact_1"]
    assert ids(turn, found("fact_1", "Ana's red boat did sink", "fact", 0.7)) == ["t1"]


def test_a_note_is_told_without_headings_tags_and_keywords() -> None:
    note = found(
        "note_1",
        "## Summary\nThe red boat sank.\n\n## Guidance\nDo: Ask first.\n\n---\nTags: boat | "
        "Keywords: red, Porto",
        "note",
        1,
    )
    assert text_for(note.memory, QUERY) == "The red boat sank. Do: Ask first."


def test_a_superseded_fact_is_said_beside_the_turn_that_told_it() -> None:
    turns = [
        found("t1", "I like the sea", "message", 0.9),
        found("t2", "I live in Oslo now", "message", 0.5),
    ]
    lives_in_oslo = SupersededFact("The user lives in Oslo", "mem_2", None)
    assert superseded_facts_by_turn(turns, {"cell_1": [lives_in_oslo]}) == {"t2": (lives_in_oslo,)}
    assert superseded_facts_by_turn(turns[:1], {"cell_1": [lives_in_oslo]}) == {}


def test_a_note_of_several_days_says_from_which_on() -> None:
    def mark_of(**metadata: str) -> str:
        note = memory(
            id="note", type=MemoryType.SEMANTIC, content="a", category="note", metadata=metadata
        )
        quoted = piece(note, priority=1.0, superseded=(), terms=QUERY, moment=NOW)
        assert quoted is not None
        return quoted.mark

    first = NOW - timedelta(days=40)
    assert mark_of(**{FIRST_AT: first.isoformat()}) == (
        f"told from {first.date().isoformat()} on, in this order"
    )
    assert mark_of(**{FIRST_AT: NOW.isoformat()}) == ""
    assert mark_of() == ""
