"""Restore a memory from the archive with its whole chain, in a single commit.

The copies in the store are written first. The archived copy is left to the sweep, which finds that
no memory points to it any more. Note: another truth may have been asserted while this memory was
archived, and both can't be active. The truth of the later time is active, as always.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_core.domain.archival import (
    ColdCopy,
    brought_back,
    is_cold,
    version_brought_back,
    was_cold,
)
from memory_core.domain.errors import Damaged, EmbeddingMismatch, NotFound, Unavailable
from memory_core.domain.memory import Memory, MemoryFields, Status, Vector
from memory_core.domain.ranking.index_terms import text_to_embed
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import restore
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory
from memory_core.ledger.receipts import MEMORY_RECEIPT, earlier_result, receipt_ids
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Embedder, LongTermStore

ROUNDS = 4
"""How often in a row the memory may move to another copy before the call fails: each move takes an
archive run of its own.
"""


class _Elsewhere(Exception):
    """The memory is no longer in the copy that was read."""


@dataclass(frozen=True, slots=True)
class _ArchivedChain:
    """The restoring of a memory from a copy.

    Attributes:
        owner: Whose memory it is.
        memory_id: Id of the requested memory.
        location: Location of the copy.
        copy: Copy that was read.
        vectors: New vectors by memory id, if the embedder has changed.
        now: The present time.

    """

    owner: Owner
    memory_id: str
    location: str
    copy: ColdCopy
    vectors: Mapping[str, Vector | None]
    now: datetime

    @property
    def ids(self) -> list[str]:
        """The ids of all documents that it writes."""
        every = (
            memory.id
            for member in self.copy.members
            for memory in (member.memory, *member.versions)
        )
        return list(dict.fromkeys([self.memory_id, *every]))


class ArchiveRestorer:
    """Restores archived memories of any owner."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        copies: ColdCopies,
        embedder: Embedder,
        clock: Clock,
    ) -> None:
        self._store, self._ledger = store, ledger
        self._copies, self._embedder, self._clock = copies, embedder, clock

    async def is_for(self, owner: Owner, memory: Memory) -> bool:
        """Whether this class restores the memory.

        The memory is in the archive, or its last event was a restore from there. Without the second
        case, a second request for a superseded truth would be refused.

        Args:
            owner: Whose memory it is.
            memory: As it was read.

        """
        if is_cold(memory) or memory.status is Status.ACTIVE:
            return is_cold(memory)
        last = await self._store.events(owner, memory.revision - 1, 1)
        return any(
            event.sequence == memory.revision
            and event.event_type == "restored"
            and was_cold(event.before)
            for event in last
        )

    async def restore_archived(self, owner: Owner, memory_id: str, call: Call) -> Memory:
        """Restore an archived memory with its chain.

        A memory in the store is returned as it is. A decayed memory becomes active, since it was
        requested, and so does a memory that was deleted in the archive. Every other member gets its
        earlier status.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such memory.
            Damaged: The copy can't be read; the stub stays.
            Unavailable: The store or the archive is down.

        """
        for _ in range(ROUNDS):
            read_set = await self._ledger.look(owner, [memory_id, *receipt_ids(owner, call)])
            memory = read_set.existing_memory(memory_id)
            if (
                earlier_result(read_set.documents, owner, call) is not None
                or memory.archival_location is None
                or not is_cold(memory)
            ):
                return memory
            try:
                return await self._restored(owner, memory, memory.archival_location, call)
            except _Elsewhere:
                continue
        raise Unavailable("archive", "the memory moves between archive and store; try again")

    async def _restored(self, owner: Owner, memory: Memory, location: str, call: Call) -> Memory:
        try:
            copy = await self._copies.read(owner, location)
        except NotFound:
            read_set = await self._ledger.look(owner, [memory.id])
            if read_set.existing_memory(memory.id).archival_location != location:
                raise _Elsewhere from None
            raise Damaged(
                "archive", f"the cold copy of {memory.id} is gone", retry_after_s=30
            ) from None
        thawing = _ArchivedChain(
            owner, memory.id, location, copy, await self._new_vectors(copy), self._clock.now()
        )
        sessions = [session_document_id(owner, memory.session_id)] if memory.session_id else []
        committed = await self._ledger.commit(
            owner,
            lambda seen: self._decide(thawing, seen),
            ids=[*thawing.ids, *sessions],
            call=call,
            receipt=MEMORY_RECEIPT,
        )
        return committed.memories.get(memory.id) or committed.result

    def _decide(self, thawing: _ArchivedChain, seen: ReadSet) -> Changes[Memory]:
        asked = seen.existing_memory(thawing.memory_id)
        if not is_cold(asked):
            return Changes(asked)
        if asked.archival_location != thawing.location:
            raise _Elsewhere
        changes = self._changes(thawing, seen)
        puts = [*self._versions(thawing, seen), *self._session(thawing, seen)]
        sessions = frozenset({asked.session_id} if asked.session_id else ())
        return Changes(asked, tuple(changes), tuple(puts), (), frozenset(thawing.ids), sessions)

    def _changes(self, thawing: _ArchivedChain, seen: ReadSet) -> list[Change]:
        changes = list[Change]()
        for member in thawing.copy.members:
            stub = seen.memory(member.memory.id)
            if stub is None or stub.archival_location != thawing.location or not is_cold(stub):
                continue
            back = brought_back(stub, member, thawing.now)
            back = back.changed(**self._vector_fields(thawing, member.memory))
            steps = [back]
            if stub.id == thawing.memory_id and back.status in (Status.DECAYED, Status.DELETED):
                steps = _in_use_again(back, member.memory, thawing.now)
            for before, after in zip([stub, *steps], steps, strict=False):
                changes.append(
                    Change("restored", after, before, {"vector": _origin(thawing, member.memory)})
                )
        return changes

    def _vector_fields(self, thawing: _ArchivedChain, whole: Memory) -> MemoryFields:
        """The vector with which a memory is restored, and its model."""
        if whole.id not in thawing.vectors:
            return {}
        vector = thawing.vectors[whole.id]
        made_by = (
            (None, None) if vector is None else (self._embedder.model, self._embedder.dimensions)
        )
        return {
            "embedding": vector,
            "embedding_model": made_by[0],
            "embedding_dimensions": made_by[1],
        }

    def _versions(self, thawing: _ArchivedChain, seen: ReadSet) -> list[Document]:
        """The old versions whose stubs still exist."""
        documents = []
        for whole in (version for member in thawing.copy.members for version in member.versions):
            document = seen.documents.get(whole.id)
            stub = (
                None
                if document is None or document.kind != "version"
                else as_memory(document, seen.head)
            )
            if stub is not None and stub.archival_location == thawing.location:
                back = version_brought_back(stub, whole).changed(
                    **self._vector_fields(thawing, whole)
                )
                documents.append(
                    Document(back.id, "version", back.model_dump(mode="json"), back.embedding)
                )
        return documents

    def _session(self, thawing: _ArchivedChain, seen: ReadSet) -> list[Document]:
        """Count the requested memory in its session, if it was deleted.

        Sessions count memories that are not deleted, and only the requested memory may have been
        deleted.
        """
        asked = seen.existing_memory(thawing.memory_id)
        if asked.session_id is None or asked.status is not Status.DELETED:
            return []
        document = seen.documents.get(session_document_id(thawing.owner, asked.session_id))
        session = Session(thawing.owner, asked.session_id, document)
        session.count(asked, asked.changed(status=Status.ACTIVE), thawing.now)
        return [session.document]

    async def _new_vectors(self, copy: ColdCopy) -> dict[str, Vector | None]:
        """New vectors for memories with vectors of another embedder, by id.

        A vector is None if the embedder does not answer; the memory is then found by words alone.
        """
        every = [memory for member in copy.members for memory in (member.memory, *member.versions)]
        foreign = [
            memory for memory in every if memory.embedding is not None and not self._is_ours(memory)
        ]
        if not foreign:
            return {}
        try:
            made: Sequence[Vector | None] = await self._embedder.embed(
                [text_to_embed(memory) for memory in foreign]
            )
        except EmbeddingMismatch:
            raise
        except Unavailable:
            made = [None] * len(foreign)
        return {memory.id: vector for memory, vector in zip(foreign, made, strict=True)}

    def _is_ours(self, memory: Memory) -> bool:
        known = memory.embedding is not None and memory.embedding.shape == (
            self._embedder.dimensions,
        )
        return known and memory.embedding_model in (None, self._embedder.model)


def _origin(thawing: _ArchivedChain, whole: Memory) -> str:
    """The origin of a restored memory's vector, as its event says it.

    It is kept, made_anew, left_out (the embedder is another, and did not answer), or none.
    """
    if whole.embedding is None:
        return "none"
    if whole.id not in thawing.vectors:
        return "kept"
    return "left_out" if thawing.vectors[whole.id] is None else "made_anew"


def _in_use_again(back: Memory, whole: Memory, now: datetime) -> list[Memory]:
    """The steps by which the requested memory becomes active.

    It had decayed, or was deleted in the archive. A memory that was no present truth when it was
    archived, or was compressed, gets that status again.
    """
    active = restore(back, now, change_reason=None)
    if whole.status in (Status.ACTIVE, Status.DECAYED):
        return [active]
    return [active, active.changed(status=whole.status, status_reason=whole.status_reason)]
