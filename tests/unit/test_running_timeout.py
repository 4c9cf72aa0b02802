"""A timeout that counts only while the event loop runs."""

from __future__ import annotations

import asyncio

import pytest

from memory_core.adapters.redis.client import running_timeout


class HeldUp:
    """The running loop's clock, which can be moved as work that keeps the loop would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._loop = asyncio.get_running_loop()
        self._time = self._loop.time
        self._ahead = 0.0
        monkeypatch.setattr(self._loop, "time", lambda: self._time() + self._ahead)

    async def keep_loop(self, seconds: float) -> None:
        """Keep the loop, then have an answer that takes the loop a few turns to read."""
        self._ahead += seconds
        for _ in range(5):
            await asyncio.sleep(0)


async def test_an_answer_that_arrived_while_the_loop_was_held_up_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = HeldUp(monkeypatch)
    async with running_timeout(0.1):
        await loop.keep_loop(30)


async def test_the_standard_timeout_fails_the_same_call(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = HeldUp(monkeypatch)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await loop.keep_loop(30)


async def test_a_call_without_an_answer_ends_though_the_loop_is_held_up_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = HeldUp(monkeypatch)

    async def call() -> None:
        async with running_timeout(0.01):
            await loop.keep_loop(30)
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await call()


async def test_no_limit_lets_a_call_take_as_long_as_it_likes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = HeldUp(monkeypatch)
    async with running_timeout(None):
        await loop.keep_loop(1_000_000)
