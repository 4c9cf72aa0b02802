"""The four recipes that turn relevance into a score, over a whole candidate set at once.

`composite` is always computed, whatever the recipe, with the boosts of the settings: it is the one score that compares
across calls. Thresholds on relevance are applied before, not here. Weights are not renormalised: with all of them at 1 a
`linear` score can reach 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from memory_core.domain.candidates import CandidateSet, Floats
from memory_core.domain.decay import importances_at, recency_half_life, recency_secmsa

Recipe = Literal["composite", "balanced", "weighted", "linear"]

DEFAULT_WEIGHTS: Mapping[Recipe, Mapping[str, float]] = MappingProxyType(
    {
        "composite": MappingProxyType({"recency": 0.1, "importance": 0.1}),
        "balanced": MappingProxyType({"relevance": 0.7, "importance": 0.3}),
        "weighted": MappingProxyType({"relevance": 0.4, "recency": 0.25, "frequency": 0.15, "confidence": 0.2}),
        "linear": MappingProxyType({"relevance": 0.5, "recency": 0.3, "importance": 0.2}),
    }
)
"""Sources: composite is SECMSA's, balanced Mosaic's, weighted the LTM Engine's, linear that of OmniMemory's C4 design."""

FADED_ORDER = 0.99
"""What the rank of a memory that has faded is multiplied by. Its relevance stays, so that it is found as well as any other."""


@dataclass(frozen=True, slots=True)
class ScoringParameters:
    """The settings that scores depend on. The two boosts are the default weights of `composite`."""

    recency_boost: float = 0.1
    importance_boost: float = 0.1
    max_age_hours: float = 43_800.0
    half_life_factor: float = 4.0
    recency_half_life_days: float = 30.0
    decay_half_life_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Scores:
    """One row per candidate, in the set's order. A part that the recipe does not use is None.

    score: the recipe's, which ranks. composite: SECMSA's, at most 1.2 · relevance by default. importance: what decay has
    left of the base at the moment asked for; always there, because composite needs it.
    """

    score: Floats
    composite: Floats
    importance: Floats
    recency: Floats | None = None
    frequency: Floats | None = None
    confidence: Floats | None = None


def score(
    recipe: Recipe,
    weights: Mapping[str, float] | None,
    relevance: Floats,
    candidates: CandidateSet,
    at_s: float,
    parameters: ScoringParameters,
) -> Scores:
    """Scores of all candidates at the moment `at_s` (epoch seconds).

    relevance: one value in [0, 1] a candidate. weights: those that differ from the recipe's defaults; their names were
    checked at the door.
    """
    importance = importances_at(candidates.importance_base, candidates.accessed_at, at_s, parameters.decay_half_life_days)
    recency = recency_secmsa(candidates.touched_at, at_s, parameters.max_age_hours, parameters.half_life_factor)
    boosts = {"recency": parameters.recency_boost, "importance": parameters.importance_boost}
    composite = _boosted(relevance, recency, importance, boosts)
    chosen = weights or {}
    if recipe == "composite":
        total = _boosted(relevance, recency, importance, {**boosts, **chosen}) if chosen else composite
        return Scores(score=total, composite=composite, importance=importance, recency=recency)
    weight = {**DEFAULT_WEIGHTS[recipe], **chosen}
    if recipe == "balanced":
        total = weight["relevance"] * relevance + weight["importance"] * importance
        return Scores(score=total, composite=composite, importance=importance)
    if recipe == "linear":
        total = weight["relevance"] * relevance + weight["recency"] * recency + weight["importance"] * importance
        return Scores(score=total, composite=composite, importance=importance, recency=recency)
    recent = recency_half_life(candidates.touched_at, at_s, parameters.recency_half_life_days)
    frequency = frequencies(candidates.access_count)
    total = (
        weight["relevance"] * relevance
        + weight["recency"] * recent
        + weight["frequency"] * frequency
        + weight["confidence"] * candidates.confidence
    )
    return Scores(
        score=total, composite=composite, importance=importance, recency=recent, frequency=frequency, confidence=candidates.confidence
    )


def frequencies(access_count: Floats) -> Floats:
    """`log(1 + n) / log(1 + max n)` within the candidates, in [0, 1]; all zero when none was ever accessed."""
    most = float(access_count.max(initial=0.0))
    if most <= 0.0:
        return np.zeros_like(access_count)
    shares: Floats = np.log1p(access_count) / np.log1p(most)
    return shares


def _boosted(relevance: Floats, recency: Floats, importance: Floats, boosts: Mapping[str, float]) -> Floats:
    return relevance * (1.0 + boosts["recency"] * recency + boosts["importance"] * importance)
