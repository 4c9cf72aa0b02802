"""The fan-out of many users: the real one, over a store that holds nothing but how many are due.

Note: only one range is gone through, the busiest hour, and at most `MOST` of its users; the others
are alike, so their number is multiplied. The rest of an hour costs by the users that are due, which
a day of a sample has counted (`bench/day.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from bench.counted import kind_of
from bench.day import MIDNIGHT, owner
from memory_core.consolidation.schedule import FanOut
from memory_core.ports import Due

MOST = 20_000
"""Users of a range who are really gone through: a second of CPU, and twenty times what one
message takes on.
"""


class DueUsers:
    """`LongTermStore`, as far as the fan-out asks it: `count` users are due in each of
    some ranges.
    """

    def __init__(self, ranges: int, count: int) -> None:
        self._ranges, self._count, self.pages = ranges, count, 0

    async def ranges(self) -> list[str]:
        """Their names."""
        return [f"range{number}" for number in range(self._ranges)]

    async def due(self, within: str, now: datetime, after: Due | None, limit: int) -> list[Due]:
        """The next of them."""
        self.pages += 1
        begun = 0 if after is None else int(after.owner.user_id.removeprefix("user")) + 1
        return [
            Due(owner(number), MIDNIGHT) for number in range(begun, min(begun + limit, self._count))
        ]


class Sent:
    """`TaskQueue`, as far as the fan-out sends: what waits for whom, and when each user's message
    becomes visible.
    """

    def __init__(self) -> None:
        self.kinds, self.by_second, self.waiting = Counter[str](), Counter[int](), list[str]()

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Count it; a range's message is kept to be worked on."""
        kind = kind_of(body)
        self.kinds[kind] += 1
        if kind == "range":
            self.waiting.append(body)
        else:
            self.by_second[int(delay.total_seconds())] += 1


class _Stands:
    @staticmethod
    def now() -> datetime:
        """The tick."""
        return MIDNIGHT


@dataclass(frozen=True, slots=True)
class Ticked:
    """One tick: range messages and user messages, pages read, and the most user messages that
    become visible within a second.
    """

    ranges: int
    users: int
    pages: int
    peak: int


async def tick(ranges: int, due: int, spread: timedelta) -> Ticked:
    """A tick with `due` users, evenly in `ranges`."""
    each = -(-due // ranges)
    per_range = min(each, MOST)
    store, sent = DueUsers(ranges, per_range), Sent()
    out = FanOut(store, sent, None, None, None, _Stands(), spread)  # type: ignore[arg-type]
    await out.tick()
    task = sent.waiting.pop()
    sent.waiting.clear()
    await out.work(task)
    while sent.waiting:
        await out.work(sent.waiting.pop())
    times = each / per_range if per_range else 1.0
    further, pages = sent.kinds["range"] - ranges, store.pages
    peak = max(sent.by_second.values(), default=0) * (due / per_range if per_range else 0.0)
    return Ticked(
        ranges + round(further * times * ranges), due, round(pages * times * ranges), round(peak)
    )
