"""What is said to have happened long after now is refused at the door, so that no truth is the
latest for good.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.domain.errors import Invalid
from memory_core.domain.requests.maintenance import AgentMemoryInput, BatchInput, SummaryInput
from memory_core.domain.requests.memories import ConverseInput, SaveInput
from memory_core.functions.request_parsing import from_json
from tests.builders import NOW


def said(model: type[Any], moment: str) -> tuple[dict[str, Any], str]:
    """A request that dates something, and the name of the field that does."""
    if model is SaveInput:
        return {"content": "the door is blue", "event_timestamp": moment}, "event_timestamp"
    message = {"content": "the door is blue", "role": "user", "timestamp": moment}
    named = {"session_id": "s"} if model is BatchInput else {}
    return {
        "messages": [{**message, "timestamp": NOW.isoformat()}, message],
        **named,
    }, "messages.1.timestamp"


@pytest.mark.parametrize(
    "model", [SaveInput, ConverseInput, BatchInput, AgentMemoryInput, SummaryInput]
)
def test_a_day_ahead_is_a_wrong_clock_and_more_is_refused_by_name(model: type[Any]) -> None:
    tomorrow = NOW + timedelta(hours=24)
    from_json(model, said(model, tomorrow.isoformat())[0], now=NOW)
    for late in ((tomorrow + timedelta(seconds=1)).isoformat(), "9999-12-31T23:59:59Z"):
        fields, name = said(model, late)
        with pytest.raises(Invalid) as refused:
            from_json(model, fields, now=NOW)
        assert [error.field for error in refused.value.errors] == [name]
        assert "24 hours ahead" in refused.value.detail


def test_what_is_to_hold_from_some_day_on_may_be_told_before() -> None:
    item = from_json(
        SaveInput,
        {"content": "the office is in Porto", "valid_from": "2030-01-01T00:00:00Z"},
        now=NOW,
    )
    assert item.valid_from is not None
