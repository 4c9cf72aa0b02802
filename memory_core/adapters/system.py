"""The machine's own clock and randomness."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timezone


class SystemClock:
    """The operating system's clock."""

    def now(self) -> datetime:
        """The present moment, aware UTC."""
        return datetime.now(timezone.utc)

    async def sleep(self, seconds: float) -> None:
        """Return when so much time has passed."""
        await asyncio.sleep(seconds)


class RandomIds:
    """96 random bits an id."""

    def new(self, prefix: str) -> str:
        """`<prefix>_<24 hex digits>`."""
        return f"{prefix}_{secrets.token_hex(12)}"
