"""Operations: work over many memories, in several commits, by a frozen plan.

The plan is frozen when the operation is requested. An operation is the subject of a task. Each
chunk advances its cursor in the chunk's own batch. So a worker that is killed leaves the operation
between two chunks, and two workers do every chunk once. Note: the stored operation says how far it
is, whichever worker did a chunk. A worker goes on from the stored state, never from its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from memory_core.domain.conversation import Task, TaskFields, TaskKind
from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Head
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Changes, HeadChange, both_changes, no_change
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import Reads, ReadSet, no_further
from memory_core.ports import Clock, Document, IdSource
from memory_core.tasks.leases import Lease, Leases, TaskLost
from memory_core.tasks.lifecycle import TaskFinisher, TaskStarter
from memory_core.tasks.operation_records import (
    Chunk,
    Operation,
    advanced_operation,
    current_operation,
    operation_id,
    operation_in,
    sum_counts,
    with_chunk,
    with_task,
)
from memory_core.tasks.store import LIFETIME, TaskAndSubject

Decide = Callable[[ReadSet, Operation], Chunk]
Refuse = Callable[[ReadSet], None]
Beside = Callable[[ReadSet], Changes[Any]]
_PROGRESS = ("state", "cursor", "counts")
"""Fields that tell how far an operation is."""


class Operations:
    """Begins operations and commits their chunks."""

    def __init__(
        self,
        ledger: Ledger,
        starter: TaskStarter,
        finisher: TaskFinisher,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._ledger, self._starter, self._finisher = ledger, starter, finisher
        self._clock, self._ids = clock, ids

    async def begin(
        self,
        owner: Owner,
        kind: TaskKind,
        plan: Mapping[str, Any],
        call: Call,
        *,
        due: datetime | None = None,
        refuse: Refuse | None = None,
        reads: Sequence[str] = (),
        task_id: str | None = None,
        head_fields: HeadChange = no_change,
        beside: Beside | None = None,
        further: Reads = no_further,
    ) -> Accepted:
        """Store an operation with its task, and send its message.

        It is durable when this returns. An operation that is due later is sent by the code that
        makes it due.

        Args:
            owner: Whose operation it is.
            kind: Kind of the task.
            plan: The request, frozen.
            call: Call with its idempotency key, if any.
            due: When it may begin; None for now.
            refuse: Receives a read set with the documents `reads`, and raises an error if it
                forbids the operation.
            reads: Ids of documents that the callbacks need.
            task_id: A fixed id lets the operation begin once only; None for a new id.
            head_fields: Makes further fields of the head.
            beside: Makes documents that are written with the operation, from the same read set.
            further: Names the documents that `beside` needs, by what was read.

        Raises:
            Conflict: `refuse` refuses the operation.
            Unavailable: The store is down.
            Exception: Any error that `beside` raises.

        """
        task, subject = self._new(task_id or self._ids.new("tsk"), kind, plan, call, due)

        def made(read_set: ReadSet) -> Changes[Any]:
            if refuse is not None:
                refuse(read_set)
            more = Changes(None) if beside is None else beside(read_set)
            return replace(
                more,
                creates=(subject, *more.creates),
                head_fields=both_changes(head_fields, more.head_fields),
                fragile=refuse is not None or beside is not None,
            )

        return await self._starter.begin(owner, task, made, call, reads=reads, further=further)

    async def begin_leased(
        self,
        owner: Owner,
        kind: TaskKind,
        plan: Mapping[str, Any],
        call: Call,
        leases: Leases,
        head: Head,
        *,
        refuse: Refuse,
        reads: Sequence[str],
        task_id: str,
        head_fields: HeadChange,
    ) -> Lease:
        """Store an operation with its task, which this worker has from the beginning.

        No message is sent: if the worker dies, the sweep finds the task. Without `reads` no
        document is read.

        Args:
            owner: Whose operation it is.
            kind: Kind of the task.
            plan: The request, frozen.
            call: Call on whose behalf it begins.
            leases: Make the lease.
            head: Head that the plan rests on.
            refuse: Receives a read set with the documents `reads`, and raises an error if it
                forbids the operation.
            reads: Ids of documents that `refuse` needs.
            task_id: Id of the task.
            head_fields: Makes further fields of the head.

        Raises:
            Conflict: `refuse` refuses the operation.
            Unavailable: The store is down.
            TaskLost: Another worker has begun it.

        """
        task, subject = self._new(task_id, kind, plan, call, None)
        task = leases.taken(task)

        def made(read_set: ReadSet) -> Changes[Any]:
            refuse(read_set)
            return Changes(None, creates=(subject,), head_fields=head_fields, fragile=True)

        basis = None if reads else ReadSet(head, {}, asked=frozenset({task_id}))
        await self._starter.begin(owner, task, made, call, reads=reads, basis=basis)
        stored = {"epoch": head.epoch, "sequence": head.sequence}
        begun = replace(subject, body={**subject.body, **stored})
        return leases.begun(owner, task, begun, head.epoch)

    def _new(
        self,
        task_id: str,
        kind: TaskKind,
        plan: Mapping[str, Any],
        call: Call,
        due: datetime | None,
    ) -> tuple[Task, Document]:
        """A task and the document of its operation."""
        now = self._clock.now()
        operation = Operation(
            id=operation_id(task_id),
            kind=kind,
            task_id=task_id,
            plan=dict(plan),
            actor=call.actor,
            correlation_id=call.correlation_id,
            created_at=now,
        )
        task = Task(
            task_id=task_id,
            kind=kind,
            created_at=now,
            updated_at=now,
            subject_id=operation.id,
            next_enqueue_at=due or now,
            correlation_id=call.correlation_id,
        )
        return task, Document(operation.id, "operation", operation.model_dump(mode="json"))

    async def of(self, lease: Lease) -> Operation:
        """The stored operation of a lease's task. Raises NotFound."""
        read_set = await self._ledger.look(lease.owner, [lease.task.subject_id])
        return current_operation(read_set, lease.task.subject_id)

    async def advance(
        self,
        lease: Lease,
        operation: Operation,
        ids: Sequence[str],
        decide: Decide,
        *,
        reads: Reads = no_further,
        basis: ReadSet | None = None,
    ) -> Operation:
        """Commit the next chunk of an operation.

        If another worker did this chunk, `decide` is not called, or its result is thrown away.

        Args:
            lease: Lease of the operation's task.
            operation: As this worker knows it.
            ids: Ids of documents that `decide` needs, besides the operation.
            decide: Makes the chunk from a read set and the stored operation.
            reads: Names the documents that `decide` needs besides, by what was read.
            basis: A read set with these documents and the operation; None reads it first.

        Returns:
            The operation as it is then.

        Raises:
            TaskLost: The task has ended otherwise.
            Exception: Any error that `decide` or `Ledger.commit` raises.

        """
        task_id, ended = lease.task.task_id, list[Task]()

        def changes(read_set: ReadSet) -> Changes[Operation]:
            ended.clear()
            pair = TaskAndSubject.of(read_set, task_id)
            return self._advanced(pair, operation, partial(decide, read_set), ended)

        committed = await self._ledger.commit(
            lease.owner,
            changes,
            ids=[task_id, operation.id, *ids],
            reads=reads,
            basis=None if basis is None else with_task(basis, lease),
            call=operation.call,
            while_erasing=True,
        )
        for task in ended if committed.changes is not None else ():
            await self._finisher.announce(lease.owner, task)
        return committed.result

    def _advanced(
        self,
        pair: TaskAndSubject | None,
        known: Operation,
        decide: Callable[[Operation], Chunk],
        ended: list[Task],
    ) -> Changes[Operation]:
        """The next chunk with its operation; none if the operation is further than is known.

        `ended` gets the task that ends with it. Raises TaskLost.
        """
        if pair is None or pair.subject is None or pair.subject.id != known.id:
            raise TaskLost
        stored = operation_in(pair.subject)
        if any(getattr(stored, name) != getattr(known, name) for name in _PROGRESS):
            return Changes(stored)
        if pair.task.finished:
            raise TaskLost
        chunk = decide(stored)
        further = stored.changed(
            plan=stored.plan if chunk.plan is None else dict(chunk.plan),
            cursor=chunk.cursor,
            counts=sum_counts(stored.counts, chunk.counts),
        )
        made = (
            self._ended(pair, further, chunk, ended)
            if chunk.done
            else advanced_operation(pair.subject, further)
        )
        return with_chunk(made, chunk)

    async def amend(
        self,
        owner: Owner,
        task_id: str,
        change: Callable[[Operation], Any],
        call: Call,
        *,
        due: bool = False,
    ) -> Task:
        """Commit a new cursor of an operation that has no worker yet.

        Args:
            owner: Whose operation it is.
            task_id: Id of its task.
            change: Makes the cursor from the stored operation.
            call: Call on whose behalf it is changed.
            due: Whether the operation may have a worker from now on.

        Returns:
            The operation's task.

        Raises:
            NotFound: The owner has no such operation.
            Exception: Any error that `change` raises.

        """

        def changes(read_set: ReadSet) -> Changes[Task]:
            pair = TaskAndSubject.of(read_set, task_id)
            if pair is None or pair.subject is None or pair.subject.kind != "operation":
                raise NotFound("no task of this id of this kind for this user")
            stored, now = operation_in(pair.subject), self._clock.now()
            advanced = advanced_operation(pair.subject, stored.changed(cursor=change(stored)))
            fields: TaskFields = {"updated_at": now}
            if due:
                fields |= {"next_enqueue_at": now, "step": None}
            return Changes(
                pair.task.changed(**fields),
                puts=(*advanced.puts, pair.task_state.changed(**fields)),
                fragile=True,
            )

        subject = operation_id(task_id)
        committed = await self._ledger.commit(owner, changes, ids=[task_id, subject], call=call)
        return committed.result

    async def look(self, owner: Owner, ids: Sequence[str]) -> ReadSet:
        """These documents of an owner as they are now.

        Args:
            owner: Whose documents they are.
            ids: Ids of the documents.

        """
        return await self._ledger.look(owner, ids)

    async def check_room(self, owner: Owner, size: int) -> None:
        """Check that a user has room for more memories.

        Args:
            owner: Whose memories they are.
            size: Their bytes.

        Raises:
            QuotaExceeded: There is no room.
            Unavailable: The store is down.

        """
        await self._ledger.check_room(owner, (await self._ledger.look(owner, [])).head, size)

    async def task_and_operation(
        self, owner: Owner, task_id: str, kind: TaskKind
    ) -> tuple[Task, Operation]:
        """A task of a kind, and its operation.

        Args:
            owner: Whose task it is.
            task_id: Id of the task.
            kind: Kind that the task must have.

        Raises:
            NotFound: The owner has no such task.

        """
        pair = TaskAndSubject.of(
            await self._ledger.look(owner, [task_id, operation_id(task_id)]), task_id
        )
        if pair is None or pair.subject is None or pair.task.kind != kind:
            raise NotFound(
                f"no {kind} of this id for this user; finished ones are kept for "
                f"{LIFETIME.days} days"
            )
        return pair.task, operation_in(pair.subject)

    async def current(self, owner: Owner, task_id: str) -> Operation | None:
        """The operation of a task as it is now.

        Args:
            owner: Whose task it is.
            task_id: Id of the task.

        Returns:
            None if it is gone, perhaps with its user.

        """
        pair = TaskAndSubject.of(
            await self._ledger.look(owner, [task_id, operation_id(task_id)]), task_id
        )
        return None if pair is None or pair.subject is None else operation_in(pair.subject)

    async def send(self, owner: Owner, task: Task) -> tuple[str, ...]:
        """Send the message of a task that has become due.

        Args:
            owner: Whose task it is.
            task: Task that is stored.

        """
        return await self._starter.send(owner, task)

    def _ended(
        self, pair: TaskAndSubject, operation: Operation, chunk: Chunk, ended: list[Task]
    ) -> Changes[Operation]:
        """The end of the operation and its task.

        The task is written over any state that its worker wrote meanwhile, because the operation
        decides.
        """
        result = {**({"counts": operation.counts} if chunk.counted else {}), **chunk.result}
        state = "done" if chunk.status == "succeeded" else chunk.status
        turned = pair.turned(
            state,
            self._clock.now(),
            subject={
                "plan": operation.plan,
                "cursor": operation.cursor,
                "counts": operation.counts,
            },
            status=chunk.status,
            step=None,
            progress=1.0 if chunk.status == "succeeded" else pair.task.progress,
            result=result,
            error=chunk.error,
            next_enqueue_at=None,
        )
        ended[:] = [turned.result]
        puts = tuple(
            replace(document, tag=None) if document.kind == "task" else document
            for document in turned.puts
            if chunk.leaves or document.id != operation.id
        )
        return Changes(
            operation.changed(state=state),
            puts=puts,
            head_fields=turned.head_fields,
            deletes=() if chunk.leaves else (Document(operation.id, "operation", {}),),
        )


RUN_REPORT_KEPT_FOR: Final = timedelta(days=30)
"""How long a run's report can be read."""
