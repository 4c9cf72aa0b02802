"""Tasks as documents: how they are stored, read and listed.

Note: a task is written onto the very state that it was read in (`HeldTask.changed`), never blindly; so no late worker
overwrites what was finished, cancelled or begun again since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from memory_core.domain.errors import NotFound
from memory_core.domain.models import Head
from memory_core.domain.results import TaskPage
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task, TaskKind, TaskStatus
from memory_core.ledger.cursors import Cursors
from memory_core.ports import Document, LongTermStore, Place

LIFETIME = timedelta(days=7)
"""How long a finished task can be looked at. A poisoned one stays until it is retried or cancelled."""
PAGE = 100
MAX_PAGES = 10
"""Pages that one call reads at most in search of tasks of a status; it answers with fewer, and a cursor, after that."""


@dataclass(frozen=True, slots=True)
class HeldTask:
    """A task as it was read, with the document that it was read from."""

    task: Task
    document: Document

    def changed(self, **fields: Any) -> Document:
        """The document to write: the task with `fields` changed, on top of the state that was read."""
        return written(self.task.model_copy(update=fields), onto=self.document)


def written(task: Task, onto: Document | None = None) -> Document:
    """The document that keeps a task: a new one, or the next state of `onto`, which must still be as it was read.

    Its place in lists is the microsecond of its creation: what is accepted adds no event, so the log's sequence tells no order.
    """
    body: dict[str, Any] = {"sequence": int(task.created_at.timestamp() * 1_000_000)}
    if onto is not None:
        body = {name: onto.body[name] for name in ("epoch", "sequence")}
    body |= task.model_dump(mode="json")
    expires_at = task.updated_at + LIFETIME if task.finished and task.status != "poisoned" else None
    return Document(task.task_id, "task", body, expires_at=expires_at, tag=None if onto is None else onto.tag)


def held_task(document: Document | None, head: Head | None) -> HeldTask | None:
    """The task in a document of the head's epoch."""
    if document is None or document.kind != "task" or head is None or document.body["epoch"] != head.epoch:
        return None
    fields = {name: value for name, value in document.body.items() if name not in ("epoch", "sequence")}
    return HeldTask(Task.model_validate(fields), document)


class Tasks:
    """Reads tasks, for callers that watch them and workers that do them."""

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def held(self, owner: Owner, task_id: str) -> HeldTask | None:
        """One task; None when there is none in the head's epoch: of a user who is being erased, the erasure is the only one left."""
        look = await self._store.snapshot(owner, [task_id])
        return held_task(look.documents.get(task_id), look.head)

    async def get(self, owner: Owner, task_id: str) -> Task:
        """One task. Raises NotFound."""
        task_read = await self.held(owner, task_id)
        if task_read is None:
            raise NotFound(f"no task of this id for this user; finished ones are kept for {LIFETIME.days} days")
        return task_read.task

    async def page(self, owner: Owner, status: TaskStatus | None, kind: TaskKind | None, cursor: str | None, limit: int) -> TaskPage:
        """One page, newest first; it may be short, or empty, though more follow. Raises Malformed for a void cursor."""
        bound = {"list": "tasks", "status": status, "kind": kind}
        head = (await self._store.snapshot(owner)).head
        place = self._cursors.read(owner, head, bound, cursor)
        if head is None:
            return TaskPage((), None)

        def wanted(task: Task) -> bool:
            return status in (None, task.status) and kind in (None, task.kind)

        tasks, following = await self.some(owner, head, wanted, place, limit)
        return TaskPage(
            tuple(task.task for task in tasks), None if following is None else self._cursors.make(owner, head, bound, following)
        )

    async def some(
        self, owner: Owner, head: Head, wanted: Callable[[Task], bool], after: Place | None, limit: int
    ) -> tuple[list[HeldTask], Place | None]:
        """Up to `limit` tasks that are wanted, newest first, and where to go on; None when there are no more."""
        tasks: list[HeldTask] = []
        for _ in range(MAX_PAGES):
            documents = await self._store.page(owner, "task", None, after, PAGE)
            for document in documents:
                if len(tasks) == limit:
                    return tasks, after
                after = Place(int(document.body["sequence"]), document.id)
                task_read = held_task(document, head)
                if task_read is not None and wanted(task_read.task):
                    tasks.append(task_read)
            if len(documents) < PAGE:
                return tasks, None
        return tasks, after
