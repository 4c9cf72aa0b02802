"""What the gate does with handlers that are slow, broken or asked by the wrong people: the runtime
is real, the handlers are the test's.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest
from azure.functions.timer import TimerRequest

from memory_core.config import Settings
from memory_core.domain.errors import Conflict, Unavailable
from memory_core.domain.requests.memories import ClearInput
from memory_core.functions import runtime
from memory_core.functions.gate import Admitted, gated, ungated
from memory_core.functions.request_parsing import Nothing
from memory_core.localhost.timers import Timer, Timers
from memory_core.logs import PrivacyFilter

KEY = "mc_shop_k1_0123456789abcdef"
ADMIN = "mc_shop_k2_0123456789abcdef"


def settings(folder: Path, **changed: str) -> Settings:
    return Settings.from_env(
        {"MEMORY_DATA": str(folder), "EMBEDDING_PROVIDER": "hash", "MEMORY_AUTH": "off", **changed}
    )


def with_keys() -> dict[str, str]:
    keys = [
        {
            "id": key.split("_")[2],
            "app": "shop",
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "rights": rights,
        }
        for key, rights in ((KEY, ["read", "write"]), (ADMIN, ["admin"]))
    ]
    return {"MEMORY_AUTH": "on", "MEMORY_API_KEYS": json.dumps(keys)}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[runtime.Runtime]:
    yield await runtime.start(settings(tmp_path))
    await runtime.close()


def request(
    method: str = "GET",
    query: str = "user_id=ana",
    body: dict[str, Any] | None = None,
    **headers: str,
) -> func.HttpRequest:
    sent = {"content-type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    content = b"" if body is None else json.dumps(body).encode()
    return func.HttpRequest(method, f"http://localhost:7071/x?{query}", headers=sent, body=content)


def problem(response: func.HttpResponse) -> dict[str, Any]:
    assert response.mimetype == "application/problem+json"
    problem_body: dict[str, Any] = json.loads(response.get_body())
    assert problem_body["status"] == response.status_code
    assert problem_body["correlation_id"] == response.headers["X-Correlation-Id"]
    return problem_body


def handler(
    answer: Callable[[Admitted[Nothing]], Awaitable[func.HttpResponse]],
) -> Callable[[func.HttpRequest], Awaitable[func.HttpResponse]]:
    return gated("read", query=Nothing)(answer)


async def test_an_answer_that_takes_too_long_is_a_503_that_says_when_to_come_back(
    here: runtime.Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "_current", replace(here, deadline_s=0.0))

    async def slow(req: Admitted[Nothing]) -> func.HttpResponse:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    response = await handler(slow)(request())
    assert problem(response)["status"] == 503
    assert int(response.headers["Retry-After"]) > 0


async def test_an_unexpected_error_is_a_500_that_tells_the_log_and_not_the_caller(
    here: runtime.Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    secret = " ".join(["secret", "detail"])

    async def broken(req: Admitted[Nothing]) -> func.HttpResponse:
        raise ZeroDivisionError(secret)

    caplog.handler.addFilter(PrivacyFilter())
    with caplog.at_level(logging.ERROR):
        response = await handler(broken)(request(x_correlation_id="trace-1"))
    assert problem(response)["status"] == 500
    assert problem(response)["correlation_id"] == "trace-1"
    assert b"secret" not in response.get_body()
    assert b"Traceback" not in response.get_body()
    assert "trace-1" in caplog.text
    assert "Described: ZeroDivisionError" in caplog.text
    assert "raise ZeroDivisionError(secret)" in caplog.text
    assert secret not in caplog.text


async def test_a_dependency_that_is_down_is_a_503_that_names_it_and_a_line_of_log(
    here: runtime.Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    async def down(req: Admitted[Nothing]) -> func.HttpResponse:
        raise Unavailable("long term", "Cosmos DB answered 429", retry_after_s=7)

    response = await handler(down)(request(x_correlation_id="trace-2"))
    assert "long term" in problem(response)["detail"]
    assert response.headers["Retry-After"] == "7"
    assert (
        "down is answered with 503: long term: Cosmos DB answered 429, correlation id trace-2"
        in caplog.text
    )


@pytest.mark.parametrize(
    "error", [Unavailable("long term", "is down"), ZeroDivisionError()], ids=["down", "broken"]
)
async def test_a_failure_is_logged_without_the_path_which_may_name_a_user(
    here: runtime.Runtime, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    async def fails(req: Admitted[Nothing]) -> func.HttpResponse:
        raise error

    asked = func.HttpRequest(
        "GET", "http://localhost:7071/api/v1/users/zelda?user_id=zelda", body=b""
    )
    assert problem(await handler(fails)(asked))["status"] >= 500
    assert "fails" in caplog.text
    assert "zelda" not in caplog.text


async def test_what_is_wrong_with_a_request_is_told_to_its_sender_only(
    here: runtime.Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuses(req: Admitted[Nothing]) -> func.HttpResponse:
        raise Conflict("no")

    assert problem(await handler(refuses)(request()))["status"] == 409
    assert caplog.text == ""


async def test_the_environment_is_read_and_its_strange_variables_are_logged_once_however_often_the_start_fails(  # noqa: E501
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a file").touch()
    for name, value in {
        "MEMORY_DATA": str(tmp_path / "a file"),
        "MEMORY_AUTH": "off",
        "EMBEDDING_PROVIDER": "hash",
        "OMNIMEMORY_LINK_THRESHOLD": "0.6",
    }.items():
        monkeypatch.setenv(name, value)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await runtime.current()
    await runtime.close()
    assert [
        record.getMessage() for record in caplog.records if "OMNIMEMORY" in record.getMessage()
    ] == ["OMNIMEMORY_LINK_THRESHOLD is not read: the setting is MEMORY_LINK_THRESHOLD"]


async def test_another_app_without_keys_is_told_that_there_are_none(here: runtime.Runtime) -> None:
    async def answer(req: Admitted[Nothing]) -> func.HttpResponse:
        raise AssertionError("unreachable")

    problem_body = problem(await handler(answer)(request(query="user_id=ana&app_id=shop")))
    assert problem_body["status"] == 403
    assert problem_body["errors"][0]["field"] == "app_id"
    assert "this key" not in problem_body["detail"]
    assert "without keys" in problem_body["detail"]
    assert "MEMORY_API_KEYS" in problem_body["detail"]
    assert "local" in problem_body["detail"]


async def test_an_open_handler_answers_errors_in_the_same_form() -> None:
    @ungated
    async def refuses(req: func.HttpRequest) -> func.HttpResponse:
        raise Conflict("no")

    assert problem(await refuses(request()))["status"] == 409


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "a\nb", "ä"])
async def test_a_correlation_id_that_is_not_sane_is_replaced(
    here: runtime.Runtime, sent: str
) -> None:
    async def fine(req: Admitted[Nothing]) -> func.HttpResponse:
        return func.HttpResponse(req.call.correlation_id)

    response = await handler(fine)(request(x_correlation_id=sent))
    assert response.headers["X-Correlation-Id"] == response.get_body().decode() != sent


async def test_equal_requests_have_equal_hashes_however_their_json_is_written(
    here: runtime.Runtime,
) -> None:
    async def fingerprint(req: Admitted[ClearInput]) -> func.HttpResponse:
        return func.HttpResponse(
            f"{req.call.idempotency_key} {req.call.route} {req.call.body_hash}"
        )

    ask = gated("write", body=ClearInput)(fingerprint)

    async def of(**body: str) -> bytes:
        return (await ask(request("POST", "", body, idempotency_key="k"))).get_body()

    body = await of(user_id="ana", session_id="s")
    assert body.startswith(b"k POST fingerprint ")
    assert body == await of(session_id="s", user_id="ana")
    assert body != await of(session_id="s", user_id="bob")
    assert body != await of(session_id="t", user_id="ana")


async def test_without_authentication_only_requests_to_a_loopback_name_are_served(
    here: runtime.Runtime,
) -> None:
    async def fine(req: Admitted[Nothing]) -> func.HttpResponse:
        return func.HttpResponse(req.owner.app_id)

    for host, status in (
        ("localhost", 200),
        ("127.0.0.1:7071", 200),
        ("[::1]:7071", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
    ):
        response = await handler(fine)(
            func.HttpRequest("GET", f"http://{host}/x?user_id=ana", body=b"")
        )
        assert response.status_code == status, host


@pytest.mark.parametrize(
    "exposed", [{"MEMORY_HOST": "0.0.0.0"}, {"WEBSITE_HOSTNAME": "app.azurewebsites.net"}]
)
async def test_authentication_cannot_be_off_where_others_can_reach_it(
    tmp_path: Path, exposed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in exposed.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="loopback"):
        await runtime.start(settings(tmp_path, **exposed))


async def test_a_timer_is_fired_by_hand_by_whoever_has_the_right(tmp_path: Path) -> None:
    await runtime.start(settings(tmp_path, **with_keys()))
    fired = asyncio.Event()

    async def tick(timer: TimerRequest) -> None:
        fired.set()

    timers = Timers(
        [Timer("hourly", "0 0 * * * *", "timer", tick)], lambda: datetime.now(timezone.utc)
    )
    try:
        response = await timers.fire("hourly", request("POST", x_api_key=ADMIN))
        async with asyncio.timeout(10):
            await fired.wait()
        assert response.status_code == 202
        for name, key, kind in (
            ("hourly", KEY, "forbidden"),
            ("hourly", "mc_x", "unauthenticated"),
            ("daily", ADMIN, "not_found"),
        ):
            with pytest.raises(Exception) as caught:  # noqa: PT011 - its type is what is asserted
                await timers.fire(name, request("POST", x_api_key=key))
            assert getattr(caught.value, "type", None) == kind
    finally:
        await timers.stop()
        await runtime.close()
