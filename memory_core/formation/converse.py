"""Converse: what was told is stored with its task and found from then on; what is formed of it comes by itself.

So come whole conversations, and an agent's own words, which take a shorter path. Note: the queue is told after the commit and may be down.
That refuses nothing: what is stored is found by the sweep.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

import orjson

from memory_core.domain.conversation import Conversation, Message, Path
from memory_core.domain.requests import ConverseInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.domain.spoken import AgentMemoryInput
from memory_core.domain.task import Task, TaskKind
from memory_core.formation.callbacks import Callbacks
from memory_core.formation.message_memories import MOST_AT_ONCE, MessageWriter, Writing, with_written
from memory_core.formation.plan import SessionGrew
from memory_core.ledger.beginning import Beginning
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.conversations import documents_of, message_ids
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.sessions import clears_of
from memory_core.ports import Clock, IdSource

_KINDS: dict[Path, TaskKind] = {"converse": "converse", "agent": "agent_memory"}
BESIDE = 5
"""Documents of the accepting commit besides the messages: the conversation, its words, its task, the receipt and the session."""


class Converser:
    """Takes conversations in."""

    def __init__(self, beginning: Beginning, messages: MessageWriter, callbacks: Callbacks, clock: Clock, ids: IdSource) -> None:
        self._beginning, self._messages, self._callbacks, self._clock, self._ids = beginning, messages, callbacks, clock, ids
        self._turns: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = WeakValueDictionary()

    async def converse(self, owner: Owner, told: ConverseInput, call: Call) -> Accepted:
        """Store a conversation and send it on its way. Durable when it returns.

        The same again is another conversation, unless it has the same idempotency key. Raises Invalid for a callback address that
        will never be called, Conflict, TooLarge, Unavailable.
        """
        self._callbacks.check(told.callback_url)
        messages = [Message.model_validate(message.model_dump()) for message in told.messages]
        return await self._begin(owner, "converse", messages, told, call, told.callback_url)

    async def remember_words(self, owner: Owner, told: AgentMemoryInput, call: Call) -> Accepted:
        """Store an agent's own words, to become one memory. Durable when it returns. Raises Conflict, TooLarge, Unavailable."""
        return await self._begin(owner, "agent", told.told(self._clock.now(), "assistant", told.agent_id), told, call)

    async def _begin(
        self,
        owner: Owner,
        path: Path,
        messages: list[Message],
        told: ConverseInput | AgentMemoryInput,
        call: Call,
        callback_url: str | None = None,
    ) -> Accepted:
        now, task_id = self._clock.now(), self._ids.new("tsk")
        conversation = Conversation(
            id=self._ids.new("cnv"),
            session_id=told.session_id,
            agent_id=told.agent_id,
            path=path,
            messages=messages,
            task_id=task_id,
            correlation_id=call.correlation_id,
            created_at=now,
        )
        task = Task(
            task_id=task_id,
            kind=_KINDS[path],
            created_at=now,
            updated_at=now,
            subject_id=conversation.id,
            next_enqueue_at=now,
            callback_url=callback_url,
            correlation_id=call.correlation_id,
        )
        return await self._accept(owner, conversation, task, call)

    async def _accept(self, owner: Owner, conversation: Conversation, task: Task, call: Call) -> Accepted:
        """Store the conversation with its first messages, then the other messages."""
        session = [] if conversation.session_id is None else [session_document_id(owner, conversation.session_id)]
        reads = [*session, *message_ids(conversation)[:MOST_AT_ONCE]]
        written = conversation
        async with self._turns.setdefault((owner, conversation.session_id or conversation.id), asyncio.Lock()):
            while True:
                look = await self._beginning.look(owner, task, reads, call)
                writing = await self._messages.prepared(owner, conversation, look)

                def beside(seen: Look, writing: Writing = writing) -> Changes[Any]:
                    nonlocal written
                    clears = dict(clears_of(seen.documents.get(session[0]))) if session else {}
                    weight = 2 * len(orjson.dumps([message.model_dump(mode="json") for message in conversation.messages]))
                    planned = self._messages.plan(owner, conversation, writing, seen, beside=BESIDE, weight=weight)
                    written = with_written(conversation.model_copy(update={"clears": clears}), writing, planned.result)
                    return replace(planned, creates=documents_of(written))

                try:
                    accepted = await self._beginning.begin(owner, task, lambda seen: (), call, reads=reads, beside=beside, basis=look)
                    break
                except SessionGrew:
                    continue
        if accepted.task_id != task.task_id:
            return accepted
        missing = await self._messages.complete_at_the_door(owner, written, call)
        return replace(accepted, degraded=(*accepted.degraded, *missing))
