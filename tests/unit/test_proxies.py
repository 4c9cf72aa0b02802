"""A proxy that the environment names is used, and only where it holds."""

from __future__ import annotations

import pytest

from memory_core.adapters.proxies import named_for


@pytest.fixture(autouse=True)
def nobody_s_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        for spelling in (name, name.upper()):
            monkeypatch.delenv(spelling, raising=False)


def test_without_a_proxy_none_is_asked_for() -> None:
    assert not named_for("https://a.documents.azure.com")
    assert not named_for(None)


@pytest.mark.parametrize(("variable", "holds"), [("HTTPS_PROXY", True), ("all_proxy", True), ("HTTP_PROXY", False)])
def test_a_proxy_holds_for_its_scheme(monkeypatch: pytest.MonkeyPatch, variable: str, holds: bool) -> None:
    monkeypatch.setenv(variable, "http://proxy.corp:3128")
    assert named_for("https://a.documents.azure.com") is holds
    assert named_for(None)


def test_an_address_that_is_exempt_goes_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.corp:3128")
    monkeypatch.setenv("NO_PROXY", "localhost,.azure.com")
    assert not named_for("https://a.documents.azure.com")
    assert named_for("https://a.example.org")
