"""Tasks as documents, with their subjects and the deliveries of their ends.

Note: a task is written onto the very state that it was read in (`HeldTask.changed`), never blindly.
So no late worker overwrites a task that was finished, cancelled or begun again since.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.conversation import (
    FINISHED,
    CellRecord,
    Task,
    TaskFields,
    TaskKind,
    TaskStatus,
    counts_of,
)
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import NotFound, Unavailable
from memory_core.domain.memory import Head, HeadFields
from memory_core.domain.results import TaskPage
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Changes, HeadChange
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.documents import emptied
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document, LongTermStore, Place

LIFETIME = timedelta(days=7)
"""How long a finished task can be read. A poisoned task stays until it is retried or cancelled."""
PAGE = 100
MAX_PAGES = 10
"""Pages that a call reads at most in search of tasks of a status. After that it answers with fewer
tasks and a cursor.
"""


@dataclass(frozen=True, slots=True)
class StoredTask:
    """A task as it was read, with the document that it was read from."""

    task: Task
    document: Document

    def changed(self, **fields: Unpack[TaskFields]) -> Document:
        """The document to write: the task with changed `fields`, on top of the read state."""
        return task_document(self.task.changed(**fields), onto=self.document)


def task_document(task: Task, onto: Document | None = None) -> Document:
    """The document of a task: a new document, or the next state of `onto`.

    Its place in lists is the microsecond of its creation: accepting a task adds no event, so the
    log's sequence gives no order.

    Args:
        task: Task to store.
        onto: The document as it was read, which must be unchanged; None for a new task.

    """
    body: dict[str, Any] = {"sequence": int(task.created_at.timestamp() * 1_000_000)}
    if onto is not None:
        body = {name: onto.body[name] for name in ("epoch", "sequence")}
    body |= task.model_dump(mode="json")
    expires_at = task.updated_at + LIFETIME if task.finished and task.status != "poisoned" else None
    return Document(
        task.task_id, "task", body, expires_at=expires_at, tag=None if onto is None else onto.tag
    )


def task_in(document: Document | None, head: Head | None) -> StoredTask | None:
    """The task in a document of the head's epoch.

    Args:
        document: As it was read; None if there is none.
        head: Head of the owner; None before the first write.

    Returns:
        None if the document is no task, or is of another epoch.

    """
    if (
        document is None
        or document.kind != "task"
        or head is None
        or document.body["epoch"] != head.epoch
    ):
        return None
    fields = {
        name: value for name, value in document.body.items() if name not in ("epoch", "sequence")
    }
    return StoredTask(Task.model_validate(fields), document)


class Tasks:
    """Reads tasks, for callers that watch them and workers that do them."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def find(self, owner: Owner, task_id: str) -> StoredTask | None:
        """A task with its document.

        Args:
            owner: Whose task it is.
            task_id: Id of the task.

        Returns:
            None if the head's epoch has no such task. Of a user who is being erased, only the
                erasure is left.

        """
        read_set = await self._store.snapshot(owner, [task_id])
        return task_in(read_set.documents.get(task_id), read_set.head)

    async def get(self, owner: Owner, task_id: str) -> Task:
        """A task.

        Args:
            owner: Whose task it is.
            task_id: Id of the task.

        Raises:
            NotFound: The owner has no such task.

        """
        task_read = await self.find(owner, task_id)
        if task_read is None:
            raise NotFound(
                f"no task of this id for this user; finished ones are kept for {LIFETIME.days} days"
            )
        return task_read.task

    async def page(
        self,
        owner: Owner,
        status: TaskStatus | None,
        kind: TaskKind | None,
        cursor: str | None,
        limit: int,
    ) -> TaskPage:
        """A page of tasks, the newest first.

        The page may be short, or empty, though more follow.

        Args:
            owner: Whose tasks they are.
            status: Status of the tasks; None for all.
            kind: Kind of the tasks; None for all.
            cursor: None for the first page.
            limit: Tasks on a page at most.

        Raises:
            Malformed: The cursor is not valid for this list.

        """
        bound = {"list": "tasks", "status": status, "kind": kind}
        head = (await self._store.snapshot(owner)).head
        place = self._cursors.read(owner, head, bound, cursor)
        if head is None:
            return TaskPage((), None)

        def wanted(task: Task) -> bool:
            return status in (None, task.status) and kind in (None, task.kind)

        tasks, following = await self.some(owner, head, wanted, place, limit)
        return TaskPage(
            tuple(task.task for task in tasks),
            None if following is None else self._cursors.make(owner, head, bound, following),
        )

    async def some(
        self,
        owner: Owner,
        head: Head,
        wanted: Callable[[Task], bool],
        after: Place | None,
        limit: int,
    ) -> tuple[list[StoredTask], Place | None]:
        """Tasks that are wanted, the newest first.

        Args:
            owner: Whose tasks they are.
            head: Head of the owner; tasks of other epochs are left out.
            wanted: Whether a task is wanted.
            after: Where to go on; None for the beginning.
            limit: Tasks at most.

        Returns:
            The tasks, and where to go on; None if there are no more.

        """
        tasks: list[StoredTask] = []
        for _ in range(MAX_PAGES):
            documents = await self._store.page(owner, "task", None, after, PAGE)
            for document in documents:
                if len(tasks) == limit:
                    return tasks, after
                after = Place(int(document.body["sequence"]), document.id)
                task_read = task_in(document, head)
                if task_read is not None and wanted(task_read.task):
                    tasks.append(task_read)
            if len(documents) < PAGE:
                return tasks, None
        return tasks, after


# A task and its subject (a conversation, a buffer or a delivery), which change together; with them
# change the head's count and the delivery to the callback.
#
# Note: the head counts unfinished tasks, and nothing else. So a task begins and ends only in
# commits on top of the state that was read, and the count changes in the same batch.


_NO_MORE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class TaskAndSubject:
    """A task and its subject in a read set.

    The subject is None if it is gone.
    """

    task_state: StoredTask
    subject: Document | None

    @classmethod
    def of(cls, read_set: ReadSet, task_id: str) -> TaskAndSubject | None:
        """The task in a read set; None if there is no such task.

        Args:
            read_set: A read set with the task and its subject.
            task_id: Id of the task.

        """
        task = task_in(read_set.documents.get(task_id), read_set.head)
        if task is None:
            return None
        subject = read_set.documents.get(task.task.subject_id)
        known = (
            subject is not None
            and read_set.head is not None
            and subject.body["epoch"] == read_set.head.epoch
        )
        return cls(task, subject if known else None)

    @property
    def task(self) -> Task:
        """The task."""
        return self.task_state.task

    def turned(
        self,
        state: str,
        now: datetime,
        *,
        subject: Mapping[str, Any] = _NO_MORE,
        **fields: Unpack[TaskFields],
    ) -> Changes[Task]:
        """The commit that changes the task and its subject together.

        If it ends the task, the task's callback address gets a delivery.

        Args:
            state: State of the subject.
            now: The present time.
            subject: Further fields of the subject.
            **fields: Fields of the task.

        """
        turned: TaskFields = {
            **self._formed(),
            **fields,
            "leased_by": None,
            "leased_until": None,
            "waiting_for": None,
            "updated_at": now,
        }
        task, deliveries = with_delivery(self.task.changed(**turned), now)
        puts = (task_document(task, onto=self.task_state.document), *deliveries)
        return Changes(
            task,
            puts=(*puts, *self._subject(state, now, subject)),
            head_fields=count_change(unfinished(puts) - (not self.task.finished)),
        )

    def _formed(self) -> TaskFields:
        """The task's result, naming the memories of its conversation so far.

        It stays, however the task goes on or ends.
        """
        if (
            self.subject is None
            or self.subject.kind != "conversation"
            or not self.subject.body["formed_cells"]
        ):
            return {}
        cells = [CellRecord.model_validate(cell) for cell in self.subject.body["formed_cells"]]
        became = {"cells": [cell.public() for cell in cells], "counts": counts_of(cells)}
        return {"result": {**(self.task.result or {}), **became}}

    def _subject(self, state: str, now: datetime, fields: Mapping[str, Any]) -> Iterable[Document]:
        if self.subject is None or self.subject.kind == "messages":
            return
        if self.subject.kind == "buffer":
            if state == "cancelled":
                yield emptied(self.subject)
        elif self.subject.body["state"] != state:
            ended = self.subject.kind in ("delivery", "operation") and state not in (
                "pending",
                "poisoned",
                "cancelling",
            )
            expires_at = now + LIFETIME if ended else None
            yield replace(
                self.subject,
                body={**self.subject.body, **fields, "state": state},
                expires_at=expires_at,
            )


def unfinished(documents: Iterable[Document]) -> int:
    """How many of these documents are unfinished tasks."""
    return sum(
        document.kind == "task" and document.body["status"] not in FINISHED
        for document in documents
    )


def count_change(more: int) -> HeadChange:
    """The head's field with the count of unfinished tasks, changed by `more`."""

    def head_fields(head: Head) -> HeadFields:
        return {"pending_tasks": max(0, head.pending_tasks + more)}

    return head_fields


# A delivery to a callback address after the end of a task, with a log of its tries.
#
# Note: the content is written in the commit that ends the task, so it is neither lost nor changed
# later. A task that ends twice (poisoned, retried, succeeded) has two deliveries.


TRIES_SHOWN = 20
"""Tries in the log; a delivery that is retried manually again and again keeps the latest."""
DeliveryState = Literal["pending", "delivered", "failed", "cancelled", "poisoned"]


class DeliveryAttempt(DeferredModel):
    """A POST to a callback address.

    Attributes:
        at: When it was sent.
        status_code: Status code of the answer; None if there was none.
        error: Why it was no success; None if it was.

    """

    model_config = ConfigDict(extra="forbid")

    at: datetime
    status_code: int | None = None
    error: str | None = None


class CallbackDelivery(DeferredModel):
    """A delivery to a callback address.

    Attributes:
        id: Id of the delivery.
        task_id: Id of the task that ended.
        url: The callback address.
        body: The public form of the task as it ended.
        state: State of the delivery.
        tries: The latest POSTs.
        created_at: When the task ended.

    """

    model_config = ConfigDict(extra="forbid")

    id: str
    task_id: str
    url: str
    body: dict[str, Any]
    state: DeliveryState = "pending"
    tries: list[DeliveryAttempt] = Field(default_factory=list)
    created_at: datetime

    @classmethod
    def of(cls, document: Document) -> CallbackDelivery:
        """The delivery in a document."""
        return cls.model_validate(
            {
                name: value
                for name, value in document.body.items()
                if name not in ("epoch", "sequence")
            }
        )

    def tried(self, attempt: DeliveryAttempt) -> list[dict[str, Any]]:
        """The log with a further try, as it is stored."""
        return [entry.model_dump(mode="json") for entry in (*self.tries, attempt)][-TRIES_SHOWN:]

    def public(self) -> dict[str, Any]:
        """The delivery as a task's result shows it."""
        last = self.tries[-1] if self.tries else None
        return {
            "delivery_id": self.id,
            "task_id": webhook_task_id(self.id),
            "url": self.url,
            "status": self.state,
            "attempts": len(self.tries),
            "status_code": last.status_code if last else None,
            "error": last.error if last else None,
            "tries": [attempt.model_dump(mode="json") for attempt in self.tries],
        }


def webhook_task_id(delivery_id: str) -> str:
    """The id of the task that delivers."""
    return derived("tsk", delivery_id)


def with_delivery(task: Task, now: datetime) -> tuple[Task, tuple[Document, ...]]:
    """An ended task with its delivery, and the documents of the delivery.

    Args:
        task: As it ended; it is returned as it is if it has no callback address.
        now: The present time.

    Returns:
        The task, and the documents: none without a callback address.

    """
    if task.callback_url is None or not task.finished:
        return task, ()
    identity = derived("dlv", task.task_id, str(task.generation), task.status)
    delivery = CallbackDelivery(
        id=identity, task_id=task.task_id, url=task.callback_url, body=task.public(), created_at=now
    )
    webhook = Task(
        task_id=webhook_task_id(identity),
        kind="webhook",
        created_at=now,
        updated_at=now,
        subject_id=identity,
        next_enqueue_at=now,
        correlation_id=task.correlation_id,
    )
    ended = task.changed(delivery_ids=[*task.delivery_ids, identity])
    return ended, (
        Document(identity, "delivery", delivery.model_dump(mode="json")),
        task_document(webhook),
    )


# Write a document outside of the log, with retries after lost answers.
#
# Note: a retry is right only because a store takes an equal document as the same write. Two writers
# that must not both win write different contents; a lease has the name of its holder.


ATTEMPTS = 4
PAUSE_S = 0.02
"""The pause before the second attempt; doubled with each, times a random share."""


async def put_with_retry(store: LongTermStore, owner: Owner, document: Document) -> Document | None:
    """Write a document beside the log, with tries while the store is down.

    Args:
        store: The long-term store.
        owner: Whose document it is.
        document: Document with the tag that was read.

    Returns:
        The document with its new tag; None if another writer was faster.

    Raises:
        Unavailable: The store stays down; the document may have been written.

    """
    for attempt in range(1, ATTEMPTS):
        try:
            return await store.keep(owner, document)
        except Unavailable:
            await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
    return await store.keep(owner, document)
