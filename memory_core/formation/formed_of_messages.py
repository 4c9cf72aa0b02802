"""Take back all that was formed of messages alone, with its effects on other memories.

The facts and notes go, the latest first: decisions between them and older memories are undone,
then they are deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final

from memory_core.domain.conflict import record_in
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import TAKEN_BACK
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.conflicts import Conflicts
from memory_core.evolution.deletion import NoteUnmerger
from memory_core.evolution.edit import Editor
from memory_core.evolution.restore import Restorer
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.documents import state_of
from memory_core.ledger.ids import conflict_record_ids, note_id
from memory_core.ledger.instructions import instructions_of
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Clock, Filter, LongTermStore

_REPLACED: Final = frozenset(
    status.value for status in (Status.SUPERSEDED, Status.UPDATED, Status.DELETED)
)
_MOST_REPLACED: Final = 100
"""Memories that a single memory replaced, as far as they are read."""


class FormedOfMessages:
    """Takes back facts and notes that were formed of messages, for any owner."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        conflicts: Conflicts,
        restorer: Restorer,
        editor: Editor,
        unmerger: NoteUnmerger,
        clock: Clock,
    ) -> None:
        self._store, self._ledger, self._clock = store, ledger, clock
        self._conflicts, self._restorer = conflicts, restorer
        self._editor, self._unmerger = editor, unmerger

    async def take(
        self, owner: Owner, cells: Mapping[str, Memory], message_ids: Sequence[str], call: Call
    ) -> int:
        """Delete facts and notes that were made of these cells alone, the latest first.

        Args:
            owner: Whose memories these are.
            cells: By id.
            message_ids: Messages of these cells.
            call: The call on whose behalf they go.

        Returns:
            Their number.

        """
        count, alone = 0, replace(call, idempotency_key=None)
        names = await self._made_of_cells(owner, cells)
        for given in await instructions_of(self._store, owner, message_ids):
            if given.status is not Status.DELETED and given.version == 1:
                await self._editor.delete(owner, given.id, alone, reason=TAKEN_BACK)
                count += 1
        read_set = await self._ledger.look(owner, names)
        made = {
            memory.id: memory for name in names if (memory := read_set.memory(name)) is not None
        }
        for memory in sorted(
            made.values(),
            key=lambda made_memory: (made_memory.event_timestamp, made_memory.sequence),
            reverse=True,
        ):
            if (
                cells.keys().isdisjoint(_cell_ids_of(memory))
                or memory.cell_id == memory.id
                or memory.status is Status.DELETED
                or memory.version > 1
            ):
                continue
            count += await self._take_memory(owner, memory, cells, alone)
        return count

    async def _made_of_cells(self, owner: Owner, cells: Mapping[str, Memory]) -> list[str]:
        """The ids of all that was made of these cells."""
        conversation_look = await self._ledger.look(
            owner,
            list(
                dict.fromkeys(
                    cell.conversation_id for cell in cells.values() if cell.conversation_id
                )
            ),
        )
        became = [
            formed_cell.memory_ids
            for name in conversation_look.documents
            if (state := state_of(conversation_look, name)) is not None
            for formed_cell in state.formed_cells
        ]
        # notes that stated it before are shared with other cells
        joined = [name for ids in became if not cells.keys().isdisjoint(ids) for name in ids]
        return list(
            dict.fromkeys(
                [*(name for cell in cells.values() for name in _ids_formed_of(cell)), *joined]
            )
        )

    async def _take_memory(
        self, owner: Owner, memory: Memory, cells: Mapping[str, Memory], call: Call
    ) -> bool:
        """Delete a memory, unless a remaining cell states it too; whether it was deleted."""
        replaced = [] if slot_name(memory) is not None else await self._replaced_by(owner, memory)
        other_tellers = [
            name
            for name in _cell_ids_of(memory)
            if name not in cells and name not in {old.id for old in replaced}
        ]
        read_set = await self._ledger.look(owner, other_tellers)
        if not all(
            teller is None or teller.status is Status.DELETED
            for teller in map(read_set.memory, other_tellers)
        ):
            return False
        await self._unmerger.unmerge_sources(owner, [memory], call)
        await self._undone(owner, memory, replaced, call)
        await self._editor.delete(
            owner, memory.id, call, reason=TAKEN_BACK, never_so=slot_name(memory) is not None
        )
        if memory.status is Status.SUPERSEDED and memory.next_id is not None:
            await self._closed_up(owner, memory, memory.next_id, [old.id for old in replaced], call)
        return True

    async def _replaced_by(self, owner: Owner, memory: Memory) -> list[Memory]:
        """The memories that a memory superseded, the latest first."""
        where = Filter(_REPLACED, next_ids=frozenset({memory.id}))
        documents = await self._store.page(owner, "memory", where, None, _MOST_REPLACED)
        serialised = await self._store.memories(owner, [document.id for document in documents])
        return sorted(
            (document.memory for document in serialised.values()),
            key=lambda replaced_memory: (replaced_memory.event_timestamp, replaced_memory.sequence),
            reverse=True,
        )

    async def _undone(
        self, owner: Owner, memory: Memory, replaced: Sequence[Memory], call: Call
    ) -> None:
        """Undo the memory's effects on older memories.

        A conflict record is undone if there is a record; otherwise the memory is made active again.
        """
        for old in replaced:
            records = conflict_record_ids(old.id, memory.id)
            read_set = await self._ledger.look(owner, [old.id, memory.id, *records])
            now, by = read_set.memory(old.id), read_set.memory(memory.id)
            if now is None or by is None or now.next_id != memory.id:
                continue  # restored with another memory
            decided = [
                record_in(record_document.body)
                for name in records
                if (record_document := read_set.documents.get(name)) is not None
            ]
            record = next(
                (
                    decided_record
                    for decided_record in decided
                    if not decided_record.open and decided_record.new_id == memory.id
                ),
                None,
            )
            if record is not None:
                with suppress(Conflict):
                    await self._conflicts.undo(owner, record.id, call)
                    continue
            if by.status in FOUND_BY_DEFAULT and now.status in (Status.SUPERSEDED, Status.UPDATED):
                with suppress(Conflict):
                    await self._restorer.undo(owner, old.id, TAKEN_BACK, call)

    async def _closed_up(
        self, owner: Owner, gone: Memory, next_id: str, replaced: Sequence[str], call: Call
    ) -> None:
        """Link the predecessors of a deleted past truth to its successor.

        They hold until the successor begins.
        """
        ids = [gone.id, next_id, *replaced]

        def decide(read_set: ReadSet) -> Changes[None]:
            follows, middle, now = (
                read_set.memory(next_id),
                read_set.memory(gone.id),
                self._clock.now(),
            )
            if (
                follows is None
                or middle is None
                or middle.status is not Status.DELETED
                or follows.status is Status.DELETED
            ):
                return Changes(None)
            memories = (read_set.memory(name) for name in replaced)
            olds = [
                old
                for old in memories
                if old is not None and old.status is Status.SUPERSEDED and old.next_id == gone.id
            ]
            changes = [
                Change(
                    "superseded", _followed_by(follows, old, gone, now), old, {"reason": TAKEN_BACK}
                )
                for old in olds
            ]
            if olds and follows.supersedes_id == gone.id:
                after = follows.changed(supersedes_id=olds[0].id, updated_at=now)
                changes.append(Change("superseded", after, follows, {"reason": TAKEN_BACK}))
            return Changes(None, tuple(changes), reads=frozenset(ids))

        if replaced:
            await self._ledger.commit(owner, decide, ids=ids, call=call)


def _followed_by(follows: Memory, old: Memory, gone: Memory, now: datetime) -> Memory:
    """A past truth with another successor.

    If the deleted memory had ended it, it now holds until the successor begins.
    """
    ended_by_it = old.valid_until == max(gone.valid_from, old.valid_from)
    until = max(follows.valid_from, old.valid_from) if ended_by_it else old.valid_until
    return old.changed(next_id=follows.id, valid_until=until, updated_at=now)


def _cell_ids_of(memory: Memory) -> list[str]:
    """The cells that stated a formed memory, and the notes merged into it.

    It is empty for a memory that was saved.
    """
    if memory.source != "conversation":
        return []
    return list(
        dict.fromkeys(name for name in (memory.cell_id, *memory.source_ids) if name is not None)
    )


def _ids_formed_of(cell: Memory) -> list[str]:
    return [
        note_id(cell.id),
        *(fact.fact_id for fact in cell.atomic_facts if fact.fact_id is not None),
    ]
