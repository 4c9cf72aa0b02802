"""Control tasks: retry, cancel, list poisoned tasks, send lost messages again.

Note: cancelling undoes no change. Memories that were formed stay. Work under way stops within a
second, and could not be committed any more, since its commit finds the conversation in another
state than it was read in.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import Head
from memory_core.domain.results import Call, OwnedTaskPage, Swept
from memory_core.domain.scope import Owner
from memory_core.domain.skew import is_written_ahead
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.documents import unread
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import Receipt
from memory_core.ports import Clock, IdSource, LongTermStore, Place, TaskQueue
from memory_core.tasks.leases import is_leased
from memory_core.tasks.lifecycle import TaskFinisher, message_for, queue_of, send_task
from memory_core.tasks.store import StoredTask, TaskAndSubject, Tasks, put_with_retry, task_in

LEAVING_SOMETHING = frozenset({"export", "import"})
"""Kinds of tasks whose files and staged documents have to go when they are cancelled."""
CANCELLING: Final = "cancelling"
"""State of an operation, and step of its task, from the cancelling until all is removed."""
Transition = Callable[[TaskAndSubject], Changes[Task]]


class _SubjectChanged(Exception):
    """The messages that a task waited for became a conversation meanwhile: read again."""


class TaskControl:
    """Retries and cancels tasks."""

    def __init__(
        self, ledger: Ledger, tasks: Tasks, finisher: TaskFinisher, queue: TaskQueue, clock: Clock
    ) -> None:
        self._ledger, self._tasks, self._finisher, self._queue, self._clock = (
            ledger,
            tasks,
            finisher,
            queue,
            clock,
        )

    async def retry(self, owner: Owner, task_id: str, call: Call) -> Task:
        """Begin again with a task that failed, is poisoned or waits.

        It gets fresh attempts, and goes on from the memories that are formed already. One that is
        being cancelled goes on with that.

        Args:
            owner: Whose task it is.
            task_id: Id of the task.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such task.
            Conflict: The task is done, cancelled or being worked on, or it is an import that
                failed.

        """

        def turn(pair: TaskAndSubject) -> Changes[Task]:
            task, now = pair.task, self._clock.now()
            if task.kind == "import" and task.status == "failed":
                raise Conflict(
                    "what was brought has been refused and is gone; begin another import"
                )
            if task.status in ("succeeded", "cancelled"):
                raise Conflict(
                    f"this task is {task.status}; only one that failed, is poisoned or waits can "
                    "be retried"
                )
            if is_leased(task, now):
                raise Conflict(
                    "this task is being worked on; it can be retried when that has failed"
                )
            return pair.turned(
                CANCELLING if task.step == CANCELLING else "pending",
                now,
                status="accepted",
                generation=task.generation + 1,
                attempts=0,
                waits=0,
                error=None,
                next_enqueue_at=now,
            )

        task, changed = await self._turn(owner, task_id, turn, call)
        if changed:
            await send_task(self._queue, queue_of(task.kind), message_for(owner, task))
        return task

    async def cancel(self, owner: Owner, task_id: str, call: Call) -> Task:
        """End a task before it is done, or its waiting for a retry.

        A cancelled task stays as it is. Messages that waited in a buffer are dropped, and so are
        the messages of a conversation without formed memories. An export or an import first removes
        the files and documents that it has written; it is cancelled when that is done.

        Args:
            owner: Whose task it is.
            task_id: Id of the task.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such task.
            Conflict: The task has ended, is an erasure, or has begun a hard delete.

        """

        def turn(pair: TaskAndSubject) -> Changes[Task]:
            if pair.task.kind == "erase":
                raise Conflict(
                    "an erasure can't be taken back: from its first moment on nothing can be read "
                    "any more"
                )
            if pair.task.status == "cancelled":
                return Changes(pair.task)
            if pair.task.kind in LEAVING_SOMETHING and pair.task.status not in (
                "succeeded",
                "failed",
            ):
                return _cancelling(pair, self._clock.now())
            if pair.task.status in ("succeeded", "failed"):
                raise Conflict(f"this task is {pair.task.status}; there is nothing left to cancel")
            if _has_begun_hard_delete(pair):
                raise Conflict(
                    "what is gone for good has to go from the log and from what mentions it too; "
                    "this can't be stopped half-way"
                )
            return _cancelled(pair, self._clock.now())

        task, changed = await self._turn(owner, task_id, turn, call)
        if changed and task.finished:
            await self._finisher.announce(owner, task)
        elif changed:
            await send_task(self._queue, queue_of(task.kind), message_for(owner, task))
        return task

    async def _turn(
        self, owner: Owner, task_id: str, turn: Transition, call: Call
    ) -> tuple[Task, bool]:
        """Commit the changes that `turn` makes of the task, with the call's receipt.

        Returns the task, and whether this call committed a change.
        """
        while True:
            subject = (await self._tasks.get(owner, task_id)).subject_id
            try:
                return await self._try_turn(subject, owner, task_id, turn, call)
            except _SubjectChanged:
                continue

    async def _try_turn(
        self, subject: str, owner: Owner, task_id: str, turn: Transition, call: Call
    ) -> tuple[Task, bool]:
        def existing(read_set: ReadSet) -> TaskAndSubject:
            pair = TaskAndSubject.of(read_set, task_id)
            if pair is None:
                raise NotFound("no task of this id for this user")
            return pair

        def decide(read_set: ReadSet) -> Changes[Task]:
            pair = existing(read_set)
            if pair.task.subject_id != subject:
                raise _SubjectChanged
            turned = turn(pair)
            return Changes(
                turned.result,
                puts=turned.puts,
                head_fields=turned.head_fields,
                deletes=turned.deletes,
            )

        committed = await self._ledger.commit(
            owner,
            decide,
            ids=[task_id, subject],
            call=call,
            receipt=Receipt(
                lambda task: {"task_id": task_id}, lambda earlier, read_set: existing(read_set).task
            ),
            while_erasing=True,
        )
        return committed.result, committed.changes is not None


def _has_begun_hard_delete(pair: TaskAndSubject) -> bool:
    """Whether the task has begun a hard delete.

    No filter finds the deleted memories then, so no other task would strike their words elsewhere.
    """
    work = pair.subject.body if pair.task.kind == "forget" and pair.subject is not None else None
    return work is not None and work["plan"].get("mode") == "hard" and work["cursor"] is not None


def _cancelled(pair: TaskAndSubject, now: datetime) -> Changes[Task]:
    about = pair.subject
    deletes = unread(about.body) if about is not None and about.kind == "conversation" else ()
    return replace(
        pair.turned("cancelled", now, status="cancelled", next_enqueue_at=None), deletes=deletes
    )


def _cancelling(pair: TaskAndSubject, now: datetime) -> Changes[Task]:
    """Let the task go on under a new message, to remove its files and documents."""
    generation = pair.task.generation + 1
    return pair.turned(
        CANCELLING,
        now,
        status="accepted",
        step=CANCELLING,
        generation=generation,
        next_enqueue_at=now,
    )


# The poisoned tasks of all users of an app, for its operator to mend the cause and retry.
#
# Note: the store may return tasks of an epoch that was erased since. So each task is compared with
# its owner's head, and a page may be short though more follow. A poisoned erasure belongs to the
# new epoch, so it is listed.


_BOUND = {"list": "poisoned tasks"}


class PoisonedTasks:
    """Reads the poisoned tasks of a whole app.

    It takes a single query, and a read of the head for each user on the page.
    """

    def __init__(self, store: LongTermStore, cursors: Cursors) -> None:
        self._store, self._cursors = store, cursors

    async def page(self, app_id: str, cursor: str | None, limit: int) -> OwnedTaskPage:
        """A page of poisoned tasks, the newest first.

        Args:
            app_id: Id of the app.
            cursor: None for the first page.
            limit: Tasks on a page at most.

        Raises:
            Malformed: The cursor is not valid for this list.

        """
        given = self._cursors.read_for_app(app_id, _BOUND, cursor)
        documents = await self._store.poisoned(
            app_id, None if given is None else Place(*given), limit + 1
        )
        page = documents[:limit]
        following = None
        if len(documents) > limit:
            document = page[-1][1]
            following = self._cursors.make_for_app(
                app_id, _BOUND, (document.body["sequence"], document.id)
            )
        heads = await self._heads({owner for owner, _ in page})
        tasks = [(owner, task_in(document, heads[owner])) for owner, document in page]
        return OwnedTaskPage(
            tuple((owner.user_id, task.task) for owner, task in tasks if task is not None),
            following,
        )

    async def _heads(self, owners: set[Owner]) -> dict[Owner, Head | None]:
        looks = await asyncio.gather(*(self._store.snapshot(owner) for owner in owners))
        return {owner: read_set.head for owner, read_set in zip(owners, looks, strict=True)}


# The hourly sweep: send tasks again whose message was lost or never sent, for the users with
# waiting work.
#
# Note: the generation is raised before the message is sent. So a delayed message that arrives after
# all is recognised as old; otherwise both would be worked on.


GRACE = timedelta(minutes=1)
"""How late a message may be before it counts as lost; doubled with each generation,
since a queue may just be long.
"""
MAX_SENT = 2_000
OWNERS_A_PAGE = 100
log = logging.getLogger(__name__)


class Sweep:
    """Finds tasks that no worker received."""

    def __init__(
        self, store: LongTermStore, tasks: Tasks, queue: TaskQueue, clock: Clock, ids: IdSource
    ) -> None:
        self._store, self._tasks, self._queue, self._clock, self._ids = (
            store,
            tasks,
            queue,
            clock,
            ids,
        )

    async def run(self, *, dry_run: bool = False, limit: int = MAX_SENT) -> Swept:
        """Send overdue tasks again.

        Args:
            dry_run: Only count the tasks.
            limit: Tasks that are sent, or counted, at most.

        Raises:
            Unavailable: The store or the queue is down.

        """
        users = due = sent = 0
        after: Owner | None = None
        while page := await self._store.waiting(after, OWNERS_A_PAGE):
            for owner, head in page:
                users += 1
                for overdue in await self._due(owner, head):
                    if due == limit:
                        return Swept(users, due, sent, capped=True)
                    due += 1
                    sent += not dry_run and await self._send_again(owner, overdue)
            after = page[-1][0]
        return Swept(users, due, sent, capped=False)

    async def _due(self, owner: Owner, head: Head) -> list[StoredTask]:
        """The user's unfinished tasks that are overdue.

        The search ends when it has found as many unfinished tasks as the head counts.
        """
        waiting: list[StoredTask] = []
        after: Place | None = None
        while (missing := head.pending_tasks - len(waiting)) > 0:
            unfinished, after = await self._tasks.some(
                owner, head, lambda task: not task.finished, after, missing
            )
            waiting += unfinished
            if after is None:
                break
        now = self._clock.now()
        return [stored_task for stored_task in waiting if overdue(stored_task.task, now)]

    async def _send_again(self, owner: Owner, stored_task: StoredTask) -> bool:
        """Raise the generation, then send; False if another process came first."""
        task, now = stored_task.task, self._clock.now()
        generation = task.generation + 1
        name = self._ids.new("swp")  # two sweeps must not write equal documents, or both would win
        changed = stored_task.changed(
            generation=generation,
            next_enqueue_at=now,
            leased_by=name,
            leased_until=None,
            updated_at=now,
        )
        if await put_with_retry(self._store, owner, changed) is None:
            return False
        message = message_for(owner, task.changed(generation=generation))
        await self._queue.send(queue_of(task.kind), message.model_dump_json())
        log.info("the task %s was sent again", task.task_id)
        return True


def overdue(task: Task, now: datetime) -> bool:
    """Whether no worker has the task, though its message is long overdue.

    Args:
        task: As it was read.
        now: The present time.

    """
    if is_written_ahead(task.updated_at, now):
        return True
    expected = max(task.next_enqueue_at or task.updated_at, task.leased_until or task.updated_at)
    late: bool = now > expected + GRACE * 2 ** min(task.generation, 8)
    return late
