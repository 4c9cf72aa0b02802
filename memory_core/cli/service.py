"""Calls of the public HTTP contract, over a network or in this process.

They go to a service at an address, or to the same functions in this process.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx2
import orjson

from memory_core.cli.target import Target
from memory_core.logs import write_to_terminal

Json = dict[str, Any]
TIMEOUT_S = 70.0
"""The timeout of a call in seconds. A service itself gives up after a minute."""
TRY_AGAIN = frozenset({429, 502, 503, 504})
TRIES = 5
FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 30.0
GRACE_S = 10.0
"""Seconds for queue work that is under way when a command ends.

Work that does not end within this time is started again by the next process.
"""
POLL_S, LONGEST_POLL_S = 0.1, 2.0
UNDER_WAY = ("accepted", "running")


class CallFailed(Exception):
    """Raised when a call was refused or got no answer.

    Args:
        detail: The reason, for people.
        status: The HTTP status; None without an answer.
        problem: The answer's problem+json.
        correlation_id: The correlation id of the answer, if its problem has none.

    """

    def __init__(
        self,
        detail: str,
        status: int | None = None,
        problem: Json | None = None,
        correlation_id: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail, self.status, self.problem = detail, status, problem or {}
        self.correlation_id = self.problem.get("correlation_id") or correlation_id

    def with_names(self, options: Mapping[str, str]) -> CallFailed:
        """The same failure, with a leading field name replaced by the name of its option."""
        field, colon, reason = self.detail.partition(": ")
        detail = f"{options[field]}{colon}{reason}" if field in options else self.detail
        return CallFailed(detail, self.status, self.problem, self.correlation_id)


class MemoryService:
    """A memory service, for a single user."""

    def __init__(self, http: httpx2.AsyncClient, user: str, tries: int = TRIES) -> None:
        self._http, self.user, self._tries = http, user, tries

    async def get(self, path: str, **query: Any) -> Json:
        """The answer to a GET about this user.

        Args:
            path: The path of the call.
            query: Further query parameters.

        Raises:
            CallFailed: The call failed.

        """
        return await self.answer("GET", path, query={"user_id": self.user, **query})

    async def post(
        self, path: str, body: Mapping[str, Any], idempotency_key: str | None = None
    ) -> Json:
        """The answer to a POST about this user.

        Args:
            path: The path of the call.
            body: The fields of the body; those that are None are left out.
            idempotency_key: The idempotency key, if any.

        Raises:
            CallFailed: The call failed.

        """
        present = {name: value for name, value in body.items() if value is not None}
        return await self.answer(
            "POST", path, body={"user_id": self.user, **present}, idempotency_key=idempotency_key
        )

    async def answer(self, method: str, path: str, **call: Any) -> Json:
        """The JSON object that answers a call.

        Args:
            method: The HTTP method.
            path: The path of the call.
            call: Further arguments of `send`.

        Raises:
            CallFailed: The call failed, or the answer is not that of Memory Core.

        """
        return _json(await self.send(method, path, **call))

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        query: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> httpx2.Response:
        """Send a call, and repeat it after an outage.

        Args:
            method: The HTTP method.
            path: The path of the call.
            body: The body as a JSON object, if any.
            content: The body as bytes, instead of `body`.
            content_type: The type of the body.
            query: The query parameters; those that are None are left out.
            idempotency_key: The idempotency key, if any.

        Returns:
            An answer with a status below 400.

        Raises:
            CallFailed: The call was refused, or there was no answer after all tries.

        """
        data = orjson.dumps(body) if body is not None else content
        headers = {} if data is None else {"Content-Type": content_type}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        for number in range(self._tries):
            wait_s = min(FIRST_WAIT_S * 2**number * random.uniform(0.5, 1.0), LONGEST_WAIT_S)
            try:
                answer = await self._http.request(
                    method, path, content=data, params=parameters, headers=headers
                )
            except httpx2.RequestError as error:
                failure = CallFailed(
                    f"{self._http.base_url} does not answer ({type(error).__name__})"
                )
            else:
                if answer.status_code < 400:
                    return answer
                failure = _failure(answer)
                if answer.status_code not in TRY_AGAIN:
                    raise failure
                wait_s = _retry_after_s(answer, wait_s)
            if number + 1 < self._tries:
                await asyncio.sleep(wait_s)
        raise failure

    async def pages(
        self, path: str, items: str, limit: int | None = None, **query: Any
    ) -> AsyncIterator[Json]:
        """The items of a list about this user, page after page.

        Args:
            path: The path of the list.
            items: The field of the answer with the items.
            limit: The most items; None for all.
            query: Further query parameters.

        Raises:
            CallFailed: A call failed.

        """
        async for item in self.pages_of_app(path, items, limit, user_id=self.user, **query):
            yield item

    async def pages_of_app(
        self, path: str, items: str, limit: int | None = None, **query: Any
    ) -> AsyncIterator[Json]:
        """The items of a list that names no user, page after page.

        Args:
            path: The path of the list.
            items: The field of the answer with the items.
            limit: The most items; None for all.
            query: Further query parameters.

        Raises:
            CallFailed: A call failed.

        """
        cursor, count = None, 0
        while True:
            size = 100 if limit is None else min(100, limit - count)
            page = await self.answer("GET", path, query={"limit": size, "cursor": cursor, **query})
            for item in page[items]:
                yield item
            count += len(page[items])
            cursor = page.get("next_cursor")
            if cursor is None or (limit is not None and count >= limit):
                return

    async def ended_task(self, task_id: str, report: Any = None) -> Json:
        """Wait until a task has ended in any way, and return it.

        Args:
            task_id: The id of the task.
            report: Called with the task each time it is read; None for no calls.

        Raises:
            CallFailed: A call failed.

        """
        pause = POLL_S
        while True:
            task = await self.get(f"/api/v1/tasks/{path_part(task_id)}")
            if report is not None:
                report(task)
            if task["status"] not in UNDER_WAY:
                return task
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, LONGEST_POLL_S)


@asynccontextmanager
async def open_service(
    target: Target, *, works: bool = False, tries: int = TRIES
) -> AsyncIterator[MemoryService]:
    """A service for as long as the block lasts.

    Args:
        target: The address or the data folder.
        works: Whether the functions of this process also work on queues, so that tasks end.
        tries: The most tries of a call.

    Raises:
        ValueError: A setting is wrong.
        MemoryCoreError: A store of this machine cannot be opened.

    """
    if target.url is not None:
        headers = _credential(target.key)
        write_to_terminal("WARNING")
        async with httpx2.AsyncClient(
            base_url=target.url, headers=headers, timeout=TIMEOUT_S
        ) as http:
            yield MemoryService(http, target.user, tries)
        return
    async with _functions_here(target, works=works) as http:
        yield MemoryService(http, target.user, tries)


@asynccontextmanager
async def _functions_here(target: Target, *, works: bool) -> AsyncIterator[httpx2.AsyncClient]:
    """Call the functions over the data folder as over HTTP, but without a socket."""
    from memory_core.config import Settings
    from memory_core.functions import runtime
    from memory_core.localhost.host import packaged_functions, sorted_by_trigger
    from memory_core.localhost.http import Application, Limits
    from memory_core.localhost.triggers import Queues

    settings = Settings.from_env(environment_of(target))
    write_to_terminal(settings.log_level)
    app, options = packaged_functions()
    served = sorted_by_trigger(app, os.environ)
    queues = Queues(served.queues, options, timedelta(seconds=settings.queue_visibility_s))
    try:
        here = await runtime.start(settings)
        if works:
            queues.start(here.core.queue)
        application = Application(
            served.router,
            served.timers,
            Limits(settings.body_limit_bytes, settings.deadline_s),
            local_only=True,
        )
        transport = httpx2.ASGITransport(app=application)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=TIMEOUT_S
        ) as http:
            yield http
    finally:
        if works:
            await queues.stop(GRACE_S)
        await runtime.close()


def environment_of(target: Target) -> Mapping[str, str]:
    """The settings of this machine for a data folder.

    A process without a socket needs no key: only the process itself can call it.
    """
    return {
        "LOG_LEVEL": "ERROR",
        **os.environ,
        "MEMORY_DATA": str(target.data),
        "MEMORY_AUTH": "off",
        "MEMORY_HOST": "127.0.0.1",
    }


def path_part(name: str) -> str:
    """A name as a single part of a path."""
    return quote(name, safe="-_.~") if name not in ("", ".", "..") else "%20"


def key_of_call(*parts: bytes | str) -> str:
    """The idempotency key of a call with these parts, the same in every run."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _failure(answer: httpx2.Response) -> CallFailed:
    try:
        problem = answer.json()
    except ValueError:
        problem = None
    problem = problem if isinstance(problem, dict) else {}
    detail = str(
        problem.get("detail")
        or problem.get("title")
        or f"the service answered with {answer.status_code}"
    )
    return CallFailed(detail, answer.status_code, problem, answer.headers.get("x-correlation-id"))


def _retry_after_s(answer: httpx2.Response, otherwise: float) -> float:
    given = answer.headers.get("retry-after", "")
    return min(float(given), LONGEST_WAIT_S) if given.isdecimal() and len(given) < 10 else otherwise


def _credential(key: str | None) -> dict[str, str]:
    """The header for a key of the service, or for an Entra ID access token."""
    if not key:
        return {}
    return {"X-API-Key": key} if key.startswith("mc_") else {"Authorization": f"Bearer {key}"}


def _json(answer: httpx2.Response) -> Json:
    if answer.status_code == 204:
        return {}
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise CallFailed("this address answers, but not as Memory Core does", answer.status_code)
    return body
