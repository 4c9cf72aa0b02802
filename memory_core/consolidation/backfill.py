"""Bring older data up to date: messages of an earlier version, vectors of another embedder.

Messages are written once for each user: conversation after conversation, in the order in which they
were sent, a few messages a commit. Then the head says that it is done. A message that has a memory
is left as it is, so another worker can go on.

Note: a conversation is left alone if any of it was deleted, or if its session was cleared since:
its words must not come back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from memory_core.consolidation.pattern_withdrawal import is_taken_back
from memory_core.consolidation.run_commits import WRITTEN
from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.archival import is_cold
from memory_core.domain.conversation import CellRecord, Conversation
from memory_core.domain.errors import Damaged
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import EARLIER, is_cell, message_memory
from memory_core.domain.ranking.index_terms import TurnTerms, text_to_embed, turn_of, with_lexical
from memory_core.domain.ranking.vectors import DIMENSIONS, MOST_TOKENS, VectorKind
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.evolution.versions import embed_memories, embedding_marks
from memory_core.ledger.changes import BYTES, DOCUMENTS, Change, Portion, size_of
from memory_core.ledger.documents import cleared_since, conversation_of, message_ids, messages_id
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory, readable
from memory_core.ledger.sessions import Session
from memory_core.ports import Document, Embedder, LongTermStore, Mark, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operation_records import Chunk, Operation
from memory_core.tasks.operations import Operations

CONVERSATIONS_A_PAGE: Final = 50
READ_AT_ONCE: Final = 100
MOST_AT_ONCE: Final = 20
"""The most messages of a commit; each is two documents of its hundred."""
_ENDED: Final = frozenset({"formed", "cancelled"})
_STANDING: Final = FOUND_BY_DEFAULT | {Status.DECAYED}


@dataclass(frozen=True, slots=True)
class _Part:
    """Messages of a cell that are to be written.

    Attributes:
        conversation: The conversation.
        cell_id: The id of the cell.
        ids: The ids of all messages that the cell was formed of.
        numbers: The numbers of the messages to write.

    """

    conversation: Conversation
    cell_id: str
    ids: Sequence[str]
    numbers: Sequence[int]


class EarlierMessages:
    """The step that writes messages of earlier conversations.

    A run writes about `cap` messages; if more are left, the next run follows at once.
    """

    name = "earlier messages"

    def __init__(self, store: LongTermStore, embedder: Embedder, cap: int) -> None:
        self._store, self._embedder, self._cap = store, embedder, cap

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next messages of the conversations, or the end.

        Args:
            run: The run.
            cursor: The place of the last finished conversation; None for the head's.

        Raises:
            Unavailable: The long-term store or the embedder is down.

        """
        head = (await self._store.snapshot(run.owner)).head if run.earlier else None
        if head is None or head.messages_backfilled:
            return None
        begun = cursor or head.backfill_position
        place = None if begun is None else Place(*begun)
        if run.counts.get(WRITTEN, 0) >= self._cap:
            reached = None if place is None else (place.sequence, place.id)
            return Proposal(
                [],
                lambda read_set: Chunk(
                    done=True, head_fields=lambda head: {"backfill_position": reached}
                ),
            )
        while documents := await self._store.page(
            run.owner, "conversation", None, place, CONVERSATIONS_A_PAGE, newest_first=False
        ):
            for document in documents:
                if document.body["epoch"] == head.epoch and _is_earlier(document.body):
                    part = None
                    with suppress(Damaged):  # an unreadable memory may have been deleted
                        part = await self._part(run.owner, document.id)
                    if part is not None:
                        return await self._proposal(run, part, place)
                place = Place(int(document.body["sequence"]), document.id)
        return Proposal(
            [],
            lambda read_set: Chunk(
                done=True,
                head_fields=lambda head: {"messages_backfilled": True, "backfill_position": None},
            ),
        )

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count no work: messages are counted only when they are written."""
        return {}

    async def _part(self, owner: Owner, name: str) -> _Part | None:
        """Return the next messages of a conversation to write.

        None if there are none, or if the conversation is to be left alone.
        """
        read_set = await self._look(owner, [name, messages_id(name)])
        conversation = conversation_of(read_set, name)
        if conversation is None:
            return None
        session = (
            []
            if conversation.session_id is None
            else [session_document_id(owner, conversation.session_id)]
        )
        made = [identity for cell in conversation.formed_cells for identity in cell.memory_ids]
        ids = message_ids(conversation)
        read_set = await self._look(owner, [*session, *dict.fromkeys(made), *ids])
        if MemoryType.EPISODIC in cleared_since(read_set, owner, conversation) or _is_deleted(
            read_set, made
        ):
            return None
        for cell in conversation.formed_cells:
            numbers = [
                number
                for number in range(cell.first, cell.last + 1)
                if read_set.memory(ids[number]) is None
            ]
            if numbers and (memory := _cell_of(read_set, cell)) is not None:
                return _Part(
                    conversation, memory.id, ids[cell.first : cell.last + 1], numbers[:MOST_AT_ONCE]
                )
        return None

    async def _look(self, owner: Owner, ids: Sequence[str]) -> ReadSet:
        first = await self._store.snapshot(owner, ids[:READ_AT_ONCE])
        documents = dict(first.documents)
        for start in range(READ_AT_ONCE, len(ids), READ_AT_ONCE):
            documents |= (
                await self._store.snapshot(owner, ids[start : start + READ_AT_ONCE])
            ).documents
        return ReadSet(first.head, documents)

    async def _proposal(self, run: Run, part: _Part, place: Place | None) -> Proposal:
        """Return the commit of these messages.

        The cursor stays before their conversation until all its messages are written.
        """
        messages = _analysed(run, part)
        await embed_memories(self._embedder, messages)
        conversation = part.conversation
        session = (
            []
            if conversation.session_id is None
            else [session_document_id(run.owner, conversation.session_id)]
        )
        made = [
            identity
            for cell in conversation.formed_cells
            for identity in cell.memory_ids
            if part.cell_id in cell.memory_ids
        ]
        ids = list(
            dict.fromkeys(
                [
                    conversation.id,
                    *session,
                    part.cell_id,
                    *made,
                    *(message.id for message in messages),
                ]
            )
        )
        cursor = None if place is None else [place.sequence, place.id]
        return Proposal(ids, lambda read_set: _chunk(run, part, messages, made, read_set, cursor))


def _chunk(
    run: Run,
    part: _Part,
    messages: Sequence[Memory],
    made: Sequence[str],
    read_set: ReadSet,
    cursor: Any,
) -> Chunk:
    cell, conversation = read_set.memory(part.cell_id), part.conversation
    if (
        cell is None
        or cell.status not in _STANDING
        or _is_deleted(read_set, made)
        or conversation.id not in read_set.documents
    ):
        return Chunk(cursor=cursor)
    if MemoryType.EPISODIC in cleared_since(read_set, run.owner, conversation):
        return Chunk(cursor=cursor)
    sources, changes = list(dict.fromkeys([*cell.source_ids, *part.ids])), list[Change]()
    portion = Portion()
    if sources != cell.source_ids:
        changes.append(Change("messages_linked", cell.changed(source_ids=sources), cell))
        portion.takes(4, 2 * size_of(cell))
    new = [message for message in messages if read_set.memory(message.id) is None]
    changes += [Change("created", message) for message in new if portion.takes(2, size_of(message))]
    puts: tuple[Document, ...] = ()
    if conversation.session_id is not None:
        session = Session(
            run.owner,
            conversation.session_id,
            read_set.documents.get(session_document_id(run.owner, conversation.session_id)),
        )
        for change in changes:
            session.count(change.before, change.after, conversation.created_at)
        puts = (session.document,)
    named = frozenset({conversation.session_id} if conversation.session_id is not None else ())
    counts = {WRITTEN: sum(change.before is None for change in changes)}
    return Chunk(
        tuple(changes),
        puts=puts,
        cursor=cursor,
        counts=counts,
        reads=frozenset({cell.id, *made}),
        sessions=named,
    )


def _analysed(run: Run, part: _Part) -> list[Memory]:
    """Return the memories of these messages, each analysed after the messages before it."""
    conversation, wanted, memories = part.conversation, {*part.numbers}, list[Memory]()
    ids = message_ids(conversation)
    turns: tuple[TurnTerms | None, TurnTerms | None] = (None, None)
    for number in range(max(0, min(wanted) - 2), max(wanted) + 1):
        draft = message_memory(run.owner, conversation, number, ids[number], run.at)
        analysed = with_lexical(draft, *turns)
        if conversation.session_id is not None:
            turns = turn_of(analysed), turns[0]
        if number in wanted:
            memories.append(
                analysed.changed(
                    cell_id=part.cell_id, metadata={**analysed.metadata, EARLIER: True}
                )
            )
    return memories


def _is_earlier(conversation: Mapping[str, Any]) -> bool:
    """Whether an earlier version formed the conversation.

    Then its messages were never written; now messages are written before any memory is formed.
    """
    return (
        bool(conversation["formed_cells"])
        and conversation["state"] in _ENDED
        and not conversation.get("written", 0)
    )


def _is_deleted(read_set: ReadSet, names: Sequence[str]) -> bool:
    """Whether any of these memories was deleted, softly or for good."""
    memories = [read_set.memory(name) for name in names]
    return any(memory is None or is_taken_back(memory) for memory in memories)


def _cell_of(read_set: ReadSet, cell: CellRecord) -> Memory | None:
    """Return the memory of a formed cell while it is shown."""
    memory = None if not cell.memory_ids else read_set.memory(cell.memory_ids[0])
    return memory if memory is not None and is_cell(memory) and memory.status in _STANDING else None


# Re-embedding: replace vectors of other embedders by vectors of the configured embedder, in place.
#
# A task goes through a user's memories and their old versions, oldest first, and sets new vectors
# by marks: no event, revision or ETag changes. At the end it drops the centroids of scenes, and the
# next run makes new centroids. Note: an edit embeds the memory itself, so memories that changed
# since they were read are skipped.


DOCUMENTS_A_PAGE: Final = 100
OWNERS_A_PAGE: Final = 100
SCENES_AT_ONCE: Final = 20
_BYTES_A_NUMBER, _BYTES_A_MARK = 13, 300 + MOST_TOKENS * DIMENSIONS
_Pass = Literal["memory", "version", "scene"]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """The current pass, and the last finished document."""

    kind: _Pass = "memory"
    place: Place | None = None

    @classmethod
    def of(cls, body: Any) -> _Cursor:
        if body is None:
            return cls()
        kind, place = body
        return cls(kind, None if place is None else Place(*place))

    @property
    def body(self) -> list[Any]:
        return [self.kind, None if self.place is None else [self.place.sequence, self.place.id]]

    def at(self, document: Document) -> _Cursor:
        return _Cursor(self.kind, Place(document.body["sequence"], document.id))

    @property
    def further(self) -> _Cursor | None:
        """The beginning of the next pass; None after the last."""
        passes = get_args(_Pass)
        following = passes.index(self.kind) + 1
        return _Cursor(passes[following]) if following < len(passes) else None


@dataclass(frozen=True, slots=True)
class _ReembeddingPart:
    """Memories of a commit.

    Attributes:
        foreign: The memories without a vector of the configured embedder.
        further: Where the work is after the commit.
        read: How many memories were read for it.

    """

    foreign: Sequence[Memory]
    further: _Cursor
    read: int


class Reembedder:
    """Embeds the memories of any owner with the configured embedder."""

    def __init__(self, store: LongTermStore, operations: Operations, embedder: Embedder) -> None:
        self._store, self._operations, self._embedder = store, operations, embedder

    async def begin(self, owner: Owner, call: Call) -> Accepted:
        """Store the work as a task.

        Args:
            owner: Whose memories are embedded.
            call: The call that asked for it.

        Raises:
            Conflict: The idempotency key was used for another request.
            Unavailable: The long-term store is down.

        """
        return await self._operations.begin(owner, "reembed", {}, call)

    async def dry_run(self, owner: Owner) -> Foreseen:
        """Count the memories and versions that a task would embed now.

        Raises Unavailable.
        """
        count, cursor = 0, _Cursor()
        while cursor.kind != "scene":
            documents = await self._page(owner, cursor)
            count += len(self._foreign(documents))
            cursor = cursor.at(documents[-1]) if documents else cursor.further or cursor
        return Foreseen({"embedded": count}, capped=False)

    async def users(self, app_id: str | None) -> AsyncIterator[tuple[Owner, int]]:
        """The users with vectors to make, each with the number of these vectors.

        Every memory of every user is read.

        Args:
            app_id: The app of the users; None for every app.

        """
        after: Owner | None = None
        while page := await self._store.owners(after, OWNERS_A_PAGE, app_id):
            for owner, head in page:
                count = (
                    (await self.dry_run(owner)).counts["embedded"] if head.state == "live" else 0
                )
                if count:
                    yield owner, count
            after = page[-1][0]

    async def work(self, lease: Lease) -> None:
        """Embed all memories without a vector of the configured embedder, in several commits.

        Raises Unavailable, TaskLost.
        """
        operation = await self._operations.of(lease)
        head = (await self._store.snapshot(lease.owner)).head
        total = max(1, 0 if head is None else sum(head.counts.values()))
        while operation.state == "pending":
            operation = await self._chunk(lease, operation)
            if operation.state == "pending":
                progress = min(0.99, operation.counts.get("read", 0) / total)
                await lease.report("reembed", progress, result={"counts": operation.counts})

    async def _chunk(self, lease: Lease, operation: Operation) -> Operation:
        """Read on until memories have to be embedded, and commit their vectors.

        If none are left, commit the last pass.
        """
        cursor, read = _Cursor.of(operation.cursor), 0
        while cursor.kind != "scene":
            documents = await self._page(lease.owner, cursor)
            foreign = self._foreign(documents)
            if len(foreign) > self._most:
                foreign = foreign[: self._most]
                documents = documents[
                    : [document.id for document in documents].index(foreign[-1].id) + 1
                ]
            if not documents:
                cursor = cursor.further or cursor
                continue
            if cursor.kind == "memory":
                read += len(documents)
            cursor = cursor.at(documents[-1])
            if foreign:
                return await self._embed(lease, operation, _ReembeddingPart(foreign, cursor, read))
        return await self._drop_centroids(lease, operation, cursor, read)

    async def _embed(self, lease: Lease, operation: Operation, part: _ReembeddingPart) -> Operation:
        """Commit vectors of those memories whose text did not change meanwhile."""
        embedded = {memory.id: text_to_embed(memory) for memory in part.foreign}
        vectors = dict(
            zip(
                embedded,
                await embedding_marks(self._embedder, list(embedded.values())),
                strict=True,
            )
        )

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            marks = _still_meant(read_set, embedded, vectors)
            counts = {"read": part.read, "embedded": len(marks)}
            return Chunk(
                marks=marks,
                cursor=part.further.body,
                counts=counts,
                reads=frozenset(embedded),
                fragile=False,
            )

        return await self._operations.advance(lease, operation, list(embedded), decide)

    async def _drop_centroids(
        self, lease: Lease, operation: Operation, cursor: _Cursor, read: int
    ) -> Operation:
        """Drop the centroids of scenes, as the last pass.

        If no memory was embedded, the centroids come from the right vectors already.
        """
        documents: list[Document] = []
        if operation.counts.get("embedded"):
            documents = await self._store.page(
                lease.owner, "scene", None, cursor.place, SCENES_AT_ONCE, newest_first=False
            )
        ids = [document.id for document in documents]

        def decide(read_set: ReadSet, stored: Operation) -> Chunk:
            if not documents:
                made = {"model": self._embedder.model, "dimensions": self._embedder.dimensions}
                return Chunk(
                    cursor=cursor.body, counts={"read": read, "embedded": 0}, done=True, result=made
                )
            scenes = [read_set.documents[name] for name in ids if name in read_set.documents]
            return Chunk(
                puts=tuple(replace(scene, vector=None) for scene in scenes),
                cursor=cursor.at(documents[-1]).body,
                counts={"read": read},
            )

        return await self._operations.advance(lease, operation, ids, decide)

    async def _page(self, owner: Owner, cursor: _Cursor) -> list[Document]:
        return await self._store.page(
            owner, cursor.kind, None, cursor.place, DOCUMENTS_A_PAGE, newest_first=False
        )

    @property
    def _most(self) -> int:
        """The most vectors of a commit."""
        return max(
            1,
            min(DOCUMENTS, BYTES // (_BYTES_A_NUMBER * self._embedder.dimensions + _BYTES_A_MARK)),
        )

    def _foreign(self, documents: Sequence[Document]) -> list[Memory]:
        """Return the memories without a vector of the configured embedder.

        A stub of the archive needs none, and a damaged memory gets none.
        """
        kind = VectorKind(self._embedder.model, self._embedder.dimensions)
        wanted = [
            document for document in documents if document.damaged or not kind.made(document.body)
        ]
        return [
            memory for memory in readable(wanted)[0] if memory.searchable and not is_cold(memory)
        ]


def _still_meant(
    read_set: ReadSet, texts: Mapping[str, str], marks: Mapping[str, Mark]
) -> dict[str, Mark]:
    """Return the marks of memories whose text is still the text that was embedded."""
    current_marks = dict[str, Mark]()
    for name, text in texts.items():
        document = read_set.documents.get(name)
        memory = None if document is None else as_memory(document, read_set.head)
        if memory is not None and not is_cold(memory) and text_to_embed(memory) == text:
            current_marks[name] = marks[name]
    return current_marks
