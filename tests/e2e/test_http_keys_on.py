"""Authentication: what a caller may do is what its key says, whatever the request says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.scripts import ready
from tests.host import Host, answer_when, problem, running, save
from tests.profiles import Profile

SECRET = "0123456789abcdefABCDEF"
COMMON_SECRET = "signs cursors and readiness"
KEYS = {
    "writer": ("mc_shop_w1_" + SECRET, {"rights": ["read", "write"]}),
    "reader": ("mc_shop_r1_" + SECRET, {"rights": ["read"]}),
    "anas": ("mc_shop_a1_" + SECRET, {"rights": ["read", "write"], "user": "ana"}),
    "rival": ("mc_rival_w1_" + SECRET, {"rights": ["read", "write"]}),
}


def as_settings() -> str:
    keys = []
    for key, given in KEYS.values():
        _, app, key_id, _ = key.split("_")
        keys.append(
            {"id": key_id, "app": app, "sha256": hashlib.sha256(key.encode()).hexdigest(), **given}
        )
    return json.dumps(keys)


@pytest.fixture(scope="module")
def locked(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(
        tmp_path_factory.mktemp("locked"),
        MEMORY_API_KEYS=as_settings(),
        MEMORY_SECRET=COMMON_SECRET,
        **profile.settings(),
    ) as client:
        yield client


@pytest.fixture
def doors(locked: httpx.Client) -> Iterator[dict[str, httpx.Client]]:
    clients = {
        name: httpx.Client(base_url=locked.base_url, headers={"X-API-Key": key}, timeout=30)
        for name, (key, _) in KEYS.items()
    }
    yield clients
    for client in clients.values():
        client.close()


def test_without_a_key_only_what_is_open_answers(locked: httpx.Client) -> None:
    paths: dict[str, Any] = locked.get("/openapi.json").json()["paths"]
    for path, item in paths.items():
        for method, operation in item.items():
            file = "app.js" if path.startswith("/console") else "start.js"
            place = path.replace("{file}", file).replace("{", "").replace("}", "")
            response = locked.request(method, place, params={"user_id": "ana"})
            if operation.get("security") == []:
                assert response.status_code == 200, path
            else:
                assert problem(response, 401)
                assert response.headers["www-authenticate"].startswith("Bearer")
    assert problem(locked.post("/admin/functions/anything"), 401)


def test_a_caller_without_a_key_learns_whether_the_service_is_ready_and_nothing_else(
    locked: httpx.Client, doors: dict[str, httpx.Client]
) -> None:
    unknown, known = locked.get("/health/ready").json(), doors["reader"].get("/health/ready").json()
    assert unknown["status"] == known["status"] == "ready"
    assert unknown.keys() == {"status", "checked_at"}
    assert {"long_term", "embedder", "agents"} <= known["dependencies"].keys()


def test_a_host_without_any_key_says_so(tmp_path: Path) -> None:
    host = Host(tmp_path, MEMORY_AUTH="on")
    try:
        ready = httpx.get(f"{host.url}/health/ready").json()
        assert ready.keys() == {"status", "checked_at", "detail"}
        assert ready["detail"].startswith("MEMORY_API_KEYS has no key")
        assert f"auth      on: {ready['detail']}" in host.terminal
    finally:
        host.stop()


def test_asking_without_a_key_asks_the_dependencies_every_ten_seconds_at_most(
    locked: httpx.Client, doors: dict[str, httpx.Client]
) -> None:
    """Whatever was asked without a key, until a key has them asked again, is the state that the
    last asking with one found.
    """

    def checked_at(client: httpx.Client) -> str:
        answer: str = client.get("/health/ready").json()["checked_at"]
        return answer

    first = checked_at(doors["reader"])
    fresh = answer_when(
        lambda: (checked_at(locked), checked_at(doors["reader"])), lambda pair: pair[1] != first
    )
    assert fresh[0] == first


def test_a_deployment_sees_the_dependencies_by_a_signature_of_the_secret_that_it_gave(
    locked: httpx.Client,
) -> None:
    root = str(locked.base_url).rstrip("/")
    status, text = ready.ask(root, COMMON_SECRET)
    assert (status, json.loads(text)["dependencies"]["agents"]["status"]) == (200, "ok")
    assert "dependencies" not in ready.ask(root, "another secret altogether")[1]
    assert "dependencies" not in ready.ask(root, "")[1]


def test_a_wrong_key_is_refused_before_the_body_is_read(locked: httpx.Client) -> None:
    wrong = {"X-API-Key": KEYS["writer"][0] + "x", "Content-Type": "application/json"}
    assert problem(locked.post("/api/v1/memories/save", content=b"not json", headers=wrong), 401)


def test_a_key_may_come_as_a_bearer_token(locked: httpx.Client) -> None:
    response = locked.get(
        "/api/v1/memories",
        params={"user_id": "ana"},
        headers={"Authorization": f"Bearer {KEYS['reader'][0]}"},
    )
    assert response.status_code == 200


def test_a_reader_reads_and_changes_nothing(doors: dict[str, httpx.Client]) -> None:
    memory = save(doors["writer"], "reader-test", "the shop opens at nine")
    path, mine = f"/api/v1/memories/{memory['id']}", {"user_id": "reader-test"}
    reader = doors["reader"]
    assert reader.get(path, params=mine).status_code == 200
    assert reader.post("/api/v1/memories/retrieve", json={**mine, "query": "shop opens"}).json()[
        "results"
    ]
    for response in (
        reader.post("/api/v1/memories/save", json={**mine, "content": "x"}),
        reader.post("/api/v1/memories/bulk", json={**mine, "memories": [{"content": "x"}]}),
        reader.post("/api/v1/memories/clear", json={**mine, "session_id": "s"}),
        reader.put(path, json={**mine, "content": "x"}),
        reader.patch(f"{path}/status", json={**mine, "status": "deleted"}),
        reader.post(f"{path}/copy", json={**mine, "to_agent_id": "b"}),
        reader.delete(path, params=mine),
    ):
        assert problem(response, 403)
    assert reader.get(path, params=mine).json()["status"] == "active"


def test_two_apps_with_a_user_of_the_same_name_never_meet(doors: dict[str, httpx.Client]) -> None:
    memory = save(doors["writer"], "carl", "the margin is forty percent", session_id="s")
    assert memory["app_id"] == "shop"
    rival, mine = doors["rival"], {"user_id": "carl"}
    assert problem(rival.get(f"/api/v1/memories/{memory['id']}", params=mine), 404)
    assert rival.get("/api/v1/memories", params={**mine, "status": "all"}).json()["memories"] == []
    assert (
        rival.post("/api/v1/memories/retrieve", json={**mine, "query": "margin"}).json()["results"]
        == []
    )
    assert rival.get("/api/v1/sessions", params=mine).json()["sessions"] == []
    assert problem(rival.delete(f"/api/v1/memories/{memory['id']}", params=mine), 404)


def test_another_app_named_anywhere_is_forbidden(doors: dict[str, httpx.Client]) -> None:
    assert problem(
        doors["rival"].post(
            "/api/v1/memories/save", json={"user_id": "carl", "app_id": "shop", "content": "x"}
        ),
        403,
        "app_id",
    )
    assert problem(
        doors["rival"].get("/api/v1/memories", params={"user_id": "carl", "app_id": "shop"}),
        403,
        "app_id",
    )
    assert (
        doors["rival"]
        .get("/api/v1/memories", params={"user_id": "carl", "app_id": "rival"})
        .status_code
        == 200
    )


def test_a_key_bound_to_a_user_serves_that_user_only(doors: dict[str, httpx.Client]) -> None:
    anas = doors["anas"]
    memory = save(anas, "ana", "I live in Porto")
    assert (
        anas.get(f"/api/v1/memories/{memory['id']}", params={"user_id": "ana"}).status_code == 200
    )
    assert problem(
        anas.post("/api/v1/memories/save", json={"user_id": "bob", "content": "x"}), 403, "user_id"
    )
    assert problem(anas.get("/api/v1/memories", params={"user_id": "bob"}), 403, "user_id")
    assert problem(
        anas.get(f"/api/v1/memories/{memory['id']}", params={"user_id": "Ana"}), 403, "user_id"
    )
    assert problem(anas.get("/api/v1/memories"), 422, "user_id")
    assert problem(anas.get("/metrics"), 403)


def test_a_key_bound_to_a_user_sums_up_for_that_user_or_for_nobody(
    doors: dict[str, httpx.Client],
) -> None:
    bound = doors["anas"]
    assert bound.post("/api/v1/agent/summaries", json={"messages": "said"}).status_code == 200
    assert problem(
        bound.post("/api/v1/agent/summaries", json={"messages": "said", "user_id": "bob"}),
        403,
        "user_id",
    )
    assert problem(
        bound.post("/api/v1/agent/summaries", json={"messages": "said", "app_id": "other"}),
        403,
        "app_id",
    )


def test_metrics_need_a_key_and_speak_to_prometheus(doors: dict[str, httpx.Client]) -> None:
    save(doors["writer"], "metrics-test", "x y z")
    response = doors["reader"].get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "memory_core_operations_total" in response.text
    assert doors["reader"].get("/api/v1/system/pool-stats").status_code == 200
