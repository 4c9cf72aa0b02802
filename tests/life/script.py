"""A month of one life as data: what Nora tells, when and in which session.

Talks are blocks of lines; the first says on which day, at what time and in which session, "> "
begins what the assistant says.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from tests.life import first_half, second_half
from tests.telling import Line

BEGINS = datetime(2026, 5, 8, 0, 0, tzinfo=timezone.utc)
"""A Friday."""
DAYS = 30
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: when it began, its session, its lines."""

    at: datetime
    session: str
    lines: tuple[Line, ...]


def life() -> list[Talk]:
    """All talks in order."""
    blocks = f"{first_half.TALKS}\n{second_half.TALKS}".split("\n\n")
    return sorted(
        (_talk(block.strip().splitlines()) for block in blocks if block.strip()),
        key=lambda talk: talk.at,
    )


def within(talks: list[Talk], hour: datetime) -> list[Talk]:
    """The talks that begin in the hour from `hour` on."""
    return [talk for talk in talks if hour <= talk.at < hour + HOUR]


def _talk(lines: list[str]) -> Talk:
    _, day, clock, session = lines[0].split()
    hours, minutes = clock.split(":")
    at = BEGINS + timedelta(days=int(day), hours=int(hours), minutes=int(minutes))
    return Talk(
        at,
        session,
        tuple(("assistant", line[2:]) if line.startswith("> ") else line for line in lines[1:]),
    )
