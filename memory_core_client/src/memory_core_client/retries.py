"""When a call is sent again: which answers ask for it, and how long to wait."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

TRY_AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same call may succeed."""


@dataclass(frozen=True)
class Retries:
    """How often and how patiently calls are sent again.

    Attributes:
        most: Times that a call is sent again, at most.
        first_s: Seconds before the first of these, where the service names none;
            each further wait is twice as long.
        longest_s: Seconds of a wait, at most, whatever the service asks for.

    """

    most: int = 4
    first_s: float = 0.25
    longest_s: float = 30.0

    def wait_s(self, number: int, retry_after: str | None) -> float:
        """Seconds to wait before a call is sent again for the `number`-th time, counted from 0."""
        asked = seconds_of(retry_after)
        if asked is not None:
            return min(asked, self.longest_s)
        return min(self.first_s * float(2**number) * random.uniform(0.5, 1.0), self.longest_s)


def seconds_of(retry_after: str | None) -> float | None:
    """The seconds that a `Retry-After` asks for: a number, or a date; None without one that
    can be read.
    """
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


def new_key() -> str:
    """An idempotency key that no other call has."""
    return uuid.uuid4().hex
