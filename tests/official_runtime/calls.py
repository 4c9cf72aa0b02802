"""What a function is called with, whatever triggers it, and what it must answer.
The tables of calls are made of these.

An HTTP function never fails an invocation: its failures are answers. A queue or timer function
fails by raising, after which the host delivers the message again (the timer:
waits for its next time).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.official_runtime.worker import Worker

BASE_URL = "http://127.0.0.1:7071"


@dataclass(frozen=True, slots=True)
class Http:
    """A request, and the status that answers it."""

    method: str
    path: str
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def request(self, headers: Mapping[str, str]) -> httpx.Request:
        """The request itself, with these headers where it has none of its own by that name;
        an empty one is not sent.
        """
        named = {name: value for name, value in {**headers, **self.headers}.items() if value}
        content = {"content": self.body} if isinstance(self.body, bytes) else {"json": self.body}
        return httpx.Request(self.method, BASE_URL + self.path, headers=named, **content)


@dataclass(frozen=True, slots=True)
class Queued:
    """A message on a queue. fails: what its error says; None when it must succeed."""

    text: str
    fails: str | None = None
    dequeue_count: int = 1


@dataclass(frozen=True, slots=True)
class Tick:
    """A timer's time. fails: what its error says; None when it must succeed."""

    past_due: bool = False
    fails: str | None = None


@dataclass(frozen=True, slots=True)
class WarmUp:
    """A new instance, before its first request. It never fails: the first request says
    what is down.
    """

    fails: None = None


Call = Http | Queued | Tick | WarmUp


@dataclass(frozen=True, slots=True)
class Row:
    """One function called well and called so that it fails. failing: None only where nothing that
    is sent can be wrong.
    """

    well: Call
    failing: Call | None


def invoke(
    worker: Worker, name: str, call: Call, headers: Mapping[str, str]
) -> httpx.Response | None:
    """Call `name` and assert that it ends as the call says; an HTTP function's answer,
    None of the others.
    """
    if isinstance(call, Http):
        response = worker.answer(name, call.request(headers))
        assert response.status_code == call.status, (
            f"{name}: {response.status_code} {response.text}\n{worker.terminal[-2000:]}"
        )
        return response
    if isinstance(call, Queued):
        done = worker.deliver(name, call.text, dequeue_count=call.dequeue_count)
    elif isinstance(call, WarmUp):
        done = worker.invoke(name, {"json": "{}"})
    else:
        done = worker.tick(name, past_due=call.past_due)
    assert done.ok == (call.fails is None), f"{name} {call}: {done.error or 'did not fail'}"
    assert (call.fails or "") in done.error
    return None
