"""Re-embedding: memories whose vectors another embedder made get vectors of the configured embedder, in place.

A task walks over a user's memories and their old versions, oldest first, and sets new vectors by marks: no event, no revision and no ETag
moves. Scenes lose their centroids in the end, and the next run makes new ones. Note: an edit embeds the memory by itself, so a memory
that changed since it was read is left to the edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from memory_core.domain.archival import is_cold
from memory_core.domain.indexing import text_to_embed
from memory_core.domain.models import Memory, Status, Vector
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner
from memory_core.domain.vector_kind import VectorKind
from memory_core.ledger.batch import BYTES, DOCUMENTS
from memory_core.ledger.commit import Look
from memory_core.ledger.readable import as_memory, readable
from memory_core.ports import Document, Embedder, LongTermStore, Mark, Place
from memory_core.tasks.leases import Lease
from memory_core.tasks.operations import Chunk, Operation, Operations

PAGE: Final = 100
SCENES_AT_ONCE: Final = 20
_BYTES_A_NUMBER, _BYTES_A_MARK = 13, 300
_ANY_STATUS: Final = frozenset(status.value for status in Status)
_Pass = Literal["memory", "version", "scene"]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Which pass the work is in, and the last document that it is done with."""

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
class _Part:
    """Memories of one commit, where the work is after it, and how many memories were read for it."""

    foreign: Sequence[Memory]
    further: _Cursor
    read: int


class Reembedder:
    """Embeds the memories of any owner again."""

    def __init__(self, store: LongTermStore, operations: Operations, embedder: Embedder) -> None:
        self._store, self._operations, self._embedder = store, operations, embedder

    async def begin(self, owner: Owner, call: Call) -> Accepted:
        """Store the work as a task. Raises Conflict, Unavailable."""
        return await self._operations.begin(owner, "reembed", {}, call)

    async def foresee(self, owner: Owner) -> Foreseen:
        """How many memories and versions a task begun now would embed. Raises Unavailable."""
        count, cursor = 0, _Cursor()
        while cursor.kind != "scene":
            documents = await self._page(owner, cursor)
            count += len(self._foreign(documents))
            cursor = cursor.at(documents[-1]) if documents else cursor.further or cursor
        return Foreseen({"embedded": count}, capped=False)

    async def work(self, lease: Lease) -> None:
        """Embed what has no vector of the configured embedder, in as many commits as it takes. Raises Unavailable, TaskLost."""
        operation = await self._operations.of(lease)
        head = (await self._store.snapshot(lease.owner)).head
        total = max(1, 0 if head is None else sum(head.counts.values()))
        while operation.state == "pending":
            operation = await self._chunk(lease, operation)
            if operation.state == "pending":
                progress = min(0.99, operation.counts.get("read", 0) / total)
                await lease.report("reembed", progress, result={"counts": operation.counts})

    async def _chunk(self, lease: Lease, operation: Operation) -> Operation:
        """Read on until there is something to embed, and commit that; or the end."""
        cursor, read = _Cursor.of(operation.cursor), 0
        while cursor.kind != "scene":
            documents = await self._page(lease.owner, cursor)
            foreign = self._foreign(documents)
            if len(foreign) > self._most:
                foreign = foreign[: self._most]
                documents = documents[: [document.id for document in documents].index(foreign[-1].id) + 1]
            if not documents:
                cursor = cursor.further or cursor
                continue
            if cursor.kind == "memory":
                read += len(documents)
            cursor = cursor.at(documents[-1])
            if foreign:
                return await self._embed(lease, operation, _Part(foreign, cursor, read))
        return await self._drop_centroids(lease, operation, cursor, read)

    async def _embed(self, lease: Lease, operation: Operation, part: _Part) -> Operation:
        """Commit vectors of these memories, of those that still say what was embedded."""
        embedded = {memory.id: text_to_embed(memory) for memory in part.foreign}
        vectors = dict(zip(embedded, await self._embedder.embed(list(embedded.values())), strict=True))

        def decide(look: Look, stored: Operation) -> Chunk:
            marks = self._marks(look, embedded, vectors)
            counts = {"read": part.read, "embedded": len(marks)}
            return Chunk(marks=marks, cursor=part.further.body, counts=counts, reads=frozenset(embedded), fragile=False)

        return await self._operations.advance(lease, operation, list(embedded), decide)

    def _marks(self, look: Look, embedded: Mapping[str, str], vectors: Mapping[str, Vector]) -> dict[str, Mark]:
        marks = dict[str, Mark]()
        for name, text in embedded.items():
            document = look.documents.get(name)
            memory = None if document is None else as_memory(document, look.head)
            if memory is not None and not is_cold(memory) and text_to_embed(memory) == text:
                marks[name] = Mark(embedding=vectors[name], embedding_model=self._embedder.model)
        return marks

    async def _drop_centroids(self, lease: Lease, operation: Operation, cursor: _Cursor, read: int) -> Operation:
        """The last pass. Where nothing was embedded, centroids are of the right vectors already."""
        documents: list[Document] = []
        if operation.counts.get("embedded"):
            documents = await self._store.page(lease.owner, "scene", None, cursor.place, SCENES_AT_ONCE, newest_first=False)
        ids = [document.id for document in documents]

        def decide(look: Look, stored: Operation) -> Chunk:
            if not documents:
                made = {"model": self._embedder.model, "dimensions": self._embedder.dimensions}
                return Chunk(cursor=cursor.body, counts={"read": read, "embedded": 0}, done=True, result=made)
            scenes = [look.documents[name] for name in ids if name in look.documents]
            return Chunk(
                puts=tuple(replace(scene, vector=None) for scene in scenes), cursor=cursor.at(documents[-1]).body, counts={"read": read}
            )

        return await self._operations.advance(lease, operation, ids, decide)

    async def _page(self, owner: Owner, cursor: _Cursor) -> list[Document]:
        return await self._store.page(owner, cursor.kind, None, cursor.place, PAGE, newest_first=False)

    @property
    def _most(self) -> int:
        """Vectors that fit a commit."""
        return max(1, min(DOCUMENTS, BYTES // (_BYTES_A_NUMBER * self._embedder.dimensions + _BYTES_A_MARK)))

    def _foreign(self, documents: Sequence[Document]) -> list[Memory]:
        """Those without a vector of the configured embedder. A stub of the archive needs none; what can't be read gets none."""
        kind = VectorKind(self._embedder.model, self._embedder.dimensions)
        wanted = [document for document in documents if document.damaged or not kind.made(document.body)]
        return [memory for memory in readable(wanted)[0] if not is_cold(memory)]
