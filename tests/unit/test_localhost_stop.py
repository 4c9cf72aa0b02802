"""A request that is at work when the development host has waited long enough for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

from azure.functions import HttpRequest, HttpResponse

from memory_core.localhost.http import Application, Limits
from memory_core.localhost.routing import Route, Router
from memory_core.localhost.timers import Timers


async def test_a_request_that_is_cancelled_by_the_stop_is_answered_503_and_may_be_sent_again() -> (
    None
):
    begun = asyncio.Event()

    async def hang(req: HttpRequest) -> HttpResponse:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("it never ends")

    answers: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        answers.append(message)

    router = Router([Route.parse("hang", "GET", "hang", hang)])
    application = Application(router, Timers([], lambda: None), Limits(1_000, 5), local_only=False)  # type: ignore[arg-type, return-value]
    scope = {
        "type": "http",
        "method": "GET",
        "raw_path": b"/hang",
        "query_string": b"",
        "scheme": "http",
        "http_version": "1.1",
        "headers": [(b"host", b"localhost"), (b"x-correlation-id", b"abc")],
    }
    answering = asyncio.ensure_future(application(scope, receive, send))
    async with asyncio.timeout(30):
        await begun.wait()
    answering.cancel()
    await answering
    start, body = answers
    problem = json.loads(body["body"])
    assert (start["status"], problem["status"], problem["type"]) == (
        503,
        503,
        "urn:memory-core:problem:unavailable",
    )
    assert (b"retry-after", b"2") in start["headers"]
    assert "host" in problem["detail"]
