"""The messages of a cell go with it when it is deleted, and come back with it.

As many as fit are changed in the cell's own commit; those of a longer cell before it, so that no message outlives its deleted cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from memory_core.domain.archival import is_cold
from memory_core.domain.messages import WITH_CELL, comes_along, goes_along, is_message, messages_of
from memory_core.domain.models import Memory, Status
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import Change, Changes, Portion, size_of
from memory_core.ledger.commit import Ledger, Look, Mirror
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Document, Mark

MOST_ALONG: Final = 40
"""Messages of one commit beside their cell; each is two documents of its hundred."""
_BYTES: Final = 1_000_000

Follow = Callable[[Memory, Memory, datetime], Change | None]
"""From a message and its cell to what becomes of the message; None where nothing does."""


def gone_along(message: Memory, cell: Memory, now: datetime) -> Change | None:
    """The deletion of a message whose cell is deleted."""
    if not goes_along(message, cell):
        return None
    gone = {"status": Status.DELETED, "status_reason": WITH_CELL, "updated_at": now}
    return Change("deleted", message.model_copy(update=gone), message, {"cell_id": cell.id})


def back_along(message: Memory, cell: Memory, now: datetime) -> Change | None:
    """The return of a message with its cell, which is shown as it was deleted; not of one in the archive, which is brought from there."""
    if is_cold(message) or not comes_along(message, cell):
        return None
    back = {"status": Status.ACTIVE, "status_reason": "restored", "cell_id": cell.id, "updated_at": now, "last_accessed_at": now}
    return Change("restored", message.model_copy(update=back), message, {"cell_id": cell.id})


def changes_along(look: Look, ids: Sequence[str], cell: Memory, follow: Follow, now: datetime) -> list[Change]:
    """What becomes of these messages of a cell, as they are now."""
    messages = (look.memory(name) for name in ids)
    return [change for message in messages if message is not None and (change := follow(message, cell, now)) is not None]


def alone(message: Memory, look: Look) -> bool:
    """Whether a memory is a message whose cell, which the look was asked for, is deleted or gone: it stands for itself from now on."""
    if not is_message(message.id) or message.cell_id is None:
        return False
    cell = look.memory(message.cell_id)
    return cell is None or cell.status is Status.DELETED


def joined_again(look: Look, ids: Sequence[str], cell: Memory) -> dict[str, Mark]:
    """The marks by which messages that came to stand for themselves belong to their cell again."""
    messages = {name: look.memory(name) for name in ids}
    return {
        name: Mark(cell_id=cell.id)
        for name, message in messages.items()
        if message is not None and message.cell_id is None and message.status is not Status.DELETED
    }


class Along:
    """Changes the messages of cells of any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror) -> None:
        self._ledger, self._mirror = ledger, mirror

    async def ahead(self, owner: Owner, cell: Memory, call: Call, follow: Follow, now: datetime) -> list[str]:
        """The ids of the messages that the cell's own commit is to change; what is more than it holds is changed here, before it."""
        left = messages_of(cell)
        while left:
            look = await self._ledger.look(owner, left)
            taken = _portion(look, left, cell, follow, now)
            if len(taken) == len(left):
                return left
            await self._change(owner, taken, cell, call, follow, now)
            left = left[len(taken) :]
        return []

    async def _change(self, owner: Owner, ids: Sequence[str], cell: Memory, call: Call, follow: Follow, now: datetime) -> None:
        sessions = [] if cell.session_id is None else [session_document_id(owner, cell.session_id)]

        def decide(seen: Look) -> Changes[None]:
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

        await self._mirror.follow(owner, await self._ledger.commit(owner, decide, ids=[*ids, *sessions], call=call))


def count_along(session: Session, changes: Sequence[Change], now: datetime) -> None:
    """Follow what became of messages of a session; what is deleted lends the next turn no words."""
    for change in changes:
        session.count(change.before, change.after, now)
        if change.after.status is Status.DELETED:
            session.forget_turn(change.after)


def _portion(look: Look, ids: Sequence[str], cell: Memory, follow: Follow, now: datetime) -> list[str]:
    """The first of these messages that fit one commit."""
    portion, taken = Portion(2 * MOST_ALONG, _BYTES), list[str]()
    for name in ids:
        message = look.memory(name)
        change = None if message is None else follow(message, cell, now)
        if message is not None and not portion.takes(1 if change is None else 2, 0 if change is None else size_of(change.after)):
            break
        taken.append(name)
    return taken
