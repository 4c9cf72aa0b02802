"""What a session's buffer holds, as whoever clears the session has to know it: thrown away with the rest, and its task ended.

One would get wrong: the task's id is of the buffer's generation, which only a look at the buffer tells.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from memory_core.domain.scope import Owner
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.formation.buffer import HeldBuffer, buffer_id
from memory_core.formation.pair import Pair
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Look


class Gathered:
    """Messages that wait to be formed, session by session."""

    def place(self, owner: Owner, session_id: str) -> str:
        """The id of the session's buffer."""
        return buffer_id(owner, session_id)

    def dropped(self, owner: Owner, session_id: str, look: Look, asked: Collection[str], now: datetime) -> Changes[Any] | None:
        """The next generation of the buffer, which is empty, and the end of the task of this one. None where nothing waits.

        Raises LookedElsewhere for the task when it was not asked for.
        """
        held = HeldBuffer.of(owner, session_id, look)
        if not held.buffer.messages:
            return None
        if held.task_id not in asked:
            raise LookedElsewhere([held.task_id])
        pair = Pair.of(look, held.task_id)
        if pair is None:
            return Changes(None, puts=(held.closed().written,))
        result = {"cells": [], "counts": {"cleared": 1}}
        done: dict[str, Any] = {
            "status": "succeeded",
            "step": None,
            "progress": 1.0,
            "error": None,
            "next_enqueue_at": None,
            "result": result,
        }
        return pair.turned("cancelled", now, **done)
