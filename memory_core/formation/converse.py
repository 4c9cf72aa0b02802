"""Converse: what was told is stored with its task in one commit, and answered; the rest happens by itself.

So come whole conversations, and an agent's own words, which take a shorter path. One would get wrong: the queue is told after the
commit and may be down. That refuses nothing: what is stored is found by the sweep.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.chat_messages import timed
from memory_core.domain.conversation import Conversation, Message, Path
from memory_core.domain.requests import ConverseInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.domain.spoken import AgentMemoryInput
from memory_core.domain.task import Task, TaskKind
from memory_core.formation.callbacks import Callbacks
from memory_core.ledger.beginning import Beginning
from memory_core.ledger.commit import Look
from memory_core.ledger.conversations import documents_of
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.sessions import clears_of
from memory_core.ports import Clock, Document, IdSource

_KINDS: dict[Path, TaskKind] = {"converse": "converse", "agent": "agent_memory"}


class Converser:
    """Takes conversations in."""

    def __init__(self, beginning: Beginning, callbacks: Callbacks, clock: Clock, ids: IdSource) -> None:
        self._beginning, self._callbacks, self._clock, self._ids = beginning, callbacks, clock, ids

    async def converse(self, owner: Owner, told: ConverseInput, call: Call) -> Accepted:
        """Store a conversation and send it on its way. Durable when it returns.

        The same again is another conversation, unless it has the same idempotency key. Raises Invalid for a callback address that
        will never be called, Conflict, TooLarge, Unavailable.
        """
        self._callbacks.check(told.callback_url)
        messages = timed(told.messages, self._clock.now())
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
        session = [] if told.session_id is None else [session_document_id(owner, told.session_id)]

        def subject(look: Look) -> Sequence[Document]:
            clears = dict(clears_of(look.documents.get(session[0]))) if session else {}
            return documents_of(conversation.model_copy(update={"clears": clears}))

        return await self._beginning.begin(owner, task, subject, call, reads=session)
