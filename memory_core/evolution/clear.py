"""Clear a session: soft-delete all that it holds, in as many commits as it takes.

What fits one commit is one. More is an operation: a persisted document with the frozen plan, whose cursor each chunk advances
in its own batch. A killed process leaves it at a chunk's border and in the head's `pending_operations`; the next clear of this
user, or the same call with its idempotency key, finishes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memory_core.domain.models import Memory, Status
from memory_core.domain.requests import ClearInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Filter, IdSource, LongTermStore, Place

CHUNK = 40
"""Memories a commit: each is two documents of the hundred, and big contents must fit 1.8 MB."""
_PAGE = 500
_KEPT_WHEN_DONE = timedelta(days=7)


@dataclass(slots=True)
class _Operation:
    """The plan and how far it got; `id` is None while it fits one commit and needs no document."""

    session_id: str
    ids: list[str]
    id: str | None = None
    done: int = 0
    cleared: int = 0
    call: Call = field(default_factory=Call)

    def document(self, expires_at: datetime | None = None) -> Document:
        body = {"operation": "clear", "session_id": self.session_id, "ids": self.ids, "done": self.done, "cleared": self.cleared}
        caller = {"idempotency_key": self.call.idempotency_key, "route": self.call.route, "body_hash": self.call.body_hash}
        return Document(self.id or "", "operation", {**body, "call": caller}, expires_at=expires_at)

    @classmethod
    def of(cls, found: Document) -> _Operation:
        body = found.body
        return cls(body["session_id"], body["ids"], found.id, body["done"], body["cleared"], Call(**body["call"]))


class Clearer:
    """Clears sessions of any owner."""

    def __init__(self, store: LongTermStore, ledger: Ledger, mirror: Mirror, clock: Clock, ids: IdSource) -> None:
        self._store, self._ledger, self._mirror, self._clock, self._ids = store, ledger, mirror, clock, ids

    async def clear(self, owner: Owner, what: ClearInput, call: Call) -> int:
        """How many memories were soft-deleted by it. A repeated call with its idempotency key answers the same."""
        key = receipt_id(owner, call)
        named = derived("op", key) if key else self._ids.new("op")
        look = await self._ledger.look(owner, [named, *([key] if key else [])])
        earlier = earlier_result(look.documents, owner, call)
        if earlier is not None:
            return int(earlier["cleared"])
        await self._finish_pending(owner, look, besides=named)
        if named in look.documents:
            return await self._run(owner, _Operation.of(look.documents[named]))
        ids = await self._plan(owner, what)
        operation = _Operation(what.session_id, ids, named if len(ids) > CHUNK else None, call=call)
        return await self._run(owner, operation)

    async def _finish_pending(self, owner: Owner, look: Look, besides: str) -> None:
        pending = [name for name in (look.head.pending_operations if look.head else ()) if name != besides]
        if not pending:
            return
        for found in (await self._ledger.look(owner, pending)).documents.values():
            await self._run(owner, _Operation.of(found))

    async def _plan(self, owner: Owner, what: ClearInput) -> list[str]:
        statuses = frozenset(status.value for status in Status if status is not Status.DELETED)
        where = Filter(statuses, types=frozenset({what.type.value} if what.type else ()), session_id=what.session_id)
        ids: list[str] = []
        place: Place | None = None
        while page := await self._store.page(owner, "memory", where, place, _PAGE, newest_first=False):
            ids += [document.id for document in page]
            place = Place(int(page[-1].body["sequence"]), page[-1].id)
        return ids

    async def _run(self, owner: Owner, operation: _Operation) -> int:
        while operation.done < len(operation.ids):
            chunk = operation.ids[operation.done : operation.done + CHUNK]
            last = operation.done + len(chunk) == len(operation.ids)
            wanted = [*chunk, session_document_id(owner, operation.session_id), *([operation.id] if operation.id else [])]
            committed = await self._ledger.commit(
                owner,
                lambda seen, chunk=chunk, last=last: self._decide(owner, operation, chunk, last, seen),  # type: ignore[misc]
                ids=wanted,
                call=operation.call,
            )
            await self._mirror.follow(owner, committed)
            operation.done += len(chunk)
            operation.cleared = committed.result
        return operation.cleared

    def _decide(self, owner: Owner, operation: _Operation, chunk: Sequence[str], last: bool, seen: Look) -> Changes[int]:
        now = self._clock.now()
        found = [memory for memory in (seen.memory(name) for name in chunk) if memory is not None]
        going = [memory for memory in found if memory.status is not Status.DELETED]
        cleared = operation.cleared + len(going)
        session = Session(owner, operation.session_id, seen.documents.get(session_document_id(owner, operation.session_id)))
        changes = []
        for memory in going:
            gone = _cleared(memory, now)
            session.count(memory, gone, now)
            session.forget_turn(memory)
            changes.append(Change("cleared", gone, memory))
        puts = [session.document] if going else []
        if operation.id is not None:
            advanced = _Operation(operation.session_id, operation.ids, operation.id, operation.done + len(chunk), cleared, operation.call)
            puts.append(advanced.document(now + _KEPT_WHEN_DONE if last else None))
            if not going and found:  # rivals were faster; the cursor still has to move, and a commit needs an event
                changes.append(Change("cleared", found[0], found[0]))
        creates = receipt(owner, operation.call, now, {"cleared": cleared}) if last else ()
        return Changes(
            cleared,
            tuple(changes),
            tuple(puts),
            creates,
            frozenset(chunk),
            frozenset({operation.session_id}),
            head_fields=self._head(operation, seen, last),
        )

    @staticmethod
    def _head(operation: _Operation, seen: Look, last: bool) -> dict[str, Any]:
        """The operation stands in the head from its first chunk to its last."""
        pending = list(seen.head.pending_operations) if seen.head else []
        if operation.id is None:
            return {}
        pending = [name for name in pending if name != operation.id]
        return {"pending_operations": pending if last else [*pending, operation.id]}


def _cleared(memory: Memory, now: datetime) -> Memory:
    return memory.model_copy(update={"status": Status.DELETED, "status_reason": "cleared", "updated_at": now})
