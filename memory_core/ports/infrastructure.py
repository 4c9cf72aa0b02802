"""Ports beside the long-term store: the short term, queues and couriers, the archive, time and ids.

The recent past: a cache of the truth, which may lose everything and must never show what is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from memory_core.domain.memory import Memory, Vector
from memory_core.domain.rate_limits import Bucket, Spent
from memory_core.domain.scope import Owner
from memory_core.ports.records import Touch

# What every part of the world has in common: time, fresh ids, health, and who is told what
# something costs.


class Clock(Protocol):
    """Where "now" comes from; tests move it."""

    def now(self) -> datetime:
        """The present moment, aware UTC."""

    async def sleep(self, seconds: float) -> None:
        """Return when so much time has passed."""


class IdSource(Protocol):
    """Where fresh ids come from. Whatever is derived gets a deterministic id instead."""

    def new(self, prefix: str) -> str:
        """A new id `<prefix>_<random>`."""


class Pooled(Protocol):
    """Something that holds connections or threads."""

    def pool(self) -> tuple[int, int]:
        """How many it may hold, and how many of these are in use now."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a readiness check saw. `detail` says what is wrong, in words for an operator."""

    adapter: str
    status: Literal["ok", "degraded", "unavailable", "off"]
    latency_ms: float | None = None
    last_ok: datetime | None = None
    detail: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


Charged = Callable[[float], None]
"""Told what each answer of a store that charges has cost, in request units: refusals and each page
of a query by itself.
"""


class Meter(Protocol):
    """Where agents say what they took and how it ended."""

    def tokens(
        self, app_id: str, model: str, prompt: int, completion: int, reasoning: int = 0
    ) -> None:
        """Tokens that one call of a model took, for whom. reasoning: how many of the completion's
        no answer shows.
        """

    def agent_call(self, call: str, outcome: str) -> None:
        """How one call ended: ok, repaired, failed, unavailable or over_budget."""

    def answer_cut(self, call: str, field: str) -> None:
        """A field of what rules answered was cut to its schema; `answer` where a plainer rule
        answered all of it.
        """


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a head says about caches: its epoch, its sequence, and the last sequence that removed or
    changed something.
    """

    epoch: str
    sequence: int
    last_removal_sequence: int


@dataclass(frozen=True, slots=True)
class TakenAccesses:
    """Accesses that a process set out to write down, under the id of that attempt."""

    flush_id: str
    touches: Mapping[str, Touch]


class ShortTermStore(Pooled, Protocol):
    """The recent past of each session, a cache of the truth. No call raises: a failure is reported
    by `degraded`.
    """

    async def open(self) -> None:
        """Prepare the connection; never fails the start."""

    async def close(self) -> None:
        """Close the connection."""

    @property
    def degraded(self) -> bool:
        """True while calls fail or the circuit is open."""

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """The newest entries of a session with the stamp they are good for; `None` when
        nothing is held.

        The caller serves them only when `stamp.epoch` is the head's and `stamp.sequence` ≥ the
        head's last_removal_sequence.
        """

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Write back one saved memory, as of the commit `stamp`. False when refused as older than
        the set, or when down.
        """

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """The same of all that one commit saved, in as few round trips as there are sessions.
        False when one was not kept.

        A store that no other process reads may do it later, before it next looks at these sessions;
        True then says that it was taken in.
        """

    async def drop(
        self,
        owner: Owner,
        session_ids: Sequence[str],
        memory_ids: Sequence[str],
        stamp: Stamp,
        previous_removal: int,
    ) -> None:
        """A commit removed or changed these memories: take them out of their sessions' sets and
        restamp, or void the sets.
        """

    async def rebuild(
        self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        """Replace a void set by what the truth says as of `stamp`; refused when a newer
        set is there.
        """

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Empty everything that is held of an owner, and refuse what is written back of these
        epochs from now on. False when down.
        """

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings by key, None where missing."""

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings, with the store's own TTL."""

    async def gather(self, touches: Mapping[Owner, Mapping[str, Touch]]) -> bool:
        """Add accesses to those that wait to be written down, for all processes. False: not kept
        here, they are the caller's to keep.
        """

    async def gathered(self, limit: int) -> list[Owner]:
        """Up to `limit` owners with accesses that wait, in no order."""

    async def take(self, owner: Owner, flush_id: str) -> TakenAccesses | None:
        """The accesses that wait, set apart under `flush_id`; those that an earlier attempt set
        apart, while there are such. None: none.
        """

    async def taken(self, owner: Owner, flush_id: str) -> None:
        """What was set apart under `flush_id` is written down: forget it."""

    async def spend(self, app_id: str, buckets: Sequence[Bucket]) -> Spent | None:
        """Count a request of an app for all processes. None where it can't be: the caller counts
        for itself then.
        """

    async def check(self) -> Health:
        """A round trip that writes, for readiness; says what is wrong instead of raising."""


# Work that goes on after a call was answered: queues that name it, and the courier that tells
# others of its end.


QueueName = Literal["formation", "consolidation", "webhooks"]


POISON = "-poison"
"""Ends the name of the queue that takes what a queue's function failed at too often."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as a receiver holds it, until its visibility runs out. `receipt` is good for this
    delivery only.

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
    """Work that waits, named by ids only. At least once, in no promised order;
    receivers must bear a repetition.

    On Azure the Functions host receives, and the app only sends; the development host receives by
    the same adapter. `queue` is a `QueueName` or its poison queue, `<name>-poison`. All calls raise
    Unavailable when the service is down.
    """

    async def open(self) -> None:
        """Connect; the queues are there, or are made where the adapter is an embedded or an
        emulated one.
        """

    async def close(self) -> None:
        """Release everything."""

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message, to be seen after `delay` (at most 7 days, whole seconds) and for 7 days
        from then. Durable when it returns.

        body: 1 byte to 48 KiB of UTF-8, else TooLarge. After Unavailable it may be there or not.
        """

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Up to `limit` (1-32) visible messages, which no other receiver sees for `visibility`
        (1 s to 7 days).
        """

    async def extend(
        self, queue: str, delivery: Delivery, visibility: timedelta
    ) -> Delivery | None:
        """Keep it, or hand it back after `visibility` (0: at once); None when it is no longer
        this receiver's.
        """

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove a message that is done; False when it is no longer this receiver's."""

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait for this process's next `send` without delay, at most `within`. Other processes'
        messages end no wait.
        """

    async def length(self, queue: str) -> int:
        """About how many messages there are, those not visible now included."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness; with the lengths of the poison queues
        among its facts.
        """


@dataclass(frozen=True, slots=True)
class Posted:
    """What came of one POST: the status of its answer, or why there was none. refused: we don't
    call that address, now or later.
    """

    status: int | None
    error: str | None = None
    refused: bool = False


class Courier(Protocol):
    """Takes webhooks to addresses that callers chose: to public ones and those that the operator
    allows, never into our own network.
    """

    def refusal(self, url: str) -> str | None:
        """Why this address will never be called, as far as can be told without looking up who has
        its name; None when it may be.
        """

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        """One POST, once, in bounded time; redirects are answers like others. Never raises for what
        the receiver does.
        """

    async def close(self) -> None:
        """Release everything."""


class Archive(Pooled, Protocol):
    """The cold: named blobs that are written once, read and removed, never changed.
    All calls raise Unavailable when it is down.

    Names are made of `[A-Za-z0-9._-]` parts joined by `/`, none ending with a dot;
    ValueError for others (`domain.blob_names`).
    """

    async def open(self) -> None:
        """Connect; the container is there, or is made where the adapter is an embedded or an
        emulated one.

        After Unavailable it may be used all the same: once it is back, the calls work.
        """

    async def close(self) -> None:
        """Release everything."""

    async def put(self, name: str, data: bytes) -> bool:
        """Write once; durable when it returns. False when the name is taken, whatever it holds, be
        it by a first try of this very call whose answer was lost; the caller reads back
        to see what.
        """

    async def get(self, name: str) -> bytes | None:
        """What is there, whole and with its checksum verified; None when nothing is. Raises Damaged
        when it is not what was written.
        """

    async def remove(self, name: str) -> bool:
        """Remove it for good; False when it was not there, or when a first try had removed it and
        its answer was lost.
        """

    async def names(self, prefix: str, after: str | None, limit: int) -> list[str]:
        """A page of names that start with `prefix`, in order, those later than `after`."""

    async def check(self) -> Health:
        """A cheap round trip, for readiness."""
