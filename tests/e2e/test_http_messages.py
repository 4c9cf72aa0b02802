"""Over HTTP, in both profiles: what was told is found straight after the answer,
while nothing can be formed of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host import memories, running
from tests.messages import lines, rare_words
from tests.ports import kept_for

COUNT = 20


class Model:
    """A model's service that does not answer."""


@pytest.fixture
def held_back(tmp_path: Path, settings: dict[str, str]) -> Iterator[httpx.Client]:
    """A host whose model does not answer, so that conversations wait to be formed."""
    model = Model()
    address = f"http://127.0.0.1:{kept_for(model)}/v1"
    away = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": address, "LLM_API_KEY": "k", "LLM_MODEL": "m"}
    with running(tmp_path / "host", **settings, **away) as client:
        yield client


def said(result: dict[str, Any]) -> list[str]:
    return [result["memory"]["content"], *(passage["text"] for passage in result["passages"])]


def test_all_that_was_told_is_found_while_nothing_is_formed(held_back: httpx.Client) -> None:
    messages = [
        {"role": "user", "content": content, "timestamp": f"2026-05-08T13:{place:02}:00Z"}
        for place, content in enumerate(lines(COUNT))
    ]
    answer = held_back.post(
        "/api/v1/memories", json={"user_id": "ana", "session_id": "monday", "messages": messages}
    )
    assert (answer.status_code, answer.json()["degraded"]) == (202, [])
    for number, content in enumerate(lines(COUNT)):
        asked = {"user_id": "ana", "query": rare_words(number)}
        hits = held_back.post("/api/v1/memories/retrieve", json=asked).json()["results"]
        assert hits, number
        assert content in said(hits[0])
    stored = memories(held_back, "ana")
    assert {memory["category"] for memory in stored} == {"message"}
    assert sorted(memory["content"] for memory in stored) == sorted(lines(COUNT))
    by_id = held_back.get(f"/api/v1/memories/{stored[0]['id']}", params={"user_id": "ana"})
    assert (by_id.status_code, by_id.json()["content"]) == (200, stored[0]["content"])
    task = held_back.get(answer.headers["location"]).json()
    assert task["status"] in ("accepted", "running")
