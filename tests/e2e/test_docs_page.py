"""The page of `/docs` in a real browser, on a host that asks for keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from deployment import viewer
from memory_core.functions import http_docs
from tests.browser import Browser, appear, click
from tests.host import answer_when, problem, running, save

KEY = "mc_shop_a1_0123456789abcdef"
KEYS = [
    {
        "id": "a1",
        "app": "shop",
        "sha256": hashlib.sha256(KEY.encode()).hexdigest(),
        "rights": ["read", "write"],
    }
]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("docs"), MEMORY_API_KEYS=json.dumps(KEYS)) as client:
        yield client


def click_until(page: Browser, selector: str, expression: str) -> Any:
    """Click again until an expression is true, since fields take over late what was typed;
    its value.
    """

    def ask() -> Any:
        page.evaluate(f"document.querySelector({json.dumps(selector)})?.click()")
        return page.evaluate(expression)

    return answer_when(ask, bool)


def enter(page: Browser, selector: str, text: str) -> None:
    """Type a text into a field, as React sees it."""
    appear(page, f"!!document.querySelector({json.dumps(selector)})")
    page.evaluate(
        "(() => {"
        f"const field = document.querySelector({json.dumps(selector)});"
        "Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, "
        f"{json.dumps(text)}); field.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
    )


def test_with_a_key_every_call_can_be_read_and_tried_and_nothing_comes_from_elsewhere(
    host: httpx.Client, chromium: Browser
) -> None:
    host.headers["X-API-Key"] = KEY
    save(host, "ana", "Ana lives in Lisbon")
    base = str(host.base_url).rstrip("/")
    assert host.get("/").json()["links"]["docs"] == "/docs"
    chromium.open(f"{base}/docs")
    operations = sum(len(path) for path in host.get("/openapi.json").json()["paths"].values())
    appear(chromium, f"document.querySelectorAll('.opblock').length === {operations}")
    click(chromium, ".btn.authorize")
    enter(chromium, ".auth-container input#api_key_value", KEY)
    click_until(
        chromium,
        ".auth-btn-wrapper .authorize",
        "document.querySelector('.auth-container')?.innerText.includes('Logout')",
    )
    click(chromium, ".btn-done")
    click(chromium, "#operations-memories-memories_list .opblock-summary-control")
    enter(chromium, "#operations-memories-memories_list tr[data-param-name=user_id] input", "ana")
    answer = click_until(
        chromium,
        "#operations-memories-memories_list .execute",
        "document.querySelector('#operations-memories-memories_list "
        ".live-responses-table')?.innerText",
    )
    assert "200" in answer
    assert "Ana lives in Lisbon" in answer
    asked = [
        event["params"]["request"]["url"]
        for event in chromium.seen
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith((f"{base}/", "data:"))] == []
    events = ("Log.entryAdded", "Runtime.exceptionThrown")
    assert [event for event in chromium.seen if event["method"] in events] == [], (
        "errors, or breaches of the page's policy"
    )


def test_a_file_that_the_page_does_not_have_is_a_problem_and_its_files_come_compressed_or_not(
    host: httpx.Client,
) -> None:
    for name in ("index.html", "LICENSE", "..%2Fgate.py", "swagger-ui.css.gz"):
        assert problem(host.get(f"/docs/{name}"), 404)
    plain = host.get("/docs/swagger-ui.css", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert (
        plain.content
        == host.get("/docs/swagger-ui.css").content
        == viewer.kept_content(http_docs.FOLDER, "swagger-ui.css")
    )
