"""Form the rest of conversations whose messages were taken back.

The rest becomes another conversation of the same messages, each with the memory that it has
already. So no message is found twice, and agents' answers about the longer conversation are not
used. If the longer conversation waits, or is under way, it hands its task over to the new
conversation. Note: a cell that is kept stays with the first conversation, and is no part of the new
conversation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_core.domain.conversation import Conversation, Path, Task, TaskKind, counts_of
from memory_core.domain.memory import Status
from memory_core.domain.messages import REQUEST
from memory_core.ledger.changes import Changes, HeadChange
from memory_core.ledger.documents import (
    HeldBuffer,
    conversation_of,
    documents_of,
    message_ids,
    state_of,
    unread,
)
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document
from memory_core.tasks.store import TaskAndSubject, count_change, task_document, unfinished

KINDS: Mapping[Path, TaskKind] = {"converse": "converse", "agent": "agent_memory"}
"""The kind of task that forms a conversation, by its path."""
_UNFORMED = ("pending", "poisoned")
_FORMED_ALL_THE_SAME = frozenset({"cleared", REQUEST})


@dataclass
class ConversationWrites:
    """The documents that a commit writes of conversations, batches and tasks.

    Attributes:
        puts: Documents to write, by id.
        creates: Documents to create.
        deletes: Documents to delete.
        ready: Tasks that have work from now on.
        ended: Tasks that have no more work.
        more: By how many the unfinished tasks increase.

    """

    puts: dict[str, Document] = field(default_factory=dict)
    creates: list[Document] = field(default_factory=list)
    deletes: list[Document] = field(default_factory=list)
    ready: list[Task] = field(default_factory=list)
    ended: list[Task] = field(default_factory=list)
    more: int = 0

    @property
    def head_fields(self) -> HeadChange:
        """The head's field that changes with it."""
        return count_change(self.more)

    def put(self, *documents: Document) -> None:
        """Write these documents, too; they replace earlier states of the same documents."""
        self.puts |= {document.id: document for document in documents}

    def turned(self, pair: TaskAndSubject, changes: Changes[Task]) -> None:
        """Write the end of a task and its subject.

        Args:
            pair: The task and its subject, as they were read.
            changes: Changes that end them.

        """
        self.put(*changes.puts)
        self.more += unfinished(changes.puts) - (not pair.task.finished)
        self.ended.append(changes.result)


@dataclass(frozen=True, slots=True)
class TakenMessages:
    """The messages that are taken back of conversations.

    Attributes:
        taken: Ids of these messages.
        left: Ids of remaining messages whose cells are deleted with these.
        clears: How often the session was cleared, by type.
        now: The present time.
        heeded: For the task's result, the effects of the wishes that took messages back.

    """

    taken: Collection[str]
    left: Collection[str]
    clears: Mapping[str, int]
    now: datetime
    heeded: Mapping[str, Any] = field(default_factory=dict)


def deleted_since(read_set: ReadSet, ids: Sequence[str]) -> list[str]:
    """A conversation's messages that were deleted after they were written.

    Messages of a clear of their session are not among them: the cleared types decide which memories
    are formed of these. Requests to forget are not among them either: they are formed without their
    words.

    Args:
        read_set: A read set with the messages.
        ids: Ids of the messages.

    """
    memories = ((name, read_set.memory(name)) for name in ids)
    return [
        name
        for name, memory in memories
        if memory is not None
        and memory.status is Status.DELETED
        and memory.status_reason not in _FORMED_ALL_THE_SAME
    ]


def without_deleted(
    read_set: ReadSet, conversation: Conversation, heeded: Mapping[str, Any], now: datetime
) -> ConversationWrites:
    """Continue a conversation without messages that were deleted before they were formed.

    The remaining messages become another conversation.

    Args:
        read_set: A read set with the conversation, its first conversation, the messages of both
            with their memories, and its task.
        conversation: Conversation that is being formed.
        heeded: Effects of the conversation's wishes, for the task's result.
        now: The present time.

    """
    done, ids = ConversationWrites(), message_ids(conversation)
    deleted = deleted_since(read_set, ids)
    if deleted:
        firsts = {
            memory.conversation_id
            for name in ids
            if (memory := read_set.memory(name)) is not None and memory.conversation_id is not None
        }
        known = {name: state_of(read_set, name) for name in firsts}
        first = next(
            (
                name
                for name, state in known.items()
                if state is not None and state.continued_by == conversation.id
            ),
            conversation.id,
        )
        conversation_without(
            done, read_set, first, TakenMessages(deleted, (), conversation.clears, now, heeded)
        )
    return done


def conversation_without(
    done: ConversationWrites, read_set: ReadSet, name: str, cut: TakenMessages
) -> None:
    """Continue a conversation, and an earlier continuation of it, without messages.

    Args:
        done: The documents of the commit so far, which are extended.
        read_set: A read set with both conversations, their messages with the memories of these, and
            their tasks.
        name: Id of the first conversation, which the memories of the messages name.
        cut: The messages that are taken back.

    """
    root = state_of(read_set, name)
    if root is None:
        return
    formed_again = set[str]()
    for identity in (name if root.continued_by is None else root.continued_by, name):
        conversation = conversation_of(read_set, identity)
        if conversation is None:
            continue
        further = _remaining_conversation(conversation, read_set, cut, formed_again)
        formed_again |= set(message_ids(further))
        if conversation.state in _UNFORMED:
            _hand_over(done, read_set, conversation, further, cut)
        elif further.messages:
            _task_for_rest(done, further, cut.now)
        if further.messages:
            document = done.puts.get(name, read_set.documents[name])
            done.put(replace(document, body={**document.body, "continued_by": further.id}))
        if root.continued_by is None:
            break


def _remaining_conversation(
    conversation: Conversation, read_set: ReadSet, cut: TakenMessages, besides: Collection[str]
) -> Conversation:
    """The conversation of the messages that stay, and must be formed.

    They are in no cell that stays, and are formed by no other conversation. If the user's wish
    left only words of others, they answer what is forgotten: nothing is formed of them.
    """
    ids, numbers = message_ids(conversation), list[int]()
    formed = conversation.formed_cells[-1].last if conversation.formed_cells else -1
    for number, name in enumerate(ids):
        memory = read_set.memory(name)
        if (
            name in cut.taken
            or name in besides
            or memory is None
            or memory.status is Status.DELETED
        ):
            continue
        if name in cut.left or (conversation.state in _UNFORMED and number > formed):
            numbers.append(number)
    if cut.heeded and all(conversation.messages[number].role != "user" for number in numbers):
        numbers.clear()
    messages = [conversation.messages[number].changed(memory_id=ids[number]) for number in numbers]
    return conversation.changed(
        id=derived("cnv", conversation.id, "without", *sorted(cut.taken)),
        messages=messages,
        created_at=cut.now,
        clears=dict(cut.clears),
        state="pending",
        written=len(messages),
        embedded=0,
        cells=None,
        formed_cells=[],
        continued_by=None,
    )


def _task_for_rest(done: ConversationWrites, further: Conversation, now: datetime) -> None:
    """A task of its own for the rest of a conversation whose task is over."""
    task = Task(
        task_id=derived("tsk", further.id),
        kind=KINDS[further.path],
        created_at=now,
        updated_at=now,
        subject_id=further.id,
        next_enqueue_at=now,
        correlation_id=further.correlation_id,
    )
    done.creates += [*documents_of(further.changed(task_id=task.task_id)), task_document(task)]
    done.ready.append(task)
    done.more += 1


def _hand_over(
    done: ConversationWrites,
    read_set: ReadSet,
    conversation: Conversation,
    further: Conversation,
    cut: TakenMessages,
) -> None:
    """End an unformed conversation, and hand its task over to `further`.

    The task ends if `further` has no messages: well, if the conversation's own wishes took them.
    """
    now = cut.now
    pair = TaskAndSubject.of(read_set, conversation.task_id)
    if pair is None or pair.task.subject_id != conversation.id or pair.subject is None:
        return
    nothing_left = {"written": len(conversation.messages), "embedded": len(conversation.messages)}
    done.deletes += unread(pair.subject.body)
    result = pair.task.result
    if cut.heeded:
        formed = conversation.formed_cells
        result = {
            "conversation_id": conversation.id,
            "cells": [cell.public() for cell in formed],
            "counts": counts_of(formed),
            **cut.heeded,
        }
    if not further.messages:
        done.turned(
            pair,
            pair.turned(
                "cancelled",
                now,
                subject=nothing_left,
                status="succeeded" if cut.heeded else "cancelled",
                result=result,
                next_enqueue_at=None,
            ),
        )
        return
    task = pair.task.begun_again(further.id, now).changed(
        progress=0.0, generation=pair.task.generation + 1, result=result
    )
    ended = replace(pair.subject, body={**pair.subject.body, **nothing_left, "state": "cancelled"})
    done.put(task_document(task, onto=pair.task_state.document), ended)
    done.creates += documents_of(further)
    done.more += int(pair.task.finished)
    done.ready.append(task)


def batch_without(
    done: ConversationWrites,
    read_set: ReadSet,
    batch: HeldBuffer,
    taken: Collection[str],
    now: datetime,
) -> bool:
    """Remove messages from a batch that is still being gathered.

    Args:
        done: The documents of the commit so far, which are extended.
        read_set: A read set with the batch's messages and its task.
        batch: As it was read.
        taken: Ids of the messages that are taken back.
        now: The present time.

    Returns:
        False if further messages came after these meanwhile.

    """
    ids = message_ids(batch.conversation(now, {}))
    first = next((number for number, name in enumerate(ids) if name in taken), None)
    if first is None:
        return True
    memories = [read_set.memory(name) for name in ids[first:] if name not in taken]
    if any(memory is None or memory.status is not Status.DELETED for memory in memories):
        return False
    remaining = batch.buffer.messages[:first]
    pair = None if remaining else TaskAndSubject.of(read_set, batch.task_id)
    if remaining or pair is None:
        shorter = (
            batch.closed()
            if not remaining
            else replace(batch, buffer=batch.buffer.changed(messages=remaining))
        )
        done.put(shorter.written)
        return True
    done.turned(
        pair, pair.turned("cancelled", now, status="cancelled", step=None, next_enqueue_at=None)
    )
    return True
