"""Batches: append messages, and hand them over to be formed.

Note: an append is a single conditional write beside the log and moves no head. Beginning a
generation, and handing it over to be formed, are commits, because a task begins or changes with
them. A write that loses a race reads again: no message is lost or doubled. For lost answers, a
caller only has to name an idempotency key.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from weakref import WeakValueDictionary

from memory_core.domain.chat.read_message import timed
from memory_core.domain.conversation import Conversation, Task
from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.messages import bytes_of_messages
from memory_core.domain.requests.maintenance import SETTINGS_ID, BatchInput
from memory_core.domain.results import Accepted, Buffered, Call
from memory_core.domain.scope import Owner
from memory_core.domain.skew import is_written_ahead
from memory_core.formation.form_conversation import Forming
from memory_core.formation.message_memories import MessageWriter
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.documents import (
    Append,
    HeldBuffer,
    buffer_id,
    documents_of,
    message_ids,
    messages_id,
    settings_in,
)
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import Receipt, earlier_result, receipt_id
from memory_core.ledger.sessions import clears_of
from memory_core.ports import Clock, Document, IdSource, LongTermStore, TaskQueue
from memory_core.tasks.leases import Lease, RetryLater
from memory_core.tasks.lifecycle import ACTOR, message_for, send_task
from memory_core.tasks.store import count_change, put_with_retry, task_document, task_in

PAUSE_S = 0.01
"""The pause after a lost race, times a random share."""
_NO_CALL = Call()


class Batches:
    """Gathers messages."""

    def __init__(
        self,
        ledger: Ledger,
        store: LongTermStore,
        handover: Handover,
        clock: Clock,
        ids: IdSource,
        deadline_s: float,
    ) -> None:
        self._ledger, self._store, self._handover = ledger, store, handover
        self._clock, self._ids, self._deadline_s = clock, ids, deadline_s
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def append(self, owner: Owner, request: BatchInput, call: Call) -> Buffered:
        """Add messages to the session's buffer; they are durable when this returns.

        Args:
            owner: Whose session it is.
            request: The messages and their session.
            call: Call with its idempotency key, if any.

        Raises:
            Conflict: The idempotency key was used for another request.
            TooLarge: The messages are too long.
            HeadMoved: Other calls append faster until the deadline.
            QuotaExceeded: There is no room.
            Unavailable: The store is down, or the user is being erased.

        """
        messages = timed(request.messages, self._clock.now())
        append = Append(
            self._ids.new("apd"),
            messages,
            self._clock.now(),
            call.correlation_id,
            request.time_zone,
        )
        turn = self._turns.setdefault(buffer_id(owner, request.session_id), asyncio.Lock())
        tried: list[HeldBuffer] = []
        try:
            async with turn, asyncio.timeout(self._deadline_s):
                while True:
                    added = await self._appended(owner, request.session_id, append, tried, call)
                    if added is not None:
                        break
                    await asyncio.sleep(PAUSE_S * random.uniform(0.1, 1.0))
        except TimeoutError:
            raise HeadMoved(
                "others append to this session faster than this call could; try again",
                retry_after_s=1,
            ) from None
        return await self._handover.completed(owner, added, call)

    async def state(self, owner: Owner, session_id: str) -> Buffered:
        """The state of the session's buffer.

        Args:
            owner: Whose session it is.
            session_id: Id of the session.

        """
        read_set = await self._look(owner, session_id, _NO_CALL)
        return self._handover.shown(HeldBuffer.of(owner, session_id, read_set))

    async def flush(self, owner: Owner, session_id: str, call: Call) -> Accepted | None:
        """Hand waiting messages over to be formed.

        Args:
            owner: Whose session it is.
            session_id: Id of the session.
            call: Call with its idempotency key, if any.

        Returns:
            None if no message waits.

        Raises:
            Conflict: The idempotency key was used for another request.
            HeadMoved: Other writers were faster until the deadline.
            Unavailable: The store is down, or the user is being erased.

        """
        read_set = await self._look(owner, session_id, call)
        earlier = earlier_result(read_set.documents, owner, call)
        if earlier is not None:
            return Accepted(str(earlier["task_id"]))
        batch = HeldBuffer.of(owner, session_id, read_set)
        return await self._handover.close(batch, call) if batch.buffer.messages else None

    async def _appended(
        self, owner: Owner, session_id: str, append: Append, tried: list[HeldBuffer], call: Call
    ) -> Added | None:
        """Try to append; None if another call was faster.

        `tried` holds the buffers of earlier tries, which may have got the append.
        """
        read_set = await self._look(owner, session_id, call)
        append = replace(append, time_zone=append.time_zone or settings_in(read_set).time_zone)
        batch = HeldBuffer.of(owner, session_id, read_set)
        earlier = earlier_result(read_set.documents, owner, call)
        if earlier is not None:
            return Added(self._handover.shown(batch, earlier["task_id"]))
        if append.id in batch.buffer.appends:
            return Added(self._handover.shown(batch))
        for before in tried:
            if (
                before.buffer.generation < batch.buffer.generation
                and append.id in await self._handed_over(before)
            ):
                return Added(self._handover.shown(batch, before.task_id))
        tried.append(batch)
        await self._ledger.check_room(owner, read_set.head, bytes_of_messages(append.messages))
        if not batch.takes(append):
            await self._handover.close(batch, replace(call, idempotency_key=None))
            return None
        grown = batch.grown(append)
        if (
            not batch.buffer.messages
            or self._handover.fills(grown)
            or call.idempotency_key is not None
        ):
            return await self._handover.add(batch, append, call)
        if await put_with_retry(self._store, owner, grown.written) is None:
            return None
        return Added(
            self._handover.shown(grown),
            grown.conversation(self._clock.now(), {}),
            len(batch.buffer.messages),
        )

    async def _handed_over(self, before: HeldBuffer) -> Sequence[str]:
        """The appends in the conversation that a generation has become.

        It is empty if the generation was thrown away.
        """
        name = messages_id(before.conversation_id)
        document = (await self._ledger.look(before.owner, [name])).documents.get(name)
        return [] if document is None else document.body["appends"]

    async def _look(self, owner: Owner, session_id: str, call: Call) -> ReadSet:
        name = receipt_id(owner, call)
        read_set = await self._ledger.look(
            owner, [SETTINGS_ID, buffer_id(owner, session_id), *([name] if name else [])]
        )
        if read_set.head is not None and read_set.head.state == "erasing":
            raise Unavailable("long_term", "this user is being erased", retry_after_s=30)
        return read_set


# The commits of a buffer: a generation begins with a waiting task, and ends as the conversation
# that this task forms.
#
# Note: a generation has a single task, from its first message until its memories. The commit that
# hands over the messages changes only the subject of the task, so callers and workers that wait for
# the task are not affected.


@dataclass(frozen=True, slots=True)
class BatchRules:
    """When a buffer is formed.

    Attributes:
        limit: Messages that are formed at once.
        idle: How long a buffer waits for further messages.

    """

    limit: int = 30
    idle: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class _Done:
    """The result of a commit.

    Attributes:
        batch: As it is now.
        task: Task that the commit began or changed; None if it did neither.
        conversation: Conversation that was handed over; None if none was.

    """

    batch: HeldBuffer
    task: Task | None
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """The answer to an append, and the conversation whose messages can't be found yet.

    Attributes:
        buffered: The answer.
        conversation: None if all its messages can be found.
        first: Number of the first appended message while the conversation is being gathered; None
            if it is handed over.

    """

    buffered: Buffered
    conversation: Conversation | None = None
    first: int | None = None


class Handover:
    """Begins and closes generations of buffers."""

    def __init__(
        self,
        ledger: Ledger,
        messages: MessageWriter,
        queue: TaskQueue,
        clock: Clock,
        rules: BatchRules,
    ) -> None:
        self._ledger, self._messages, self._queue, self._clock, self._rules = (
            ledger,
            messages,
            queue,
            clock,
            rules,
        )

    def fills(self, batch: HeldBuffer) -> bool:
        """Whether these messages are enough to be formed."""
        return len(batch.buffer.messages) >= self._rules.limit

    def due_at(self, batch: HeldBuffer) -> datetime | None:
        """When the buffer is flushed if no further message comes; None for an empty buffer."""
        last = batch.buffer.last_append_at
        return None if last is None else last + self._rules.idle

    def shown(
        self, batch: HeldBuffer, task_id: str | None = None, degraded: tuple[str, ...] = ()
    ) -> Buffered:
        """The buffer as callers see it.

        Args:
            batch: The buffer.
            task_id: Id of the task that forms its messages; None while they are gathered.
            degraded: Parts of the service that were down.

        """
        return Buffered(len(batch.buffer.messages), self.due_at(batch), task_id, degraded)

    async def add(self, batch: HeldBuffer, append: Append, call: Call) -> Added | None:
        """Append in a commit, and hand the buffer over if that fills it.

        Args:
            batch: As it was read.
            append: Append to add.
            call: Call with its idempotency key, if any.

        Returns:
            None if another call was faster.

        """

        def decide(read_set: ReadSet) -> Changes[_Done | None]:
            now = HeldBuffer.of(batch.owner, batch.buffer.session_id, read_set)
            again = append.id in now.buffer.appends
            if again or now.buffer.generation != batch.buffer.generation or not now.takes(append):
                return Changes(None)
            grown = now.grown(append)
            if self.fills(grown):
                return self._handing_over(grown, read_set)
            return self._gathering(grown, opens=not now.buffer.messages)

        done = await self._committed(batch, decide, call)
        if done is None:
            return None
        degraded = () if done.task is None else await self._tell(batch.owner, done)
        if done.conversation is not None:
            return Added(self.shown(done.batch, batch.task_id, degraded), done.conversation)
        gathered = batch.grown(append).conversation(self._clock.now(), {})
        return Added(self.shown(done.batch, None, degraded), gathered, len(batch.buffer.messages))

    async def completed(self, owner: Owner, added: Added, call: Call) -> Buffered:
        """The answer to an append, once the appended messages can be found.

        Args:
            owner: Whose session it is.
            added: As `add` returned it.
            call: Call on whose behalf it happens.

        """
        if added.conversation is None:
            return added.buffered
        if added.first is None:
            missing = await self._messages.complete_at_the_door(owner, added.conversation, call)
        else:
            missing = await self._messages.write_ahead(owner, added.conversation, added.first, call)
        return replace(added.buffered, degraded=(*added.buffered.degraded, *missing))

    async def close(self, batch: HeldBuffer, call: Call) -> Accepted:
        """Hand this generation over to be formed, unless another worker has done so.

        Args:
            batch: The generation.
            call: Call with its idempotency key, if any.

        """

        def decide(read_set: ReadSet) -> Changes[_Done | None]:
            now = HeldBuffer.of(batch.owner, batch.buffer.session_id, read_set)
            if now.buffer.generation != batch.buffer.generation:
                return Changes(None)
            return self._handing_over(now, read_set)

        done = await self._committed(batch, decide, call)
        if done is None:
            return Accepted(batch.task_id)
        degraded = await self._tell(batch.owner, done)
        missing = (
            ()
            if done.conversation is None
            else await self._messages.complete_at_the_door(batch.owner, done.conversation, call)
        )
        return Accepted(batch.task_id, (*degraded, *missing))

    def _gathering(self, batch: HeldBuffer, *, opens: bool) -> Changes[_Done | None]:
        """Write the buffer; if the append opens it, also the task that waits."""
        now = self._clock.now()
        task = self._waiting(batch, now) if opens else None
        puts = (batch.written, *([task_document(task)] if task is not None else []))
        return _changes(_Done(batch, task), puts, (), more=int(opens))

    def _handing_over(self, batch: HeldBuffer, read_set: ReadSet) -> Changes[_Done | None]:
        """Write the next generation, and the conversation that this generation becomes.

        The task is about the conversation from now on.
        """
        now = self._clock.now()
        before = task_in(read_set.documents.get(batch.task_id), read_set.head)
        clears = clears_of(
            read_set.documents.get(session_document_id(batch.owner, batch.buffer.session_id))
        )
        conversation = batch.conversation(now, clears)
        # Existing memories are not written again, since they may have been deleted.
        known = [read_set.memory(name) is not None for name in message_ids(conversation)]
        conversation = conversation.changed(written=[*known, False].index(False))
        waiting = self._waiting(batch, now) if before is None else before.task
        task = waiting.begun_again(conversation.id, now)
        state, messages = documents_of(conversation)
        messages_with_appends = replace(
            messages, body={**messages.body, "appends": batch.buffer.appends}
        )
        puts = (
            batch.closed().written,
            task_document(task, onto=None if before is None else before.document),
        )
        creates = (state, messages_with_appends)
        done = _Done(batch.closed(), task, conversation)
        return _changes(done, puts, creates, more=int(before is None or before.task.finished))

    def _waiting(self, batch: HeldBuffer, now: datetime) -> Task:
        return Task(
            task_id=batch.task_id,
            kind="flush",
            step="gathering",
            created_at=now,
            updated_at=now,
            subject_id=buffer_id(batch.owner, batch.buffer.session_id),
            next_enqueue_at=self.due_at(batch),
            correlation_id=batch.buffer.correlation_id,
        )

    async def _committed(
        self, batch: HeldBuffer, decide: Callable[[ReadSet], Changes[_Done | None]], call: Call
    ) -> _Done | None:
        session = batch.buffer.session_id
        ids = [
            buffer_id(batch.owner, session),
            batch.task_id,
            session_document_id(batch.owner, session),
        ]
        ids += message_ids(batch.conversation(self._clock.now(), {}))
        receipt: Receipt[_Done | None] = Receipt(_receipt_fields, lambda earlier, read_set: None)
        return (
            await self._ledger.commit(batch.owner, decide, ids=ids, call=call, receipt=receipt)
        ).result

    async def _tell(self, owner: Owner, done: _Done) -> tuple[str, ...]:
        assert done.task is not None
        delay = timedelta(0) if done.conversation is not None else self._rules.idle
        return await send_task(self._queue, "formation", message_for(owner, done.task), delay)


def _receipt_fields(done: _Done | None) -> dict[str, Any] | None:
    """The fields of the receipt: the task that forms the handed over messages."""
    if done is None:
        return None
    task = None if done.conversation is None else done.task
    return {"task_id": None if task is None else task.task_id}


def _changes(
    done: _Done, puts: tuple[Document, ...], creates: tuple[Document, ...], *, more: int
) -> Changes[_Done | None]:
    """The commit of a buffer; a buffer that was never written is created.

    So if two callers begin it, the slower caller has to read again.
    """
    buffer, *other_puts = puts
    if buffer.tag is None:
        return Changes(
            done, puts=tuple(other_puts), creates=(buffer, *creates), head_fields=count_change(more)
        )
    return Changes(done, puts=puts, creates=creates, head_fields=count_change(more))


class BufferWork:
    """The work on the task of a buffer's generation: wait, hand over, form."""

    def __init__(self, ledger: Ledger, handover: Handover, forming: Forming, clock: Clock) -> None:
        self._ledger, self._handover, self._forming, self._clock = ledger, handover, forming, clock

    async def gather(self, lease: Lease) -> RetryLater | None:
        """Hand the messages over when the buffer has been idle.

        Once that is done, by any worker, form them.
        """
        read_set = await self._ledger.look(lease.owner, [lease.task.subject_id])
        document = read_set.documents.get(lease.task.subject_id)
        if document is None or document.kind != "buffer":
            return await self._forming.form(lease)
        batch = HeldBuffer.of(lease.owner, document.body["session_id"], read_set)
        due_at = self._handover.due_at(batch)
        if due_at is None or batch.task_id != lease.task.task_id:
            return None
        now = self._clock.now()
        appended_at = batch.buffer.last_append_at
        if due_at > now and not (appended_at and is_written_ahead(appended_at, now)):
            return RetryLater(due_at - now, {"step": "gathering"})
        await self._handover.close(batch, Call(lease.task.correlation_id, actor=ACTOR))
        return None
