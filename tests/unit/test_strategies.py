from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.domain.conflict import MAX_OPEN
from memory_core.domain.memory import (
    MAX_CONTENT_BYTES,
    Memory,
    MemoryType,
    OnConflict,
    Outcome,
    Status,
)
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.judgements import Contradiction, Judgement, Verdict, resolve
from memory_core.evolution.slot_log import SlotLog
from memory_core.evolution.truth_commands import statement_in
from tests.builders import NOW, memory, unit

LATER = NOW + timedelta(days=30)
SLOT = {"type": MemoryType.SEMANTIC, "subject": "Ann", "attribute": "employer"}


def truth(content: str, day: int, **fields: object) -> Memory:
    moment = NOW + timedelta(days=day)
    values = {
        "id": f"mem_{content}",
        "event_timestamp": moment,
        "created_at": LATER,
        "valid_from": moment,
        "embedding": unit(day),
    }
    return memory(content, **{**SLOT, **values, **fields})


def met(new: Memory, old: Memory, *, certain: bool = True) -> Contradiction:
    name = slot_name(old)
    slot = (
        SlotLog.of_members(name, None, LATER, members=[old])
        if name is not None and certain
        else None
    )
    judgement = Judgement(
        Verdict.CONTRADICTS, old.id, old, 0.9, 1.0 if certain else 0.5, "same slot, other value"
    )
    return Contradiction(new, old, judgement, LATER, slot, [old] if certain else [])


def test_auto_supersedes_what_is_certain_and_leaves_the_old_truth_to_the_log() -> None:
    old, new = truth("Fabrikam", 0), truth("Contoso", 5)
    done = resolve(met(new, old), OnConflict.AUTO)
    assert done.outcome is Outcome.SUPERSEDED
    assert [(change.after.id, change.after.status) for change in done.changes] == [
        (new.id, Status.ACTIVE)
    ]
    assert done.conflict is not None
    assert done.conflict.status == "resolved"


def test_auto_keeps_both_pending_when_a_rule_is_not_certain() -> None:
    old, new = truth("port 8080", 0), truth("port 8081", 5)
    done = resolve(met(new, old, certain=False), OnConflict.AUTO)
    assert done.outcome is Outcome.KEPT_BOTH
    assert {change.after.status for change in done.changes} == {Status.ACTIVE}
    assert {change.after.conflict_state for change in done.changes} == {"pending"}
    assert done.conflict is not None
    assert done.conflict.status == "pending"


def test_only_so_many_questions_are_open_about_one_memory() -> None:
    asked = [f"cft_{n}" for n in range(MAX_OPEN)]
    for ids, status in ((asked[1:], "pending"), (asked, "resolved")):
        old, new = truth("port 8080", 0, conflict_ids=ids), truth("port 8081", 5)
        done = resolve(met(new, old, certain=False), OnConflict.AUTO)
        assert done.outcome is Outcome.KEPT_BOTH
        assert done.conflict is not None
        assert done.conflict.status == status


def test_a_late_fact_replaces_nothing() -> None:
    old, late = truth("Contoso", 5), truth("Fabrikam", 0)
    done = resolve(met(late, old), OnConflict.AUTO)
    assert done.outcome is Outcome.CREATED
    assert done.conflict is not None
    assert "came later" in done.conflict.reason


def test_reject_new_keeps_the_old_truth_and_a_record() -> None:
    old, new = truth("Fabrikam", 0), truth("Contoso", 5)
    done = resolve(met(new, old), OnConflict.REJECT_NEW)
    assert (done.outcome, done.memory_id) == (Outcome.REJECTED, old.id)
    assert [change.after.id for change in done.changes] == [old.id]
    assert done.conflict is not None
    assert done.conflict.new_id is None


def test_merge_holds_both_texts_oldest_first_and_retires_the_source() -> None:
    old, new = (
        truth("works at Fabrikam", 0, tags=["job"]),
        truth("works at Contoso", 5, tags=["work"]),
    )
    done = resolve(met(new, old), OnConflict.MERGE)
    states = {change.after.id: change.after for change in done.changes}
    assert done.outcome is Outcome.MERGED
    assert states[new.id].content == "works at Fabrikam\nworks at Contoso"
    assert states[new.id].tags == ["job", "work"]
    assert {"fabrikam", "contoso"} <= set(states[new.id].search_text.split())
    assert (states[old.id].status, states[old.id].status_reason, states[old.id].next_id) == (
        Status.UPDATED,
        "consolidated",
        new.id,
    )
    assert states[new.id].embedding is not None
    assert float((states[new.id].embedding ** 2).sum()) == pytest.approx(1.0, abs=1e-5)


def test_a_merge_that_would_be_too_long_keeps_both() -> None:
    half = "x" * (MAX_CONTENT_BYTES // 3)
    done = resolve(met(truth(half, 5), truth(half + "y", 0)), OnConflict.MERGE)
    assert done.outcome is Outcome.KEPT_BOTH
    assert {change.after.status for change in done.changes} == {Status.ACTIVE}


def test_the_conflict_of_the_same_two_memories_has_the_same_id() -> None:
    old, new = truth("Fabrikam", 0), truth("Contoso", 5)
    ids = {
        resolve(met(new, old), way).conflict.id for way in OnConflict if way is not OnConflict.AUTO
    }  # type: ignore[union-attr]
    assert len(ids) == 1


def test_of_two_statements_of_one_time_the_one_that_is_added_comes_last() -> None:
    """Of twenty values that are saved for a key at once each is the next version,
    none an earlier one that arrived late.
    """
    old, new = truth("Fabrikam", 0), truth("Contoso", 0)
    slot = met(new, old).slot
    assert slot is not None
    assert [
        statement_in(slot, new).order > statement.order for statement in slot.account.statements
    ] == [True]
