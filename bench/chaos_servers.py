"""The processes of `bench.chaos`, and the random disturber that kills and freezes them.

A host listens on one port for its whole life, however often it dies; a second one serves the same
data from time to time. Every process ends with this one, however that ends (`tests.child`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from struct import pack
from typing import Any

import httpx
import redis

from bench.chaos_wire import SLOW_S, Wire
from tests import child
from tests.azure_stores import AzureStores
from tests.azurite_server import AzuriteServer
from tests.cosmos_server import CosmosServer
from tests.ports import kept_for
from tests.redis_server import RedisServer

ROOT = Path(__file__).resolve().parent.parent
DIMENSIONS = 384
"""Of the vectors of both embedders, `hash` and the local model."""
REFUSED = "did not start"
"""What a host says that could not start, because a store is down for example."""
WATCH_S = 0.2
HANDS = 2
"""Disturbances at once, each of another target."""
CLOCK_JUMPS_S = (45.0, 120.0, 900.0, 4000.0)
"""How far a clock may be put forward for a while; then it goes back to the true time."""
STORE_JUMP_S = 300.0
ORPHANS_S = 30.0
"""How long workers may take to end whose parent was killed: ten seconds for requests, and as long
for queues.
"""
ENDED = re.compile(r"Worker \d+ of \d+ \(process (?P<pid>\d+)\) (?P<how>.*); another one takes")
"""What a parent says of a worker that has ended."""
FULL_AT = 256 * 1024
"""Bytes that no file of a host may have more of while its disk is full."""


SPANS = ((0.0, 5.0), (11.0, 15.0), (20.0, 45.0))
"""Seconds that something is gone: less than a commit may take (10 s), more than that, and about as
long as a message is hidden (30 s).
"""


class Host:
    """One development host that keeps its port and its data through all its deaths.

    It is a parent and its workers; one process alone is a parent without workers.
    """

    def __init__(
        self, name: str, folder: Path, app: Path, environment: dict[str, str], workers: int
    ) -> None:
        self.name, self._app, self._workers = name, app, workers
        self.port = kept_for(self)
        self.wanted = False
        self.log = folder / f"{name.replace(' ', '-')}.log"
        self.killed: set[int] = set()
        """Workers that were killed here."""
        self._data, self._environment = folder / "data", environment
        self.door: Wire | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._orphaned: list[subprocess.Popen[bytes]] = []
        """Parents that were killed alone; their workers may still be ending."""
        self._most_bytes = resource.RLIM_INFINITY
        self._said = 0
        self._turn = threading.Lock()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def clients_url(self) -> str:
        """Its address for clients, whose connections can be cut."""
        return self.url if self.door is None else f"http://127.0.0.1:{self.door.port}"

    def processes(self) -> list[int]:
        """All of it, also workers whose parent is dead; parents come first, so that nothing is
        started by a parent after it was met.
        """
        serving = [] if self._process is None else [self._process]
        return [pid for parent in (*serving, *self._orphaned) for pid in child.members(parent.pid)]

    def wait_for_orphans(self) -> list[int]:
        """Wait until workers end whose parent was killed; those that do not."""
        deadline = time.monotonic() + ORPHANS_S
        while True:
            left = [pid for parent in self._orphaned for pid in child.members(parent.pid)]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(WATCH_S)

    def _a_worker(self) -> int | None:
        """Any of those that serve; None where none is started within seconds."""
        deadline = time.monotonic() + child.GRACE_S
        while (process := self._process) is not None and time.monotonic() < deadline:
            if workers := child.members(process.pid)[1:]:
                return random.choice(workers)
            time.sleep(WATCH_S)
        return None

    def limit_files(self, size: int) -> None:
        """Let no file of the host grow beyond this, as on a disk that is full; also of what it
        starts from now on.
        """
        self._most_bytes = size
        for pid in self.processes():
            _limit_files(pid, size)

    def freeze(self) -> None:
        """Stop all its processes."""
        for pid in self.processes():
            _send(pid, signal.SIGSTOP)

    def freeze_a_worker(self) -> None:
        """Stop one of its workers; the parent hands it connections as before."""
        if worker := self._a_worker():
            _send(worker, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let all go on."""
        for pid in self.processes():
            _send(pid, signal.SIGCONT)

    def kill_a_worker(self) -> None:
        """Kill one of its workers, in whose place the parent starts another one."""
        if worker := self._a_worker():
            self.killed.add(worker)
            _send(worker, signal.SIGKILL)

    def replace(self) -> None:
        """Kill the parent alone and start the next at once, while the workers still end."""
        with self._turn:
            parent, self._process = self._process, None
            if parent is not None:
                parent.kill()
                parent.wait()
                self._orphaned.append(parent)
            self._start()

    def start(self) -> None:
        """Start the parent; it listens at once and serves a second or two later."""
        with self._turn:
            self.wanted = True
            self._start()

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End all at once, as a power cut does, or as Ctrl+C does."""
        with self._turn:
            self.wanted = False
            self._end(how)

    def revive(self) -> None:
        """Start again what ended by itself, if it is still meant to run."""
        with self._turn:
            if self.wanted and self.exit_code() is not None:
                self._end(signal.SIGKILL)
                self._start()

    def _start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "memory_core.localhost",
            "--port",
            str(self.port),
            "--data",
            str(self._data),
            "--workers",
            str(self._workers),
        ]
        self._let_go_of_the_ended()
        with self.log.open("ab") as log:
            self._said = log.tell()
            self._process = child.start(
                command, cwd=self._app, env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
        _limit_files(self._process.pid, self._most_bytes)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            if how is signal.SIGKILL:  # no worker may see that its parent is gone
                for pid in child.members(process.pid):
                    _send(pid, signal.SIGSTOP)
            child.end(process, how)
        if how is signal.SIGKILL:
            while self._orphaned:
                child.end(self._orphaned.pop())
        self._let_go_of_the_ended()

    def _let_go_of_the_ended(self) -> None:
        """The watcher of a parent waits until nothing is left of that."""
        for parent in self._orphaned:
            if not child.members(parent.pid):
                child.end(parent)
        self._orphaned = [parent for parent in self._orphaned if child.members(parent.pid)]

    def exit_code(self) -> int | None:
        """The code of a parent that ended by itself; None while it runs."""
        process = self._process
        return None if process is None else process.poll()

    def refused_to_start(self) -> bool:
        """Whether the last parent said why it, or a worker, could not start."""
        with self.log.open("rb") as log:
            log.seek(self._said)
            return REFUSED in log.read().decode(errors="replace")


def ended_workers(log: str, killed: Collection[int]) -> tuple[list[str], int]:
    """Of the log of a host: what it says of workers that ended by themselves, and how many refused
    to start.

    killed: the processes that were killed on purpose.
    """
    crashes, refusals, refused = [], 0, 0
    for line in log.splitlines():
        refusals += REFUSED in line
        ended = ENDED.match(line)
        if ended is None or int(ended["pid"]) in killed:
            continue
        if ended["how"] == "ended with code 1" and refusals > refused:
            refused += 1
        else:
            crashes.append(line)
    return crashes, refused


@dataclass
class Target:
    """Something to disturb. deeds: what may be done to it, with how likely each is; `kill`, `stop`
    and `start` are for those deeds.

    spells: how each other deed begins and ends that takes a while. blows: what is done at once.
    """

    name: str
    deeds: Mapping[str, int]
    freeze: Callable[[], None] = lambda: None
    thaw: Callable[[], None] = lambda: None
    start: Callable[[], None] = lambda: None
    kill: Callable[[], None] = lambda: None
    stop: Callable[[], None] = lambda: None
    spells: Mapping[str, tuple[Callable[[], None], Callable[[], None]]] = field(
        default_factory=dict
    )
    blows: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class System:
    """Host, second host and stores of one run."""

    def __init__(self, folder: Path, profile: str, embedder: str, workers: int) -> None:
        """workers: of each host."""
        self.folder, self.profile = folder, profile
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        self.stores = AzureStores(folder / "stores") if profile == "azure" else None
        self._embedder, self._workers = embedder, workers
        self._shift, self._app = folder / "clock-shift", folder / "app"
        self.wires: dict[str, Wire] = {}
        self._ports: dict[str, int] = {}
        self.hosts: list[Host] = []
        self.crashes: list[str] = []
        self.starts_refused = 0

    def environment(self) -> dict[str, str]:
        """The settings of a host: the defaults, but for runs of consolidation, which come every
        minute instead of every ten.
        """
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MEMORY_", "EMBEDDING_", "LLM_"))
        }
        stores = {} if self.stores is None else self._settings_over_wires(self.stores)
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        ours = {
            "EMBEDDING_PROVIDER": self._embedder,
            "MEMORY_CONSOLIDATION_PAUSE_MINUTES": "1",
            "MEMORY_CONSOLIDATION_SPREAD_MINUTES": "0",
            "LOG_LEVEL": "WARNING",
            "PYTHONPATH": path,
            "TEST_CLOCK_SHIFT": str(self._shift),
        }
        return {**inherited, **ours, "MEMORY_DATA": str(self.data), "MEMORY_AUTH": "off", **stores}

    def _settings_over_wires(self, stores: AzureStores) -> dict[str, str]:
        """The settings of an app that reaches its stores over wires."""
        settings = stores.settings()
        for server, name in (
            ("cosmos", "MEMORY_COSMOS_ENDPOINT"),
            ("redis", "MEMORY_REDIS_URL"),
            ("queues", "MEMORY_QUEUE_CONNECTION"),
        ):
            settings[name] = settings[name].replace(
                f":{self._ports[server]}/", f":{self.wires[server].port}/"
            )
        return settings

    async def start(self) -> None:
        """Start the stores and one host."""
        self.shift_clock(0)
        shutil.copytree(ROOT / "tests" / "shifted_host", self._app)
        shutil.copy(ROOT / "host.json", self._app)
        if self.stores is not None:
            (self.folder / "stores").mkdir()
            await asyncio.to_thread(self.stores.start)
            await self.stores.provision(DIMENSIONS)
            addresses = {
                "cosmos": self.stores.cosmos.endpoint,
                "redis": self.stores.redis.url,
                "queues": self.stores.azurite.url("queue"),
            }
            self._ports = {
                name: httpx.URL(address).port or 0 for name, address in addresses.items()
            }
            self.wires = {name: Wire(port) for name, port in self._ports.items()}
            for wire in self.wires.values():
                await wire.start()
        self.hosts = [
            Host(name, self.folder, self._app, self.environment(), self._workers)
            for name in ("host", "second host")
        ]
        door = Wire(self.hosts[0].port)
        await door.start()
        self.wires["clients"] = self.hosts[0].door = door
        await asyncio.to_thread(self.hosts[0].start)

    def shift_clock(self, seconds: float) -> None:
        """Let the clocks of all hosts be wrong by this much; they see it at their next look."""
        with self._shift.open("r+b" if self._shift.exists() else "wb") as shift:
            shift.write(pack("<d", seconds))

    async def stop_hosts(self) -> None:
        """Ask all hosts to stop. A worker that outlived its parent counts as a crash."""
        for host in self.hosts:
            await asyncio.to_thread(host.end, signal.SIGTERM)
            orphans = await asyncio.to_thread(host.wait_for_orphans)
            self.crashes += [f"worker {pid} of {host.name} outlived its parent" for pid in orphans]
            await asyncio.to_thread(host.end)

    def count_ended_workers(self) -> None:
        """Take from the logs of all hosts which workers have ended by themselves."""
        for host in self.hosts:
            if host.log.exists():
                log = host.log.read_text(encoding="utf-8", errors="replace")
                crashes, refused = ended_workers(log, host.killed)
                self.crashes += [f"{host.name}: {line}" for line in crashes]
                self.starts_refused += refused

    async def stop(self) -> None:
        """End everything, frozen or not."""
        for host in self.hosts:
            await asyncio.to_thread(host.end)
        for wire in self.wires.values():
            await wire.stop()
        if self.stores is not None:
            await asyncio.to_thread(self.stores.stop)

    def url(self, chance: random.Random) -> str:
        """The address of a host that is meant to run, now and then of one that was just killed."""
        return chance.choice(
            [host for host in self.hosts if host.wanted] or self.hosts[:1]
        ).clients_url

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Start hosts again that ended by themselves, for as long as the block runs; those that did
        not refuse to start have crashed.
        """
        watching = asyncio.ensure_future(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            for host in self.hosts:
                code = host.exit_code() if host.wanted else None
                if code is None:
                    continue
                if host.refused_to_start():
                    self.starts_refused += 1
                else:
                    self.crashes.append(f"{host.name} ended by itself with {code}: {host.log}")
                await asyncio.sleep(5 * WATCH_S)
                await asyncio.to_thread(host.revive)

    def targets(self) -> list[Target]:
        """What can be disturbed in this profile, the second host apart."""
        host = self._host_target()
        clock = Target(
            "clock",
            {"put forward": 1},
            spells={"put forward": (self._put_clock_forward, partial(self.shift_clock, 0))},
        )
        common = [host, host, clock, *(_wired(name, wire) for name, wire in self.wires.items())]
        if self.stores is None:
            return [*common, _locked(self.data / "memory.db"), _locked(self.data / "queue.db")]
        cosmos, redis_server, azurite = self.stores.cosmos, self.stores.redis, self.stores.azurite
        spells = {
            "refuse at": (
                partial(cosmos.fault, "throttle", probability=0.8, retry_after_ms=50),
                cosmos.heal,
            ),
            "storm at": (partial(cosmos.storm, 0.3), cosmos.heal),
            "put forward the clock of": (partial(cosmos.advance, STORE_JUMP_S), lambda: None),
        }
        deeds = {
            "kill": 5,
            "freeze": 5,
            "refuse at": 4,
            "storm at": 4,
            "put forward the clock of": 1,
        }
        return [
            *common,
            Target("cosmos", deeds, *_frozen(cosmos), cosmos.start, cosmos.kill, spells=spells),
            Target(
                "redis",
                {"kill": 4, "freeze": 3, "fill": 3},
                *_frozen(redis_server),
                redis_server.start,
                redis_server.kill,
            ),
            Target(
                "azurite", {"kill": 5, "freeze": 5}, *_frozen(azurite), azurite.start, azurite.kill
            ),
        ]

    def _host_target(self) -> Target:
        """The host as a whole and its parts."""
        main = self.hosts[0]
        deeds = {"kill": 5, "stop": 1, "freeze": 4}
        if self._workers > 1:
            deeds = {
                "kill": 2,
                "kill the parent of": 2,
                "kill a worker of": 3,
                "stop": 1,
                "freeze": 2,
                "freeze a worker of": 3,
            }
        if self.stores is None:
            deeds["fill the disk of"] = 3
        full, empty = FULL_AT, resource.RLIM_INFINITY
        return Target(
            "host",
            deeds,
            main.freeze,
            main.thaw,
            main.start,
            main.end,
            partial(main.end, signal.SIGTERM),
            {
                "fill the disk of": (
                    partial(main.limit_files, full),
                    partial(main.limit_files, empty),
                ),
                "freeze a worker of": (main.freeze_a_worker, main.thaw),
            },
            {"kill the parent of": main.replace, "kill a worker of": main.kill_a_worker},
        )

    def _put_clock_forward(self) -> None:
        self.shift_clock(random.choice(CLOCK_JUMPS_S))


class Disturber:
    """Kills, freezes and fills what there is, by a seeded plan; whatever it did is undone
    when it ends.
    """

    def __init__(self, system: System, seed: int, until: float) -> None:
        """until: on the monotonic clock."""
        self._system, self._until = system, until
        self._chance = random.Random(f"disturber {seed}")
        self._targets = system.targets()
        self._second = asyncio.Lock()
        self.kills: Counter[str] = Counter()
        self.freezes: Counter[str] = Counter()
        self.others: Counter[str] = Counter()

    async def run(self) -> None:
        """Disturb until the time is over."""
        await asyncio.gather(*(self._hand() for _ in range(HANDS)))

    async def _hand(self) -> None:
        while True:
            await asyncio.sleep(min(self._chance.uniform(1, 9), self._left()))
            if self._left() <= 0:
                return
            if self._chance.random() < 0.12:
                await self._take_turn(self._second, self._run_second())
            else:
                target = self._chance.choice(self._targets)
                (deed,) = self._chance.choices(list(target.deeds), list(target.deeds.values()))
                await self._take_turn(target.lock, self._disturb(target, deed))

    async def _take_turn(self, lock: asyncio.Lock, work: Coroutine[Any, Any, None]) -> None:
        """Do the work, unless the other hand has the same target now."""
        if lock.locked():
            work.close()
            return
        async with lock:
            await work

    async def _disturb(self, target: Target, deed: str) -> None:
        self._note(f"{deed} {target.name}")
        if deed == "kill":
            self.kills[target.name] += 1
            await self._restart(target.kill, target.start)
        elif deed == "freeze":
            self.freezes[target.name] += 1
            await self._freeze(target)
        elif deed == "stop":
            self.others["graceful stops"] += 1
            await self._restart(target.stop, target.start)
        elif deed in target.blows:
            self.kills[f"{deed.removeprefix('kill ')} {target.name}"] += 1
            await asyncio.to_thread(target.blows[deed])
        elif deed == "freeze a worker of":
            self.freezes[f"a worker of {target.name}"] += 1
            await self._freeze(Target(target.name, {}, *target.spells[deed]))
        elif deed in target.spells:
            self.others[f"{deed} {target.name}"] += 1
            await self._cast(*target.spells[deed])
        else:
            self.others["full Redis"] += 1
            await self._fill_redis()

    async def _restart(self, end: Callable[[], None], start: Callable[[], None]) -> None:
        ((least, most),) = self._chance.choices(SPANS[:2], (80, 20))
        await asyncio.to_thread(end)
        try:
            await asyncio.sleep(self._span(least, most))
        finally:
            await asyncio.to_thread(start)

    async def _freeze(self, target: Target) -> None:
        ((least, most),) = self._chance.choices(SPANS, (75, 20, 5))
        await asyncio.to_thread(target.freeze)
        try:
            await asyncio.sleep(self._span(least, most))
        finally:
            target.thaw()

    async def _cast(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        ((least, most),) = self._chance.choices(SPANS[:2], (80, 20))
        try:
            await asyncio.to_thread(begin)
            await asyncio.sleep(self._span(least, most))
        finally:
            end()

    async def _fill_redis(self) -> None:
        """Let Redis refuse every write for want of memory."""
        assert self._system.stores is not None
        with redis.Redis.from_url(self._system.stores.redis.url, socket_timeout=5) as client:
            await asyncio.to_thread(client.config_set, "maxmemory", "1")
            try:
                await asyncio.sleep(self._span(1, 8))
            finally:
                client.config_set("maxmemory", "0")

    async def _run_second(self) -> None:
        """A second host on the same data for a while; it is frozen, and then stopped or killed."""
        host, killed = self._system.hosts[1], self._chance.random() < 0.5
        self._note(f"second host, which is {'killed' if killed else 'stopped'} in the end")
        self.others["second hosts"] += 1
        await asyncio.to_thread(host.start)
        try:
            await asyncio.sleep(self._span(5, 20))
            if self._left() > 0:
                self.freezes["second host"] += 1
                await self._freeze(Target("second host", {}, host.freeze, host.thaw))
        finally:
            if killed:
                self.kills["second host"] += 1
            await asyncio.to_thread(host.end, signal.SIGKILL if killed else signal.SIGTERM)

    def _note(self, note: str) -> None:
        with (self._system.folder / "disturbances.txt").open("a") as notes:
            notes.write(f"{datetime.now(timezone.utc):%H:%M:%S.%f} {note}\n")

    def _left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _span(self, least: float, most: float) -> float:
        """A time to wait, cut where the whole time ends."""
        return min(self._chance.uniform(least, most), self._left())


def _frozen(
    process: CosmosServer | RedisServer | AzuriteServer,
) -> tuple[Callable[[], None], Callable[[], None]]:
    """How to freeze a process and how to let it go on."""
    return (lambda: _send(process.pid, signal.SIGSTOP), lambda: _send(process.pid, signal.SIGCONT))


def _wired(name: str, wire: Wire) -> Target:
    """The connections of one wire."""

    def delay() -> None:
        wire.delay_s = random.uniform(*SLOW_S)

    return Target(
        f"connections of {name}",
        {"cut": 1, "delay": 1},
        spells={"cut": (wire.cut, wire.mend), "delay": (delay, wire.mend)},
    )


def _locked(file: Path) -> Target:
    """A SQLite file whose write lock another connection holds while it is frozen."""
    connections: list[sqlite3.Connection] = []

    def freeze() -> None:
        connection = sqlite3.connect(
            file, isolation_level=None, timeout=10, check_same_thread=False
        )
        connections.append(connection)
        # a frozen process may hold it: then it is locked anyway
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("BEGIN IMMEDIATE")

    def thaw() -> None:
        while connections:
            connections.pop().close()

    return Target(file.name, {"freeze": 1}, freeze, thaw)


def _limit_files(pid: int, size: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _send(pid: int, signal_number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal_number)
