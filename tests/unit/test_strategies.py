from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import pytest

from memory_core.domain.conflict import MAX_OPEN
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import MAX_CONTENT_BYTES, Memory, MemoryType, OnConflict, Outcome, Status
from memory_core.evolution.decide import Judgement, Verdict, judge
from memory_core.evolution.strategies import resolve
from memory_core.ports import Neighbour
from tests.builders import NOW, memory, unit

LATER = NOW + timedelta(days=30)
SLOT = {"type": MemoryType.SEMANTIC, "subject": "Ann", "attribute": "employer"}


def truth(content: str, day: int, **fields: object) -> Memory:
    moment = NOW + timedelta(days=day)
    values = {"id": f"mem_{content}", "event_timestamp": moment, "valid_from": moment, "embedding": unit(day)}
    return memory(content, **{**SLOT, **values, **fields})


def contradiction(old: Memory, *, certain: bool = True) -> Judgement:
    return Judgement(Verdict.CONTRADICTS, old, 0.9, 1.0 if certain else 0.5, "same slot, other value", (old,))


def test_auto_supersedes_what_is_certain_and_the_old_truth_ends_where_the_new_one_begins() -> None:
    old, new = truth("Fabrikam", 0), truth("Contoso", 5)
    done = resolve(new, contradiction(old), OnConflict.AUTO, LATER)
    states = {change.after.id: change.after for change in done.changes}
    assert done.outcome is Outcome.SUPERSEDED
    assert states[new.id].status is Status.ACTIVE
    assert states[new.id].supersedes_id == old.id
    assert (states[old.id].status, states[old.id].status_reason, states[old.id].next_id) == (Status.SUPERSEDED, "contradicted", new.id)
    assert states[old.id].valid_until == new.valid_from
    assert done.conflict is not None
    assert done.conflict.status == "resolved"


def test_auto_keeps_both_pending_when_a_rule_is_not_certain() -> None:
    old, new = truth("port 8080", 0), truth("port 8081", 5)
    done = resolve(new, contradiction(old, certain=False), OnConflict.AUTO, LATER)
    assert done.outcome is Outcome.KEPT_BOTH
    assert {change.after.status for change in done.changes} == {Status.ACTIVE}
    assert {change.after.conflict_state for change in done.changes} == {"pending"}
    assert done.conflict is not None
    assert done.conflict.status == "pending"


def test_only_so_many_questions_are_open_about_one_memory() -> None:
    asked = [f"cft_{n}" for n in range(MAX_OPEN)]
    for ids, status in ((asked[1:], "pending"), (asked, "resolved")):
        old, new = truth("port 8080", 0, conflict_ids=ids), truth("port 8081", 5)
        done = resolve(new, contradiction(old, certain=False), OnConflict.AUTO, LATER)
        assert done.outcome is Outcome.KEPT_BOTH
        assert done.conflict is not None
        assert done.conflict.status == status


def test_a_late_fact_is_stored_already_superseded() -> None:
    old, late = truth("Contoso", 5), truth("Fabrikam", 0)
    done = resolve(late, contradiction(old), OnConflict.AUTO, LATER)
    change, follows = done.changes
    assert done.outcome is Outcome.CREATED
    assert (change.after.status, change.after.next_id, change.after.valid_until) == (Status.SUPERSEDED, old.id, old.valid_from)
    assert (follows.after.id, follows.after.status, follows.after.supersedes_id) == (old.id, Status.ACTIVE, late.id)


@pytest.mark.parametrize("order", list(permutations(("A", "B", "C"))))
def test_every_order_of_three_contradicting_facts_ends_in_the_same_history(order: tuple[str, ...]) -> None:
    days = {"A": 1, "B": 2, "C": 3}
    held: dict[str, Memory] = {}
    for number, name in enumerate(order):
        new = truth(name, days[name])
        judgement = judge(new, [Neighbour(one, 0.5) for one in held.values()], 0.98)
        if judgement.verdict is Verdict.NEW:
            held[new.id] = new.model_copy(update={"sequence": number + 1})
            continue
        for change in resolve(new, judgement, OnConflict.AUTO, LATER).changes:
            held[change.after.id] = change.after.model_copy(update={"sequence": change.after.sequence or number + 1})
    first, second, third = (held[f"mem_{name}"] for name in "ABC")
    assert [one.status in FOUND_BY_DEFAULT for one in (first, second, third)] == [False, False, True]
    assert (first.next_id, second.next_id, third.next_id) == (second.id, third.id, None)
    assert (first.supersedes_id, second.supersedes_id, third.supersedes_id) == (None, first.id, second.id)
    assert (first.valid_until, second.valid_until, third.valid_until) == (second.valid_from, third.valid_from, None)


def test_reject_new_keeps_the_old_truth_and_a_record() -> None:
    old, new = truth("Fabrikam", 0), truth("Contoso", 5)
    done = resolve(new, contradiction(old), OnConflict.REJECT_NEW, LATER)
    assert (done.outcome, done.memory_id) == (Outcome.REJECTED, old.id)
    assert [change.after.id for change in done.changes] == [old.id]
    assert done.conflict is not None
    assert done.conflict.new_id is None


def test_merge_holds_both_texts_oldest_first_and_retires_the_source() -> None:
    old, new = truth("works at Fabrikam", 0, tags=["job"]), truth("works at Contoso", 5, tags=["work"])
    done = resolve(new, contradiction(old), OnConflict.MERGE, LATER)
    states = {change.after.id: change.after for change in done.changes}
    assert done.outcome is Outcome.MERGED
    assert states[new.id].content == "works at Fabrikam\nworks at Contoso"
    assert states[new.id].tags == ["job", "work"]
    assert {"fabrikam", "contoso"} <= set(states[new.id].search_text.split())
    assert (states[old.id].status, states[old.id].status_reason, states[old.id].next_id) == (Status.UPDATED, "consolidated", new.id)
    assert states[new.id].embedding is not None
    assert float((states[new.id].embedding ** 2).sum()) == pytest.approx(1.0, abs=1e-5)


def test_a_merge_that_would_be_too_long_keeps_both() -> None:
    half = "x" * (MAX_CONTENT_BYTES // 3)
    done = resolve(truth(half, 5), contradiction(truth(half + "y", 0)), OnConflict.MERGE, LATER)
    assert done.outcome is Outcome.KEPT_BOTH
    assert {change.after.status for change in done.changes} == {Status.ACTIVE}


def test_the_conflict_of_the_same_two_memories_has_the_same_id() -> None:
    old, new = truth("Fabrikam", 0), truth("Contoso", 5)
    ids = {resolve(new, contradiction(old), way, LATER).conflict.id for way in OnConflict if way is not OnConflict.AUTO}  # type: ignore[union-attr]
    assert len(ids) == 1
