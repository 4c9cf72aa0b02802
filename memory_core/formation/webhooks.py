"""Webhooks: send the results of ended tasks to callback addresses.

Each delivery is a task of its own, on a queue of its own. Note: a receiver may get a delivery
twice, if the process dies between the receiver's answer and its record. So a delivery keeps its id
through all tries, by which the receiver can recognise it.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Any

import orjson

from memory_core.domain.conversation import Task
from memory_core.domain.errors import FieldError, Invalid, NotFound, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ledger.commit import Ledger
from memory_core.ports import Clock, Courier, Document, LongTermStore, Posted
from memory_core.tasks.leases import Lease, RetryLater, TaskLost
from memory_core.tasks.lifecycle import TaskFinisher
from memory_core.tasks.store import CallbackDelivery, DeliveryAttempt, put_with_retry

PAUSES = (timedelta(seconds=1), timedelta(seconds=2), timedelta(seconds=4))
"""The pauses before the second, third and fourth try, which is the last."""
WORTH_TRYING_AGAIN = frozenset({429, 503, 504})


class Deliveries:
    """Sends deliveries to their receivers.

    They are signed with `secret`; without it they wait.
    """

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        courier: Courier,
        finisher: TaskFinisher,
        clock: Clock,
        secret: bytes | None,
    ) -> None:
        self._store, self._ledger, self._courier, self._finisher = store, ledger, courier, finisher
        self._clock, self._secret = clock, secret

    async def deliver(self, lease: Lease) -> RetryLater | None:
        """Try to deliver once.

        The outcome is written into the delivery's log first of all.
        """
        document = await self._document(lease.owner, lease.task)
        delivery = CallbackDelivery.of(document)
        if self._secret is None:
            raise Unavailable("webhooks", UNSIGNED)
        now = self._clock.now()
        body = orjson.dumps(delivery.body, option=orjson.OPT_UTC_Z)
        posted = await self._courier.post(
            delivery.url, body, headers(delivery.id, body, self._secret, now)
        )
        error = failure_reason(posted)
        tries = delivery.tried(DeliveryAttempt(at=now, status_code=posted.status, error=error))
        spent = lease.task.attempts + (error is not None)
        if error is not None and not is_final(posted) and spent <= len(PAUSES):
            if await put_with_retry(self._store, lease.owner, with_tries(document, tries)) is None:
                raise TaskLost  # another worker tried, or the task was cancelled
            return RetryLater(PAUSES[spent - 1], {"attempts": spent, "error": error})
        await self._finisher.end(
            lease.owner,
            lease.task,
            "failed" if error else "delivered",
            subject={"tries": tries},
            status="failed" if error else "succeeded",
            error=error,
            attempts=spent,
            progress=1.0,
            result={
                "delivery_id": delivery.id,
                "for_task_id": delivery.task_id,
                "url": delivery.url,
                "status_code": posted.status,
            },
        )
        return None

    async def shown(self, owner: Owner, task: Task) -> Task:
        """The task with the log of its deliveries in its result.

        Args:
            owner: Whose task it is.
            task: The task.

        """
        if not task.delivery_ids:
            return task
        read_set = await self._ledger.look(owner, task.delivery_ids)
        deliveries = [
            read_set.documents[name] for name in task.delivery_ids if name in read_set.documents
        ]
        log = [CallbackDelivery.of(document).public() for document in deliveries]
        return task.changed(result={**(task.result or {}), "deliveries": log})

    async def _document(self, owner: Owner, task: Task) -> Document:
        read_set = await self._ledger.look(owner, [task.subject_id])
        document = read_set.documents.get(task.subject_id)
        if (
            document is None
            or read_set.head is None
            or document.body["epoch"] != read_set.head.epoch
        ):
            raise NotFound("what was to be delivered is gone")
        return document


def headers(delivery_id: str, body: bytes, secret: bytes, now: datetime) -> dict[str, str]:
    """The headers of a delivery.

    `X-Memory-Signature` is HMAC-SHA256 over timestamp, a full stop, and the body.

    Args:
        delivery_id: Id of the delivery.
        body: As it is sent.
        secret: Secret to sign with.
        now: The time of the signature.

    """
    timestamp = str(int(now.timestamp()))
    signature = hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Memory-Signature": f"sha256={signature}",
        "X-Memory-Timestamp": timestamp,
        "X-Memory-Delivery": delivery_id,
    }


def failure_reason(posted: Posted) -> str | None:
    """Why a POST was no success; None if it was a success."""
    if posted.status is None:
        return posted.error or "there was no answer"
    if 200 <= posted.status < 300:
        return None
    if 300 <= posted.status < 400:
        return f"it answered {posted.status}: redirects are not followed"
    return f"it answered {posted.status}"


def is_final(posted: Posted) -> bool:
    """Whether another try would fail in the same way.

    After 429, 503, 504 and silence it might succeed.
    """
    return posted.refused or (posted.status is not None and posted.status not in WORTH_TRYING_AGAIN)


def with_tries(document: Document, tries: list[dict[str, Any]]) -> Document:
    """The next state of a delivery's document.

    Args:
        document: As it was read.
        tries: The new log of its tries.

    """
    return Document(document.id, document.kind, {**document.body, "tries": tries}, tag=document.tag)


UNSIGNED = (
    "callbacks are signed, and there is nothing to sign with: MEMORY_WEBHOOK_SECRET is not set"
)


class Callbacks:
    """Checks callback addresses.

    Deliveries are signed with `secret`; without it no address is accepted.
    """

    def __init__(self, courier: Courier, secret: bytes | None) -> None:
        self._courier, self._secret = courier, secret

    def check(self, url: str | None) -> None:
        """Raise Invalid for an address that will never be called.

        It is checked as far as possible without a DNS query.
        """
        if url is None:
            return
        why = UNSIGNED if self._secret is None else self._courier.refusal(url)
        if why is not None:
            raise Invalid(f"callback_url: {why}", errors=(FieldError("callback_url", why),))
