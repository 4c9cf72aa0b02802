"""Which documents a read may see: the partitions that its headers name, in the copy that its
consistency allows.
"""

from __future__ import annotations

from tests.cosmos_emulator.copies import Copy, Partition
from tests.cosmos_emulator.exchange import CONSISTENCY, KEY, RANGE, Asked
from tests.cosmos_emulator.refused import RANGE_GONE, Refused, bad_request
from tests.cosmos_emulator.store import Account, Container

LEVELS = ("Eventual", "ConsistentPrefix", "Session", "BoundedStaleness", "Strong")
"""The weakest first. BoundedStaleness reads inside one region are served by a quorum,
as Strong ones are.
"""


def copy_for(asked: Asked, account: Account, container: Container) -> Copy:
    """The current copy, or the lagging one when the request came in by its port and nothing
    demands better.
    """
    level = level_of(asked, account)
    if not asked.behind or LEVELS.index(level) > LEVELS.index("Session"):
        return container.current()
    behind = container.behind()
    if level == "Session" and _demanded(asked.headers.get("x-ms-session-token", "")) > behind.lsn:
        return container.current()
    return behind


def level_of(asked: Asked, account: Account) -> str:
    """The consistency of a read: the account's, or a weaker one by request."""
    level = asked.headers.get(CONSISTENCY, account.consistency)
    if level not in LEVELS or LEVELS.index(level) > LEVELS.index(account.consistency):
        raise bad_request(
            f"Consistency {level} is stronger than the account's, {account.consistency}"
        )
    return level


def reads_of(asked: Asked, account: Account) -> int:
    """How many replicas a read asks, each at the same price: two of them under Strong and
    BoundedStaleness.
    """
    return 2 if LEVELS.index(level_of(asked, account)) > LEVELS.index("Session") else 1


def session_token(account: Account, range_id: str | None, lsn: int) -> str:
    """What a client sends back to read at least as new a state."""
    ids = (
        [range_id]
        if range_id is not None
        else [str(number) for number in range(len(account.ranges))]
    )
    return ",".join(f"{id_}:-1#{lsn}" for id_ in ids)


def range_of(account: Account, container: Container, key: str) -> str:
    """The id of the range that holds a key."""
    place = container.policies.key.hash(key)
    return next(
        str(number) for number, (low, high) in enumerate(account.ranges) if low <= place < high
    )


def scope(asked: Asked, account: Account, container: Container, copy: Copy) -> list[Partition]:
    """The partitions that a query or feed is about: by key, by hashes, by range;
    none of them named means all.
    """
    low, high = _bounds(asked, account)
    if KEY in asked.headers:
        key = container.policies.key.parse(asked.headers[KEY])
        return [partition for partition in copy.of_key(key) if low <= partition.place < high]
    low = max(low, asked.headers.get("x-ms-start-epk", low))
    high = min(high, asked.headers.get("x-ms-end-epk", high))
    return copy.between(low, high)


def is_narrow(asked: Asked) -> bool:
    """Whether the request names one key or one range, so that one place can answer it."""
    return KEY in asked.headers or RANGE in asked.headers


def _bounds(asked: Asked, account: Account) -> tuple[str, str]:
    if RANGE not in asked.headers:
        return "", "FF"
    number = asked.headers[RANGE]
    if not number.isdigit() or int(number) >= len(account.ranges):
        raise Refused(410, f"The partition key range {number} does not exist", RANGE_GONE)
    return account.ranges[int(number)]


def _demanded(token: str) -> int:
    """The newest commit that a session token names."""
    numbers = [part.rpartition("#")[2] for part in token.split(",")]
    return max((int(number) for number in numbers if number.isdigit()), default=0)
