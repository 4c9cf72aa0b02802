"""Operations: work over many memories, in as many commits as it takes, by a plan that is frozen
when it is asked for.

An operation is what a task is about. Each chunk of it advances its cursor in the chunk's own batch,
so a worker that is killed leaves it at a chunk's border, and two workers do every chunk once. Note:
whichever worker did a chunk, the operation as it is stored says how far it is; a worker goes on
from that, never from what it remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.conversation import Task, TaskFields, TaskKind, TaskStatus
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Head, HeadFields
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import Change, Changes, HeadChange, no_change
from memory_core.ledger.commit import Ledger, Mirror, ReadSet
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, IdSource, Mark
from memory_core.tasks.leases import Lease, Leases, TaskLost
from memory_core.tasks.lifecycle import Beginning, Ends
from memory_core.tasks.store import LIFETIME, TaskAndSubject

OF_THE_STORE = ("epoch", "sequence")


class OperationFields(TypedDict, total=False):
    """Fields of an operation that a commit replaces."""

    state: str
    plan: dict[str, Any]
    cursor: Any
    counts: dict[str, int]


class Operation(DeferredModel):
    """One operation. plan: what was asked, frozen. cursor: how far it is, in its own terms.
    counts: what was done so far.

    actor: who asked for it, as its events say.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    kind: TaskKind
    task_id: str
    state: str = "pending"
    plan: dict[str, Any] = Field(default_factory=dict)
    cursor: Any = None
    counts: dict[str, int] = Field(default_factory=dict)
    actor: str = "system"
    correlation_id: str | None = None
    created_at: datetime

    def changed(self, **fields: Unpack[OperationFields]) -> Operation:
        """The operation with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    @property
    def call(self) -> Call:
        """On whose behalf its commits are made."""
        return Call(self.correlation_id, actor=self.actor)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One commit's worth: changes of memories, further documents, where the cursor is after it,
    what it adds to the counts.

    done: it was the last; then the task ends as `status`, with `result` beside the counts, or alone
    where `counted` is false. plan: what takes the plan's place, when that is no longer needed and
    must not stay. leaves: whether the operation stays to be looked at after the end. All others are
    those of `Changes`.
    """

    changes: tuple[Change, ...] = ()
    puts: tuple[Document, ...] = ()
    creates: tuple[Document, ...] = ()
    cursor: Any = None
    counts: Mapping[str, int] = field(default_factory=dict)
    done: bool = False
    status: TaskStatus = "succeeded"
    error: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    counted: bool = True
    leaves: bool = True
    reads: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    fragile: bool = True
    head_fields: HeadChange = no_change
    deletes: tuple[Document, ...] = ()
    staged: tuple[Document, ...] = ()
    begins: str | None = None
    plan: Mapping[str, Any] | None = None
    marks: Mapping[str, Mark] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        """How many documents it writes besides those of its memories."""
        parts = (self.puts, self.creates, self.deletes, self.staged, self.marks)
        return sum(map(len, parts))

    def joined(self, further: Chunk) -> Chunk:
        """Both as one commit's worth: the further one was decided on what this one leaves.
        Neither of them is an end, nor begins an epoch.
        """
        written = {document.id for document in further.puts}
        gone = {document.id for document in further.deletes}
        return replace(
            further,
            changes=(*self.changes, *further.changes),
            puts=(
                *(document for document in self.puts if document.id not in written | gone),
                *further.puts,
            ),
            creates=(*self.creates, *further.creates),
            deletes=(
                *(document for document in self.deletes if document.id not in written | gone),
                *further.deletes,
            ),
            staged=(*self.staged, *further.staged),
            marks={**self.marks, **further.marks},
            counts=added(self.counts, further.counts),
            reads=self.reads | further.reads,
            sessions=self.sessions | further.sessions,
            fragile=self.fragile or further.fragile,
            head_fields=lambda head: _both(head, self.head_fields, further.head_fields),
        )


Decide = Callable[[ReadSet, Operation], Chunk]
Refuse = Callable[[ReadSet], None]
Beside = Callable[[ReadSet], Changes[Any]]


class Operations:
    """Begins operations and commits their chunks."""

    def __init__(
        self,
        ledger: Ledger,
        mirror: Mirror,
        beginning: Beginning,
        ends: Ends,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._ledger, self._mirror, self._beginning, self._ends = ledger, mirror, beginning, ends
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
        head_fields: HeadChange = lambda head: {},
        beside: Beside | None = None,
    ) -> Accepted:
        """Store an operation with its task, and send that on its way; one that is not due yet is
        sent by what makes it due.

        refuse: is shown the user as they are, with the documents `reads`, and raises when that
        forbids it. task_id: where it is to be a certain one, so that it begins once. head_fields:
        what of the head changes with it. beside: documents that are written with it, by the same
        look. Durable when it returns. Raises Conflict, Unavailable, and what `beside` raises.
        """
        task, subject = self._new(task_id or self._ids.new("tsk"), kind, plan, call, due)

        def made(look: ReadSet) -> list[Document]:
            if refuse is not None:
                refuse(look)
            return [subject]

        fragile = refuse is not None or beside is not None
        return await self._beginning.begin(
            owner,
            task,
            made,
            call,
            reads=reads,
            fragile=fragile,
            head_fields=head_fields,
            beside=beside,
        )

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
        """Store an operation with its task, which this worker has from the beginning. No message
        is sent: should the worker die, the sweep finds the task.

        head: what the plan rests on; where nothing has to be read, nothing is.
        Raises as `begin` does, and TaskLost where another worker has begun it.
        """
        task, subject = self._new(task_id, kind, plan, call, None)
        task = leases.taken(task)

        def made(look: ReadSet) -> list[Document]:
            refuse(look)
            return [subject]

        await self._beginning.begin(
            owner,
            task,
            made,
            call,
            reads=reads,
            fragile=True,
            head_fields=head_fields,
            basis=None if reads else ReadSet(head, {}, asked=frozenset({task_id})),
        )
        stored = {"epoch": head.epoch, "sequence": head.sequence}
        subject = replace(subject, body={**subject.body, **stored})
        return leases.begun(owner, task, subject, head.epoch)

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
        """The operation that a lease is for, as it is stored. Raises NotFound."""
        look = await self._ledger.look(lease.owner, [lease.task.subject_id])
        return operation_there(look, lease.task.subject_id)

    async def advance(
        self,
        lease: Lease,
        operation: Operation,
        ids: Sequence[str],
        decide: Decide,
        *,
        basis: ReadSet | None = None,
    ) -> Operation:
        """Commit the next chunk: the operation as it is then. `ids`: what `decide` needs to see,
        besides the operation. basis: a look that shows these and the operation, if there is one.

        When another worker did this chunk, `decide` is not asked (or its answer thrown away) and
        theirs is returned. Raises TaskLost once the task has ended otherwise,
        and what `Ledger.commit` raises.
        """
        ended: list[Task] = []

        def changes(look: ReadSet) -> Changes[Operation]:
            ended.clear()
            pair = TaskAndSubject.of(look, lease.task.task_id)
            if pair is None or pair.subject is None or pair.subject.id != operation.id:
                raise TaskLost
            stored = operation_in(pair.subject)
            if (
                stored.state != operation.state
                or stored.cursor != operation.cursor
                or stored.counts != operation.counts
            ):
                return Changes(stored)
            if pair.task.finished:
                raise TaskLost
            chunk = decide(look, stored)
            plan = stored.plan if chunk.plan is None else dict(chunk.plan)
            further = stored.changed(
                plan=plan, cursor=chunk.cursor, counts=added(stored.counts, chunk.counts)
            )
            made = (
                self._ended(pair, further, chunk, ended)
                if chunk.done
                else _advanced(pair.subject, further)
            )
            return Changes(
                made.result,
                chunk.changes,
                (*chunk.puts, *made.puts),
                (*chunk.creates, *made.creates),
                chunk.reads,
                chunk.sessions,
                head_fields=lambda head: _both(head, chunk.head_fields, made.head_fields),
                fragile=chunk.fragile,
                deletes=(*chunk.deletes, *made.deletes),
                staged=chunk.staged,
                begins=chunk.begins,
                marks=chunk.marks,
            )

        task_id = lease.task.task_id
        if basis is not None:
            documents = {**basis.documents, task_id: lease.held.document}
            basis = replace(basis, documents=documents, asked=basis.asked | {task_id})
        committed = await self._ledger.commit(
            lease.owner,
            changes,
            ids=[task_id, operation.id, *ids],
            basis=basis,
            call=operation.call,
            while_erasing=True,
        )
        await self._mirror.follow(lease.owner, committed)
        for task in ended if committed.changes is not None else ():
            await self._ends.announce(lease.owner, task)
        return committed.result

    async def amend(
        self,
        owner: Owner,
        task_id: str,
        change: Callable[[Operation], Any],
        call: Call,
        *,
        due: bool = False,
    ) -> Task:
        """Commit the cursor that `change` gives an operation without a worker yet; `due`:
        from now on it may have one. Its task.

        Raises NotFound, and what `change` raises.
        """

        def changes(look: ReadSet) -> Changes[Task]:
            pair = TaskAndSubject.of(look, task_id)
            if pair is None or pair.subject is None or pair.subject.kind != "operation":
                raise NotFound("no task of this id of this kind for this user")
            stored, now = operation_in(pair.subject), self._clock.now()
            advanced = _advanced(pair.subject, stored.changed(cursor=change(stored)))
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
        """These documents of an owner as they are now."""
        return await self._ledger.look(owner, ids)

    async def check_room(self, owner: Owner, size: int) -> None:
        """Whether a user has room for so many bytes more. Raises QuotaExceeded, Unavailable."""
        await self._ledger.check_room(owner, (await self._ledger.look(owner, [])).head, size)

    async def held(self, owner: Owner, task_id: str, kind: TaskKind) -> tuple[Task, Operation]:
        """A task of a kind and the operation that it is about. Raises NotFound."""
        pair = TaskAndSubject.of(
            await self._ledger.look(owner, [task_id, operation_id(task_id)]), task_id
        )
        if pair is None or pair.subject is None or pair.task.kind != kind:
            raise NotFound(
                f"no {kind} of this id for this user; finished ones are kept for "
                f"{LIFETIME.days} days"
            )
        return pair.task, operation_in(pair.subject)

    async def there(self, owner: Owner, task_id: str) -> Operation | None:
        """The operation of a task as it is now; None when it is gone, with its user perhaps."""
        pair = TaskAndSubject.of(
            await self._ledger.look(owner, [task_id, operation_id(task_id)]), task_id
        )
        return None if pair is None or pair.subject is None else operation_in(pair.subject)

    async def tell(self, owner: Owner, task: Task) -> tuple[str, ...]:
        """Send the message of a task that has become due."""
        return await self._beginning.tell(owner, task)

    def _ended(
        self, pair: TaskAndSubject, operation: Operation, chunk: Chunk, ended: list[Task]
    ) -> Changes[Operation]:
        """The task's end with the operation's. The task is put onto whatever its worker writes of
        it meanwhile: the operation decides.
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


def operation_id(task_id: str) -> str:
    """The id of the operation that a task is about."""
    return derived("op", task_id)


def is_pending(look: ReadSet, name: str) -> bool:
    """Whether the operation of this id is to go on, in the head's life. `look` shows its document,
    if there is one.
    """
    document = look.documents.get(name)
    return (
        document is not None
        and look.head is not None
        and document.body["epoch"] == look.head.epoch
        and document.body["state"] == "pending"
    )


def operation_there(look: ReadSet, name: str) -> Operation:
    """The operation of this id, in the head's life. Raises NotFound."""
    document = look.documents.get(name)
    if document is None or look.head is None or document.body["epoch"] != look.head.epoch:
        raise NotFound("the operation of this task is gone")
    return operation_in(document)


def operation_in(document: Document) -> Operation:
    """The operation in a document."""
    return Operation.model_validate(
        {name: value for name, value in document.body.items() if name not in OF_THE_STORE}
    )


def added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Both counts together."""
    return {name: counts.get(name, 0) + more.get(name, 0) for name in {**counts, **more}}


def _both(head: Head, first: HeadChange, second: HeadChange) -> HeadFields:
    """The fields of both, the second's on top of the first's."""
    fields = first(head)
    return {**fields, **second(head.changed(**fields))}


def _advanced(subject: Document, operation: Operation) -> Changes[Operation]:
    store_fields = {name: subject.body[name] for name in OF_THE_STORE}
    return Changes(
        operation,
        puts=(replace(subject, body={**store_fields, **operation.model_dump(mode="json")}),),
    )


RUN_REPORT_KEPT_FOR: Final = timedelta(days=30)
"""How long a run's report can be looked at."""
