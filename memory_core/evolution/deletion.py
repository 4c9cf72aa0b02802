"""Merged notes and messages of a cell, which a deletion takes along.

The merge is undone by its record where that can still be; else the merged note goes, and its
sources are active again. Both are commits of their own before the deletion. A worker that dies in
between leaves notes that stand apart. Note: a merged note that was edited since is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final

from memory_core.domain.archival import is_cold
from memory_core.domain.conflict import record_in
from memory_core.domain.errors import Conflict, NotFound, QuotaExceeded, Unavailable
from memory_core.domain.forgetting import is_made_of_others
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import WITH_CELL, comes_along, goes_along, is_message, messages_of
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT, delete, restore
from memory_core.evolution.conflicts import Conflicts
from memory_core.ledger.changes import Change, Changes, Portion, size_of
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import conflict_record_ids, session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Mark

MOST_MERGES: Final = 20
"""Merges in a row that are undone."""
_SOURCE_GONE: Final = "a source of it was deleted"


class NoteUnmerger:
    """Unmerges notes of any owner."""

    def __init__(self, ledger: Ledger, conflicts: Conflicts, clock: Clock) -> None:
        self._ledger, self._conflicts, self._clock = ledger, conflicts, clock

    async def unmerge_sources(
        self, owner: Owner, going: Iterable[Memory], call: Call, *, session_id: str | None = None
    ) -> None:
        """Unmerge the notes into which these memories were merged.

        Args:
            owner: Whose memories they are.
            going: Memories that are about to be deleted.
            call: Call on whose behalf it happens.
            session_id: The session that is deleted as a whole. Its merged notes are then unmerged
                for their sources from other sessions. None otherwise.

        """
        alone = replace(call, idempotency_key=None)
        for memory in going:
            if memory.category != "note":
                continue
            if memory.status is Status.UPDATED and memory.next_id is not None:
                await self._unmerge(owner, memory.next_id, alone, besides=session_id)
                if is_made_of_others(memory):  # its own sources would else lead to what is gone
                    await self._unmerge(owner, memory.id, alone)
            elif (
                session_id is not None
                and memory.status in FOUND_BY_DEFAULT
                and is_made_of_others(memory)
            ):
                read_set = await self._ledger.look(owner, memory.source_ids)
                if any(
                    source.session_id != session_id for source in _merged_into(memory, read_set)
                ):
                    await self._unmerge(owner, memory.id, alone)

    async def _unmerge(
        self,
        owner: Owner,
        merged_id: str,
        call: Call,
        *,
        besides: str | None = None,
        left: int = MOST_MERGES,
    ) -> None:
        """Unmerge a note, and before it the notes into which it was merged itself.

        `besides` is the session whose notes are deleted anyway.
        """
        read_set = await self._ledger.look(owner, [merged_id])
        merged = read_set.memory(merged_id)
        if (
            merged is None
            or merged.category != "note"
            or not is_made_of_others(merged)
            or merged.version > 1
            or not left
        ):
            return
        if merged.status is Status.UPDATED and merged.next_id is not None:
            await self._unmerge(owner, merged.next_id, call, besides=besides, left=left - 1)
        elif besides is not None and merged.session_id == besides:
            return
        if merged.status is not Status.DELETED and not await self._undone(owner, merged, call):
            await self._dissolved(owner, merged, call)

    async def _undone(self, owner: Owner, merged: Memory, call: Call) -> bool:
        """Undo the merge by its record; False if that is impossible."""
        records = conflict_record_ids(merged.supersedes_id or "", merged.id)
        read_set = await self._ledger.look(owner, records)
        conflict_records = [
            record_in(document.body)
            for name in records
            if (document := read_set.documents.get(name)) is not None
        ]
        record = next(
            (
                conflict_record
                for conflict_record in conflict_records
                if conflict_record.strategy == "merge" and not conflict_record.open
            ),
            None,
        )
        if record is None:
            return False
        with suppress(Conflict, NotFound, QuotaExceeded, Unavailable):
            await self._conflicts.undo(owner, record.id, call)
            return True
        return False

    async def _dissolved(self, owner: Owner, merged: Memory, call: Call) -> None:
        """Delete the merged note, and activate its sources again."""
        names = [merged.id, *merged.source_ids]
        sessions = (
            [] if merged.session_id is None else [session_document_id(owner, merged.session_id)]
        )

        def decide(read_set: ReadSet) -> Changes[None]:
            now, note = self._clock.now(), read_set.memory(merged.id)
            if note is None or note.status is Status.DELETED:
                return Changes(None)
            gone = delete(note, "manual_delete", now, change_reason=_SOURCE_GONE)
            first = Change("deleted", gone, note, {"reason": _SOURCE_GONE})
            changes = [
                first,
                *(
                    Change("restored", _back(source, note, now), source)
                    for source in _merged_into(note, read_set)
                ),
            ]
            session = None
            if note.session_id is not None:
                session = Session(owner, note.session_id, read_set.documents.get(sessions[0]))
                session.count(note, first.after, now)
            return Changes(
                None,
                tuple(changes),
                () if session is None else (session.document,),
                reads=frozenset(names),
                sessions=frozenset({note.session_id} if note.session_id is not None else ()),
            )

        await self._ledger.commit(owner, decide, ids=[*names, *sessions], call=call)


def _merged_into(merged: Memory, read_set: ReadSet) -> Sequence[Memory]:
    """The sources of a merged note that are still merged into it."""
    memories = (read_set.memory(name) for name in merged.source_ids)
    return [
        memory
        for memory in memories
        if memory is not None and memory.status is Status.UPDATED and memory.next_id == merged.id
    ]


def _back(source: Memory, merged: Memory, now: datetime) -> Memory:
    into = [name for name in source.consolidated_into_ids if name != merged.id]
    return restore(source, now, next_id=None, valid_until=None, consolidated_into_ids=into)


# The messages of a cell go with it when it is deleted, and come back with it.
#
# As many as fit are changed in the cell's own commit; those of a longer cell before it, so that no
# message outlives its deleted cell.


MOST_ALONG: Final = 40
"""Messages in a commit beside their cell; each takes two documents of its hundred."""
_BYTES: Final = 1_000_000

Follow = Callable[[Memory, Memory, datetime], Change | None]
"""Makes the change of a message from the message and its cell; None if the message does not change.
"""


def gone_along(message: Memory, cell: Memory, now: datetime) -> Change | None:
    """The deletion of a message whose cell is deleted.

    Args:
        message: Message of the cell.
        cell: Cell that is deleted.
        now: The present time.

    Returns:
        None if the message stays.

    """
    if not goes_along(message, cell):
        return None
    return Change("deleted", delete(message, WITH_CELL, now), message, {"cell_id": cell.id})


def back_along(message: Memory, cell: Memory, now: datetime) -> Change | None:
    """The restoring of a message with its cell.

    Args:
        message: Message of the cell.
        cell: As it was deleted.
        now: The present time.

    Returns:
        None if the message stays deleted, or must be restored from the archive.

    """
    if is_cold(message) or not comes_along(message, cell):
        return None
    return Change("restored", restore(message, now, cell_id=cell.id), message, {"cell_id": cell.id})


def changes_along(
    read_set: ReadSet, ids: Sequence[str], cell: Memory, follow: Follow, now: datetime
) -> list[Change]:
    """The changes of a cell's messages, as they are now.

    Args:
        read_set: A read set with the messages.
        ids: Ids of the messages.
        cell: Cell of the messages.
        follow: Makes the change of a message.
        now: The present time.

    """
    messages = (read_set.memory(name) for name in ids)
    return [
        change
        for message in messages
        if message is not None and (change := follow(message, cell, now)) is not None
    ]


def alone(message: Memory, read_set: ReadSet) -> bool:
    """Whether a memory is a message whose cell is deleted or gone.

    Such a message is independent from now on.

    Args:
        message: Any memory.
        read_set: A read set for which the message's cell was requested.

    """
    if not is_message(message.id) or message.cell_id is None:
        return False
    cell = read_set.memory(message.cell_id)
    return cell is None or cell.status is Status.DELETED


def joined_again(read_set: ReadSet, ids: Sequence[str], cell: Memory) -> dict[str, Mark]:
    """The marks that return independent messages to their cell.

    Args:
        read_set: A read set with the messages.
        ids: Ids of the messages.
        cell: Cell that is active again.

    Returns:
        By message id.

    """
    messages = {name: read_set.memory(name) for name in ids}
    return {
        name: Mark(cell_id=cell.id)
        for name, message in messages.items()
        if message is not None and message.cell_id is None and message.status is not Status.DELETED
    }


class Along:
    """Changes the messages of cells of any owner."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def ahead(
        self, owner: Owner, cell: Memory, call: Call, follow: Follow, now: datetime
    ) -> list[str]:
        """Change messages of a long cell before the cell's own commit.

        Args:
            owner: Whose memories they are.
            cell: Cell that is deleted or restored.
            call: Call on whose behalf it happens.
            follow: Makes the change of a message.
            now: The present time.

        Returns:
            The ids of the messages that are left for the cell's own commit.

        """
        left = messages_of(cell)
        while left:
            read_set = await self._ledger.look(owner, left)
            taken = _portion(read_set, left, cell, follow, now)
            if len(taken) == len(left):
                return left
            await self._change(owner, taken, cell, call, follow, now)
            left = left[len(taken) :]
        return []

    async def _change(
        self,
        owner: Owner,
        ids: Sequence[str],
        cell: Memory,
        call: Call,
        follow: Follow,
        now: datetime,
    ) -> None:
        sessions = [] if cell.session_id is None else [session_document_id(owner, cell.session_id)]

        def decide(seen: ReadSet) -> Changes[None]:
            changes = changes_along(seen, ids, cell, follow, now)
            if not changes:
                return Changes(None)
            puts: tuple[Document, ...] = ()
            if cell.session_id is not None:
                session = Session(owner, cell.session_id, seen.documents.get(sessions[0]))
                count_along(session, changes, now)
                puts = (session.document,)
            named = frozenset({cell.session_id} if cell.session_id is not None else ())
            return Changes(None, tuple(changes), puts, reads=frozenset(ids), sessions=named)

        await self._ledger.commit(owner, decide, ids=[*ids, *sessions], call=call)


def count_along(session: Session, changes: Sequence[Change], now: datetime) -> None:
    """Count changes of messages in their session.

    Deleted messages are dropped from the session's last turns.

    Args:
        session: Session of the messages.
        changes: Changes of the messages.
        now: The present time.

    """
    for change in changes:
        session.count(change.before, change.after, now)
        if change.after.status is Status.DELETED:
            session.forget_turn(change.after)


def _portion(
    read_set: ReadSet, ids: Sequence[str], cell: Memory, follow: Follow, now: datetime
) -> list[str]:
    """The first of these messages that fit into a commit."""
    portion, taken = Portion(2 * MOST_ALONG, _BYTES), list[str]()
    for name in ids:
        message = read_set.memory(name)
        change = None if message is None else follow(message, cell, now)
        if message is not None and not portion.takes(
            1 if change is None else 2, 0 if change is None else size_of(change.after)
        ):
            break
        taken.append(name)
    return taken
