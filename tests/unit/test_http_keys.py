from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest

from memory_core.access.lookup import KEYS_KEPT, KeyCache, Lookup
from memory_core.domain.errors import Forbidden, Unauthenticated
from memory_core.functions.callers import Keyring, PresentedKey
from memory_core.setting_types import ApiKey
from tests.builders import NOW

SECRET = "0123456789abcdefABCDEF"


def configured(key: str, **changed: Any) -> ApiKey:
    app, key_id, _ = key.removeprefix("mc_").rsplit("_", 2)
    return ApiKey.model_validate(
        {
            "id": key_id,
            "app": app,
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "rights": ["read"],
            **changed,
        }
    )


KEY = f"mc_shop_k1_{SECRET}"


@pytest.mark.parametrize(
    "headers",
    [{"x-api-key": KEY}, {"authorization": f"Bearer {KEY}"}, {"authorization": f"bearer  {KEY} "}],
)
def test_a_known_key_is_its_app_by_either_header(headers: dict[str, str]) -> None:
    caller = Keyring([configured(KEY)]).caller(PresentedKey.of(headers))
    assert (caller.app_id, caller.key_id, caller.user_id) == ("shop", "k1", None)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": ""},
        {"authorization": "Basic abc"},
        {"x-api-key": "nonsense"},
        {"x-api-key": KEY + "x"},
        {"x-api-key": KEY.replace("shop", "other")},
        {"x-api-key": KEY.replace("k1", "k2")},
        {"x-api-key": f"{KEY},{KEY}"},
        {"x-api-key": KEY, "authorization": f"Bearer {KEY}x"},
        {"x-api-key": "mc___"},
        {"x-api-key": "ключ"},
    ],
)
def test_anything_else_is_nobody(headers: dict[str, str]) -> None:
    with pytest.raises(Unauthenticated):
        Keyring([configured(KEY)]).caller(PresentedKey.of(headers))


def test_an_app_may_have_underscores_in_its_name() -> None:
    key = f"mc_my_app_k1_{SECRET}"
    assert Keyring([configured(key)]).caller(PresentedKey.of({"x-api-key": key})).app_id == "my_app"


def test_without_keys_nobody_comes_in() -> None:
    with pytest.raises(Unauthenticated):
        Keyring([]).caller(PresentedKey.of({"x-api-key": KEY}))


def test_a_right_that_was_not_given_is_forbidden_and_admin_has_all() -> None:
    reader = Keyring([configured(KEY)]).caller(PresentedKey.of({"x-api-key": KEY}))
    reader.require("read")
    with pytest.raises(Forbidden, match="write"):
        reader.require("write")
    admin = Keyring([configured(KEY, rights=["admin"])]).caller(PresentedKey.of({"x-api-key": KEY}))
    for right in ("read", "write", "admin"):
        admin.require(right)


def test_names_that_nobody_has_are_remembered_apart_and_up_to_a_limit() -> None:
    cache = KeyCache(most=3)
    for number in range(10):
        cache.keep(("app", f"guess{number}"), Lookup(None, NOW))
    assert len(cache) == 3
    assert cache.get(("app", "guess9"), NOW) == Lookup(None, NOW)
    assert cache.get(("app", "guess0"), NOW) is None
    assert cache.get(("app", "guess9"), NOW + timedelta(seconds=5)) is None, (
        "or a key that was just made elsewhere would be refused"
    )
    assert KEYS_KEPT < 10_000
