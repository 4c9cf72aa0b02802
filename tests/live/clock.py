"""Time as a real service has it."""

from __future__ import annotations

import time

from tests.builders import StillClock


class PassingClock(StillClock):
    """A clock that is moved forward by waiting: it is the service that drops what expires,
    and its time can't be moved.
    """

    def forward(self, seconds: float) -> None:
        super().forward(seconds)
        time.sleep(max(0.0, seconds))
