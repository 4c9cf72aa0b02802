"""Begin a task, end it, and tell the queues that there is work.

Note: the queue is told after the commit and may be down. That refuses nothing:
what is stored is found by the sweep.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Unpack

from pydantic import ConfigDict, ValidationError

from memory_core.domain.conversation import Task, TaskFields, TaskKind, TaskMessage
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import FieldError, Malformed, Unavailable
from memory_core.domain.memory import Head, HeadFields
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import Changes, HeadChange
from memory_core.ledger.commit import Ledger, ReadSet
from memory_core.ledger.ids import earlier_result, receipt, receipt_id
from memory_core.ports import Clock, Document, QueueName, TaskQueue
from memory_core.tasks.leases import TaskLost
from memory_core.tasks.store import TaskAndSubject, counted, webhook_task_id, written


class Beginning:
    """Stores new tasks with what they are about, and sends them on their way."""

    def __init__(self, ledger: Ledger, queue: TaskQueue) -> None:
        self._ledger, self._queue = ledger, queue

    async def begin(
        self,
        owner: Owner,
        task: Task,
        subject: Callable[[ReadSet], Sequence[Document]],
        call: Call,
        *,
        reads: Sequence[str] = (),
        fragile: bool = False,
        head_fields: HeadChange = lambda head: {},
        beside: Callable[[ReadSet], Changes[Any]] | None = None,
        basis: ReadSet | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> Accepted:
        """One commit, and one message unless the task is to wait, or a worker has it. The earlier
        task when this very call was made before.

        subject: what the task is about, from a look that shows the documents `reads`; it raises
        when what it sees forbids the task. fragile: any other commit of this user means looking
        again. head_fields: what of the head changes with it. beside: documents and memories that
        are written with it, by the same look, and what they change in the head. basis: what `look`
        showed. result: what the receipt says besides the task's id. Raises Conflict,
        TooLarge, Unavailable; TaskLost where another worker has the task.
        """

        def decide(look: ReadSet) -> Changes[str]:
            if (earlier := _begun_before(look, owner, task, call)) is not None:
                return Changes(earlier)
            creates = (
                *subject(look),
                written(task),
                *receipt(owner, call, task.created_at, {"task_id": task.task_id, **(result or {})}),
            )
            more = Changes(None) if beside is None else beside(look)

            def fields(head: Head) -> HeadFields:
                counts: HeadFields = {**counted(+1)(head), **head_fields(head)}
                return {**counts, **more.head_fields(head.changed(**counts))}

            return Changes(
                task.task_id,
                more.changes,
                more.puts,
                (*creates, *more.creates),
                reads=more.reads,
                sessions=more.sessions,
                head_fields=fields,
                fragile=fragile,
                more_bytes=more.more_bytes,
            )

        ids = _read_ids(owner, task, reads, call)
        committed = await self._ledger.commit(owner, decide, ids=ids, basis=basis, call=call)
        waits = task.next_enqueue_at is not None and task.next_enqueue_at > task.created_at
        if committed.result != task.task_id or waits or task.leased_by is not None:
            return Accepted(committed.result)
        return Accepted(task.task_id, await self.tell(owner, task))

    async def look(self, owner: Owner, task: Task, reads: Sequence[str], call: Call) -> ReadSet:
        """What a task that reads these documents is begun on."""
        return await self._ledger.look(owner, _read_ids(owner, task, reads, call))

    async def tell(self, owner: Owner, task: Task) -> tuple[str, ...]:
        """Put the task's message into its queue: nothing, or `("queue",)` when that was not
        possible; then the sweep does it.
        """
        return await tell(self._queue, queue_of(task.kind), message_for(owner, task))


def _begun_before(look: ReadSet, owner: Owner, task: Task, call: Call) -> str | None:
    """The id of the task that this very call began before. Raises TaskLost.

    Args:
        look: What was read.
        owner: Whose task it is.
        task: As it is to be begun.
        call: The caller and the idempotency key.

    """
    earlier = earlier_result(look.documents, owner, call)
    if earlier is not None:
        return str(earlier["task_id"])
    if (stored := look.documents.get(task.task_id)) is None:
        return None
    if stored.body["leased_by"] != task.leased_by is not None:
        raise TaskLost  # another worker began it
    return task.task_id  # an earlier try, whose answer was lost


def _read_ids(owner: Owner, task: Task, reads: Sequence[str], call: Call) -> list[str]:
    name = receipt_id(owner, call)
    return [task.task_id, *reads, *([name] if name else [])]


ACTOR = "formation"


class Ends:
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
        """End a task while it is of `task`'s generation: it gets `fields`, what it is about `state`
        and the fields `subject`.

        None when another worker ended it, or began it again. Raises Unavailable, HeadMoved.
        """

        def decide(look: ReadSet) -> Changes[Task | None]:
            pair = TaskAndSubject.of(look, task.task_id)
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
        """Tell the queue of the delivery that follows a task's end, if one does.
        When it can't be told, the sweep does it.
        """
        if task.finished and task.delivery_ids:
            identity = webhook_task_id(task.delivery_ids[-1])
            await tell(
                self._queue,
                "webhooks",
                TaskMessage(
                    app_id=owner.app_id, user_id=owner.user_id, task_id=identity, generation=0
                ),
            )


# Messages that say that there is work: what is in one, which queue a task's go to, and telling it.
#
# Note: a queue that can't be told refuses nothing. What is stored is found by the sweep.


OPERATIONS: frozenset[TaskKind] = frozenset(
    {"decay", "archive", "forget", "export", "import", "erase", "consolidate", "reembed"}
)
"""Kinds whose work is an operation over many memories (`operations`)."""
TELL_WITHIN_S = 2.0
"""What a caller waits at most for the queue."""
log = logging.getLogger(__name__)


def queue_of(kind: TaskKind) -> QueueName:
    """The queue that tasks of a kind are worked from."""
    if kind == "webhook":
        return "webhooks"
    return "consolidation" if kind in OPERATIONS else "formation"


def message_for(owner: Owner, task: Task) -> TaskMessage:
    """The message that asks for the work on a task."""
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
    """Says that a user's consolidation is due: its receiver begins the run, if it still is.

    tick: when this was found, of the hour's message or of a save. waits: how often it was put off
    because the store was away.
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
        """Whose run it is."""
        return Owner(self.app_id, self.user_id)


async def tell(
    queue: TaskQueue, name: QueueName, message: TaskMessage, delay: timedelta = timedelta(0)
) -> tuple[str, ...]:
    """Put a task's message into its queue: nothing, or `("queue",)` when that was not possible;
    then the sweep does it.
    """
    failed = await _failed(queue, name, message.model_dump_json(), delay)
    if failed is not None:
        log.warning(
            "the task %s waits for the sweep, because the queue could not be told: %s",
            message.task_id,
            failed,
        )
        return ("queue",)
    return ()


async def tell_due(
    queue: TaskQueue, owner: Owner, now: datetime, delay: timedelta = timedelta(0)
) -> None:
    """Say that a user's consolidation is due, without waiting for the hour; when the queue can't be
    told, the hour does it.
    """
    message = DueMessage(app_id=owner.app_id, user_id=owner.user_id, tick=now)
    failed = await _failed(queue, "consolidation", message.model_dump_json(), delay)
    if failed is not None:
        log.warning(
            "a consolidation waits for the hour, because the queue could not be told: %s", failed
        )


async def _failed(
    queue: TaskQueue, name: QueueName, body: str, delay: timedelta
) -> Exception | None:
    try:
        async with asyncio.timeout(TELL_WITHIN_S):
            await queue.send(name, body, delay=delay)
    except (Unavailable, TimeoutError) as error:
        return error
    return None


# So many new memories that their consolidation need not wait for the hour.
#
# Note: this is best effort, and said once, by the commit that crosses the threshold. When the
# message is lost the hour finds the user, who is due anyway. And it is not said at once: a caller
# who has just saved twenty is likely to save on, and a run beside that makes both slower (8
# clients: 600 operations a second without, 60 with one).


GATHERING = timedelta(minutes=1)
"""How long new memories wait for more; no longer than `pause`."""


class Threshold:
    """Says that a run is due a minute after `enough` memories have been made since the last one,
    but not before `pause` after that.

    first: after which time the first memory of a user makes a run due; None: it does not.
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

    async def gathered(
        self, owner: Owner, before: int, after: int, settled_at: datetime | None
    ) -> None:
        """Told by each commit how many there were and are, and when the last run was
        (`ledger.commit.Gathered`).
        """
        if self._first is not None and settled_at is None and before == 0 < after:
            await tell_due(self._queue, owner, self._clock.now(), self._first)
        if before < self._enough <= after:
            now, soon = self._clock.now(), min(GATHERING, self._pause)
            await tell_due(
                self._queue,
                owner,
                now,
                soon if settled_at is None else max(soon, min(settled_at, now) + self._pause - now),
            )
