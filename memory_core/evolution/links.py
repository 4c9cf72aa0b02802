"""Links from a new memory to older ones: who is near enough, how strong, of what kind (SECMSA, "Memory Link Generation").

Kept on the newer memory only. A link's composite score is its similarity, raised by how recent and how important the older memory is,
so it is never below the threshold that the similarity passed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_core.domain.decay import HOUR_S, LEAST_RECENCY, importance_at
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Link, Memory
from memory_core.domain.slots import slot_of
from memory_core.ports import Neighbour

MAX_LINKS = 20
MAX_FOR_SYNTHESIS = 4
CANDIDATES = MAX_FOR_SYNTHESIS * 3
STRONG = 0.85

Kind = Literal["duplicate", "strong", "related", "contradicts", "same_scene"]


@dataclass(frozen=True, slots=True)
class LinkRules:
    """Thresholds on the embedder's scale, and the boosts of the composite score.

    max_age_hours / half_life_factor: SECMSA's recency, 37 % after that many hours. half_life_days: of importance.
    """

    duplicate_threshold: float
    link_threshold: float
    recency_boost: float = 0.1
    importance_boost: float = 0.1
    age_hours: float = 10_950.0
    half_life_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Linked:
    """A neighbour and the link to it."""

    neighbour: Neighbour
    link: Link

    @property
    def memory(self) -> Memory:
        """The older memory."""
        return self.neighbour.memory


def find_links(new: Memory, neighbours: Sequence[Neighbour], rules: LinkRules, now: datetime) -> list[Linked]:
    """The links of a new memory, strongest first, at most MAX_LINKS. Of one slot, or at the threshold; itself never."""
    slot = slot_of(new)
    links = []
    for near in neighbours:
        old = near.memory
        same_slot = slot is not None and slot_of(old) == slot
        if old.id == new.id or old.status not in FOUND_BY_DEFAULT or not (same_slot or near.similarity >= rules.link_threshold):
            continue
        composite = near.similarity * (
            1 + rules.recency_boost * _recency(old, rules, now) + rules.importance_boost * _importance(old, rules, now)
        )
        link = Link(
            memory_id=old.id,
            similarity_score=round(near.similarity, 6),
            composite_score=round(composite, 6),
            link_strength=round(composite, 6),
            relationship_type=_kind(near.similarity, rules),
        )
        links.append(Linked(near, link))
    links.sort(key=lambda linked: (-linked.link.composite_score, linked.memory.id))
    return links[:MAX_LINKS]


def _kind(similarity: float, rules: LinkRules) -> Kind:
    if similarity >= rules.duplicate_threshold:
        return "duplicate"
    return "strong" if similarity >= STRONG else "related"


def _recency(old: Memory, rules: LinkRules, now: datetime) -> float:
    hours = (now - max(old.created_at, old.updated_at)).total_seconds() / HOUR_S
    return 1.0 if hours <= 0 else max(LEAST_RECENCY, math.exp(-hours / rules.age_hours))


def _importance(old: Memory, rules: LinkRules, now: datetime) -> float:
    return importance_at(old.importance_base, old.last_accessed_at or old.created_at, now, rules.half_life_days)
