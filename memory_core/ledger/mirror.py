"""The short term follows the truth: it is written back after each commit.

What was saved is written back, and what was changed is taken out. Best effort, after the
acknowledged commit. A lost follow-up harms nothing: the head's last_removal_sequence voids what
it left.
"""

from __future__ import annotations

from typing import Any

from memory_core.domain.memory import FOUND_BY_DEFAULT
from memory_core.domain.messages import is_message
from memory_core.domain.scope import Owner
from memory_core.ledger.commit import Committed
from memory_core.ports import ShortTermStore


class Mirror:
    """Keeps session working sets beside the log."""

    def __init__(self, short_term: ShortTermStore) -> None:
        self._short_term = short_term

    async def follow(self, owner: Owner, committed: Committed[Any]) -> tuple[str, ...]:
        """Write a commit to the short-term store.

        Args:
            owner: Whose memories were committed.
            committed: The commit.

        Returns:
            The degraded parts: `("short_term",)` if that store is down, else none.

        """
        if committed.changes is None or committed.stamp is None:
            return ()
        changed = [
            change.before
            for change in committed.changes.changes
            if change.before is not None and change.before.session_id
        ]
        if changed:
            sessions = sorted({memory.session_id for memory in changed if memory.session_id})
            await self._short_term.drop(
                owner,
                sessions,
                [memory.id for memory in changed],
                committed.stamp,
                committed.previous_removal,
            )
        active = [
            memory
            for memory in committed.memories.values()
            if memory.status in FOUND_BY_DEFAULT and memory.searchable and not is_message(memory.id)
        ]
        in_sessions = [memory for memory in active if memory.session_id]
        if in_sessions:
            await self._short_term.remember_all(in_sessions, committed.stamp)
        return ("short_term",) if self._short_term.degraded else ()
