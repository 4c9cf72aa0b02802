"""Ports beside the long-term store: short-term store, queues, couriers, archive, clock and ids.

The short-term store is a cache of recent memories. It may lose all of them, but it must never
return a memory that was deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from memory_core.domain.memory import Memory, Vector
from memory_core.domain.rate_limits import Bucket, Spent
from memory_core.domain.scope import Owner
from memory_core.ports.records import AccessCount

# Shared needs of all parts: time, new ids, health, and the measurement of costs.


class Clock(Protocol):
    """The source of the current time, which tests can move."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class IdSource(Protocol):
    """The source of random ids. Derived documents get deterministic ids instead."""

    def new(self, prefix: str) -> str:
        """A new id of the form `<prefix>_<random>`."""


class Pooled(Protocol):
    """An adapter that holds connections or threads."""

    def pool(self) -> tuple[int, int]:
        """The size of the pool, and how many of its members are in use."""


@dataclass(frozen=True, slots=True)
class Health:
    """Result of a readiness check.

    Attributes:
        adapter: The adapter that was checked.
        status: Whether it is usable.
        latency_ms: The duration of the check in milliseconds.
        last_ok: The last moment at which it worked.
        detail: The fault in words for an operator.
        facts: Further figures of the adapter, JSON-ready.

    """

    adapter: str
    status: Literal["ok", "degraded", "unavailable", "off"]
    latency_ms: float | None = None
    last_ok: datetime | None = None
    detail: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


Charged = Callable[[float], None]
"""Receives the cost of each answer of a store that charges, in request units.

Refusals and each page of a query are reported separately.
"""


class Meter(Protocol):
    """The place where agents report token counts and outcomes."""

    def tokens(
        self, app_id: str, model: str, prompt: int, completion: int, reasoning: int = 0
    ) -> None:
        """Count the tokens of a model call.

        Args:
            app_id: The app that the call was for.
            model: The model that was called.
            prompt: Tokens of the prompt.
            completion: Tokens of the completion, reasoning included.
            reasoning: Tokens of the completion that are not part of the visible answer.

        """

    def agent_call(self, call: str, outcome: str) -> None:
        """Count the outcome of an agent call.

        Args:
            call: The name of the call.
            outcome: ok, repaired, failed, unavailable or over_budget.

        """

    def answer_cut(self, call: str, field: str) -> None:
        """Count an answer of the rules that was cut to its schema.

        Args:
            call: The name of the call.
            field: The field that was cut; `answer` when a plainer rule made the whole answer.

        """


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of an owner that a cache entry belongs to.

    Attributes:
        epoch: The epoch of the head.
        sequence: The sequence of the head.
        last_removal_sequence: The last sequence that removed or changed a memory.

    """

    epoch: str
    sequence: int
    last_removal_sequence: int


@dataclass(frozen=True, slots=True)
class TakenAccesses:
    """Accesses that a process set aside to write them to the long-term store.

    Attributes:
        flush_id: The id of the attempt to write them.
        counts: The accesses by memory id.

    """

    flush_id: str
    counts: Mapping[str, AccessCount]


class ShortTermStore(Pooled, Protocol):
    """A cache of the recent memories of each session.

    No call raises an error; `degraded` reports a failure.
    """

    async def open(self) -> None:
        """Prepare the connection. This never fails the start."""

    async def close(self) -> None:
        """Close the connection."""

    @property
    def degraded(self) -> bool:
        """True while calls fail or the circuit is open."""

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """The newest cached memories of a session, with the stamp that they are valid for.

        The caller may use them only when `stamp.epoch` is the head's epoch and `stamp.sequence` ≥
        the head's last_removal_sequence.

        Args:
            owner: The owner of the session.
            session_id: The session to read.
            limit: The most memories to return.

        Returns:
            The stamp and the memories; the stamp is None when the session is not cached.

        """

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Cache a memory that was saved.

        Args:
            memory: The memory as it was saved.
            stamp: The state after the commit that saved it.

        Returns:
            False when the cached set is newer than the stamp, the epoch was erased, or the store is
            down. False too for a memory without a session.

        """

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Cache all memories that a commit saved, in a round trip per session.

        A store that no other process reads may do this later, before its next read of these
        sessions. True then says that the memories were accepted.

        Args:
            memories: The memories as they were saved.
            stamp: The state after the commit that saved them.

        Returns:
            False when a memory was not cached.

        """

    async def drop(
        self,
        owner: Owner,
        session_ids: Sequence[str],
        memory_ids: Sequence[str],
        stamp: Stamp,
        previous_removal: int,
    ) -> None:
        """Remove memories that a commit removed or changed from their sessions' sets.

        The sets are stamped with the new state, or voided.

        Args:
            owner: The owner of the sessions.
            session_ids: The sessions of the memories.
            memory_ids: The memories to remove.
            stamp: The state after the commit.
            previous_removal: The head's last_removal_sequence before the commit.

        """

    async def rebuild(
        self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        """Replace a void set by the memories of the long-term store.

        Args:
            owner: The owner of the session.
            session_id: The session of the set.
            memories: The memories that the session has now.
            stamp: The state that they were read at.

        Returns:
            False when a newer set is cached, the epoch was erased, or the store is down.

        """

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Delete all cached data of an owner, and refuse later writes of these epochs.

        Args:
            owner: The owner to forget.
            epochs: The epochs whose memories are refused from now on.

        Returns:
            False when the store is down.

        """

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings by key; None for each that is missing."""

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings by key, with the store's own TTL."""

    async def add_accesses(self, counts: Mapping[Owner, Mapping[str, AccessCount]]) -> bool:
        """Add accesses to those that wait to be written, for all processes.

        Returns False when they were not stored. The caller must then keep them.
        """

    async def owners_with_accesses(self, limit: int) -> list[Owner]:
        """Up to `limit` owners whose accesses wait, in no order."""

    async def take_accesses(self, owner: Owner, flush_id: str) -> TakenAccesses | None:
        """Set the waiting accesses of an owner aside, to be written.

        Accesses that an earlier attempt set aside are returned first.

        Args:
            owner: The owner whose accesses are taken.
            flush_id: The id of this attempt.

        Returns:
            The accesses, or None when no accesses wait.

        """

    async def drop_taken_accesses(self, owner: Owner, flush_id: str) -> None:
        """Delete the accesses that were set aside, after they were written.

        Args:
            owner: The owner of the accesses.
            flush_id: The id of the attempt that set them aside.

        """

    async def spend(self, app_id: str, buckets: Sequence[Bucket]) -> Spent | None:
        """Count a request of an app, for all processes.

        Args:
            app_id: The app that made the request.
            buckets: The limits that the request counts for.

        Returns:
            The state of the buckets. None when the store cannot count; the caller then counts by
            itself.

        """

    async def check(self) -> Health:
        """Check readiness by a round trip that writes. Reports a fault instead of raising it."""


# Work after the answer of a call: queues of tasks, and the courier that reports their ends.


QueueName = Literal["formation", "consolidation", "webhooks"]


POISON = "-poison"
"""Suffix of a poison queue's name. Messages that failed too often are moved there."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that a receiver holds until its visibility timeout ends.

    Attributes:
        id: The id of the message.
        body: The text of the message.
        dequeue_count: How often it has been received, this time included.
        inserted_at: When it was sent.
        expires_at: When the queue drops it.
        next_visible_at: When other receivers can see it again.
        receipt: The right to extend or complete the message, valid for this delivery only.

    """

    id: str
    body: str
    dequeue_count: int
    inserted_at: datetime
    expires_at: datetime
    next_visible_at: datetime
    receipt: str


class TaskQueue(Pooled, Protocol):
    """Queues of work, where messages hold ids only.

    Delivery is at least once and in no promised order, so receivers must tolerate a repetition. On
    Azure the Functions host receives, and the app only sends. The development host receives by the
    same adapter. `queue` is a `QueueName` or its poison queue, `<name>-poison`. All calls raise
    Unavailable when the service is down.
    """

    async def open(self) -> None:
        """Connect to the queues.

        An embedded or emulated adapter makes the queues. Otherwise they must exist.
        """

    async def close(self) -> None:
        """Release all resources."""

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message, which is durable when the call returns.

        After Unavailable the message may be in the queue or not.

        Args:
            queue: The name of the queue.
            body: 1 byte to 48 KiB of UTF-8.
            delay: The time before receivers can see it, at most 7 days in whole seconds. The
                message is kept for 7 days from then.

        Raises:
            TooLarge: The body is too long.

        """

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Receive visible messages, which no other receiver sees for a while.

        Args:
            queue: The name of the queue.
            limit: The most messages to return, 1 to 32.
            visibility: How long they are hidden from other receivers, 1 second to 7 days.

        """

    async def extend(
        self, queue: str, delivery: Delivery, visibility: timedelta
    ) -> Delivery | None:
        """Hide a message for longer, or hand it back.

        Args:
            queue: The name of the queue.
            delivery: The message as it was received.
            visibility: How long it stays hidden; 0 hands it back at once.

        Returns:
            The delivery with its new receipt, or None when it is no longer this receiver's.

        """

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove a message whose work is done.

        Args:
            queue: The name of the queue.
            delivery: The message as it was received.

        Returns:
            False when it is no longer this receiver's.

        """

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait for this process's next `send` without delay.

        Messages of other processes do not end the wait.

        Args:
            queue: The name of the queue.
            within: The longest time to wait.

        """

    async def length(self, queue: str) -> int:
        """Approximate number of messages, hidden messages included."""

    async def check(self) -> Health:
        """Check readiness by a cheap round trip.

        The lengths of the poison queues are among its facts.
        """


@dataclass(frozen=True, slots=True)
class Posted:
    """Result of a POST.

    Attributes:
        status: The status code of the answer; None without an answer.
        error: The reason why there was no answer.
        refused: The address is not allowed, now or later.

    """

    status: int | None
    error: str | None = None
    refused: bool = False


class Courier(Protocol):
    """Sends webhooks to addresses that callers chose.

    It calls public addresses and those that the operator allows, never the service's own network.
    """

    def refusal(self, url: str) -> str | None:
        """The reason why this address will never be called; None when it may be called.

        No name is looked up here, so a name that resolves to a forbidden IP is not recognised.
        """

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        """Send a single POST, without a retry and in bounded time.

        Redirects are not followed; they count as answers. An error of the receiver is never raised.

        Args:
            url: The address to call.
            body: The body as it is sent.
            headers: The headers of the request.

        """

    async def close(self) -> None:
        """Release all resources."""


class Archive(Pooled, Protocol):
    """The archive: named blobs that are written once, read and removed, never changed.

    All calls raise Unavailable when it is down. Names are made of `[A-Za-z0-9._-]` parts joined by
    `/`, none ending with a dot; any other name raises ValueError (`check_blob_name`).
    """

    async def open(self) -> None:
        """Connect to the container.

        An embedded or emulated adapter makes the container. Otherwise it must exist. After
        Unavailable the archive may still be used: the calls work as soon as the service is back.
        """

    async def close(self) -> None:
        """Release all resources."""

    async def put(self, name: str, data: bytes) -> bool:
        """Write a blob once. It is durable when the call returns.

        Args:
            name: The name of the blob.
            data: The content.

        Returns:
            False when the name is taken, whatever its content is. A first try of the same call
            whose answer was lost may have written it, so the caller reads the blob back to compare.

        """

    async def get(self, name: str) -> bytes | None:
        """Read a whole blob and verify its checksum.

        Returns None when the blob does not exist. Raises Damaged when its content is not as it was
        written.
        """

    async def remove(self, name: str) -> bool:
        """Remove a blob for good.

        Returns False when it did not exist, or when a first try had removed it and its answer was
        lost.
        """

    async def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """A page of names that start with `prefix`, in order.

        Args:
            prefix: The beginning of the names.
            after: The last name of the previous page; None for the first page.
            limit: The most names to return.

        """

    async def check(self) -> Health:
        """Check readiness by a cheap round trip."""


# Names of blobs that every archive can keep. A part may not end with a dot: `.` and `..` would lead
# out of a folder, and a service may drop the dot of `a.` in an address.

MAX_BLOB_NAME, MAX_PART = 500, 100
"""Characters of a blob's name, and of each part of it.

A service allows 1,024 characters and 254 parts. A file name may have 255 bytes, and a part may need
two bytes for each character.
"""

_BLOB_NAME = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-])(?:/[A-Za-z0-9._-]*[A-Za-z0-9_-])*")
_BLOB_PREFIX = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-]/)*[A-Za-z0-9._-]*")


def check_blob_name(name: str) -> str:
    """Return the name of a blob if every archive can keep it; otherwise raise ValueError."""
    if (
        len(name) > MAX_BLOB_NAME
        or _BLOB_NAME.fullmatch(name) is None
        or max(map(len, name.split("/"))) > MAX_PART
    ):
        raise ValueError(
            f"{name!r} is no name of a blob: at most {MAX_BLOB_NAME} characters, "
            f"parts of 1-{MAX_PART} letters, digits or ._- joined by /, none ending with a dot"
        )
    return name


def check_blob_prefix(prefix: str) -> str:
    """Return the prefix of a blob's name if a name can begin with it.

    A prefix may end anywhere in a name and may be empty. Raises ValueError when no name can begin
    so.
    """
    if len(prefix) > MAX_BLOB_NAME or _BLOB_PREFIX.fullmatch(prefix) is None:
        raise ValueError(f"no name of a blob begins with {prefix!r}")
    return prefix
