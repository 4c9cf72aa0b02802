"""Bringing a memory back into use, from wherever it is: deleted, faded, replaced, shortened, in the archive."""

from __future__ import annotations

from dataclasses import replace

from memory_core.domain.archival import is_cold
from memory_core.domain.errors import NotFound
from memory_core.domain.messages import comes_along, messages_of
from memory_core.domain.models import Memory, Status
from memory_core.domain.requests import StatusInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.status import InUse
from memory_core.evolution.thaw import Thaw
from memory_core.evolution.uncompress import Uncompress
from memory_core.evolution.undo import Undo
from memory_core.ledger.commit import Ledger


class BringingBack:
    """Finds who brings a memory back. What it has become meanwhile they see for themselves, in their commits."""

    def __init__(self, ledger: Ledger, in_use: InUse, undo: Undo, uncompress: Uncompress, thaw: Thaw) -> None:
        self._ledger, self._in_use, self._undo, self._uncompress, self._thaw = ledger, in_use, undo, uncompress, thaw

    async def restore(self, owner: Owner, memory_id: str, call: Call) -> Memory:
        """The memory, in use again; one that is answers as it is.

        Deleted or faded: as it was. Replaced: it holds again, what replaced it falls. Shortened: with its whole text. Cold: with its
        whole chain, each as it was; asked for again, it stays that, though it was a truth replaced before. Raises NotFound, Conflict,
        Damaged (the cold copy), Unavailable.
        """
        memory = await self._found(owner, memory_id)
        if await self._thaw.is_for(owner, memory):
            back = await self._thaw.restore_archived(owner, memory_id, call)
        else:
            back = await self._hot(owner, memory, StatusInput(status=Status.ACTIVE, reason="restored"), call)
        await self._bring_messages(owner, memory, call)
        return back

    async def activate(self, owner: Owner, memory_id: str, change: StatusInput, call: Call) -> Memory:
        """The same by its status. Raises as `restore` does."""
        memory = await self._found(owner, memory_id)
        back = await (self._thaw.restore_archived(owner, memory_id, call) if is_cold(memory) else self._hot(owner, memory, change, call))
        await self._bring_messages(owner, memory, call)
        return back

    async def _bring_messages(self, owner: Owner, cell: Memory, call: Call) -> None:
        """Bring the messages back that a cell left in the archive, or lost there. cell: as it was before it came back."""
        names = messages_of(cell)
        if not names:
            return
        look, alone = await self._ledger.look(owner, names), replace(call, idempotency_key=None)
        for message in [found for name in names if (found := look.memory(name)) is not None and found.cell_id == cell.id]:
            if is_cold(message) and (message.status is Status.ARCHIVED or comes_along(message, cell)):
                await self._thaw.restore_archived(owner, message.id, alone)
            elif not is_cold(message) and comes_along(message, cell):
                await self._in_use.activate(owner, message.id, StatusInput(status=Status.ACTIVE, reason="restored"), alone)

    async def _found(self, owner: Owner, memory_id: str) -> Memory:
        memory = (await self._ledger.look(owner, [memory_id])).memory(memory_id)
        if memory is None:
            raise NotFound("no memory of this id for this user")
        return memory

    async def _hot(self, owner: Owner, memory: Memory, change: StatusInput, call: Call) -> Memory:
        if memory.status in (Status.SUPERSEDED, Status.UPDATED):
            return await self._undo.undo(owner, memory.id, change.reason, call)
        if memory.status is Status.COMPRESSED:
            return await self._uncompress.uncompress(owner, memory, change.reason, call)
        return await self._in_use.activate(owner, memory.id, change, call)
