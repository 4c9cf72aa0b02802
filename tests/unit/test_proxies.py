"""A proxy that the environment names is used, and only where it holds."""

from __future__ import annotations

import pytest

from memory_core.adapters.azure_storage.account import has_proxy


@pytest.fixture(autouse=True)
def nobody_s_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        for spelling in (name, name.upper()):
            monkeypatch.delenv(spelling, raising=False)


def test_without_a_proxy_none_is_asked_for() -> None:
    assert not has_proxy("https://a.documents.azure.com")
    assert not has_proxy(None)


@pytest.mark.parametrize(
    ("variable", "holds"), [("HTTPS_PROXY", True), ("all_proxy", True), ("HTTP_PROXY", False)]
)
def test_a_proxy_holds_for_its_scheme(
    monkeypatch: pytest.MonkeyPatch, variable: str, holds: bool
) -> None:
    monkeypatch.setenv(variable, "http://proxy.corp:3128")
    assert has_proxy("https://a.documents.azure.com") is holds
    assert has_proxy(None)


def test_an_address_that_is_exempt_goes_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.corp:3128")
    monkeypatch.setenv("NO_PROXY", "localhost,.azure.com")
    assert not has_proxy("https://a.documents.azure.com")
    assert has_proxy("https://a.example.org")
