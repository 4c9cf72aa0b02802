"""Begin a task, end it, and notify the queues.

Note: the queue is notified after the commit, and may be down. The call succeeds all the same: the
sweep finds tasks that are stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Unpack

from pydantic import ConfigDict, ValidationError

from memory_core.domain.conversation import Task, TaskFields, TaskKind, TaskMessage
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import FieldError, Malformed, Unavailable
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Changes, both_changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import Reads, ReadSet, no_further
from memory_core.ledger.receipts import Receipt, receipt_ids
from memory_core.ports import Clock, QueueName, TaskQueue
from memory_core.tasks.leases import TaskLost
from memory_core.tasks.store import TaskAndSubject, count_change, task_document, webhook_task_id


class TaskStarter:
    """Stores new tasks with their subjects, and sends their messages."""

    def __init__(self, ledger: Ledger, queue: TaskQueue) -> None:
        self._ledger, self._queue = ledger, queue

    async def begin(
        self,
        owner: Owner,
        task: Task,
        made: Callable[[ReadSet], Changes[Any]],
        call: Call,
        *,
        reads: Sequence[str] = (),
        further: Reads = no_further,
        basis: ReadSet | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> Accepted:
        """Store a task in a single commit, and send its message.

        No message is sent if the task is to wait, or a worker has it.

        Args:
            owner: Whose task it is.
            task: Task to store.
            made: Makes what is written with the task, such as the document that it is about, from
                a read set with the documents `reads`. It raises an error if the read set forbids
                the task.
            call: Call with its idempotency key, if any.
            reads: Ids of documents that `made` needs.
            further: Names the documents that `made` needs besides, by what was read.
            basis: A read set as `look` returned it; None reads it first.
            result: Fields of the receipt besides the task's id.

        Returns:
            The earlier task if this very call was made before.

        Raises:
            Conflict: `made` refuses the task.
            KeyReused: The idempotency key was used for another body.
            TooLarge: The documents don't fit into a commit.
            Unavailable: The store is down.
            TaskLost: Another worker has the task.

        """

        def decide(read_set: ReadSet) -> Changes[str]:
            return (
                Changes(task.task_id)
                if _is_begun(read_set, task)
                else _with_task(made(read_set), task)
            )

        committed = await self._ledger.commit(
            owner,
            decide,
            ids=_read_ids(owner, task, reads, call),
            reads=further,
            basis=basis,
            call=call,
            receipt=Receipt(
                lambda task_id: {"task_id": task_id, **(result or {})},
                lambda earlier, read_set: str(earlier["task_id"]),
            ),
        )
        waits = task.next_enqueue_at is not None and task.next_enqueue_at > task.created_at
        if committed.result != task.task_id or waits or task.leased_by is not None:
            return Accepted(committed.result)
        return Accepted(task.task_id, await self.send(owner, task))

    async def look(self, owner: Owner, task: Task, reads: Sequence[str], call: Call) -> ReadSet:
        """The read set on which a task with these `reads` begins.

        Args:
            owner: Whose task it is.
            task: Task to begin.
            reads: Ids of documents that the task begins on.
            call: Call with its idempotency key, if any.

        """
        return await self._ledger.look(owner, _read_ids(owner, task, reads, call))

    async def send(self, owner: Owner, task: Task) -> tuple[str, ...]:
        """Put the task's message into its queue.

        Args:
            owner: Whose task it is.
            task: Task that is stored.

        Returns:
            `("queue",)` if that was impossible, else empty. The sweep then sends the message.

        """
        return await send_task(self._queue, queue_of(task.kind), message_for(owner, task))


def _is_begun(read_set: ReadSet, task: Task) -> bool:
    """Whether an earlier try, whose answer was lost, began the task. Raises TaskLost.

    Args:
        read_set: What was read.
        task: As it is to be begun.

    """
    stored = read_set.documents.get(task.task_id)
    if stored is not None and stored.body["leased_by"] != task.leased_by is not None:
        raise TaskLost  # another worker began it
    return stored is not None


def _with_task(changes: Changes[Any], task: Task) -> Changes[str]:
    """What is written with a task, and the task, which the head counts."""
    return replace(
        changes,
        result=task.task_id,
        creates=(*changes.creates, task_document(task)),
        head_fields=both_changes(count_change(+1), changes.head_fields),
    )


def _read_ids(owner: Owner, task: Task, reads: Sequence[str], call: Call) -> list[str]:
    return [task.task_id, *reads, *receipt_ids(owner, call)]


ACTOR = "formation"


class TaskFinisher:
    """Ends tasks."""

    def __init__(self, ledger: Ledger, queue: TaskQueue, clock: Clock) -> None:
        self._ledger, self._queue, self._clock = ledger, queue, clock

    async def end(
        self,
        owner: Owner,
        task: Task,
        state: str,
        *,
        subject: Mapping[str, Any] | None = None,
        **fields: Unpack[TaskFields],
    ) -> Task | None:
        """End a task, unless another worker ended it or began it again.

        Args:
            owner: Whose task it is.
            task: As this worker knows it; its generation must be the present generation.
            state: State of the task's subject.
            subject: Further fields of the task's subject.
            **fields: Fields of the task.

        Returns:
            None if another worker ended the task, or began it again.

        Raises:
            HeadMoved: Other writers were faster until the deadline.
            Unavailable: The store is down.

        """

        def decide(read_set: ReadSet) -> Changes[Task | None]:
            pair = TaskAndSubject.of(read_set, task.task_id)
            if (
                pair is None
                or pair.task.finished
                or (pair.task.generation, pair.task.subject_id)
                != (task.generation, task.subject_id)
            ):
                return Changes(None)
            ended: TaskFields = {**fields, "next_enqueue_at": None}
            turned = pair.turned(state, self._clock.now(), subject=subject or {}, **ended)
            return Changes(turned.result, puts=turned.puts, head_fields=turned.head_fields)

        ids = [task.task_id, task.subject_id]
        committed = await self._ledger.commit(
            owner, decide, ids=ids, call=Call(task.correlation_id, actor=ACTOR), while_erasing=True
        )
        if committed.result is not None:
            await self.announce(owner, committed.result)
        return committed.result

    async def announce(self, owner: Owner, task: Task) -> None:
        """Send the message of the delivery that follows a task's end, if any.

        If that fails, the sweep sends it.

        Args:
            owner: Whose task it is.
            task: As it ended.

        """
        if task.finished and task.delivery_ids:
            identity = webhook_task_id(task.delivery_ids[-1])
            await send_task(
                self._queue,
                "webhooks",
                TaskMessage(
                    app_id=owner.app_id, user_id=owner.user_id, task_id=identity, generation=0
                ),
            )


# Messages for work: their content, the queue of each kind of task, and how they are sent.
#
# Note: a call does not fail if its queue is down, since the sweep finds stored work.


OPERATIONS: frozenset[TaskKind] = frozenset(
    {"decay", "archive", "forget", "export", "import", "erase", "consolidate", "reembed"}
)
"""Kinds whose work is an operation over many memories (`operations`)."""
LONGEST_DELAY = timedelta(days=7)
"""The longest delay of a queue. A message that comes too early by it is put off again."""
SEND_WITHIN_S = 2.0
"""How many seconds a caller waits for the queue at most."""
log = logging.getLogger(__name__)


def queue_of(kind: TaskKind) -> QueueName:
    """The queue for tasks of a kind."""
    if kind == "webhook":
        return "webhooks"
    return "consolidation" if kind in OPERATIONS else "formation"


def message_for(owner: Owner, task: Task) -> TaskMessage:
    """The message that asks for the work on a task.

    Args:
        owner: Whose task it is.
        task: Task with its generation.

    """
    return TaskMessage(
        app_id=owner.app_id, user_id=owner.user_id, task_id=task.task_id, generation=task.generation
    )


def message_of(body: str) -> TaskMessage:
    """The message in a queue's body. Raises Malformed."""
    try:
        return TaskMessage.model_validate_json(body)
    except ValidationError as error:
        fields = tuple(
            FieldError(".".join(map(str, problem["loc"])), problem["msg"])
            for problem in error.errors(include_url=False, include_input=False)
        )
        raise Malformed("a message that is not one of ours", errors=fields) from None


class DueMessage(DeferredModel):
    """Says that a user's consolidation is due.

    Its receiver begins the run, if it is still due.

    Attributes:
        app_id: Id of the app.
        user_id: Id of the user.
        tick: When this was found: the time of the hourly message, or of a save.
        waits: How often the message was put off because the store was down.

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    app_id: str
    user_id: str
    tick: datetime
    waits: int = 0

    def put_off(self) -> DueMessage:
        """The message as it is sent again after a wait."""
        return self.model_copy(update={"waits": self.waits + 1})

    @property
    def owner(self) -> Owner:
        """The owner whose consolidation is due."""
        return Owner(self.app_id, self.user_id)


async def send_task(
    queue: TaskQueue, name: QueueName, message: TaskMessage, delay: timedelta = timedelta(0)
) -> tuple[str, ...]:
    """Put a task's message into its queue.

    Args:
        queue: Queue that receives it.
        name: Name of the queue.
        message: Message of the task.
        delay: Until the message is visible; no longer than `LONGEST_DELAY`.

    Returns:
        `("queue",)` if that was impossible, else empty. The sweep then sends the message.

    """
    failed = await _failed(queue, name, message.model_dump_json(), min(delay, LONGEST_DELAY))
    if failed is not None:
        log.warning(
            "the task %s waits for the sweep, because its message could not be sent: %s",
            message.task_id,
            failed,
        )
        return ("queue",)
    return ()


async def send_due(
    queue: TaskQueue, owner: Owner, now: datetime, delay: timedelta = timedelta(0)
) -> None:
    """Send the message that a user's consolidation is due, without waiting for the hour.

    If that fails, the hourly work begins the consolidation.

    Args:
        queue: Queue that receives it.
        owner: Whose consolidation is due.
        now: The present time.
        delay: Until the message is visible.

    """
    message = DueMessage(app_id=owner.app_id, user_id=owner.user_id, tick=now)
    failed = await _failed(queue, "consolidation", message.model_dump_json(), delay)
    if failed is not None:
        log.warning(
            "a consolidation waits for the hour, because its message could not be sent: %s", failed
        )


async def _failed(
    queue: TaskQueue, name: QueueName, body: str, delay: timedelta
) -> Exception | None:
    try:
        async with asyncio.timeout(SEND_WITHIN_S):
            await queue.send(name, body, delay=delay)
    except (Unavailable, TimeoutError) as error:
        return error
    return None


# A run before the hour, after many new memories.
#
# Note: this is best effort, and sent once, by the commit that crosses the threshold. If the message
# is lost, the hourly work finds the user, who is due anyway. It is sent with a delay: a caller who
# has just saved twenty memories will probably save more, and a concurrent run slows both (8
# clients: 600 operations a second without it, 60 with it).


RUN_DELAY = timedelta(minutes=1)
"""How long new memories wait for more; no longer than `pause`."""


class ConsolidationTrigger:
    """Requests a run a minute after `enough` memories were made since the last run.

    It is requested for `pause` after the last run at the earliest. `first` is the time after which
    the first memory of a user makes a run due; None if it doesn't.
    """

    def __init__(
        self,
        queue: TaskQueue,
        clock: Clock,
        enough: int,
        pause: timedelta,
        first: timedelta | None = None,
    ) -> None:
        self._queue, self._clock, self._enough, self._pause, self._first = (
            queue,
            clock,
            enough,
            pause,
            first,
        )

    async def check(
        self, owner: Owner, before: int, after: int, settled_at: datetime | None
    ) -> None:
        """Request a run if enough memories wait for it; called after each commit.

        Args:
            owner: Whose memories they are.
            before: Memories made since the last run, before the commit.
            after: Memories made since the last run, after the commit.
            settled_at: When the last run was; None if there was none.

        """
        if self._first is not None and settled_at is None and before == 0 < after:
            await send_due(self._queue, owner, self._clock.now(), self._first)
        if before < self._enough <= after:
            now, soon = self._clock.now(), min(RUN_DELAY, self._pause)
            await send_due(
                self._queue,
                owner,
                now,
                soon if settled_at is None else max(soon, min(settled_at, now) + self._pause - now),
            )
