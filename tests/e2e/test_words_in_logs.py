"""No word of a user, and no name of one, is in what a host writes at its most talkative,
nor in what it says of a failure.

Every text that is sent holds one unusual word and says where it was sent, so that a leak tells
its own source.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web
from azure.cosmos.aio import CosmosClient

from tests.chat_server import ChatServer, completion, kind_of, refuses
from tests.cosmos_server import KEY
from tests.host import Host, answer_when
from tests.profiles import Profile
from tests.served import serving

WORD = "Quillfeather"
LEAK = re.compile(f"{WORD}|marmalade|zelda", re.IGNORECASE)
END_S = 120
STAMP = "2026-05-08T13:50:00Z"
LINES = {"Content-Type": "application/x-ndjson"}


class Told:
    """A host at LOG_LEVEL=debug with a model that repeats what it was asked, its client,
    and a user whose name is watched for.
    """

    def __init__(
        self,
        host: Host,
        client: httpx.Client,
        profile: Profile,
        database: str | None,
        model: ChatServer,
    ) -> None:
        self.host, self.client, self.profile, self.database, self.model = (
            host,
            client,
            profile,
            database,
            model,
        )
        self.user = f"zelda-windermere-{uuid.uuid4().hex[:8]}"
        self.problems: list[httpx.Response] = []

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Ask, and keep what is a problem."""
        answer = self.client.request(method, path, **options)
        if answer.status_code >= 400:
            self.problems.append(answer)
        return answer

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self.call("POST", path, json={"user_id": self.user, **body})

    def ended(self, answer: httpx.Response) -> dict[str, Any]:
        """The task that an answer leads to, once it has ended or says what is wrong."""
        assert answer.status_code == 202, answer.text
        return answer_when(
            lambda: self.client.get(answer.headers["location"]).json(),
            lambda task: task.get("status") not in ("accepted", "running") or bool(task["error"]),
            END_S,
        )

    def in_log(self) -> list[str]:
        """The lines of the log that hold a word or the name of the user."""
        lines = self.host.terminal.splitlines()
        return [line[:400] for line in lines if LEAK.search(line)]


def text(place: str) -> str:
    """A sentence that tells where it was sent."""
    return f"I keep my {WORD} marmalade in the {place} cupboard"


@pytest.fixture
def model() -> Iterator[ChatServer]:
    """A model that answers with pieces of its prompt, in every wrong way."""
    server = ChatServer()
    count = iter(range(1_000_000))

    async def repeats(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        answer_text = text("model")
        kind = kind_of(body)
        match next(count) % 5:
            case 0:
                return completion(f"{answer_text}: {body['messages'][1]['content'][:2000]}")
            case 1:
                return completion(
                    json.dumps(
                        {
                            kind: answer_text,
                            "facts": answer_text,
                            "narrative": [answer_text],
                            answer_text: answer_text,
                        }
                    )
                )
            case 2:
                error = {
                    "message": answer_text,
                    "type": answer_text,
                    "code": answer_text,
                    "param": answer_text,
                }
                return web.json_response({"error": error}, status=400)
            case 3:
                return await refuses(429, retry_after="0")(request, body)
            case _:
                return web.Response(text=answer_text, content_type="text/plain")

    server.model = repeats
    with serving(server):
        yield server


@pytest.fixture
def secrets(profile: Profile, model: ChatServer, tmp_path: Path) -> Iterator[Told]:
    stores = profile.settings()
    asked = {
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": f"{model.root}/v1",
        "LLM_API_KEY": "k",
        "LLM_MODEL": "m",
    }
    host = Host(
        tmp_path,
        LOG_LEVEL="debug",
        OPENAI_LOG="debug",
        PYTHONASYNCIODEBUG="1",
        MEMORY_ERASE_SETTLE_S="0",
        **asked,
        **stores,
    )
    try:
        with httpx.Client(base_url=host.url, timeout=60) as client:
            yield Told(host, client, profile, stores.get("MEMORY_COSMOS_DATABASE"), model)
    finally:
        host.stop()


def remember(secrets: Told) -> list[str]:
    """Everything that is kept, by every door; the ids of the memories."""
    saved = [
        secrets.post(
            "/api/v1/memories/save",
            content=text("save"),
            tags=[f"{WORD} tag"],
            metadata={f"{WORD} name": text("metadata")},
        ),
        secrets.post(
            "/api/v1/memories/save",
            content=text("slot"),
            type="semantic",
            subject=f"{WORD}",
            attribute=f"{WORD} colour",
        ),
        secrets.post(
            "/api/v1/memories/save",
            content=text("key"),
            type="procedural",
            key=f"{WORD}/key",
            value=text("value"),
        ),
        secrets.post(
            "/api/v1/memories/save",
            content=text("session"),
            session_id=f"{WORD} session",
            agent_id=f"{WORD} agent",
        ),
    ]
    assert {answer.status_code for answer in saved} <= {200, 201}, [answer.text for answer in saved]
    bulk = [
        {"content": text("bulk")},
        {"content": {WORD: text("bulk")}},
        {"content": "", f"{WORD} field": 1},
    ]
    assert secrets.post("/api/v1/memories/bulk", memories=bulk).status_code == 207
    ids = [answer.json()["memory"]["id"] for answer in saved]
    stored = secrets.client.get(f"/api/v1/memories/{ids[1]}", params={"user_id": secrets.user})
    edit = {"user_id": secrets.user, "content": text("edit")}
    path = f"/api/v1/memories/{ids[1]}"
    assert (
        secrets.call(
            "PUT", path, json=edit, headers={"If-Match": stored.headers["etag"]}
        ).status_code
        == 200
    )
    assert (
        secrets.call("PUT", path, json=edit, headers={"If-Match": f'"{WORD}"'}).status_code == 412
    )
    return ids


def talk(secrets: Told) -> None:
    """Conversations, with a callback that is refused and one that is not answered,
    and what an agent says.
    """
    messages = [
        {
            "role": ("user", "assistant")[at % 2],
            "content": text(f"message {at}"),
            "timestamp": STAMP,
        }
        for at in range(4)
    ]
    secrets.ended(secrets.post("/api/v1/memories", messages=messages))
    secrets.ended(
        secrets.post(
            "/api/v1/memories",
            messages=messages[:2],
            callback_url=f"https://{WORD.lower()}.invalid/{WORD}?of={secrets.user}",
        )
    )
    assert (
        secrets.post(
            "/api/v1/memories", messages=messages, callback_url=f"http://127.0.0.1/{WORD}"
        ).status_code
        == 422
    )
    assert (
        secrets.post(
            "/api/v1/memories", messages=messages, callback_url=f"http://{WORD}.x:{WORD}/"
        ).status_code
        == 422
    )
    assert (
        secrets.post(
            "/api/v1/memories/batch", session_id=f"{WORD} batch", messages=messages
        ).status_code
        == 202
    )
    secrets.ended(secrets.post("/api/v1/memories/batch/flush", session_id=f"{WORD} batch"))
    secrets.post("/api/v1/agent/memories", content=text("agent"), agent_id=f"{WORD} agent")
    for mode in ("fast", "full"):
        secrets.post("/api/v1/agent/summaries", messages=[text("summary")], mode=mode)


def ask(secrets: Told) -> None:
    """Questions by every door."""
    query = {"user_id": secrets.user, "query": text("question")}
    assert secrets.post("/api/v1/memories/retrieve", query=text("retrieve")).status_code == 200
    assert secrets.call("GET", "/api/v1/memories/query", params=query).status_code == 200
    secrets.post("/api/v1/memories/retrieve", query=text("reconstruct"), mode="reconstruct")
    secrets.post("/api/v1/context", query=text("context"))
    secrets.call(
        "GET", "/api/v1/timeline", params={"user_id": secrets.user, "session_id": f"{WORD} session"}
    )
    secrets.call("GET", "/api/v1/sessions", params={"user_id": secrets.user})


def misuse(secrets: Told, ids: list[str]) -> None:
    """Requests that are refused, with the word wherever one can stand."""
    doors = ("save", "bulk", "retrieve", "clear", "batch", "batch/flush")
    paths = [f"/api/v1/memories/{door}" for door in doors] + [
        "/api/v1/memories",
        "/api/v1/context",
        "/api/v1/forget",
        "/api/v1/decay",
    ]
    fields = (
        "content",
        "messages",
        "memories",
        "type",
        "tags",
        "metadata",
        "event_timestamp",
        "importance",
        "query",
        "session_id",
        "weights",
    )
    for path in paths:
        for wrong in (text("wrong"), {text("wrong"): text("wrong")}, [text("wrong"), 7], 7.5):
            secrets.post(path, **dict.fromkeys(fields, wrong))
        secrets.post(path, **{text("unknown"): 1})
        secrets.call("POST", path, content=f'{{"{WORD} a": "{text("json")}" {WORD}'.encode())
        secrets.call(
            "POST",
            path,
            content=f'{{"{WORD} a": 1, "{WORD} a": NaN}}'.encode(),
            headers={"Content-Type": "application/json"},
        )
        secrets.call(
            "POST", path, content=text("type").encode(), headers={"Content-Type": f"text/{WORD}"}
        )
        secrets.call("POST", path, json={"user_id": text("owner") + "/#"})
    headers = {
        "X-Correlation-Id": text("header"),
        "Idempotency-Key": text("header"),
        "X-Other": text("header"),
        "If-Match": WORD,
    }
    secrets.call(
        "POST",
        "/api/v1/memories/save",
        json={"user_id": secrets.user, "content": "x"},
        headers=headers,
    )
    secrets.call(
        "GET", f"/api/v1/memories/{ids[0]}", params={"user_id": secrets.user, "at": text("moment")}
    )
    secrets.call(
        "GET",
        "/api/v1/memories",
        params={"user_id": secrets.user, "cursor": text("cursor"), f"{WORD} x": "1"},
    )
    secrets.call("GET", f"/api/v1/memories?user_id={secrets.user}&{WORD}+x=1&{WORD}+x=2")
    secrets.call("GET", f"/api/v1/memories/{WORD} {secrets.user}", params={"user_id": secrets.user})
    secrets.call("GET", f"/api/v1/procedures/{WORD}%2Fnone", params={"user_id": secrets.user})
    secrets.call("GET", f"/api/v1/{WORD}/{secrets.user}", params={"q": text("path")})
    secrets.call(
        "PATCH",
        f"/api/v1/memories/{ids[0]}/status",
        json={"user_id": secrets.user, "status": text("status")},
    )
    for method, path in (
        ("DELETE", "/api/v1/memories/{0}"),
        ("POST", "/api/v1/conflicts/{0}/resolve"),
        ("GET", "/api/v1/tasks/{0}"),
    ):
        secrets.call(method, path.format(f"{WORD} none"), params={"user_id": secrets.user})


def bring_nonsense(secrets: Told) -> dict[str, Any]:
    """The task of an import whose file has the word at every place that is looked at."""
    user = f"{secrets.user}-import"
    begun = secrets.call("POST", f"/api/v1/users/{user}/import")
    path = f"/api/v1/users/{user}/import/{begun.json()['task_id']}"
    header = {
        "format": "memory-core-export",
        "version": text("version"),
        "counts": {},
        "sequence": 0,
    }
    part = f"{json.dumps(header)}\n{text('line')}\n".encode()
    assert (
        secrets.call("PUT", path, params={"part": 1}, content=part, headers=LINES).status_code
        == 204
    )
    return secrets.ended(
        secrets.call(
            "POST", f"{path}/commit", json={"parts": 1, "sha256": hashlib.sha256(part).hexdigest()}
        )
    )


def damage(secrets: Told, memory_id: str) -> None:
    """Let a stored memory, and a task's conversation, hold words where something else
    should stand.
    """
    if secrets.database is None:
        import sqlite3

        connection = sqlite3.connect(secrets.host.folder / "data" / "memory.db", timeout=30)
        with connection:
            wrong = json.dumps(text("damage"))
            connection.execute(
                "UPDATE documents SET body = CAST(json_set(CAST(body AS TEXT), '$.created_at', "
                "json(?), '$.confidence', json(?)) AS BLOB) WHERE id = ? AND user_id = ?",
                (wrong, wrong, memory_id, secrets.user),
            )
            connection.execute(
                "UPDATE documents SET body = CAST(json_set(CAST(body AS TEXT), '$.state', json(?)) "
                "AS BLOB) WHERE kind = 'conversation'",
                (wrong,),
            )
        connection.close()
    else:
        asyncio.run(_damage_items(secrets, memory_id))


async def _damage_items(secrets: Told, memory_id: str) -> None:
    assert secrets.profile.stores is not None
    async with CosmosClient(secrets.profile.stores.cosmos.endpoint, KEY) as client:
        container = client.get_database_client(secrets.database).get_container_client("memories")
        query = (
            "SELECT * FROM c WHERE c.app_id = @p0 AND c.user_id = @p1 AND c.owner = @p2 "
            "AND (c.id = @p3 OR c.kind = 'conversation')"
        )
        named = zip(
            ("@p0", "@p1", "@p2", "@p3"),
            ("local", secrets.user, f"local/{secrets.user}", memory_id),
            strict=True,
        )
        parameters: list[dict[str, object]] = [
            {"name": name, "value": value} for name, value in named
        ]
        rows = container.query_items(
            query, parameters=parameters, partition_key=f"local/{secrets.user}"
        )
        for row in [row async for row in rows]:
            wrong = (
                {"state": text("damage")}
                if row["kind"] == "conversation"
                else {"created_at": text("damage"), "confidence": text("damage")}
            )
            await container.upsert_item({**row, **wrong})


def use_what_is_damaged(secrets: Told, memory_id: str) -> None:
    """Ask for it, and let tasks meet it."""
    secrets.call("GET", f"/api/v1/memories/{memory_id}", params={"user_id": secrets.user})
    secrets.call("GET", "/api/v1/memories", params={"user_id": secrets.user})
    secrets.call("GET", f"/api/v1/memories/{memory_id}/versions", params={"user_id": secrets.user})
    ask(secrets)
    secrets.post(
        "/api/v1/memories/save",
        content=text("slot again"),
        type="semantic",
        subject=f"{WORD}",
        attribute=f"{WORD} colour",
    )
    secrets.ended(
        secrets.post(
            "/api/v1/memories",
            messages=[{"role": "user", "content": text("late"), "timestamp": STAMP}],
            session_id=f"{WORD} s",
        )
    )
    secrets.ended(secrets.post("/api/v1/consolidate"))


def leaks(secrets: Told) -> list[str]:
    """Where a value of the user is told in a problem. The address that was called is the client's
    own, and is in `instance`.
    """
    leaks_found = []
    for answer in secrets.problems:
        assert answer.headers["content-type"] == "application/problem+json"
        problem = {name: value for name, value in answer.json().items() if name != "instance"}
        if LEAK.search(json.dumps(problem)):
            leaks_found.append(
                f"{answer.request.method} {answer.request.url.path}: {json.dumps(problem)[:300]}"
            )
    return leaks_found


def test_nothing_a_user_said_is_logged_or_told_in_an_error_before_and_after_an_erasure(
    secrets: Told,
) -> None:
    ids = remember(secrets)
    talk(secrets)
    ask(secrets)
    misuse(secrets, ids)
    refused = bring_nonsense(secrets)
    assert refused["status"] == "failed"
    damage(secrets, ids[1])
    use_what_is_damaged(secrets, ids[1])
    secrets.call(
        "POST",
        "/api/v1/forget",
        json={"user_id": secrets.user, "filter": {"query": text("forget")}},
    )
    secrets.post("/api/v1/forget", ids=[ids[3]], mode="hard", reason=text("forget"))
    tasks = [
        refused,
        *secrets.client.get("/api/v1/tasks", params={"user_id": secrets.user, "limit": 100}).json()[
            "tasks"
        ],
    ]
    errors = [task["error"] for task in tasks if LEAK.search(str(task["error"]))]
    assert {answer.status_code for answer in secrets.problems} >= {400, 404, 412, 415, 422, 503}
    assert len(secrets.host.terminal.splitlines()) > 20
    assert (errors, leaks(secrets), secrets.in_log()) == ([], [], [])

    erased = secrets.ended(secrets.call("DELETE", f"/api/v1/users/{secrets.user}"))
    assert erased["status"] == "succeeded", erased
    misuse(secrets, ids)
    ask(secrets)
    assert secrets.host.stop() == 0
    assert (leaks(secrets), secrets.in_log()) == ([], [])
