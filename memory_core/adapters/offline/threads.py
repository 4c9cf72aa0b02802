"""Threads for rules that read long texts: few, so that the event loop gets its turn, and stopped when their result is not waited for.

Note: a thread can't be stopped from outside. A rule calls `checkpoint` for each message or sentence, and that ends it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import ParamSpec, TypeVar

TURN_S, PAUSE_S = 0.005, 0.0005
"""How long a rule computes at a time, and how long it leaves the processor to the event loop and to other rules then."""
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_computing = threading.Lock()
"""Held by the one rule that computes: each more of them would take as much of the interpreter's time as the event loop gets."""


class Stopped(Exception):
    """The result of a rule is not waited for any more."""


class Turns:
    """When the rule of a thread computes, and when it lets others do so."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._began = 0.0

    def run(self, rule: Callable[[], Result]) -> Result:
        """The result of the rule. Raises Stopped when it is not waited for any more."""
        with _computing:
            self._began = time.monotonic()
            token = _turns.set(self)
            try:
                self.take()
                return rule()
            finally:
                _turns.reset(token)

    def take(self) -> None:
        """Go on, after a pause when it is time for one. Raises Stopped."""
        if self.stop.is_set():
            raise Stopped
        if time.monotonic() - self._began < TURN_S:
            return
        _computing.release()
        try:
            time.sleep(PAUSE_S)
        finally:
            _computing.acquire()
        self._began = time.monotonic()


_turns: ContextVar[Turns | None] = ContextVar("turns", default=None)


def checkpoint() -> None:
    """Let others compute, or end the rule of this thread when its result is not waited for any more. Raises Stopped."""
    turns = _turns.get()
    if turns is not None:
        turns.take()


class RuleThread:
    """Runs rules one after the other, in a thread that begins with the first of them and ends with `close`."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, rule: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """The result of the rule. When the awaiting task is cancelled, the rule ends at its next checkpoint."""
        self._executor = self._executor or ThreadPoolExecutor(1, "rules")
        turns = Turns()
        call = partial(copy_context().run, turns.run, partial(rule, *args, **kwargs))
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except asyncio.CancelledError:
            turns.stop.set()
            raise

    async def close(self) -> None:
        """Wait for the rules that still run."""
        executor, self._executor = self._executor, None
        if executor is not None:
            await asyncio.to_thread(executor.shutdown)
