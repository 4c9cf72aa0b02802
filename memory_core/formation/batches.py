"""Batches: messages gathered session by session, and formed together when there are enough, when nothing more comes, or when asked.

Note: an append is one conditional write beside the log and moves no head; what begins a generation, and what hands one
over to be formed, is a commit, because a task begins or changes with it. Whichever write loses a race looks again: no message is lost
or doubled, and all that a caller must do about lost answers is to name an idempotency key.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

from memory_core.domain.chat_messages import timed
from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.results import Accepted, Buffered, Call
from memory_core.domain.scope import Owner
from memory_core.domain.spoken import BatchInput
from memory_core.domain.user_settings import SETTINGS_ID
from memory_core.formation.handover import Added, Handover
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.documents import Append, HeldBuffer, buffer_id, messages_id, settings_in
from memory_core.ledger.ids import earlier_result, receipt_id
from memory_core.ports import Clock, IdSource, LongTermStore
from memory_core.tasks.store import kept

PAUSE_S = 0.01
"""After a lost race, times a random share."""
_NO_CALL = Call()


class Batches:
    """Gathers messages."""

    def __init__(self, ledger: Ledger, store: LongTermStore, handover: Handover, clock: Clock, ids: IdSource, deadline_s: float) -> None:
        self._ledger, self._store, self._handover = ledger, store, handover
        self._clock, self._ids, self._deadline_s = clock, ids, deadline_s
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def append(self, owner: Owner, request: BatchInput, call: Call) -> Buffered:
        """Add messages to the session's buffer. Durable when it returns. Raises Conflict, TooLarge, HeadMoved, Unavailable."""
        messages = timed(request.messages, self._clock.now())
        append = Append(self._ids.new("apd"), messages, self._clock.now(), call.correlation_id, request.time_zone)
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
            raise HeadMoved("others append to this session faster than this call could; try again", retry_after_s=1) from None
        return await self._handover.completed(owner, added, call)

    async def state(self, owner: Owner, session_id: str) -> Buffered:
        """What waits in the session's buffer."""
        look = await self._look(owner, session_id, _NO_CALL)
        return self._handover.shown(HeldBuffer.of(owner, session_id, look))

    async def flush(self, owner: Owner, session_id: str, call: Call) -> Accepted | None:
        """Hand what waits over to be formed; None when nothing does. Raises Conflict, HeadMoved, Unavailable."""
        look = await self._look(owner, session_id, call)
        earlier = earlier_result(look.documents, owner, call)
        if earlier is not None:
            return Accepted(str(earlier["task_id"]))
        batch = HeldBuffer.of(owner, session_id, look)
        return await self._handover.close(batch, call) if batch.buffer.messages else None

    async def _appended(self, owner: Owner, session_id: str, append: Append, tried: list[HeldBuffer], call: Call) -> Added | None:
        """One try; None when another call was faster. tried: what earlier tries were to go into, and may have gone into."""
        look = await self._look(owner, session_id, call)
        append = replace(append, time_zone=append.time_zone or settings_in(look).time_zone)
        batch = HeldBuffer.of(owner, session_id, look)
        earlier = earlier_result(look.documents, owner, call)
        if earlier is not None:
            return Added(self._handover.shown(batch, earlier["task_id"]))
        if append.id in batch.buffer.appends:
            return Added(self._handover.shown(batch))
        for before in tried:
            if before.buffer.generation < batch.buffer.generation and append.id in await self._handed_over(before):
                return Added(self._handover.shown(batch, before.task_id))
        tried.append(batch)
        if not batch.takes(append):
            await self._handover.close(batch, replace(call, idempotency_key=None))
            return None
        grown = batch.grown(append)
        if not batch.buffer.messages or self._handover.fills(grown) or call.idempotency_key is not None:
            return await self._handover.add(batch, append, call)
        if await kept(self._store, owner, grown.written) is None:
            return None
        return Added(self._handover.shown(grown), grown.conversation(self._clock.now(), {}), len(batch.buffer.messages))

    async def _handed_over(self, before: HeldBuffer) -> Sequence[str]:
        """The appends in the conversation that a generation has become; none where it was thrown away."""
        name = messages_id(before.conversation_id)
        document = (await self._ledger.look(before.owner, [name])).documents.get(name)
        return [] if document is None else document.body["appends"]

    async def _look(self, owner: Owner, session_id: str, call: Call) -> Look:
        name = receipt_id(owner, call)
        look = await self._ledger.look(owner, [SETTINGS_ID, buffer_id(owner, session_id), *([name] if name else [])])
        if look.head is not None and look.head.state == "erasing":
            raise Unavailable("long_term", "this user is being erased", retry_after_s=30)
        return look
