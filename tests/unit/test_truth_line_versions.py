"""Old versions in a line of truths: one of what is past makes nothing rise against what somebody let stand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.evolution.truth_line import joined

from memory_core.domain.models import Status
from memory_core.domain.versions import version_id
from tests.builders import NOW, memory

HISTORY: dict[str, Any] = {"status": Status.SUPERSEDED, "status_reason": "contradicted"}


def test_one_that_comes_between_what_stands_and_an_old_version_of_what_that_replaced_leads_nothing_back() -> None:
    day = [NOW + timedelta(days=number) for number in range(10)]
    stands = memory("stands", event_timestamp=day[1], valid_from=day[1], sequence=3)
    past = memory(
        "past", event_timestamp=day[5], valid_from=day[5], valid_until=day[5], next_id=stands.id, sequence=1, version=2, **HISTORY
    )
    old = past.model_copy(
        update={"id": version_id(past.id, 1), "version": 1, "event_timestamp": day[3], "valid_from": day[3], "valid_until": day[4]}
    )
    new = memory("new", event_timestamp=day[2], valid_from=day[2])
    placed, changes = joined(new, [stands, past, old], NOW)
    after = {one.id: one for one in (stands, past, *(change.after for change in changes), placed)}
    step: str | None = placed.id
    passed = list[str]()
    while step is not None and step not in passed:
        passed.append(step)
        step = after[step].next_id
    assert step is None
    assert after[passed[-1]].status is Status.ACTIVE
