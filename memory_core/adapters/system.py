"""The machine's own clock and randomness."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timezone


class SystemClock:
    """The operating system's clock."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""
        return datetime.now(timezone.utc)

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)


class RandomIds:
    """Ids of 96 random bits."""

    def new(self, prefix: str) -> str:
        """A new id `<prefix>_<24 hex digits>`."""
        return f"{prefix}_{secrets.token_hex(12)}"
