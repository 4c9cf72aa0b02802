"""The audit log of an app: acts on its keys and on users' data.

Each entry has its actor and time. An act comes first, its entry after it or with it. An act on a
key and its entry are a single batch. An act on a user's data is the work of a task: the entry is
written when that work begins, and the task waits until it can be written. So no act is lost because
its entry can't be written, and no data is erased or exported without an entry.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from memory_core.access.records import AuditEntry, AuditPage, plain_correlation
from memory_core.domain.access import Action
from memory_core.domain.conversation import TaskKind
from memory_core.domain.errors import Unavailable
from memory_core.domain.requests.access import AuditInput
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import OwnerHashes
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.ids import derived
from memory_core.ports import Document, EntryFilter, KeyStore, Place, sequence_of
from memory_core.tasks.leases import Lease, RetryLater
from memory_core.tasks.operation_records import Operation
from memory_core.tasks.operations import Operations
from memory_core.tasks.store import Tasks
from memory_core.tasks.worker import Work

ACTIONS: Final[Mapping[TaskKind, Action]] = {
    "erase": "user_erased",
    "export": "user_exported",
    "import": "user_imported",
    "forget": "memories_forgotten",
}
"""Kinds of tasks that have an entry, and the action that it names."""
REDACTED_AT_ONCE = 50
ROUNDS = 5
log = logging.getLogger(__name__)


def entry_document(entry: AuditEntry, onto: Document | None = None) -> Document:
    """Return the document of an entry.

    Args:
        entry: The entry.
        onto: The stored document that it replaces; None for a new document.

    """
    body = {"sequence": sequence_of(entry.at), **entry.model_dump(mode="json", exclude_none=True)}
    return Document(entry.id, "audit", body, tag=None if onto is None else onto.tag)


def entry_in(document: Document) -> AuditEntry:
    """Return the entry in a document."""
    return AuditEntry.model_validate(document.body)


class AuditLog:
    """Reads the audit log."""

    def __init__(self, store: KeyStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, app_id: str, query: AuditInput) -> AuditPage:
        """Return a page of entries, newest first.

        Args:
            app_id: The app.
            query: The filters, the limit and the cursor.

        Raises:
            Malformed: The cursor is void.
            Unavailable: The store is down.

        """
        bound = {
            "list": "audit",
            **query.model_dump(mode="json", include={"since", "until", "action"}),
        }
        place = self._cursors.read_for_app(app_id, bound, query.cursor)
        where = EntryFilter(query.since, query.until, query.action)
        documents = await self._store.page(
            app_id, "audit", None if place is None else Place(*place), query.limit + 1, where
        )
        page, following = documents[: query.limit], None
        if len(documents) > query.limit:
            following = self._cursors.make_for_app(
                app_id, bound, (page[-1].body["sequence"], page[-1].id)
            )
        return AuditPage(tuple(entry_in(document) for document in page), following)


class TaskAudit:
    """Writes the entries of tasks on users' data."""

    def __init__(
        self, store: KeyStore, operations: Operations, tasks: Tasks, names: OwnerHashes
    ) -> None:
        self._store, self._operations, self._tasks, self._names = store, operations, tasks, names

    def around(self, works: Mapping[TaskKind, Work]) -> dict[TaskKind, Work]:
        """Wrap the works of `ACTIONS`: an entry before they begin, its outcome after they end."""
        return {
            kind: self._with_entry(ACTIONS[kind], work) if kind in ACTIONS else work
            for kind, work in works.items()
        }

    def _with_entry(self, action: Action, work: Work) -> Work:
        async def work_with_entry(lease: Lease) -> RetryLater | None:
            await self._begin(lease, action)
            later = await work(lease)
            if later is None:
                await self._end(lease)
            return later

        return work_with_entry

    async def _begin(self, lease: Lease, action: Action) -> None:
        """Write the entry unless it exists.

        For an erasure, also remove the user's id from all other entries. Raises Unavailable.
        """
        operation = await self._operations.of(lease)
        user = {"user_id": lease.owner.user_id}
        if action == "user_erased":
            user = {"user": await self._names.of(lease.owner)}
            await self._redact(lease.owner, user)
        if await self._store.read(lease.owner.app_id, _entry_id(lease)) is None:
            entry = _entry(lease, operation, action, {**user, "task_id": lease.task.task_id})
            await self._store.write(lease.owner.app_id, [entry_document(entry)])

    async def _end(self, lease: Lease) -> None:
        """Write the outcome of the act.

        The act is done: if its outcome can't be written, the entry still names its task.
        """
        app_id = lease.owner.app_id
        try:
            ended_task = await self._tasks.find(lease.owner, lease.task.task_id)
            if ended_task is None or not ended_task.task.finished:
                return
            counts = (ended_task.task.result or {}).get("counts")
            for _ in range(ROUNDS):
                document = await self._store.read(app_id, _entry_id(lease))
                if document is None:
                    return
                ended = entry_in(document).ended(
                    ended_task.task.status, counts if isinstance(counts, dict) else None
                )
                if await self._store.write(app_id, [entry_document(ended, document)]):
                    return
        except Unavailable as error:
            log.warning(
                "the outcome of the task %s is not in the audit log: %s",
                lease.task.task_id,
                error.detail,
            )

    async def _redact(self, owner: Owner, user: Mapping[str, str]) -> None:
        """Put the user's keyed hash in the place of the user's id, in every entry.

        Raises Unavailable.
        """
        while documents := await self._store.about(owner.app_id, owner.user_id, REDACTED_AT_ONCE):
            redacted = [
                replace(document, body={**document.body, **_redacted(document, user)})
                for document in documents
            ]
            await self._store.write(owner.app_id, redacted)


def _redacted(document: Document, user: Mapping[str, str]) -> dict[str, Any]:
    body = document.body
    target = {name: value for name, value in body["target"].items() if name != "user_id"}
    correlation = plain_correlation(body.get("correlation_id"))
    return {"target": {**target, **user}, "correlation_id": correlation}


def _entry_id(lease: Lease) -> str:
    return derived("aud", *lease.owner, lease.task.task_id)


def _entry(
    lease: Lease, operation: Operation, action: Action, target: Mapping[str, str]
) -> AuditEntry:
    return AuditEntry(
        id=_entry_id(lease),
        at=operation.created_at,
        actor=operation.actor,
        action=action,
        target=target,
        outcome="accepted",
        correlation_id=(
            plain_correlation(operation.correlation_id)
            if action == "user_erased"
            else operation.correlation_id
        ),
        mode=operation.plan.get("mode") if action == "memories_forgotten" else None,
    )
