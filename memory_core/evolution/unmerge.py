"""Merged notes unmerged: before a source of one is deleted, each source stands for itself again, and nothing says what all of them said.

The merge is undone by its record where that can still be; else the merged note goes, and its sources are active again. Both are commits of
their own before the deletion. A worker that dies in between leaves notes that stand apart. Note: a merged note that was edited since is
left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final

from memory_core.domain.conflict import record_in
from memory_core.domain.errors import Conflict, NotFound, Unavailable
from memory_core.domain.forgetting import is_made_of_others
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.conflicts import Conflicts
from memory_core.ledger.batch import Change, Changes
from memory_core.ledger.commit import Ledger, Look, Mirror
from memory_core.ledger.ids import conflict_record_ids, session_document_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock

MOST_MERGES: Final = 20
"""Merges, one after the other, that are taken apart."""
_SOURCE_GONE: Final = "a source of it was deleted"


class NoteUnmerger:
    """Unmerges notes of any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror, conflicts: Conflicts, clock: Clock) -> None:
        self._ledger, self._mirror, self._conflicts, self._clock = ledger, mirror, conflicts, clock

    async def unmerge_sources(self, owner: Owner, going: Iterable[Memory], call: Call, *, session_id: str | None = None) -> None:
        """Unmerge what these memories, which are about to be deleted, were merged into.

        Args:
            owner: whose memories they are.
            going: those that are about to be deleted.
            call: on whose behalf.
            session_id: the session that goes as a whole. Then a merged note of it is taken apart for the sources that other sessions have.

        """
        alone = replace(call, idempotency_key=None)
        for memory in going:
            if memory.category != "note":
                continue
            if memory.status is Status.UPDATED and memory.next_id is not None:
                await self._unmerge(owner, memory.next_id, alone, besides=session_id)
                if is_made_of_others(memory):  # its own sources would else lead to what is gone
                    await self._unmerge(owner, memory.id, alone)
            elif session_id is not None and memory.status in FOUND_BY_DEFAULT and is_made_of_others(memory):
                look = await self._ledger.look(owner, memory.source_ids)
                if any(source.session_id != session_id for source in _merged_into(memory, look)):
                    await self._unmerge(owner, memory.id, alone)

    async def _unmerge(self, owner: Owner, merged_id: str, call: Call, *, besides: str | None = None, left: int = MOST_MERGES) -> None:
        """Unmerge a note, and before it those that it was merged into itself. besides: the session whose notes go anyway."""
        look = await self._ledger.look(owner, [merged_id])
        merged = look.memory(merged_id)
        if merged is None or merged.category != "note" or not is_made_of_others(merged) or merged.version > 1 or not left:
            return
        if merged.status is Status.UPDATED and merged.next_id is not None:
            await self._unmerge(owner, merged.next_id, call, besides=besides, left=left - 1)
        elif besides is not None and merged.session_id == besides:
            return
        if merged.status is not Status.DELETED and not await self._undone(owner, merged, call):
            await self._dissolved(owner, merged, call)

    async def _undone(self, owner: Owner, merged: Memory, call: Call) -> bool:
        """Undo the merge by its record; False where that can't be."""
        records = conflict_record_ids(merged.supersedes_id or "", merged.id)
        look = await self._ledger.look(owner, records)
        conflict_records = [record_in(document.body) for name in records if (document := look.documents.get(name)) is not None]
        record = next(
            (conflict_record for conflict_record in conflict_records if conflict_record.strategy == "merge" and not conflict_record.open),
            None,
        )
        if record is None:
            return False
        with suppress(Conflict, NotFound, Unavailable):
            await self._conflicts.undo(owner, record.id, call)
            return True
        return False

    async def _dissolved(self, owner: Owner, merged: Memory, call: Call) -> None:
        """Delete the merged note; its sources are active again."""
        names = [merged.id, *merged.source_ids]
        sessions = [] if merged.session_id is None else [session_document_id(owner, merged.session_id)]

        def decide(look: Look) -> Changes[None]:
            now, note = self._clock.now(), look.memory(merged.id)
            if note is None or note.status is Status.DELETED:
                return Changes(None)
            gone = {"status": Status.DELETED, "status_reason": "manual_delete", "change_reason": _SOURCE_GONE, "updated_at": now}
            first = Change("deleted", note.model_copy(update=gone), note, {"reason": _SOURCE_GONE})
            changes = [first, *(Change("restored", _back(source, note, now), source) for source in _merged_into(note, look))]
            session = None
            if note.session_id is not None:
                session = Session(owner, note.session_id, look.documents.get(sessions[0]))
                session.count(note, first.after, now)
            return Changes(
                None,
                tuple(changes),
                () if session is None else (session.document,),
                reads=frozenset(names),
                sessions=frozenset({note.session_id} if note.session_id is not None else ()),
            )

        committed = await self._ledger.commit(owner, decide, ids=[*names, *sessions], call=call)
        await self._mirror.follow(owner, committed)


def _merged_into(merged: Memory, look: Look) -> Sequence[Memory]:
    """The sources of a merged note that were merged into it, and into nothing else since."""
    memories = (look.memory(name) for name in merged.source_ids)
    return [memory for memory in memories if memory is not None and memory.status is Status.UPDATED and memory.next_id == merged.id]


def _back(source: Memory, merged: Memory, now: datetime) -> Memory:
    into = [name for name in source.consolidated_into_ids if name != merged.id]
    fields = {"status": Status.ACTIVE, "status_reason": "restored", "next_id": None, "valid_until": None, "consolidated_into_ids": into}
    return source.model_copy(update={**fields, "updated_at": now, "last_accessed_at": now})
