"""A compressed memory as it was before: its original comes back from the archive, in its place and under its id.

Note: a caller that writes another text over the short one makes the memory active by that, and its original history. So a
memory that is still compressed at the place where its original was read says what that says.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory_core.domain.errors import Conflict, Damaged, FieldError, NotFound, Unavailable
from memory_core.domain.indexing import reread, text_to_embed
from memory_core.domain.models import Memory, Status
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.batch import Change, Changes
from memory_core.ledger.commit import Ledger, Look, Mirror
from memory_core.ledger.ids import earlier_result, receipt, receipt_id
from memory_core.ports import Clock, Embedder

ROUNDS = 4


class _Elsewhere(Exception):
    """The original was not, or is not any more, where the memory said that it is: the memory as it is now."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory


class Uncompress:
    """Brings the long texts of any owner back."""

    def __init__(self, ledger: Ledger, mirror: Mirror, copies: ColdCopies, embedder: Embedder, clock: Clock) -> None:
        self._ledger, self._mirror, self._copies, self._embedder, self._clock = ledger, mirror, copies, embedder, clock

    async def uncompress(self, owner: Owner, memory: Memory, reason: str, call: Call) -> Memory:
        """The memory, active, with its whole text. One that is active already answers as it is.

        Raises NotFound, Conflict (it has become something else), Damaged (the original; the short text stays), Unavailable.
        """
        for _ in range(ROUNDS):
            try:
                return await self._uncompressed(owner, memory, reason, call)
            except _Elsewhere as moved:
                memory = moved.memory
        raise Unavailable("archive", "the original moves between archive and store; try again")

    async def _uncompressed(self, owner: Owner, memory: Memory, reason: str, call: Call) -> Memory:
        original = await self._original(owner, memory) if memory.status is Status.COMPRESSED else None
        key = receipt_id(owner, call)

        def decide(seen: Look) -> Changes[Memory]:
            memory_now = seen.memory(memory.id)
            if memory_now is None:
                raise NotFound("no memory of this id for this user")
            if earlier_result(seen.documents, owner, call) is not None or memory_now.status is Status.ACTIVE:
                return Changes(memory_now)
            if memory_now.status is not Status.COMPRESSED:
                message = f"a memory that is {memory_now.status.value} is not compressed any more; try again"
                raise Conflict(message, errors=(FieldError("status", message),))
            if original is None or memory_now.archival_location != memory.archival_location:
                raise _Elsewhere(memory_now)
            change = Change("restored", _whole(memory_now, original, reason, self._clock.now()), memory_now, {"reason": reason})
            creates = receipt(owner, call, self._clock.now(), {"memory_id": memory_now.id})
            return Changes(memory_now, (change,), creates=creates, reads=frozenset({memory_now.id}))

        committed = await self._ledger.commit(owner, decide, ids=[memory.id, *([key] if key else [])], call=call)
        await self._mirror.follow(owner, committed)
        return committed.memories.get(memory.id) or committed.result

    async def _original(self, owner: Owner, memory: Memory) -> Memory:
        """The original, with a vector of the present embedder."""
        if memory.archival_location is None:
            raise Damaged("archive", f"nothing tells where the original of {memory.id} is", retry_after_s=30)
        try:
            member = (await self._copies.read(owner, memory.archival_location)).member(memory.id)
        except NotFound as error:
            now = (await self._ledger.look(owner, [memory.id])).memory(memory.id)
            if now is not None and now.archival_location != memory.archival_location:
                raise _Elsewhere(now) from None
            raise Damaged("archive", f"the original of {memory.id} is gone", retry_after_s=30) from error
        if member is None:
            raise Damaged("archive", f"the cold copy of {memory.id} holds another memory", retry_after_s=30)
        whole = member.whole
        if whole.embedding is not None and whole.embedding_model not in (None, self._embedder.model):
            (whole.embedding,) = await self._embedder.embed([text_to_embed(whole)])
            whole.embedding_model, whole.embedding_dimensions = self._embedder.model, self._embedder.dimensions
        return whole


def _whole(memory: Memory, original: Memory, reason: str, now: datetime) -> Memory:
    active: dict[str, Any] = {"status": Status.ACTIVE, "status_reason": "restored", "change_reason": reason, "archival_location": None}
    active |= {"updated_at": now, "last_accessed_at": now}
    fields = {name: getattr(original, name) for name in ("content", "episode", "embedding", "embedding_model", "embedding_dimensions")}
    return reread(memory.model_copy(update={**active, **fields}))
