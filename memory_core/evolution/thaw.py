"""Back from the archive: a memory and the whole chain it was moved with, as they were, in one commit.

The hot copies come first; the cold one is left to the sweep, which finds that nothing points to it any more. One would get wrong: a
truth may have been told while this one was away, and both can't stand. The one told of the later time stands, as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_core.domain.archival import brought_back, is_cold, version_brought_back
from memory_core.domain.cold_copy import ColdCopy
from memory_core.domain.errors import Damaged, EmbeddingMismatch, NotFound, Unavailable
from memory_core.domain.indexing import text_to_embed
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType, Status, Vector
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.slots import slot_of
from memory_core.evolution.decide import Verdict, judge
from memory_core.evolution.truth_line import superseded_by
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.cold_copies import ColdCopies
from memory_core.ledger.commit import Ledger, Look, as_memory
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Embedder, Near, Neighbour

ROUNDS = 4
"""How often in a row the memory may move to another copy before we give up: each takes an archive run of its own."""
NEVER_ALIKE = 2.0
"""A similarity that nothing reaches: of two truths in one slot, the slot alone decides."""


class _Elsewhere(Exception):
    """The memory is not in the copy that was read any more."""


@dataclass(frozen=True, slots=True)
class _Thawing:
    """One restore: which memory, from which copy, with vectors made anew by id where the embedder is another one now."""

    owner: Owner
    memory_id: str
    location: str
    copy: ColdCopy
    vectors: Mapping[str, Vector | None]
    now: datetime

    @property
    def ids(self) -> list[str]:
        """Every document that it writes."""
        every = (one.id for kept in self.copy.members for one in (kept.memory, *kept.versions))
        return list(dict.fromkeys([self.memory_id, *every]))


class Thaw:
    """Brings memories of any owner back."""

    def __init__(self, ledger: Ledger, mirror: Mirror, copies: ColdCopies, embedder: Embedder, clock: Clock) -> None:
        self._ledger, self._mirror, self._copies, self._embedder, self._clock = ledger, mirror, copies, embedder, clock

    async def restore_archived(self, owner: Owner, memory_id: str, call: Call) -> Memory:
        """The memory as it is hot; its chain comes with it. One that is hot already answers as it is.

        A decayed one comes back active, since it was asked for; one deleted in the archive likewise. Every other member has the status
        that it had. Raises NotFound, Damaged (the stub stays), Unavailable.
        """
        for _ in range(ROUNDS):
            look = await self._ledger.look(owner, [memory_id, *_receipt_ids(owner, call)])
            memory = _present(look, memory_id)
            if earlier_result(look.documents, owner, call) is not None or memory.archival_location is None or not is_cold(memory):
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
            raise Damaged("archive", f"the cold copy of {memory.id} is gone", retry_after_s=30) from None
        thawing = _Thawing(owner, memory.id, location, copy, await self._new_vectors(copy), self._clock.now())
        nears = [Near(None, frozenset({MemoryType.SEMANTIC.value}), NEVER_ALIKE, slot) for slot in _slots(copy)]
        sessions = [session_document_id(owner, memory.session_id)] if memory.session_id else []
        committed = await self._ledger.commit(
            owner,
            lambda seen: self._decide(thawing, seen, call),
            ids=[*thawing.ids, *sessions, *_receipt_ids(owner, call)],
            nears=nears,
            call=call,
        )
        await self._mirror.follow(owner, committed)
        return committed.memories.get(memory.id) or committed.result

    def _decide(self, thawing: _Thawing, seen: Look, call: Call) -> Changes[Memory]:
        asked = _present(seen, thawing.memory_id)
        if earlier_result(seen.documents, thawing.owner, call) is not None or not is_cold(asked):
            return Changes(asked)
        if asked.archival_location != thawing.location:
            raise _Elsewhere
        changes, puts = self._changes(thawing, seen), [*self._versions(thawing, seen), *self._session(thawing, seen)]
        creates = receipt(thawing.owner, call, thawing.now, {"memory_id": asked.id})
        types = frozenset({MemoryType.SEMANTIC.value}) if seen.near else frozenset[str]()
        sessions = frozenset({asked.session_id} if asked.session_id else ())
        return Changes(asked, tuple(changes), tuple(puts), creates, frozenset(thawing.ids), sessions, types)

    def _changes(self, thawing: _Thawing, seen: Look) -> list[Change]:
        changes: list[Change] = []
        told_since = _told_since(thawing, seen)
        for kept in thawing.copy.members:
            stub = seen.memory(kept.memory.id)
            if stub is None or stub.archival_location != thawing.location or not is_cold(stub):
                continue
            back = brought_back(stub, kept, thawing.now)
            back = back.model_copy(update=self._vector_fields(thawing, kept.memory))
            steps = [back]
            if stub.id == thawing.memory_id and back.status in (Status.DECAYED, Status.DELETED):
                steps = _in_use_again(back, kept.memory, thawing.now)
            for before, after in zip([stub, *steps], steps, strict=False):
                changes.append(Change("restored", after, before, {"vector": _origin(thawing, kept.memory)}))
            changes[-1:] = _settled(changes[-1], told_since, thawing.now)
        return changes

    def _vector_fields(self, thawing: _Thawing, whole: Memory) -> dict[str, Any]:
        """The vector that a memory comes back with, and what made it."""
        if whole.id not in thawing.vectors:
            return {}
        vector = thawing.vectors[whole.id]
        made_by = (None, None) if vector is None else (self._embedder.model, self._embedder.dimensions)
        return {"embedding": vector, "embedding_model": made_by[0], "embedding_dimensions": made_by[1]}

    def _versions(self, thawing: _Thawing, seen: Look) -> list[Document]:
        """The old versions, for those whose stubs are still there."""
        documents = []
        for whole in (one for kept in thawing.copy.members for one in kept.versions):
            found = seen.documents.get(whole.id)
            stub = None if found is None or found.kind != "version" else as_memory(found, seen.head)
            if stub is not None and stub.archival_location == thawing.location:
                back = version_brought_back(stub, whole).model_copy(update=self._vector_fields(thawing, whole))
                documents.append(Document(back.id, "version", back.model_dump(mode="json"), back.embedding))
        return documents

    def _session(self, thawing: _Thawing, seen: Look) -> list[Document]:
        """Sessions count what is not deleted: only the one asked for may have been."""
        asked = _present(seen, thawing.memory_id)
        if asked.session_id is None or asked.status is not Status.DELETED:
            return []
        found = seen.documents.get(session_document_id(thawing.owner, asked.session_id))
        session = Session(thawing.owner, asked.session_id, found)
        session.count(asked, asked.model_copy(update={"status": Status.ACTIVE}), thawing.now)
        return [session.document]

    async def _new_vectors(self, copy: ColdCopy) -> dict[str, Vector | None]:
        """The vectors of what another embedder had made one of, made anew; None where ours does not answer: found by words alone."""
        every = [one for kept in copy.members for one in (kept.memory, *kept.versions)]
        foreign = [one for one in every if one.embedding is not None and not self._is_ours(one)]
        if not foreign:
            return {}
        try:
            made: Sequence[Vector | None] = await self._embedder.embed([text_to_embed(one) for one in foreign])
        except EmbeddingMismatch:
            raise
        except Unavailable:
            made = [None] * len(foreign)
        return {one.id: vector for one, vector in zip(foreign, made, strict=True)}

    def _is_ours(self, memory: Memory) -> bool:
        known = memory.embedding is not None and memory.embedding.shape == (self._embedder.dimensions,)
        return known and memory.embedding_model in (None, self._embedder.model)


def _origin(thawing: _Thawing, whole: Memory) -> str:
    """What its event says of a memory's vector: kept · made_anew · left_out (the embedder is another one, and did not answer) · none."""
    if whole.embedding is None:
        return "none"
    if whole.id not in thawing.vectors:
        return "kept"
    return "left_out" if thawing.vectors[whole.id] is None else "made_anew"


def _settled(change: Change, told_since: Sequence[Memory], now: datetime) -> list[Change]:
    """The change, so that one truth stands in its slot where others were told while this one was away: the one of the later time."""
    back = change.after
    rivals = [one for one in told_since if slot_of(one) == slot_of(back)]
    if back.status not in FOUND_BY_DEFAULT or not rivals:
        return [change]
    rival = max(rivals, key=lambda one: (one.event_timestamp, one.sequence))
    verdict = judge(back, [Neighbour(rival, 1.0)], NEVER_ALIKE).verdict
    if verdict is Verdict.SAME:
        joined: dict[str, Any] = {"status": Status.UPDATED, "status_reason": "consolidated", "next_id": rival.id}
        joined |= {"valid_until": max(back.valid_from, rival.valid_from), "consolidated_into_ids": [*back.consolidated_into_ids, rival.id]}
        return [replace(change, after=back.model_copy(update=joined))]
    if verdict is not Verdict.CONTRADICTS:
        return [change]
    if back.event_timestamp <= rival.event_timestamp or rival.pinned:
        return [replace(change, after=superseded_by(back, rival, now))]
    return [change, *(Change("superseded", superseded_by(one, back, now), one) for one in rivals)]


def _in_use_again(back: Memory, whole: Memory, now: datetime) -> list[Memory]:
    """The steps by which what was asked for, and had decayed or was deleted in the archive, comes into use again.

    What was no truth of its present when it was archived, or a short text, becomes that again.
    """
    active = back.model_copy(update={"status": Status.ACTIVE, "status_reason": "restored", "change_reason": None, "updated_at": now})
    if whole.status in (Status.ACTIVE, Status.DECAYED):
        return [active]
    return [active, active.model_copy(update={"status": whole.status, "status_reason": whole.status_reason})]


def _told_since(thawing: _Thawing, seen: Look) -> list[Memory]:
    """The truths in the slots of these memories that were told while they were away; of those from before, both stood on purpose."""
    asked, members = _present(seen, thawing.memory_id), set(thawing.copy.ids)
    near = {one.memory.id: one.memory for found in seen.near for one in found}
    return [
        one
        for one in near.values()
        if one.status in FOUND_BY_DEFAULT and one.id not in members and asked.archived_at and one.created_at >= asked.archived_at
    ]


def _slots(copy: ColdCopy) -> list[tuple[str, str]]:
    """The slots that the members fill."""
    found = (slot_of(one.memory) for one in copy.members if one.memory.type is MemoryType.SEMANTIC)
    return list(dict.fromkeys(slot for slot in found if slot is not None))


def _receipt_ids(owner: Owner, call: Call) -> list[str]:
    name = receipt_id(owner, call)
    return [name] if name else []


def _present(look: Look, memory_id: str) -> Memory:
    memory = look.memory(memory_id)
    if memory is None:
        raise NotFound(f"no memory {memory_id!r} for this user")
    return memory
