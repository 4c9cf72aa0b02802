"""A circuit breaker: stop calling a server that is down.

It opens after several failures in a row. Without it every call of an outage would take its full
timeout.

Note: while half-open, a single call is let through as a probe. All further calls are refused until
that probe has answered.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from memory_core.ports import Clock

Circuit = Literal["closed", "open", "half_open"]


class Breaker:
    """The state of a circuit.

    Closed: calls pass. Open: no call passes, for `rest`. Half-open: a single probe decides whether
    it closes or opens again.
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
        """Whether a call may be made now.

        In the half-open state, True makes this call the probe. A probe that never reports (its task
        was cancelled) is ignored after another `rest`, or the circuit would stay open.
        """
        if self._opened_at is None:
            return True
        now = self._clock.now()
        if self._is_resting(self._opened_at, now) or self._is_resting(self._probed_at, now):
            return False
        self._probed_at = now
        return True

    def succeeded(self) -> None:
        """Report a successful call, which closes the circuit."""
        self._failed = 0
        self._opened_at = self._probed_at = None

    def failed(self) -> None:
        """Report a failed call. The circuit opens at the limit, and after a failed probe."""
        self._failed += 1
        if self._failed >= self._limit:
            self._opened_at = self._clock.now()
            self._probed_at = None

    def _is_resting(self, since: datetime | None, now: datetime) -> bool:
        """Whether a rest since that moment is not over.

        After a clock was set back, it is over.
        """
        return since is not None and timedelta(0) <= now - since < self._rest
