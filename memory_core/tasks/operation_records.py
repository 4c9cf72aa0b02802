"""An operation as it is stored, and a chunk of its work as one commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.conversation import TaskKind, TaskStatus
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import NotFound
from memory_core.domain.results import Call
from memory_core.ledger.changes import Change, Changes, HeadChange, both_changes, no_change
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document, Mark
from memory_core.tasks.leases import Lease

OF_THE_STORE = ("epoch", "sequence")


class OperationFields(TypedDict, total=False):
    """Fields of an operation that a commit replaces."""

    state: str
    plan: dict[str, Any]
    cursor: Any
    counts: dict[str, int]


class Operation(DeferredModel):
    """An operation.

    Attributes:
        id: Id of the operation.
        kind: Kind of its task.
        task_id: Id of its task.
        state: "pending" until it ends.
        plan: The request, frozen.
        cursor: How far it is, in the terms of its kind.
        counts: Counts of the changes so far.
        actor: Actor of its events: the caller that requested it.
        correlation_id: Correlation id of that call.
        created_at: When it was requested.

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
        """The call on whose behalf its commits are made."""
        return Call(self.correlation_id, actor=self.actor)


@dataclass(frozen=True, slots=True)
class Chunk:
    """The content of an operation's commit.

    The attributes that are missing here are those of `Changes`.

    Attributes:
        cursor: Cursor of the operation after this chunk.
        counts: Are added to the operation's counts.
        done: It is the last chunk; the task ends with it.
        status: Status of the ended task.
        error: Error of the ended task.
        result: Result of the ended task, beside the counts.
        counted: Whether the task's result has the counts.
        leaves: Whether the operation stays readable after its end.
        plan: Replaces the plan, when that is no longer needed and must not stay; None keeps it.

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
        """How many documents it writes besides the documents of its memories."""
        parts = (self.puts, self.creates, self.deletes, self.staged, self.marks)
        return sum(map(len, parts))

    def joined(self, further: Chunk) -> Chunk:
        """Both chunks as a single commit's content.

        The further chunk was decided on the state that this chunk leaves. Neither chunk is the
        last, nor begins an epoch.
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
            counts=sum_counts(self.counts, further.counts),
            reads=self.reads | further.reads,
            sessions=self.sessions | further.sessions,
            fragile=self.fragile or further.fragile,
            head_fields=both_changes(self.head_fields, further.head_fields),
        )


def operation_id(task_id: str) -> str:
    """The id of the operation that a task is about."""
    return derived("op", task_id)


def is_pending(read_set: ReadSet, name: str) -> bool:
    """Whether the operation of this id is to go on, in the head's epoch.

    Args:
        read_set: A read set with its document, if there is a document.
        name: Id of the operation.

    """
    document = read_set.documents.get(name)
    return (
        document is not None
        and read_set.head is not None
        and document.body["epoch"] == read_set.head.epoch
        and document.body["state"] == "pending"
    )


def current_operation(read_set: ReadSet, name: str) -> Operation:
    """The operation of this id, in the head's epoch.

    Args:
        read_set: A read set with its document.
        name: Id of the operation.

    Raises:
        NotFound: The operation is gone.

    """
    document = read_set.documents.get(name)
    if document is None or read_set.head is None or document.body["epoch"] != read_set.head.epoch:
        raise NotFound("the operation of this task is gone")
    return operation_in(document)


def operation_in(document: Document) -> Operation:
    """The operation in a document."""
    return Operation.model_validate(
        {name: value for name, value in document.body.items() if name not in OF_THE_STORE}
    )


def sum_counts(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """The sums of both counts, by name.

    Args:
        counts: By name.
        more: By name.

    """
    return {name: counts.get(name, 0) + more.get(name, 0) for name in {**counts, **more}}


def with_task(basis: ReadSet, lease: Lease) -> ReadSet:
    """A read set that shows the task of a lease too.

    Args:
        basis: The read set.
        lease: Its document is the task's.

    """
    task_id = lease.task.task_id
    documents = {**basis.documents, task_id: lease.stored.document}
    return replace(basis, documents=documents, asked=basis.asked | {task_id})


def with_chunk(made: Changes[Operation], chunk: Chunk) -> Changes[Operation]:
    """The changes of a chunk in one commit with those of its operation.

    Args:
        made: The changes of the operation.
        chunk: As the step decided it.

    """
    return Changes(
        made.result,
        chunk.changes,
        (*chunk.puts, *made.puts),
        (*chunk.creates, *made.creates),
        chunk.reads,
        chunk.sessions,
        head_fields=both_changes(chunk.head_fields, made.head_fields),
        fragile=chunk.fragile,
        deletes=(*chunk.deletes, *made.deletes),
        staged=chunk.staged,
        begins=chunk.begins,
        marks=chunk.marks,
    )


def advanced_operation(subject: Document, operation: Operation) -> Changes[Operation]:
    """The changes by which an operation is further than its document says.

    Args:
        subject: The document.
        operation: As it is now.

    """
    store_fields = {name: subject.body[name] for name in OF_THE_STORE}
    return Changes(
        operation,
        puts=(replace(subject, body={**store_fields, **operation.model_dump(mode="json")}),),
    )
