"""The work on a conversation's task, cell by cell.

Each cell is a single commit, or all cells together are. The work can be stopped and continued at
any point.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, cast

from memory_core.domain.conversation import Cell, Conversation, Task, counts_of
from memory_core.domain.errors import NotFound
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.statements.pasted_text import quote_announced_texts
from memory_core.domain.statements.role_play import quote_role_play
from memory_core.formation.cell_plan import ReadyCell
from memory_core.formation.cell_work import Formed, WriteTurns
from memory_core.formation.form_cell import Former, MessagesGone
from memory_core.formation.message_memories import MessageWriter
from memory_core.formation.wishes import Wishes, with_earlier_effects
from memory_core.formation.without_messages import ConversationWrites, without_deleted
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.documents import conversation_of, message_ids, messages_id, state_of
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Clock, Document, TaskQueue
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.leases import Lease, RetryLater
from memory_core.tasks.lifecycle import ACTOR, TaskFinisher, message_for, queue_of, send_task
from memory_core.tasks.store import task_document, with_delivery


class Forming:
    """Forms the conversations of tasks."""

    def __init__(
        self,
        ledger: Ledger,
        messages: MessageWriter,
        former: Former,
        wishes: Wishes,
        steps: Steps,
        finisher: TaskFinisher,
        queue: TaskQueue,
        clock: Clock,
    ) -> None:
        self._ledger, self._messages, self._former, self._wishes = ledger, messages, former, wishes
        self._steps, self._finisher, self._queue, self._clock = steps, finisher, queue, clock
        self._completing = WriteTurns()

    async def form(self, lease: Lease) -> RetryLater | None:
        """Form the remaining cells of the conversation; its last commit ends the task."""
        owner, task = lease.owner, lease.task
        conversation, read_set = await self._conversation(lease)
        if conversation is None or conversation.state != "pending":
            return None
        call = Call(correlation_id=task.correlation_id, actor=ACTOR)
        conversation = _with_quoted_texts(await self._complete(owner, conversation, call))
        conversation, effects = await self._wishes.carry_out(owner, conversation, call)
        heeded = with_earlier_effects(task.result or {}, effects)
        await lease.note("boundary", task.progress)
        cells = await self._former.cells(owner, conversation, self._steps)
        left = cells[len(conversation.formed_cells) :]
        if not left:
            raise RuntimeError(
                f"of {len(cells)} cells none is left, but the conversation is not formed"
            )
        done, before = list(conversation.formed_cells), cast("ReadSet | None", read_set)
        prepared: dict[int, ReadyCell] = {}
        while left:
            formed = await self._cells(
                lease,
                conversation,
                left,
                len(cells),
                call,
                counts_of(done),
                heeded,
                before,
                prepared,
            )
            if not formed:
                break
            before, left = None, left[len(formed) :]
            done += [each.cell for each in formed]
        return None

    async def _conversation(self, lease: Lease) -> tuple[Conversation | None, ReadSet]:
        """The conversation, and the read set with it.

        None if the conversation ended meanwhile and its messages were deleted, because no memory
        was made of them.
        """
        name = lease.task.subject_id
        read_set = await self._ledger.look(lease.owner, [name, messages_id(name)])
        conversation, state = conversation_of(read_set, name), state_of(read_set, name)
        if conversation is None and (state is None or state.state == "pending"):
            raise NotFound("the conversation of this task is gone")
        return conversation, read_set

    async def _complete(self, owner: Owner, conversation: Conversation, call: Call) -> Conversation:
        """The conversation with all its messages written and embedded.

        It waits for earlier conversations of the user: the first to be embedded is read while the
        next is embedded.
        """
        async with self._completing.of(owner) as turn:
            await turn.take()
            return await self._messages.complete(owner, conversation, call)

    async def _cells(
        self,
        lease: Lease,
        conversation: Conversation,
        left: Sequence[Cell],
        total: int,
        call: Call,
        counts: dict[str, int],
        heeded: Mapping[str, Any],
        before: ReadSet | None,
        prepared: MutableMapping[int, ReadyCell],
    ) -> Sequence[Formed]:
        """Form the next of the cells that are left, or all of them."""
        ended: list[Task] = []

        async def report(cell: Cell, step: str, share: float) -> None:
            progress = {"conversation_id": conversation.id, "counts": counts, **heeded}
            await lease.note(
                f"cell {cell.number + 1} of {total}: {step}",
                (cell.number + share) / total,
                result=progress,
            )

        def finish(further: Conversation) -> tuple[Document, ...]:
            task, documents = self._ended(lease, further, heeded)
            ended[:] = [task]
            return documents

        try:
            formed = await self._former.form(
                lease.owner,
                conversation,
                left,
                total,
                self._steps,
                call,
                finish=finish,
                report=report,
                before=before,
                prepared=prepared,
            )
        except MessagesGone:
            await self._go_on_without(lease.owner, conversation, heeded, call)
            return ()
        for task in ended:
            await self._finisher.announce(lease.owner, task)
        return formed

    async def _go_on_without(
        self, owner: Owner, conversation: Conversation, heeded: Mapping[str, Any], call: Call
    ) -> None:
        """Hand the task over to a conversation without the deleted messages.

        The task ends if no message is left. The effects of wishes stay in its result.
        """
        messages = message_ids(conversation)
        read_set = await self._ledger.look(owner, messages)
        firsts = {
            memory.conversation_id
            for name in messages
            if (memory := read_set.memory(name)) is not None and memory.conversation_id is not None
        }
        names = [conversation.id, *sorted(firsts - {conversation.id})]
        ids = [
            conversation.task_id,
            *messages,
            *(part for name in names for part in (name, messages_id(name))),
        ]

        def decide(seen: ReadSet) -> Changes[ConversationWrites]:
            state = state_of(seen, conversation.id)
            unformed = state is not None and state.state in ("pending", "poisoned")
            done = (
                without_deleted(seen, conversation, heeded, self._clock.now())
                if unformed
                else ConversationWrites()
            )
            return Changes(
                done,
                puts=tuple(done.puts.values()),
                creates=tuple(done.creates),
                reads=frozenset(messages),
                head_fields=done.head_fields,
                deletes=tuple(done.deletes),
            )

        done = (await self._ledger.commit(owner, decide, ids=ids, call=call)).result
        for task in done.ready:
            await send_task(self._queue, queue_of(task.kind), message_for(owner, task))
        for task in done.ended:
            await self._finisher.announce(owner, task)

    def _ended(
        self, lease: Lease, conversation: Conversation, heeded: Mapping[str, Any]
    ) -> tuple[Task, tuple[Document, ...]]:
        """The task as the last forming commit leaves it, and the delivery to its callback.

        It is written over any progress that is written meanwhile.
        """
        now = self._clock.now()
        result = {
            "conversation_id": conversation.id,
            "cells": [cell.public() for cell in conversation.formed_cells],
            "counts": counts_of(conversation.formed_cells),
            **heeded,
        }
        task, deliveries = with_delivery(lease.task.succeeded(result, now), now)
        return task, (
            replace(task_document(task, onto=lease.stored.document), tag=None),
            *deliveries,
        )


def _with_quoted_texts(conversation: Conversation) -> Conversation:
    """The conversation as it is formed, with roles and announced texts as quotations.

    The messages keep the memories that they have.
    """
    messages = quote_announced_texts(quote_role_play(conversation.messages))
    if messages == conversation.messages:
        return conversation
    named = zip(messages, message_ids(conversation), strict=True)
    return conversation.changed(
        messages=[message.changed(memory_id=name) for message, name in named]
    )
