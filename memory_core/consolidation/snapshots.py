"""Snapshots of the log: what all memories were at a sequence, kept so that a replay need not tell everything from the beginning.

Note: a snapshot must not outlive what it holds. What was forgotten while one was being written would come back with it, so
every part is committed under the head, and no part of a state that was read before events were redacted is written after that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from memory_core.domain.models import EVENTS_A_SNAPSHOT, Head
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.past import Past, Taken, part_of, parted
from memory_core.ports import Document, LongTermStore, Place

DROPPED_AT_ONCE = 10
"""Documents of up to 1 MB, which are read to be listed."""
_CALL = Call(actor="upkeep")


class Snapshots:
    """Writes and drops snapshots of any owner."""

    def __init__(self, store: LongTermStore, ledger: Ledger) -> None:
        self._store, self._ledger, self._past = store, ledger, Past(store)

    async def write_due(self, owner: Owner) -> int:
        """Write the snapshots that are due; how many. For nothing due, one point read.

        One is due EVENTS_A_SNAPSHOT events after the last, or as many as that holds states if these are more: so all snapshots together
        take no more room than the log does. Raises HeadMoved when others write faster than this can, Unavailable; then it is done later.
        """
        head = (await self._store.snapshot(owner)).head
        written = 0
        if head is None or head.state == "erasing" or head.sequence < head.snapshot_due:
            return written
        taken = await self._past.taken(owner, head, head.sequence)
        while (due := _due_after(taken)) <= head.sequence:
            taken = Taken(due, await self._past.after(owner, taken, due))
            if not await self._write(owner, head, taken):
                break
            written += 1
        return written

    async def drop(self, owner: Owner, since: int) -> int:
        """Delete every snapshot at sequence `since` or later, finished or not; how many documents. They are made again when next due.

        To be called when events are redacted: after the last commit that redacts, with the sequence of the first event that was.
        """
        dropped, place = 0, None
        while True:
            page = await self._store.page(owner, "snapshot", None, place, DROPPED_AT_ONCE)
            gone = tuple(Document(document.id, "snapshot", {}) for document in page if document.body["sequence"] >= since)
            if not gone:
                return dropped
            await self._ledger.commit(owner, lambda look, gone=gone: _dropping(gone, since), ids=(), call=_CALL)  # type: ignore[misc]
            dropped += len(gone)
            place = Place(page[-1].body["sequence"], page[-1].id)

    async def _write(self, owner: Owner, head: Head, taken: Taken) -> bool:
        """All parts, the last with the word when the next is due. False when events were redacted since `head` was read."""
        parts = await asyncio.to_thread(parted, taken)
        for number in range(len(parts)):
            part = part_of(taken, head, parts, number)  # one by one: together they would take the memory of all states again
            due = _due_after(taken) if number + 1 == len(parts) else None

            def decide(look: Look, part: Document = part, due: int | None = due) -> Changes[bool]:
                now, there = look.head, look.documents.get(part.id)
                if now is None or (now.epoch, now.redactions) != (head.epoch, head.redactions):
                    return Changes(False)
                if there is not None and there.body == part.body and (due is None or now.snapshot_due >= due):
                    return Changes(True)
                fields = {} if due is None else {"snapshot_due": max(now.snapshot_due, due)}
                # Fragile: whatever was committed meanwhile may have redacted something.
                return Changes(True, puts=(part,), head_fields=lambda _: fields, fragile=True)

            if not (await self._ledger.commit(owner, decide, ids=[part.id], call=_CALL)).result:
                return False
        return True


def redacting(head: Head) -> Mapping[str, Any]:
    """The fields of the head that a commit which redacts events sets: from then on no state that was read before is written."""
    return {"redactions": head.redactions + 1}


def _due_after(taken: Taken) -> int:
    return taken.sequence + max(EVENTS_A_SNAPSHOT, len(taken.states))


def _dropping(gone: tuple[Document, ...], since: int) -> Changes[None]:
    return Changes(None, deletes=gone, head_fields=lambda head: {"snapshot_due": min(head.snapshot_due, since)})
