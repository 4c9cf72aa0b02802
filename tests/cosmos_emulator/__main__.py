"""`python -m tests.cosmos_emulator --port 0 --data folder/cosmos.db`: prints one line of JSON with
its addresses, then serves.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import signal
import ssl
import sys
from collections.abc import Callable
from pathlib import Path

from tests.cosmos_emulator.file import File
from tests.cosmos_emulator.reading import LEVELS
from tests.cosmos_emulator.server import Ports, Server
from tests.cosmos_emulator.store import Account, Clock, Ranking

PARENT_CHECK_S = 0.5


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cosmos_emulator", description=__doc__)
    parser.add_argument(
        "--port", type=int, default=0, help="where the account listens; 0: any free port"
    )
    parser.add_argument(
        "--replica-port", type=int, default=0, help="where its lagging replica listens"
    )
    parser.add_argument("--data", type=Path, help="the SQLite file; without one, nothing is kept")
    parser.add_argument(
        "--consistency", choices=LEVELS, default="Strong", help="the account's default"
    )
    parser.add_argument("--ranges", type=int, default=1, help="physical ranges of each container")
    parser.add_argument(
        "--ignore-rank-with-key",
        action="store_true",
        help="ORDER BY RANK has no effect in a query with a partition key",
    )
    parser.add_argument(
        "--refuse-distance-beside-rank",
        action="store_true",
        help="400 for VectorDistance in SELECT of ORDER BY RANK",
    )
    parser.add_argument(
        "--certificate",
        type=Path,
        help="a PEM file with certificate and key: the account speaks HTTPS, as Azure's do",
    )
    parser.add_argument("--parent-pid", type=int, help="stop when this process is gone")
    return parser.parse_args()


async def _serve(arguments: argparse.Namespace) -> None:
    if arguments.data:
        arguments.data.parent.mkdir(parents=True, exist_ok=True)
    file = File(arguments.data)
    tls = _tls(arguments.certificate) if arguments.certificate else None
    ranking = Ranking(arguments.ignore_rank_with_key, arguments.refuse_distance_beside_rank)
    server = Server(Account(file, Clock(), arguments.consistency, arguments.ranges, ranking), tls)
    ports = await server.start(Ports(arguments.port, arguments.replica_port))
    here = f"{'https' if tls else 'http'}://127.0.0.1"
    addresses = {"endpoint": f"{here}:{ports.account}/", "replica": f"{here}:{ports.replica}/"}
    sys.stdout.write(json.dumps(addresses) + "\n")
    sys.stdout.flush()
    stopped = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stopped.set)
    watch = (
        asyncio.create_task(_watch(arguments.parent_pid, stopped)) if arguments.parent_pid else None
    )
    await stopped.wait()
    if watch is not None:
        watch.cancel()
    await server.stop()
    file.close()


def _event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The factory of uvloop's event loop, the fastest; None for asyncio's own,
    where uvloop is not installed.
    """
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


def _tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def _watch(parent: int, stopped: asyncio.Event) -> None:
    """Set `stopped` when the parent has ended: a child whose parent died is handed to
    another one.
    """
    is_child = os.getppid() == parent
    while not stopped.is_set():
        if _is_gone(parent) or (is_child and os.getppid() != parent):
            stopped.set()
        await asyncio.sleep(PARENT_CHECK_S)


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


if __name__ == "__main__":
    # what is held, documents and the log of requests, is no garbage: it is looked
    # through less often
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    with asyncio.Runner(loop_factory=_event_loop()) as runner:
        runner.run(_serve(_arguments()))
