"""Start Memory Core on this machine: the command line of the development host,
and what it prints first.

On a loopback address authentication is off unless MEMORY_AUTH or MEMORY_API_KEYS say otherwise;
on any other it is on.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import azure.functions as func

from memory_core import __version__
from memory_core.domain.errors import EmbeddingMismatch, MemoryCoreError, Unavailable, described
from memory_core.functions import callers, runtime
from memory_core.functions.callers import LOCAL_APP
from memory_core.functions.http_system import unready
from memory_core.localhost.host import GRACE_S, listen, new_event_loop, serve, sorted_by_trigger
from memory_core.localhost.http import Application, Limits
from memory_core.localhost.triggers import QueueOptions, Queues
from memory_core.logs import write_to_terminal

if TYPE_CHECKING:
    from memory_core.config import Settings
    from memory_core.core import MemoryCore


# What the development host says on the terminal: where it is, which adapters it uses,
# and what to try next.


def say(text: str) -> None:
    """Print, at once: a reader at the end of a pipe waits for it."""
    print(text, flush=True)


def address_of(server_socket: socket.socket) -> str:
    """The URL of a listening socket, with the port that it really got."""
    host, port = server_socket.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def welcome_lines(settings: Settings, address: str, readiness: Mapping[str, Any]) -> str:
    """The start-up lines. `readiness`: what `MemoryCore.ready` answered."""
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
        auth, key = "on: send a key of MEMORY_API_KEYS as X-API-Key", " -H 'X-API-Key: mc_…'"
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
        f"  data      {settings.data.resolve()}",
        f"  adapters  {adapters}",
        f"  auth      {auth}",
        f"  status    {': '.join(notes)}",
        "Try:",
        f"""  {curl}/save -d '{{"user_id": "ana", "content": "Ana moved to Lisbon in May"}}'""",
        f"""  {curl}/retrieve -d '{{"user_id": "ana", "query": "Where did Ana move?"}}'""",
        "Stop with Ctrl+C.",
    ))  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the host of the project's folder until it is stopped. 0 after a stop,
    1 when it could not start, 2 for wrong settings.
    """
    _to_environment(arguments)
    return run_host(_functions_of_project)


def run_host(load: Callable[[], tuple[func.FunctionApp, QueueOptions]]) -> int:
    """Serve the functions that `load` returns, with the settings of the environment.
    Returns an exit code as `main` does.
    """
    allow_without_keys_on_loopback()
    from memory_core.config import Settings

    try:
        settings = Settings.from_env()
    except ValueError as error:
        return _failed(error, 2)
    write_to_terminal(settings.log_level)
    try:
        with (
            listen(settings.host, settings.port) as server_socket,
            asyncio.Runner(loop_factory=new_event_loop()) as runner,
        ):
            runner.run(_run(settings, server_socket, load))
    except ValueError as error:
        return _failed(described(error), 2)
    except (OSError, MemoryCoreError) as error:
        return _failed(error, 1)
    except KeyboardInterrupt:
        return _failed("stopped before it had started", 1)
    say("Stopped.")
    return 0


def _to_environment(arguments: Sequence[str] | None) -> None:
    """Options become environment variables, where functions look for their settings
    on Azure too.
    """
    parser = argparse.ArgumentParser(
        prog="python -m memory_core.localhost", description="The development host of Memory Core."
    )
    parser.add_argument("--host", help="address to listen on (MEMORY_HOST, default 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, help="port to listen on, 0 for any free one (MEMORY_PORT, default 7071)"
    )
    parser.add_argument("--data", help="folder for the data (MEMORY_DATA, default .memory)")
    given = vars(parser.parse_args(arguments))
    os.environ.update(
        {f"MEMORY_{name.upper()}": str(value) for name, value in given.items() if value is not None}
    )


def allow_without_keys_on_loopback() -> None:
    """Turn authentication off where only this machine can ask and no key is configured."""
    if callers.is_loopback(os.environ.get("MEMORY_HOST", "127.0.0.1")) and not os.environ.get(
        "MEMORY_API_KEYS"
    ):
        os.environ.setdefault("MEMORY_AUTH", "off")


async def _run(
    settings: Settings,
    server_socket: socket.socket,
    load: Callable[[], tuple[func.FunctionApp, QueueOptions]],
) -> None:
    app, options = load()
    served = sorted_by_trigger(app, os.environ)
    queues = Queues(served.queues, options, timedelta(seconds=settings.queue_visibility_s))
    say("Opening the stores and loading the embedder …")
    try:
        core, readiness = await _opened(settings)
        lines = welcome_lines(settings, address_of(server_socket), readiness)
        _collect_less_often()
        served.timers.start()
        if core is not None:
            queues.start(core.queue)
        limits = Limits(settings.body_limit_bytes, settings.deadline_s)
        application = Application(
            served.router, served.timers, limits, local_only=settings.auth == "off"
        )
        await serve(application, server_socket, lambda: say(lines))
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
    """What is open, and the readiness once all is warm.

    Data of another embedder are no reason to stop: nothing is open then and, as on Azure,
    every request says 503.
    """
    try:
        here = await runtime.start(settings)
        await _warm_up(here.core)
        return here.core, await here.core.ready()
    except EmbeddingMismatch as error:
        return None, unready(error)


async def _warm_up(core: MemoryCore) -> None:
    """Load the embedder and the agents. Without an embedder, memories are still found by their
    words, and saving says what is missing.
    """
    try:
        await core.warm_up()
    except EmbeddingMismatch:
        raise
    except Unavailable as error:
        say(f"Going on, although something is missing: {error.detail}")


def _collect_less_often() -> None:
    """Garbage in cycles is rare here and the heap is large: looking through it at the usual rate
    took a fifth of the throughput.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _failed(why: object, code: int) -> int:
    sys.stderr.write(f"Memory Core did not start: {' '.join(str(why).split())}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
