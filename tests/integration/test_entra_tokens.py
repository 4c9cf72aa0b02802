"""Access tokens of Entra ID at the gate, with an issuer on the wire: who comes in as whom,
and how often the issuer is asked.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import jwt
import pytest

from memory_core.adapters.issuer_keys import MAX_BYTES, IssuerKeys
from memory_core.config import Settings
from memory_core.domain.errors import Forbidden, Unauthenticated, Unavailable
from memory_core.functions import runtime
from memory_core.functions.callers import Caller
from memory_core.functions.entra import EntraGate
from tests.builders import NOW, StillClock
from tests.token_issuer import (
    CALLER,
    CLIENT,
    KEYS,
    METADATA,
    PERSON,
    TENANT,
    Issuer,
    issuing,
    public_pem,
    signed,
)

OTHER_TENANT = TENANT.replace("1", "2")


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as running:
        yield running


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def gate(issuer: Issuer, clock: StillClock) -> AsyncIterator[EntraGate]:
    gate = EntraGate.of(Settings.from_env(issuer.settings), clock)
    yield gate
    await gate.close()


def gate_with(issuer: Issuer, **settings: str) -> EntraGate:
    return EntraGate.of(Settings.from_env({**issuer.settings, **settings}), StillClock())


async def refusal(gate: EntraGate, token: str) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await gate.token_caller(token)
    assert token not in refused.value.detail
    return refused.value.detail


async def test_a_persons_token_is_bound_to_that_person_and_an_applications_to_nobody(
    issuer: Issuer, gate: EntraGate
) -> None:
    actor, both = f"entra:{CALLER}", frozenset({"read", "write"})
    assert await gate.token_caller(signed(issuer.claims(NOW))) == Caller(
        "shop", actor, both, PERSON, credential="token"
    )
    assert await gate.token_caller(signed(issuer.application_claims(NOW))) == Caller(
        "shop", actor, both, None, credential="token"
    )
    first_version = {
        "iss": f"{issuer.authority}/{TENANT}/",
        "aud": f"api://{CLIENT}",
        "azp": None,
        "appid": CALLER,
        "ver": "1.0",
    }
    assert await gate.token_caller(signed(issuer.claims(NOW, **first_version))) == Caller(
        "shop", actor, both, PERSON, credential="token"
    )
    assert issuer.requests == [METADATA, KEYS]


@pytest.mark.parametrize(
    ("claims", "rights", "user_id"),
    [
        ({"scp": "openid Memory.Read"}, {"read"}, PERSON),
        ({"scp": "Memory.Admin"}, {"admin"}, PERSON),
        # A person's role does not widen what their client may do, and a token without scopes is no
        # application's because of that alone.
        ({"scp": "Memory.Read", "roles": ["Memory.Admin"]}, {"read"}, PERSON),
        ({"scp": None, "roles": ["Memory.Write"]}, {"write"}, PERSON),
        (
            {"scp": None, "roles": ["Memory.Write"], "idtyp": "user", "sub": PERSON},
            {"write"},
            PERSON,
        ),
        ({"scp": None, "roles": ["Memory.Admin", 7], "idtyp": "app"}, {"admin"}, None),
        ({"scp": "Memory.Read", "idtyp": "app"}, {"read"}, PERSON),
        ({"scp": "Calendars.Read"}, None, None),
        ({"scp": None}, None, None),
        ({"scp": ["Memory.Read"]}, None, None),
        ({"oid": None}, None, None),
        ({"oid": "a/b"}, None, None),
    ],
)
async def test_rights_come_of_scopes_for_people_and_of_roles_for_applications(
    issuer: Issuer,
    gate: EntraGate,
    claims: dict[str, Any],
    rights: set[str] | None,
    user_id: str | None,
) -> None:
    token = signed(issuer.claims(NOW, **claims))
    if rights is None:
        with pytest.raises(Forbidden):
            await gate.token_caller(token)
        return
    caller = await gate.token_caller(token)
    assert (caller.rights, caller.user_id) == (rights, user_id)


async def test_claims_say_the_app_and_the_user_where_settings_say_so(issuer: Issuer) -> None:
    gate = gate_with(
        issuer,
        MEMORY_ENTRA_APP="claim:azp",
        MEMORY_ENTRA_USER="claim:preferred_username",
        MEMORY_ENTRA_RIGHTS="Mem.All=read,Mem.All=write, Memory.Read=read",
    )
    caller = await gate.token_caller(signed(issuer.claims(NOW, scp="Mem.All")))
    assert (caller.app_id, caller.user_id, caller.rights) == (
        CALLER,
        "ana@shop.example",
        {"read", "write"},
    )
    with pytest.raises(Forbidden, match="MEMORY_ENTRA_APP"):
        await gate.token_caller(signed(issuer.claims(NOW, azp="a b")))


async def test_what_is_wrong_with_a_token_is_a_401_that_quotes_nothing_of_it(
    issuer: Issuer, gate: EntraGate, caplog: pytest.LogCaptureFixture
) -> None:
    good = issuer.claims(NOW)
    second = int(NOW.timestamp())
    assert "signature" in await refusal(gate, signed(good, "k2", kid="k1"))
    assert "signature" in await refusal(gate, signed(good)[:-8] + "AAAAAAAA")
    assert "RS256" in await refusal(gate, jwt.encode(good, None, "none", headers={"kid": "k1"}))
    assert "RS256" in await refusal(gate, signed_by_hmac(good, public_pem("k1")))
    assert "expired" in await refusal(gate, signed({**good, "exp": second - 60}))
    assert "not valid yet" in await refusal(gate, signed({**good, "nbf": second + 61}))
    assert "times" in await refusal(gate, signed({**good, "exp": "9999999999"}))
    assert "lacks" in await refusal(gate, signed(issuer.claims(NOW, exp=None)))
    assert "issuer" in await refusal(
        gate, signed({**good, "iss": issuer.issuer.replace(TENANT, OTHER_TENANT)})
    )
    assert "tenant" in await refusal(gate, signed({**good, "tid": OTHER_TENANT}))
    assert "tenant" in await refusal(gate, signed(issuer.claims(NOW, tid=None)))
    assert "audience" in await refusal(gate, signed({**good, "aud": CALLER}))
    assert "access token" in await refusal(gate, signed(issuer.claims(NOW, azp=None)))
    assert "which key" in await refusal(gate, signed(good, kid=None))
    for text in (
        "nonsense",
        "a.b.c",
        "..",
        f"{'x' * 20_000}.a.b",
        f"{base64.urlsafe_b64encode(b'[' * 6000).decode()}.e30.AA",
        "ä.b.c",
    ):
        assert await refusal(gate, text)
    assert issuer.requests == [METADATA, KEYS]
    assert [record for record in caplog.records if record.levelno >= logging.INFO] == []
    for within_leeway in ({"exp": second - 59}, {"nbf": second + 60}):
        assert await gate.token_caller(signed({**good, **within_leeway}))


def signed_by_hmac(claims: dict[str, Any], secret: bytes) -> str:
    """A token that takes the public key for a shared secret, which no library signs any more."""
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "kid": "k1"}, claims)]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = hmac.new(secret, text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


async def test_an_unknown_key_makes_us_ask_at_most_once_a_minute_and_a_new_one_is_found(
    issuer: Issuer, gate: EntraGate, clock: StillClock
) -> None:
    rotated = signed(issuer.claims(NOW), "k2")
    assert "does not have" in await refusal(gate, rotated)
    for _ in range(5):
        await refusal(gate, rotated)
    assert issuer.requests.count(KEYS) == 1
    issuer.keys = ["k2", "k3"]
    clock.forward(59)
    await refusal(gate, rotated)
    clock.forward(1)
    callers = await asyncio.gather(*(gate.token_caller(rotated) for _ in range(20)))
    assert len({caller.key_id for caller in callers}) == 1
    assert issuer.requests.count(KEYS) == 2
    assert "does not have" in await refusal(gate, signed(issuer.claims(NOW), "k1"))
    assert issuer.requests.count(KEYS) == 2


async def test_a_clock_that_is_set_back_delays_no_fetch_of_keys(
    issuer: Issuer, gate: EntraGate, clock: StillClock
) -> None:
    clock.forward(3 * 3600)
    rotated = signed(issuer.claims(NOW), "k2")
    assert "does not have" in await refusal(gate, signed(issuer.claims(clock.now()), "k2"))
    issuer.keys = ["k2", "k3"]
    clock.forward(-3 * 3600)
    assert await gate.token_caller(rotated)


async def test_keys_serve_for_a_day_and_longer_while_the_issuer_is_down(
    issuer: Issuer, gate: EntraGate, clock: StillClock, caplog: pytest.LogCaptureFixture
) -> None:
    day = 24 * 3600
    token = signed(issuer.claims(NOW, exp=int(NOW.timestamp()) + 5 * day))
    await gate.token_caller(token)
    clock.forward(day - 1)
    await gate.token_caller(token)
    assert issuer.requests.count(METADATA) == 1
    clock.forward(1)
    await gate.token_caller(token)
    assert issuer.requests.count(METADATA) == 2
    issuer.is_down = True
    clock.forward(day)
    for _ in range(3):
        assert await gate.token_caller(token)
    assert issuer.requests.count(METADATA) == 3
    with pytest.raises(Unavailable) as refused:  # it may be a new key: that can't be told now
        await gate.token_caller(signed(issuer.claims(clock.now()), "k2"))
    assert refused.value.retry_after_s == 60
    assert token not in caplog.text


async def test_without_any_key_a_down_issuer_is_a_503_and_never_a_401(
    issuer: Issuer, gate: EntraGate, clock: StillClock
) -> None:
    issuer.is_down = True
    token = signed(issuer.claims(NOW))
    for _ in range(3):
        with pytest.raises(Unavailable) as refused:
            await gate.token_caller(token)
        assert refused.value.retry_after_s == 5
    assert issuer.requests == [METADATA]
    issuer.is_down = False
    clock.forward(5)
    assert await gate.token_caller(token)


@pytest.mark.parametrize(
    "problem", ["redirect", "elsewhere", "issuer", "too long", "garbage", "no keys"]
)
async def test_documents_that_are_not_the_issuers_own_give_no_key(
    issuer: Issuer, gate: EntraGate, problem: str
) -> None:
    def metadata(**changed: str) -> bytes:
        return json.dumps(
            {"issuer": issuer.issuer, "jwks_uri": f"{issuer.authority}{KEYS}", **changed}
        ).encode()

    issuer.answers |= {
        "redirect": {KEYS: (302, {"Location": f"{issuer.authority}/more"}, b"")},
        "elsewhere": {
            METADATA: (
                200,
                {},
                metadata(jwks_uri=f"{issuer.authority.replace('127.0.0.1', 'localhost')}{KEYS}"),
            )
        },
        "issuer": {METADATA: (200, {}, metadata(issuer=f"{issuer.authority}/{OTHER_TENANT}/v2.0"))},
        "too long": {KEYS: (200, {}, b'{"keys": [], "x": "' + b"x" * MAX_BYTES + b'"}')},
        "garbage": {KEYS: (200, {}, b"[" * 5000)},
        "no keys": {
            KEYS: (
                200,
                {},
                b'{"keys": [7, {"kty": "EC", "kid": "k1"}, {"kty": "RSA", "kid": "k1", "use": "enc"}]}',  # noqa: E501
            )
        },
    }[problem]
    with pytest.raises(Unavailable):
        await gate.token_caller(signed(issuer.claims(NOW)))
    assert "/more" not in issuer.requests


async def test_a_request_that_is_given_up_does_not_end_the_fetch_that_others_wait_for(
    issuer: Issuer, gate: EntraGate
) -> None:
    issuer.may_answer.clear()
    token = signed(issuer.claims(NOW))
    first, second = (asyncio.ensure_future(gate.token_caller(token)) for _ in range(2))
    assert await asyncio.to_thread(issuer.was_asked.wait, 30)
    first.cancel()
    issuer.may_answer.set()
    assert (await second).user_id == PERSON
    assert first.cancelled()
    assert issuer.requests == [METADATA, KEYS]


async def test_an_issuer_that_does_not_answer_is_given_up(issuer: Issuer) -> None:
    issuer.may_answer.clear()
    keys = IssuerKeys(issuer.issuer, StillClock(), timeout_s=0.05)
    with pytest.raises(Unavailable):
        await keys.find("k1")


def principal(issuer: Issuer, **changed: Any) -> str:
    """App Service's header for a person who signed in."""
    names = {"oid": "objectidentifier", "tid": "tenantid", "scp": "scope"}
    claims = issuer.claims(NOW, scp=None, **changed)
    entries = [
        {
            "typ": f"http://schemas.microsoft.com/identity/claims/{names[name]}"
            if name in names
            else name,
            "val": str(value),
        }
        for name, value in claims.items()
    ]
    entries += [{"typ": "roles", "val": "Memory.Read"}, {"typ": "roles", "val": "Memory.Write"}]
    return base64.b64encode(
        json.dumps({"auth_typ": "aad", "role_typ": "roles", "claims": entries}).encode()
    ).decode()


async def test_app_services_header_is_believed_only_where_a_setting_says_so_and_no_key_or_token_comes(  # noqa: E501
    issuer: Issuer,
) -> None:
    header = {"x-ms-client-principal": principal(issuer)}
    assert gate_with(issuer).principal(header) is None
    trusting = gate_with(issuer, MEMORY_TRUST_PRINCIPAL_HEADER="on")
    assert trusting.principal(header) == Caller(
        "shop", f"entra:{CALLER}", frozenset({"read", "write"}), PERSON, credential="token"
    )
    for other in ({"x-api-key": "mc_a_b_c"}, {"authorization": "Bearer x"}):
        assert trusting.principal({**header, **other}) is None
    for wrong in (
        principal(issuer, tid=OTHER_TENANT),
        principal(issuer, aud=CALLER),
        "nonsense",
        "bnVsbA==",
        "e30=",
    ):
        with pytest.raises(Unauthenticated):
            trusting.principal({"x-ms-client-principal": wrong})


async def test_the_header_is_refused_at_the_start_where_app_service_authenticates_nobody(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEBSITE_AUTH_ENABLED", raising=False)
    settings = Settings.from_env({**issuer.settings, "MEMORY_TRUST_PRINCIPAL_HEADER": "on"})
    with pytest.raises(ValueError, match="WEBSITE_AUTH_ENABLED is not True"):
        await runtime.start(settings)
