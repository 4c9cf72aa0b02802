"""How many tokens an app may spend in a day, and how many it has.

Counted in this process and, through the short term, in all of them: the larger count holds, so a Redis that is away or has forgotten
makes the cap one per process, never none. What is under way when the cap is reached is finished, so a day may pass it by that.
"""

from __future__ import annotations

from datetime import timedelta

from memory_core.domain.errors import AgentFailed
from memory_core.ports import Clock, ShortTermStore

_KEPT = timedelta(hours=36)


class Budget:
    """`daily_tokens` for each app and UTC day, prompt and completion together; None = no cap, and nothing is counted."""

    def __init__(self, daily_tokens: int | None, clock: Clock, short_term: ShortTermStore | None = None) -> None:
        self._cap = daily_tokens
        self._clock = clock
        self._short_term = short_term
        self._day = ""
        self._spent: dict[str, int] = {}

    async def check(self, app_id: str) -> None:
        """Raises AgentFailed when the app has used up its day."""
        if self._cap is None:
            return
        spent = await self._count(app_id, 0)
        if spent >= self._cap:
            raise AgentFailed(f"the app's {self._cap} tokens for {self._day} (UTC) are used up")

    async def spend(self, app_id: str, tokens: int) -> None:
        """Count what a call took."""
        if self._cap is not None and tokens > 0:
            await self._count(app_id, tokens)

    def exhausted(self) -> int:
        """How many apps have used up their day, as far as this process knows."""
        self._turn_of_day()
        return 0 if self._cap is None else sum(spent >= self._cap for spent in self._spent.values())

    async def _count(self, app_id: str, tokens: int) -> int:
        self._turn_of_day()
        day = self._day
        self._spent[app_id] = self._spent.get(app_id, 0) + tokens
        if self._short_term is not None:
            everywhere = await self._short_term.count(app_id, f"tokens:{day}", tokens, _KEPT)
            if day == self._day and everywhere is not None:
                self._spent[app_id] = max(self._spent[app_id], everywhere)
        return self._spent.get(app_id, 0)

    def _turn_of_day(self) -> None:
        today = self._clock.now().date().isoformat()
        if today != self._day:
            self._day, self._spent = today, {}
