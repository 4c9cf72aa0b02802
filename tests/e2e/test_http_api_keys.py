"""Keys that an admin makes over HTTP, on both profiles: from the first key of the settings to the
log of all that was done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.host import answer_when, ended_task, problem, running, save, until
from tests.profiles import Profile

SECRET = "0123456789abcdefABCDEF"
FIRST, RIVAL = f"mc_shop_s1_{SECRET}", f"mc_rival_s1_{SECRET}"
KEYS, AUDIT = "/api/v1/keys", "/api/v1/audit"


class Door:
    """A host with one admin key an app in its settings; `by` is a client with another key."""

    def __init__(self, client: httpx.Client, stack: ExitStack) -> None:
        self._client, self._stack = client, stack
        self.admin, self.rival = self.by(FIRST), self.by(RIVAL)

    def by(self, key: str) -> httpx.Client:
        """A client with a key."""
        return self._stack.enter_context(
            httpx.Client(base_url=self._client.base_url, headers={"X-API-Key": key}, timeout=30)
        )


@pytest.fixture(scope="module")
def door(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    parts = [(key, key.split("_")) for key in (FIRST, RIVAL)]
    keys = [
        {
            "id": part[2],
            "app": part[1],
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "rights": ["admin"],
        }
        for key, part in parts
    ]
    settings = {
        "MEMORY_API_KEYS": json.dumps(keys),
        "MEMORY_ERASE_SETTLE_S": "0",
        **profile.settings(),
    }
    with running(tmp_path_factory.mktemp("keys"), **settings) as client, ExitStack() as stack:
        yield Door(client, stack)


def made(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    answer = client.post(KEYS, json=fields)
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    key: dict[str, Any] = answer.json()
    return key


def listed(client: httpx.Client, key_id: str) -> dict[str, Any]:
    """The key as it is listed."""
    (key,) = (
        key
        for key in client.get(KEYS, params={"limit": 100}).json()["keys"]
        if key["key_id"] == key_id
    )
    created_key: dict[str, Any] = key
    return created_key


def test_a_key_is_made_used_listed_rotated_and_withdrawn(door: Door, user: str) -> None:
    key = made(door.admin, name="web shop")
    assert key.keys() == {
        "key_id", "key", "app_id", "name", "rights", "user_id", "created_at", "expires_at",
        "last_used_at", "status",
    }  # fmt: skip
    assert (key["app_id"], key["name"], key["rights"], key["status"]) == (
        "shop",
        "web shop",
        ["read", "write"],
        "active",
    )
    shop = door.by(key["key"])
    memory = save(shop, user, "I keep bees")
    until(lambda: listed(door.admin, key["key_id"])["last_used_at"] is not None, True)
    assert listed(door.admin, key["key_id"]).keys() == key.keys() - {"key"}
    assert problem(shop.get(KEYS), 403)
    assert problem(shop.post(KEYS, json={}), 403)

    rotated = door.admin.post(f"{KEYS}/{key['key_id']}/rotate", json={"overlap_seconds": 3600})
    assert rotated.status_code == 201, rotated.text
    second = rotated.json()
    assert second.keys() == key.keys() | {"replaces"}
    assert second["replaces"] == key["key_id"]
    for client in (shop, door.by(second["key"])):
        assert (
            client.get(f"/api/v1/memories/{memory['id']}", params={"user_id": user}).status_code
            == 200
        )
    assert listed(door.admin, key["key_id"])["expires_at"] is not None

    assert door.admin.delete(f"{KEYS}/{second['key_id']}").status_code == 204
    again = problem(door.admin.post(f"{KEYS}/{key['key_id']}/rotate", json={}), 409)
    assert again["detail"].endswith("which is withdrawn. Make a new one instead")
    assert door.admin.delete(f"{KEYS}/{key['key_id']}").status_code == 204
    for client in (shop, door.by(second["key"])):
        refused = problem(client.get("/api/v1/memories", params={"user_id": user}), 401)
        assert "withdrawn" in refused["detail"]
    withdrawn = door.admin.get(KEYS, params={"status": "withdrawn", "limit": 1}).json()
    assert [entry["key_id"] for entry in withdrawn["keys"]] == [second["key_id"]]
    further = door.admin.get(
        KEYS, params={"status": "withdrawn", "limit": 1, "cursor": withdrawn["next_cursor"]}
    ).json()
    assert [entry["key_id"] for entry in further["keys"]] == [key["key_id"]]


def test_a_lost_answer_with_a_key_is_repeated_by_a_conflict_that_names_the_key(door: Door) -> None:
    name = {"Idempotency-Key": "lost"}
    key_id = door.admin.post(KEYS, json={}, headers=name).json()["key_id"]
    again = problem(door.admin.post(KEYS, json={}, headers=name), 409)
    assert f"the key with the id {key_id};" in again["detail"], "it is needed to withdraw the key"
    assert door.admin.delete(f"{KEYS}/{key_id}").status_code == 204


def test_a_key_bound_to_a_user_names_no_other_and_manages_nothing(door: Door, user: str) -> None:
    bound = door.by(made(door.admin, user_id=user, rights=["admin"])["key"])
    save(bound, user, "I keep hens")
    assert problem(bound.get("/api/v1/memories", params={"user_id": f"{user}-2"}), 403)
    for answer in (
        bound.get(KEYS),
        bound.post(KEYS, json={}),
        bound.delete(f"{KEYS}/x"),
        bound.get(AUDIT),
    ):
        assert problem(answer, 403)


def test_no_app_touches_the_keys_of_another_and_a_made_admin_can_not_end_the_last_one(
    door: Door,
) -> None:
    admin = made(door.rival, rights=["admin"])
    made_admin = door.by(admin["key"])
    assert made_admin.get(KEYS).status_code == 200
    assert all(
        key["app_id"] == "shop"
        for key in door.admin.get(KEYS, params={"limit": 100}).json()["keys"]
    )
    for answer in (
        door.admin.delete(f"{KEYS}/{admin['key_id']}"),
        door.admin.post(f"{KEYS}/{admin['key_id']}/rotate", json={}),
    ):
        assert problem(answer, 404)
    assert problem(door.admin.delete(f"{KEYS}/s1"), 404)
    assert made_admin.delete(f"{KEYS}/{admin['key_id']}").status_code == 204, (
        "the settings have another one"
    )
    assert problem(made_admin.get(KEYS), 401)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"rights": []}, "rights"),
        ({"rights": ["all"]}, "rights.0"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"user_id": "a/b"}, "user_id"),
        ({"app_id": "shop"}, "app_id"),
        ({"name": " "}, "name"),
    ],
)
def test_what_is_wrong_with_a_key_to_make_is_named(
    door: Door, fields: dict[str, Any], field: str
) -> None:
    assert problem(door.admin.post(KEYS, json=fields), 422, field)


def test_the_log_says_who_did_what_and_names_no_erased_user(door: Door, user: str) -> None:
    key = made(door.admin, rights=["admin"])
    admin = door.by(key["key"])
    save(admin, user, "I keep geese")
    forgotten = admin.post(
        "/api/v1/forget", json={"user_id": user, "filter": {"types": ["episodic"]}, "mode": "hard"}
    )
    ended_task(admin, forgotten.headers["location"])
    erased = admin.delete(f"/api/v1/users/{user}", headers={"X-Correlation-Id": "0af7651916cd43dd"})
    receipt = ended_task(admin, erased.headers["location"])["result"]
    page = answer_when(
        lambda: admin.get(AUDIT, params={"limit": 3}).json(),
        lambda page: page["entries"][0]["outcome"] not in ("accepted", "done"),
    )
    erasure, forgetting, making = page["entries"]
    assert (erasure["action"], erasure["actor"], erasure["correlation_id"]) == (
        "user_erased",
        key["key_id"],
        "0af7651916cd43dd",
    )
    assert erasure["target"] == {"user": receipt["user"], "task_id": erased.json()["task_id"]}
    assert (forgetting["action"], forgetting["mode"], forgetting["outcome"]) == (
        "memories_forgotten",
        "hard",
        "succeeded",
    )
    assert forgetting["target"]["user"] == receipt["user"]
    assert (making["action"], making["actor"], making["target"]) == (
        "key_made",
        "s1",
        {"key_id": key["key_id"]},
    )

    lines = admin.get(AUDIT, params={"limit": 1}, headers={"Accept": "application/x-ndjson"})
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in lines.text.splitlines()] == [erasure]
    for accept in ("application/json, application/x-ndjson;q=0.5", "application/x-ndjson;q=0"):
        rather_json = admin.get(AUDIT, params={"limit": 1}, headers={"Accept": accept})
        assert rather_json.headers["content-type"].startswith("application/json")
    following = admin.get(
        AUDIT, params={"limit": 1, "cursor": lines.headers["x-next-cursor"]}
    ).json()
    assert following["entries"] == [forgetting]
    assert problem(
        admin.get(
            AUDIT,
            params={"limit": 1, "action": "key_made", "cursor": lines.headers["x-next-cursor"]},
        ),
        400,
    )
    whole = admin.get(AUDIT, params={"limit": 100}).text
    assert user not in whole
    assert "geese" not in whole
