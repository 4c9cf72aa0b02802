"""Each field of a filter leaves out, in pages and in searches of every store, what it excludes."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest

from memory_core.domain.memory import MemoryType, Status
from memory_core.domain.metadata_filter import read_conditions
from memory_core.ports import Filter, LongTermStore
from tests.builders import ALICE, NOW, memory, query, save, unit, where

DAY = timedelta(days=1)
EXCLUDES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "statuses": (frozenset({"active"}), {}, {"status": Status.DELETED}),
    "types": (frozenset({"episodic"}), {}, {"type": MemoryType.SEMANTIC}),
    "categories": (frozenset({"note"}), {"category": "note"}, {"category": "fact"}),
    "tags": (frozenset({"x"}), {"tags": ["x", "y"]}, {"tags": ["z"]}),
    "next_ids": (
        frozenset({"mem_1"}),
        {"next_id": "mem_1", "status": Status.SUPERSEDED},
        {"next_id": "mem_2", "status": Status.SUPERSEDED},
    ),
    "session_id": ("s1", {"session_id": "s1"}, {"session_id": "s2"}),
    "without_session_id": ("s1", {"session_id": "s2"}, {"session_id": "s1"}),
    "agent_id": ("a1", {"agent_id": "a1"}, {"agent_id": "a2"}),
    "since": (NOW - DAY, {"event_timestamp": NOW}, {"event_timestamp": NOW - 2 * DAY}),
    "until": (NOW - DAY, {"event_timestamp": NOW - 2 * DAY}, {"event_timestamp": NOW}),
    "at": (NOW - DAY, {"valid_from": NOW - 2 * DAY}, {"valid_from": NOW}),
    "now": (NOW, {"valid_until": NOW + DAY}, {"valid_until": NOW - DAY}),
    "hide_formed_messages": (
        True,
        {"category": "message"},
        {"category": "message", "cell_id": "mem_cell"},
    ),
    "metadata": (
        read_conditions({"room": "blue"}),
        {"metadata": {"room": "blue"}},
        {"metadata": {"room": "red"}},
    ),
}
"""Field → a value, the fields of a memory that stays, those of one that is left out."""
BY_THE_HEAD = {"unformed", "later_than"}
"""What a store itself sets, by the head that it knows."""
OF_RUNS = {"ended_by", "fading"}
"""What only pages of a run ask for, and how fading is reckoned (`test_faded.py`)."""


def test_each_field_of_a_filter_is_tried() -> None:
    assert {field.name for field in fields(Filter)} == {*EXCLUDES, *BY_THE_HEAD, *OF_RUNS}


@pytest.mark.parametrize("name", EXCLUDES)
async def test_a_filter_leaves_out_what_it_excludes(store: LongTermStore, name: str) -> None:
    value, stays, goes = EXCLUDES[name]
    plain: dict[str, Any] = {"embedding": unit(1), "valid_from": NOW - 3 * DAY}
    stays_in = memory("green tea", id="mem_shown", **(plain | stays))
    left_out = memory("green tea", id="mem_hidden", **(plain | goes))
    await save(store, stays_in, left_out)
    given = {name: value}
    if name == "next_ids":
        given["statuses"] = frozenset({"superseded"})
    page = await store.page(ALICE, "memory", where(**given), None, 10)
    assert [document.id for document in page] == ["mem_shown"]
    answer = await store.search(ALICE, query("tea", unit(1), **given))
    assert list(answer.candidates.ids) == ["mem_shown"]
