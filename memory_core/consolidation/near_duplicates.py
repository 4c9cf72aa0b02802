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


def likeness(one: Memory, other: Memory, duplicate: float) -> Likeness | None:
    """What the two are to each other; None where both stay as they are. duplicate: the similarity of one and the same."""
    if one.id == other.id or not (_may_merge(one) and _may_merge(other)) or _stand_apart(one, other):
        return None
    if normalised(one.content) == normalised(other.content):
        return Likeness.SAME
    if similarity(one, other) < duplicate:
        return None
    found = differences(one.content, other.content)
    if not found or (one.category == PATTERN and same_pattern(one.content, other.content)):
        return Likeness.SAME
    ends = one.valid_until is not None or other.valid_until is not None
    return Likeness.ADDS if one.category == NOTE and found <= _WORDING and not ends else None


def _may_merge(one: Memory) -> bool:
    """Whether it may be merged at all: about what an open question asks, its decision comes first.

    One that was merged before, and that somebody brought back, stands for good: an hourly run does not have the last word.
    """
    brought_back = one.status_reason == "restored" and one.consolidated_into_ids
    return one.type is MemoryType.SEMANTIC and one.status is Status.ACTIVE and not one.conflict_ids and not brought_back


def _stand_apart(one: Memory, other: Memory) -> bool:
    """Whether something beside their texts keeps the two apart; a pinned one stays, and so does a truth in its slot."""
    kinds = [each.category if each.category in _KINDS else None for each in (one, other)]
    entities = [frozenset(name.casefold() for name in each.entities) for each in (one, other)]
    return (
        kinds[0] != kinds[1]
        or one.agent_id != other.agent_id
        or (slot_of(one) is not None and slot_of(other) is not None)
        or (one.value is not None and other.value is not None and one.value != other.value)
        or (all(entities) and entities[0] != entities[1])
        or over(one, other)
        or over(other, one)
        or (one.pinned and (other.pinned or slot_of(other) is not None))
        or (other.pinned and slot_of(one) is not None)
    )


def similarity(one: Memory, other: Memory) -> float:
    """The cosine of their vectors; 0 where one of them has none."""
    if one.embedding is None or other.embedding is None:
        return 0.0
    return float(np.dot(one.embedding, other.embedding))


def in_order(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """(who stays, who goes), however they are given: the pinned one stays, the one in a slot, the surer one, the one told first."""
    stays, goes = sorted((one, other), key=_rank)
    return stays, goes


def _rank(one: Memory) -> tuple[Any, ...]:
    return not one.pinned, slot_of(one) is None, -one.confidence, first_telling(one), one.sequence, one.id


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
    """The times of both together. A truth in a slot keeps its own: they say where it stands among the others."""
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
    if any(one.memory_id == older.id for one in newer.links):
        return None
    score = round(similarity(newer, older), 6)
    link = Link(memory_id=older.id, similarity_score=score, composite_score=score, link_strength=score, relationship_type="duplicate")
    return newer.model_copy(update={"links": [link, *newer.links][:MAX_LINKS]})


def _links(stays: Memory, goes: Memory) -> list[Link]:
    found = {one.memory_id: one for one in (*goes.links, *stays.links) if one.memory_id not in (stays.id, goes.id)}
    return sorted(found.values(), key=lambda one: (-one.composite_score, one.memory_id))[:MAX_LINKS]


def _latest(*moments: datetime | None) -> datetime | None:
    return max((one for one in moments if one is not None), default=None)


def newest(pair: Sequence[Memory]) -> tuple[Memory, Memory]:
    """(the newer, the older) of two, as they were first stored."""
    older, newer = sorted(pair, key=lambda one: (one.sequence, one.id))
    return newer, older
