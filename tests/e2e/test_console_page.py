"""The console in a real browser, on a host that asks for keys: one visit from the key to a
decided conflict.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator

import httpx
import pytest

from memory_core.functions import http_console
from tests.browser import Browser, appear, click
from tests.host import ended_task, problem, running, save
from tests.npm_file import npm_file
from tests.profiles import Profile

KEY = "mc_shop_a1_0123456789abcdef"
KEYS = [
    {
        "id": "a1",
        "app": "shop",
        "sha256": hashlib.sha256(KEY.encode()).hexdigest(),
        "rights": ["read", "write", "admin"],
    }
]
AXE = "axe-core@4.11.0"
MARKUP = "<img src=x onerror=document.title='broken'> Ana & Bo"
CITIES = ("Lisbon", "Porto")
ALL_BYTES = 300_000
"""What the whole page may weigh, sent compressed."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, profile: Profile) -> Iterator[httpx.Client]:
    with running(
        tmp_path_factory.mktemp("console"), MEMORY_API_KEYS=json.dumps(KEYS), **profile.settings()
    ) as client:
        client.headers["X-API-Key"] = KEY
        yield client


def enter(page: Browser, selector: str, text: str) -> None:
    """Put a text into a field and submit its form."""
    appear(page, f"!!document.querySelector({json.dumps(selector)})")
    page.evaluate(
        f"(() => {{ const field = document.querySelector({json.dumps(selector)}); field.value = "
        f"{json.dumps(text)}; field.form.requestSubmit(); }})()"
    )


def visit(page: Browser, address: str) -> None:
    """Go to a view and wait until it is loaded."""
    page.evaluate(f"location.hash = {json.dumps(address)}")
    appear(page, f"document.querySelector('main').dataset.opened === {json.dumps(address)}")
    appear(page, "!document.querySelector('main .skeleton, main [aria-busy]')")


def breaches(page: Browser) -> list[str]:
    """What axe-core finds on the view that is open, of whatever weight."""
    script = (
        "axe.run(document, {resultTypes: ['violations']}).then((result) => "
        "JSON.stringify(result.violations))"
    )
    violations = json.loads(page.evaluate(script))
    return [
        f"{entry['id']}: {node['html'][:200]} {node['failureSummary']}"
        for entry in violations
        for node in entry["nodes"]
    ]


def test_a_person_signs_in_searches_opens_a_memory_and_decides_a_conflict(
    host: httpx.Client, chromium: Browser
) -> None:
    """Nothing is loaded from elsewhere, no text becomes HTML, and no view is hard to use for those
    who can't see it.
    """
    fact = {
        "type": "semantic",
        "subject": "Ana",
        "attribute": "cat",
        "event_timestamp": "2026-05-08T13:56:00Z",
    }
    save(host, "ana", "Ana's cat is Mia", **fact)
    save(host, "ana", "Ana's cat is Kim", **fact, on_conflict="keep_both")
    replaced = save(
        host,
        "ana",
        "Ana lives in Oslo",
        type="semantic",
        subject="Ana",
        attribute="home",
        event_timestamp="2026-01-08T13:56:00Z",
    )
    save(host, "ana", "Ana lives in Lisbon", **{**fact, "attribute": "home"})
    save(host, "ana", MARKUP)
    save(
        host,
        "bo",
        "Bo's coat",
        type="semantic",
        subject="user",
        attribute="coat",
        value={"onclick": MARKUP},
    )
    (record,) = (
        entry
        for entry in host.get("/api/v1/conflicts?user_id=ana").json()["conflicts"]
        if entry["strategy"] == "keep_both"
    )
    host.post(f"/api/v1/conflicts/{record['id']}/undo", json={"user_id": "ana"}).raise_for_status()
    base = str(host.base_url).rstrip("/")
    axe = npm_file(AXE, "axe.min.js").read_text(encoding="utf-8")

    chromium.open(f"{base}/console#/search?user=ana&q=Where+does+Ana+live")
    chromium.evaluate(axe)
    appear(chromium, "!!document.querySelector('input[type=password]')")
    assert breaches(chromium) == []
    enter(chromium, "input[type=password]", "mc_shop_a1_wrong")
    assert "not known" in appear(chromium, "document.querySelector('.complaint')?.textContent")
    enter(chromium, "input[type=password]", KEY)
    first = "document.querySelector('.hit .words')?.textContent"
    assert appear(chromium, first) == "Ana lives in Lisbon"
    assert appear(chromium, "document.querySelectorAll('.hit:first-child .meter').length") >= 4
    assert breaches(chromium) == []

    enter(chromium, "input[name=why]", replaced["id"])
    assert (
        appear(chromium, "document.querySelector('.verdict .strong')?.textContent")
        == "Another memory replaced it"
    )
    click(chromium, ".hit .words a")
    appear(chromium, "!!document.querySelector('.drawing svg a')")
    assert appear(chromium, "document.querySelectorAll('.drawing svg a').length") == 2

    visit(chromium, "#/memories?user=ana")
    assert appear(chromium, "document.querySelectorAll('.window .line').length") == 4
    assert MARKUP in chromium.evaluate("document.querySelector('.window').textContent")
    visit(chromium, "#/conflicts?user=ana")
    click(chromium, f"[data-id='{record['id']}'] [data-decision=supersede]")
    appear(
        chromium,
        f"document.querySelector(\"[data-id='{record['id']}'] .status\")?.textContent === "
        "'resolved'",
    )
    assert (
        host.get(f"/api/v1/conflicts/{record['id']}?user_id=ana").json()["strategy"] == "supersede"
    )

    for address in (
        f"memory/{replaced['id']}",
        "ahead",
        "memories",
        "sessions",
        "scenes",
        "profile",
        "conflicts",
        "tasks",
        "keys",
        "audit",
        "health",
    ):
        visit(chromium, f"#/{address}?user=ana")
        assert breaches(chromium) == [], address
    visit(chromium, "#/profile?user=bo")
    assert chromium.evaluate("document.querySelector('.known .value').textContent") == json.dumps(
        {"onclick": MARKUP}, separators=(",", ":")
    )
    assert chromium.evaluate("document.title") != "broken"
    assert chromium.evaluate("Object.keys(localStorage).length") == 0
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


def test_an_operator_tells_conversations_apart_and_learns_why_a_memory_is_not_found(
    host: httpx.Client, chromium: Browser
) -> None:
    """Conversations go by their first words, memories by theirs; what is missing,
    unknown or deleted is said to be so.
    """
    session = "chatgpt-65a2340f-2b1c-4d7e-9a3e-0f1e2d3c4b5a"
    text = "I moved to Bremen. My flight to Lisbon is on 20 December 2099."
    message = {"role": "user", "content": text, "timestamp": "2026-03-02T18:00:00Z"}
    answer = host.post(
        "/api/v1/memories", json={"user_id": "tom", "session_id": session, "messages": [message]}
    )
    ended_task(host, answer.headers["location"])
    golf = save(host, "tom", "Tom drives a Golf", type="semantic")
    host.delete(f"/api/v1/memories/{golf['id']}?user_id=tom").raise_for_status()
    chromium.open(f"{str(host.base_url).rstrip('/')}/console#/sessions?user=tom")
    chromium.evaluate(npm_file(AXE, "axe.min.js").read_text(encoding="utf-8"))
    enter(chromium, "input[type=password]", KEY)

    appear(chromium, "document.querySelector('.card .words a')?.title === " + json.dumps(session))
    appear(chromium, f"document.querySelector('.card .words a').textContent === {json.dumps(text)}")
    appear(
        chromium, "document.querySelector('.card .about time').dateTime === '2026-03-02T18:00:00Z'"
    )
    visit(chromium, f"#/session/{session}?user=tom")
    appear(chromium, f"document.querySelector('h1').textContent === {json.dumps(text)}")
    appear(
        chromium, "document.querySelector('.turn .ahead time')?.dateTime.startsWith('2099-12-20')"
    )
    assert breaches(chromium) == []
    visit(chromium, "#/ahead?user=tom")
    assert "Lisbon" in chromium.evaluate("document.querySelector('.card .words').textContent")

    visit(chromium, "#/search?user=tom&q=car")
    verdict = "document.querySelector('.verdict .strong')?.textContent"
    enter(chromium, "input[name=why]", "alarm code")
    appear(chromium, f"{verdict} === 'No memory has these words'")
    enter(chromium, "input[name=why]", "drives golf")
    appear(chromium, f"{verdict} === 'It is deleted'")
    assert breaches(chromium) == []
    click(chromium, ".panel .actions button")
    appear(chromium, f"{verdict} && {verdict} !== 'It is deleted'")
    assert host.get(f"/api/v1/memories/{golf['id']}?user_id=tom").json()["status"] == "active"

    visit(chromium, "#/profile?user=tmo")
    assert (
        appear(chromium, "document.querySelector('.unknown .strong')?.textContent")
        == "The user tmo is not known here"
    )
    visit(chromium, "#/memories?user=tmo")
    appear(
        chromium, "!!document.querySelector('.unknown') && !!document.querySelector('.view .empty')"
    )
    count = "[...document.querySelectorAll('.empty')].filter((box) => box.offsetParent).length"
    assert chromium.evaluate(count) == 1
    assert breaches(chromium) == []
    events = ("Log.entryAdded", "Runtime.exceptionThrown")
    assert [event for event in chromium.seen if event["method"] in events] == [], (
        "errors, or breaches of the page's policy"
    )


def test_what_was_forgotten_for_good_is_named_as_such_and_what_has_not_begun_with_its_day(
    host: httpx.Client, chromium: Browser
) -> None:
    """A memory whose predecessor or successor is gone says so; an announced truth says from when
    on it holds.
    """
    for user, forgotten in (("una", 0), ("vic", 1)):
        chain = [
            save(
                host,
                user,
                f"{user} lives in {city}",
                type="semantic",
                subject=user,
                attribute="city",
                value=city,
            )
            for city in CITIES
        ]
        body = {"user_id": user, "filter": {"ids": [chain[forgotten]["id"]]}, "mode": "hard"}
        ended_task(host, host.post("/api/v1/forget", json=body).headers["location"])
        visit_signed_in(chromium, host, f"#/memory/{chain[1 - forgotten]['id']}?user={user}")
        sentence = ("What it replaced was", "What replaced it was")[forgotten]
        appear(
            chromium,
            f"document.querySelector('main').textContent.includes('{sentence} forgotten for "
            "good.')",
        )
    visit(chromium, f"#/search?user=vic&q=city&why={chain[0]['id']}")
    appear(
        chromium,
        "document.querySelector('.verdict')?.textContent.includes('What replaced it was forgotten "
        "for good.')",
    )
    later = save(host, "vic", "vic has a dog", type="semantic", valid_from="2099-02-01T00:00:00Z")
    visit(chromium, "#/memories?user=vic")
    appear(
        chromium,
        "document.querySelector('.about "
        "time[datetime^=\"2099-02-01\"]')?.parentElement.textContent.startsWith('from ')",
    )
    visit(chromium, f"#/search?user=vic&q=dog&answer_threshold=0&why={later['id']}")
    appear(
        chromium,
        "document.querySelector('.hit "
        "time[datetime^=\"2099-02-01\"]')?.parentElement.textContent.startsWith('from ')",
    )
    assert breaches(chromium) == []


def visit_signed_in(page: Browser, host: httpx.Client, address: str) -> None:
    """Go to a view; the first time the page is opened, its key is entered."""
    base = f"{str(host.base_url).rstrip('/')}/console"
    if not page.evaluate("location.href").startswith(base):
        page.open(f"{base}{address}")
        page.evaluate(npm_file(AXE, "axe.min.js").read_text(encoding="utf-8"))
        enter(page, "input[type=password]", KEY)
    visit(page, address)


def test_the_files_of_the_console_are_small_and_kept_by_browsers_under_their_release_alone(
    host: httpx.Client,
) -> None:
    page = host.get("/console", headers={"X-API-Key": ""})
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-cache")
    assert {"script-src 'self'", "style-src 'self'", "connect-src 'self'"} <= set(
        page.headers["content-security-policy"].split("; ")
    )
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page.text)
    (release,) = set(re.findall(r"/console/([0-9a-f]+)/", page.text))
    names = [path.name for path in http_console.FOLDER.iterdir() if path.name != http_console.PAGE]
    sent = 0
    for name in names:
        with host.stream("GET", f"/console/{release}/{name}") as answer:
            sent += len(b"".join(answer.iter_raw()))
            assert "immutable" in answer.headers["cache-control"]
    assert sent < ALL_BYTES
    plain = host.get("/console/earlier/app.js", headers={"Accept-Encoding": "identity"})
    assert (plain.headers["cache-control"], plain.content) == (
        "no-store",
        (http_console.FOLDER / "app.js").read_bytes(),
    )
    for name in ("page.html", "..%2Fgate.py", "app.js.gz"):
        assert problem(host.get(f"/console/{release}/{name}"), 404)
