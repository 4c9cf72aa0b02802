"""The ranked rows with repeats behind: who only repeats a better memory gives its place to one that says something else.

One would get wrong: it costs a read only where something repeats. Then the next rows are read in the place of the repeats, twice at most,
and those that were not read keep their order behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import orjson

from memory_core.domain.models import MemoryType
from memory_core.domain.shown import Shown
from memory_core.domain.variety import Telling, repeats

BEYOND = (0, 25, 75)
"""How many rows behind the limit are read with each further read."""
ON_THE_LOOP = 50_000
"""Bytes of memories that are compared in a millisecond or two; more leave the event loop."""
Read = Callable[[Sequence[int]], Awaitable[Mapping[int, Shown]]]
"""From rows to what is shown of them; a row whose memory is gone is left out."""


async def varied(ranked: Sequence[int], limit: int, read: Read) -> tuple[list[int], dict[int, Shown]]:
    """All rows, those that repeat a better one behind those that don't as far as `limit` results need it; and what was read of them."""
    shown: dict[int, Shown] = {}
    rows: list[int] = []
    behind: list[int] = []
    for beyond in BEYOND:
        read_before, rows = len(rows), list(ranked[: limit + beyond])
        shown |= await read(rows[read_before:])
        chosen = [row for row in rows if row in shown]
        small = sum(len(shown[row].json) for row in chosen) <= ON_THE_LOOP
        behind = _repeating(chosen, shown) if small else await asyncio.to_thread(_repeating, chosen, shown)
        if len(rows) - len(behind) >= limit or len(rows) == len(ranked):
            break
    repeating = set(behind)
    return [row for row in rows if row not in repeating] + behind + list(ranked[len(rows) :]), shown


def _repeating(rows: Sequence[int], shown: Mapping[int, Shown]) -> list[int]:
    return [rows[place] for place in repeats([_telling(shown[row]) for row in rows])]


def _telling(one: Shown) -> Telling:
    body = orjson.loads(one.json)
    day = body["event_timestamp"][:10] if body["type"] == MemoryType.EPISODIC.value else None
    return Telling(body["content"], body["actor"], day, body["key"])
