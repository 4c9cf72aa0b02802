"""The short term inside this process: the same store, the same scripts, over an in-process Redis.

The default on a laptop. Gone with the process, which costs nothing but warmth.
"""

from __future__ import annotations

from memory_core.adapters.redis.client import in_process
from memory_core.adapters.redis.room import Room
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.ports import Clock

MAX_BYTES = 32 * 1024 * 1024
"""About 12,000 chat turns with vectors of 384 dimensions."""


def embedded(clock: Clock, *, max_bytes: int = MAX_BYTES) -> RedisShortTermStore:
    """A store of this process alone. It has no timeout: its Redis answers within the call."""
    return RedisShortTermStore(in_process(), clock, adapter="embedded", timeout_s=None, room=Room(max_bytes))
