"""Moments that another machine's clock wrote, judged by the clock of this machine."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

MAX_SKEW: Final = timedelta(minutes=1)
"""How far the clocks of machines may differ; a larger difference is a wrong clock."""


def is_written_ahead(written_at: datetime, now: datetime) -> bool:
    """Whether a wrong clock, ahead of this machine's, wrote a moment as its present.

    A period that was to last from that moment on (a lease, a wait) counts as over. Otherwise it
    would block work until this clock reaches that time, hours after the wrong clock was corrected.

    Args:
        written_at: The moment that was written.
        now: The present by this machine's clock.

    """
    return written_at > now + MAX_SKEW
