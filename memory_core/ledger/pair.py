"""A task and what it is about, which change together: a conversation, a buffer, a delivery; with them the head's count, and who is told.

Note: the head counts the tasks that are not finished, and nothing else. So a task begins and ends only in commits,
onto the very state that was read, and the count moves in the same batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_core.domain.conversation import FormedCell, counts_of
from memory_core.domain.models import Head
from memory_core.domain.task import FINISHED, Task
from memory_core.ledger.buffer import emptied
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.delivery import announced
from memory_core.ledger.tasks import LIFETIME, HeldTask, held_task, written
from memory_core.ports import Document

_NO_MORE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Pair:
    """A task and its subject, as one look shows them; no subject where that is gone."""

    held: HeldTask
    subject: Document | None

    @classmethod
    def of(cls, look: Look, task_id: str) -> Pair | None:
        """What the look shows; None when there is no such task."""
        held = held_task(look.documents.get(task_id), look.head)
        if held is None:
            return None
        subject = look.documents.get(held.task.subject_id)
        known = subject is not None and look.head is not None and subject.body["epoch"] == look.head.epoch
        return cls(held, subject if known else None)

    @property
    def task(self) -> Task:
        """The task."""
        return self.held.task

    def turned(self, state: str, now: datetime, *, subject: Mapping[str, Any] = _NO_MORE, **fields: Any) -> Changes[Task]:
        """The commit that gives the subject another state (and the fields `subject`), the task other `fields`, and its callback
        address a delivery when that ends the task.
        """
        turned = {**self._formed(), **fields, "leased_by": None, "leased_until": None, "waiting_for": None, "updated_at": now}
        task, deliveries = announced(self.task.model_copy(update=turned), now)
        puts = (written(task, onto=self.held.document), *deliveries)
        return Changes(
            task, puts=(*puts, *self._subject(state, now, subject)), head_fields=counted(unfinished(puts) - (not self.task.finished))
        )

    def _formed(self) -> Mapping[str, Any]:
        """The result that names what the conversation became so far: that stays, however the task goes on or ends."""
        if self.subject is None or self.subject.kind != "conversation" or not self.subject.body["formed_cells"]:
            return _NO_MORE
        cells = [FormedCell.model_validate(cell) for cell in self.subject.body["formed_cells"]]
        became = {"cells": [cell.public() for cell in cells], "counts": counts_of(cells)}
        return {"result": {**(self.task.result or {}), **became}}

    def _subject(self, state: str, now: datetime, fields: Mapping[str, Any]) -> Iterable[Document]:
        if self.subject is None or self.subject.kind == "messages":
            return
        if self.subject.kind == "buffer":
            if state == "cancelled":
                yield emptied(self.subject)
        elif self.subject.body["state"] != state:
            ended = self.subject.kind in ("delivery", "operation") and state not in ("pending", "poisoned", "cancelling")
            expires_at = now + LIFETIME if ended else None
            yield replace(self.subject, body={**self.subject.body, **fields, "state": state}, expires_at=expires_at)


def unfinished(documents: Iterable[Document]) -> int:
    """How many of these are tasks that are not finished."""
    return sum(document.kind == "task" and document.body["status"] not in FINISHED for document in documents)


def counted(more: int) -> Callable[[Head], Mapping[str, Any]]:
    """The head's field that says how many tasks are not finished, moved by `more`."""

    def head_fields(head: Head) -> Mapping[str, Any]:
        return {"pending_tasks": max(0, head.pending_tasks + more)}

    return head_fields
