"""What brings a faded memory back into use.

It was shown since, as what a reader asked for.
"""

from __future__ import annotations

from datetime import datetime

from memory_core.domain.fading import Fading, due
from memory_core.domain.models import Memory, Status


def is_recalled(memory: Memory, now: datetime, rules: Fading) -> bool:
    """Whether a decayed memory was accessed since it decayed, and has not faded again by `now`.

    Note: a memory whose importance is under the floor from the first has faded again at once. It stays as it is, and is found all the same.
    """
    if memory.status is not Status.DECAYED or memory.last_accessed_at is None or memory.last_accessed_at < memory.updated_at:
        return False
    return due(memory.model_copy(update={"status": Status.ACTIVE}), now, rules) is not Status.DECAYED
