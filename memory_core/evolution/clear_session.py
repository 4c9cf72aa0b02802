"""Clear a session: soft-delete all its memories, in as many commits as needed.

If all memories fit into a commit, it is a single commit. Otherwise it is an operation: a persisted
document with the frozen plan (all memories of the session when the call came), whose cursor each
chunk advances in its own batch. A killed process leaves the operation between two chunks, and in
the head's `pending_operations`, by which the user is due. The next hour, the next clear of this
user, or the same call with its idempotency key finishes it. Several processes may work on an
operation at once: each chunk goes by the stored cursor, not by a process's memory.

A session also has messages that are not formed yet. So the first commit counts the clear in the
session's document, by which forming commits know that messages from before the clear must not come
back. It also drops the buffered messages. Note: memories that are formed between the plan and the
first commit come from before the clear, too. So if there was any commit in between, the first
commit only begins the operation.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from memory_core.domain.errors import Damaged, damaged_memory
from memory_core.domain.memory import Head, HeadFields, Memory, MemoryType, Status
from memory_core.domain.requests.memories import ClearInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import delete
from memory_core.evolution.deletion import NoteUnmerger
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.documents import HeldBuffer, buffer_id
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.read_set import ReadSet, no_further
from memory_core.ledger.receipts import LIFETIME, Receipt, earlier_result, receipt_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Filter, IdSource, LongTermStore, Place
from memory_core.tasks.store import TaskAndSubject

log = logging.getLogger(__name__)
CHUNK = 40
"""Memories in a commit: each takes two documents of the hundred."""
CHUNK_BYTES = 1_500_000
"""Bytes of a chunk, of the 1.8 MB of a batch; long memories reach them before they are forty."""
_NUMBER_BYTES, _EVENT_BYTES = 13, 700
_KEPT_WHEN_DONE = LIFETIME
"""As long as the receipt of its call, since the key may be used for another clear from then on."""
_NOT_DELETED = frozenset(status.value for status in Status if status is not Status.DELETED)


@dataclass(frozen=True, slots=True)
class _Operation:
    """The content of a clear, and its progress.

    Attributes:
        id: Id of the operation.
        session_id: Id of the session.
        type: Type of the memories; None for all.
        until: The sequence up to which memories are cleared.
        place: Place of the last cleared memory; None at the beginning.
        cleared: How many memories were cleared.
        done: Whether no memory is left.
        call: Call that asked for the clear.

    """

    id: str
    session_id: str
    type: str | None
    until: int
    place: Place | None = None
    cleared: int = 0
    done: bool = False
    call: Call = field(default_factory=Call)

    def document(self, expires_at: datetime) -> Document:
        body = {
            "operation": "clear",
            **{name: value for name, value in asdict(self).items() if name != "id"},
        }
        return Document(self.id, "operation", body, expires_at=expires_at if self.done else None)

    @classmethod
    def of(cls, document: Document) -> _Operation:
        body = {name: value for name, value in document.body.items() if name in cls.__slots__}
        place = None if body["place"] is None else Place(**body["place"])
        return cls(document.id, **{**body, "place": place, "call": Call(**body["call"])})


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The next memories of an operation.

    Attributes:
        places: Places of the memories.
        last: Whether no memories are left after them.
        notes: Ids of the notes among them.

    """

    places: tuple[Place, ...]
    last: bool
    notes: tuple[str, ...] = ()

    @property
    def ids(self) -> list[str]:
        return [place.id for place in self.places]


class Clearer:
    """Clears sessions of any owner."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        unmerger: NoteUnmerger,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._store, self._ledger, self._clock, self._ids = (store, ledger, clock, ids)
        self._unmerger = unmerger

    async def clear(self, owner: Owner, request: ClearInput, call: Call) -> int:
        """Clear a session, and return how many memories were soft-deleted.

        A repeated call with its idempotency key answers the same.

        Args:
            owner: Whose session it is.
            request: The session, and the type of its memories.
            call: Call with its idempotency key, if any.

        Raises:
            KeyReused: The idempotency key was used for another request.
            Damaged: A memory of the session can't be read.
            HeadMoved: Other writers were faster until the deadline.
            Unavailable: The store is down.

        """
        key = receipt_id(owner, call)
        named = derived("op", key) if key else self._ids.new("op")
        read_set = await self._ledger.look(owner, [named, *([key] if key else [])])
        earlier = earlier_result(read_set.documents, owner, call)
        if earlier is not None:
            return int(earlier["cleared"])
        resumed = await self._finish_pending(owner, read_set, request, besides=named)
        if named in read_set.documents:
            return (await self._run(owner, _Operation.of(read_set.documents[named]))).cleared
        until = read_set.head.sequence if read_set.head else 0
        kind = request.type.value if request.type else None
        return (
            await self._run(
                owner,
                _Operation(named, request.session_id, kind, until, cleared=resumed, call=call),
            )
        ).cleared

    async def finish(self, owner: Owner, head: Head) -> None:
        """Finish interrupted clears of a user.

        A clear that meets a damaged memory is left as it is, and logged.

        Args:
            owner: Whose clears they are.
            head: The owner's head.

        Raises:
            HeadMoved: Other writers were faster until the deadline.
            Unavailable: The store is down.

        """
        for operation in await self._pending(owner, head):
            try:
                await self._run(owner, operation)
            except Damaged as error:
                log.error("a clear of a session stays half done: %s", error.detail)

    async def _pending(self, owner: Owner, head: Head | None) -> list[_Operation]:
        names = [] if head is None else head.pending_operations
        documents = (await self._ledger.look(owner, names)).documents if names else {}
        return [_Operation.of(document) for document in documents.values()]

    async def _finish_pending(
        self, owner: Owner, read_set: ReadSet, request: ClearInput, besides: str
    ) -> int:
        """Finish interrupted clears of this user.

        Returns how many memories of the requested session were cleared by that.
        """
        resumed = 0
        for begun in await self._pending(owner, read_set.head):
            if begun.id == besides:
                continue
            ended = await self._run(owner, begun)
            if begun.session_id == request.session_id:
                resumed += ended.cleared - begun.cleared
        return resumed

    async def _run(self, owner: Owner, operation: _Operation) -> _Operation:
        asked = [
            session_document_id(owner, operation.session_id),
            operation.id,
            buffer_id(owner, operation.session_id),
        ]
        while not operation.done:
            chunk = await self._chunk(owner, operation)
            if chunk.notes:
                read_set = await self._ledger.look(owner, chunk.notes)
                notes = [
                    note for name in chunk.notes if (note := read_set.memory(name)) is not None
                ]
                await self._unmerger.unmerge_sources(
                    owner, notes, operation.call, session_id=operation.session_id
                )
            committed = await self._ledger.commit(
                owner,
                partial(self._decide, owner, operation, chunk),
                ids=[*chunk.ids, *asked],
                reads=partial(buffer_task, owner, operation.session_id)
                if operation.type is None
                else no_further,
                call=operation.call,
                receipt=Receipt(
                    lambda after: {"cleared": after.cleared} if after.done else None,
                    partial(_cleared_before, operation),
                ),
            )
            operation = committed.result
        return operation

    async def _chunk(self, owner: Owner, operation: _Operation) -> _Chunk:
        where = Filter(
            _NOT_DELETED,
            types=frozenset({operation.type} if operation.type else ()),
            session_id=operation.session_id,
        )
        page = await self._store.page(
            owner, "memory", where, operation.place, CHUNK + 1, newest_first=False
        )
        left = [document for document in page if document.body["sequence"] <= operation.until]
        for document in left:
            if document.damaged:
                raise damaged_memory(document.id)
        taken, size = 0, 0
        for document in left[:CHUNK]:
            size += (
                len(orjson.dumps(document.body))
                + _NUMBER_BYTES * (document.body["embedding_dimensions"] or 0)
                + _EVENT_BYTES
            )
            if taken and size > CHUNK_BYTES:
                break
            taken += 1
        places = tuple(
            Place(int(document.body["sequence"]), document.id) for document in left[:taken]
        )
        notes = tuple(
            document.id for document in left[:taken] if document.body.get("category") == "note"
        )
        return _Chunk(places, last=taken == len(left), notes=notes)

    def _decide(
        self, owner: Owner, operation: _Operation, chunk: _Chunk, seen: ReadSet
    ) -> Changes[_Operation]:
        stored = seen.documents.get(operation.id)
        if stored is not None and (at := _Operation.of(stored)) != operation:
            return Changes(at)
        now = self._clock.now()
        if stored is not None or seen.head is None:
            return self._of_chunk(owner, operation, chunk, seen, now, whole=seen.head is None)
        if seen.head.sequence == operation.until:
            cleared = self._of_chunk(
                owner, operation, chunk, seen, now, whole=chunk.last, first=True
            )
        else:
            cleared = self._begun(owner, replace(operation, until=seen.head.sequence), seen, now)
        gathered = (
            dropped(owner, operation.session_id, seen, now) if operation.type is None else None
        )
        return cleared if gathered is None else _both(cleared, gathered)

    def _begun(
        self, owner: Owner, operation: _Operation, seen: ReadSet, now: datetime
    ) -> Changes[_Operation]:
        """The operation without a cleared memory, because there were commits since its plan."""
        return Changes(
            operation,
            puts=(
                *self._session(owner, seen, operation, (), first=True),
                operation.document(now + _KEPT_WHEN_DONE),
            ),
            head_fields=lambda head: _pending(head, operation, now),
            fragile=True,
        )

    def _of_chunk(
        self,
        owner: Owner,
        operation: _Operation,
        chunk: _Chunk,
        seen: ReadSet,
        now: datetime,
        *,
        whole: bool,
        first: bool = False,
    ) -> Changes[_Operation]:
        """The commit that clears the next memories.

        `whole` means that a single commit holds all, so the operation need not be found again.
        `first` means that no chunk came before.
        """
        memories = (seen.memory(name) for name in chunk.ids)
        changes = [
            Change("cleared", _cleared(memory, now), memory)
            for memory in memories
            if memory is not None and memory.status is not Status.DELETED
        ]
        place = chunk.places[-1] if chunk.places else operation.place
        after = replace(
            operation, place=place, cleared=operation.cleared + len(changes), done=chunk.last
        )
        return Changes(
            after,
            tuple(changes),
            (
                *self._session(owner, seen, operation, changes, first=first),
                *(() if whole else (after.document(now + _KEPT_WHEN_DONE),)),
            ),
            (),
            frozenset(chunk.ids),
            frozenset({operation.session_id}),
            head_fields=(lambda head: {}) if whole else (lambda head: _pending(head, after, now)),
            fragile=True,
        )

    def _session(
        self,
        owner: Owner,
        seen: ReadSet,
        operation: _Operation,
        changes: Sequence[Change],
        *,
        first: bool,
    ) -> tuple[Document, ...]:
        if not changes and not first:
            return ()
        session = Session(
            owner,
            operation.session_id,
            seen.documents.get(session_document_id(owner, operation.session_id)),
        )
        for change in changes:
            session.count(change.before, change.after, change.after.updated_at)
            session.forget_turn(change.after)
        if first:
            session.clear([MemoryType(operation.type)] if operation.type else MemoryType)
        return (session.document,)


def _cleared_before(
    operation: _Operation, earlier: Mapping[str, Any], read_set: ReadSet
) -> _Operation:
    return replace(operation, cleared=int(earlier["cleared"]), done=True)


def _both(cleared: Changes[_Operation], gathered: Changes[Any]) -> Changes[_Operation]:
    def head_fields(head: Head) -> HeadFields:
        return {**cleared.head_fields(head), **gathered.head_fields(head)}

    return replace(cleared, puts=(*cleared.puts, *gathered.puts), head_fields=head_fields)


def _pending(head: Head, operation: _Operation, now: datetime) -> HeadFields:
    """Name the operation in the head, and make the user due, until it is done."""
    other_operations = [name for name in head.pending_operations if name != operation.id]
    if operation.done:
        return {"pending_operations": other_operations}
    return {
        "pending_operations": [*other_operations, operation.id],
        "due_at": min(head.due_at or now, now),
    }


def _cleared(memory: Memory, now: datetime) -> Memory:
    return delete(memory, "cleared", now)


# What a session's buffer holds, as a clear of the session has to know it: thrown away with the
# rest, and its task ended.
#
# Note: the task's id is of the buffer's generation, which only a look at the buffer tells.


def buffer_task(owner: Owner, session_id: str, read_set: ReadSet) -> list[str]:
    """The id of the task of a session's waiting messages; empty without messages.

    Args:
        owner: Whose session it is.
        session_id: Id of the session.
        read_set: A read set with the buffer.

    """
    batch = HeldBuffer.of(owner, session_id, read_set)
    return [batch.task_id] if batch.buffer.messages else []


def dropped(owner: Owner, session_id: str, read_set: ReadSet, now: datetime) -> Changes[Any] | None:
    """Empty a session's buffer, and end the task of its messages.

    Args:
        owner: Whose session it is.
        session_id: Id of the session.
        read_set: A read set with the buffer, and the task of `buffer_task`.
        now: The present time.

    Returns:
        None if no message waits.

    """
    batch = HeldBuffer.of(owner, session_id, read_set)
    if not batch.buffer.messages:
        return None
    pair = TaskAndSubject.of(read_set, batch.task_id)
    if pair is None:
        return Changes(None, puts=(batch.closed().written,))
    return pair.turned(
        "cancelled",
        now,
        status="succeeded",
        step=None,
        progress=1.0,
        error=None,
        result={"cells": [], "counts": {"cleared": 1}},
        next_enqueue_at=None,
    )
