"""When a session's working set may be served, and how a void one is made again.

It is good only when its epoch is the head's and nothing was removed or changed since its stamp; the head is read anyway, so
the check costs nothing. A void set is rebuilt beside the answer, not in its way. Note: messages as they were said are in no set, since
nothing would tell a set to which cell they belong by now; the long term finds them.
"""

from __future__ import annotations

import asyncio

from memory_core.domain.errors import Unavailable
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.messages import is_message
from memory_core.domain.models import Head
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import as_memory
from memory_core.ports import Filter, LongTermStore, ShortTermStore, Stamp

REBUILT_ENTRIES = 50


class WorkingSet:
    """Guards and rebuilds working sets."""

    def __init__(self, store: LongTermStore, short_term: ShortTermStore) -> None:
        self._store, self._short_term = store, short_term
        self._tasks: dict[tuple[Owner, str], asyncio.Task[None]] = {}

    @staticmethod
    def good(stamp: Stamp | None, head: Head) -> bool:
        """Whether a set with this stamp shows nothing that the head knows to be gone or changed."""
        return stamp is not None and stamp.epoch == head.epoch and stamp.sequence >= head.last_removal_sequence

    def rebuild_later(self, owner: Owner, session_id: str, *, stale: bool) -> None:
        """Rebuild a stale set once, in the background. A set that is not there at all grows by itself with the next saves."""
        name = (owner, session_id)
        if not stale or self._short_term.degraded or name in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._rebuild(owner, session_id))
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name, None))

    async def _rebuild(self, owner: Owner, session_id: str) -> None:
        try:
            head = (await self._store.snapshot(owner)).head
            if head is None:
                return
            statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
            where = Filter(statuses, session_id=session_id, hide_formed_messages=True)
            documents = await self._store.page(owner, "memory", where, None, REBUILT_ENTRIES)
            snapshot = await self._store.snapshot(owner, [document.id for document in documents])
        except Unavailable:
            return  # the next retrieve finds it void again and tries again; nothing is served from it until then
        stored = (as_memory(document, snapshot.head) for document in snapshot.documents.values())
        known = (memory for memory in stored if memory is not None and not is_message(memory.id))
        memories = [memory for memory in known if memory.status in FOUND_BY_DEFAULT]
        await self._short_term.rebuild(owner, session_id, memories, Stamp(head.epoch, head.sequence, head.last_removal_sequence))

    async def close(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
