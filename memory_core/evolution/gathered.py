"""What a session's buffer holds, as a clear of the session has to know it: thrown away with the rest, and its task ended.

Note: the task's id is of the buffer's generation, which only a look at the buffer tells.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from memory_core.domain.scope import Owner
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.ledger.batch import Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.documents import HeldBuffer
from memory_core.tasks.store import Pair


def dropped(owner: Owner, session_id: str, look: Look, asked: Collection[str], now: datetime) -> Changes[Any] | None:
    """The next generation of the session's buffer, which is empty, and the end of the task of this one. None where nothing waits.

    The look shows the buffer. Raises LookedElsewhere for the task when it was not `asked` for.
    """
    batch = HeldBuffer.of(owner, session_id, look)
    if not batch.buffer.messages:
        return None
    if batch.task_id not in asked:
        raise LookedElsewhere([batch.task_id])
    pair = Pair.of(look, batch.task_id)
    if pair is None:
        return Changes(None, puts=(batch.closed().written,))
    result = {"cells": [], "counts": {"cleared": 1}}
    done: dict[str, Any] = {"status": "succeeded", "step": None, "progress": 1.0, "error": None, "result": result}
    return pair.turned("cancelled", now, **done, next_enqueue_at=None)
