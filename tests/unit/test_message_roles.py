"""Who a message is from, in the words of those who send it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from memory_core.domain.errors import Invalid
from memory_core.domain.requests.maintenance import AgentMemoryInput, BatchInput, SummaryInput
from memory_core.domain.requests.memories import ConverseInput
from memory_core.functions.request_parsing import from_json

SESSION: dict[type[BaseModel], dict[str, Any]] = {
    ConverseInput: {},
    BatchInput: {"session_id": "s"},
    AgentMemoryInput: {},
    SummaryInput: {},
}


def told(model: type[BaseModel], role: str) -> Any:
    message = {"role": role, "content": "I moved to Lisbon", "timestamp": "2026-05-08T13:56:00Z"}
    return from_json(model, {"messages": [message], **SESSION[model]})


@pytest.mark.parametrize("model", SESSION)
@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("human", "user"),
        ("ai", "assistant"),
        ("model", "assistant"),
        ("developer", "system"),
        ("function", "tool"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("system", "system"),
        ("tool", "tool"),
    ],
)
def test_the_roles_of_other_apis_are_taken_as_ours(
    model: type[BaseModel], given: str, taken: str
) -> None:
    assert told(model, given).messages[0].role == taken


@pytest.mark.parametrize("model", SESSION)
@pytest.mark.parametrize("role", ["bot", "Human", ""])
def test_another_role_is_refused_with_those_that_are_known(
    model: type[BaseModel], role: str
) -> None:
    with pytest.raises(Invalid) as refused:
        told(model, role)
    (error,) = refused.value.errors
    assert error.field == "messages.0.role"
    assert "'user', 'assistant', 'system' or 'tool'" in error.message
