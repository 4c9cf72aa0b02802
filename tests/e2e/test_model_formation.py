"""A model forms the memories of a running host; when it goes away in the middle, the task waits for
it, and no answer is paid for twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from tests.chat_server import GOOD, ChatServer, completion, is_proof, kind_of, refuses
from tests.host import answer_when, memories, running, task_at
from tests.served import serving

SAID = ("I moved to Lisbon", "How do you like it there?", "I have a cold", "Get well soon")
ASKED = Counter(
    {"Boundaries": 1, "ExtractedFacts": 2, "EpisodeAnalysis": 2, "ConversationSummary": 2}
)
"""What two cells take."""


@pytest.fixture
def model() -> Iterator[ChatServer]:
    server = ChatServer()
    with serving(server):
        yield server


@pytest.fixture
def client(model: ChatServer, tmp_path: Path) -> Iterator[httpx.Client]:
    asked = {
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": f"{model.root}/v1",
        "LLM_API_KEY": "k",
        "LLM_MODEL": "m",
    }
    with running(tmp_path, **asked) as made:
        yield made


def tell(client: httpx.Client) -> str:
    messages = [
        {
            "role": ("user", "assistant")[place % 2],
            "content": content,
            "timestamp": f"2026-05-08T13:5{place}:00Z",
        }
        for place, content in enumerate(SAID)
    ]
    answer = client.post("/api/v1/memories", json={"user_id": "ana", "messages": messages})
    assert answer.status_code == 202, answer.text
    return answer.headers["location"]


def task_that(client: httpx.Client, location: str, limit_s: float, **fields: Any) -> dict[str, Any]:
    """The task, once it says this."""
    return answer_when(
        lambda: task_at(client, location), lambda task: fields.items() <= task.items(), limit_s
    )


def formed(client: httpx.Client, task: dict[str, Any]) -> None:
    made = memories(client, "ana")
    assert (task["progress"], task["error"]) == (1.0, None)
    assert Counter(memory["category"] for memory in made) == {"cell": 2, "note": 2, "fact": 1}
    assert {memory["content"] for memory in made if memory["category"] == "fact"} == {
        "User lives in Lisbon"
    }, "nobody named her"
    assert {memory["id"] for memory in made} == {
        name for cell in task["result"]["cells"] for name in cell["memory_ids"]
    }


def test_a_conversation_is_formed_by_the_model_that_is_configured(
    client: httpx.Client, model: ChatServer
) -> None:
    formed(client, task_that(client, tell(client), 30, status="succeeded"))
    assert Counter(kind_of(body) for body in model.bodies if not is_proof(body)) == ASKED


@pytest.mark.long
def test_a_model_that_goes_away_in_the_middle_is_waited_for(
    client: httpx.Client, model: ChatServer
) -> None:
    """Over half a minute: so long a task waits before it asks again."""
    answered = Counter[str]()

    async def goes_away(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if answered.total() == 2:
            return await refuses(503)(request, body)
        answered[kind_of(body)] += 1
        return completion(json.dumps(GOOD[kind_of(body)]))

    async def is_back(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        answered[kind_of(body)] += 1
        return completion(json.dumps(GOOD[kind_of(body)]))

    model.model = goes_away
    location = tell(client)
    waits = task_that(
        client, location, 30, status="accepted", error="agents: it answered HTTP 503 (some_error)"
    )
    assert waits["attempts"] == 0
    assert Counter(memory["category"] for memory in memories(client, "ana")) == {
        "message": len(SAID)
    }
    agents = client.get("/health/ready").json()["dependencies"]["agents"]
    assert agents["status"] == "degraded"
    model.model = is_back
    formed(client, task_that(client, location, 90, status="succeeded"))
    assert answered == ASKED
