"""Several processes behind the same port, over the same data.

A parent accepts connections and hands each to a worker. It answers no request itself. It starts
workers, replaces a worker that dies, and passes on messages between workers. Each worker holds an
end of a channel, a pair of sockets. However the parent ends, its end closes the channels, and a
worker whose channel is closed stops in good order.

Note: workers that all accept from the same listening socket get connections by chance, and an idle
worker takes a whole burst. A connection is handed to the worker that has the fewest.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

from memory_core.domain.errors import PlainError

OPEN, CONNECTION, GREET = b"o", b"c", b"g"
"""Messages to a worker: open the stores; here is a connection; print the first lines."""
READY, CLOSED = b"r", b"x"
"""Messages from a worker: it can serve; a connection of it is closed."""
KEYS = b"k"
"""Message in both directions: keys have changed."""
FIRST_QUEUE: Final = 0x80
"""Messages from this byte on, in both directions: a message was sent to a queue."""
AUTO: Final = "auto"
MOST_BY_DEFAULT: Final = 4
MOST: Final = 64
PAUSE_S = 0.5
"""Seconds before another worker is started in place of a dead worker."""
DEATHS_AT_START: Final = 3
"""Deaths in a row of a never ready worker, after which the host gives up."""
STOP_S = 30.0
"""Seconds for workers to finish; they have ten for requests, and ten for queues."""


def number_of(text: str) -> int:
    """Parse the number of workers; `auto` is a worker for each core, at most 4.

    Raises ValueError.
    """
    if text == AUTO:
        return min(_cores(), MOST_BY_DEFAULT)
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise PlainError(f"--workers: should be auto or a number from 1 to {MOST}, not {text!r}")
    return int(text)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkerPlace(NamedTuple):
    """A worker's place. The first worker serves the queues and the timers.

    Attributes:
        number: Its number, from 0.
        workers: Number of workers.
        channel: File descriptor of its channel.
        address: The URL of all workers.

    """

    number: int
    workers: int
    channel: int
    address: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text that `str` returns."""
        number, workers, channel, address = text.split(",", 3)
        return cls(int(number), int(workers), int(channel), address)

    def __str__(self) -> str:
        return ",".join(map(str, self))


class Channel:
    """A worker's end of its channel."""

    def __init__(self, file: int) -> None:
        self._socket = socket.socket(fileno=file)

    def may_open(self) -> bool:
        """Wait for permission to open the stores; False if the parent is gone instead."""
        with suppress(OSError):
            return self._socket.recv(1) == OPEN
        return False

    def tell(self, message: bytes) -> None:
        """Send a message to the parent.

        It is lost if the parent is gone, or does not read.
        """
        with suppress(OSError):
            self._socket.send(message)

    def listen(
        self,
        *,
        connected: Callable[[socket.socket], None],
        received: Callable[[int], None],
        over: Callable[[], None],
    ) -> None:
        """Handle the parent's connections and messages.

        Args:
            connected: Called with each connection that is handed over.
            received: Called with each other message.
            over: Called once the parent wants no more or is gone.

        """

        def read() -> None:
            while True:
                try:
                    # One at a time: so a connection belongs to its own byte.
                    message, files, _, _ = socket.recv_fds(self._socket, 1, 1)
                except BlockingIOError:
                    return
                except OSError:
                    message, files = b"", []
                if not message:
                    loop.remove_reader(self._socket)
                    over()
                    return
                for file in files:
                    connected(socket.socket(fileno=file))
                if message != CONNECTION:
                    received(message[0])

        self._socket.setblocking(False)
        loop = asyncio.get_running_loop()
        loop.add_reader(self._socket, read)


@dataclass(slots=True, eq=False)
class _Worker:
    """A process, the parent's end of its channel, and its number of connections."""

    process: asyncio.subprocess.Process
    channel: socket.socket
    is_ready: bool = False
    got_ready: bool = False
    connections: int = 0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def tell(self, message: bytes) -> None:
        """Send a message.

        It is lost if the worker has died or does not read: all messages are hints.
        """
        with suppress(OSError):
            self.channel.send(message)


class Workers:
    """The workers of a host, as its parent keeps them."""

    def __init__(
        self,
        listening: socket.socket,
        address: str,
        count: int,
        program: Sequence[str],
        environment: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        """Prepare the workers, without starting them.

        program: The command of a worker, to which its place is added.
        """
        self._listening, self._address, self._count = listening, address, count
        self._program, self._environment, self._say = program, environment, say
        self._workers: dict[int, _Worker] = {}
        self._ready = [asyncio.Event() for _ in range(count)]
        self._readiness_changed = asyncio.Event()
        self._over: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def started(self) -> bool:
        """Whether all workers were ready once."""
        return all(ready.is_set() for ready in self._ready)

    async def run(self) -> int:
        """Serve until a signal, and return the exit code.

        It is 0 after a stop, else that of the worker that could not start.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._asked_to_stop)
        work = [self._do(self._serve())]
        try:
            work += [self._do(self._keep(number)) for number in range(self._count)]
            return await self._over
        finally:
            self._listening.close()
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            await self._stop()

    def _do(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start the work; if it fails, the host fails."""

        def ended(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()) and not self._over.done():
                self._over.set_exception(error)

        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(ended)
        return task

    async def _serve(self) -> None:
        """Hand connections over, once all workers are ready.

        The first worker opens the stores alone: it makes the files of new data, and reports a
        problem with them once.
        """
        await self._ready[0].wait()
        for number, worker in self._workers.items():
            if number > 0:
                worker.tell(OPEN)
        for ready in self._ready:
            await ready.wait()
        self._workers[0].tell(GREET)
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listening)
            except OSError:  # too many open files, or the client is gone already
                await asyncio.sleep(PAUSE_S)
                continue
            with connection:
                await self._hand_over(connection)
            await asyncio.sleep(0)  # others get their turn in a burst, too

    async def _hand_over(self, connection: socket.socket) -> None:
        """Give a connection to the worker with the fewest; wait while none can take it."""
        while True:
            self._readiness_changed.clear()
            ready = [worker for worker in self._workers.values() if worker.is_ready]
            for worker in sorted(ready, key=lambda worker: worker.connections):
                try:
                    socket.send_fds(worker.channel, [CONNECTION], [connection.fileno()])
                except OSError:  # it has died, or has much to read
                    continue
                worker.connections += 1
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_S):
                    await self._readiness_changed.wait()

    async def _keep(self, number: int) -> None:
        """Keep a worker running at this place, until the host gives up."""
        deaths = 0
        while True:
            worker = await self._start(number)
            code = await worker.process.wait()
            worker.is_ready = False
            await asyncio.gather(*worker.tasks)
            if not self._ready[number].is_set() and code >= 0:  # it has said why
                self._give_up(code or 1)
                return
            deaths = 0 if worker.got_ready else deaths + 1
            if deaths == DEATHS_AT_START:
                self._say(f"Worker {number + 1} can't be started any more: the host stops.")
                self._give_up(1)
                return
            ended = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            self._say(
                f"Worker {number + 1} of {self._count} (process {worker.process.pid}) {ended}; "
                "another one takes its place."
            )
            await asyncio.sleep(PAUSE_S * 2**deaths)

    async def _start(self, number: int) -> _Worker:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            place = WorkerPlace(number, self._count, theirs.fileno(), self._address)
            process = await asyncio.create_subprocess_exec(
                *self._program,
                str(place),
                env=self._environment,
                pass_fds=(theirs.fileno(),),
                process_group=0,  # Ctrl+C is for the parent, which ends them in good order
            )
        worker = self._workers[number] = _Worker(process, ours)
        worker.tasks.append(asyncio.ensure_future(self._listen(number, worker)))
        if number == 0 or self._ready[0].is_set():
            worker.tell(OPEN)
        return worker

    async def _listen(self, number: int, worker: _Worker) -> None:
        """Handle the messages of a worker, until it is gone."""
        loop = asyncio.get_running_loop()
        with worker.channel:
            while True:
                try:
                    messages = await loop.sock_recv(worker.channel, 4096)
                except OSError:
                    return
                if not messages:
                    return
                for message in messages:
                    self._received(number, worker, message)

    def _received(self, number: int, worker: _Worker, message: int) -> None:
        if message == CLOSED[0]:
            worker.connections -= 1
        elif message == READY[0]:
            worker.is_ready = worker.got_ready = True
            self._ready[number].set()
            self._readiness_changed.set()
        elif message == KEYS[0]:
            for other in self._workers.values():
                if other is not worker:
                    other.tell(KEYS)
        elif message >= FIRST_QUEUE:
            self._workers[0].tell(bytes([message]))

    def _asked_to_stop(self) -> None:
        """Stop in good order the first time, and at once the second time."""
        if self._over.done():
            self._kill()
        self._give_up(0)

    def _give_up(self, code: int) -> None:
        if not self._over.done():
            self._over.set_result(code)

    async def _stop(self) -> None:
        for worker in self._workers.values():
            with suppress(OSError):
                worker.channel.shutdown(socket.SHUT_WR)
            if not worker.got_ready and worker.process.returncode is None:
                worker.process.terminate()  # it still loads, and has promised nothing to anybody
        if self._workers:
            ends = [
                asyncio.ensure_future(worker.process.wait()) for worker in self._workers.values()
            ]
            await asyncio.wait(ends, timeout=STOP_S)
            self._kill()
            await asyncio.gather(*ends)

    def _kill(self) -> None:
        for worker in self._workers.values():
            if worker.process.returncode is None:
                with suppress(ProcessLookupError):
                    worker.process.kill()


def program_of_a_worker() -> list[str]:
    """The command that starts a worker, to which its place is added."""
    return [sys.executable, "-m", "memory_core.localhost", "--place"]
