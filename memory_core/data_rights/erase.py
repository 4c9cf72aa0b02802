"""Erase a user: delete all stored data of the user for good, with a receipt.

The first commit ends the user's life: it begins another epoch, in the state `erasing`. From then on
no work that began before can be committed, however late. Then every tier is emptied, and emptied
again when the longest-lived worker is gone.

Note: the new epoch makes the erasure safe, not the emptying. Emptying only removes data that cannot
come back.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from memory_core.domain.conversation import Task
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Head, HeadFields
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.domain.skew import is_written_ahead
from memory_core.domain.text.text_cache import forget_texts
from memory_core.ledger.archive_files import ColdCopies, ErasureLog, OwnerHashes, TransferFiles
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import Receipt
from memory_core.ports import Clock, Document, IdSource, LongTermStore, Place, ShortTermStore
from memory_core.tasks.leases import Lease, RetryLater
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.store import TaskAndSubject, put_with_retry, task_document
from memory_core.tasks.worker import TaskServices

TOMBSTONE: Final = timedelta(days=8)
"""How long an erased user's head is kept.

It is longer than a message waits in a queue, so that no late writer finds no user and begins a new
user.
"""
DELETED_AT_ONCE = 90
OWNERS_A_PAGE = 100
SCRUBS = 5
ERASURES: Final = "#erasures"
"""The owner of an app's receipts; no user has this name, since no user's name may have a `#`."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EraseRules:
    """The rules of an erasure.

    Attributes:
        settle: The longest life of a worker; after it all stores are listed again.
        entries_life: How long the short-term store keeps an entry that is not found.
        remains: The user's data that remains in the stores that are in use.

    """

    settle: timedelta
    entries_life: timedelta
    remains: tuple[str, ...]


WithdrawKeys = Callable[[Owner, Call], Awaitable[None]]
"""Withdraws the API keys that are bound to a user; raises Unavailable."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """The task of an erasure, and whether this call began it."""

    task_id: str
    is_new: bool = True


class Eraser:
    """Erases users."""

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        parts: TransferFiles,
        copies: ColdCopies,
        names: OwnerHashes,
        notes: ErasureLog,
        ledger: Ledger,
        task_services: TaskServices,
        clock: Clock,
        ids: IdSource,
        rules: EraseRules,
        withdraw_keys: WithdrawKeys,
    ) -> None:
        self._store, self._short_term, self._parts, self._copies, self._names = (
            store,
            short_term,
            parts,
            copies,
            names,
        )
        self._notes = notes
        self._ledger, self._operations, self._starter, self._steering = (
            ledger,
            task_services.operations,
            task_services.starter,
            task_services.control,
        )
        self._clock, self._ids, self._rules, self._withdraw_keys = clock, ids, rules, withdraw_keys

    async def begin(self, owner: Owner, call: Call) -> Accepted:
        """End the user's life at once, and begin the task that empties the stores.

        If the user is being erased already, that task is returned. An unknown user can be erased
        too, and is unknown afterwards.

        Args:
            owner: The user.
            call: The call that asked for it.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: The long-term store is down.

        """
        epoch = self._ids.new("ep")

        def decide(read_set: ReadSet) -> Changes[_Begun]:
            head, now = read_set.head, self._clock.now()
            if head is not None and head.state == "erasing":
                return Changes(_Begun(task_id_of(head.epoch), is_new=False))
            task, subject = _new_task(epoch, head, now, call)
            fields: HeadFields = {"state": "erasing", "pending_tasks": 1}
            return Changes(
                _Begun(task.task_id),
                creates=(subject, task_document(task)),
                begins=epoch,
                head_fields=lambda _: fields,
                fragile=True,
            )

        committed = await self._ledger.commit(
            owner,
            decide,
            ids=(),
            call=call,
            receipt=Receipt(
                lambda begun: {"task_id": begun.task_id} if begun.is_new else None,
                lambda earlier, read_set: _Begun(str(earlier["task_id"]), is_new=False),
            ),
            while_erasing=True,
        )
        return await self._send_message(owner, committed.result.task_id, call)

    async def erase(self, lease: Lease) -> RetryLater | None:
        """Empty all tiers, wait, empty them again, and write the receipt.

        Returns Later while it waits. Raises Unavailable while a tier can't be emptied.
        """
        operation = await self._operations.of(lease)
        if operation.cursor is None:
            await self._notes.write(lease.owner, operation.plan["epochs"], operation.created_at)
            operation = await self._empty_tiers(lease, operation)
            until = self._clock.now() + self._rules.settle
            operation = await self._moved(lease, operation, {"until": until.isoformat()})
        until, now = datetime.fromisoformat(operation.cursor["until"]), self._clock.now()
        if is_written_ahead(until - self._rules.settle, now):
            until = now + self._rules.settle
            operation = await self._moved(lease, operation, {"until": until.isoformat()})
        if until > now:
            return RetryLater(until - now, {"step": "waiting for the last worker", "progress": 0.9})
        operation = await self._empty_tiers(lease, operation)
        await self._finish(lease, operation)
        return None

    async def erase_again(self, *, dry_run: bool) -> int:
        """Erase users once more that a restored backup shows, and return how many.

        Such a user has an epoch that was erased once. When this returns, no data of these users is
        read any more; their tasks empty the stores. With `dry_run` they are only counted. Raises
        Unavailable.
        """
        notes, after, count = await self._notes.all(), None, 0
        while page := await self._store.owners(after, OWNERS_A_PAGE):
            for owner, head in page:
                if head.state == "live" and await self._notes.has_note_of(notes, owner, head.epoch):
                    count += 1
                    if not dry_run:
                        await self.begin(owner, Call())
            after = page[-1][0]
        return count

    async def receipts(self, app_id: str, after: int | None, limit: int) -> list[dict[str, Any]]:
        """Return receipts of an app, the latest first.

        Args:
            app_id: The app.
            after: The `sequence` of the last receipt that was seen; None for the first page.
            limit: The most receipts.

        """
        place = None if after is None else Place(after, "")
        documents = await self._store.page(Owner(app_id, ERASURES), "receipt", None, place, limit)
        return [document.body for document in documents]

    async def _send_message(self, owner: Owner, task_id: str, call: Call) -> Accepted:
        """Tell the queue, and retry an erasure that had been given up."""
        read_set = await self._ledger.look(owner, [task_id])
        pair = TaskAndSubject.of(read_set, task_id)
        if pair is None or pair.task.status == "succeeded":
            return Accepted(task_id)
        if pair.task.status == "poisoned":
            await self._steering.retry(owner, task_id, replace(call, idempotency_key=None))
            return Accepted(task_id)
        return Accepted(task_id, await self._starter.send(owner, pair.task))

    async def _empty_tiers(self, lease: Lease, operation: Operation) -> Operation:
        """Empty every tier once: the short-term store, then files, then the long-term store.

        The short-term store takes no entry of the user back from then on.
        """
        forget_texts()
        await self._empty_short_term(lease, operation)
        blobs = await self._parts.remove_all(lease.owner) + await self._copies.remove_all(
            lease.owner
        )
        while True:
            strays = await self._store.strays(lease.owner, DELETED_AT_ONCE)
            if not strays and not blobs:
                break
            operation = await self._deleted(lease, operation, strays, blobs)
            blobs = 0
            await self._report(lease, operation)
        for _ in range(SCRUBS):
            if await self._store.scrub():
                return operation
        raise Unavailable(
            "long_term",
            "what was deleted stays in the files while somebody reads an older state",
            retry_after_s=5,
        )

    async def _empty_short_term(self, lease: Lease, operation: Operation) -> None:
        """Empty the short-term store.

        If it has been down for longer than it keeps any entry, there is no entry left to delete.
        """
        if await self._short_term.forget(lease.owner, operation.plan["epochs"]):
            return
        if self._clock.now() - operation.created_at < self._rules.entries_life:
            raise Unavailable("short_term", "can't be emptied while it is down", retry_after_s=30)

    async def _deleted(
        self, lease: Lease, operation: Operation, strays: list[Document], blobs: int
    ) -> Operation:
        counts = Counter(stray.kind for stray in strays) + Counter(blob=blobs)

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            return Chunk(deletes=tuple(strays), cursor=stored.cursor, counts=counts)

        return await self._operations.advance(lease, operation, [], decide)

    async def _report(self, lease: Lease, operation: Operation) -> None:
        done = sum(operation.counts.values()) / max(1, operation.plan["documents"])
        await lease.report("emptying", 0.9 * min(1.0, done))

    async def _moved(self, lease: Lease, operation: Operation, cursor: dict[str, Any]) -> Operation:
        return await self._operations.advance(
            lease, operation, [], lambda read_set, stored: Chunk(cursor=cursor)
        )

    async def _finish(self, lease: Lease, operation: Operation) -> None:
        """Withdraw the user's keys, keep the receipt, and make the user empty.

        From then on the user may begin again at any time.
        """
        await self._withdraw_keys(lease.owner, operation.call)
        owner, now = lease.owner, self._clock.now()
        name = await self._names.of(owner)
        given = {
            "user": name,
            "began_at": operation.created_at.isoformat(),
            "erased_at": now.isoformat(),
            "counts": operation.counts,
            "remains": [*self._rules.remains],
        }
        await self._keep_receipt(owner, operation, given)
        fields: HeadFields = {"state": "live", "expires_at": now + TOMBSTONE}
        result = {key: value for key, value in given.items() if key != "counts"}

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            return Chunk(
                cursor=stored.cursor, done=True, result=result, head_fields=lambda head: fields
            )

        await self._operations.advance(lease, operation, [], decide)
        log.info("the user %s is erased", name)

    async def _keep_receipt(
        self, owner: Owner, operation: Operation, given: dict[str, Any]
    ) -> None:
        """Store the receipt among the app's receipts, for good.

        If a killed worker had stored a receipt already, the first receipt is kept.
        """
        body = {
            "sequence": int(operation.created_at.timestamp() * 1_000_000),
            "task_id": operation.task_id,
            **given,
        }
        await put_with_retry(
            self._store,
            Owner(owner.app_id, ERASURES),
            Document(derived("ers", operation.id), "receipt", body),
        )


def remains_of(long_term: str, short_term: str, queue: str) -> tuple[str, ...]:
    """Return the descriptions of the data that remains of an erased user.

    Args:
        long_term: "cosmos" or "sqlite".
        short_term: "redis", "embedded" or "none".
        queue: "storage" or "embedded".

    """
    in_short_term = {
        "redis": (
            (
                "one key in Redis, with the user's id in its name, the ids of the lives that have "
                "ended and no content, for 8 days"
            ),
            "vectors of texts, without the texts, under hashes, for up to 24 hours",
        ),
        "embedded": (
            (
                "in the memory of the running service the user's id with the ids of the lives that "
                "have ended, and vectors of texts under hashes, without any content, until it "
                "is stopped"
            ),
        ),
    }
    messages = "in queues" if queue == "storage" else "in the data folder's queue"
    copies = (
        (
            "what backups, soft delete and versions of the stores themselves hold, for as long as "
            "they are set to"
        )
        if "cosmos" in long_term or queue == "storage"
        else "what copies of the data folder hold, which the service does not know of"
    )
    return (
        "the head of nobody, with the user's id and no content, for 8 days",
        *in_short_term.get(short_term, ()),
        f"messages {messages}, with ids and no content, for up to 7 days",
        (
            "API keys that were made for the user alone, which are withdrawn, with the user's id, "
            "until 90 days after that"
        ),
        copies,
    )


def task_id_of(epoch: str) -> str:
    """Return the id of the task of the erasure that began an epoch."""
    return derived("tsk", epoch, "erase")


def _new_task(epoch: str, head: Head | None, now: datetime, call: Call) -> tuple[Task, Document]:
    """Return the task of an erasure, and its operation.

    The plan's `documents` is about how many there are, for the progress.
    """
    operation = Operation(
        id=derived("op", epoch, "erase"),
        kind="erase",
        task_id=task_id_of(epoch),
        plan={
            "epochs": [] if head is None else [head.epoch],
            "documents": 0 if head is None else 2 * head.sequence,
        },
        actor=call.actor,
        correlation_id=call.correlation_id,
        created_at=now,
    )
    task = Task(
        task_id=operation.task_id,
        kind="erase",
        created_at=now,
        updated_at=now,
        subject_id=operation.id,
        next_enqueue_at=now,
        correlation_id=call.correlation_id,
    )
    return task, Document(operation.id, "operation", operation.model_dump(mode="json"))
