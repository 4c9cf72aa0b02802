"""Append items to a session in order, each as a memory of its own.

They are formed only if the caller asks for that. As many as fit are written in each commit, before
the answer. A call with an idempotency key leaves a receipt with each commit, so that the same call
goes on where it ended. Forming begins afterwards, as a conversation of messages that are memories
already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from memory_core.domain.chat.session_items import SessionItem
from memory_core.domain.conversation import Conversation, Message, Task
from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.importance import importance_by_type
from memory_core.domain.memory import Memory, MemoryType, OnConflict, stored_bytes
from memory_core.domain.messages import MESSAGE, PREFIX
from memory_core.domain.ranking.index_terms import TurnTerms, turn_of, with_lexical
from memory_core.domain.requests.maintenance import SETTINGS_ID
from memory_core.domain.requests.memories import AppendInput
from memory_core.domain.results import Appended, Call
from memory_core.domain.scope import Owner
from memory_core.domain.statements.worth import worth_of
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.versions import embed_memories
from memory_core.formation.message_memories import MOST_AT_ONCE, MOST_TRIES, SEARCH, TOO_FAST
from memory_core.formation.save_plan import LONG_CHARACTERS, Prepared, SessionGrew, append_turn
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.documents import documents_of, settings_in
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import Receipt, earlier_result, receipt_id
from memory_core.ledger.sessions import Session, clears_of
from memory_core.ports import Clock, Embedder, IdSource
from memory_core.tasks.lifecycle import TaskStarter

EMBEDDED_WITHIN_S: Final = 5.0
"""Seconds that a commit waits for vectors; without them items are found by their words."""


@dataclass(frozen=True, slots=True)
class _Drafts:
    """The items of a call as memories that are not analysed yet.

    Attributes:
        conversation_id: From which their ids derive.
        memories: In order.

    """

    conversation_id: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """The result of a commit.

    Attributes:
        count: How many of the memories it wrote.
        conversation_id: From which the ids of all memories of the call derive.
        degraded: Parts of the service that were down.

    """

    count: int
    conversation_id: str
    degraded: tuple[str, ...] = ()


class SessionAppender:
    """Appends to the sessions of any owner."""

    def __init__(
        self, ledger: Ledger, embedder: Embedder, starter: TaskStarter, clock: Clock, ids: IdSource
    ) -> None:
        self._ledger, self._embedder, self._starter = (ledger, embedder, starter)
        self._clock, self._ids = clock, ids
        self._turns: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = WeakValueDictionary()

    async def append(
        self, owner: Owner, session_id: str, request: AppendInput, call: Call
    ) -> Appended:
        """Append the items in order; they are durable when this returns.

        Args:
            owner: Whose session it is.
            session_id: Id of the session.
            request: The items.
            call: Call with its idempotency key, if any.

        Raises:
            Conflict: The idempotency key was used for another request.
            HeadMoved: Other calls write to the session faster than this.
            QuotaExceeded: There is no room for all items.
            Unavailable: The store is down.

        """
        now, conversation_id = self._clock.now(), self._ids.new("cnv")
        drafts = _drafts(owner, session_id, request, conversation_id, now, call)
        done, part, degraded = 0, 0, dict[str, None]()
        async with self._turns.setdefault((owner, session_id), asyncio.Lock()):
            while done < len(drafts.memories):
                written = await self._write_some(owner, session_id, drafts, done, call, part)
                if written.conversation_id != drafts.conversation_id:  # this call was made before
                    drafts = _drafts(owner, session_id, request, written.conversation_id, now, call)
                done, part = done + written.count, part + 1
                degraded |= dict.fromkeys(written.degraded)
        task_id = None
        if request.form and any(memory.searchable for memory in drafts.memories):
            task_id, more = await self._form(owner, session_id, request, drafts, call)
            degraded |= dict.fromkeys(more)
        return Appended(tuple(memory.id for memory in drafts.memories), task_id, tuple(degraded))

    async def _write_some(
        self, owner: Owner, session_id: str, drafts: _Drafts, done: int, call: Call, part: int
    ) -> _Written:
        """Write as many of the memories after the first `done` as fit into a commit.

        If this very call has written them before, that commit's receipt answers.
        """
        session, key = session_document_id(owner, session_id), receipt_id(owner, call, part)
        ids, memories = [session, *([key] if key else [])], drafts.memories[done:]
        receipt: Receipt[_Written] = Receipt(
            lambda written: {"count": written.count, "conversation_id": written.conversation_id},
            lambda earlier, read_set: _before(earlier, owner, call),
            part,
        )
        for _ in range(MOST_TRIES):
            read_set = await self._ledger.look(owner, ids)
            if (earlier := earlier_result(read_set.documents, owner, call, part)) is not None:
                return _before(earlier, owner, call)
            prepared = await _prepared(
                memories[:MOST_AT_ONCE], Session(owner, session_id, read_set.documents.get(session))
            )
            missing = await self._embed([item.memory for item in prepared])
            with suppress(SessionGrew):
                decide = partial(self._decide, owner, session_id, prepared, memories, drafts)
                committed = await self._ledger.commit(
                    owner, decide, ids=ids, basis=read_set, call=call, receipt=receipt
                )
                return replace(committed.result, degraded=missing)
        raise HeadMoved(TOO_FAST, retry_after_s=1)

    async def _embed(self, memories: Sequence[Memory]) -> tuple[str, ...]:
        """Give the memories their vectors; return `("search",)` if that takes too long."""
        try:
            async with asyncio.timeout(EMBEDDED_WITHIN_S):
                await embed_memories(self._embedder, memories)
        except (TimeoutError, Unavailable):
            return (SEARCH,)
        return ()

    def _decide(
        self,
        owner: Owner,
        session_id: str,
        prepared: Sequence[Prepared],
        memories: Sequence[Memory],
        drafts: _Drafts,
        read_set: ReadSet,
    ) -> Changes[_Written]:
        """Write as many of the prepared memories as fit.

        `memories` are all that are still to be written; memories that this commit does not hold
        must have room, too. Raises SessionGrew if the session's last turn has changed.
        """
        page, count = ChangeSet(owner, read_set, read_set.now, weighs=True, beside=1), 0
        for item in prepared:
            change = Change("created", item.memory)
            if count and not page.takes(change):
                break
            if item.turn is None:
                page.apply([change])
            else:
                append_turn(page, item)
            count += 1
        return Changes(
            _Written(count, drafts.conversation_id),
            tuple(page.changes),
            tuple(document.document for document in page.sessions.values()),
            reads=frozenset(page.states),
            sessions=frozenset({session_id}),
            more_bytes=sum(map(stored_bytes, memories[count:])),
        )

    async def _form(
        self, owner: Owner, session_id: str, request: AppendInput, drafts: _Drafts, call: Call
    ) -> tuple[str, tuple[str, ...]]:
        """Begin the task that forms memories of the appended items.

        Returns its id, and the parts of the service that were down.
        """
        now, task_id = self._clock.now(), derived("tsk", drafts.conversation_id)
        searchable = [memory for memory in drafts.memories if memory.searchable]
        messages = [
            Message(
                role=memory.metadata["role"],
                content=memory.content,
                timestamp=memory.event_timestamp,
                actor=None if memory.actor == memory.metadata["role"] else memory.actor,
                memory_id=memory.id,
            )
            for memory in searchable
        ]
        session = session_document_id(owner, session_id)
        conversation = Conversation(
            id=drafts.conversation_id,
            session_id=session_id,
            agent_id=request.agent_id,
            messages=messages,
            task_id=task_id,
            correlation_id=call.correlation_id,
            created_at=now,
            written=len(messages),
        )
        task = Task(
            task_id=task_id,
            kind="converse",
            created_at=now,
            updated_at=now,
            subject_id=conversation.id,
            next_enqueue_at=now,
            correlation_id=call.correlation_id,
        )

        def made(read_set: ReadSet) -> Changes[Any]:
            zone = request.time_zone or settings_in(read_set).time_zone
            clears = dict(clears_of(read_set.documents.get(session)))
            stored = conversation.changed(clears=clears, time_zone=zone)
            return Changes(None, creates=documents_of(stored))

        forming = (
            replace(call, route=f"{call.route} form") if call.idempotency_key is not None else call
        )
        accepted = await self._starter.begin(
            owner, task, made, forming, reads=[SETTINGS_ID, session]
        )
        return accepted.task_id, accepted.degraded


def _before(earlier: Mapping[str, Any], owner: Owner, call: Call) -> _Written:
    """The result of the same call before.

    A receipt of an earlier version has no conversation's id, which was derived from the key.
    """
    name = earlier.get("conversation_id")
    name = name or derived("cnv", "appended", str(receipt_id(owner, call)))
    return _Written(int(earlier["count"]), name)


def _drafts(
    owner: Owner,
    session_id: str,
    request: AppendInput,
    conversation_id: str,
    now: datetime,
    call: Call,
) -> _Drafts:
    moment = next((item.timestamp for item in request.messages if item.timestamp is not None), now)
    memories, number = list[Memory](), 0
    for place, item in enumerate(request.messages):
        moment = item.timestamp or moment
        memories.append(
            Memory(
                id=derived(PREFIX, "appended", conversation_id, str(place)),
                app_id=owner.app_id,
                user_id=owner.user_id,
                session_id=session_id,
                agent_id=request.agent_id,
                conversation_id=conversation_id if request.form else None,
                type=MemoryType.EPISODIC,
                category=MESSAGE,
                content=item.content,
                value=item.sent,
                actor=item.actor or item.role,
                source="conversation",
                metadata=_metadata(item, number if request.form and item.content.strip() else None),
                importance_base=importance_by_type(MemoryType.EPISODIC, item.content),
                worth=worth_of(
                    item.content, by_assistant=item.role != "user" and item.actor is None
                ),
                searchable=bool(item.content.strip()),
                created_at=now,
                updated_at=now,
                event_timestamp=moment,
                valid_from=moment,
                correlation_id=call.correlation_id,
            )
        )
        number += bool(item.content.strip())
    return _Drafts(conversation_id, tuple(memories))


def _metadata(item: SessionItem, number: int | None) -> dict[str, Any]:
    """The metadata of an item.

    `number` is that of the message in the conversation that is formed of it; None if it isn't
    formed.
    """
    metadata: dict[str, Any] = {"role": item.role}
    if number is not None:
        metadata["message"] = number
    if item.id is not None:
        metadata["message_id"] = item.id
    return metadata


async def _prepared(memories: Sequence[Memory], session: Session) -> list[Prepared]:
    """The memories, analysed after the turns of their session; an empty item is no turn."""
    previous, before_previous = session.last_turns
    items = list[Prepared]()
    for place, memory in enumerate(memories):
        if not memory.searchable:
            items.append(Prepared(place, memory, OnConflict.AUTO))
            continue
        analysed = await _analysed(memory, previous, before_previous)
        turn = turn_of(analysed)
        items.append(
            Prepared(place, analysed, OnConflict.AUTO, turn, previous.id if previous else None)
        )
        previous, before_previous = turn, previous
    return items


async def _analysed(
    memory: Memory, previous: TurnTerms | None, before_previous: TurnTerms | None
) -> Memory:
    if len(memory.content) > LONG_CHARACTERS:
        return await asyncio.to_thread(with_lexical, memory, previous, before_previous)
    return with_lexical(memory, previous, before_previous)
