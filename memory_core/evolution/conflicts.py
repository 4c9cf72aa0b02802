"""Conflicts: list, read, decide, undo.

Note: a decision is about the two memories as they are when it commits, not as the caller saw them.
If two callers decide at once, or a save supersedes a side, the first commit counts. The other
caller's decision is repeated on the new state, with the same answer or a 409.
"""

from __future__ import annotations

from collections.abc import Callable

from memory_core.domain.conflict import RULE, ConflictPage, ConflictRecord, record_in
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import MemoryFields, MemoryType
from memory_core.domain.ranking.index_terms import text_to_embed
from memory_core.domain.requests.maintenance import ConflictsInput, ResolveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.decisions import NeedsVector, decide, reads_of, take_back
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import Receipt
from memory_core.ports import Document, Embedder, Filter, LongTermStore, Place

Turn = Callable[[ChangeSet, Document], ConflictRecord]


class Conflicts:
    """The conflicts of any owner.

    An id of another owner is answered like a missing id.
    """

    def __init__(
        self, store: LongTermStore, ledger: Ledger, embedder: Embedder, cursors: Cursors
    ) -> None:
        self._store, self._ledger = store, ledger
        self._embedder, self._cursors = embedder, cursors

    async def page(self, owner: Owner, query: ConflictsInput) -> ConflictPage:
        """A page of conflicts, the latest first.

        Args:
            owner: Whose conflicts they are.
            query: Status, cursor and limit.

        Raises:
            Malformed: The cursor is not valid for this list.

        """
        head = (await self._store.snapshot(owner)).head
        bound = {"list": "conflicts", "status": query.status}
        place = self._cursors.read(owner, head, bound, query.cursor)
        if head is None:
            return ConflictPage((), None)
        where = None if query.status is None else Filter(frozenset({query.status}))
        documents = await self._store.page(owner, "conflict", where, place, query.limit + 1)
        page, cursor = documents[: query.limit], None
        if len(documents) > len(page):
            last = Place(int(page[-1].body["sequence"]), page[-1].id)
            cursor = self._cursors.make(owner, head, bound, last)
        of_head = [document for document in page if document.body["epoch"] == head.epoch]
        return ConflictPage(tuple(record_in(document.body) for document in of_head), cursor)

    async def get(self, owner: Owner, conflict_id: str) -> ConflictRecord:
        """A conflict record.

        Args:
            owner: Whose conflict it is.
            conflict_id: Id of the conflict.

        Raises:
            NotFound: The owner has no such conflict.

        """
        read_set = await self._ledger.look(owner, [conflict_id])
        return record_in(_held(read_set, conflict_id).body)

    async def resolve(
        self, owner: Owner, conflict_id: str, asked: ResolveInput, call: Call
    ) -> ConflictRecord:
        """Decide a pending conflict.

        A conflict that has the same decision already is returned as it is.

        Args:
            owner: Whose conflict it is.
            conflict_id: Id of the conflict.
            asked: The decision and its reason.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such conflict.
            Conflict: The conflict has another decision, or a side is no longer active.
            HeadMoved: Other writers were faster.

        """

        def turn(page: ChangeSet, document: Document) -> ConflictRecord:
            record = record_in(document.body)
            if record.open:
                return decide(page, document, asked, call.actor)
            if record.strategy != asked.decision:
                raise Conflict(
                    f"this conflict is resolved already, by {record.strategy}{_why(record)}; undo "
                    "that to decide it anew"
                )
            return record

        return await self._turn(owner, conflict_id, turn, call)

    async def undo(self, owner: Owner, conflict_id: str, call: Call) -> ConflictRecord:
        """Undo a decision: both memories are active again, and the conflict is pending.

        A conflict whose decision was undone already is returned as it is.

        Args:
            owner: Whose conflict it is.
            conflict_id: Id of the conflict.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such conflict.
            Conflict: There is no decision, or later changes are in the way.
            HeadMoved: Other writers were faster.
            Unavailable: The store is down, or the embedder of restored texts.

        """
        embedded: dict[str, MemoryFields] = {}

        def turn(page: ChangeSet, document: Document) -> ConflictRecord:
            record = record_in(document.body)
            if record.open:
                if record.previous is None:
                    raise Conflict(
                        "this conflict is pending; nothing was decided that could be undone"
                    )
                return record
            return take_back(page, document, call.actor, embedded)

        while True:
            try:
                return await self._turn(owner, conflict_id, turn, call)
            except NeedsVector as needs:
                (vector,) = await self._embedder.embed([text_to_embed(needs.memory)])
                embedded[needs.memory.id] = MemoryFields(
                    embedding=vector,
                    embedding_model=self._embedder.model,
                    embedding_dimensions=self._embedder.dimensions,
                )

    async def _turn(self, owner: Owner, conflict_id: str, turn: Turn, call: Call) -> ConflictRecord:
        """Commit the changes of `turn` with the call's receipt."""

        def reads(read_set: ReadSet) -> list[str]:
            return reads_of(owner, record_in(_held(read_set, conflict_id).body), read_set)

        def decided(read_set: ReadSet) -> Changes[ConflictRecord]:
            document = _held(read_set, conflict_id)
            page = ChangeSet(owner, read_set, read_set.now, weighs=True)
            record = turn(page, document)
            return Changes(
                record,
                **page.written(),
                reads=frozenset({*page.states, *record.memory_ids}),
                types=frozenset({MemoryType.SEMANTIC.value}),
            )

        committed = await self._ledger.commit(
            owner,
            decided,
            ids=[conflict_id],
            reads=reads,
            call=call,
            receipt=Receipt(
                lambda record: {"conflict_id": record.id},
                lambda earlier, read_set: record_in(_held(read_set, conflict_id).body),
            ),
        )
        return committed.result


def _why(record: ConflictRecord) -> str:
    """Why the conflict ended by itself.

    It is empty if a person or a model gave the reason, which may contain a user's words.
    """
    return f": {record.reason.rpartition('; ')[2]}" if record.by == RULE else ""


def _held(read_set: ReadSet, conflict_id: str) -> Document:
    document = read_set.documents.get(conflict_id)
    if (
        document is None
        or document.kind != "conflict"
        or read_set.head is None
        or document.body["epoch"] != read_set.head.epoch
    ):
        raise NotFound("no conflict of this id for this user")
    return document
