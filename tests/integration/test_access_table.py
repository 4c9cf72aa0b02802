"""docs/access.md says who may call what: each call is sent as each caller, and passes the gate or
not as the table says.

A request that passes is a 422, since it has a parameter that no call knows;
so nothing is done by any of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from azure.functions import HttpRequest

from deployment import access_table
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests.access import KeyInput
from memory_core.functions import runtime
from memory_core.functions.callers import Keyring
from memory_core.functions.entra import EntraGate
from memory_core.functions.registered import HttpFunction
from memory_core.setting_types import ApiKey
from memory_core.telemetry import SharedReadiness
from tests.builders import NOW, StillClock
from tests.token_issuer import PERSON, Issuer, issuing, signed

SECRET = "0123456789abcdefABCDEF"
APP, OTHER_APP, STRANGE = "shop", "rival", "no_call_knows_this"
RIGHTS = ("read", "write", "admin")


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


@pytest.fixture
async def callers(
    issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[dict[str, list[dict[str, str]]]]:
    """Headers of callers by the column that they belong to; the process serves them until
    the test ends.
    """
    clock = StillClock()
    settings = Settings.from_env(
        {**issuer.settings, "EMBEDDING_PROVIDER": "hash", "MEMORY_DATA": str(tmp_path)}
    )
    async with MemoryCore(settings, clock=clock) as core:
        keyring = Keyring(
            [setting_key(APP, "admin", "admin"), setting_key(OTHER_APP, "admin", "admin")]
        )
        entra = EntraGate.of(settings, clock)
        monkeypatch.setattr(
            runtime,
            "_current",
            runtime.Runtime(
                core, SharedReadiness(core.ready, clock), keyring, 60, 1_048_576, entra
            ),
        )

        async def key(**fields: Any) -> dict[str, str]:
            return {"x-api-key": (await core.make_key(APP, KeyInput(**fields))).text}

        withdrawn = await core.make_key(APP, KeyInput())
        await core.withdraw_key(APP, withdrawn.key.key_id)
        expired = await key(expires_at=NOW + timedelta(minutes=1))
        bound, person = await key(user_id=PERSON), bearer(signed(issuer.claims(NOW)))
        clock.forward(120)
        yield {
            "no key; an unknown, expired or withdrawn one; a bad token": [
                {}, {"x-api-key": text(APP, "unknown")}, expired, {"x-api-key": withdrawn.text},
                bearer(signed(issuer.claims(NOW), "k2")),
            ],
            **{
                right: [await key(rights=[right]), bearer(signed(issuer.application_claims(NOW,
                    roles=[f"Memory.{right.title()}"])))]
                for right in RIGHTS
            },
            "bound to the user": [bound, person],
            "bound to another user": [bound, person],
            "admin of another app": [{"x-api-key": text(OTHER_APP, "admin")}],
        }  # fmt: skip
        await entra.close()


def text(app: str, key_id: str) -> str:
    return f"mc_{app}_{key_id}_{SECRET}"


def setting_key(app: str, key_id: str, right: str) -> ApiKey:
    digest = hashlib.sha256(text(app, key_id).encode()).hexdigest()
    return ApiKey.model_validate({"id": key_id, "app": app, "sha256": digest, "rights": [right]})


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def request(function: HttpFunction, headers: dict[str, str], scope: dict[str, str]) -> HttpRequest:
    """A request of this call that names this scope, and a parameter that no call knows."""
    door = function.door
    route = {
        name: scope["user_id"] if name == "user_id" else "x1"
        for name in re.findall(r"{(\w+)}", function.path)
    }
    given = {name: value for name, value in scope.items() if door.scoped and name not in route} | {
        STRANGE: "1"
    }
    query = "" if door.has_body else "&".join(f"{name}={value}" for name, value in given.items())
    body, media_type = (
        (json.dumps(given).encode(), "application/json") if door.has_body else (b"", "")
    )
    if door.raw is not None:
        body, media_type = b"{}", door.raw
    url = f"http://localhost{function.path.format(**route)}?{query}"
    return HttpRequest(
        function.method,
        url,
        headers={**headers, "content-type": media_type},
        route_params=route,
        body=body,
    )


async def test_each_call_answers_each_caller_as_the_table_says(
    callers: dict[str, list[dict[str, str]]],
) -> None:
    assert access_table.FILE.read_text(encoding="utf-8") == access_table.written(), (
        "`python -m deployment.access_table` writes it"
    )
    assert callers.keys() == access_table.COLUMNS.keys()
    differences, calls = [], 0
    for function in access_table.in_order():
        for column, answer in access_table.COLUMNS.items():
            scope = {"user_id": "another" if column == "bound to another user" else PERSON}
            scope |= {"app_id": APP} if column == "admin of another app" else {}
            expected = answer(function.door)
            for headers in callers[column]:
                calls += 1
                response = await function.handler(request(function, headers, scope))
                # open calls read no parameters; a page may not be there
                allowed = {200, 404} if function.door.right is None else {422}
                if response.status_code not in (
                    allowed if not expected.isdecimal() else {int(expected)}
                ):
                    differences.append(
                        f"{access_table.call(function)} as {column}: {response.status_code}, not "
                        f"{expected}"
                    )
    assert differences == []
    assert calls > 800
