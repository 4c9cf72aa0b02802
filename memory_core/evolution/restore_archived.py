"""Back from the archive: a memory and the whole chain it was moved with, as they were,
in one commit.

The hot copies come first; the cold one is left to the sweep, which finds that nothing points to it
any more. Note: a truth may have been told while this one was away, and both can't be active. The
one told of the later time is, as ever.
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
from memory_core.ledger.batch import Change, Changes
from memory_core.ledger.commit import Ledger, ReadSet
from memory_core.ledger.ids import earlier_result, receipt, receipt_id, session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.readable import as_memory
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Embedder, LongTermStore

ROUNDS = 4
"""How often in a row the memory may move to another copy before we give up: each takes an archive
run of its own.
"""


class _Elsewhere(Exception):
    """The memory is not in the copy that was read any more."""


@dataclass(frozen=True, slots=True)
class _ArchivedChain:
    """One restore: which memory, from which copy, with new vectors by id where the embedder is
    another one now.
    """

    owner: Owner
    memory_id: str
    location: str
    copy: ColdCopy
    vectors: Mapping[str, Vector | None]
    now: datetime

    @property
    def ids(self) -> list[str]:
        """Every document that it writes."""
        every = (
            memory.id
            for member in self.copy.members
            for memory in (member.memory, *member.versions)
        )
        return list(dict.fromkeys([self.memory_id, *every]))


class ArchiveRestorer:
    """Brings memories of any owner back."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        mirror: Mirror,
        copies: ColdCopies,
        embedder: Embedder,
        clock: Clock,
    ) -> None:
        self._store, self._ledger, self._mirror = store, ledger, mirror
        self._copies, self._embedder, self._clock = copies, embedder, clock

    async def is_for(self, owner: Owner, memory: Memory) -> bool:
        """Whether bringing this memory back is our business: it is in the archive, or was, and
        nothing has happened to it since.

        Without the second, who asks twice for a superseded truth would be told the second time that
        it can't be restored.
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
        """The memory as it is hot; its chain comes with it. One that is hot already
        answers as it is.

        A decayed one comes back active, since it was asked for; one deleted in the archive
        likewise. Every other member has the status that it had. Raises NotFound,
        Damaged (the stub stays), Unavailable.
        """
        for _ in range(ROUNDS):
            look = await self._ledger.look(owner, [memory_id, *_receipt_ids(owner, call)])
            memory = _present(look, memory_id)
            if (
                earlier_result(look.documents, owner, call) is not None
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
            look = await self._ledger.look(owner, [memory.id])
            if _present(look, memory.id).archival_location != location:
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
            lambda seen: self._decide(thawing, seen, call),
            ids=[*thawing.ids, *sessions, *_receipt_ids(owner, call)],
            call=call,
        )
        await self._mirror.follow(owner, committed)
        return committed.memories.get(memory.id) or committed.result

    def _decide(self, thawing: _ArchivedChain, seen: ReadSet, call: Call) -> Changes[Memory]:
        asked = _present(seen, thawing.memory_id)
        if earlier_result(seen.documents, thawing.owner, call) is not None or not is_cold(asked):
            return Changes(asked)
        if asked.archival_location != thawing.location:
            raise _Elsewhere
        changes = self._changes(thawing, seen)
        puts = [*self._versions(thawing, seen), *self._session(thawing, seen)]
        creates = receipt(thawing.owner, call, thawing.now, {"memory_id": asked.id})
        sessions = frozenset({asked.session_id} if asked.session_id else ())
        return Changes(
            asked, tuple(changes), tuple(puts), creates, frozenset(thawing.ids), sessions
        )

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
        """The vector that a memory comes back with, and what made it."""
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
        """The old versions, for those whose stubs are still there."""
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
        """Sessions count what is not deleted: only the one asked for may have been."""
        asked = _present(seen, thawing.memory_id)
        if asked.session_id is None or asked.status is not Status.DELETED:
            return []
        document = seen.documents.get(session_document_id(thawing.owner, asked.session_id))
        session = Session(thawing.owner, asked.session_id, document)
        session.count(asked, asked.changed(status=Status.ACTIVE), thawing.now)
        return [session.document]

    async def _new_vectors(self, copy: ColdCopy) -> dict[str, Vector | None]:
        """New vectors of what another embedder had made one of; None where ours does not answer:
        found by words alone.
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
    """What its event says of a memory's vector: kept · made_anew · left_out (the embedder is
    another one, and did not answer) · none.
    """
    if whole.embedding is None:
        return "none"
    if whole.id not in thawing.vectors:
        return "kept"
    return "left_out" if thawing.vectors[whole.id] is None else "made_anew"


def _in_use_again(back: Memory, whole: Memory, now: datetime) -> list[Memory]:
    """The steps by which what was asked for, and had decayed or was deleted in the archive,
    comes into use again.

    What was no truth of its present when it was archived, or a short text, becomes that again.
    """
    active = restore(back, now, change_reason=None)
    if whole.status in (Status.ACTIVE, Status.DECAYED):
        return [active]
    return [active, active.changed(status=whole.status, status_reason=whole.status_reason)]


def _receipt_ids(owner: Owner, call: Call) -> list[str]:
    name = receipt_id(owner, call)
    return [name] if name else []


def _present(look: ReadSet, memory_id: str) -> Memory:
    memory = look.memory(memory_id)
    if memory is None:
        raise NotFound("no memory of this id for this user")
    return memory
