"""Request rates by key and by app: counted in Redis, else in each process.

Redis counts for all processes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from memory_core.domain.errors import TooManyRequests
from memory_core.domain.rate_limits import Bucket, Rate, Spent, spend
from memory_core.ports import Clock, ShortTermStore

KEPT: Final = 16_384
"""The most buckets that a process keeps.

The least recently used are dropped, and count as full afterwards.
"""


class RequestRates:
    """Lets requests in while the rates of their key and their app have room.

    A rate that is None has no limit.
    """

    def __init__(
        self, short_term: ShortTermStore, clock: Clock, per_key: Rate | None, per_app: Rate | None
    ) -> None:
        self._short_term, self._clock = short_term, clock
        self._per_key, self._per_app = per_key, per_app
        self._full_at: OrderedDict[str, float] = OrderedDict()

    async def spend(self, app_id: str, key_id: str) -> Spent | None:
        """Count a request.

        Args:
            app_id: The app of the key.
            key_id: The key of the request.

        Returns:
            The state of the rates; None if no rate is limited.

        Raises:
            TooManyRequests: A rate is used up.

        """
        buckets = self._buckets(app_id, key_id)
        if not buckets:
            return None
        spent = await self._short_term.spend(app_id, buckets) or self._spend_here(buckets)
        if spent.refused:
            names = " and ".join(level.bucket.name for level in spent.levels if level.retry_after_s)
            raise TooManyRequests(
                f"the rate of this {names} is used up: try again in {spent.retry_after_s} s", spent
            )
        return spent

    def _buckets(self, app_id: str, key_id: str) -> list[Bucket]:
        buckets = []
        if self._per_key is not None:
            buckets.append(Bucket("key", f"{app_id}\n{key_id}", self._per_key))
        if self._per_app is not None:
            buckets.append(Bucket("app", app_id, self._per_app))
        return buckets

    def _spend_here(self, buckets: Sequence[Bucket]) -> Spent:
        moved, spent = spend(self._full_at, buckets, self._clock.now().timestamp())
        for key, moment in moved.items():
            self._full_at[key] = moment
            self._full_at.move_to_end(key)
        while len(self._full_at) > KEPT:
            self._full_at.popitem(last=False)
        return spent
