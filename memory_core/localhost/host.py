"""The parts of the development host: functions by trigger, a socket, and a graceful server.

A trigger that this host can't serve is refused at start, not ignored in silence.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import azure.functions as func
import uvicorn

from memory_core.adapters.queue_rules import checked_name
from memory_core.domain.errors import PlainError
from memory_core.functions.blueprints import BLUEPRINTS
from memory_core.localhost.host_settings import QueueOptions, resolved
from memory_core.localhost.http import Application
from memory_core.localhost.protocol import LimitedProtocol
from memory_core.localhost.routing import Route, Router
from memory_core.localhost.timers import Timer, Timers, next_due
from memory_core.localhost.triggers import QueueFunction
from memory_core.localhost.workers import CLOSED, Channel

GRACE_S = 10
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Served:
    """The functions of an app.

    Attributes:
        router: Routes of the functions that HTTP triggers.
        timers: Timers, ready to start.
        queues: Functions that queues trigger.

    """

    router: Router
    timers: Timers
    queues: list[QueueFunction]


def sorted_by_trigger(app: func.FunctionApp, settings: Mapping[str, str]) -> Served:
    """Sort the app's functions by trigger.

    `connection` of a queue trigger is not read: the only `TaskQueue` is that of the settings.

    Args:
        app: The app.
        settings: App settings, for `%NAME%` in bindings.

    Raises:
        ValueError: This host can't serve a trigger.

    """
    routes: list[Route] = []
    timers: list[Timer] = []
    queues: list[QueueFunction] = []
    for function in app.get_functions():
        name = function.get_function_name() or ""
        trigger = function.get_trigger()
        binding = trigger.get_dict_repr() if trigger else {}
        match binding.get("type"):
            case "httpTrigger":
                methods = [str(getattr(method, "value", method)) for method in binding["methods"]]
                routes += [
                    Route.parse(name, method, binding["route"], function.get_user_function())
                    for method in methods
                ]
            case "timerTrigger":
                timers.append(_timer(name, binding, function.get_user_function(), settings))
            case "queueTrigger":
                queues.append(
                    _queue_function(name, binding, function.get_user_function(), settings)
                )
            case "warmupTrigger":
                pass  # this host loads everything before it listens
            case other:
                raise PlainError(f"{name}: the development host can't serve a {other}")
    return Served(Router(routes), Timers(timers, lambda: datetime.now(timezone.utc)), queues)


def packaged_functions() -> tuple[func.FunctionApp, QueueOptions]:
    """The functions of the installed package, and the options of queues.

    They are the same as in function_app.py and host.json.
    """
    app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
    for blueprint in BLUEPRINTS:
        app.register_functions(blueprint)
    rules = {
        "functionTimeout": "00:10:00",
        "extensions": {"queues": {"maxPollingInterval": "00:00:05"}},
    }
    return app, QueueOptions.read(rules, os.environ)


async def serve(
    application: Application, server_socket: socket.socket, on_start: Callable[[], None]
) -> None:
    """Answer requests until SIGINT or SIGTERM.

    Requests in flight are finished then, for up to GRACE_S seconds.

    Args:
        application: Answers the requests.
        server_socket: The listening socket.
        on_start: Called when the server is ready.

    """
    await _Server(_config_of(application), on_start).serve(sockets=[server_socket])


async def serve_handed(
    application: Application,
    channel: Channel,
    on_start: Callable[[], None],
    received: Callable[[int], None],
) -> None:
    """Answer requests of connections that a parent hands over.

    It ends when the parent wants no more or is gone.

    Args:
        application: Answers the requests.
        channel: The channel to the parent.
        on_start: Called when the server is ready.
        received: Called with each message of the parent.

    """
    config = _config_of(application)
    await _HandedServer(config, on_start, channel, received).serve(sockets=[])


def _config_of(application: Application) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=LimitedProtocol,
        lifespan="off",
        ws="none",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
    )


def new_event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The factory of the fastest event loop that is installed.

    This is uvloop where it exists; None for asyncio's own.
    """
    return uvicorn.Config(lambda: None, log_config=None).get_loop_factory()


def _timer(
    name: str, binding: Mapping[str, Any], call: Callable[..., Any], settings: Mapping[str, str]
) -> Timer:
    schedule = resolved(binding["schedule"], settings)
    try:
        next_due(schedule, datetime.now(timezone.utc))
    except ValueError as error:
        raise PlainError(f"{name}: {error}") from None
    return Timer(name, schedule, binding["name"], call)


def _queue_function(
    name: str, binding: Mapping[str, Any], call: Callable[..., Any], settings: Mapping[str, str]
) -> QueueFunction:
    try:
        queue = checked_name(resolved(binding["queueName"], settings))
    except ValueError as error:
        raise PlainError(f"{name}: {error}") from None
    return QueueFunction(name, queue, binding["name"], call)


class _Server(uvicorn.Server):
    """uvicorn whose `serve` simply ends after a signal.

    uvicorn itself would raise the signal again at the end, before any resource can be closed.
    """

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:
        await super().startup(sockets=list(sockets or []))
        self._on_start()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        before = {
            signal_number: signal.signal(signal_number, self.handle_exit)
            for signal_number in _SIGNALS
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _HandedServer(_Server):
    """The same without a socket to accept from: connections come over a channel."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_start: Callable[[], None],
        channel: Channel,
        received: Callable[[int], None],
    ) -> None:
        super().__init__(config, on_start)
        self._channel, self._received = channel, received
        self._connecting: set[asyncio.Task[Any]] = set()

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:
        self._channel.listen(connected=self._connected, received=self._received, over=self._over)
        await super().startup(sockets)

    def _connected(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        connection.setblocking(False)
        task = loop.create_task(loop.connect_accepted_socket(self._protocol, connection))
        self._connecting.add(task)
        task.add_done_callback(self._has_connected)

    def _has_connected(self, task: asyncio.Task[Any]) -> None:
        self._connecting.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._channel.tell(CLOSED)

    def _protocol(self) -> LimitedProtocol:
        return _HandedProtocol(
            lambda: self._channel.tell(CLOSED),
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )

    def _over(self) -> None:
        self.should_exit = True


class _HandedProtocol(LimitedProtocol):
    """A connection whose end is reported to the parent."""

    def __init__(self, closed: Callable[[], None], **options: Any) -> None:
        super().__init__(**options)
        self._closed = closed

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._closed()
