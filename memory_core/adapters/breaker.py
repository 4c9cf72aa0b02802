"""A circuit breaker: after a few failures in a row, stop asking a server that is down.

Without it every call of an outage would pay its full timeout. Note: while half-open, ONE call is
let through as a probe, and everybody else goes on being refused until that probe has answered.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from memory_core.ports import Clock

Circuit = Literal["closed", "open", "half_open"]


class Breaker:
    """Closed: calls pass. Open: none do, for `rest`. Half-open: one probe decides whether it closes
    or opens again.
    """

    def __init__(
        self, clock: Clock, *, failures: int = 3, rest: timedelta = timedelta(seconds=2)
    ) -> None:
        self._clock = clock
        self._limit = failures
        self._rest = rest
        self._failed = 0
        self._opened_at: datetime | None = None
        self._probed_at: datetime | None = None

    @property
    def state(self) -> Circuit:
        """The state of the circuit now."""
        if self._opened_at is None:
            return "closed"
        return "open" if self._is_resting(self._opened_at, self._clock.now()) else "half_open"

    @property
    def failing(self) -> bool:
        """True from the first failure until the next success."""
        return self._failed > 0

    def allow(self) -> bool:
        """Whether a call may go out now. A True in the half-open state makes that call the probe.

        A probe that never reports (its task was cancelled) is forgotten after another `rest`,
        or the circuit would stay open.
        """
        if self._opened_at is None:
            return True
        now = self._clock.now()
        if self._is_resting(self._opened_at, now) or self._is_resting(self._probed_at, now):
            return False
        self._probed_at = now
        return True

    def succeeded(self) -> None:
        """A call was answered: close."""
        self._failed = 0
        self._opened_at = self._probed_at = None

    def failed(self) -> None:
        """A call failed: count it; open at the limit, and again after a failed probe."""
        self._failed += 1
        if self._failed >= self._limit:
            self._opened_at = self._clock.now()
            self._probed_at = None

    def _is_resting(self, since: datetime | None, now: datetime) -> bool:
        """Whether a rest since then is not over; after a clock was set back, it is."""
        return since is not None and timedelta(0) <= now - since < self._rest
