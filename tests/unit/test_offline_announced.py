"""A job that is announced is read with its employer, and nothing else that begins."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memory_core.adapters.offline.announced_facts import announced_facts
from memory_core.adapters.offline.foresight import said_foresight
from memory_core.domain.conversation import Message
from memory_core.domain.statements.announced import is_announced

FRIDAY = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("On 1 October I'm starting at Airbus as a machine learning engineer", {"Airbus", "machine learning engineer"}),
        ("I start at Airbus on Monday.", {"Airbus"}),
        ("I start work as a nurse at St. Mary's Hospital on Monday.", {"St. Mary's Hospital", "nurse"}),
        ("From March I'll be working at Bosch.", {"Bosch"}),
        ("From March, I will be working for Bosch, and I'm thrilled.", {"Bosch"}),
        ("I'm joining Contoso in June as a data analyst.", {"Contoso", "data analyst"}),
        ("I'll be working at Starbucks tomorrow.", set()),
        ("I'm joining Anna on Monday.", set()),
        ("I start at Stanford University in September.", set()),
        ("If all goes well, I start at Airbus on Monday.", set()),
        ("Should I start at Airbus on Monday?", set()),
        ("I started at Airbus on Monday.", set()),
        ("I start at nine on Monday.", set()),
        ("Anna said: I start at Airbus on Monday.", set()),
    ],
)
def test_an_announced_job_is_read_with_what_it_is_and_where(said: str, facts: set[str]) -> None:
    messages = [Message(role="user", content=said, timestamp=FRIDAY)]
    announced = announced_facts(messages, said_foresight(messages))
    assert {fact.value for fact in announced} == facts
    assert all(is_announced(fact) for fact in announced)
