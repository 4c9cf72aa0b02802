"""What an admin sees of all users of an app, over HTTP, on both profiles: tasks that were given
up, and agents.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.conversation import TaskMessage
from tests.host import problem, running, save
from tests.profiles import Profile

KEYS: dict[str, tuple[str, dict[str, Any]]] = {
    "admin": ("mc_shop_a1_0123456789abcdefABCDEF", {"rights": ["admin"]}),
    "writer": ("mc_shop_w1_0123456789abcdefABCDEF", {"rights": ["read", "write"]}),
    "bound": ("mc_shop_b1_0123456789abcdefABCDEF", {"rights": ["admin"], "user": "ana"}),
    "rival": ("mc_rival_a1_0123456789abcdefABCDEF", {"rights": ["admin"]}),
}
POISONED, AGENTS = "/api/v1/tasks/poisoned", "/api/v1/agents"
MESSAGE = {"role": "user", "content": "I keep bees", "timestamp": "2026-05-08T13:56:00Z"}


@dataclass
class Doors:
    """A host with keys, by the key's name; and the settings of its own process."""

    clients: dict[str, httpx.Client]
    settings: dict[str, str]

    def __getitem__(self, name: str) -> httpx.Client:
        return self.clients[name]


@pytest.fixture(scope="module")
def doors(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    folder, settings = tmp_path_factory.mktemp("admin"), profile.settings()
    parts = [(key, key.split("_"), given) for key, given in KEYS.values()]
    keys = [
        {
            "id": app_and_id[2],
            "app": app_and_id[1],
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            **given,
        }
        for key, app_and_id, given in parts
    ]
    with running(
        folder, MEMORY_API_KEYS=json.dumps(keys), MEMORY_ERASE_SETTLE_S="0", **settings
    ) as client:
        clients = {
            name: httpx.Client(base_url=client.base_url, headers={"X-API-Key": key}, timeout=30)
            for name, (key, _) in KEYS.items()
        }
        yield Doors(
            clients, {**settings, "MEMORY_DATA": str(folder / "data"), "EMBEDDING_PROVIDER": "hash"}
        )
        for client_of_key in clients.values():
            client_of_key.close()


async def give_up(settings: dict[str, str], *messages: TaskMessage) -> None:
    """Do in another process what the function of the poison queue does: no task of a host that
    works is given up by itself.
    """
    async with MemoryCore(Settings.from_env(settings)) as core:
        for message in messages:
            await core.give_up(message.model_dump_json())


def waiting_task(client: httpx.Client, user: str) -> TaskMessage:
    """A task that no worker takes for a minute: of a batch that is not full."""
    batch = {"user_id": user, "session_id": "s", "messages": [MESSAGE]}
    assert client.post("/api/v1/memories/batch", json=batch).status_code == 202
    (task,) = client.get("/api/v1/tasks", params={"user_id": user}).json()["tasks"]
    app_id = "rival" if client.headers["x-api-key"] == KEYS["rival"][0] else "shop"
    return TaskMessage(app_id=app_id, user_id=user, task_id=task["task_id"], generation=0)


def listed(client: httpx.Client, path: str, limit: int = 100) -> list[dict[str, Any]]:
    """Every page, as one."""
    poisoned: list[dict[str, Any]] = []
    query: dict[str, Any] = {"limit": limit}
    while True:
        answer = client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert page.keys() == {path.rpartition("/")[2].replace("poisoned", "tasks"), "next_cursor"}
        poisoned += page.get("tasks", page.get("agents"))
        if page["next_cursor"] is None:
            return poisoned
        query["cursor"] = page["next_cursor"]


def test_tasks_that_were_given_up_are_listed_for_the_apps_admin_until_somebody_acts(
    doors: Doors,
) -> None:
    admin, rival = doors["admin"], doors["rival"]
    assert listed(admin, POISONED) == []
    anas, bos, theirs = (
        waiting_task(admin, "ana"),
        waiting_task(admin, "bo"),
        waiting_task(rival, "ana"),
    )
    assert listed(admin, POISONED) == [], "none of them was given up yet"
    asyncio.run(give_up(doors.settings, anas, bos, theirs))
    for limit in (1, 100):
        poisoned = listed(admin, POISONED, limit)
        assert [(task["user_id"], task["task_id"]) for task in poisoned] == [
            ("bo", bos.task_id),
            ("ana", anas.task_id),
        ]
    own = admin.get(f"/api/v1/tasks/{bos.task_id}", params={"user_id": "bo"}).json()
    assert poisoned[0] == {"user_id": "bo", **own}
    assert (own["status"], own["kind"]) == ("poisoned", "flush")
    assert [(memory["user_id"], memory["task_id"]) for memory in listed(rival, POISONED)] == [
        ("ana", theirs.task_id)
    ]

    assert (
        admin.post(f"/api/v1/tasks/{bos.task_id}/retry", json={"user_id": "bo"}).status_code == 202
    )
    assert [memory["task_id"] for memory in listed(admin, POISONED)] == [anas.task_id]
    assert (
        admin.post(f"/api/v1/tasks/{anas.task_id}/cancel", json={"user_id": "ana"}).status_code
        == 200
    )
    assert listed(admin, POISONED) == []
    assert admin.delete("/api/v1/users/cy").status_code == 202
    assert rival.delete("/api/v1/users/ana").status_code == 202
    assert listed(rival, POISONED) == [], "nor is what was given up in a life that is over"


def test_agents_are_listed_with_their_memories_for_the_apps_admin(doors: Doors) -> None:
    admin, rival = doors["admin"], doors["rival"]
    save(admin, "dee", "I keep bees", agent_id="planner")
    second = save(admin, "dee", "I keep two hives", agent_id="planner")
    save(admin, "dee", "I keep hens")
    third = save(admin, "eve", "I keep cats", agent_id="地図 1")
    fourth = save(admin, "eve", "I keep dogs", agent_id="planner")
    save(rival, "dee", "I keep secrets", agent_id="spy")
    expected = [
        {
            "user_id": "dee",
            "agent_id": "planner",
            "memories": 2,
            "last_active_at": second["updated_at"],
        },
        {
            "user_id": "eve",
            "agent_id": "planner",
            "memories": 1,
            "last_active_at": fourth["updated_at"],
        },
        {
            "user_id": "eve",
            "agent_id": "地図 1",
            "memories": 1,
            "last_active_at": third["updated_at"],
        },
    ]
    for limit in (1, 2, 3, 100):
        assert listed(admin, AGENTS, limit) == expected
    assert [(memory["user_id"], memory["agent_id"]) for memory in listed(rival, AGENTS)] == [
        ("dee", "spy")
    ]
    gone = admin.delete(f"/api/v1/memories/{second['id']}", params={"user_id": "dee"}).json()
    assert listed(admin, AGENTS)[0] == {
        **expected[0],
        "memories": 1,
        "last_active_at": gone["updated_at"],
    }
    assert admin.delete("/api/v1/users/dee").status_code == 202
    assert listed(admin, AGENTS) == expected[1:]


@pytest.mark.parametrize("path", [POISONED, AGENTS])
def test_only_an_admin_of_the_whole_app_is_answered_and_only_what_is_asked_rightly(
    doors: Doors, path: str
) -> None:
    admin = doors["admin"]
    assert problem(doors["writer"].get(path), 403)
    assert problem(doors["bound"].get(path), 403)
    assert problem(httpx.get(admin.base_url.join(path)), 401)
    assert problem(admin.post(path, json={}), 404)
    for query, field in (
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=x", "limit"),
        ("user_id=ana", "user_id"),
        ("kind=decay", "kind"),
    ):
        assert problem(admin.get(f"{path}?{query}"), 422, field)
    for user in ("fay", "gus"):
        save(doors["rival"], user, "I keep secrets", agent_id="spy")
    theirs = doors["rival"].get(AGENTS, params={"limit": 1}).json()["next_cursor"]
    own = admin.get("/api/v1/memories", params={"user_id": "ana", "limit": 1}).json()["next_cursor"]
    for cursor in (theirs, own or "x", "", "AAAA", "ä", "A" * 900):
        assert problem(admin.get(path, params={"cursor": cursor}), 400, "cursor")
    assert problem(admin.get(path, params={"cursor": "A" * 2001}), 422, "cursor")


def test_without_keys_whoever_reaches_the_host_is_its_admin(host: httpx.Client, user: str) -> None:
    save(host, user, "I keep bees", agent_id="planner")
    assert (user, "planner") in [
        (memory["user_id"], memory["agent_id"]) for memory in listed(host, AGENTS)
    ]
    assert host.get(f"{POISONED.upper().replace('/API/V1', '/api/v1')}/").json().keys() == {
        "tasks",
        "next_cursor",
    }
