"""Conversations without messages that were taken back: what is left of them, and has to be formed, is told anew by a task.

What is left is another conversation of the same messages, each with the memory that it has already: nothing is found twice, and what
agents answered about the longer one is not used. One that waits, or is under way, hands its task over to it.
Note: a cell that is kept stays with the first conversation, and is no part of what is told anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_core.domain.conversation import Conversation, Path
from memory_core.domain.models import Head, Status
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task, TaskKind
from memory_core.ledger.buffer import HeldBuffer
from memory_core.ledger.commit import Look
from memory_core.ledger.conversations import conversation_of, documents_of, message_ids
from memory_core.ledger.ids import derived
from memory_core.ledger.pair import Pair, counted, unfinished
from memory_core.ledger.tasks import written
from memory_core.ports import Document

KINDS: Mapping[Path, TaskKind] = {"converse": "converse", "agent": "agent_memory"}
"""The task that forms a conversation."""
_UNFORMED = ("pending", "poisoned")


@dataclass
class Without:
    """What a commit writes of conversations, batches and tasks. more: tasks that are unfinished with it and were not, or fewer of them.

    told: tasks that have work to do from now on; ended: those that have none any more.
    """

    puts: list[Document] = field(default_factory=list)
    creates: list[Document] = field(default_factory=list)
    told: list[Task] = field(default_factory=list)
    ended: list[Task] = field(default_factory=list)
    more: int = 0

    @property
    def head_fields(self) -> Callable[[Head], Mapping[str, Any]]:
        """What changes in the head."""
        return counted(self.more)


def conversation_without(
    done: Without,
    owner: Owner,
    look: Look,
    name: str,
    taken: Collection[str],
    left: Collection[str],
    clears: Mapping[str, int],
    now: datetime,
) -> None:
    """Add what becomes of one conversation.

    Args:
        done: what the commit writes so far.
        owner: whose conversation it is.
        look: shows the conversation, its messages and their memories, and its task.
        name: the conversation's id.
        taken: ids of the messages that are taken back.
        left: ids of other messages whose cells go with those.
        clears: how often the session was cleared, by type.
        now: when that is.

    """
    conversation = conversation_of(look, name)
    if conversation is None or conversation.state == "cancelled":
        return
    numbers = _unformed(conversation, look, taken, left)
    ids = message_ids(conversation)
    messages = [conversation.messages[number].model_copy(update={"memory_id": ids[number]}) for number in numbers]
    identity = derived("cnv", name, "without", *sorted(taken))
    again = {"id": identity, "messages": messages, "created_at": now, "clears": dict(clears), "state": "pending"}
    progress: dict[str, Any] = {"written": len(messages), "embedded": 0, "cells": None, "formed_cells": []}
    further = conversation.model_copy(update=again | progress)
    if conversation.state in _UNFORMED:
        _handed_over(done, look, conversation, further, now)
    elif messages:
        task_id = derived("tsk", identity)
        task = Task(
            task_id=task_id,
            kind=KINDS[conversation.path],
            created_at=now,
            updated_at=now,
            subject_id=identity,
            next_enqueue_at=now,
            correlation_id=conversation.correlation_id,
        )
        done.creates += [*documents_of(further.model_copy(update={"task_id": task_id})), written(task)]
        done.told.append(task)
        done.more += 1


def _unformed(conversation: Conversation, look: Look, taken: Collection[str], left: Collection[str]) -> list[int]:
    """The numbers of the messages that stay and are in no cell that stays."""
    formed = conversation.formed_cells[-1].last if conversation.formed_cells else -1
    numbers = []
    for number, name in enumerate(message_ids(conversation)):
        memory = look.memory(name)
        if name in taken or memory is None or memory.status is Status.DELETED:
            continue
        if name in left or (conversation.state in _UNFORMED and number > formed):
            numbers.append(number)
    return numbers


def _handed_over(done: Without, look: Look, conversation: Conversation, further: Conversation, now: datetime) -> None:
    """End a conversation that is not formed to its end; its task forms `further`, or ends where that has no messages."""
    pair = Pair.of(look, conversation.task_id)
    if pair is None or pair.task.subject_id != conversation.id or pair.subject is None:
        return
    nothing_left = {"written": len(conversation.messages), "embedded": len(conversation.messages)}
    if not further.messages:
        turned = pair.turned("cancelled", now, subject=nothing_left, status="cancelled", next_enqueue_at=None)
        done.puts += turned.puts
        done.more += unfinished(turned.puts) - (not pair.task.finished)
        done.ended.append(turned.result)
        return
    begun = {"subject_id": further.id, "status": "accepted", "step": None, "progress": 0.0, "error": None, "attempts": 0, "waits": 0}
    free = {"leased_by": None, "leased_until": None, "waiting_for": None, "next_enqueue_at": now, "updated_at": now}
    task = pair.task.model_copy(update={**begun, **free, "generation": pair.task.generation + 1})
    done.puts += [
        written(task, onto=pair.held.document),
        replace(pair.subject, body={**pair.subject.body, **nothing_left, "state": "cancelled"}),
    ]
    done.creates += documents_of(further)
    done.more += int(pair.task.finished)
    done.told.append(task)


def batch_without(done: Without, look: Look, held: HeldBuffer, taken: Collection[str], now: datetime) -> bool:
    """Add what becomes of a batch that is still being gathered; False where something came after what is taken back meanwhile."""
    ids = message_ids(held.conversation(now, {}))
    first = next((number for number, name in enumerate(ids) if name in taken), None)
    if first is None:
        return True
    memories = [look.memory(name) for name in ids[first:] if name not in taken]
    if any(memory is None or memory.status is not Status.DELETED for memory in memories):
        return False
    kept = held.buffer.messages[:first]
    pair = None if kept else Pair.of(look, held.task_id)
    if kept or pair is None:
        shorter = held.closed() if not kept else replace(held, buffer=held.buffer.model_copy(update={"messages": kept}))
        done.puts.append(shorter.written)
        return True
    turned = pair.turned("cancelled", now, status="cancelled", step=None, next_enqueue_at=None)
    done.puts += turned.puts
    done.more += unfinished(turned.puts) - (not pair.task.finished)
    done.ended.append(turned.result)
    return True
