"""`make run-azure`: the development host on the stores and queues of an app on Azure, all started,
made ready and stopped by one command.

Note: what is kept is what emulators write into the data folder. It is for trying things, not for
memories that matter: Azurite writes down messages and blobs every five seconds, and
the Cosmos DB emulator does not wait for the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from memory_core.adapters.system import SystemClock
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.localhost.door import say
from tests import child
from tests.azure_stores import AzureStores

LOOK_S = 0.5
"""How often it looks whether its host and its parent are still there."""
CLAIM_S = 5.0
"""How long it waits for the folder: another one, whose terminal was closed or whose `make` was
killed, may just be stopping.
"""
LOCAL_SETTINGS = "local.settings.json"
MODELS = ("EMBEDDING_", "LLM_")
"""Settings that say who embeds and who thinks begin like this."""
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ROOT = Path(__file__).parents[1]


class Stopped(BaseException):
    """A user asked this command to stop. It is no error, so nothing that handles errors
    may hold it up.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until Ctrl+C or SIGTERM, or until the host ends. 0 after a stop, 1 when it did not start
    or was killed, 2 for wrong settings.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tests.azure_profile",
        description="Memory Core on emulators of Azure's services.",
    )
    parser.add_argument(
        "--port", type=int, default=7071, help="port of the host, 0 for any free one (default 7071)"
    )
    parser.add_argument(
        "--data", type=Path, default=Path(".memory"), help="folder for the data (default .memory)"
    )
    parser.add_argument(
        "--parent-pid", type=int, help="stop when the parent is not this process any more"
    )
    given = parser.parse_args(arguments)
    given.data = given.data.resolve()
    for name in ENDINGS:
        signal.signal(name, _stop)
    try:
        with ExitStack() as until_the_end:
            return _run(given, until_the_end)
    except Stopped:
        say("Stopped; nothing is left running.")
        return 0
    except ValueError as error:
        return _failed(error, 2)
    except (OSError, RuntimeError) as error:
        return _failed(error, 1)


def _run(given: argparse.Namespace, until_the_end: ExitStack) -> int:
    _claim(given.data, until_the_end)
    say(
        "Starting a Cosmos DB emulator, Redis and Azurite (installed by its first start, in about "
        "20 s) …"
    )
    stores = AzureStores(given.data)
    until_the_end.callback(stores.stop)
    stores.start()
    settings = os.environ | {"MEMORY_DATA": str(given.data)} | stores.settings()
    asyncio.run(stores.provision(_dimensions(settings)))
    _write_local_settings(given.data / LOCAL_SETTINGS, stores, settings)
    say(_told(stores, given.data))
    command = [sys.executable, "-m", "memory_core.localhost", "--port", str(given.port)]
    host = child.start(command, alone=given.data / "host.lock", cwd=ROOT, env=settings)
    until_the_end.callback(child.end, host, signal.SIGTERM)
    while True:
        try:
            return _end_of(host.wait(LOOK_S))
        except subprocess.TimeoutExpired:
            if given.parent_pid not in (None, os.getppid()):
                raise Stopped from None


def _end_of(code: int) -> int:
    """The exit code of a host that ended by itself. One that was killed could not say so,
    and has not stopped in peace.
    """
    if code >= 0:
        return code
    say(f"The host was ended by {signal.Signals(-code).name}; nothing else is left running.")
    return 1


def _claim(data: Path, until_the_end: ExitStack) -> None:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    claim = until_the_end.enter_context((data / "azure.lock").open("w"))
    deadline = time.monotonic() + CLAIM_S
    while True:
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OSError(
                    f"another one runs on {data}: stop it, or choose a folder (make run-azure "
                    "DATA=/some/folder)"
                ) from None
            time.sleep(LOOK_S)


def _dimensions(settings: Mapping[str, str]) -> int:
    return Adapters.of(
        Settings.from_env(settings), SystemClock(), lambda units: None
    ).embedder.dimensions


def _write_local_settings(path: Path, stores: AzureStores, settings: Mapping[str, str]) -> None:
    """What `func start` reads, with this run's addresses and models in it; of keys only the
    emulators', which anybody knows.
    """
    example = json.loads((ROOT / "local.settings.azure.json.example").read_text())
    connection = stores.azurite.connection_string
    storage = {
        "AzureWebJobsStorage": connection,
        "QueueStorage": connection,
        "MEMORY_DATA": str(path.parent),
    }
    models = {
        name: value
        for name, value in settings.items()
        if name.startswith(MODELS) and not name.endswith("_KEY")
    }
    example["Values"] |= models | stores.settings() | storage
    path.write_text(json.dumps(example, indent=2) + "\n")


def _told(stores: AzureStores, data: Path) -> str:
    cosmos, redis, storage = stores.cosmos, stores.redis, stores.azurite
    return "\n".join((
        "What stands in for Azure's services:",
        f"  Cosmos DB  {cosmos.endpoint}  process {cosmos.pid}, keeps {data / 'cosmos.db'}",
        f"  Redis      {redis.url}  process {redis.pid}, keeps nothing",
        (
            f"  Storage    {storage.url('blob')} and {storage.url('queue')}  process "
            f"{storage.pid}, keeps {data / 'azurite'}"
        ),
        f"  All of this for Core Tools: {data / LOCAL_SETTINGS}",
        (
            "Try: kill -STOP one of these processes, ask the host below for /health/ready and for "
            "memories, then kill -CONT it."
        ),
    ))  # fmt: skip


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop, once: a second Ctrl+C must not cut short what the first one began."""
    for name in ENDINGS:
        signal.signal(name, signal.SIG_IGN)
    raise Stopped


def _failed(why: object, code: int) -> int:
    sys.stderr.write(f"Memory Core did not start: {why}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
