"""Truths of one slot and what is told of their ends: one line, in whatever order it is told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.endings import ends, is_ending, value_told
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, allowed
from memory_core.domain.models import Memory, MemoryType, OnConflict, Status
from memory_core.evolution.decide import Verdict, judge
from memory_core.evolution.strategies import resolve
from memory_core.evolution.truth_line import followed
from memory_core.ports import Neighbour
from tests.builders import NOW, memory

SLOT = {"type": MemoryType.SEMANTIC, "subject": "user", "attribute": "home city"}


def told(value: str, day: int) -> Memory:
    moment = NOW + timedelta(days=day)
    values = {"value": value_told(value), "value_text": value, "event_timestamp": moment, "valid_from": moment, "sequence": day + 1}
    return memory(f"{value} on day {day}", id=f"{value}@{day}", **{**SLOT, **values})


def arriving(line: Sequence[Memory]) -> dict[str, Memory]:
    """What is stored when they are told in this order."""
    held: dict[str, Memory] = {}
    for new in line:
        judgement = judge(new, [Neighbour(one, 0.0) for one in held.values()], 0.98)
        if judgement.verdict is Verdict.NEW:
            held[new.id] = new
            continue
        for change in resolve(new, judgement, OnConflict.AUTO, NOW).changes:
            before = held.get(change.after.id)
            assert before is change.before
            assert before is None or before.status is change.after.status or change.after.status in allowed(before.status)
            held[change.after.id] = change.after
    return held


def standing(held: dict[str, Memory]) -> list[str]:
    return [one.id for one in held.values() if one.status in FOUND_BY_DEFAULT]


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        (["Berlin", "no longer Berlin"], "no longer Berlin"),
        (["Berlin", "no longer"], "no longer"),
        (["Lisbon", "no longer Berlin"], "Lisbon"),
        (["Berlin", "no longer Berlin", "Lisbon"], "Lisbon"),
        (["Lisbon", "Berlin", "no longer Berlin"], "no longer Berlin"),
        (["Berlin", "Lisbon", "no longer Berlin"], "Lisbon"),
        (["no longer Berlin", "Lisbon"], "Lisbon"),
        (["Berlin", "no longer Berlin", "no longer Rome"], "no longer Rome"),
    ],
)
def test_an_ending_ends_what_it_names_and_nothing_else(line: list[str], holds: str) -> None:
    memories = [told(value, day) for day, value in enumerate(line)]
    held = arriving(memories)
    assert standing(held) == [one.id for one in memories if one.value_text == holds]


def test_what_has_ended_is_history_with_the_ending_as_its_successor() -> None:
    berlin, ending = told("Berlin", 0), told("no longer Berlin", 5)
    held = arriving([berlin, ending])
    old, new = held[berlin.id], held[ending.id]
    assert (old.status, old.status_reason, old.next_id, old.valid_until) == (
        Status.SUPERSEDED,
        "contradicted",
        ending.id,
        ending.valid_from,
    )
    assert (new.status, new.supersedes_id, new.value) == (Status.ACTIVE, berlin.id, {"no_longer": "Berlin"})


def test_an_ending_of_something_else_leads_to_what_holds_and_changes_it_not() -> None:
    lisbon, ending = told("Lisbon", 0), told("no longer Berlin", 5)
    held = arriving([lisbon, ending])
    assert held[lisbon.id] is lisbon
    assert (held[ending.id].status, held[ending.id].next_id) == (Status.SUPERSEDED, lisbon.id)


VALUES = st.sampled_from(["Berlin", "Lisbon", "Rome", "no longer Berlin", "no longer Lisbon", "no longer Paris", "no longer"])


@settings(max_examples=300)
@given(st.lists(VALUES, min_size=1, max_size=6).filter(lambda one: len(set(one)) == len(one)), st.data())
def test_whatever_arrives_first_the_line_is_the_same_in_the_end(values: list[str], data: st.DataObject) -> None:
    line = [told(value, day) for day, value in enumerate(values)]
    held = arriving(data.draw(st.permutations(line)))
    assert {name: one.next_id for name, one in held.items()} == followed(line)
    assert [one.status is Status.SUPERSEDED for one in held.values()] == [one.next_id is not None for one in held.values()]
    assert len(standing(held)) == 1
    assert all(one.valid_until is None for one in held.values() if one.status is Status.ACTIVE)


@pytest.mark.parametrize(
    ("value", "content", "named", "expected"),
    [
        ("Berlin", "x", "berlin", True),
        ("the Charité", "x", "Charité", True),
        ("Berlin", "x", "Lisbon", False),
        (None, "Ana lives in Berlin now", "Berlin", True),
        (None, "Ana lives in Berlin now", "Lisbon", False),
        (None, "Ana lives in Berlingen now", "Berlin", False),
        (7, "x", "7", True),
    ],
)
def test_what_an_ending_names(value: object, content: str, named: str, expected: bool) -> None:
    ending = memory("x", value=value_told(f"no longer {named}"))
    assert ends(ending, memory(content, value=value)) is expected
    assert ends(memory("x", value=value_told("No longer")), memory(content, value=value))
    assert not ends(memory(content, value=value), ending)
    assert not ends(ending, ending)


@pytest.mark.parametrize("value", ["no longerness", "Berlin", None, {"no_longer": "x", "more": 1}, "none", ["no_longer"]])
def test_other_values_are_no_endings(value: object) -> None:
    kept = value_told(value) if isinstance(value, str) else value
    assert kept == value
    assert not is_ending(memory("x", value=kept))
