"""Queue triggers: messages are received, held while their function runs, and removed.

Done: removed. Failed: visible again after a while, and after the last attempt moved to the poison
queue. Note: a poison queue has none of its own, so a message that its function fails at comes back
until it expires.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from azure.functions import QueueMessage, get_binding_registry
from azure.functions.meta import Datum

from memory_core.domain.errors import TooLarge, Unavailable
from memory_core.localhost.host_settings import QueueOptions
from memory_core.ports import POISON, Delivery, TaskQueue

log = logging.getLogger(__name__)
FIRST_PAUSE = timedelta(milliseconds=100)
"""Pause after a queue was found empty; it doubles each time, up to maxPollingInterval."""


@dataclass(frozen=True, slots=True)
class QueueFunction:
    """A function that a queue triggers.

    Attributes:
        name: Name of the function.
        queue: Name of the queue.
        argument: Name of the function's parameter.
        call: The function itself.

    """

    name: str
    queue: str
    argument: str
    call: Callable[..., Awaitable[None]]


class Queues:
    """The queue functions of an app: they are served between `start` and `stop`."""

    def __init__(
        self, functions: Sequence[QueueFunction], options: QueueOptions, visibility: timedelta
    ) -> None:
        """Build the queues of an app.

        visibility: How long a message is hidden at a time while its function runs.
        """
        self._functions = functions
        self._options = options
        self._visibility = visibility
        self._stopping = asyncio.Event()
        self._listeners: list[_Listener] = []
        self._listening: list[asyncio.Task[None]] = []
        self._passing_on: list[asyncio.Task[None]] = []

    def start(self, queue: TaskQueue) -> None:
        """Begin to receive."""
        self._listeners = [
            _Listener(function, queue, self._options, self._visibility, self._stopping)
            for function in self._functions
        ]
        self._listening = [asyncio.ensure_future(listener.listen()) for listener in self._listeners]

    def pass_on(self, queue: TaskQueue, sent: Callable[[int], None]) -> None:
        """Let another process receive, and report messages that this process sends.

        Args:
            queue: The queue.
            sent: Called with the place, among the functions, of the function whose queue got a
                message.

        """
        self._passing_on = [
            asyncio.ensure_future(_tell_of_arrivals(queue, function.queue, partial(sent, place)))
            for place, function in enumerate(self._functions)
        ]

    def look(self, place: int) -> None:
        """Look for messages in the queue of the function at this place.

        Another process has sent to it.
        """
        if place < len(self._listeners):
            self._listeners[place].sent.set()

    async def stop(self, grace_s: float) -> None:
        """Stop receiving, and let running functions finish for `grace_s` seconds.

        Functions that still run then are cancelled, and their messages are handed back.
        """
        self._stopping.set()
        for task in self._passing_on:
            task.cancel()
        await asyncio.gather(*self._passing_on, return_exceptions=True)
        running = {
            *self._listening,
            *(task for listener in self._listeners for task in listener.running),
        }
        if running:
            _, late = await asyncio.wait(running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


async def _tell_of_arrivals(queue: TaskQueue, name: str, sent: Callable[[], None]) -> None:
    """Report each time that this process sends to a queue.

    Once an hour it reports without a message.
    """
    while True:
        await queue.arrival(name, timedelta(hours=1))
        sent()


class _Listener:
    """A function and the messages that it works on now."""

    def __init__(
        self,
        function: QueueFunction,
        queue: TaskQueue,
        options: QueueOptions,
        visibility: timedelta,
        stopping: asyncio.Event,
    ) -> None:
        self._function, self._queue, self._options = function, queue, options
        self._visibility, self._stopping = visibility, stopping
        self._poison = None if function.queue.endswith(POISON) else function.queue + POISON
        self._reachable = True
        self.sent = asyncio.Event()
        self.running: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        """Receive until the stop.

        A batch is received whenever no more than newBatchThreshold messages are being worked on.
        """
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            if await self._receive():
                pause = FIRST_PAUSE
                while len(self.running) > self._options.new_batch_threshold:
                    await asyncio.wait(self.running, return_when=asyncio.FIRST_COMPLETED)
            else:
                await self._rest(pause)
                pause = min(2 * pause, self._options.max_polling_interval)

    async def _receive(self) -> bool:
        """Begin to work on a batch of messages.

        Returns False if there is no message, or the queue can't be reached.
        """
        name = self._function.queue
        try:
            deliveries = await self._queue.receive(name, self._options.batch_size, self._visibility)
        except Unavailable as error:
            if self._reachable:
                log.warning(
                    "%s waits until its queue can be reached: %s", self._function.name, error.detail
                )
            self._reachable = False
            return False
        except Exception:
            log.exception("%s can't receive; it goes on trying", self._function.name)
            return False
        if not self._reachable:
            log.info("%s receives again", self._function.name)
        self._reachable = True
        for delivery in deliveries:
            task = asyncio.ensure_future(
                self._hand_back(delivery) if self._stopping.is_set() else self._work(delivery)
            )
            self.running.add(task)
            task.add_done_callback(self.running.discard)
        return bool(deliveries)

    async def _rest(self, pause: timedelta) -> None:
        """Rest until a message was sent, the pause is over or the host stops.

        `sent` reports messages that other processes of the same host send.
        """
        waits = [
            asyncio.ensure_future(wait)
            for wait in (
                self._queue.arrival(self._function.queue, pause),
                self.sent.wait(),
                self._stopping.wait(),
            )
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.sent.clear()
            for wait in waits:
                wait.cancel()

    async def _work(self, delivery: Delivery) -> None:
        try:
            if (
                self._poison is not None
                and delivery.dequeue_count > self._options.max_dequeue_count
            ):
                # its last attempt took the whole process with it
                await self._to_poison(delivery, self._poison)
            else:
                await self._attempt(delivery)
        except Unavailable as error:
            log.warning(
                "%s: message %s will come again, for its queue failed: %s",
                self._function.name,
                delivery.id,
                error.detail,
            )
        except Exception:
            log.exception(
                "%s: message %s could not be ended and will come again",
                self._function.name,
                delivery.id,
            )

    async def _attempt(self, delivery: Delivery) -> None:
        name = self._function.queue
        hold = Hold(self._queue, name, delivery, self._visibility)
        try:
            succeeded = await self._call(delivery)
        except asyncio.CancelledError:
            log.warning(
                "%s was stopped at message %s, which will come again",
                self._function.name,
                delivery.id,
            )
            await self._hand_back(await hold.end())
            raise
        delivery = await hold.end()
        if succeeded:
            if not await self._queue.complete(name, delivery):
                log.warning(
                    "%s: message %s is done, but was somebody else's by then",
                    self._function.name,
                    delivery.id,
                )
        elif self._poison is None:
            log.error(
                "%s: message %s stays hidden for %s and comes again",
                self._function.name,
                delivery.id,
                self._visibility,
            )
        elif delivery.dequeue_count >= self._options.max_dequeue_count:
            await self._to_poison(delivery, self._poison)
        else:
            await self._queue.extend(name, delivery, self._options.visibility_timeout)

    async def _call(self, delivery: Delivery) -> bool:
        """Whether the function ended well and in time. Its errors are logged."""
        limit = self._options.function_timeout
        try:
            async with asyncio.timeout(None if limit is None else limit.total_seconds()):
                await self._function.call(**{self._function.argument: message(delivery)})
        except Exception:
            log.exception(
                "%s failed at message %s (attempt %d)",
                self._function.name,
                delivery.id,
                delivery.dequeue_count,
            )
            return False
        return True

    async def _to_poison(self, delivery: Delivery, poison: str) -> None:
        """Move the message to the poison queue.

        A message of another program that can't be sent, being empty or too large, is dropped.
        Otherwise it would come back for days.
        """
        name, count = self._function.name, delivery.dequeue_count
        try:
            await self._queue.send(poison, delivery.body)
            log.error(
                "%s gives message %s up after %d attempts: it is in %s",
                name,
                delivery.id,
                count,
                poison,
            )
        except (ValueError, TooLarge) as error:
            log.error(
                "%s gives message %s up after %d attempts, and %s does not take it: %s",
                name,
                delivery.id,
                count,
                poison,
                error,
            )
        await self._queue.complete(self._function.queue, delivery)

    async def _hand_back(self, delivery: Delivery) -> None:
        try:
            await self._queue.extend(self._function.queue, delivery, timedelta(0))
        except Unavailable as error:
            log.warning(
                "%s: message %s could not be handed back: %s",
                self._function.name,
                delivery.id,
                error.detail,
            )


def message(delivery: Delivery) -> QueueMessage:
    """Convert a delivery to the message that functions get.

    The SDK's own converter makes it, since a `QueueMessage` that is constructed directly knows no
    dequeue count.
    """
    metadata = {
        "Id": Datum(delivery.id, "string"),
        "DequeueCount": Datum(delivery.dequeue_count, "int"),
        "InsertionTime": _datum_of(delivery.inserted_at),
        "ExpirationTime": _datum_of(delivery.expires_at),
        "NextVisibleTime": _datum_of(delivery.next_visible_at),
        "PopReceipt": Datum(delivery.receipt, "string"),
    }
    made: QueueMessage = (
        get_binding_registry()
        .get("queueTrigger")
        .decode(Datum(delivery.body, "string"), trigger_metadata=metadata)
    )
    return made


def _datum_of(moment: datetime) -> Datum:
    """Format a time in whole seconds, as Azure's queues have it.

    The SDK tries several formats, those with fractions of seconds later. Each failed try leaves an
    exception and its frames in a cycle: 31 objects a message, the message itself among them, until
    the collector comes.
    """
    return Datum(moment.isoformat(timespec="seconds"), "string")


# Hold a message while its function runs: renew its visibility after half of it.
#
# Note: each renewal makes a new receipt. So a renewal that is under way is waited for, since an
# older receipt could not complete the message.


class Hold:
    """Renews the visibility of a message from its construction until `end`."""

    def __init__(
        self, queue: TaskQueue, name: str, delivery: Delivery, visibility: timedelta
    ) -> None:
        self._queue, self._name, self._visibility = queue, name, visibility
        self._delivery = delivery
        self._over = asyncio.Event()
        self._renewing = asyncio.ensure_future(self._renew())

    async def end(self) -> Delivery:
        """Stop renewing, and return the delivery with the receipt that is valid now."""
        self._over.set()
        await self._renewing
        return self._delivery

    async def _renew(self) -> None:
        while not await self._is_over_within(self._visibility / 2):
            try:
                renewed = await self._queue.extend(self._name, self._delivery, self._visibility)
            except Unavailable as error:
                log.warning(
                    "message %s of %s could not be held: %s",
                    self._delivery.id,
                    self._name,
                    error.detail,
                )
                continue
            if renewed is None:
                log.warning(
                    "message %s of %s is somebody else's now, while its function still runs here",
                    self._delivery.id,
                    self._name,
                )
                return
            self._delivery = renewed

    async def _is_over_within(self, time: timedelta) -> bool:
        try:
            async with asyncio.timeout(time.total_seconds()):
                return await self._over.wait()
        except TimeoutError:
            return False
