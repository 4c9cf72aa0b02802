"""Rates of requests, and the state of a rate after a request.

The algorithm is the generic cell rate algorithm (ITU-T I.371): a rate of `requests` in `seconds` is
a bucket of as many tokens, which fills evenly. A single number describes the bucket: the moment at
which it is full again. A request moves that moment by `seconds / requests`, and is refused where
the moment would be more than `seconds` ahead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Final

UNITS: Final[Mapping[str, int]] = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
MOST_REQUESTS: Final = 1_000_000_000
_RATE = re.compile(r"(\d{1,10})\s?/\s?(second|minute|hour|day)")


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of requests in a number of seconds.

    All of them may come at once.
    """

    requests: int
    seconds: int

    @classmethod
    def read(cls, text: str) -> Rate:
        """Read a rate like `600/minute`. Raises ValueError."""
        match = _RATE.fullmatch(text.strip().lower())
        if match is None or not 1 <= int(match[1]) <= MOST_REQUESTS:
            raise ValueError(
                "should be a number of requests in a while, like 600/minute (second, minute, hour, "
                "day), or off"
            )
        return cls(int(match[1]), UNITS[match[2]])


@dataclass(frozen=True, slots=True)
class Bucket:
    """A limit of a request.

    Attributes:
        name: The name of the limit.
        key: The key of its bucket.
        rate: The rate.

    """

    name: str
    key: str
    rate: Rate


@dataclass(frozen=True, slots=True)
class Level:
    """A bucket after a request.

    `ahead_s` is the number of seconds until it is full again if no more requests come.
    """

    bucket: Bucket
    ahead_s: float

    @property
    def remaining(self) -> int:
        """Requests that may come at once."""
        rate = self.bucket.rate
        return max(0, floor((rate.seconds - self.ahead_s) * rate.requests / rate.seconds + 1e-6))

    @property
    def retry_after_s(self) -> int:
        """Whole seconds until a request may come; 0 where it may come now."""
        rate = self.bucket.rate
        return max(0, ceil(self.ahead_s + rate.seconds / rate.requests - rate.seconds - 1e-6))


@dataclass(frozen=True, slots=True)
class Spent:
    """The limits of a request after it was counted.

    `refused` says that a limit had no room. Then no limit was changed.
    """

    levels: tuple[Level, ...]
    refused: bool

    @property
    def retry_after_s(self) -> int:
        """Whole seconds until the same request would be accepted."""
        return max(1, *(level.retry_after_s for level in self.levels))


def spend(
    full_at: Mapping[str, float], buckets: Sequence[Bucket], now_s: float
) -> tuple[dict[str, float], Spent]:
    """Take a token of each bucket, or none where a bucket is empty.

    Args:
        full_at: By a bucket's key, the moment at which it is full again. A missing bucket is full.
        buckets: The limits of a request.
        now_s: The moment of the request, in seconds.

    Returns:
        The moments to store, by key, and the state of the limits.

    """
    starts = {bucket.key: _start(bucket, full_at.get(bucket.key), now_s) for bucket in buckets}
    after = {
        bucket.key: starts[bucket.key] + bucket.rate.seconds / bucket.rate.requests
        for bucket in buckets
    }
    refused = any(after[bucket.key] - now_s > bucket.rate.seconds + 1e-6 for bucket in buckets)
    moments = starts if refused else after
    return ({} if refused else after), Spent(
        tuple(Level(bucket, moments[bucket.key] - now_s) for bucket in buckets), refused
    )


def _start(bucket: Bucket, full_at_s: float | None, now_s: float) -> float:
    """The moment at which a bucket is full again, not before now.

    No bucket takes longer than the seconds of its rate. A later moment was written by a clock that
    was set back since, and counts as full.
    """
    if full_at_s is None or full_at_s > now_s + bucket.rate.seconds + 1e-6:
        return now_s
    return max(now_s, full_at_s)
