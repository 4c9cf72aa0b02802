"""The work on a single cell, and how far it got.

That is: whether it is still to be done, the parts that it is not to make any more, and the
conversation's next state. All of it is read from the look that a commit is decided on, so that a
worker that was cancelled, overtaken or cleared meanwhile finds out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from memory_core.domain.conversation import Cell, CellRecord, Conversation
from memory_core.domain.memory import Head, HeadFields, MemoryType, Status
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import marked, slot_name, slot_of
from memory_core.evolution.agent_rulings import Ruled
from memory_core.formation.cell_plan import CellOutcome, ReadyCell
from memory_core.ledger.changes import Changes
from memory_core.ledger.documents import message_ids, state_of, unread
from memory_core.ledger.ids import session_document_id, slot_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document
from memory_core.tasks.store import count_change, unfinished


@dataclass(frozen=True, slots=True)
class Formed:
    """The result of a cell.

    Attributes:
        cell: Its record.
        last: Whether the conversation is formed.

    """

    cell: CellRecord
    last: bool


Finish = Callable[[Conversation], tuple[Document, ...]]
Report = Callable[[Cell, str, float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Work:
    """The work on a cell.

    Attributes:
        owner: Whose conversation it is.
        conversation: Conversation of the cell.
        cell: Cell to form.
        total: The number of the conversation's cells.
        call: Call on whose behalf its commit is made.
        finish: Makes the documents that end the task, with the last cell.
        cleared: Types of memories that the session was cleared of since the conversation was
            accepted, as far as was read.
        reads_messages: Whether the memories of the messages are read; otherwise they are assumed to
            be as they were accepted.

    """

    owner: Owner
    conversation: Conversation
    cell: Cell
    total: int
    call: Call
    finish: Finish
    cleared: frozenset[MemoryType] = frozenset()
    reads_messages: bool = False

    @property
    def read_messages(self) -> list[str]:
        """The ids of the message memories that are read."""
        return self.message_ids if self.reads_messages else []

    @property
    def message_ids(self) -> list[str]:
        """The ids of the memories of the cell's messages."""
        return message_ids(self.conversation, self.cell)

    @property
    def state_ids(self) -> list[str]:
        """The ids of the documents with the progress of the work.

        They also tell whether it is still to be done.
        """
        session = self.conversation.session_id
        return [
            self.conversation.id,
            *([session_document_id(self.owner, session)] if session is not None else []),
        ]


def are_messages_active(read_set: ReadSet, conversation: Conversation) -> bool:
    """Whether the head alone shows that all messages of a conversation are active.

    That is so if no existing memory has changed since the conversation was accepted.

    Args:
        read_set: The head.
        conversation: As it was accepted.

    """
    document = read_set.documents.get(conversation.id)
    return (
        read_set.head is not None
        and document is not None
        and not read_set.head.counts.get(Status.DELETED.value)
        and read_set.head.last_removal_sequence < document.body["sequence"]
    )


def finished_cell(
    read_set: ReadSet, conversation_id: str, cell: Cell
) -> tuple[bool, Formed | None]:
    """Whether there is no more work on this cell, and its result.

    Args:
        read_set: A read set with the conversation.
        conversation_id: Id of the conversation.
        cell: Cell to form.

    Returns:
        Whether the work is over; then also the result, None if the conversation is cancelled or
            gone.

    """
    conversation = state_of(read_set, conversation_id)
    if conversation is None or conversation.state in ("cancelled", "poisoned"):
        return True, None
    if len(conversation.formed_cells) > cell.number:
        return True, Formed(conversation.formed_cells[cell.number], conversation.state == "formed")
    return False, None


def with_formed_cells(
    parts: Sequence[tuple[Work, Changes[CellOutcome]]], read_set: ReadSet
) -> Changes[tuple[Formed, ...]]:
    """The plans, with the conversation advanced by their cells.

    The conversation is written onto the very state that was read, because a cancellation has no
    event. With the last cell, the documents of `finish` are added.

    Args:
        parts: The work on each cell with the changes of its memories, in order.
        read_set: A read set with the conversation.

    """
    work, plans = parts[-1][0], [planned for _, planned in parts]
    conversation, document = (
        state_of(read_set, work.conversation.id),
        read_set.documents[work.conversation.id],
    )
    assert conversation is not None
    last = work.cell.number == work.total - 1
    records = [_record(part.cell, planned.result) for part, planned in parts]
    further = conversation.changed(
        cells=work.total,
        formed_cells=[*conversation.formed_cells, *records],
        state="formed" if last else conversation.state,
    )
    body = {**document.body, **further.model_dump(mode="json", exclude={"messages"})}
    ended = work.finish(further) if last else ()
    changes = tuple(change for planned in plans for change in planned.changes)
    # A session's document is written as the last of its cells leaves it.
    puts = {put.id: put for planned in plans for put in planned.puts}

    def head_fields(head: Head) -> HeadFields:
        moved = head
        for planned in plans:
            moved = moved.changed(**planned.head_fields(moved))
        fields: HeadFields = {
            "pending_count": moved.pending_count,
            "last_formed_sequence": head.sequence + len(changes),
        }
        if last:
            fields |= count_change(unfinished(ended) - 1)(head)
        return fields

    return Changes(
        tuple(Formed(record, last and record is records[-1]) for record in records),
        changes,
        (*puts.values(), replace(document, body=body), *ended),
        marks={name: mark for planned in plans for name, mark in planned.marks.items()},
        deletes=unread(body) if last else (),
        reads=frozenset().union(*(planned.reads | {*part.message_ids} for part, planned in parts)),
        sessions=frozenset().union(*(planned.sessions for planned in plans)),
        types=frozenset().union(*(planned.types for planned in plans)),
        head_fields=head_fields,
    )


def _record(cell: Cell, outcome: CellOutcome) -> CellRecord:
    return CellRecord(
        first=cell.first,
        last=cell.last,
        memory_ids=list(outcome.memory_ids),
        counts=dict(outcome.counts),
    )


def certainly_missing_ids(read_set: ReadSet, ready: ReadyCell) -> set[str]:
    """Ids of documents that certainly don't exist, by a read set.

    A cell's note and facts are written with it, and exist without it only after a hard delete. The
    head knows which slots were ever filled.

    Args:
        read_set: The read set, with the head.
        ready: The cell, with the memories that were formed of it.

    """
    if read_set.head is None or read_set.head.redactions:
        return set()
    made = set[str]()
    if ready.cell.id in read_set.asked and ready.cell.id not in read_set.documents:
        made |= {memory.id for memory in ready.compared}
    if read_set.head.slots is not None:
        made |= {
            slot_document_id(*name)
            for memory in ready.compared
            if (name := slot_name(memory)) is not None
            and (slot := slot_of(memory)) is not None
            and not marked(read_set.head.slots, slot)
        }
    return made


def session_ids_of(owner: Owner, read_set: ReadSet, ruled: Ruled) -> list[str]:
    """Further ids that a plan needs: the sessions of memories that may be retired.

    Args:
        owner: Whose memories these are.
        read_set: The read set of the plan.
        ruled: The decisions on the cell's facts and notes.

    """
    ruled_out = {old_id for _, old_id in ruled.rulings.by_pair}
    sessions = {
        neighbour.memory.session_id
        for neighbour in read_set.neighbours()
        if neighbour.memory.id in ruled_out
    }
    return [session_document_id(owner, name) for name in sorted(filter(None, sessions))]


# Turns in which the writers of a user in this process decide and commit.
#
# Note: nothing depends on them, since each commit checks for other commits. But thirty workers that
# form conversations of a single user would mostly decide in vain, and in the end wait.


class WriteTurn:
    """The turn of a piece of work: taken when needed, kept until its end."""

    def __init__(self, lock: asyncio.Lock, stack: AsyncExitStack) -> None:
        self._lock, self._kept = lock, stack
        self._taken = False

    async def take(self) -> None:
        """Wait for earlier work of the same user, unless the turn is taken."""
        if not self._taken:
            await self._kept.enter_async_context(self._lock)
            self._taken = True


class WriteTurns:
    """Turns of all users."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, owner: Owner) -> AsyncIterator[WriteTurn]:
        """A turn that ends with the block, if it is taken in it."""
        lock = self._locks.setdefault(owner, asyncio.Lock())
        async with AsyncExitStack() as stack:
            yield WriteTurn(lock, stack)
