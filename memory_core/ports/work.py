"""Work that goes on after a call was answered: queues that name it, and the courier that tells others of its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

from memory_core.ports.common import Health, Pooled

QueueName = Literal["formation", "consolidation", "webhooks"]


POISON = "-poison"
"""Ends the name of the queue that takes what a queue's function failed at too often."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as a receiver holds it, until its visibility runs out. `receipt` is good for this delivery only.

    dequeue_count: how often it has been received, this time included.
    """

    id: str
    body: str
    dequeue_count: int
    inserted_at: datetime
    expires_at: datetime
    next_visible_at: datetime
    receipt: str


class TaskQueue(Pooled, Protocol):
    """Work that waits, named by ids only. At least once, in no promised order; receivers must bear a repetition.

    On Azure the Functions host receives, and the app only sends; the development host receives by the same adapter. `queue`
    is a `QueueName` or its poison queue, `<name>-poison`. All calls raise Unavailable when the service is down.
    """

    async def open(self) -> None:
        """Connect; the queues are there, or are made where the adapter is an embedded or an emulated one."""

    async def close(self) -> None:
        """Release everything."""

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message, to be seen after `delay` (at most 7 days, whole seconds) and for 7 days from then. Durable when it returns.

        body: 1 byte to 48 KiB of UTF-8, else TooLarge. After Unavailable it may be there or not.
        """

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Up to `limit` (1-32) visible messages, which no other receiver sees for `visibility` (1 s to 7 days)."""

    async def extend(self, queue: str, delivery: Delivery, visibility: timedelta) -> Delivery | None:
        """Keep it, or hand it back after `visibility` (0: at once); None when it is no longer this receiver's."""

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove a message that is done; False when it is no longer this receiver's."""

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait for this process's next `send` without delay, at most `within`. Other processes' messages end no wait."""

    async def length(self, queue: str) -> int:
        """About how many messages there are, those not visible now included."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness; with the lengths of the poison queues among its facts."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What came of one POST: the status of its answer, or why there was none. refused: we don't call that address, now or later."""

    status: int | None
    error: str | None = None
    refused: bool = False


class Courier(Protocol):
    """Takes webhooks to addresses that callers chose: to public ones and those that the operator allows, never into our own network."""

    def refusal(self, url: str) -> str | None:
        """Why this address will never be called, as far as can be told without looking up who has its name; None when it may be."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        """One POST, once, in bounded time; redirects are answers like others. Never raises for what the receiver does."""

    async def close(self) -> None:
        """Release everything."""
