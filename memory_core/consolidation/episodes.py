"""Which episodes an agent is shown at once when it looks for patterns: those of one session and one time together, as many as fit.

Note: what repeats, repeats over days, and a run sees an hour. So beside what is new stand some older episodes that lie near
it; a pattern needs at least one new one all the same, or every run would find the old ones again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import as_memory
from memory_core.ports import DecisionItem, LongTermStore, Near, Neighbour

GAP = timedelta(hours=6)
"""Silence that parts two groups of one session; a group is shown whole where it fits."""
NEW_AT_ONCE, EARLIER_AT_ONCE = 30, 10
"""Episodes that one call is shown: new ones, and older ones beside them."""
CALLS_A_RUN = 6
"""With more news than these take, the latest are looked at; the others are still found beside what resembles them later."""
TEXT = 1_500
"""Characters of an episode that are shown."""
LOOKED_BACK_FROM, NEAREST = 5, 12
"""New episodes, the last ones, whose neighbours are looked for, and how many of each: 0.4 ms a look on SQLite."""
_READ_AT_ONCE = 100
_EPISODIC = frozenset({MemoryType.EPISODIC.value})


async def read_episodes(store: LongTermStore, owner: Owner, ids: Sequence[str]) -> list[Memory]:
    """The episodes of these ids that are found by default, with their vectors. Raises Unavailable."""
    episodes: list[Memory] = []
    for start in range(0, len(ids), _READ_AT_ONCE):
        seen = await store.snapshot(owner, ids[start : start + _READ_AT_ONCE])
        read = [as_memory(document, seen.head) for document in seen.documents.values() if document.kind == "memory"]
        episodes += [memory for memory in read if memory is not None and is_episode(memory)]
    return episodes


def is_episode(memory: Memory) -> bool:
    """Whether it is an episode that a read would show."""
    return memory.type is MemoryType.EPISODIC and memory.status in FOUND_BY_DEFAULT


def in_parts(episodes: Sequence[Memory]) -> list[list[Memory]]:
    """The episodes in the portions of one call each: groups in order of time, torn only where one is more than a call takes.

    Of more than `CALLS_A_RUN` portions the last ones.
    """
    parts: list[list[Memory]] = []
    for group in grouped(episodes):
        for start in range(0, len(group), NEW_AT_ONCE):
            piece = group[start : start + NEW_AT_ONCE]
            if parts and len(parts[-1]) + len(piece) <= NEW_AT_ONCE:
                parts[-1] += piece
            else:
                parts.append(piece)
    return parts[-CALLS_A_RUN:]


def grouped(episodes: Sequence[Memory]) -> list[list[Memory]]:
    """Episodes of one session with no longer silence than `GAP` between them, each group and all of them in order of time."""
    groups: list[list[Memory]] = []
    for episode in sorted(episodes, key=lambda episode: (episode.session_id or "", *in_time(episode))):
        last = groups[-1][-1] if groups else None
        if last is not None and last.session_id == episode.session_id and episode.event_timestamp - last.event_timestamp <= GAP:
            groups[-1].append(episode)
        else:
            groups.append([episode])
    return sorted(groups, key=lambda group: in_time(group[0]))


def in_time(memory: Memory) -> tuple[object, ...]:
    """What episodes are ordered by: when they happened, then as they were told."""
    return memory.event_timestamp, memory.sequence, memory.id


async def earlier(store: LongTermStore, owner: Owner, part: Sequence[Memory], session_id: str | None, floor: float) -> list[Memory]:
    """Older episodes that lie near the last new ones, the nearest `EARLIER_AT_ONCE`; of one session if that is given.

    floor: the similarity that they need. Raises Unavailable.
    """
    asking = [episode for episode in part if episode.embedding is not None][-LOOKED_BACK_FROM:]
    nears = [Near(episode.embedding, _EPISODIC, floor, limit=NEAREST) for episode in asking]
    looks = await asyncio.gather(*(store.snapshot(owner, (), near) for near in nears))
    part_ids = {episode.id for episode in part}
    nearest: dict[str, Neighbour] = {}
    for neighbour in (near for look in looks for near in look.near):
        memory = neighbour.memory
        if memory.id in part_ids or not is_episode(memory) or session_id not in (None, memory.session_id):
            continue
        if memory.id not in nearest or neighbour.similarity > nearest[memory.id].similarity:
            nearest[memory.id] = neighbour
    ranked = sorted(nearest.values(), key=lambda near: (-near.similarity, near.memory.id))
    return [near.memory for near in ranked[:EARLIER_AT_ONCE]]


def as_items(episodes: Sequence[Memory]) -> list[DecisionItem]:
    """The episodes as an agent is shown them, numbered in their order. A cell's story says itself who spoke."""
    return [
        DecisionItem(
            number, episode.content[:TEXT], episode.category, episode.event_timestamp, None, None if episode.cell_id else episode.actor
        )
        for number, episode in enumerate(episodes)
    ]
