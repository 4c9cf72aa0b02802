"""What the development host is made of: the app's functions sorted by trigger, a socket,
and a server that stops gracefully.

Whatever trigger this host can't serve is refused at start, not ignored in silence.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
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
from memory_core.localhost.http import Application, LimitedProtocol, Route, Router
from memory_core.localhost.triggers import (
    QueueFunction,
    QueueOptions,
    Timer,
    Timers,
    next_due,
    resolved,
)

GRACE_S = 10
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Served:
    """The functions of an app: those triggered by HTTP as a router, its timers ready to start,
    those triggered by queues.
    """

    router: Router
    timers: Timers
    queues: list[QueueFunction]


def sorted_by_trigger(app: func.FunctionApp, settings: Mapping[str, str]) -> Served:
    """The app's functions by trigger. `connection` of a queue trigger is not looked at: there is
    one `TaskQueue`, that of the settings.

    Raises ValueError for what this host can't serve.
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
    """The functions of the installed package and how queues are served, as function_app.py and
    host.json have them.
    """
    app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
    for blueprint in BLUEPRINTS:
        app.register_functions(blueprint)
    rules = {
        "functionTimeout": "00:10:00",
        "extensions": {"queues": {"maxPollingInterval": "00:00:05"}},
    }
    return app, QueueOptions.read(rules, os.environ)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises OSError with a message for the person who started the host."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # on Windows the option would let two hosts share one port
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, port))
        server.listen(2048)
    except OSError as error:
        server.close()
        if error.errno == errno.EADDRINUSE:
            raise OSError(
                f"port {port} is taken: stop what uses it, or choose another with --port "
                f"{port + 1} (make run PORT={port + 1})"
            ) from None
        raise OSError(f"can't listen on {host}:{port}: {error.strerror or error}") from None
    server.setblocking(False)
    return server


async def serve(
    application: Application, server_socket: socket.socket, on_start: Callable[[], None]
) -> None:
    """Answer requests until SIGINT or SIGTERM; then finish what is in flight, for up to
    GRACE_S seconds.
    """
    config = uvicorn.Config(
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
    await _Server(config, on_start).serve(sockets=[server_socket])


def new_event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The factory of the fastest event loop that is installed: uvloop where it exists;
    None for asyncio's own.
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
    """uvicorn, but a signal only ends `serve`: uvicorn would raise it again at the end,
    before anything can be closed.
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
