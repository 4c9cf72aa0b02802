"""Threads for rules that read long texts: few, so that the event loop gets its turn, and stopped when their result is not waited for.

Note: a thread can't be stopped from outside. A rule calls `checkpoint` for each message or sentence, and that ends it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import ParamSpec, TypeVar

THREADS = 2
"""They share the interpreter's lock with the event loop, which waits for up to 5 ms for each of them; the second one keeps a short
text from waiting for a long one."""
P = ParamSpec("P")
T = TypeVar("T")
_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


class Stopped(Exception):
    """The result of a rule is not waited for any more."""


def checkpoint() -> None:
    """End the rule that runs in this thread when its result is not waited for any more. Raises Stopped."""
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise Stopped


class RuleThreads:
    """Runs rules in threads of their own. They begin with the first rule, and end with `close`."""

    def __init__(self, threads: int = THREADS) -> None:
        self._threads = threads
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, rule: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the rule. When the awaiting task is cancelled, the rule ends at its next checkpoint."""
        self._executor = self._executor or ThreadPoolExecutor(self._threads, "rules")
        stop = threading.Event()

        def call() -> T:
            _stop.set(stop)
            checkpoint()
            return rule(*args, **kwargs)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, partial(copy_context().run, call))
        except asyncio.CancelledError:
            stop.set()
            raise

    async def close(self) -> None:
        """Wait for the rules that still run."""
        executor, self._executor = self._executor, None
        if executor is not None:
            await asyncio.to_thread(executor.shutdown)
