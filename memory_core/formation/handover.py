"""The commits of a buffer's life: its generation begins with a task that waits, and ends as the conversation that this task then forms.

Note: there is one task a generation, from its first message until its memories. What it is about changes in the commit
that hands the messages over, and with it nothing else: callers that watch it, and workers that wait for it, go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory_core.domain.conversation import Conversation
from memory_core.domain.results import Accepted, Buffered, Call
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task
from memory_core.formation.forming import Forming
from memory_core.formation.message_memories import MessageWriter
from memory_core.ledger.buffer import Append, HeldBuffer, buffer_id
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.conversations import documents_of, message_ids
from memory_core.ledger.ends import ACTOR
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.leases import Later, Lease
from memory_core.ledger.messages import message_for, tell
from memory_core.ledger.pair import counted
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.sessions import clears_of
from memory_core.ledger.tasks import held_task, written
from memory_core.ports import Clock, Document, TaskQueue


@dataclass(frozen=True, slots=True)
class BatchRules:
    """limit: messages that are formed at once. idle: how long a buffer waits for more of them."""

    limit: int = 30
    idle: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class _Done:
    """What a commit did: the buffer as it is now, the task that it began or changed, and the conversation that was handed over."""

    held: HeldBuffer
    task: Task | None
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """The answer to an append, and the conversation whose messages are not found yet.

    first: the number of the first message that was appended, where the conversation is still being gathered; None where it is handed over.
    """

    buffered: Buffered
    conversation: Conversation | None = None
    first: int | None = None


class Handover:
    """Begins and closes generations of buffers."""

    def __init__(self, ledger: Ledger, messages: MessageWriter, queue: TaskQueue, clock: Clock, rules: BatchRules) -> None:
        self._ledger, self._messages, self._queue, self._clock, self._rules = ledger, messages, queue, clock, rules

    def fills(self, held: HeldBuffer) -> bool:
        """Whether these are enough messages to be formed."""
        return len(held.buffer.messages) >= self._rules.limit

    def due_at(self, held: HeldBuffer) -> datetime | None:
        """When the buffer is flushed if nothing more comes; None for an empty one."""
        last = held.buffer.last_append_at
        return None if last is None else last + self._rules.idle

    def shown(self, held: HeldBuffer, task_id: str | None = None, degraded: tuple[str, ...] = ()) -> Buffered:
        """The buffer as callers see it."""
        return Buffered(len(held.buffer.messages), self.due_at(held), task_id, degraded)

    async def add(self, held: HeldBuffer, append: Append, call: Call) -> Added | None:
        """Append in a commit, and hand over when that fills the buffer. None when another call was faster."""

        def decide(look: Look) -> Changes[_Done | None]:
            now = HeldBuffer.of(held.owner, held.buffer.session_id, look)
            again = earlier_result(look.documents, held.owner, call) is not None or append.id in now.buffer.appends
            if again or now.buffer.generation != held.buffer.generation or not now.takes(append):
                return Changes(None)
            grown = now.grown(append)
            if self.fills(grown):
                return self._handing_over(grown, look, call)
            return self._gathering(grown, look, call, opens=not now.buffer.messages)

        done = await self._committed(held, decide, call)
        if done is None:
            return None
        degraded = () if done.task is None else await self._tell(held.owner, done)
        if done.conversation is not None:
            return Added(self.shown(done.held, held.task_id, degraded), done.conversation)
        gathered = held.grown(append).conversation(self._clock.now(), {})
        return Added(self.shown(done.held, None, degraded), gathered, len(held.buffer.messages))

    async def completed(self, owner: Owner, added: Added, call: Call) -> Buffered:
        """The answer to an append, once what was appended is found."""
        if added.conversation is None:
            return added.buffered
        if added.first is None:
            missing = await self._messages.complete_at_the_door(owner, added.conversation, call)
        else:
            missing = await self._messages.write_ahead(owner, added.conversation, added.first, call)
        return replace(added.buffered, degraded=(*added.buffered.degraded, *missing))

    async def close(self, held: HeldBuffer, call: Call) -> Accepted:
        """Hand this generation over to be formed, unless another worker has done so."""

        def decide(look: Look) -> Changes[_Done | None]:
            now = HeldBuffer.of(held.owner, held.buffer.session_id, look)
            again = earlier_result(look.documents, held.owner, call) is not None
            if again or now.buffer.generation != held.buffer.generation:
                return Changes(None)
            return self._handing_over(now, look, call)

        done = await self._committed(held, decide, call)
        if done is None:
            return Accepted(held.task_id)
        degraded = await self._tell(held.owner, done)
        missing = () if done.conversation is None else await self._messages.complete_at_the_door(held.owner, done.conversation, call)
        return Accepted(held.task_id, (*degraded, *missing))

    def _gathering(self, held: HeldBuffer, look: Look, call: Call, *, opens: bool) -> Changes[_Done | None]:
        """The buffer with more in it; when it opens with that, the task that waits for the rest."""
        now = self._clock.now()
        task = self._waiting(held, now) if opens else None
        puts = (held.written, *([written(task)] if task is not None else []))
        receipts = receipt(held.owner, call, now, {"task_id": None})
        return _changes(_Done(held, task), puts, receipts, more=int(opens))

    def _handing_over(self, held: HeldBuffer, look: Look, call: Call) -> Changes[_Done | None]:
        """The next generation, the conversation that this one becomes, and its task, which is about that from now on."""
        now = self._clock.now()
        before = held_task(look.documents.get(held.task_id), look.head)
        clears = clears_of(look.documents.get(session_document_id(held.owner, held.buffer.session_id)))
        conversation = held.conversation(now, clears)
        # What is a memory already is not written again: it may have been deleted since.
        known = [look.memory(name) is not None for name in message_ids(conversation)]
        conversation = conversation.model_copy(update={"written": [*known, False].index(False)})
        begun = {"status": "accepted", "subject_id": conversation.id, "step": None, "error": None, "attempts": 0, "waits": 0}
        free = {"leased_by": None, "leased_until": None, "waiting_for": None, "next_enqueue_at": now, "updated_at": now}
        task = (self._waiting(held, now) if before is None else before.task).model_copy(update=begun | free)
        state, messages = documents_of(conversation)
        told = replace(messages, body={**messages.body, "appends": held.buffer.appends})
        puts = (held.closed().written, written(task, onto=None if before is None else before.document))
        creates = (state, told, *receipt(held.owner, call, now, {"task_id": task.task_id}))
        done = _Done(held.closed(), task, conversation)
        return _changes(done, puts, creates, more=int(before is None or before.task.finished))

    def _waiting(self, held: HeldBuffer, now: datetime) -> Task:
        return Task(
            task_id=held.task_id,
            kind="flush",
            step="gathering",
            created_at=now,
            updated_at=now,
            subject_id=buffer_id(held.owner, held.buffer.session_id),
            next_enqueue_at=self.due_at(held),
            correlation_id=held.buffer.correlation_id,
        )

    async def _committed(self, held: HeldBuffer, decide: Callable[[Look], Changes[_Done | None]], call: Call) -> _Done | None:
        name = receipt_id(held.owner, call)
        session = held.buffer.session_id
        ids = [buffer_id(held.owner, session), held.task_id, session_document_id(held.owner, session), *([name] if name else [])]
        ids += message_ids(held.conversation(self._clock.now(), {}))
        return (await self._ledger.commit(held.owner, decide, ids=ids, call=call)).result

    async def _tell(self, owner: Owner, done: _Done) -> tuple[str, ...]:
        assert done.task is not None
        delay = timedelta(0) if done.conversation is not None else self._rules.idle
        return await tell(self._queue, "formation", message_for(owner, done.task), delay)


def _changes(done: _Done, puts: tuple[Document, ...], creates: tuple[Document, ...], *, more: int) -> Changes[_Done | None]:
    """A buffer that was never written is created, so that of two that begin it one has to look again."""
    buffer, *others = puts
    if buffer.tag is None:
        return Changes(done, puts=tuple(others), creates=(buffer, *creates), head_fields=counted(more))
    return Changes(done, puts=puts, creates=creates, head_fields=counted(more))


class Gathering:
    """The work on the task of a buffer's generation: wait until nothing more comes, hand over, form."""

    def __init__(self, ledger: Ledger, handover: Handover, forming: Forming, clock: Clock) -> None:
        self._ledger, self._handover, self._forming, self._clock = ledger, handover, forming, clock

    async def gather(self, lease: Lease) -> Later | None:
        """Hand the messages over when the buffer has been idle; once that is done, by whomever, form them."""
        look = await self._ledger.look(lease.owner, [lease.task.subject_id])
        found = look.documents.get(lease.task.subject_id)
        if found is None or found.kind != "buffer":
            return await self._forming.form(lease)
        held = HeldBuffer.of(lease.owner, found.body["session_id"], look)
        due_at = self._handover.due_at(held)
        if due_at is None or held.task_id != lease.task.task_id:
            return None
        left = due_at - self._clock.now()
        if left > timedelta(0):
            return Later(left, {"step": "gathering"})
        await self._handover.close(held, Call(lease.task.correlation_id, actor=ACTOR))
        return None
