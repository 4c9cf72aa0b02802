"""Accesses in Redis: counted by all processes together, set apart to be written down once.

Note: a worker that finds some set apart goes on with that attempt, under its id, by which the long term knows whether it was
written down. So a process that dies between the two writes loses and doubles nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from memory_core.adapters.redis.keys import GATHERED, TOUCH_TTL_S, owner_name, touch_keys
from memory_core.domain.scope import Owner
from memory_core.ports import Taken, Touch

if TYPE_CHECKING:
    from redis.asyncio import Redis

_AT = "#at:"
"""Before a memory's id: when it was accessed last, in epoch milliseconds. No id has a `#`."""
_FLUSH = b"#flush"


async def add_touches(client: Redis, touches: Mapping[Owner, Mapping[str, Touch]]) -> bool:
    """Count accesses of memories of any owners: one pipeline."""
    touches = {owner: some for owner, some in touches.items() if some}
    if not touches:
        return True
    pipeline = client.pipeline(transaction=False)
    for owner, some in touches.items():
        key = touch_keys(owner).waiting
        for memory_id, touch in some.items():
            pipeline.hincrby(key, memory_id, touch.count)
        pipeline.hset(key, mapping={_AT + memory_id: int(touch.at.timestamp() * 1000) for memory_id, touch in some.items()})
        pipeline.expire(key, TOUCH_TTL_S)
    pipeline.sadd(GATHERED, *(owner_name(owner) for owner in touches))
    await pipeline.execute()
    return True


async def touched_owners(client: Redis, limit: int) -> Any:
    """Names of some owners with accesses that wait."""
    return await client.srandmember(GATHERED, limit)


def taken_of(answer: list[bytes]) -> Taken | None:
    """What `TAKE` answers: fields and values in turn."""
    fields = dict(zip(answer[::2], answer[1::2], strict=True))
    if _FLUSH not in fields:
        return None
    flush_id = fields.pop(_FLUSH).decode()
    counts = {name.decode(): int(value) for name, value in fields.items() if not name.startswith(_AT.encode())}
    touches = {name: Touch(count, _moment(fields.get(f"{_AT}{name}".encode(), b"0"))) for name, count in counts.items()}
    return Taken(flush_id, touches)


def _moment(milliseconds: bytes) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, timezone.utc)
