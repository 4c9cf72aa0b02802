"""The ranked rows with repeats behind: who only repeats a better memory gives its place to one that says something else.

Note: it costs a read only where something repeats. Then the next rows are read in the place of the repeats, twice at most,
and those that were not read keep their order behind.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

import orjson

from memory_core.domain.models import MemoryType
from memory_core.domain.shown import Shown
from memory_core.domain.variety import Telling, likeness, repeats

BEYOND = (25, 75)
"""How many rows behind the limit are read with each further read."""
ON_THE_LOOP = 50_000
"""Bytes of memories that are compared in a millisecond or two; more leave the event loop."""
Rank = Callable[[int | None], list[int]]
"""The best rows, as many as that; None for all."""
Read = Callable[[Sequence[int]], Awaitable[Mapping[int, Shown]]]
"""From rows to what is shown of them; a row whose memory is gone is left out."""


async def varied(rank: Rank, limit: int, read: Read) -> tuple[list[int], dict[int, Shown]]:
    """The best rows, those that repeat a better one behind those that don't as far as `limit` results need it; and what was read of them.

    Where nothing repeats, the first `limit` alone: to rank all candidates takes a tenth of a search.
    """
    ranked = rank(limit)
    shown = dict(await read(ranked))
    rows = ranked
    behind = await _repeating(rows, shown)
    if not behind:
        return ranked, shown
    ranked = rank(None)
    for beyond in BEYOND:
        if len(rows) - len(behind) >= limit or len(rows) == len(ranked):
            break
        before, rows = len(rows), ranked[: limit + beyond]
        shown |= await read(rows[before:])
        behind = await _repeating(rows, shown)
    repeating = set(behind)
    return [row for row in rows if row not in repeating] + behind + ranked[len(rows) :], shown


async def _repeating(rows: Sequence[int], shown: Mapping[int, Shown]) -> list[int]:
    """Those that repeat a better one; one whose memory is gone does not."""
    chosen = [row for row in rows if row in shown]
    small = sum(len(shown[row].json) for row in chosen) <= ON_THE_LOOP
    return _compared(chosen, shown) if small else await asyncio.to_thread(_compared, chosen, shown)


def _compared(rows: Sequence[int], shown: Mapping[int, Shown]) -> list[int]:
    """Only memories of one group are read and compared: most answers have no two."""
    groups = [_GROUPS.of(shown[row].json) for row in rows]
    grouped = Counter(groups)
    alike = [row for row, group in zip(rows, groups, strict=True) if grouped[group] > 1]
    return [alike[place] for place in repeats([_telling(shown[row].json) for row in alike])]


def _telling(json: bytes) -> Telling:
    body = orjson.loads(json)
    day = body["event_timestamp"][:10] if body["type"] == MemoryType.EPISODIC.value else None
    return Telling(body["content"], body["actor"], day, body["key"])


class _Groups:
    """To which group each memory's JSON belongs, as numbers: none of its text is kept. The same memories are found again and again, and to
    read and part ten of them takes 0.12 ms of a retrieve's 1.35.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, int] = {}

    def of(self, json: bytes) -> int:
        """Equal for all that might repeat one another."""
        name = hash(json)
        group = self._known.get(name)
        if group is None:
            if len(self._known) >= self._most:
                self._known.clear()
            group = self._known[name] = hash(likeness(_telling(json)))
        return group


_GROUPS = _Groups(32_768)  # 4 MB when full
