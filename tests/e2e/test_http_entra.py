"""Access tokens of Entra ID over HTTP: beside keys, through the same gate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timezone

import httpx
import pytest

from tests.host import problem, running, save
from tests.token_issuer import CALLER, PERSON, Issuer, issuing, signed

KEY = "mc_shop_s1_0123456789abcdefABCDEF"
MEMORIES = "/api/v1/memories"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as running_issuer:
        yield running_issuer


@pytest.fixture(scope="module")
def client(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    keys = [
        {
            "id": "s1",
            "app": "shop",
            "sha256": hashlib.sha256(KEY.encode()).hexdigest(),
            "rights": ["admin"],
        }
    ]
    with running(
        tmp_path_factory.mktemp("entra"), MEMORY_API_KEYS=json.dumps(keys), **issuer.settings
    ) as served:
        yield served


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_persons_token_reaches_that_persons_memories_and_an_applications_those_of_the_app(
    client: httpx.Client, issuer: Issuer
) -> None:
    now = datetime.now(timezone.utc)
    person, application = (
        bearer(signed(issuer.claims(now))),
        bearer(signed(issuer.application_claims(now, roles=["Memory.Admin"]))),
    )
    with httpx.Client(base_url=client.base_url, headers=person, timeout=30) as ana:
        save(ana, PERSON, "I keep bees")
        other = problem(ana.get(MEMORIES, params={"user_id": "somebody"}), 403)
        assert other["detail"] == "user_id: this token is bound to another user"
        assert "another user" in other["detail"]
        assert problem(ana.get("/metrics"), 403)
        assert problem(ana.get("/api/v1/keys"), 403)
    for headers in (application, {"X-API-Key": KEY}):
        answer = client.get(MEMORIES, params={"user_id": PERSON}, headers=headers)
        assert [memory["content"] for memory in answer.json()["memories"]] == ["I keep bees"]
    made = client.post("/api/v1/keys", json={}, headers=application)
    assert made.status_code == 201, made.text
    (entry,) = client.get("/api/v1/audit", headers=application).json()["entries"]
    assert (entry["action"], entry["actor"]) == ("key_made", f"entra:{CALLER}")
    reader = bearer(signed(issuer.claims(now, scp="Memory.Read")))
    assert client.get(MEMORIES, params={"user_id": PERSON}, headers=reader).status_code == 200
    assert problem(
        client.post(f"{MEMORIES}/save", json={"user_id": PERSON, "content": "x"}, headers=reader),
        403,
    )


def test_who_has_neither_a_good_token_nor_a_key_is_refused_by_a_problem_without_the_token(
    client: httpx.Client, issuer: Issuer
) -> None:
    now = datetime.now(timezone.utc)
    forged = signed(issuer.claims(now), "k2", kid="k1")
    for headers in (
        bearer(forged),
        {"X-API-Key": signed(issuer.claims(now))},
        {"X-MS-CLIENT-PRINCIPAL": "e30="},
        bearer("mc_a_b_c"),
    ):
        answer = client.get(MEMORIES, params={"user_id": PERSON}, headers=headers)
        assert problem(answer, 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert forged not in answer.text
    assert problem(
        client.get(
            MEMORIES,
            params={"user_id": PERSON},
            headers=bearer(signed(issuer.claims(now, scp="User.Read"))),
        ),
        403,
    )
