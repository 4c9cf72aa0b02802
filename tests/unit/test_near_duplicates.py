"""Who is whose near-duplicate, who stays, and what becomes of both: the same from whichever
side one asks.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.consolidation.duplicates import (
    Likeness,
    add_link,
    likeness,
    merge_fields,
    supersede,
    survivor_and_other,
)
from memory_core.domain.memory import Memory, MemoryType, Status
from tests.builders import NOW, memory

TEXTS = (
    "Ana likes tea",
    "Ana likes tea.",
    "Ana likes the tea",
    "Ana likes coffee",
    "Ana doesn't like tea",
    "Ana likes 2 teas",
    "Tom likes tea",
)
UNIT = np.array([1.0, 0.0], dtype=np.float32)


def held(content: str = "Ana likes tea", *, near: bool = True, **fields: Any) -> Memory:
    vector = UNIT if near else np.array([0.0, 1.0], dtype=np.float32)
    return memory(
        content, **{"type": MemoryType.SEMANTIC, "category": "fact", "embedding": vector, **fields}
    )


MEMORIES = st.builds(
    held,
    st.sampled_from(TEXTS),
    near=st.booleans(),
    id=st.integers(0, 999).map(lambda number: f"mem_{number}"),
    category=st.sampled_from(["fact", "note", "pattern", None]),
    pinned=st.booleans(),
    confidence=st.sampled_from([0.5, 1.0]),
    sequence=st.integers(1, 5),
    valid_until=st.sampled_from([None, NOW + timedelta(days=1)]),
    status=st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.COMPRESSED, Status.SUPERSEDED]),
)


@given(MEMORIES, MEMORIES)
@settings(max_examples=150, deadline=None)
def test_both_sides_see_the_same_and_agree_on_who_stays(
    stored_memory: Memory, other: Memory
) -> None:
    assert likeness(stored_memory, other, 0.9) == likeness(other, stored_memory, 0.9)
    assert likeness(stored_memory, stored_memory, 0.9) is None
    if stored_memory.id != other.id:
        assert survivor_and_other(stored_memory, other) == survivor_and_other(other, stored_memory)
    if likeness(stored_memory, other, 0.9) is not None:
        stays, goes = survivor_and_other(stored_memory, other)
        after = merge_fields(stays, goes, "2026")
        gone = supersede(goes, after, NOW)
        assert not goes.pinned
        assert likeness(after, gone, 0.9) is None
        assert (gone.next_id, gone.status) == (stays.id, Status.UPDATED)
        assert after.valid_from <= gone.valid_from
        assert after.confidence >= max(stored_memory.confidence, other.confidence) - 1e-9


@pytest.mark.parametrize(
    ("fields", "alike"),
    [
        ({}, Likeness.SAME),
        ({"near": False}, Likeness.SAME),
        ({"content": "Ana likes the tea"}, Likeness.SAME),
        ({"content": "Ana likes the tea", "near": False}, None),
        ({"content": "Ana likes black tea"}, None),
        ({"category": "note"}, None),
        ({"category": "preference"}, Likeness.SAME),
        ({"conflict_ids": ["cft_1"]}, None),
        ({"status": Status.COMPRESSED}, None),
        ({"type": MemoryType.EPISODIC}, None),
        ({"agent_id": "a"}, None),
        ({"value": 1}, None),
        ({"subject": "Ana", "attribute": "drink"}, Likeness.SAME),
    ],
)
def test_what_makes_a_duplicate(fields: dict[str, Any], alike: Likeness | None) -> None:
    assert likeness(held(value=2 if "value" in fields else None), held(**fields), 0.9) is alike


def test_notes_that_differ_in_words_are_put_into_one_and_facts_are_not() -> None:
    for category, alike in (("note", Likeness.ADDS), ("fact", None), ("pattern", None)):
        assert (
            likeness(
                held("Ana likes tea", category=category),
                held("Ana likes tea with milk", category=category),
                0.9,
            )
            is alike
        )
    assert (
        likeness(
            held("Ana usually sails", category="pattern"),
            held("Ana often sails", category="pattern"),
            0.9,
        )
        is Likeness.SAME
    )
    assert (
        likeness(
            held("Ana likes 2 teas", category="note"),
            held("Ana likes 3 teas", category="note"),
            0.9,
        )
        is None
    )


def test_a_link_is_made_once() -> None:
    newer, older = held(id="mem_2"), held(id="mem_1")
    first = add_link(newer, older)
    assert first is not None
    assert [
        (link.memory_id, link.relationship_type, link.similarity_score) for link in first.links
    ] == [("mem_1", "duplicate", 1.0)]
    assert add_link(first, older) is None
