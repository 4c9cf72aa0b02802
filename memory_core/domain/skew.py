"""Moments that another machine's clock wrote, judged by ours."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

MAX_SKEW: Final = timedelta(minutes=1)
"""How far the clocks of machines may differ. What differs more is a wrong clock."""


def is_written_ahead(written_at: datetime, now: datetime) -> bool:
    """Whether a wrong clock, ahead of ours, wrote this moment as its present.

    Whatever was to last from that moment on (a lease, a wait) counts as over. Else it would hold
    up work until our clock comes to that time, hours after the wrong clock was put right.
    """
    return written_at > now + MAX_SKEW
