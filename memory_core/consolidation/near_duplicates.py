"""Whether two memories that are held say one thing, which of them stays, and what it takes over from the other.

Note: that two vectors are equal decides nothing. Digits, negations, names, order and values do (`domain/sameness.py`), and
two truths of a slot are never merged here however near they lie: which of them holds is for their times to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from memory_core.domain.dedup import fuzzy_dedup
from memory_core.domain.indexing import with_lexical
from memory_core.domain.models import Link, Memory, MemoryType, Status, Vector
from memory_core.domain.patterns import same_pattern
from memory_core.domain.sameness import differences, normalised
from memory_core.domain.slots import slot_of
from memory_core.domain.worth import most_lasting
from memory_core.evolution.execute import MAX_NOTE_SOURCES, MAX_QUERIES, MAX_SOURCES
from memory_core.evolution.links import MAX_LINKS
from memory_core.evolution.succession import first_telling, kept, latest_end, over, tellings

NOTE, PATTERN = "note", "pattern"
MAX_TERMS = 50
_KINDS = (NOTE, PATTERN)
_WORDING = frozenset({"words", "order"})
"""Differences of two notes that leave room for both in one."""


class Likeness(StrEnum):
    """What two memories have in common. SAME: either of them says it all. ADDS: notes on one thing, each with words of its own."""

    SAME = "same"
    ADDS = "adds"


def likeness(first: Memory, second: Memory, duplicate: float) -> Likeness | None:
    """What the two are to each other; None where both stay as they are. duplicate: the similarity of one and the same."""
    if first.id == second.id or not (_may_merge(first) and _may_merge(second)) or _stand_apart(first, second):
        return None
    if normalised(first.content) == normalised(second.content):
        return Likeness.SAME
    if similarity(first, second) < duplicate:
        return None
    wording_differences = differences(first.content, second.content)
    if not wording_differences or (first.category == PATTERN and same_pattern(first.content, second.content)):
        return Likeness.SAME
    ends = first.valid_until is not None or second.valid_until is not None
    return Likeness.ADDS if first.category == NOTE and wording_differences <= _WORDING and not ends else None


def _may_merge(memory: Memory) -> bool:
    """Whether it may be merged at all: about what an open question asks, its decision comes first.

    One that was merged before, and that was restored by hand, stays for good: an hourly run does not have the last word.
    """
    brought_back = memory.status_reason == "restored" and memory.consolidated_into_ids
    return memory.type is MemoryType.SEMANTIC and memory.status is Status.ACTIVE and not memory.conflict_ids and not brought_back


def _stand_apart(first: Memory, second: Memory) -> bool:
    """Whether something beside their texts keeps the two apart; a pinned one stays, and so does a truth in its slot."""
    kinds = [each.category if each.category in _KINDS else None for each in (first, second)]
    entities = [frozenset(name.casefold() for name in each.entities) for each in (first, second)]
    return (
        kinds[0] != kinds[1]
        or first.agent_id != second.agent_id
        or (slot_of(first) is not None and slot_of(second) is not None)
        or (first.value is not None and second.value is not None and first.value != second.value)
        or (all(entities) and entities[0] != entities[1])
        or over(first, second)
        or over(second, first)
        or (first.pinned and (second.pinned or slot_of(second) is not None))
        or (second.pinned and slot_of(first) is not None)
    )


def similarity(first: Memory, second: Memory) -> float:
    """The cosine of their vectors; 0 where one of them has none."""
    if first.embedding is None or second.embedding is None:
        return 0.0
    return float(np.dot(first.embedding, second.embedding))


def in_order(first: Memory, second: Memory) -> tuple[Memory, Memory]:
    """(who stays, who goes), however they are given: the pinned one stays, the one in a slot, the surer one, the one told first."""
    stays, goes = sorted((first, second), key=_rank)
    return stays, goes


def _rank(memory: Memory) -> tuple[Any, ...]:
    return not memory.pinned, slot_of(memory) is None, -memory.confidence, first_telling(memory), memory.sequence, memory.id


@dataclass(frozen=True, slots=True)
class Text:
    """A note that says what two said, with its vector."""

    content: str
    vector: Vector


def taking_over(stays: Memory, goes: Memory) -> dict[str, Any]:
    """What the one that stays takes over: when it was told, how often and how surely, by what it is found, where it comes from."""
    most = MAX_NOTE_SOURCES if stays.category == NOTE else MAX_SOURCES
    return _times(stays, goes) | {
        "reinforcement_count": stays.reinforcement_count + goes.reinforcement_count + 1,
        "confidence": max(stays.confidence, goes.confidence),
        "worth": most_lasting([stays.worth, goes.worth]),
        "importance_base": max(stays.importance_base, goes.importance_base),
        "access_count": stays.access_count + goes.access_count,
        "last_accessed_at": _latest(stays.last_accessed_at, goes.last_accessed_at),
        "last_used_at": _latest(stays.last_used_at, goes.last_used_at),
        "tags": fuzzy_dedup([*stays.tags, *goes.tags])[:MAX_TERMS],
        "keywords": fuzzy_dedup([*stays.keywords, *goes.keywords])[:MAX_TERMS],
        "semantic_queries": list(dict.fromkeys([*stays.semantic_queries, *goes.semantic_queries]))[:MAX_QUERIES],
        "entities": list(dict.fromkeys([*stays.entities, *goes.entities]))[:MAX_TERMS],
        "value": stays.value if stays.value is not None else goes.value,
        "value_text": stays.value_text if stays.value is not None else goes.value_text,
        "source_ids": list(dict.fromkeys([*stays.source_ids, *goes.source_ids, goes.id]))[-most:],
        "links": _links(stays, goes),
    }


def _times(stays: Memory, goes: Memory) -> dict[str, Any]:
    """The times of both together. A truth in a slot keeps its own: they say where it is among the others."""
    if slot_of(stays) is not None:
        return {}
    return {
        "event_timestamp": max(stays.event_timestamp, goes.event_timestamp),
        "told_at": kept([*tellings(stays), *tellings(goes)]),
        "valid_from": min(stays.valid_from, goes.valid_from) if stays.version == 1 else stays.valid_from,
        "valid_until": latest_end(stays, goes),
    }


def joined(stays: Memory, goes: Memory, run: str) -> Memory:
    """The one that stays, its text as it was. run: when the run began that merges them."""
    return with_lexical(stays.model_copy(update={**taking_over(stays, goes), "consolidation_run": run}))


def retired(goes: Memory, stays: Memory, now: datetime) -> Memory:
    """The one that goes: its time ends where the other's begins, or where it began itself if that is later."""
    until = max(goes.valid_from, stays.valid_from)
    fields: dict[str, Any] = {
        "status": Status.UPDATED,
        "status_reason": "consolidated",
        "next_id": stays.id,
        "valid_until": until if goes.valid_until is None else min(goes.valid_until, until),
        "consolidated_into_ids": [*goes.consolidated_into_ids, stays.id],
        "updated_at": now,
    }
    return goes.model_copy(update=fields)


def linked(newer: Memory, older: Memory) -> Memory | None:
    """The newer one with a link to the older; None where it has one."""
    if any(known_link.memory_id == older.id for known_link in newer.links):
        return None
    score = round(similarity(newer, older), 6)
    link = Link(memory_id=older.id, similarity_score=score, composite_score=score, link_strength=score, relationship_type="duplicate")
    return newer.model_copy(update={"links": [link, *newer.links][:MAX_LINKS]})


def _links(stays: Memory, goes: Memory) -> list[Link]:
    links = {link.memory_id: link for link in (*goes.links, *stays.links) if link.memory_id not in (stays.id, goes.id)}
    return sorted(links.values(), key=lambda link: (-link.composite_score, link.memory_id))[:MAX_LINKS]


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def newest(pair: Sequence[Memory]) -> tuple[Memory, Memory]:
    """(the newer, the older) of two, as they were first stored."""
    older, newer = sorted(pair, key=lambda memory: (memory.sequence, memory.id))
    return newer, older
