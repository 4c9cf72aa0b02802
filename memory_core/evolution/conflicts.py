"""Conflicts: listed, read, decided by callers, and undone.

Note: a decision is about the two memories as they are when it commits, not as the caller has seen them. Between two
who decide at once, or a save that lets a side fall, the first commit counts; the others look again and get the same answer, or a 409.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from memory_core.domain.conflict import RULE, ConflictPage, ConflictRecord, record_in
from memory_core.domain.conflict_requests import ConflictsInput, ResolveInput
from memory_core.domain.errors import Conflict, HeadMoved, NotFound
from memory_core.domain.models import Head, MemoryType
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.decision import decide
from memory_core.evolution.page import Page
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.take_back import take_back, texts_of
from memory_core.ledger.batch import Changes
from memory_core.ledger.commit import Ledger, Look, Mirror
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.ids import earlier_result, receipt, receipt_id
from memory_core.ports import Clock, Document, Embedder, Filter, LongTermStore, Place

MAX_LOOKS = 32
"""How often more is read for one decision: the record, its memories, who told them, and again for each time that others were faster."""
Turn = Callable[[Page, Document], ConflictRecord]


class Conflicts:
    """The conflicts of any owner; another owner's id is told apart from none by nothing."""

    def __init__(self, store: LongTermStore, ledger: Ledger, mirror: Mirror, embedder: Embedder, cursors: Cursors, clock: Clock) -> None:
        self._store, self._ledger, self._mirror = store, ledger, mirror
        self._embedder, self._cursors, self._clock = embedder, cursors, clock

    async def page(self, owner: Owner, query: ConflictsInput) -> ConflictPage:
        """One page, the latest met first. Raises Malformed for a void cursor."""
        head = (await self._store.snapshot(owner)).head
        bound = {"list": "conflicts", "status": query.status}
        place = self._cursors.read(owner, head, bound, query.cursor)
        if head is None:
            return ConflictPage((), None)
        where = None if query.status is None else Filter(frozenset({query.status}))
        documents = await self._store.page(owner, "conflict", where, place, query.limit + 1)
        page = documents[: query.limit]
        records = tuple(record_in(document.body) for document in page if document.body["epoch"] == head.epoch)
        if len(documents) == len(page):
            return ConflictPage(records, None)
        return ConflictPage(records, self._cursors.make(owner, head, bound, Place(int(page[-1].body["sequence"]), page[-1].id)))

    async def get(self, owner: Owner, conflict_id: str) -> ConflictRecord:
        """One record. Raises NotFound."""
        look = await self._ledger.look(owner, [conflict_id])
        return record_in(_held(look, conflict_id).body)

    async def resolve(self, owner: Owner, conflict_id: str, asked: ResolveInput, call: Call) -> ConflictRecord:
        """Decide a pending conflict; one that is resolved so already answers as it is.

        Raises NotFound; Conflict where it is resolved otherwise, or a side does not stand any more.
        """

        def turn(page: Page, document: Document) -> ConflictRecord:
            record = record_in(document.body)
            if record.open:
                return decide(page, document, asked, call.actor)
            if record.strategy != asked.decision:
                raise Conflict(f"this conflict is resolved already, by {record.strategy}{_why(record)}; undo that to decide it anew")
            return record

        return await self._turn(owner, conflict_id, turn, call)

    async def undo(self, owner: Owner, conflict_id: str, call: Call) -> ConflictRecord:
        """Take a decision back: both memories stand again, and the conflict is pending. One that was undone already answers as it is.

        Raises NotFound; Conflict where nothing is decided, or later changes are in the way; Unavailable, for what has to be embedded.
        """
        embedded: dict[str, dict[str, Any]] = {}

        def turn(page: Page, document: Document) -> ConflictRecord:
            record = record_in(document.body)
            if record.open:
                if record.previous is None:
                    raise Conflict("this conflict is pending; nothing was decided that could be undone")
                return record
            if texts := {name: text for name, text in texts_of(page, record).items() if name not in embedded}:
                raise _NeedsVectors(texts)
            return take_back(page, document, call.actor, embedded)

        while True:
            try:
                return await self._turn(owner, conflict_id, turn, call)
            except _NeedsVectors as needs:
                vectors = await self._embedder.embed([*needs.texts.values()])
                about = {"embedding_model": self._embedder.model, "embedding_dimensions": self._embedder.dimensions}
                embedded |= {name: {"embedding": vector, **about} for name, vector in zip(needs.texts, vectors, strict=True)}

    async def _turn(self, owner: Owner, conflict_id: str, turn: Turn, call: Call) -> ConflictRecord:
        """Commit what `turn` puts onto a page, with its receipt, reading whatever it turns out to need."""
        key = receipt_id(owner, call)
        ids = [conflict_id, *([key] if key else [])]

        def decided(look: Look) -> Changes[ConflictRecord]:
            document = _held(look, conflict_id)
            if earlier_result(look.documents, owner, call) is not None:
                return Changes(record_in(document.body))
            if missing := [name for name in record_in(document.body).memory_ids if name not in ids]:
                raise LookedElsewhere(missing)
            page = Page(owner, look, self._clock.now(), weighs=True, asked=ids)
            record = turn(page, document)
            complete(page, ids)
            return Changes(
                record,
                tuple(page.changes),
                (*page.puts.values(), *(session.document for session in page.sessions.values())),
                receipt(owner, call, self._clock.now(), {"conflict_id": conflict_id}),
                reads=frozenset({*page.states, *record.memory_ids}),
                sessions=frozenset(page.sessions),
                types=frozenset({MemoryType.SEMANTIC.value}),
                head_fields=lambda head: _counted(head, page.pending),
            )

        for _ in range(MAX_LOOKS):
            try:
                committed = await self._ledger.commit(owner, decided, ids=ids, call=call)
            except LookedElsewhere as needs:
                ids = [*ids, *needs.wanted]
                continue
            await self._mirror.follow(owner, committed)
            return committed.result
        raise HeadMoved("these memories change faster than their conflict can be decided", retry_after_s=1)


def complete(page: Page, asked: Collection[str]) -> None:
    """Raises LookedElsewhere for sessions that count other memories by it, and that were not `asked` for."""
    if unread := page.unread_sessions(asked):
        raise LookedElsewhere(unread)


class _NeedsVectors(Exception):
    """Texts come back that have no vector any more."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__("texts have to be embedded first")
        self.texts = texts


def _why(record: ConflictRecord) -> str:
    """What ended the conflict by itself; empty where a person or a model gave the reason, which may hold a user's words."""
    return f": {record.reason.rpartition('; ')[2]}" if record.by == RULE else ""


def _held(look: Look, conflict_id: str) -> Document:
    document = look.documents.get(conflict_id)
    if document is None or document.kind != "conflict" or look.head is None or document.body["epoch"] != look.head.epoch:
        raise NotFound("no conflict of this id for this user")
    return document


def _counted(head: Head, more: int) -> dict[str, int]:
    return {"pending_count": max(0, head.pending_count + more)}
