"""Start Memory Core on this machine: the command line of the development host.

On a loopback address authentication is off unless MEMORY_AUTH or MEMORY_API_KEYS say otherwise. On
any other address it is on.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memory_core.domain.errors import MemoryCoreError, Unavailable, described
from memory_core.functions import callers
from memory_core.localhost.door import address_of, failed, listen, say
from memory_core.localhost.workers import (
    AUTO,
    Channel,
    WorkerPlace,
    Workers,
    number_of,
    program_of_a_worker,
)
from memory_core.logs import write_to_terminal

# What serves takes seconds to import, so it is imported by the processes that do.
if TYPE_CHECKING:
    from memory_core.config import Settings
    from memory_core.localhost.process import Load

STOPPED_EARLY = "stopped before it had started"
COUNTED_ALONE = "without Redis, MEMORY_RATE_PER_KEY and MEMORY_RATE_PER_APP hold in one process"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the host of the project's folder until it is stopped.

    Returns an exit code.

    0: it was stopped. 1: it could not start. 2: wrong settings or options.
    """
    given = _options(arguments)
    if given.place is not None:
        return _run_worker(WorkerPlace.parse(given.place))
    try:
        workers = number_of(given.workers)
    except ValueError as error:
        return failed(error, 2)
    if workers > 1:
        return _run_workers(workers, is_wish=given.workers != AUTO)
    return run_host()


def run_host(load: Load | None = None) -> int:
    """Serve the functions that `load` returns, or those of the project.

    The settings are those of the environment. Returns an exit code as `main` does.
    """
    return _run_with_settings(lambda settings: _serve_alone(settings, load))


def _serve_alone(settings: Settings, load: Load | None = None) -> int:
    with listen(settings.host, settings.port) as server_socket:
        from memory_core.localhost.process import serve_alone

        serve_alone(settings, server_socket, load)
    return 0


def _run_worker(place: WorkerPlace) -> int:
    """Serve the connections that the parent hands over, as a worker among several."""
    from memory_core.localhost.process import import_ahead, serve_at

    channel = Channel(place.channel)
    if place.number > 0:
        import_ahead()
    if not channel.may_open():
        return 0

    def run(settings: Settings) -> int:
        serve_at(place, channel, settings)
        return 0

    return _run_with_settings(run, is_worker=True)


def _run_workers(count: int, *, is_wish: bool) -> int:
    """Serve in several processes.

    If only a single process keeps the limits of the settings, serve in a single process, unless the
    number was given explicitly.
    """

    async def serve_in_workers(settings: Settings, server_socket: socket.socket) -> int:
        address = address_of(server_socket)
        program, environment = program_of_a_worker(), environment_of_workers(settings)
        workers = Workers(server_socket, address, count, program, environment, say)
        code = await workers.run()
        if code == 0 and not workers.started:
            return failed(STOPPED_EARLY, 1)
        return code

    def run(settings: Settings) -> int:
        if counts_alone(settings):
            if not is_wish:
                say(f"One process serves: {COUNTED_ALONE}.")
                return _serve_alone(settings)
            say(f"Each worker counts for itself: {COUNTED_ALONE}.")
        with listen(settings.host, settings.port) as server_socket:
            return asyncio.run(serve_in_workers(settings, server_socket))

    return _run_with_settings(run)


def counts_alone(settings: Settings) -> bool:
    """Whether requests are counted in each process by itself."""
    has_rate = settings.rate_per_key != "off" or settings.rate_per_app != "off"
    return has_rate and settings.short_term != "redis"


def environment_of_workers(settings: Settings) -> dict[str, str]:
    """The environment of each worker.

    It is that of this process, except for the short-term store. A store inside a process would keep
    memories that another process forgot. So workers have no such store if there is no Redis, and
    each read goes to the long-term store.
    """
    if settings.short_term == "embedded":
        return {**os.environ, "MEMORY_SHORT_TERM": "none"}
    return dict(os.environ)


def _run_with_settings(run: Callable[[Settings], int], *, is_worker: bool = False) -> int:
    allow_without_keys_on_loopback()
    from memory_core.config import Settings

    if is_worker:  # what is strange about the settings, the parent has said
        logging.getLogger("memory_core.config").setLevel(logging.ERROR)
    try:
        settings = Settings.from_env()
    except ValueError as error:
        return failed(error, 2)
    write_to_terminal(settings.log_level)
    try:
        code = run(settings)
    except ValueError as error:
        return failed(described(error), 2)
    except Unavailable as error:
        return failed(f"{error} (memory-core doctor says more)", 1)
    except (OSError, MemoryCoreError) as error:
        return failed(error, 1)
    except KeyboardInterrupt:
        return failed(STOPPED_EARLY, 1)
    if code == 0 and not is_worker:
        say("Stopped.")
    return code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the options.

    Some options become environment variables, where functions look for their settings on Azure too.
    """
    parser = argparse.ArgumentParser(
        prog="python -m memory_core.localhost", description="The development host of Memory Core."
    )
    parser.add_argument("--host", help="address to listen on (MEMORY_HOST, default 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, help="port to listen on, 0 for any free one (MEMORY_PORT, default 7071)"
    )
    parser.add_argument("--data", help="folder for the data (MEMORY_DATA, default .memory)")
    parser.add_argument(
        "--workers",
        default="1",
        metavar="N",
        help="processes behind the port (default 1; auto: one a core, at most 4)",
    )
    parser.add_argument("--place", help=argparse.SUPPRESS)  # how the parent starts a worker
    given = parser.parse_args(arguments)
    settings = {"host": given.host, "port": given.port, "data": given.data}
    os.environ.update(
        {
            f"MEMORY_{name.upper()}": str(value)
            for name, value in settings.items()
            if value is not None
        }
    )
    return given


def allow_without_keys_on_loopback() -> None:
    """Turn authentication off if only this machine can connect and no key is configured."""
    if callers.is_loopback(os.environ.get("MEMORY_HOST", "127.0.0.1")) and not os.environ.get(
        "MEMORY_API_KEYS"
    ):
        os.environ.setdefault("MEMORY_AUTH", "off")


if __name__ == "__main__":
    sys.exit(main())
