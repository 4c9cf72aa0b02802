"""A process that serves the functions of the project, their queues and timers.

It serves until it is stopped, alone or as a worker among several behind the same port.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import importlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import azure.functions as func

from memory_core import __version__
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.functions import runtime
from memory_core.functions.callers import LOCAL_APP, missing_keys
from memory_core.functions.http_system import unready
from memory_core.localhost.door import address_of, say
from memory_core.localhost.host import (
    GRACE_S,
    new_event_loop,
    serve,
    serve_handed,
    sorted_by_trigger,
)
from memory_core.localhost.host_settings import QueueOptions
from memory_core.localhost.http import Application, Limits
from memory_core.localhost.triggers import Queues
from memory_core.localhost.workers import FIRST_QUEUE, GREET, KEYS, READY, Channel, WorkerPlace

if TYPE_CHECKING:
    from memory_core.config import Settings
    from memory_core.core import MemoryCore

Load = Callable[[], tuple[func.FunctionApp, QueueOptions]]

MOST_ARENAS = 2
_ARENA_MAX = -8
"""The number of the option in glibc's `mallopt` that limits arenas."""


def serve_alone(settings: Settings, server_socket: socket.socket, load: Load | None) -> None:
    """Serve functions until the stop, as the only process.

    Args:
        settings: The settings.
        server_socket: The listening socket.
        load: Returns the functions and the options of queues; None for the functions of the
            project.

    """
    with asyncio.Runner(loop_factory=new_event_loop()) as runner:
        runner.run(_run(settings, load or _functions_of_project, _Alone(server_socket)))


def serve_at(place: WorkerPlace, channel: Channel, settings: Settings) -> None:
    """Serve the functions of the project, as a worker among several.

    Args:
        place: The place of this worker.
        channel: The channel to the parent.
        settings: The settings.

    """
    with asyncio.Runner(loop_factory=new_event_loop()) as runner:
        runner.run(_run(settings, _functions_of_project, _OneOfMany(place, channel)))


def import_ahead() -> None:
    """Import the modules that serving needs, ahead of time.

    An import that fails here fails again when serving, which reports it.
    """
    with suppress(Exception):
        importlib.import_module("memory_core.core")
        importlib.import_module("function_app")


def welcome_lines(
    settings: Settings,
    address: str,
    readiness: Mapping[str, Any],
    workers: int = 1,
    *,
    is_new: bool = False,
) -> str:
    """Format the start-up lines.

    Args:
        settings: The settings.
        address: The URL of the host.
        readiness: The answer of `MemoryCore.ready`.
        workers: Number of processes behind the port.
        is_new: Whether the folder had no memories before this start.

    """
    notes = [
        readiness["status"],
        *(
            dependency["detail"]
            for dependency in readiness["dependencies"].values()
            if dependency["detail"]
        ),
    ]
    adapters = " · ".join(
        f"{name.replace('_', ' ')} {dependency['adapter'] or 'not open'}"
        for name, dependency in readiness["dependencies"].items()
    )
    if settings.auth == "off":
        auth, key = (
            f'off, because the address is loopback: every caller is the app "{LOCAL_APP}"',
            "",
        )
    else:
        how = missing_keys(settings) or "send a key of MEMORY_API_KEYS as X-API-Key"
        auth, key = f"on: {how}", " -H 'X-API-Key: mc_…'"
    curl = f"curl -s -H 'Content-Type: application/json'{key} {address}/api/v1/memories"
    return "\n".join((
        (
            f"Memory Core {__version__}: the development host, which stands in for Azure's on "
            "this machine"
        ),
        f"  address   {address}",
        f"  console   {address}/console",
        (
            f"  commands  export MEMORY_CORE_URL={address} lets memory-core commands use this "
            "process, which is faster"
        ),
        f"  data      {settings.data.resolve()}{' (new: no memories were here)' if is_new else ''}",
        f"  adapters  {adapters}",
        *([f"  workers   {workers} processes behind the port"] if workers > 1 else []),
        f"  auth      {auth}",
        f"  status    {': '.join(notes)}",
        "Try:",
        f"""  {curl}/save -d '{{"user_id": "ana", "content": "Ana moved to Lisbon in May"}}'""",
        f"""  {curl}/retrieve -d '{{"user_id": "ana", "query": "Where did Ana move?"}}'""",
        "Stop with Ctrl+C.",
    ))  # fmt: skip


class _Seat(Protocol):
    """Source of a process's requests, and its part of the work."""

    @property
    def count(self) -> int:
        """Number of processes."""

    @property
    def is_first(self) -> bool:
        """Whether this process serves the queues and timers."""

    @property
    def address(self) -> str:
        """The URL of all processes."""

    def watch(self, core: MemoryCore, queues: Queues) -> None:
        """Exchange messages with the other processes."""

    async def serve(self, application: Application, lines: str) -> None:
        """Answer requests until the stop; `lines` are printed at the start."""


class _Alone:
    """The only process of a host."""

    count, is_first = 1, True

    def __init__(self, server_socket: socket.socket) -> None:
        self._socket = server_socket
        self.address = address_of(server_socket)

    def watch(self, core: MemoryCore, queues: Queues) -> None:
        queues.start(core.queue)

    async def serve(self, application: Application, lines: str) -> None:
        await serve(application, self._socket, lambda: say(lines))


class _OneOfMany:
    """A process among several, to which a parent hands connections."""

    def __init__(self, place: WorkerPlace, channel: Channel) -> None:
        self.count, self.is_first, self.address = place.workers, place.number == 0, place.address
        self._channel, self._lines = channel, ""
        self._core: MemoryCore | None = None
        self._queues: Queues | None = None

    def watch(self, core: MemoryCore, queues: Queues) -> None:
        self._core, self._queues = core, queues
        core.when_keys_change(lambda: self._channel.tell(KEYS))
        if self.is_first:
            queues.start(core.queue)
        else:
            queues.pass_on(
                core.queue, lambda place: self._channel.tell(bytes([FIRST_QUEUE + place]))
            )

    async def serve(self, application: Application, lines: str) -> None:
        self._lines = lines
        await serve_handed(
            application, self._channel, lambda: self._channel.tell(READY), self._received
        )

    def _received(self, message: int) -> None:
        if message == GREET[0]:
            say(self._lines)
        elif self._core is not None and message == KEYS[0]:
            self._core.reload_keys()
        elif self._queues is not None and message >= FIRST_QUEUE:
            self._queues.look(message - FIRST_QUEUE)


async def _run(
    settings: Settings, load: Callable[[], tuple[func.FunctionApp, QueueOptions]], seat: _Seat
) -> None:
    _share_arenas()
    app, options = load()
    served = sorted_by_trigger(app, os.environ)
    queues = Queues(served.queues, options, timedelta(seconds=settings.queue_visibility_s))
    if seat.is_first:
        say("Opening the stores and loading the embedder …")
    is_new = settings.long_term == "sqlite" and not _has_content(settings.data / "memory.db")
    try:
        core, readiness = await _opened(settings)
        lines = welcome_lines(settings, seat.address, readiness, seat.count, is_new=is_new)
        _collect_less_often()
        if seat.is_first:
            served.timers.start()
        if core is not None:
            seat.watch(core, queues)
        limits = Limits(settings.body_limit_bytes, settings.deadline_s)
        application = Application(
            served.router, served.timers, limits, local_only=settings.auth == "off"
        )
        await seat.serve(application, lines)
    finally:
        await served.timers.stop()
        await queues.stop(GRACE_S)
        await runtime.close()


def _functions_of_project() -> tuple[func.FunctionApp, QueueOptions]:
    try:
        module = importlib.import_module("function_app")
    except ModuleNotFoundError as error:
        if error.name != "function_app":
            raise
        raise OSError(
            "there is no function_app.py here: start it from the project's folder"
        ) from None
    host_json = Path(module.__file__ or "").with_name("host.json")
    return module.app, QueueOptions.read(
        json.loads(host_json.read_text(encoding="utf-8")), os.environ
    )


async def _opened(settings: Settings) -> tuple[MemoryCore | None, Mapping[str, Any]]:
    """Open and warm up, and return the core and its readiness.

    Data of another embedder are no reason to stop. Then no store is open and, as on Azure, every
    request gets a 503.
    """
    try:
        here = await runtime.start(settings)
        await _warm_up(here.core)
        return here.core, await here.core.ready()
    except EmbeddingMismatch as error:
        return None, unready(error)


def _has_content(file: Path) -> bool:
    with suppress(OSError):
        return file.stat().st_size > 0
    return False


async def _warm_up(core: MemoryCore) -> None:
    """Load the embedder and the agents.

    Without an embedder, memories are still found by their words, and a save reports the missing
    embedder.
    """
    try:
        await core.warm_up()
    except EmbeddingMismatch:
        raise
    except Unavailable as error:
        say(f"Going on, although something is missing: {error.detail}")


def _share_arenas() -> None:
    """Let threads share MOST_ARENAS of malloc's arenas, if the C library is glibc.

    Each arena keeps memory that it once held, and a dozen threads would have an arena each.
    """
    with suppress(OSError, AttributeError):  # no C library that is loaded so, or another one
        ctypes.CDLL(None).mallopt(_ARENA_MAX, MOST_ARENAS)


def _collect_less_often() -> None:
    """Collect garbage less often.

    Garbage in cycles is rare here and the heap is large. Scanning it at the usual rate took a fifth
    of the throughput.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
