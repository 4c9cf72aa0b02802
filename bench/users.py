"""Made-up users with news: what ten memories of an hour are, and an open MemoryCore whose clock the
bench turns.

Note: each hour's facts change some slots of the hour before, so that a second hour has truths to
replace and a profile to correct, and is not dearer or cheaper only because nothing happens in it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone

from bench.formation import JOBS, LIKES, PLACES
from bench.texts import text
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.scope import Owner

APP = "bench"
BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=timezone.utc)
TURNS, FACTS, NOTES = 5, 3, 2
NEWS = TURNS + FACTS + NOTES
_SLOTS = (("city", "lives in", PLACES), ("job", "works as a", JOBS), ("hobby", "likes", LIKES))


class Hands:
    """A clock that stays where it is until it is moved. along: moved with it, as the clock of a
    service that drops what expires.
    """

    def __init__(
        self, at: datetime = BEGUN, along: Callable[[timedelta], None] = lambda by: None
    ) -> None:
        self._at, self._along = at, along

    def now(self) -> datetime:
        """The moment that it shows."""
        return self._at

    async def sleep(self, seconds: float) -> None:
        """Never return: no time passes while work is done, however slow the machine is."""
        await asyncio.Event().wait()

    def forward(self, by: timedelta) -> None:
        """Let time go by, here and in `along`."""
        self._at += by
        self._along(by)


def owner(number: int) -> Owner:
    """The `number`-th user."""
    return Owner(APP, f"user{number:07}")


def news(number: int, hour: int, count: int = NEWS) -> Iterator[SaveInput]:
    """What a user saves in an hour: half of it turns of a session, three in ten facts in slots, the
    rest notes; the same in every run.
    """
    chance = random.Random(f"{number} {hour}")
    for place in range(count):
        of_ten = place % NEWS
        if of_ten < TURNS:
            yield SaveInput(content=text(chance), session_id=f"hour{hour}", actor=f"user{number}")
        elif of_ten < TURNS + FACTS:
            attribute, says, values = _SLOTS[of_ten - TURNS]
            suffix = "" if place < NEWS else str(place)
            content = f"The user {says} {chance.choice(values)} {suffix}".strip()
            yield SaveInput(
                type="semantic",
                category="fact",
                content=content,
                subject="user",
                attribute=f"{attribute}{suffix}",
            )
        else:
            yield SaveInput(type="semantic", category="note", content=text(chance))
