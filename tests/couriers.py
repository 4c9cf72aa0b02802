"""A courier whose receiver a test decides on: it answers what is in `answers`, then 200, and
everything it was brought is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from memory_core.ports import Posted


@dataclass(frozen=True, slots=True)
class Brought:
    """One POST as its receiver sees it."""

    url: str
    body: bytes
    headers: Mapping[str, str]

    @property
    def task(self) -> dict[str, Any]:
        """What it says."""
        body: dict[str, Any] = orjson.loads(self.body)
        return body


@dataclass
class ScriptedCourier:
    """before: called with "post" before each answer; a test waits or is killed there."""

    answers: list[Posted] = field(default_factory=list)
    before: Callable[[str], Awaitable[None]] | None = None
    brought: list[Brought] = field(default_factory=list)

    def refusal(self, url: str) -> str | None:
        return "this is not called" if "127.0.0.1" in url else None

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        if self.before is not None:
            await self.before("post")
        self.brought.append(Brought(url, body, headers))
        return self.answers.pop(0) if self.answers else Posted(200)

    async def close(self) -> None:
        """Nothing to release."""
