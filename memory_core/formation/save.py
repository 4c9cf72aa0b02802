"""Save: one memory or a hundred, each decided by rule, acknowledged when durable.

Items are decided in order over an overlay of what this very call is about to write, as many as fit one commit; so two equal
items make one memory, reinforced. The turns of one session queue up before they are embedded, because a turn is read together
with the ones before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from memory_core.domain.errors import NotFound
from memory_core.domain.models import ConflictRecord, MemoryType, Outcome
from memory_core.domain.requests import SaveInput
from memory_core.domain.results import Call, Saved
from memory_core.domain.scope import Owner
from memory_core.evolution.decide import slot_of
from memory_core.formation.draft import Draft, draft
from memory_core.formation.plan import Planned, SessionGrew, plan
from memory_core.formation.prepare import Prepared, prepare
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Committed, Ledger, Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Embedder, IdSource, Near


@dataclass(frozen=True, slots=True)
class SaveRules:
    """The thresholds that saving goes by, on the embedder's scale of similarity."""

    duplicate_threshold: float
    contradiction_floor: float


class Saver:
    """Saves memories for any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror, embedder: Embedder, clock: Clock, ids: IdSource, rules: SaveRules) -> None:
        self._ledger, self._mirror, self._embedder, self._clock, self._ids, self._rules = ledger, mirror, embedder, clock, ids, rules
        self._session_queues: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = WeakValueDictionary()

    async def save(self, owner: Owner, items: Sequence[SaveInput], call: Call) -> list[Saved]:
        """One outcome an item, in order. Raises Conflict for a reused idempotency key, Unavailable when a store or embedder is down."""
        now = self._clock.now()
        drafts = [draft(owner, item, now, self._ids, call) for item in items]
        async with self._in_turn(owner, drafts):
            while True:
                look = await self._first_look(owner, drafts, call)
                prepared = await prepare(drafts, self._sessions(owner, drafts, look), self._embedder)
                try:
                    return await self._commit_all(owner, prepared, look, call)
                except SessionGrew:
                    continue

    @asynccontextmanager
    async def _in_turn(self, owner: Owner, drafts: Sequence[Draft]) -> AsyncIterator[None]:
        """Queue behind earlier saves into the same sessions; sorted, so that two calls can't wait for each other."""
        async with AsyncExitStack() as stack:
            for name in sorted({one.memory.session_id or "" for one in drafts if one.is_turn}):
                queue = self._session_queues.setdefault((owner, name), asyncio.Lock())
                await stack.enter_async_context(queue)
            yield

    async def _first_look(self, owner: Owner, drafts: Sequence[Draft], call: Call) -> Look | None:
        """What turns are prepared on. Without turns nothing has to be known before embedding, and no read is spent."""
        if not any(one.is_turn for one in drafts):
            return None
        return await self._ledger.look(owner, self._ids_of(owner, [one.memory for one in drafts], call, 0))

    def _sessions(self, owner: Owner, drafts: Sequence[Draft], look: Look | None) -> dict[str, Session]:
        names = {one.memory.session_id or "" for one in drafts if one.is_turn}
        return {name: Session(owner, name, look.documents.get(session_document_id(owner, name)) if look else None) for name in names}

    async def _commit_all(self, owner: Owner, prepared: list[Prepared], look: Look | None, call: Call) -> list[Saved]:
        saved: list[Saved] = []
        while len(saved) < len(prepared):
            start = len(saved)
            rest = prepared[start:]
            nears = [self._near(one) for one in rest if one.memory.type is MemoryType.SEMANTIC]
            ids = self._ids_of(owner, [one.memory for one in rest], call, start)
            committed = await self._ledger.commit(
                owner,
                lambda seen, rest=rest, start=start: self._decide(owner, rest, seen, call, start),  # type: ignore[misc]
                ids=ids,
                nears=nears,
                basis=look if start == 0 and not nears else None,
                call=call,
            )
            saved += await self._answers(owner, committed)
            look = None
        return saved

    def _decide(self, owner: Owner, rest: list[Prepared], seen: Look, call: Call, start: int) -> Changes[Planned]:
        earlier = earlier_result(seen.documents, owner, call, start)
        if earlier is not None:
            return Changes(Planned.of_receipt(earlier))
        planned = plan(owner, rest, seen, self._rules.duplicate_threshold, self._clock.now(), check_turns=start == 0)
        creates = receipt(owner, call, self._clock.now(), planned.result.for_receipt(), start)
        return Changes(
            planned.result, planned.changes, planned.puts, creates, planned.reads, planned.sessions, planned.types, planned.head_fields
        )

    async def _answers(self, owner: Owner, committed: Committed[Planned]) -> list[Saved]:
        outcomes = committed.result.outcomes
        if committed.changes is None:
            return await self._replayed(owner, outcomes)
        degraded = await self._mirror.follow(owner, committed)
        return [Saved(one.outcome, committed.memories[one.memory_id], one.conflict, degraded=degraded) for one in outcomes]

    async def _replayed(self, owner: Owner, outcomes: Sequence[Any]) -> list[Saved]:
        wanted = [name for one in outcomes for name in (one.memory_id, one.conflict_id) if name]
        look = await self._ledger.look(owner, wanted)
        answers = []
        for one in outcomes:
            memory = look.memory(one.memory_id)
            if memory is None:
                raise NotFound("the memory that this idempotency key made is gone")
            record = look.documents.get(one.conflict_id or "")
            conflict = None if record is None else ConflictRecord.model_validate(_plain(record.body))
            answers.append(Saved(Outcome(one.outcome), memory, conflict, replayed=True))
        return answers

    def _near(self, one: Prepared) -> Near:
        return Near(
            vector=one.memory.embedding,
            types=frozenset({MemoryType.SEMANTIC.value}),
            floor=self._rules.contradiction_floor,
            slot=slot_of(one.memory),
        )

    @staticmethod
    def _ids_of(owner: Owner, memories: Sequence[Any], call: Call, start: int) -> list[str]:
        """Everything that a decision on these memories reads by id."""
        ids = {memory.id for memory in memories if memory.type is not MemoryType.SEMANTIC}
        ids |= {session_document_id(owner, memory.session_id) for memory in memories if memory.session_id}
        identity = receipt_id(owner, call, start)
        return sorted(ids | ({identity} if identity else set()))


def _plain(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in ("epoch", "sequence")}
