"""Two that contradict each other, decided by time: no chain branches, and none runs in a circle."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.consolidation.conflicts import LOOK_AGAIN, by_rule, is_due
from memory_core.domain.conflict import ConflictRecord, Earlier
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Head, Memory, MemoryType, Status
from memory_core.domain.requests.maintenance import ResolveInput
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.decisions import decide, decide_by_time, reads_of
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document
from tests.builders import ALICE, NOW, document, memory

SLOT: dict[str, Any] = {"subject": "user", "attribute": "home city"}


def truth(name: str, day: int = 0, **fields: Any) -> Memory:
    when = NOW + timedelta(days=day)
    given = {
        "type": MemoryType.SEMANTIC,
        "event_timestamp": when,
        "valid_from": when,
        "sequence": day + 1,
        **fields,
    }
    return memory(f"lives in {name}", id=f"mem_{name}", **given)


def record(**fields: Any) -> ConflictRecord:
    given = {
        "status": "pending",
        "confidence": 0.5,
        "strategy": "keep_both",
        "reason": "unsure",
        "at": NOW,
        **fields,
    }
    return ConflictRecord.model_validate(
        {"id": "cft_1", "old_id": "mem_a", "new_id": "mem_b", **given}
    )


def page(*memories: Memory) -> tuple[ChangeSet, Document]:
    conflict_document = Document(
        "cft_1", "conflict", {"epoch": "epoch-1", "sequence": 1, **record().model_dump(mode="json")}
    )
    documents = {memory.id: document(memory) for memory in memories} | {"cft_1": conflict_document}
    look = ReadSet(Head(epoch="epoch-1", sequence=9), documents)
    return ChangeSet(ALICE, look, NOW + timedelta(days=9), weighs=True), conflict_document


@pytest.mark.parametrize(("a", "b", "holds"), [(0, 1, "b"), (1, 0, "a"), (2, 2, "b")])
def test_whichever_was_told_last_holds_and_the_other_leads_to_it(
    a: int, b: int, holds: str
) -> None:
    sheet, conflict_document = page(truth("a", a), truth("b", b))
    made = decide_by_time(sheet, conflict_document, "the last one holds", "rule")
    falls = "a" if holds == "b" else "b"
    assert (made.status, made.strategy, {move.memory_id for move in made.moves}) == (
        "resolved",
        "supersede",
        {"mem_a", "mem_b"},
    )
    fallen, stays = sheet.memory(f"mem_{falls}"), sheet.memory(f"mem_{holds}")
    assert fallen is not None
    assert stays is not None
    assert (fallen.status, fallen.next_id, stays.status, stays.supersedes_id) == (
        Status.SUPERSEDED,
        stays.id,
        Status.ACTIVE,
        fallen.id,
    )


@pytest.mark.parametrize(
    "way",
    [
        {"mem_b": "mem_a"},
        {"mem_b": "mem_c", "mem_c": "mem_a"},
        {"mem_a": "mem_c"},
        {"mem_b": "mem_c", "mem_c": "mem_d", "mem_d": "mem_c"},
        {"mem_b": "mem_gone"},
    ],
)
def test_a_side_that_leads_on_already_is_refused(way: dict[str, str]) -> None:
    all_of = [truth(name, day, next_id=way.get(f"mem_{name}")) for day, name in enumerate("abcd")]
    sheet, conflict_document = page(*all_of)
    with pytest.raises(Conflict, match="lead"):
        decide_by_time(sheet, conflict_document, "because", "rule")
    assert not sheet.changes


def test_both_sides_are_read_for_a_decision() -> None:
    sheet, _ = page(truth("a"), truth("b", 1, next_id="mem_c"))
    assert reads_of(ALICE, record(), sheet.read_set) == ["mem_a", "mem_b"]


def test_what_replaces_its_own_successor_does_not_name_it_as_the_one_before() -> None:
    sheet, conflict_document = page(truth("a", 0, supersedes_id="mem_b"), truth("b", 1))
    decide(sheet, conflict_document, ResolveInput(decision="supersede"), "ana")
    stays = sheet.memory("mem_b")
    assert stays is not None
    assert stays.supersedes_id is None


@pytest.mark.parametrize(
    ("old", "new", "decision"),
    [
        (truth("a", **SLOT, value="Berlin"), truth("b", 1, **SLOT, value="Lisbon"), "last"),
        (truth("a", **SLOT, value="Berlin"), truth("b", 1, **SLOT, value="Berlin"), "both"),
        (
            truth("a", **SLOT, value="Berlin"),
            truth("b", 1, **SLOT, value={"no_longer": "Berlin"}),
            "last",
        ),
        (
            truth("a", **SLOT, value="Berlin"),
            truth("b", 1, **SLOT, value={"no_longer": "Rome"}),
            "both",
        ),
        (
            truth("a", **SLOT, value="Berlin", valid_until=NOW + timedelta(days=1)),
            truth("b", 1, **SLOT, value="Lisbon"),
            "both",
        ),
        (
            truth("a", **SLOT, value="Berlin", pinned=True),
            truth("b", 1, **SLOT, value="Lisbon"),
            "open",
        ),
        (
            truth("a", **SLOT, value="Berlin"),
            truth("b", 1, **SLOT, value="Lisbon", pinned=True),
            "last",
        ),
        (
            truth("a", **SLOT, value="Berlin", status_reason="restored"),
            truth("b", 1, **SLOT, value="Lisbon"),
            "open",
        ),
    ],
)
def test_rules_are_certain_of_what_a_slot_says_alone(
    old: Memory, new: Memory, decision: str
) -> None:
    verdict = by_rule(old, new)
    assert verdict is not None
    assert verdict.decision == decision


def test_no_rule_is_certain_of_what_fills_no_slot() -> None:
    assert by_rule(truth("a"), truth("b", 1)) is None


@pytest.mark.parametrize(
    ("fields", "changed_ids", "after", "due"),
    [
        ({}, (), timedelta(), True),
        ({"looked_at": NOW}, (), timedelta(hours=23), False),
        ({"looked_at": NOW}, (), LOOK_AGAIN, True),
        ({"looked_at": NOW}, (), timedelta(hours=-3), True),  # by a clock that was hours ahead
        ({"looked_at": NOW}, ("mem_b",), timedelta(hours=1), True),
        ({"looked_at": NOW}, ("mem_x",), timedelta(hours=1), False),
        ({"status": "resolved"}, ("mem_b",), LOOK_AGAIN, False),
        (
            {"previous": Earlier(strategy="supersede", reason="", by="rule", at=NOW)},
            ("mem_b",),
            LOOK_AGAIN,
            False,
        ),
        ({"by": "ana"}, ("mem_b",), LOOK_AGAIN, False),
        ({"new_id": None}, ("mem_a",), LOOK_AGAIN, False),
    ],
)
def test_a_question_is_due_when_it_is_new_or_a_side_changed_or_a_day_later(
    fields: dict[str, Any], changed_ids: tuple[str, ...], after: timedelta, *, due: bool
) -> None:
    assert is_due(record(**fields), changed_ids, NOW + after, only_changed=False) is due
